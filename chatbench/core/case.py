"""One thing to ask, with what is known about its true answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chatbench.core.jsonable import clean_text, text_tuple, to_json_value

_LISTS = ("answers", "documents", "contexts", "context_ids", "tags")


@dataclass(frozen=True)
class Case:
    """A question with its accepted answers and true sources. Only `input` is required.

    - `input`: JSON; a string, an object with `question`, or a dialog (list of `{"role", "content"}` turns).
    - `answers`: accepted answers, any of them is right. `documents`: names of the true sources.
    - `contexts`, `context_ids`: true passages and their ids.
    - `relevance`: graded gold, document name or context id to gain (> 0); empty means that all count alike.
    - `is_answerable`: False for a question that the documents do not answer.

    Lists become tuples, and a single text where a list is due is a list of one.

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
        self.__dict__.update(
            {key: text_tuple(getattr(self, key)) for key in _LISTS},
            input=to_json_value(self.input, "input"),
            id=clean_text(str(self.id)),
            relevance={clean_text(str(name)): float(gain) for name, gain in self.relevance.items()},
            metadata=to_json_value(self.metadata, "metadata", str),
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
        return str(turns[-1].get("content", "")) if turns else ""
    return "" if value is None else str(value)
