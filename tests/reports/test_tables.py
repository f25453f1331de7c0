"""What numbers and names look like in tables."""

from __future__ import annotations

import pytest

from chatbench.core.scores import Summary
from chatbench.reports.side_by_side import side_by_side
from chatbench.reports.tables import html_table, interval_text, number_columns, number_text, text_blocks, text_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (-0.0, "0.0000"),
        (0.5, "0.5000"),
        (-0.25, "-0.2500"),
        (0.001, "0.0010"),
        (0.00012344, "0.0001234"),
        (1.2344e-05, "1.234e-05"),
        (-1.2344e-05, "-1.234e-05"),
        (123456.7, "123456.7000"),
        (1234567.0, "1.235e+06"),
        (1.2e306, "1.2e+306"),
    ],
)
def test_numbers_keep_their_significant_digits(value: float, text: str) -> None:
    assert number_text(value) == text
    assert number_columns(["x"], [[text], ["–"]]) == {0}


def test_columns_of_small_and_large_numbers_stay_to_the_right() -> None:
    rows = [["cost", 1.2e-05, interval_text(-1e-05, 2e-05)], ["words", 20.0, interval_text(3e7, 4e7)]]
    lines = text_table(["measure", "mean", "interval"], rows).splitlines()
    assert number_columns(["measure", "mean", "interval"], rows) == {1, 2}
    assert [len(line) for line in lines] == [len(lines[0])] * 3


def test_names_stay_on_their_line() -> None:
    table = text_table(["run\tname"], [["one\ntwo"], ["three\x1b[31m"]], "a\r\ncaption", ["a note"])
    assert table.splitlines() == ["a caption", "run name", "one two", "three [31m", "a note"]


def test_blocks_for_narrow_screens() -> None:
    blocks = text_blocks(["name", "95 % interval"], [["a\nb", "0.1 to 0.2"], [None, 0.5]], "caption", ["note"])
    assert blocks.split("\n\n") == [
        "caption",
        "name           a b\n95 % interval  0.1 to 0.2",
        "name           –\n95 % interval  0.5000",
        "note",
    ]


def test_runs_side_by_side() -> None:
    _, rows = side_by_side([("a", {"cost": Summary("cost", 1.2e-05, 1e-05, 2e-05, 3, 0, 0)})])
    assert rows == [["cost", "1.2e-05 (1e-05 to 2e-05)", "3 / 0 / 0"]]
    assert "1.2e-05" in html_table(["mean"], [[1.2e-05]])
