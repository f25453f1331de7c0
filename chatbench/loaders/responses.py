"""Responses of a system from a file: one record per question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatbench.core.dataset import Dataset
from chatbench.core.document import to_documents
from chatbench.core.pairing import NO_ANSWER
from chatbench.core.response import Response
from chatbench.errors import DatasetError, LengthError, did_you_mean
from chatbench.loaders.json_file import read_records

_KEYS = (
    "id",
    "answer",
    "documents",
    "contexts",
    "context_ids",
    "is_answerable",
    "outputs",
    "seconds",
    "tokens",
    "error",
)


def load_responses(
    path: str | Path, dataset: Dataset, *, encoding: str | None = None, name_key: str | None = None
) -> list[Response]:
    """Return the responses of a JSON list or JSONL file in the order of the questions.

    A record has `answer` (text or null) and, if there are, `documents`, `contexts`, `context_ids`, `is_answerable`,
    `outputs`, `seconds`, `tokens`, `error`. Records with an `id` are matched to the cases by it (others of the file are left
    out), records without are taken in order. Missing ids, double ids and wrong types are named with their record, from 1.
    """
    records = read_records(path, encoding)
    if records and all("id" in r for r in records):
        records = _in_order(records, dataset, path)
    elif len(records) != len(dataset):
        raise LengthError(
            f"{path} has {len(records)} responses without ids for {len(dataset)} questions; give each record the id of its question."
        )
    return [_response(record, f"{path}, record {place}", name_key) for place, record in enumerate(records, 1)]


def _in_order(records: Sequence[Mapping[str, Any]], dataset: Dataset, path: str | Path) -> list[Mapping[str, Any]]:
    by_id: dict[str, Mapping[str, Any]] = {}
    for place, record in enumerate(records, 1):
        if str(record["id"]) in by_id:
            raise DatasetError(f"{path}, record {place}: the id {record['id']!r} is there twice.")
        by_id[str(record["id"])] = record
    missing = [case.id for case in dataset if case.id not in by_id]
    if missing:
        more = f" and {len(missing) - 20} more" if len(missing) > 20 else ""
        raise LengthError(
            f"{path} has no response to {len(missing)} of {len(dataset)} questions: {', '.join(missing[:20])}{more}. "
            'Write {"id": ..., "answer": null} where the system gave none.'
        )
    return [by_id[case.id] for case in dataset]


def _response(record: Mapping[str, Any], where: str, name_key: str | None) -> Response:
    if "answer" not in record:
        raise DatasetError(
            f"{where}: no key 'answer'; it has {', '.join(record) or 'no keys'}.{did_you_mean('answer', record)}"
        )
    answer = record["answer"]
    if answer is not None and not isinstance(answer, str):
        raise DatasetError(f"{where}: answer is a {type(answer).__name__}; text or null is due.")
    documents = record.get("documents", record.get("document"))
    return Response(
        answer=answer,
        documents=to_documents(
            [documents] if isinstance(documents, str) else documents, f"documents of {where}", name_key
        ),
        contexts=_texts(record, "contexts", where),
        context_ids=_texts(record, "context_ids", where),
        is_answerable=record.get("is_answerable"),
        outputs={
            **(record.get("outputs") or {}),
            **{k: v for k, v in record.items() if k not in (*_KEYS, "document")},
        },
        seconds=record.get("seconds"),
        tokens=record.get("tokens"),
        error=record.get("error") or (NO_ANSWER if answer is None else None),
    )


def _texts(record: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = record.get(key) or ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise DatasetError(f"{where}: {key} is a {type(value).__name__}; a list is due.")
    return tuple(map(str, value))
