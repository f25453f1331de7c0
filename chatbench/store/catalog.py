"""What the metrics' tables look like, and how they grow with the metrics' declarations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from chatbench.core.measure import Measure
from chatbench.core.scores import Scoring
from chatbench.errors import MetricDefinitionError, SchemaError
from chatbench.scoring.names import check_column_name, check_table_name
from chatbench.store import dialect, views
from chatbench.store.names import quoted
from chatbench.store.tables import COLUMN_TYPES, measures, metric_table, scorings, storage_name

# A scoring does not tell whether a class or a function gave it.
_CURE = (
    'Rename the metric, be it a class (or give it a table of its own: table="...") or a function, '
    "or delete the runs that hold the older scores."
)


@dataclass(frozen=True)
class Entry:
    """One row of `measures`."""

    table_name: str
    measure: str
    metric: str
    type: str
    better: str | None
    at_least: float | None
    at_most: float | None
    sentence: str
    of_run: bool
    result_column: str
    position: int


class Catalog:
    """The measures that a database knows, read once per call; `admit` checks a scoring, `write` makes the changes."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        rows = dialect.select(connection, sa.select(measures).order_by(measures.c.position)).to_pylist()
        self._stored = {(e.table_name, e.measure): e for e in (Entry(**row) for row in rows)}
        self._entries = dict(self._stored)

    def admit(self, scoring: Scoring) -> None:
        """Plan the columns of a scoring; raise `SchemaError` and plan nothing when it does not fit."""
        try:
            check_table_name(scoring.table, scoring.metric)
            for measure in scoring.measures:
                check_column_name(measure.name, scoring.metric)
        except MetricDefinitionError as error:
            raise SchemaError(str(error)) from error
        planned = dict(self._entries)
        for measure in scoring.measures:
            entry = self._entry(scoring, measure, 1 + max((e.position for e in planned.values()), default=-1))
            planned[entry.table_name, entry.measure] = entry
        if any(self._reshapes(e) for e in planned.values() if e.table_name == scoring.table):
            self._check_names(scoring)
        self._entries = planned

    def column_types(self, table: str) -> list[tuple[str, str]]:
        """Return names and type words of a table's columns, in order of appearance."""
        return [(e.measure, e.type) for e in self._entries.values() if e.table_name == table and not e.of_run]

    def table(self, name: str) -> sa.Table:
        """Return a metric's table with all its columns."""
        return metric_table(name, self.column_types(name))

    def write(self) -> None:
        """Make tables and columns, note the measures, and write the views anew where anything changed."""
        connection = self._connection
        changed = [e for key, e in self._entries.items() if self._stored.get(key) != e]
        reshaped = [e for e in changed if self._reshapes(e)]
        known = {e.table_name for e in self._stored.values()}
        if reshaped:
            dialect.lock_schema(connection)
        for table in dict.fromkeys(e.table_name for e in reshaped):
            if table not in known:
                self.table(table).create(connection)
        for entry in reshaped:
            if entry.table_name in known and not entry.of_run:
                self._alter(connection, entry)
        for entry in changed:
            self._note(connection, entry)
        for table in dict.fromkeys(e.table_name for e in reshaped):
            views.replace_metric(connection, table, [name for name, _ in self.column_types(table)])
        if reshaped:
            self._write_results()

    def drop_unused(self) -> None:
        """Drop the tables of metrics that have no scoring any more: their next declaration starts afresh.

        A table stays, empty, where views of the user's own stand on it and the database would not drop it from under them.
        """
        left = dialect.select(self._connection, sa.select(scorings.c.table_name).distinct())
        used = set(left["table_name"].to_pylist())
        unused = {e.table_name for e in self._entries.values()} - used
        unused = {table for table in unused if not self._views_of_the_user(table)}
        if not unused:
            return
        dialect.lock_schema(self._connection)
        for table in unused:
            if self._relations.get(table) == "view":  # otherwise the user has put a table of that name in its place
                views.drop_metric(self._connection, table)
            self.table(table).drop(self._connection, checkfirst=True)
        self._connection.execute(measures.delete().where(measures.c.table_name.in_(unused)))
        self._entries = self._stored = {k: e for k, e in self._entries.items() if e.table_name not in unused}
        self._write_results()

    def _write_results(self) -> None:
        numbers = [e.result_column for e in self._entries.values() if e.type in ("float", "int", "bool")]
        views.replace_results(self._connection, numbers)

    def _entry(self, scoring: Scoring, measure: Measure, next_position: int) -> Entry:
        old = self._entries.get((scoring.table, measure.name))
        result_column = f"{scoring.table}_{measure.name}"
        for other in self._entries.values():
            if other.table_name == scoring.table and other.metric != scoring.metric:
                raise _misfit(scoring, f"its table belongs to the metric {other.metric!r} in this database")
            if other.result_column == result_column and other.table_name != scoring.table:
                raise _misfit(
                    scoring, f"its result column {result_column!r} is that of {other.table_name}.{other.measure}"
                )
        kind, of_run = measure.type_name, measure.of_run
        if old is not None:
            # A function may give one number for all questions at one time and one for each at another: the column stays.
            of_run = old.of_run and measure.of_run
            if (old.type, kind) in (("float", "int"), ("float", "bool"), ("int", "bool")):
                kind = old.type  # the wider column takes them
            if old.type != kind and (old.type, kind) != ("int", "float") and self._has_values(old):
                raise _misfit(scoring, f"the column {measure.name} is {old.type} there and {kind} now")
            self._refuse_blocked_change(scoring, old, kind)
        return Entry(
            table_name=scoring.table,
            measure=measure.name,
            metric=scoring.metric,
            type=kind,
            better=measure.better,
            at_least=measure.at_least,
            at_most=measure.at_most,
            sentence=measure.sentence,
            of_run=of_run,
            result_column=result_column,
            position=next_position if old is None else old.position,
        )

    def _refuse_blocked_change(self, scoring: Scoring, old: Entry, kind: str) -> None:
        changes = old.type != kind and not old.of_run and (old.table_name, old.measure) in self._stored
        if changes and (blocking := self._views_of_the_user(old.table_name)):
            raise _misfit(
                scoring,
                f"the column {old.measure} is {old.type} there and must become {kind}, but views of your own stand on it: "
                f"{', '.join(blocking)}",
                "Drop these views, rescore(run, metric), and make them anew.",
            )

    def _views_of_the_user(self, table: str) -> list[str]:
        """Return views that are not ours and keep a metric's table as it is."""
        below = dialect.views_upon(self._connection, storage_name(table))
        return [*dialect.views_upon(self._connection, table), *(v for v in below if v != table)]

    def _has_values(self, entry: Entry) -> bool:
        """Whether a column holds anything but NULL: a metric that only ever failed has not fixed its type."""
        if (entry.table_name, entry.measure) not in self._stored:
            return True
        if entry.of_run:
            return False
        column = metric_table(entry.table_name, [(entry.measure, entry.type)]).c[entry.measure]
        counted = self._connection.execute(sa.select(sa.func.count(column))).scalar_one()
        return bool(counted)

    def _check_names(self, scoring: Scoring) -> None:
        """Refuse to take the place of tables and views that the user has made."""
        is_ours = any(table == scoring.table for table, _ in self._stored)
        for name, ours in ((scoring.table, "view"), (storage_name(scoring.table), "table")):
            found = self._relations.get(name)
            if found and not (is_ours and found == ours):
                raise _misfit(scoring, f"there is a {found} {name!r} of your own", "Rename that, or the metric.")

    @cached_property
    def _relations(self) -> dict[str, str]:
        return dialect.relations(self._connection)

    def _reshapes(self, entry: Entry) -> bool:
        old = self._stored.get((entry.table_name, entry.measure))
        return old is None or (old.type, old.of_run) != (entry.type, entry.of_run)

    def _alter(self, connection: sa.Connection, entry: Entry) -> None:
        kind = COLUMN_TYPES[entry.type]().compile(connection.dialect)
        table, column = storage_name(entry.table_name), quoted(entry.measure)
        old = self._stored.get((entry.table_name, entry.measure))
        if old is not None and not old.of_run:
            widens = (old.type, entry.type) == ("int", "float")
            dialect.change_type(connection, entry.table_name, table, entry.measure, kind, widens=widens)
        else:
            connection.exec_driver_sql(f"ALTER TABLE {quoted(table)} ADD COLUMN {column} {kind}")

    def _note(self, connection: sa.Connection, entry: Entry) -> None:
        row: dict[str, Any] = dict(vars(entry))
        if (entry.table_name, entry.measure) not in self._stored:
            connection.execute(measures.insert().values(row))
            return
        same = (measures.c.table_name == entry.table_name) & (measures.c.measure == entry.measure)
        keys = ("table_name", "measure")
        connection.execute(measures.update().where(same).values({k: v for k, v in row.items() if k not in keys}))


def _misfit(scoring: Scoring, why: str, cure: str = _CURE) -> SchemaError:
    return SchemaError(f"{scoring.metric!r} does not fit the table {scoring.table!r}: {why}. {cure}")
