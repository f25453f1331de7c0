"""Plots of comparisons: differences with intervals, and two runs question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatbench.core.measure import Measure
from chatbench.core.question_means import Floats
from chatbench.reports.plots import (
    MOST,
    interval_bar,
    is_share,
    label_lines,
    line_figure,
    part,
    plain,
    plot_class,
    set_title,
    short,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = {"better": "^", "worse": "v", "different": "D"}
LEGEND = "filled: shown by the test (▲ better, ▼ worse, ◆ different);  ○ no difference shown"


@dataclass(frozen=True)
class DifferenceLine:
    """One line of the plot of differences."""

    name: str
    measure: Measure
    difference: float
    low: float | None
    high: float | None
    n: int
    verdict: str


def difference_plot(lines: Sequence[DifferenceLine], title: str) -> Figure:
    """Return a figure with one line per measure: the difference as a mark, its interval as a bar, zero as a line.

    A filled triangle is a difference that the tests show: upwards for better, downwards for worse. Measures within -1 to 1
    share one scale; others, such as counts, have a panel below.
    """
    scored = [line for line in lines if line.n]
    known = scored[:MOST]
    title += part(len(known), len(scored), "differences")
    groups = [[line for line in known if is_share(line.measure) == shared] for shared in (True, False)]
    panels = [group for group in groups if group] or [[]]
    figure, all_axes = line_figure([len(panel) for panel in panels], title, "difference and its interval")
    figure.supxlabel(LEGEND, fontsize=9)
    for axes, panel in zip(all_axes, panels, strict=True):
        axes.axvline(0, color="0.3", linewidth=1)
        for place, line in enumerate(panel):
            interval_bar(axes, place, line.low, line.high)
            verdict_mark(axes, place, line.difference, line.verdict)
        # Longer than other names: the measure, and behind it the run.
        label_lines(axes, [f"{short(line.name, 60)}  (n={line.n})" for line in panel])
    return figure


def verdict_mark(axes: Axes, place: int, difference: float, verdict: str) -> None:
    """Draw a difference as a mark that tells its verdict, as `LEGEND` explains."""
    face = "black" if verdict in _SHOWN else "white"
    marker = _SHOWN.get(verdict, "o")
    axes.plot([difference], [place], marker=marker, color="black", markersize=6, markerfacecolor=face)


def scatter_plot(a: Floats, b: Floats, first: str, second: str, name: str, measure: Measure) -> Figure:
    """Return a figure with a mark per question: the first run across, the second upwards; larger marks are several questions.

    Triangles upwards are better in the second run, downwards worse, dots on the line are equal.
    """
    figure = plot_class()(figsize=(5.4, 5.4), layout="constrained")
    axes = figure.subplots()
    points = Counter((float(x), float(y)) for x, y in zip(a, b, strict=True) if x == x and y == y)
    words = ("better", "worse") if measure.better else ("higher", "lower")
    for sign, marker, face, word in (
        (1, "^", "black", words[0]),
        (-1, "v", "white", words[1]),
        (0, "o", "0.6", "equal"),
    ):
        turned = -sign if measure.better == "lower" else sign
        chosen = [(x, y, n) for (x, y), n in points.items() if (y > x) - (y < x) == turned]
        if chosen:
            xs, ys, counts = zip(*chosen, strict=True)
            look: dict[str, Any] = {
                "marker": marker,
                "facecolors": face,
                "edgecolors": "black",
                "linewidths": 0.8,
                "alpha": 0.75,
            }
            axes.scatter(xs, ys, s=[20 * n**0.5 for n in counts], label=f"{word}: {sum(counts)}", **look)
    ends = [value for point in points for value in point] or [0.0, 1.0]
    margin = (max(ends) - min(ends) or 1.0) * 0.05
    span = (min(ends) - margin, max(ends) + margin)
    axes.plot(span, span, color="0.5", linewidth=1, zorder=0)
    axes.set(xlim=span, ylim=span, xlabel=plain(short(first)), ylabel=plain(short(second)), aspect="equal")
    set_title(figure, f"{name}: {sum(points.values())} questions")
    if points:
        axes.legend(fontsize=8)
    return figure
