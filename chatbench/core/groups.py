"""Questions in groups: by tag, document, language, or any attribute; and as clusters that are drawn together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chatbench.core.case import Case
from chatbench.errors import WrongOptionError, did_you_mean

NONE = "(none)"
"""The group of the questions that have nothing to group by."""

_FIELDS: dict[str, Callable[[Case], Iterable[Any]]] = {
    "tag": lambda case: case.tags,
    "document": lambda case: case.documents,
    "is_answerable": lambda case: [case.is_answerable],
}
_OTHER_NAMES = {"tags": "tag", "documents": "document", "lang": "language"}


def values_by(cases: Sequence[Case], by: str) -> list[list[str]]:
    """Return what each case has of `by`, as text: "tag", "document", "is_answerable", or a key of the metadata.

    A case may have several tags or documents, or none. Raises `WrongOptionError` naming what there is to group by.
    """
    if not isinstance(by, str):
        raise WrongOptionError(f"Questions are grouped by a name such as 'tag' or a metadata key, not by {by!r}.")
    if read := _FIELDS.get(_OTHER_NAMES.get(by, by)):
        found = [[_text(value) for value in read(case)] for case in cases]
    else:
        found = [_attribute(case, by) for case in cases]
    if any(found):
        return found
    known = grouping_names(cases)
    raise WrongOptionError(
        f"No question has {by!r} to group by.{did_you_mean(by, known)} There are: {', '.join(known)}."
    )


def grouping_names(cases: Iterable[Case]) -> list[str]:
    """Return by what these cases can be grouped."""
    cases = list(cases)
    fields = [name for name, read in _FIELDS.items() if any(True for case in cases for _ in read(case))]
    return [*fields, *sorted({key for case in cases for key in case.metadata} - set(fields))]


def groups_by(cases: Sequence[Case], by: str) -> dict[str, list[int]]:
    """Return the places of the cases of each group, groups in the order of their text, those without any last."""
    groups: dict[str, list[int]] = {}
    for place, values in enumerate(values_by(cases, by)):
        for value in dict.fromkeys(values) or [NONE]:
            groups.setdefault(value, []).append(place)
    return {name: groups[name] for name in sorted(groups, key=lambda name: (name == NONE, name))}


def clusters_by(cases: Sequence[Case], by: str) -> list[int]:
    """Return the number of the cluster of each case: cases that share a value belong together, also by way of a third.

    A case without any value is a cluster of its own.
    """
    parent = list(range(len(cases)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[str, int] = {}
    for place, values in enumerate(values_by(cases, by)):
        for value in values:
            parent[root(place)] = root(first.setdefault(value, place))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(place), len(numbers)) for place in range(len(cases))]


def _attribute(case: Case, key: str) -> list[str]:
    value = case.metadata.get(key)
    if value is None and key in ("language", "lang"):
        value = case.metadata.get("lang" if key == "language" else "language")
    if value is None:
        return []
    return [_text(entry) for entry in value] if isinstance(value, list | tuple) else [_text(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
