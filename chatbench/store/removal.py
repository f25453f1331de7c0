"""Deleting runs with all that belongs to them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from chatbench.core.jsonable import clean_text
from chatbench.store import dialect
from chatbench.store.catalog import Catalog
from chatbench.store.tables import cases, datasets, measures, metric_table, responses, runs, scorings, summaries


def delete_runs(connection: sa.Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """Delete runs; return the deleted rows by table. Question sets and tables of metrics go with the last run of theirs."""
    tables = sa.select(scorings.c.table_name).where(scorings.c.run_id.in_(run_ids)).distinct()
    numbers, scoring_ids = (
        sa.select(key).where(scorings.c.run_id.in_(run_ids)) for key in (scorings.c.scoring_no, scorings.c.scoring_id)
    )
    deleted = {}
    for name in sorted(dialect.select(connection, tables)["table_name"].to_pylist()):
        table = metric_table(name, [])
        deleted[name] = _delete(connection, table, table.c.scoring_no.in_(numbers))
    deleted["summaries"] = _delete(connection, summaries, summaries.c.scoring_id.in_(scoring_ids))
    for table in (scorings, responses, runs):
        deleted[table.name] = _delete(connection, table, table.c.run_id.in_(run_ids))
    for table in (cases, datasets):
        deleted[table.name] = _delete(connection, table, table.c.dataset_id.not_in(sa.select(runs.c.dataset_id)))
    Catalog(connection).drop_unused()
    return deleted


def scorings_by_table(connection: sa.Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of scorings of these runs for every metric table of the database."""
    tables = sa.select(measures.c.table_name).group_by(measures.c.table_name).order_by(sa.func.min(measures.c.position))
    counts = dict.fromkeys(dialect.select(connection, tables)["table_name"].to_pylist(), 0)
    mine = sa.select(scorings.c.table_name).where(scorings.c.run_id.in_(run_ids))
    for name in dialect.select(connection, mine)["table_name"].to_pylist():
        counts[name] += 1
    return counts


def run_ids_named(connection: sa.Connection, name: str) -> list[str]:
    """Return the ids of all runs of exactly this name."""
    ids: list[str] = dialect.select(connection, sa.select(runs.c.run_id).where(runs.c.name == clean_text(name)))[
        "run_id"
    ].to_pylist()
    return ids


def _delete(connection: sa.Connection, table: sa.Table, which: sa.ColumnElement[bool]) -> int:
    return connection.execute(table.delete().where(which)).rowcount
