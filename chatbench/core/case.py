"""One thing to ask, with what is known about its true answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chatbench.core.fields import flag, grades, identity, json_object, text_tuple
from chatbench.core.jsonable import is_missing, to_json_value

_LISTS = {key: f"{key} of a Case" for key in ("answers", "documents", "contexts", "context_ids", "tags")}


@dataclass(frozen=True)
class Case:
    """A question with its accepted answers and true sources. Only `input` is required.

    - `input`: JSON; a string, an object with `question`, or a dialog (list of `{"role", "content"}` turns).
    - `answers`: accepted answers, any of them is right. `documents`: names of the true sources.
    - `contexts`, `context_ids`: true passages and their ids.
    - `relevance`: grades, document name or context id to gain; 0 and below mean "judged, and not relevant". What has
      no grade counts 1.
    - `is_answerable`: False for a question that the documents do not answer.

    Lists become tuples, a single text where a list is due is a list of one, and None is an empty list or object.
    Raises `InputError` naming the field that holds something else.

    >>> Case({"question": "Where is CERN?", "level": 1}, answers=["near Geneva"]).question
    'Where is CERN?'
    """

    input: Any
    id: str = ""
    answers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    context_ids: tuple[str, ...] = ()
    relevance: Mapping[str, float] = field(default_factory=dict)
    is_answerable: bool = True
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = self.__dict__
        own.update(
            {key: text_tuple(own[key], where) for key, where in _LISTS.items()},
            input=to_json_value(self.input, "input of a Case"),
            id=identity(self.id, "id of a Case"),
            relevance=grades(self.relevance, "relevance of a Case"),
            is_answerable=is_missing(self.is_answerable) or flag(self.is_answerable, "is_answerable of a Case"),
            metadata=json_object(self.metadata, "metadata of a Case"),
        )

    @property
    def question(self) -> str:
        """The input as text: the string itself, `input["question"]`, or the last user turn of a dialog."""
        return question_text(self.input)


def question_text(value: Any) -> str:
    """Return the text view of a case's input (see `Case.question`)."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return question_text(value.get("question", ""))
    if isinstance(value, list | tuple):
        turns = [t for t in value if isinstance(t, Mapping) and t.get("role", "user") == "user"]
        return _said(turns[-1].get("content")) if turns else ""
    return _said(value)


def _said(content: Any) -> str:
    """Return the text of a turn, which may come in parts (`{"type": "text", "text": ...}`, images and so on)."""
    if isinstance(content, list | tuple):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, Mapping) and "text" in part)
    return "" if content is None else str(content)
