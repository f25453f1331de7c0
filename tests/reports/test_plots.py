"""Plots of long names, many lines, and letters that no font has."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from chatbench.core.measure import Measure
from chatbench.core.scores import Summary
from chatbench.reports.comparison_plots import DifferenceLine, difference_plot, scatter_plot
from chatbench.reports.leaderboard_plots import history_plot
from chatbench.reports.plots import summary_plot
from chatbench.reports.power_plots import power_plot
from chatbench.reports.slice_plot import slice_plot

SHARE = Measure(float, "a share", at_least=0, at_most=1, better="higher", name="f1")
LONG = "a name that is far too long for any picture, with 日本語 and $5$ in it, " * 3


def history() -> Figure:
    when = pd.Timestamp("2026-01-01", tz="UTC")
    return history_plot([{"name": LONG, "created_at": when, "mean": 0.5, "low": 0.4, "high": 0.6}], LONG)


def summaries(n: int, name: str = "f1") -> Figure:
    return summary_plot([(f"{name} {i}", SHARE, Summary("f1", 0.5, 0.4, 0.6, 9, 1, 0)) for i in range(n)], LONG)


def differences(n: int, name: str = "f1") -> Figure:
    return difference_plot([DifferenceLine(f"{name} {i}", SHARE, 0.1, 0.0, 0.2, 9, "better") for i in range(n)], LONG)


def group(i: int, run: str = "a", **fields: Any) -> dict[str, Any]:
    same = {"difference": i / 100 - 1, "low": None, "high": None, "n": 20, "small": False, "verdict": "worse"}
    return {"run": run, "group": f"tag {i}", **same, **fields}


FIGURES = {
    "summary": lambda: summaries(3, LONG),
    "differences": lambda: differences(3, LONG),
    "scatter": lambda: scatter_plot([0.1], [0.2], LONG, LONG, LONG, SHARE),  # type: ignore[arg-type]
    "groups": lambda: slice_plot([group(0, group=LONG), group(1, LONG, group=LONG)], "difference", LONG),
    "power": lambda: power_plot([2, 10], {0.1: [0.1, 0.5]}, 10, 0.8, LONG),
    "history": history,
}


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_off(name: str) -> None:
    figure = FIGURES[name]()
    figure.draw_without_rendering()  # type: ignore[no-untyped-call]
    drawn = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert drawn.x0 >= -0.01
    assert drawn.y0 >= -0.01
    assert drawn.x1 <= width + 0.01
    assert drawn.y1 <= height + 0.01
    assert figure._repr_png_().startswith(b"\x89PNG")  # without a warning, which would be an error here


def labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


@pytest.mark.parametrize(("make", "what"), [(summaries, "measures"), (differences, "differences")])
def test_fifty_lines_are_the_most(make: Any, what: str) -> None:
    figure = make(2500)
    assert len(labels(figure)) == 50
    assert f"(50 of 2,500 {what})" in " ".join(figure.get_suptitle().split())
    assert " of " not in make(50).get_suptitle()


def test_the_worst_groups_of_each_run_are_shown() -> None:
    figure = slice_plot([group(i, run) for run in ("a", "b") for i in range(70)], "difference", "f1")
    assert labels(figure) == [f"{run}: tag {i}  (n=20)" for run in ("a", "b") for i in range(25)]
    assert figure.get_suptitle() == "f1 (50 of 140 groups)"


def test_groups_show_what_the_tests_say() -> None:
    kinds = [("worse", "v", "black"), ("no difference shown", "o", "white"), ("better", "^", "black")]
    records = [group(i, verdict=verdict, small=i == 1) for i, (verdict, *_) in enumerate(kinds)]
    figure = slice_plot(records, "difference", "f1")
    marks = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", "")]
    assert [(mark.get_marker(), mark.get_markerfacecolor()) for mark in marks] == [kind[1:] for kind in kinds]
    assert labels(figure) == ["tag 0  (n=20)", "tag 1 *  (n=20)", "tag 2  (n=20)"]
