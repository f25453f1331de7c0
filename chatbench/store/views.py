"""The public views: one per metric, `results` with one row per run, `attempts` with one per answer."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from chatbench.store import dialect
from chatbench.store.names import quoted
from chatbench.store.tables import storage_name

_ATTEMPTS = """
CREATE OR REPLACE VIEW attempts AS
SELECT a.run_id, a.case_id, a.attempt, c.question, a.answer, a.seconds, a.error
FROM responses a JOIN runs r ON r.run_id = a.run_id
JOIN cases c ON c.dataset_id = r.dataset_id AND c.case_id = a.case_id
"""

_METRIC = """
CREATE OR REPLACE VIEW {view} AS
SELECT {columns}
FROM {table} m JOIN scorings s ON s.scoring_no = m.scoring_no
WHERE s.is_current AND s.is_primary
"""

_RESULTS = """
CREATE OR REPLACE VIEW results AS
SELECT r.run_id, r.name, r.dataset, r.created_at, r.n_questions{columns}
FROM runs r LEFT JOIN (
    SELECT c.run_id, {gathered} AS means
    FROM scorings c JOIN summaries s ON s.scoring_id = c.scoring_id
    WHERE c.is_current AND c.is_primary
    GROUP BY c.run_id
) g ON g.run_id = r.run_id
"""

_N_HEAD = 5
"""Number of columns of `results` before those of the measures."""

# Keys first and measures appended: a view can then be replaced while other views stand on it.
_KEYS = ("s.run_id", "m.case_id", "m.attempt", "s.label", "s.scoring_id", "m.error", "m.missing")


def replace_fixed(connection: sa.Connection) -> None:
    """Write the views that no metric is needed for."""
    _run(connection, _ATTEMPTS)
    replace_results(connection, [])


def replace_metric(connection: sa.Connection, table: str, columns: Iterable[str]) -> None:
    """Write the view of a metric: its current, primary scoring of each run."""
    sources = {name.partition(".")[2]: name for name in _KEYS}
    sources.update((name, f"m.{quoted(name)}") for name in columns)
    kept = [name for name in dialect.kept_columns(connection, table) if name in sources]
    chosen = ", ".join(sources[name] for name in dict.fromkeys([*kept, *sources]))
    _run(connection, _METRIC.format(view=quoted(table), table=quoted(storage_name(table)), columns=chosen))


def drop_metric(connection: sa.Connection, table: str) -> None:
    """Drop the view of a metric."""
    _run(connection, f"DROP VIEW {quoted(table)}")


def replace_results(connection: sa.Connection, result_columns: Iterable[str]) -> None:
    """Write the view `results`: the means of every measure, one row per run.

    Columns of measures that are no more go, except where a view of the user's own stands on it: there they stay, empty.
    """
    names = list(result_columns)
    kept = dialect.kept_columns(connection, "results")[_N_HEAD:]
    if kept and kept != names[: len(kept)] and not dialect.views_upon(connection, "results"):
        _run(connection, "DROP VIEW results")
        kept = []
    names = list(dict.fromkeys([*kept, *names]))
    gathered, picks = dialect.picked_from_means(connection, names)
    columns = "".join(f", {pick} AS {quoted(name)}" for name, pick in zip(names, picks, strict=True))
    _run(connection, _RESULTS.format(columns=columns, gathered=gathered))


def _run(connection: sa.Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)
