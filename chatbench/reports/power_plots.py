"""The plot of `Power`."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Protocol

from chatbench.reports.leaderboard_plots import COLOURS, LINES
from chatbench.reports.plots import plot_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chatbench.core.run import Run


class Curve(Protocol):
    """What is drawn of a `Power`."""

    @property
    def n(self) -> int: ...
    @property
    def needed(self) -> int | None: ...
    @property
    def power(self) -> float: ...
    @property
    def measure(self) -> str: ...
    @property
    def run(self) -> Run: ...
    def differences(self) -> list[float]: ...
    def power_at(self, n: int, difference: float) -> float: ...


def power_plot(found: Curve) -> Figure:
    """Return a figure with a curve of the power over the number of questions for each difference; dots at this set's number."""
    import numpy as np

    figure: Figure = plot_class()(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    largest = max(8 * found.n, min(2 * (found.needed or 0), 1000 * found.n), 100)
    sizes = sorted({*np.geomspace(2, largest, 50).round().astype(int).tolist(), found.n})
    for difference, line, colour in zip(found.differences(), cycle(LINES), cycle(COLOURS), strict=False):
        curve = [found.power_at(n, difference) for n in sizes]
        axes.plot(sizes, curve, linestyle=line, color=colour, label=f"difference {difference:.3g}")
        axes.plot([found.n], [found.power_at(found.n, difference)], marker="o", color=colour, label="_")
    axes.axvline(found.n, color="0.5", linewidth=0.8)
    axes.annotate(f" n = {found.n}", (found.n, 1.01), color="0.3", fontsize=9, annotation_clip=False)
    axes.axhline(found.power, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.set_xlabel("questions")
    axes.set_ylabel("power")
    figure.suptitle(f"{found.measure} of {found.run.name}".replace("$", r"\$"), fontsize=10)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), handlelength=4)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
