"""An ordered question set and the hash of its content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from chatbench.core.case import Case
from chatbench.core.fields import entries, shown
from chatbench.core.jsonable import clean_text, digest
from chatbench.errors import DatasetError, InputError

UNNAMED = "Unknown dict"
"""Name of a question set that came as records without a name (the original package's word)."""


@dataclass(frozen=True)
class Dataset:
    """Ordered cases under a name. Ids are unique; `path` is where it was read from, if from a file.

    Raises `DatasetError` for cases that share an id, `InputError` for what is no `Case`, and for a name that is no text.
    """

    cases: tuple[Case, ...]
    name: str = UNNAMED
    path: str | None = None

    def __post_init__(self) -> None:
        cases = tuple(entries(self.cases, "cases of a Dataset", "a list of Case objects is due"))
        for place, case in enumerate(cases, 1):
            if not isinstance(case, Case):
                raise InputError(
                    f"record {place} of a Dataset is a {shown(case)}, but a Case is due. "
                    "load_dataset(records) reads dicts, files and DataFrames."
                )
        if not isinstance(self.name, str):
            raise InputError(f"name of a Dataset is a {shown(self.name)}; text is due")
        path = None if self.path is None else clean_text(os.fsdecode(self.path))
        self.__dict__.update(cases=cases, name=clean_text(self.name), path=path)
        seen: dict[str, int] = {}
        doubles = []
        for place, case in enumerate(cases, 1):
            if case.id in seen:
                doubles.append(f"{case.id!r} (records {seen[case.id]} and {place})")
            seen.setdefault(case.id, place)
        if doubles:
            raise DatasetError(f"Ids must be unique in {self.name!r}: {'; '.join(doubles[:20])}. Rename or drop them.")

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of ids and content, 16 hex digits; the same wherever the file lies and however its keys are ordered."""
        return digest([case_content(case) for case in self.cases])

    @property
    def questions(self) -> list[str]:
        """The questions' texts in order."""
        return [case.question for case in self.cases]


def case_content(case: Case) -> dict[str, object]:
    """Return the case as a JSON object: every field that is not empty."""
    content = {
        "id": case.id,
        "input": case.input,
        "answers": list(case.answers),
        "documents": list(case.documents),
        "contexts": list(case.contexts),
        "context_ids": list(case.context_ids),
        "relevance": dict(case.relevance),
        "is_answerable": case.is_answerable,
        "tags": list(case.tags),
        "metadata": dict(case.metadata),
    }
    return {key: value for key, value in content.items() if value or key in ("input", "is_answerable")}


def case_from_content(content: dict[str, object]) -> Case:
    """Return the case that `case_content` wrote."""
    return Case(**content)  # type: ignore[arg-type]
