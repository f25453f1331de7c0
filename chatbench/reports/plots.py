"""Plots. Readable in grey: position and shape carry the meaning, colour only helps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from chatbench.core.measure import Measure
    from chatbench.core.scores import Summary


def summary_plot(rows: Sequence[tuple[str, Measure, Summary]], title: str) -> Figure:
    """Return a figure with one line per measure: the mean as a dot, its 95 % interval as a bar, and the counts.

    Measures within -1 to 1 share one scale; others, such as counts, have a panel below.
    """
    groups: list[list[tuple[str, Summary, float]]] = [[], []]
    for name, measure, summary in rows:
        if summary.mean is not None:
            groups[0 if _is_share(measure) else 1].append((name, summary, summary.mean))
    panels = [group for group in groups if group] or [[]]
    heights = [max(len(panel), 1) for panel in panels]
    figure = plot_class()(figsize=(7, 0.6 * len(panels) + 0.5 + 0.32 * sum(heights)), layout="constrained")
    for axes, panel in zip(
        figure.subplots(len(panels), squeeze=False, height_ratios=heights)[:, 0], panels, strict=True
    ):
        _draw(axes, panel)
    figure.axes[0].set_title(title, loc="left", fontsize=10)
    figure.axes[-1].set_xlabel("mean over questions and 95 % interval")
    return figure


def _is_share(measure: Measure) -> bool:
    low, high = measure.at_least, measure.at_most
    return measure.type is bool or (low is not None and high is not None and low >= -1 and high <= 1)


def _draw(axes: Axes, panel: Sequence[tuple[str, Summary, float]]) -> None:
    for place, (_, s, mean) in enumerate(panel):
        if s.low is not None and s.high is not None:
            axes.plot([s.low, s.high], [place, place], color="0.45", linewidth=2.5, solid_capstyle="butt")
        axes.plot([mean], [place], marker="o", color="black", markersize=4)
    axes.set_yticks(range(len(panel)), [with_counts(name, s) for name, s, _ in panel])
    axes.invert_yaxis()
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


@cache
def plot_class() -> type[Figure]:
    """Return a figure that a notebook shows by itself, also where pyplot was never imported."""
    from matplotlib.figure import Figure

    class Plot(Figure):
        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return Plot


def with_counts(name: str, s: Summary) -> str:
    """Return a label with the counts behind a mean: "f1  (n=198, 2 errors)"."""
    if s.n_scored is None:
        return name
    left_out = [f"{n} {word}" for n, word in ((s.n_errors, "errors"), (s.n_missing, "missing")) if n]
    return f"{name}  (n={s.n_scored}{''.join(f', {text}' for text in left_out)})"
