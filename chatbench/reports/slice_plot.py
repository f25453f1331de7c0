"""Plot of one measure in groups of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chatbench.reports.comparison_plots import LEGEND, verdict_mark
from chatbench.reports.plots import MOST, interval_bar, label_lines, line_figure, part, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Record = Mapping[str, Any]
"""A row of `Slices.frame` as plain values."""


def slice_plot(records: Sequence[Record], value: str, title: str) -> Figure:
    """Return a figure with a line per group: its mean or difference (`value` names which) as a mark, its interval as a bar.

    A filled mark is a difference that the tests show: upwards for better, downwards for worse; a mean has a dot. Small groups
    have a star behind the name. Of many groups the worst of each run are shown, 50 in all.
    """
    known = [r for r in records if r[value] is not None]
    shown = _worst(known)
    are_means = value == "mean"
    label = "mean and 95 % interval" if are_means else "difference and its interval"
    small = "  (* a small group)" if any(r["small"] for r in shown) else ""
    figure, (axes,) = line_figure([len(shown)], title + part(len(shown), len(known), "groups"), label + small)
    if not are_means:
        axes.axvline(0, color="0.3", linewidth=1)
        figure.supxlabel(LEGEND, fontsize=9)
    for place, r in enumerate(shown):
        interval_bar(axes, place, r["low"], r["high"])
        if are_means:
            axes.plot([r[value]], [place], marker="o", color="black", markersize=5)
        else:
            verdict_mark(axes, place, r[value], r["verdict"])
    several = len({r.get("run") for r in known}) > 1
    label_lines(axes, [_label(r, several) for r in shown])
    return figure


def _worst(records: Sequence[Record]) -> list[Record]:
    """Return the first groups of each run, so many in all as a plot shows, in the given order."""
    seen: Counter[Any] = Counter()
    turns = []
    for place, r in enumerate(records):
        seen[r.get("run")] += 1
        turns.append((seen[r.get("run")], place))
    return [records[place] for place in sorted(place for _, place in sorted(turns)[:MOST])]


def _label(r: Record, several: bool) -> str:
    run = f"{short(r['run'])}: " if several else ""
    return f"{run}{short(r['group'])}{' *' * r['small']}  (n={r['n']})"
