"""What must never be kept, in the spellings that clients and servers use, and what must stay readable."""

from __future__ import annotations

import pytest

from chatbench.core.redact import redact, redact_json


@pytest.mark.parametrize(
    "text",
    [
        "access_token=S3CRET",
        "OPENAI_API_KEY=S3CRET",
        'client_secret="S3CRET"',
        "DB_PASSWORD=S3CRET",
        "'refresh_token': 'S3CRET'",
        "https://host/v1?key=S3CRET&alt=json",
        "pwd=S3CRET;",
        "postgres://user:S3CRET@host/db",
        "postgres://user:p@S3CRET@host/db",
        "Authorization: Bearer S3CRET-abc.def",
        "authorization: Basic S3CRETabc=",
        "x-api-key: S3CRET",
        '{"apiKey": "S3CRET"}',
        "api_key='sk-S3CRET12345'",
        "Incorrect API key provided: sk-S3CRET12345.",
        "token: S3CRET",
        "run --api-key S3CRET --top-k 5",
        "github_pat_11S3CRET0123",
        "glpat-S3CRET0123456",
        "eyJhbGciOiJI.S3CRETpayload.S3CRETsignature",
    ],
)
def test_secrets_in_text(text: str) -> None:
    assert "S3CRET" not in redact(text)
    assert "***" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "the answer has 120 tokens",
        "max_tokens=5, prompt_tokens: 120",
        "The key idea: a token ring",
        "KeyError: 'answer'",
        "monkey=3",
        "http://127.0.0.1:9/v1 refused the connection",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "openai_key",
        "accessToken",
        "private_key",
        "aws_access_key_id",
        "auth_header",
        "pwd",
        "Authorization",
        "DB_PASSWORD",
        "token",
        "pass",
        "cookie",
        "keys",
    ],
)
def test_secrets_under_keys(key: str) -> None:
    assert redact_json({"a": [{key: "S3CRET"}]}) == {"a": [{key: "***"}]}


@pytest.mark.parametrize("key", ["tokens", "max_tokens", "model", "keywords", "author", "monkey", "top_k"])
def test_other_keys_stay(key: str) -> None:
    assert redact_json({key: 5}) == {key: 5}
