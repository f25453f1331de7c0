"""Plots of several runs. Readable in grey: position, marker and line style carry the meaning, colour only helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from chatbench.core.scores import Summary
from chatbench.reports.plots import plot_class, with_counts

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
    figure: Figure = plot_class()(figsize=(7.5, 1.1 + 0.32 * max(len(records), 1)), layout="constrained")
    axes = figure.subplots()
    for place, r in enumerate(records):
        if r["low"] is not None:
            axes.plot([r["low"], r["high"]], [place, place], color="0.45", linewidth=2.5, solid_capstyle="butt")
        if r["mean"] is not None:
            filled = "black" if r["low"] is not None else "white"
            axes.plot([r["mean"]], [place], marker="o", color="black", markerfacecolor=filled, markersize=4)
    names = Counter(r["name"] for r in records)
    axes.set_yticks(range(len(records)), [_label(r, names[r["name"]] > 1) for r in records])
    axes.set_ylim(max(len(records), 1) - 0.5, -0.5)
    axes.grid(axis="x", color="0.9")
    axes.tick_params(axis="y", length=0)
    _finish(axes, ("top", "right", "left"), title + _part(len(records), n_runs, "runs"))
    axes.set_xlabel("mean over questions and 95 % interval (hollow: no interval)")
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
        _draw_series(axes, series, {"marker": marker, "linestyle": line, "color": colour, "label": name})
    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.grid(color="0.9")
    _finish(axes, ("top", "right"), title + _part(len(shown), len(names), "names"))
    axes.set_xlabel("time of the run (UTC)")
    axes.set_ylabel("mean and 95 % interval")
    if shown:
        # Not by figure.legend(): labels that begin with an underscore would be left out.
        labels = [_plain(_short(name)) for name in shown]
        axes.legend(axes.get_lines(), labels, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=4)
    return figure


def _draw_series(axes: Axes, series: Sequence[Record], style: Mapping[str, Any]) -> None:
    times = [r["created_at"].to_pydatetime() for r in series]
    axes.plot(times, [r["mean"] for r in series], linewidth=1.2, markersize=5, **style)
    bars = [(time, r["low"], r["high"]) for time, r in zip(times, series, strict=True) if r["low"] is not None]
    if bars:
        at, low, high = zip(*bars, strict=True)
        axes.vlines(at, low, high, color=style["color"], linewidth=0.9)


def _finish(axes: Axes, without: Sequence[str], title: str) -> None:
    axes.set_axisbelow(True)
    for side in without:
        axes.spines[side].set_visible(False)
    axes.set_title(_plain(title), loc="left", fontsize=10)


def _label(r: Record, is_repeated: bool) -> str:
    when = f"  {r['created_at']:%Y-%m-%d %H:%M}" if is_repeated else ""
    rank = "" if r["rank"] is None else f"{r['rank']}.  "
    if r["mean"] is None:
        return _plain(f"{_short(r['name'])}{when}  (not scored)")
    summary = Summary("", *(r[name] for name in ("mean", "low", "high", "n_scored", "n_errors", "n_missing")))
    return _plain(with_counts(f"{rank}{_short(r['name'])}{' *' * r['outdated']}{when}", summary))


def _part(shown: int, n: int, what: str) -> str:
    return f" ({shown} of {n} {what})" if shown < n else ""


def _short(name: str) -> str:
    """Return a name that leaves room for the picture."""
    name = " ".join(name.split())
    return name if len(name) <= 40 else f"{name[:39]}…"


def _plain(text: str) -> str:
    """Return text that is shown as it is: a pair of dollars would be read as mathematics."""
    return text.replace("$", r"\$")
