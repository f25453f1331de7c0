"""`Leaderboard`: the runs on one question set, best first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from chatbench.core.measure import Direction
from chatbench.errors import UnknownMetricError, did_you_mean
from chatbench.reports.tables import html_table, interval_text, text_table
from chatbench.scoring.names import table_name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chatbench.store.leaderboard import Board

SHOWN = 50
"""So many runs are shown of a board; `frame` and `to_html()` have all."""

_TYPES = {
    **dict.fromkeys(("rank", "best_rank", "worst_rank"), "Int64"),
    **dict.fromkeys(("name", "run_id"), "object"),
    "created_at": "datetime64[us, UTC]",
    **dict.fromkeys(("mean", "low", "high"), "Float64"),
    **dict.fromkeys(("n_scored", "n_errors", "n_missing"), "Int64"),
    "outdated": "bool",
}


class Leaderboard:
    """All runs on one question set by one measure; `board["lexical_metrics_f1"]` is the board of another measure.

    `board.measures` names the measures, `board.frame` has a row per run. Shown in a notebook it is a table with 95 % intervals,
    the counts behind each mean, and the best and worst rank that the intervals allow.
    """

    def __init__(self, board: Board, measure: str | None = None) -> None:
        self._board = board
        scored = set(board.ranks["measure"][board.ranks["mean"].notna()])
        self._declared: dict[str, Any] = {
            row["measure"]: row for row in board.measures.to_dict("records") if row["measure"] in scored
        }
        self.measure = self._default() if measure is None else self._known(measure)

    @property
    def dataset(self) -> str:
        """Name of the question set."""
        return self._board.dataset

    @property
    def dataset_id(self) -> str:
        """Fingerprint of the question set."""
        return self._board.dataset_id

    @property
    def measures(self) -> list[str]:
        """Names of the measures that any of the runs has a mean of, `<table>_<measure>`, in order of declaration."""
        return list(self._declared)

    @property
    def better(self) -> Direction:
        """The direction of the measure: "higher", "lower", or None where neither is better."""
        return self._declared[self.measure]["better"] or None

    @property
    def frame(self) -> pd.DataFrame:
        """One row per run, best first: rank, best_rank, worst_rank, name, run_id, created_at, mean, 95 % interval, counts, outdated.

        Runs of equal mean share a rank. The best rank is 1 + the runs whose whole interval is better, the worst the number of
        ranked runs - those whose whole interval is worse; both are NA without an interval (fewer than two questions). Runs
        without the measure come last, unranked. `outdated`: scored by other code, defaults or parameters than the newest here.
        """
        rows = self._board.ranks[self._board.ranks["measure"] == self.measure]
        mean = rows["mean"].astype("Float64")
        order = rows.assign(mean=mean if self.better == "lower" else -mean)
        order = order.sort_values(["mean", "created_at", "run_id"], ascending=[True, False, False], na_position="last")
        return rows.loc[order.index, list(_TYPES)].astype(_TYPES).reset_index(drop=True)

    def __getitem__(self, measure: str) -> Leaderboard:
        """The board of another measure of the same runs."""
        return Leaderboard(self._board, measure)

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)

    def plot(self) -> Figure:
        """Return a figure of the means, best first, with their intervals and counts; of many runs the first 50."""
        from chatbench.reports.leaderboard_plots import ranking_plot

        return ranking_plot(self._records(SHOWN), len(self.frame), f"{self.dataset}: {self._title()}")

    def plot_history(self) -> Figure:
        """Return a figure of the means over the time of the runs, with intervals, a line per run name; of many names the best 12."""
        from chatbench.reports.leaderboard_plots import history_plot

        return history_plot(self._records(), f"{self.dataset}: {self._title()}")

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown, of many runs the first 50: columns, rows, caption, notes."""
        return self._table(SHOWN)

    def _table(self, n: int | None) -> tuple[list[str], list[list[Any]], str, list[str]]:
        columns = ["rank", "possible ranks", "name", "mean", "95 % interval", "n scored", "errors", "missing"]
        rows = [
            [
                r["rank"],
                None if r["best_rank"] is None else f"{r['best_rank']} to {r['worst_rank']}",
                f"{r['name']} *" if r["outdated"] else r["name"],
                r["mean"],
                interval_text(r["low"], r["high"]),
                *(r[name] for name in ("n_scored", "n_errors", "n_missing")),
                f"{r['created_at']:%Y-%m-%d %H:%M}",
                r["run_id"],
            ]
            for r in self._records(n)
        ]
        return [*columns, "created (UTC)", "run_id"], rows, f"{self.dataset}: {self._title()}", self._notes(n)

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table of all runs as HTML; every text is escaped."""
        return html_table(*self._table(None))

    def _repr_html_(self) -> str:
        return html_table(*self.table())

    def _records(self, n: int | None = None) -> list[dict[str, Any]]:
        """Return the first runs as plain values, NULL as None."""
        frame = self.frame.head(n) if n is not None else self.frame
        plain = frame.astype(object).where(frame.notna(), None)
        return [dict(zip(_TYPES, row, strict=True)) for row in plain.itertuples(index=False, name=None)]

    def _title(self) -> str:
        return f"{self.measure}, {self.better} is better" if self.better else self.measure

    def _notes(self, n: int | None) -> list[str]:
        frame, notes = self.frame, [self._board.ambiguity] if self._board.ambiguity else []
        if n is not None and len(frame) > n:
            notes.append(f"{n} of {len(frame):,} runs; .frame and to_html() have all.")
        if self.better is None:
            notes.append(f"{self.measure} declares no direction: sorted by mean, without ranks.")
        if frame["outdated"].any():
            notes.append(
                "* scored by other code, defaults or parameters than the newest run here; rescore(run, metric) makes them comparable."
            )
        return notes

    def _known(self, measure: str) -> str:
        if measure in self._declared:
            return measure
        if measure in set(self._board.ranks["measure"]):
            what = f"No run on {self.dataset!r} has a value of {measure!r}: all questions failed or are missing."
        elif measure in set(self._board.measures["measure"]):
            what = f"{measure!r} has no mean, so that nothing can be ranked by it."
        elif own := self._measures_of(str(measure)):
            raise UnknownMetricError(f"{measure!r} is no measure; runs are ranked by one of {', '.join(own)}.")
        else:
            hint = did_you_mean(str(measure), self._declared)
            what = f"There is no measure {measure!r} of runs on {self.dataset!r}.{hint}"
        raise UnknownMetricError(f"{what} There are: {', '.join(self._declared)}.")

    def _measures_of(self, metric: str) -> list[str]:
        """Return the measures of a metric that is named by its class, with parameters or without, or by its table."""
        table = table_name_of(metric.split("(")[0])
        return [name for name in self._declared if name.startswith(f"{table}_")]

    def _default(self) -> str:
        """Return the first measure with a direction that the most runs have; where none has a direction, of the others."""
        if not self._declared:
            raise UnknownMetricError(
                f"No run on {self.dataset!r} has a measure with a mean; rescore(run, metric) adds one."
            )
        runs_with = self._board.ranks.groupby("measure")["mean"].count()
        return max(self.measures, key=lambda name: (self._declared[name]["better"] is not None, runs_with[name]))
