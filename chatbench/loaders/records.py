"""Records of any format to cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chatbench.core.case import Case
from chatbench.core.fields import shown
from chatbench.core.jsonable import clean_text, is_missing
from chatbench.errors import DatasetError, InputError, MissingKeyError
from chatbench.loaders.ids import fill_ids
from chatbench.loaders.keys import Keys
from chatbench.loaders.values import flag_of, grades_of, json_of, object_of, text_of, texts_of

SHOWN = 20
"""Offending records that an error text lists."""


def read_cases(records: Sequence[Any], keys: Keys, source: str) -> tuple[Case, ...]:
    """Return one case per record, in order; `source` names the set in error texts.

    Raises `MissingKeyError` or `DatasetError` naming all offending records, counted from 1.
    """
    require_objects(records, source)
    _require_keys(records, keys, source)
    contents = []
    faults = {}
    for number, record in enumerate(records, 1):
        try:
            contents.append(_content(record, keys))
        except InputError as error:
            faults[number] = str(error)
    refuse(source, faults, "Correct or leave out these records.")
    fill_ids(contents)
    return tuple(Case(**content) for content in contents)


def require_objects(records: Sequence[Any], source: str) -> None:
    """Raise `DatasetError` naming the records that are no objects (dicts)."""
    faults = {
        number: f"is a {shown(record)}" for number, record in enumerate(records, 1) if not isinstance(record, Mapping)
    }
    refuse(source, faults, "A record is an object (a dict) of keys and values.")


def refuse(source: str, faults: Mapping[int, str], advice: str, error: type[DatasetError] = DatasetError) -> None:
    """Raise one error for all faults, the first 20 of them by the number of their record."""
    if not faults:
        return
    named = [f"record {number}: {fault}" for number, fault in list(faults.items())[:SHOWN]]
    if len(faults) > SHOWN:
        named.append(f"and {len(faults) - SHOWN} more")
    count = "1 record" if len(faults) == 1 else f"{len(faults)} records"
    raise error(f"{count} of {source!r} cannot be used: {'; '.join(named)}. {advice}")


def _require_keys(records: Sequence[Mapping[str, Any]], keys: Keys, source: str) -> None:
    """Refuse records without question, and those without answer or document that others have."""
    faults: dict[int, list[str]] = {}
    everyone = dict(enumerate(records, 1))
    answerable = everyone if keys.chosen else {n: r for n, r in everyone.items() if not _is_unanswerable(r)}
    for names, due in ((keys.question, everyone), (keys.answers, answerable), (keys.documents, answerable)):
        lacking = [n for n, record in due.items() if record.keys().isdisjoint(names)]
        optional = not keys.chosen and names is not keys.question
        if optional and len(lacking) == len(due):
            continue  # a set without any references: the metrics that need them are missing, not wrong
        for number in lacking:
            faults.setdefault(number, []).append(" or ".join(repr(name) for name in names))
    if faults:
        first = min(faults)
        present = ", ".join(repr(key) for key in list(everyone[first])[:SHOWN]) or "none"
        advice = (
            f"Record {first} has the keys: {present}. Add the missing ones (null where nothing is known), "
            'or name others with keys={"test_questions": ..., "test_answers": ..., "test_documents": ...}.'
        )
        texts = {number: f"lacks {' and '.join(faults[number])}" for number in sorted(faults)}
        refuse(source, texts, advice, MissingKeyError)


def _is_unanswerable(record: Mapping[str, Any]) -> bool:
    flag = record.get("is_answerable")
    return isinstance(flag, int | float) and flag == 0


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "id": lambda value, key: text_of(value, key) or "",
    "contexts": texts_of,
    "context_ids": texts_of,
    "relevance": grades_of,
    "is_answerable": flag_of,
    "tags": texts_of,
    "metadata": object_of,
}


def _content(record: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Return the fields of the record's case."""
    question_key, question = _input(record, keys)
    content = {key: _READERS[key](record[key], key) for key in keys.optional.intersection(record)}
    documents_key, documents = _first(record, keys.documents)
    if isinstance(documents, Mapping):
        grades = grades_of(documents, documents_key)
        documents = [name for name, grade in grades.items() if grade > 0]
        content["relevance"] = {**grades, **content.get("relevance", {})}
    answers_key, answers = _first(record, keys.answers)
    content["input"] = question
    content["answers"] = texts_of(answers, answers_key)
    content["documents"] = texts_of(documents, documents_key)
    others = {key: value for key, value in record.items() if key not in keys.references and key != question_key}
    content["metadata"] = {**object_of(others, "record"), **content.get("metadata", {})}
    contexts, context_ids = content.get("contexts", ()), content.get("context_ids", ())
    if contexts and context_ids and len(contexts) != len(context_ids):
        raise DatasetError(
            f"there are {len(contexts)} contexts and {len(context_ids)} context_ids; they belong in pairs"
        )
    return content


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first of the keys that holds a value, and the value; None when none does."""
    for name in names:
        if not is_missing(value := record.get(name)):
            return name, value
    return names[0], None


def _input(record: Mapping[str, Any], keys: Keys) -> tuple[str, Any]:
    key, value = _first(record, keys.question)
    if isinstance(value, str) and value.strip():
        return key, clean_text(value)
    if value is None or isinstance(value, str):
        raise DatasetError(f"{key!r} is {'null' if value is None else 'blank'}; a question is due")
    if key != "input":
        raise DatasetError(f"{key!r} is a {shown(value)}; text is due (other JSON goes under 'input')")
    value = json_of(value, key)
    if value in ([], {}):
        raise DatasetError(f"{key!r} is empty; a question is due")
    return key, value
