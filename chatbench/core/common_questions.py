"""Which questions two question sets have in common."""

from __future__ import annotations

from dataclasses import dataclass

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset, case_content

# What may differ between two forms of one question: neither is asked, and neither decides what is right.
_BESIDE = ("tags", "metadata")


@dataclass(frozen=True)
class CommonQuestions:
    """Ids of questions, sorted: those that are the same in both sets, those whose text or gold differs, those of one set only."""

    same: tuple[str, ...]
    changed: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def common_questions(first: Dataset, second: Dataset) -> CommonQuestions:
    """Pair two question sets by id. A question counts as changed when its input or anything of its gold differs."""
    a, b = ({case.id: case for case in dataset} for dataset in (first, second))
    both = sorted(a.keys() & b.keys())
    equal_sets = first.fingerprint == second.fingerprint
    same = tuple(both) if equal_sets else tuple(i for i in both if _asked(a[i]) == _asked(b[i]))
    return CommonQuestions(
        same,
        tuple(sorted(set(both) - set(same))),
        tuple(sorted(a.keys() - b.keys())),
        tuple(sorted(b.keys() - a.keys())),
    )


def _asked(case: Case) -> dict[str, object]:
    return {key: value for key, value in case_content(case).items() if key not in _BESIDE}
