"""Secrets out of texts that are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


_SECRET_KEY = re.compile(
    r"api[_-]?key|authorization|password|passwd|secret|credential|(^|[_-])(token|pw|auth)$", re.IGNORECASE
)


def redact_json(value: Any) -> Any:
    """Return a JSON value with secrets blanked: in texts, and whatever stands under a key such as `api_key` or `password`.

    >>> redact_json({"model": "small", "api_key": 7, "tokens": 120, "nested": [{"access_token": "x"}]})
    {'model': 'small', 'api_key': '***', 'tokens': 120, 'nested': [{'access_token': '***'}]}
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {k: "***" if _SECRET_KEY.search(k) else redact_json(v) for k, v in value.items()}
    return [redact_json(v) for v in value] if isinstance(value, list) else value
