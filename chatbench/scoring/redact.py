"""Secrets out of texts that are kept."""

from __future__ import annotations

import re

_SECRETS = re.compile(
    r"(?P<keep>\b(?:authorization|x-api-key|api[_-]?key|token|password|passwd|secret)\b[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)[^\s\"',;}]+"
    r"|(?P<bearer>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}"
    r"|(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|\b(?:sk|pk|hf|ghp|xox[abp])[-_][A-Za-z0-9_-]{8,}",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return the text with keys, tokens, passwords and credentials inside URLs replaced by ***.

    >>> redact("POST http://me:pw@host/v1 api_key=sk-12345678")
    'POST http://***@host/v1 api_key=***'
    """
    return _SECRETS.sub(lambda m: f"{m['keep'] or m['bearer'] or m['scheme'] or ''}***", text)
