"""Ranks of the runs on a question set: one statement, which is the view `leaderboard` and what Python reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import sqlalchemy as sa

from chatbench.errors import RunNotFoundError, did_you_mean
from chatbench.store import dialect
from chatbench.store.frames import to_frame
from chatbench.store.tables import measures, runs, scorings

# `quality` is the mean turned so that more is better; `floor` and `ceiling` are the ends of its interval, turned likewise
# (0 - x, because -x of zero is a minus zero). Comparing each run with each other would cost runs squared. Instead the ends
# of all intervals stand in one line: the floors that a ceiling has passed belong to the runs that are not wholly better,
# the ceilings that a floor has passed to those that are wholly worse. Touching intervals overlap: floors come first.
# The third branch gives every run a row for every measure of its question set. Rows are put together by grouping, not by
# joining the parts again: a planner that knows nothing of these parts joins them row by row.
_RANKS = """
WITH measured AS (
    SELECT r.dataset_id, d.result_column AS measure, r.run_id, r.dataset, r.name, r.created_at,
        s.mean, s.low, s.high, s.n_scored, s.n_errors, s.n_missing,
        CASE d.better WHEN 'higher' THEN s.mean WHEN 'lower' THEN 0 - s.mean END AS quality,
        CASE d.better WHEN 'higher' THEN s.low WHEN 'lower' THEN 0 - s.high END AS floor,
        CASE d.better WHEN 'higher' THEN s.high WHEN 'lower' THEN 0 - s.low END AS ceiling
    FROM runs r JOIN scorings c ON c.run_id = r.run_id JOIN summaries s ON s.scoring_id = c.scoring_id
    JOIN measures d ON d.table_name = c.table_name AND d.measure = s.measure
    WHERE c.is_current AND c.is_primary AND d.type IN ('float', 'int', 'bool')
), ends AS (
    SELECT dataset_id, measure, run_id, dataset, name, created_at, mean, low, high, n_scored, n_errors, n_missing, quality,
        0 AS is_ceiling, floor AS place FROM measured
    UNION ALL
    SELECT dataset_id, measure, run_id, dataset, name, created_at, mean, low, high, n_scored, n_errors, n_missing, quality,
        1, ceiling FROM measured
    UNION ALL
    SELECT r.dataset_id, o.measure, r.run_id, r.dataset, r.name, r.created_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL FROM runs r JOIN (SELECT DISTINCT dataset_id, measure FROM measured) o ON o.dataset_id = r.dataset_id
), passed AS (
    SELECT *, count(CASE is_ceiling WHEN 0 THEN place END) OVER line AS floors,
        count(CASE is_ceiling WHEN 1 THEN place END) OVER line AS ceilings
    FROM ends
    WINDOW line AS (PARTITION BY dataset_id, measure ORDER BY place NULLS LAST, is_ceiling ROWS UNBOUNDED PRECEDING)
), board AS (
    SELECT dataset_id, measure, run_id, max(dataset) AS dataset, max(name) AS name, max(created_at) AS created_at,
        max(mean) AS mean, max(low) AS low, max(high) AS high, max(n_scored) AS n_scored, max(n_errors) AS n_errors,
        max(n_missing) AS n_missing, max(quality) AS quality,
        max(CASE WHEN is_ceiling = 1 AND place IS NOT NULL THEN floors END) AS not_better,
        max(CASE WHEN is_ceiling = 0 AND place IS NOT NULL THEN ceilings END) AS worse
    FROM passed GROUP BY dataset_id, measure, run_id
)
SELECT dataset_id, dataset, measure, run_id, name, created_at, mean, low, high, n_scored, n_errors, n_missing,
    CASE WHEN quality IS NOT NULL THEN
        rank() OVER (PARTITION BY dataset_id, measure ORDER BY quality DESC NULLS LAST) END AS rank,
    1 + count(not_better) OVER (PARTITION BY dataset_id, measure) - not_better AS best_rank,
    count(quality) OVER (PARTITION BY dataset_id, measure) - worse AS worst_rank
