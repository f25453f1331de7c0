"""Several runs as one table."""

from __future__ import annotations

from collections.abc import Sequence

from chatbench.core.run import Run
from chatbench.core.scores import Summary
from chatbench.results.scores import Scores


def side_by_side(results: Sequence[tuple[Run, Scores]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: a line per measure, a column per run with its mean and interval, and how many were scored."""
    by_run = [
        {f"{scoring.table}_{s.measure}": s for scoring in scores.scorings for s in scoring.summaries}
        for _, scores in results
    ]
    names = list(dict.fromkeys(name for summaries in by_run for name in summaries))
    rows = [[name, *[_cell(summaries.get(name)) for summaries in by_run], _counts(by_run, name)] for name in names]
    return ["measure", *[run.name for run, _ in results], "scored / errors / missing"], rows


def _cell(s: Summary | None) -> str:
    if s is None or s.mean is None:
        return "–"
    return f"{s.mean:.3f}" if s.low is None or s.high is None else f"{s.mean:.3f} ({s.low:.3f} to {s.high:.3f})"


def _counts(by_run: Sequence[dict[str, Summary]], name: str) -> str:
    counts = [f"{s.n_scored} / {s.n_errors} / {s.n_missing}" for summaries in by_run if (s := summaries.get(name))]
    return counts[0] if len(set(counts)) == 1 else ", ".join(counts)
