"""Joining questions with what a system answered, strict about lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import to_documents
from chatbench.core.response import Response, Sample
from chatbench.errors import InputError, LengthError

NO_ANSWER = "the system gave no answer (None)"


def respond(
    answers: Sequence[Any], documents: Sequence[Any] | None, cases: Sequence[Case], name_key: str | None = None
) -> list[Response]:
    """Return one response per case from parallel lists of answers and of document lists.

    An answer is text, None (kept as missing), or a `Response`. Raises `LengthError` naming all lengths when they
    differ, `InputError` naming the question when an entry is something else.
    """
    for word, value in (("answers", answers), ("documents", documents)):
        if isinstance(value, str | bytes):
            raise InputError(f"{word} is one text, but a list with one entry per question is due: [{word}].")
    answers = list(answers)
    documents = [()] * len(answers) if documents is None else list(documents)
    if not len(answers) == len(documents) == len(cases):
        raise LengthError(
            f"There are {len(cases)} questions, {len(answers)} answers and {len(documents)} document lists; "
            "they must be equally many. Put None where the system gave no answer, [] where it found no document."
        )
    return [
        to_response(answer, docs, f"question {place} ({case.id!r})", name_key)
        for place, (answer, docs, case) in enumerate(zip(answers, documents, cases, strict=True), 1)
    ]


def to_response(answer: Any, documents: Any, where: str, name_key: str | None = None) -> Response:
    """Return a response from one answer and its documents; `where` names the question in errors."""
    if isinstance(answer, Response):
        return answer
    ranked = to_documents(documents, f"documents of {where}", name_key)
    if answer is None:
        return Response(None, ranked, error=NO_ANSWER)
    if not isinstance(answer, str):
        raise InputError(f"The answer to {where} is a {type(answer).__name__}; text or None is due.")
    return Response(answer, ranked)


def pair(dataset: Dataset, responses: Sequence[Response]) -> list[Sample]:
    """Return one sample per response, in the order of the questions.

    `responses` holds the same number of attempts for every case, case by case.
    """
    repeat, rest = divmod(len(responses), max(len(dataset), 1))
    if rest or (len(dataset) and not repeat):
        raise LengthError(f"{len(responses)} responses do not belong to {len(dataset)} questions.")
    return [
        Sample(case, response)
        for place, case in enumerate(dataset)
        for response in responses[place * repeat : (place + 1) * repeat]
    ]
