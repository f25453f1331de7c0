"""Secrets out of texts and settings that are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# A name that holds one of these words names a secret: OPENAI_API_KEY, accessToken, "refresh_token", DB_PASSWORD, x-api-key.
_WORDS = r"(?:api[_-]?key|apikey|access[_-]?key|private[_-]?key|secret|password|passwd|passphrase|pwd|credential|authorization|bearer)"
_NAME = rf"(?:[\w-]*{_WORDS}[\w-]*|[\w-]*(?:token|auth)\b|[\w-]*[_-]key\b|\bkey(?==))"
_SECRETS = re.compile(
    rf"(?P<keep>{_NAME}[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)[^\s\"',;&}}]+"
    r"|(?P<bearer>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}"
    r"|(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^/\s:@]+:\S*(?=@)"
    rf"|(?P<option>--{_NAME}\s+)\S+"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"
    r"|\b(?:sk|pk|hf|ghp|github_pat|glpat|xox[abp])[-_][A-Za-z0-9_-]{8,}|\bAIza[A-Za-z0-9_-]{10,}|\bAKIA[A-Z0-9]{12,}",
    re.IGNORECASE,
)
_SECRET_KEY = re.compile(rf"^{_NAME}$|(?:^|[_-])(?:auth|token|keys?|pw|pass|cookies?)(?:$|[_-]header)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def redact(text: str) -> str:
    """Return the text with keys, tokens, passwords and credentials inside URLs replaced by ***.

    >>> redact("POST http://me:p@w@host/v1 OPENAI_API_KEY=abc refresh_token: 'x' after 120 tokens")
    "POST http://***@host/v1 OPENAI_API_KEY=*** refresh_token: '***' after 120 tokens"
    """
    return _SECRETS.sub(lambda m: f"{m['keep'] or m['bearer'] or m['scheme'] or m['option'] or ''}***", text)


def redact_json(value: Any, *, texts: bool = True) -> Any:
    """Return a JSON value with secrets blanked: in texts (unless told not to), and whatever stands under a key such as `api_key`.

    >>> redact_json({"model": "small", "accessToken": 7, "tokens": 120, "max_tokens": 5, "nested": [{"openai_key": "x"}]})
    {'model': 'small', 'accessToken': '***', 'tokens': 120, 'max_tokens': 5, 'nested': [{'openai_key': '***'}]}
    """
    if isinstance(value, str):
        return redact(value) if texts else value
    if isinstance(value, Mapping):
        return {k: "***" if names_a_secret(str(k)) else redact_json(v, texts=texts) for k, v in value.items()}
    return [redact_json(v, texts=texts) for v in value] if isinstance(value, list) else value


def names_a_secret(key: str) -> bool:
    """Return whether what stands under this name is to be kept out of files."""
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None
