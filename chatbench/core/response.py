"""What the system under test gave, and the pair of question and answer that metrics see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chatbench.core.case import Case
from chatbench.core.document import Document, fold_name, to_documents
from chatbench.core.fields import counts, flag, json_object, number, shown, text_tuple, whole
from chatbench.core.jsonable import clean_text, is_missing
from chatbench.core.redact import redact, redact_json
from chatbench.errors import InputError, Missing


@dataclass(frozen=True)
class Response:
    """One answer of the system to one case. `documents` and `contexts` are ranked, best first.

    `answer` is None when the system gave none; then `error` may say why. `attempt` counts from 1.
    `seconds` is wall time, `tokens` a mapping such as `{"prompt": 120, "completion": 8}`. Documents may be given in any form
    that `to_document` reads. None, and for the answer also an empty cell of pandas, stands for what is not known.
    Raises `InputError` naming the field that holds something else.
    """

    answer: str | None = None
    documents: tuple[Document, ...] = ()
    contexts: tuple[str, ...] = ()
    context_ids: tuple[str, ...] = ()
    is_answerable: bool | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    seconds: float | None = None
    tokens: Mapping[str, int] | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        documents, known, tokens, seconds = self.documents, self.is_answerable, self.tokens, self.seconds
        error = _text(self.error, "error")
        if not (isinstance(documents, tuple) and all(isinstance(d, Document) for d in documents)):
            documents = to_documents(documents, "documents of a Response")
        self.__dict__.update(
            answer=_text(self.answer, "answer"),
            documents=documents,
            contexts=text_tuple(self.contexts, "contexts of a Response"),
            context_ids=text_tuple(self.context_ids, "context_ids of a Response"),
            is_answerable=None if known is None else flag(known, "is_answerable of a Response"),
            outputs=redact_json(json_object(self.outputs, "outputs of a Response"), texts=False),
            attempt=_attempt(self.attempt),
            seconds=None if seconds is None else number(seconds, "seconds of a Response", 0),
            tokens=None if tokens is None else counts(tokens, "tokens of a Response"),
            error=redact(error) if error else None,
        )


_LAST_ATTEMPT = 2**31 - 1  # what a column of whole numbers holds


def _attempt(value: Any) -> int:
    attempt = whole(value, "attempt of a Response", 1)
    if attempt > _LAST_ATTEMPT:
        raise InputError(f"attempt of a Response is {attempt}; at most {_LAST_ATTEMPT} is due")
    return attempt


def _text(value: Any, key: str) -> str | None:
    if isinstance(value, str):
        return clean_text(value)
    if is_missing(value):
        return None
    raise InputError(f"{key} of a Response is a {shown(value)}; text or None is due")


@dataclass(frozen=True, slots=True)
class Sample:
    """A case and one response to it: the only thing a metric sees."""

    case: Case
    response: Response

    @property
    def question(self) -> str:
        """The question's text."""
        return self.case.question

    @property
    def answer(self) -> str:
        """The system's answer; raises `Missing` (NULL with a reason) when it gave none."""
        if self.response.answer is None:
            raise Missing(self.response.error or "the system gave no answer")
        return self.response.answer

    @property
    def answers(self) -> tuple[str, ...]:
        """The accepted answers; raises `Missing` for an unanswerable case or one without a reference."""
        if not self.case.is_answerable:
            raise Missing("the question is unanswerable")
        if not self.case.answers:
            raise Missing("no reference answer")
        return self.case.answers

    @property
    def documents(self) -> tuple[Document, ...]:
        """The retrieved documents, best first; raises `Missing` when the system failed altogether."""
        if self.response.error is not None and not self.response.documents:
            raise Missing(self.response.error)
        return self.response.documents

    @property
    def contexts(self) -> tuple[str, ...]:
        """The retrieved passages as text: `response.contexts`, else the texts of the documents."""
        return self.response.contexts or tuple(d.page_content for d in self.response.documents if d.page_content)

    @property
    def gold_documents(self) -> tuple[str, ...]:
        """Names of the true sources, without those that are graded 0 or below.

        Raises `Missing` for an unanswerable case or one without any.
        """
        case = self.case
        if not case.is_answerable:
            raise Missing("the question is unanswerable")
        if not case.documents:
            raise Missing("no true document")
        if not case.relevance:
            return case.documents
        gains: dict[str, float] = {}
        for name, gain in case.relevance.items():  # of several forms of one name the best grade counts
            folded = fold_name(name)
            gains[folded] = max(gain, gains.get(folded, gain))
        if not (relevant := tuple(name for name in case.documents if gains.get(fold_name(name), 1) > 0)):
            raise Missing("none of the judged entries is relevant")
        return relevant
