"""Responses of a system from a file: one record per question."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatbench.core.dataset import Dataset
from chatbench.core.document import to_documents
from chatbench.core.fields import json_object
from chatbench.core.jsonable import is_missing
from chatbench.core.pairing import NO_ANSWER
from chatbench.core.response import Response
from chatbench.errors import DatasetError, InputError, LengthError
from chatbench.loaders.json_file import read_records
from chatbench.loaders.records import SHOWN, refuse
from chatbench.loaders.values import text_of

_FIELDS = ("answer", "contexts", "context_ids", "is_answerable", "seconds", "tokens", "error")
_KEYS = frozenset((*_FIELDS, "id", "documents", "document", "outputs"))


def load_responses(
    path: str | Path, dataset: Dataset, *, encoding: str | None = None, name_key: str | None = None
) -> list[Response]:
    """Return the responses of a JSON list or JSONL file in the order of the questions.

    A record has `answer` (text or null) and, if there are, `documents`, `contexts`, `context_ids`, `is_answerable`,
    `outputs`, `seconds`, `tokens`, `error`, each as in `Response`; other keys become outputs. Records with an `id` are
    matched to the cases by it (others of the file are left out), records without are taken in order.

    Raises `DatasetError` naming all records, counted from 1, that lack the answer or an id that others have, have the
    id of another one, or hold a value of another type; `LengthError` when questions have no response.
    """
    source = os.fsdecode(path)
    records = read_records(path, encoding, as_written=True)
    responses: dict[int, Response] = {}
    faults: dict[int, str] = {}
    places = _places(records, dataset, source)
    for place in sorted(places):
        try:
            responses[place] = _response(records[place - 1], name_key)
        except InputError as error:
            faults[place] = str(error)
    refuse(source, faults, "Correct these records.")
    return [responses[place] for place in places]


def _places(records: Sequence[Mapping[str, Any]], dataset: Dataset, source: str) -> list[int]:
    """Return the number of each question's record."""
    if all(is_missing(record.get("id")) for record in records):
        if len(records) != len(dataset):
            raise LengthError(
                f"{source!r} has {len(records)} responses without ids for {len(dataset)} questions; "
                "give each record the id of its question."
            )
        return list(range(1, len(records) + 1))
    by_id: dict[str, int] = {}
    faults = {}
    for place, record in enumerate(records, 1):
        try:
            identity = text_of(record.get("id"), "id")
        except DatasetError as error:
            faults[place] = str(error)
            continue
        if identity is None:
            faults[place] = "has no id, but others have"
        elif by_id.setdefault(identity, place) != place:
            faults[place] = f"the id {identity!r} is there twice, also in record {by_id[identity]}"
    refuse(source, faults, "Give each record the id of its question.")
    missing = [case.id for case in dataset if case.id not in by_id]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise LengthError(
            f"{source!r} has no response to {len(missing)} of {len(dataset)} questions: "
            f"{', '.join(missing[:SHOWN])}{more}. "
            'Write {"id": ..., "answer": null} where the system gave none.'
        )
    return [by_id[case.id] for case in dataset]


def _response(record: Mapping[str, Any], name_key: str | None) -> Response:
    if "answer" not in record:
        raise DatasetError(f"lacks 'answer'; it has {', '.join(map(repr, record)) or 'no keys'}")
    documents = record.get("document") if record.get("documents") is None else record["documents"]
    given = {key: record[key] for key in _FIELDS if key in record}
    if given["answer"] is None:
        given["error"] = given.get("error") or NO_ANSWER
    return Response(
        **given,
        documents=to_documents([documents] if isinstance(documents, str) else documents, "documents", name_key),
        outputs={
            **json_object(record.get("outputs"), "outputs"),
            **{key: value for key, value in record.items() if key not in _KEYS},
        },
    )
