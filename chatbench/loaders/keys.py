"""Which keys of a record hold question, answers and documents."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chatbench.errors import InputError, InputTypeError, did_you_mean

REQUIRED = ("test_questions", "test_answers", "test_documents")
OPTIONAL = ("id", "contexts", "context_ids", "relevance", "is_answerable", "tags", "metadata")
"""Keys of a record that are read when they are there."""


@dataclass(frozen=True)
class Keys:
    """The keys that are looked for, the first one that holds a value counts.

    `chosen` says that the user named them: then every record must have them.
    `optional` are the other keys that are read; all further ones are metadata.
    """

    question: tuple[str, ...] = ("question", "input")
    answers: tuple[str, ...] = ("answers", "answer")
    documents: tuple[str, ...] = ("documents", "document")
    optional: frozenset[str] = frozenset(OPTIONAL)
    chosen: bool = False
    name: str | None = None

    @cached_property
    def references(self) -> frozenset[str]:
        """All keys that are read besides the question's."""
        return self.optional.union(self.answers, self.documents)


def read_keys(keys: Any) -> Keys:
    """Return the keys to look for; `keys` is None or `{"test_questions", "test_answers", "test_documents"}` to names.

    Raises `InputError` naming what is missing, unknown or no text.
    """
    if keys is None:
        return Keys()
    if not isinstance(keys, Mapping):
        raise InputTypeError(f"keys is {reprlib.repr(keys)}, but a dict is due: {_example()}")
    faults = [f"{key!r} is missing" for key in REQUIRED if key not in keys]
    allowed = (*REQUIRED, "test_name")
    faults += [f"{key!r} is unknown.{did_you_mean(str(key), allowed)}" for key in keys if key not in allowed]
    texts = {key: value for key, value in keys.items() if key in allowed and (key, value) != ("test_name", None)}
    faults += [f"{key!r} is {value!r}, but text is due" for key, value in texts.items() if not isinstance(value, str)]
    if faults:
        raise InputError(f"keys cannot be used: {'; '.join(faults)}. It is to be {_example()}")
    question, answers, documents = (keys[key] for key in REQUIRED)
    claimed = {question, answers, documents}
    optional = frozenset(OPTIONAL) - claimed
    return Keys((question,), (answers,), (documents,), optional, chosen=True, name=keys.get("test_name"))


def _example() -> str:
    return (
        '{"test_questions": "question", "test_answers": "answer", "test_documents": "document"}, "test_name" if wanted.'
    )
