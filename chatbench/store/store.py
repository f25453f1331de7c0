"""`Store`: one benchmark database."""

from __future__ import annotations

import contextlib
import os
import reprlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa

from chatbench.core.dataset import Dataset
from chatbench.core.jsonable import clean_text
from chatbench.core.question_means import QuestionMeans
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring
from chatbench.errors import DatabaseNotFoundError, InputError, QueryError, ReadOnlyError, SchemaError
from chatbench.store import dialect, leaderboard, location, migrations, reading, removal, rows, statements, writing
from chatbench.store.frames import to_frame
from chatbench.store.gate import gate_for
from chatbench.store.leaderboard import Board
from chatbench.store.pair_spreads import PairSpread, pair_spreads
from chatbench.store.question_means import question_means
from chatbench.store.reading import StoredRun


class Store:
    """A benchmark database: a DuckDB file that is open only during a call, so that other processes can use it in between.

    The file is `db_name`, or `connection_string="duckdb:///path"`, else the one used last in this process, else
    `$CHATBENCH_DB`, else `benchmark.duckdb`. `timeout` is how many seconds a call waits for another process.
    Making a Store opens nothing. Reading never creates a file; storing does, in a folder that exists.

    Each call is one transaction: all of it is stored, or nothing. Errors are those below `StoreError`: among them
    `DatabaseNotFoundError`, `NotADatabaseError`, `DatabaseLockedError` (names the holder) and `ReadOnlyError`.
    """

    def __init__(
        self, db_name: str | Path | None = None, *, connection_string: str | None = None, timeout: float = 30.0
    ) -> None:
        self.path = location.locate(db_name, connection_string, reading=False)
        self.timeout = timeout

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def check_writable(self) -> None:
        """Raise what `save_run` would raise for a missing folder, a read-only place, or a file that is no DuckDB database.

        It opens and makes nothing and waits for nobody: a check before long work, so that its results have a place.
        """
        _require_writable(self.path)
        dialect.refuse_other_files(self.path)

    def save_run(
        self,
        run: Run,
        dataset: Dataset,
        responses: Sequence[Response],
        scorings: Sequence[Scoring],
        *,
        strict: bool = False,
    ) -> None:
        """Store a run: its questions, the responses case by case (attempts within), and its scorings.

        A scoring that does not fit its table is left out with a warning that says why and what to do; all else is stored. With
        `strict` it is a `SchemaError`, and nothing is stored.
        Of two scorings with one label or one signature the later is kept. `InputError` when run, questions and responses do not
        belong together, or the run id is stored already.
        """
        answered = rows.response_rows(run.run_id, writing.checked_samples(run, dataset, responses))
        prepared, misfits = writing.prepare_all(scorings)
        if strict and misfits:
            raise misfits[0]
        with self._writing() as connection:
            misfits += writing.save_run(connection, run, dataset, answered, prepared, strict=strict)
        _warn(misfits)

    def add_scorings(self, run_id: str, scorings: Sequence[Scoring]) -> None:
        """Add scorings to a stored run. Those of the same metric and label, or of the same signature, are superseded:
        they stay, and the new one is current.

        A scoring that does not fit is left out as in `save_run`; `SchemaError` when none fits.
        """
        prepared, misfits = writing.prepare_all(scorings)
        n_given = len(prepared) + len(misfits)
        location.require(self.path)
        with self._writing() as connection:
            if not any(run.run_id == run_id for run in reading.find_runs(connection, run_id)):
                raise reading.no_run(connection, run_id)
            misfits += writing.add_scorings(connection, run_id, prepared)
        if misfits and len(misfits) == n_given:
            raise misfits[0]
        _warn(misfits)

    def runs(self) -> list[Run]:
        """Return the stored runs, newest first."""
        with self._reading() as connection:
            return reading.find_runs(connection)

    def find_run(self, which: str | Run) -> Run:
        """Return a run by its id or name: of several with one name the newest, with a warning that names all ids."""
        wanted = which.run_id if isinstance(which, Run) else which
        if not isinstance(wanted, str) or not wanted.strip():
            raise InputError(f"A run is named by its id or a name that is text, not {reprlib.repr(wanted)}.")
        with self._reading() as connection:
            found = reading.find_runs(connection, wanted)
            if not found:
                raise reading.no_run(connection, wanted)
        by_id = [run for run in found if run.run_id == wanted]
        if not by_id and len(found) > 1:
            ids = ", ".join(run.run_id for run in found[:10])
            more = f" and {len(found) - 10} more" if len(found) > 10 else ""
            warnings.warn(
                f"{len(found)} runs are named {wanted!r}; the newest is taken. Their ids, newest first: {ids}{more}.",
                stacklevel=2,
            )
        return (by_id or found)[0]

    def load(self, run_id: str) -> StoredRun:
        """Return a run as it was stored, with its current scorings, rows in the order of the questions.

        The classes of its metrics need not be defined here.
        """
        with self._reading() as connection:
            return reading.load(connection, run_id)

    def load_dataset(self, dataset_id: str) -> Dataset:
        """Return a stored question set by its fingerprint."""
        with self._reading() as connection:
            return reading.load_dataset(connection, dataset_id)

    def select_case_ids(self, dataset_id: str, condition: str) -> list[str]:
        """Return the ids of the questions of a set that an SQL condition on `cases` picks, such as `length(question) > 60`."""
        if not isinstance(condition, str) or not condition.strip():
            raise QueryError(f"A condition on cases is text in SQL, not {reprlib.repr(condition)}.")
        # On lines of their own: a comment at the end of the condition must not swallow the bracket.
        query = f"SELECT case_id FROM cases WHERE dataset_id = ? AND (\n{condition}\n)"
        try:
            ids: list[str] = self.query(query, [dataset_id])["case_id"].tolist()
        except QueryError as error:
            raise QueryError(f"The condition {condition!r} on cases does not work: {error}") from error
        return ids

    def question_means(self, run_id: str) -> list[QuestionMeans]:
        """Return every numeric measure of the current scorings of a run as one number per question."""
        with self._reading() as connection:
            return question_means(connection, run_id)

    def pair_spreads(self, run: Run, means: QuestionMeans) -> list[PairSpread]:
        """Return how much each other run on the same questions, scored with the same parameters, differs from this one."""
        with self._reading() as connection:
            return pair_spreads(connection, run, means)

    def fetch(self) -> pd.DataFrame:
        """Return one row per run, newest first: run_id, name, dataset, created_at, n_questions, then `<table>_<measure>`.

        The numbers are the means of the current scoring of each metric (the one with default parameters, else the first).
        A warning names the metrics whose code, defaults or parameters differ between runs.
        """
        with self._reading() as connection:
            found, outdated = reading.fetch(connection), reading.outdated(connection)
        if outdated:
            tables = ", ".join(f"{table} ({older} of {of} runs)" for table, (older, of) in outdated.items())
            warnings.warn(
                f"Some scores rest on older code, other defaults or other parameters than the newest ones: {tables}. "
                "rescore(run, metric) of those runs makes them comparable.",
                stacklevel=2,
            )
        return found

    def leaderboard(self, dataset: str | None = None) -> Board:
        """Return the runs on one question set with means, intervals and ranks by measure (see `Board`).

        `dataset` is a name or a dataset_id; None: the question set of the newest run. Of several contents under one name the
        newest is taken; `ambiguity` names the others. `RunNotFoundError` names the question sets there are.
        """
        with self._reading() as connection:
            return leaderboard.read(connection, dataset)

    def query(self, sql: str, parameters: Any = None, *, write: bool = False) -> pd.DataFrame:
        """Return the rows that the database gives for a query. It cannot change anything unless `write` is set.

        `parameters`: a list for `?`, or a dict for `$name`. `QueryError` has the database's reason, and what exists when a
        table or a column is not there.
        """
        if not isinstance(sql, str) or not sql.strip():
            raise QueryError(f"A query is text in SQL, not {reprlib.repr(sql)}.")
        location.require(self.path)
        with self._opened(writing=write) as connection:
            try:
                rows = dialect.run_sql(connection, clean_text(sql), _plain(parameters), self.path, write=write)
            except dialect.DATABASE_ERRORS as error:
                raise QueryError(_explained(connection, sql, dialect.reason(error))) from error
        try:
            return to_frame(rows)
        except (ValueError, OverflowError, TypeError) as error:  # dates beyond Python's, structures without names
            raise QueryError(f"The answer cannot be shown as a frame: {error}. Cast that column to text.") from error

    def delete_run(self, run_id: str) -> dict[str, int]:
        """Delete one run with all that belongs to it; return the number of deleted rows by table."""
        location.require(self.path)
        with self._writing() as connection:
            if not any(run.run_id == run_id for run in reading.find_runs(connection, run_id)):
                raise reading.no_run(connection, run_id)
            return removal.delete_runs(connection, [run_id])

    def delete_runs_named(self, name: str) -> dict[str, int]:
        """Delete every run of exactly this name; return the number of deleted scorings by metric table, 0 included."""
        if not isinstance(name, str):
            raise InputError(f"Runs are deleted by a name that is text, not {reprlib.repr(name)}.")
        location.require(self.path)
        with self._writing() as connection:
            run_ids = removal.run_ids_named(connection, name)
            counts = removal.scorings_by_table(connection, run_ids)
            removal.delete_runs(connection, run_ids)
            return counts

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._opened(writing=False) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._opened(writing=True) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def _opened(self, *, writing: bool) -> Iterator[sa.Connection]:
        """Give a connection to the database in the present schema, outside a transaction."""
        if writing:
            _require_writable(self.path)
        else:
            location.require(self.path)
        gate = gate_for(self.path)
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(gate.open(writing=writing, timeout=self.timeout))
            version = migrations.version(connection, self.path)
            connection.rollback()
            if version != len(migrations.MIGRATIONS):
                if writing:
                    with connection.begin():
                        migrations.migrate(connection, version)
                elif version is None:
                    raise DatabaseNotFoundError(f"The database {self.path} is empty: nothing was stored in it yet.")
                else:  # an older one: a reader cannot change it
                    stack.close()
                    with self._opened(writing=True):
                        pass
                    connection = stack.enter_context(gate.open(writing=False, timeout=self.timeout))
            location.remember(self.path)
            yield connection


