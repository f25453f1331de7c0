"""Plots of several runs. Readable in grey: position, marker and line style carry the meaning, colour only helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from chatbench.core.scores import Summary
from chatbench.reports.plots import (
    interval_bar,
    label_lines,
    line_figure,
    part,
    plain,
    plot_class,
    set_title,
    short,
    with_counts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Record = Mapping[str, Any]
"""A row of `Leaderboard.frame` as plain values."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Told apart with any colour vision. Source: M. Okabe and K. Ito, "Color Universal Design" (2008); yellow is left out on white."""


def ranking_plot(records: Sequence[Record], n_runs: int, title: str) -> Figure:
    """Return a figure with a line per run in the given order: the mean as a dot, its 95 % interval as a bar, the counts."""
    x_label = "mean over questions and 95 % interval (hollow: no interval)"
    figure, (axes,) = line_figure([len(records)], title + part(len(records), n_runs, "runs"), x_label)
    for place, r in enumerate(records):
        interval_bar(axes, place, r["low"], r["high"])
        if r["mean"] is not None:
            filled = "black" if r["low"] is not None else "white"
            axes.plot([r["mean"]], [place], marker="o", color="black", markerfacecolor=filled, markersize=4)
    names = Counter(r["name"] for r in records)
    label_lines(axes, [_label(r, names[r["name"]] > 1) for r in records])
    return figure


def history_plot(records: Sequence[Record], title: str) -> Figure:
    """Return a figure of the means over time with intervals, a line per run name in the order of the records; 12 at most."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    names = list(dict.fromkeys(r["name"] for r in records if r["mean"] is not None))
    shown = names[: len(MARKERS)]
    figure: Figure = plot_class()(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, marker, line, colour in zip(shown, MARKERS, cycle(LINES), cycle(COLOURS), strict=False):
        series = sorted(
            (r for r in records if r["name"] == name and r["mean"] is not None), key=lambda r: r["created_at"]
        )
        _draw_series(axes, series, {"marker": marker, "linestyle": line, "color": colour})
    locator = AutoDateLocator(minticks=3, maxticks=6)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    set_title(figure, title + part(len(shown), len(names), "names"))
    axes.set_xlabel("time of the run (UTC)")
    axes.set_ylabel("mean and 95 % interval")
    if shown:
        # Not by figure.legend(): labels that begin with an underscore would be left out.
        labels = [plain(short(name)) for name in shown]
        axes.legend(axes.get_lines(), labels, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=4)
    return figure


def _draw_series(axes: Axes, series: Sequence[Record], style: Mapping[str, Any]) -> None:
    times = [r["created_at"].to_pydatetime() for r in series]
    axes.plot(times, [r["mean"] for r in series], linewidth=1.2, markersize=5, **style)
    bars = [(time, r["low"], r["high"]) for time, r in zip(times, series, strict=True) if r["low"] is not None]
    if bars:
        at, low, high = zip(*bars, strict=True)
        axes.vlines(at, low, high, color=style["color"], linewidth=0.9)


def _label(r: Record, is_repeated: bool) -> str:
    when = f"  {r['created_at']:%Y-%m-%d %H:%M}" if is_repeated else ""
    rank = "" if r["rank"] is None else f"{r['rank']}.  "
    if r["mean"] is None:
        return f"{short(r['name'])}{when}  (not scored)"
    summary = Summary("", *(r[name] for name in ("mean", "low", "high", "n_scored", "n_errors", "n_missing")))
    return with_counts(f"{rank}{short(r['name'])}{' *' * r['outdated']}{when}", summary)
