"""Joining questions with what a system answered, strict about lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import Document, to_documents
from chatbench.core.fields import entries, shown
from chatbench.core.jsonable import is_missing
from chatbench.core.response import Response, Sample
from chatbench.errors import InputError, LengthError

NO_ANSWER = "the system gave no answer (None)"


def respond(
    answers: Iterable[Any], documents: Iterable[Any] | None, cases: Sequence[Case], name_key: str | None = None
) -> list[Response]:
    """Return one response per case from parallel lists of answers and of document lists.

    Both come as anything that has an order: a list, a generator, an array, a pandas Series (by position, whatever its
    index). An answer is text, None or an empty cell of pandas (kept as missing), or a `Response`, which gets the
    documents of its place unless it has its own. Raises `LengthError` naming all lengths when they differ, `InputError`
    naming the question when an entry is something else, or when a `Response` comes with documents twice.
    """
    given = entries(answers, "answers", "a list with one answer per question, in their order, is due: [answer, ...]")
    due = "a list with one list of documents per question, in their order, is due: [[document, ...], ...]"
    lists = [()] * len(given) if documents is None else entries(documents, "documents", due)
    if not len(given) == len(lists) == len(cases):
        raise LengthError(
            f"There are {len(cases)} questions, {len(given)} answers and {len(lists)} document lists; "
            "they must be equally many. Put None where the system gave no answer, [] where it found no document."
        )
    return [
        to_response(answer, docs, f"question {place} ({case.id!r})", name_key)
        for place, (answer, docs, case) in enumerate(zip(given, lists, cases, strict=True), 1)
    ]


def to_response(answer: Any, documents: Any, where: str, name_key: str | None = None) -> Response:
    """Return a response from one answer and its documents; `where` names the question in errors."""
    ranked = to_documents(documents, f"documents of {where}", name_key)
    if isinstance(answer, str):
        return Response(answer, ranked)
    if isinstance(answer, Response):
        response = _with_documents(answer, ranked, where, name_key)
        silent = response.answer is None and response.error is None
        return replace(response, error=NO_ANSWER) if silent else response
    if is_missing(answer):
        return Response(None, ranked, error=NO_ANSWER)
    raise InputError(f"The answer to {where} is a {shown(answer)}; text, None or a Response is due.")


def _with_documents(response: Response, ranked: tuple[Document, ...], where: str, name_key: str | None) -> Response:
    if ranked and response.documents:
        raise InputError(
            f"The Response to {where} has {len(response.documents)} documents of its own, and {len(ranked)} are given "
            "beside it. Give them once: leave them out here (None or []) or there."
        )
    if not ranked and name_key is None:
        return response
    return replace(response, documents=ranked or to_documents(response.documents, f"documents of {where}", name_key))


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
