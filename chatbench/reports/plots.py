"""Plots. Readable in grey: position and shape carry the meaning, colour only helps."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure

    from chatbench.core.measure import Measure
    from chatbench.core.scores import Summary

MOST = 50
"""So many lines are shown in a plot."""


def summary_plot(rows: Sequence[tuple[str, Measure, Summary]], title: str) -> Figure:
    """Return a figure with one line per measure: the mean as a dot, its 95 % interval as a bar, and the counts.

    Measures within -1 to 1 share one scale; others, such as counts, have a panel below.
    """
    groups: list[list[tuple[str, Summary, float]]] = [[], []]
    known = [(name, m, summary, summary.mean) for name, m, summary in rows if summary.mean is not None]
    for name, measure, summary, mean in known[:MOST]:
        groups[0 if is_share(measure) else 1].append((name, summary, mean))
    panels = [group for group in groups if group] or [[]]
    title += part(min(len(known), MOST), len(known), "measures")
    figure, all_axes = line_figure([len(panel) for panel in panels], title, "mean over questions and 95 % interval")
    for axes, panel in zip(all_axes, panels, strict=True):
        for place, (_, s, mean) in enumerate(panel):
            interval_bar(axes, place, s.low, s.high)
            axes.plot([mean], [place], marker="o", color="black", markersize=4)
        label_lines(axes, [with_counts(short(name), s) for name, s, _ in panel])
    return figure


def line_figure(heights: Sequence[int], title: str, x_label: str) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels below each other with so many lines each."""
    lines = [max(height, 1) for height in heights]
    figure = plot_class()(figsize=(7.5, 0.6 * len(lines) + 0.5 + 0.32 * sum(lines)), layout="constrained")
    all_axes = list(figure.subplots(len(lines), squeeze=False, height_ratios=lines)[:, 0])
    set_title(figure, title)
    all_axes[-1].set_xlabel(x_label)
    return figure, all_axes


def set_title(figure: Figure, title: str) -> None:
    """Put a title above the whole figure, in as many lines as its width asks for."""
    width = int(figure.get_figwidth() * 12)  # characters of this size
    lines = [part for line in title.splitlines() for part in textwrap.wrap(line, width)]
    figure.suptitle(plain("\n".join(lines)), x=0.01, ha="left", fontsize=10)


def part(shown: int, n: int, what: str) -> str:
    """Return " (50 of 2,500 runs)" where not all are shown."""
    return f" ({shown:,} of {n:,} {what})" if shown < n else ""


def short(name: str, most: int = 40) -> str:
    """Return a name in one line that leaves room for the picture."""
    name = " ".join(name.split())
    return name if len(name) <= most else f"{name[: most - 1]}…"


def interval_bar(axes: Axes, place: float, low: float | None, high: float | None) -> None:
    """Draw an interval as a bar, if there is one."""
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color="0.45", linewidth=2.5, solid_capstyle="butt")


def label_lines(axes: Axes, labels: Sequence[str]) -> None:
    """Label the lines of a panel from the top, and take away what carries no meaning; long labels make the figure wider."""
    figure = axes.get_figure()
    if isinstance(figure, plot_class()):
        inches = 3.6 + 0.085 * max(map(len, labels), default=0)
        figure.set_figwidth(max(figure.get_figwidth(), inches))
    axes.set_yticks(range(len(labels)), [plain(label) for label in labels])
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def plain(text: str) -> str:
    """Return text that is shown as it is: a pair of dollars would be read as mathematics."""
    return text.replace("$", r"\$")


def is_share(measure: Measure) -> bool:
    """Whether a measure lies within -1 to 1, so that it can share a scale with others."""
    low, high = measure.at_least, measure.at_most
    return measure.type is bool or (low is not None and high is not None and low >= -1 and high <= 1)


@cache
def plot_class() -> type[Figure]:
    """Return a figure that a notebook shows by itself, also where pyplot was never imported, and that draws without warnings."""
    from matplotlib.figure import Figure

    class Plot(Figure):
        # Warnings tell of letters that the font lacks, or of no room for the axes: nothing that a user can cure.
        def draw(self, renderer: RendererBase) -> None:
            with warnings.catch_warnings(action="ignore"):
                super().draw(renderer)

        def get_tightbbox(self, *arguments: Any, **named: Any) -> Any:
            with warnings.catch_warnings(action="ignore"):
                return super().get_tightbbox(*arguments, **named)

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