FROM board
"""

_COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    **dict.fromkeys(("dataset_id", "dataset", "measure", "run_id", "name"), sa.Text()),
    "created_at": sa.DateTime(timezone=True),
    **dict.fromkeys(("mean", "low", "high"), sa.Double()),
    **dict.fromkeys(("n_scored", "n_errors", "n_missing", "rank", "best_rank", "worst_rank"), sa.BigInteger()),
}


@dataclass(frozen=True)
class Board:
    """The runs on one question set.

    `ranks`: a row per run and measure, as in the view `leaderboard`, and `outdated`: whether the scoring rests on other code,
    defaults or parameters than the newest one of its metric here. `measures`: a row per measure in order of declaration
    (measure, type, better, sentence); text measures are among them, and have no ranks. `ambiguity`: a sentence on other
    contents under the name of the question set; None without any, or where it was named by its dataset_id.
    """

    dataset: str
    dataset_id: str
    ranks: pd.DataFrame
    measures: pd.DataFrame
    ambiguity: str | None = None


def create_view(connection: sa.Connection) -> None:
    """Make the view `leaderboard`, unless the user has a table or view of that name."""
    if "leaderboard" not in dialect.relations(connection):
        connection.exec_driver_sql(f"CREATE VIEW leaderboard AS {_RANKS}")


def read(connection: sa.Connection, dataset: str | None) -> Board:
    """Return the ranks of all runs on the question set of this name or dataset_id (None: that of the newest run)."""
    dataset_id, name, ambiguity = _question_set(connection, dataset)
    ranks = sa.text(_RANKS).columns(*(sa.column(c, kind) for c, kind in _COLUMNS.items())).subquery("board")
    found = to_frame(dialect.select(connection, sa.select(ranks).where(ranks.c.dataset_id == dataset_id)))
    known = to_frame(dialect.select(connection, _measures_of(dataset_id)))
    outdated = dialect.select(connection, _outdated(dataset_id)).to_pydict()
    table_of = dict(zip(known["measure"], known.pop("table_name"), strict=True))
    old = set(zip(outdated["run_id"], outdated["table_name"], strict=True))
    found["outdated"] = [
        (run_id, table_of[measure]) in old for run_id, measure in zip(found["run_id"], found["measure"], strict=True)
    ]
    return Board(name, dataset_id, found, known, ambiguity)


def _question_set(connection: sa.Connection, dataset: str | None) -> tuple[str, str, str | None]:
    """Return dataset_id and name of the wanted set, of several contents under one name the newest, and what else has the name."""
    newest = sa.func.max(runs.c.created_at)
    sets = (
        sa.select(runs.c.dataset_id, runs.c.dataset, newest.label("newest"), sa.func.count().label("n_runs"))
        .group_by(runs.c.dataset_id, runs.c.dataset)
        .order_by(newest.desc(), sa.func.max(runs.c.run_id).desc())
    )
    known = dialect.select(connection, sets).to_pylist()
    if dataset is None:
        found = known[:1]
    else:
        found = [s for s in known if s["dataset_id"] == dataset] or [s for s in known if s["dataset"] == dataset]
    if not found:
        raise _no_question_set(dataset, [s["dataset"] for s in known])
    chosen = found[0]
    same_name = [s for s in known if s["dataset"] == chosen["dataset"] and s["dataset_id"] != chosen["dataset_id"]]
    ambiguity = None
    if same_name and dataset != chosen["dataset_id"]:
        others = ", ".join(f"{s['dataset_id']} ({s['n_runs']} run{'s' * (s['n_runs'] > 1)})" for s in same_name)
        ambiguity = (
            f"{len(same_name) + 1} question sets are named {chosen['dataset']!r}; the newest, {chosen['dataset_id']}, is taken. "
            f"Name another by its dataset_id: {others}."
        )
    return chosen["dataset_id"], chosen["dataset"], ambiguity


def _no_question_set(dataset: str | None, names: list[str]) -> RunNotFoundError:
    if not names:
        return RunNotFoundError("No run is stored yet; store_results keeps one.")
    known = list(dict.fromkeys(names))
    shown = ", ".join(map(repr, known[:10])) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
    hint = did_you_mean(str(dataset), known)
    return RunNotFoundError(f"There is no run on a question set {dataset!r}.{hint} Stored are runs on: {shown}.")


def _primary_of(dataset_id: str) -> sa.ColumnElement[bool]:
    return (runs.c.dataset_id == dataset_id) & scorings.c.is_current & scorings.c.is_primary


def _measures_of(dataset_id: str) -> sa.Select[Any]:
    """Select the measures of all metrics that a run on the question set was scored by."""
    tables = sa.select(scorings.c.table_name).join(runs, runs.c.run_id == scorings.c.run_id)
    return (
        sa.select(
            measures.c.result_column.label("measure"),
            measures.c.table_name,
            measures.c.type,
            measures.c.better,
            measures.c.sentence,
        )
        .where(measures.c.table_name.in_(tables.where(_primary_of(dataset_id))))
        .order_by(measures.c.position)
    )


def _outdated(dataset_id: str) -> sa.Select[Any]:
    """Select run and table of the primary scorings that differ from the newest one of their table on this question set."""
    order = (scorings.c.created_at.desc(), scorings.c.scoring_id.desc())
    kinds = [scorings.c.code_hash, scorings.c.signature]
    newest = [sa.func.first_value(k).over(partition_by=scorings.c.table_name, order_by=order) for k in kinds]
    differs = sa.or_(*(kind != new for kind, new in zip(kinds, newest, strict=True)))
    marked = (
        sa.select(scorings.c.run_id, scorings.c.table_name, differs.label("outdated"))
        .join(runs, runs.c.run_id == scorings.c.run_id)
        .where(_primary_of(dataset_id))
        .subquery("marked")
    )
    return sa.select(marked.c.run_id, marked.c.table_name).where(marked.c.outdated)
