"""Several runs as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatbench.core.scores import Summary
from chatbench.reports.tables import interval_text, number_text


def side_by_side(runs: Sequence[tuple[str, Mapping[str, Summary]]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: a line per measure, a column per run with its mean and interval, and how many were scored.

    `runs` holds the name of each run and its summaries by full name.
    """
    names = list(dict.fromkeys(name for _, summaries in runs for name in summaries))
    rows = [
        [name, *[_cell(summaries.get(name)) for _, summaries in runs], _counts([s.get(name) for _, s in runs])]
        for name in names
    ]
    return ["measure", *[name for name, _ in runs], "scored / errors / missing"], rows


def _cell(s: Summary | None) -> str:
    if s is None or s.mean is None:
        return "–"
    mean = number_text(s.mean, 3)
    return mean if s.low is None or s.high is None else f"{mean} ({interval_text(s.low, s.high, 3)})"


def _counts(found: Sequence[Summary | None]) -> str:
    counts = [f"{s.n_scored} / {s.n_errors} / {s.n_missing}" for s in found if s is not None]
    return counts[0] if len(set(counts)) == 1 else ", ".join(counts)
