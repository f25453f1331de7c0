"""The plot of `Power`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from chatbench.reports.leaderboard_plots import COLOURS, LINES
from chatbench.reports.plots import plot_class, set_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def power_plot(
    sizes: Sequence[int], curves: Mapping[float, Sequence[float]], n: int, wanted: float, title: str
) -> Figure:
    """Return a figure with a line per difference: its power at each number of questions, with a dot at `n`, one of them."""
    figure: Figure = plot_class()(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (difference, powers), line, colour in zip(curves.items(), cycle(LINES), cycle(COLOURS), strict=False):
        axes.plot(sizes, powers, linestyle=line, color=colour, label=f"difference {difference:.3g}")
        axes.plot([n], [powers[sizes.index(n)]], marker="o", color=colour, label="_")
    axes.axvline(n, color="0.5", linewidth=0.8)
    axes.axhline(wanted, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    set_title(figure, title)
    axes.set_xlabel(f"questions (line: {n}, as many as here)")
    axes.set_ylabel("power")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), handlelength=4)
    return figure