def _plain(parameters: Any) -> Any:
    """Return parameters with the scalars of numpy as Python values."""
    if isinstance(parameters, dict):
        return {name: value.item() if hasattr(value, "item") else value for name, value in parameters.items()}
    if isinstance(parameters, list | tuple):
        return [value.item() if hasattr(value, "item") else value for value in parameters]
    return parameters


def _require_writable(path: Path) -> None:
    if not path.parent.is_dir():
        raise location.missing_folder(path)
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK):
            what = "It is" if place == path else f"Its folder {place} is"
            raise ReadOnlyError(f"{path} cannot be written. {what} read-only for this user; name another place.")


def _explained(connection: sa.Connection, sql: str, said: str) -> str:
    """Return the database's reason, and what there is when a query names a table or column that is not there."""
    if dialect.is_read_only_refusal(said):
        return f"{said.rstrip('.!')}. {statements.ONLY_READS}"
    unknown = dialect.unknown_name(said)
    if unknown is None:
        return said
    connection.rollback()
    columns = dialect.public_columns(connection)
    mentioned = [table for table in columns if table in sql.lower()]
    if unknown == "table" or not mentioned:
        return f"{said} There are: {', '.join(columns)}."
    shown = "; ".join(f"{table} ({', '.join(columns[table])})" for table in mentioned)
    return f"{said} There are: {shown}."


def _warn(misfits: Sequence[SchemaError]) -> None:
    for misfit in misfits:
        warnings.warn(f"Scores were not stored: {misfit}", stacklevel=3)
