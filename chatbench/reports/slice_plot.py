"""Plot of one measure in groups of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chatbench.reports.plots import interval_bar, label_lines, line_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def slice_plot(records: Sequence[Mapping[str, Any]], value: str, title: str) -> Figure:
    """Return a figure with a line per group: its mean or difference (`value` names which) as a dot, its interval as a bar.

    Small groups have a hollow dot.
    """
    known = [r for r in records if r[value] is not None]
    label = "mean and 95 % interval" if value == "mean" else "difference and its interval"
    figure, (axes,) = line_figure([len(known)], title, f"{label} (hollow: a small group)")
    if value != "mean":
        axes.axvline(0, color="0.3", linewidth=1)
    for place, r in enumerate(known):
        interval_bar(axes, place, r["low"], r["high"])
        face = "white" if r["small"] else "black"
        axes.plot([r[value]], [place], marker="o", color="black", markersize=5, markerfacecolor=face)
    label_lines(axes, [f"{r['group']}  (n={r['n']})" for r in known])
    return figure
