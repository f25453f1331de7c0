"""An ordered question set and the hash of its content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from chatbench.core.case import Case
from chatbench.core.jsonable import digest
from chatbench.errors import DatasetError

UNNAMED = "Unknown dict"
"""Name of a question set that came as records without a name (the original package's word)."""


@dataclass(frozen=True)
class Dataset:
    """Ordered cases under a name. Ids are unique; `path` is where it was read from, if from a file."""

    cases: tuple[Case, ...]
    name: str = UNNAMED
    path: str | None = None

    def __post_init__(self) -> None:
        seen: dict[str, int] = {}
        doubles = []
        for place, case in enumerate(self.cases, 1):
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
