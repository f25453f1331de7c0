"""Questions in groups and clusters."""

from __future__ import annotations

import pytest

from chatbench.core.case import Case
from chatbench.core.groups import clusters_by, grouping_names, groups_by
from chatbench.errors import WrongOptionError

CASES = [
    Case("a", "1", tags=("easy", "short"), documents=("x.txt",), metadata={"level": 2, "lang": "de"}),
    Case("b", "2", tags=("easy",), documents=("y.txt", "z.txt"), metadata={"level": 10, "language": "en"}),
    Case("c", "3", documents=("z.txt", "x.txt"), is_answerable=False, metadata={"level": [2, 3]}),
    Case("d", "4"),
    Case("e", "5", documents=("w.txt",)),
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("tag", {"easy": [0, 1], "short": [0], "(none)": [2, 3, 4]}),
        ("tags", {"easy": [0, 1], "short": [0], "(none)": [2, 3, 4]}),
        ("document", {"w.txt": [4], "x.txt": [0, 2], "y.txt": [1], "z.txt": [1, 2], "(none)": [3]}),
        ("is_answerable", {"false": [2], "true": [0, 1, 3, 4]}),
        ("level", {"10": [1], "2": [0, 2], "3": [2], "(none)": [3, 4]}),
        ("language", {"de": [0], "en": [1], "(none)": [2, 3, 4]}),
    ],
)
def test_groups(by: str, expected: dict[str, list[int]]) -> None:
    found = groups_by(CASES, by)
    assert found == expected
    assert list(found) == list(expected)


def test_clusters_join_what_shares_a_value_directly_or_not() -> None:
    # x and z are in case 3 together, so that cases 1, 2 and 3 hang together; 4 has none, 5 its own.
    assert clusters_by(CASES, "document") == [0, 0, 0, 1, 2]
    assert clusters_by(CASES, "language") == [0, 1, 2, 3, 4]


def test_a_wrong_name_tells_what_there_is() -> None:
    assert grouping_names(CASES) == ["tag", "document", "is_answerable", "lang", "language", "level"]
    with pytest.raises(
        WrongOptionError, match=r"No question has 'levle' to group by. Did you mean 'level'\? There are: tag, doc"
    ):
        groups_by(CASES, "levle")
    with pytest.raises(WrongOptionError, match="not by 3"):
        clusters_by(CASES, 3)  # type: ignore[arg-type]
