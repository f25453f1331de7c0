"""Plots. Readable in grey: position and shape carry the meaning, colour only helps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chatbench.core.scores import Summary


def summary_plot(rows: Sequence[tuple[str, Summary]], title: str) -> Figure:
    """Return a figure with one line per measure: the mean as a dot, its 95 % interval as a bar, and the counts."""
    shown = [(name, s, s.mean) for name, s in rows if s.mean is not None]
    figure = _plot_class()(figsize=(7, 0.9 + 0.34 * max(len(shown), 1)), layout="constrained")
    axes = figure.add_subplot()
    for place, (_, s, mean) in enumerate(shown):
        if s.low is not None and s.high is not None:
            axes.plot([s.low, s.high], [place, place], color="0.45", linewidth=2, solid_capstyle="butt")
        axes.plot([mean], [place], marker="o", color="black", markersize=5)
    axes.set_yticks(range(len(shown)), [_with_counts(name, s) for name, s, _ in shown])
    axes.invert_yaxis()
    axes.set_xlabel("mean over questions and 95 % interval")
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


@cache
def _plot_class() -> type[Figure]:
    """Return a figure that a notebook shows by itself, also where pyplot was never imported."""
    from matplotlib.figure import Figure

    class Plot(Figure):
        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return Plot


def _with_counts(name: str, s: Summary) -> str:
    if s.n_scored is None:
        return name
    left_out = [f"{n} {word}" for n, word in ((s.n_errors, "errors"), (s.n_missing, "missing")) if n]
    return f"{name}  (n={s.n_scored}{''.join(f', {text}' for text in left_out)})"
