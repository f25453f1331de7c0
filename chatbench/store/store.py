"""`Store`: one benchmark database."""

from __future__ import annotations

import contextlib
import random
import reprlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import sqlalchemy as sa

from chatbench.core.dataset import Dataset
from chatbench.core.jsonable import clean_text
from chatbench.core.question_means import QuestionMeans
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring
from chatbench.core.warn import warn_user
from chatbench.errors import (
    DatabaseLockedError,
    DatabaseNotFoundError,
    InputError,
    QueryError,
    ReadOnlyError,
    SchemaError,
)
from chatbench.store import (
    dialect,
    leaderboard,
    location,
    migrations,
    queries,
    reading,
    removal,
    rows,
    selection,
    writing,
)
from chatbench.store.frames import to_frame
from chatbench.store.leaderboard import Board
from chatbench.store.pair_spreads import PairSpread, pair_spreads
from chatbench.store.question_means import question_means
from chatbench.store.reading import StoredRun

T = TypeVar("T")


class Store:
    """A benchmark database: a DuckDB file, or a database on a PostgreSQL server. It is open only during a call, so that
    other processes can use it in between.

    The file is `db_name`, or `connection_string="duckdb:///path"`; a server is either of them as
    `postgresql://user:password@host:port/database`, and needs the extra `pg`. Else it is the one used last in this
    process, else `$CHATBENCH_DB`, else `benchmark.duckdb`. `timeout` is how many seconds a call waits for others, or for
    the server. Making a Store opens nothing. Reading never makes a file or a table; storing does, in a folder or a database
    that exists.

    Each call is one transaction: all of it is stored, or nothing. Errors are those below `StoreError`: among them
    `DatabaseNotFoundError`, `NotADatabaseError`, `DatabaseLockedError` (names the holder), `DatabaseUnreachableError` (a
    server is down, refuses, or was lost) and `ReadOnlyError`. None of them tells a password.
    """

    def __init__(
        self, db_name: str | Path | None = None, *, connection_string: str | None = None, timeout: float = 30.0
    ) -> None:
        self._database = location.locate(db_name, connection_string, reading=False)
        self.timeout = timeout

    @property
    def name(self) -> str:
        """The path of the file, or the address of the server without user and password."""
        return self._database.name

    @property
    def path(self) -> Path:
        """The file. A database on a server has none: `InputError`."""
        if self._database.path is None:
            raise InputError(f"{self.name} is on a server; it has no path.")
        return self._database.path

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    def check_writable(self) -> None:
        """Raise what `save_run` would raise for a missing folder, a read-only place, a file that is no DuckDB database, a
        server that cannot be reached, or a role that may not store.

        It makes nothing and waits for no other user: a check before long work, so that its results have a place.
        """
        self._database.check_writable(self.timeout)

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
        more = self._call(lambda c: writing.save_run(c, run, dataset, answered, prepared, strict=strict), writing=True)
        _warn([*misfits, *more])

    def add_scorings(self, run_id: str, scorings: Sequence[Scoring]) -> None:
        """Add scorings to a stored run. Those of the same metric and label, or of the same signature, are superseded:
        they stay, and the new one is current.

        A scoring that does not fit is left out as in `save_run`; `SchemaError` when none fits.
        """
        prepared, misfits = writing.prepare_all(scorings)
        n_given = len(prepared) + len(misfits)

        def add(connection: sa.Connection) -> writing.Misfits:
            selection.require_run(connection, run_id)
            return writing.add_scorings(connection, run_id, prepared)

        misfits += self._call(add, writing=True, create=False)
        if misfits and len(misfits) == n_given:
            raise misfits[0]
        _warn(misfits)

    def runs(self) -> list[Run]:
        """Return the stored runs, newest first."""
        return self._call(reading.find_runs)

    def find_run(self, which: str | Run) -> Run:
        """Return a run by its id or name: of several with one name the newest, with a warning that names all ids."""
        return self.find_runs([which])[0]

    def find_runs(self, which: Sequence[str | Run]) -> list[Run]:
        """Return several runs, each as `find_run` does."""
        wanted = selection.wanted(which)
        found = self._call(lambda c: [selection.candidates(c, name) for name in wanted])
        return [selection.choose(runs, name) for runs, name in zip(found, wanted, strict=True)]

    def load(self, run_id: str, *, responses: bool = True) -> StoredRun:
        """Return a run as it was stored, with its current scorings, rows in the order of the questions; without `responses`, which
        are the bulk of it, where only scores are wanted.

        The classes of its metrics need not be defined here.
        """
        return self._call(lambda c: reading.load(c, run_id, responses=responses))

    def select_cases(self, dataset_id: str, conditions: Mapping[str, str]) -> dict[str, set[str]]:
        """Return, by the names of SQL conditions on `cases`, the ids of the questions of a set that each picks.

        A condition is one expression that is true or false: `{"long": "length(question) > 60"}`; else `QueryError`. The database
        is opened once for all of them.
        """
        selection.check_conditions(conditions)

        def ask(timeout: float) -> dict[str, set[str]]:
            with self._opened(writing=False, timeout=timeout, create=False) as connection:
                path = self._database.path
                return {
                    name: set(selection.case_ids(connection, path, dataset_id, clean_text(condition)))
                    for name, condition in conditions.items()
                }

        return self._tried(ask)

    def load_means(self, runs: Sequence[Run]) -> tuple[dict[str, Dataset], dict[str, list[QuestionMeans]]]:
        """Return the question sets of runs by dataset_id, and their `question_means` by run_id with the numbers of whole runs, all of one moment.

        `RunNotFoundError` names a run that is not stored, or no longer.
        """

        def read(connection: sa.Connection) -> tuple[dict[str, Dataset], dict[str, list[QuestionMeans]]]:
            for run in runs:
                selection.require_run(connection, run.run_id, run.name)
            ids = dict.fromkeys(run.dataset_id for run in runs)
            datasets = {dataset_id: reading.load_dataset(connection, dataset_id) for dataset_id in ids}
            return datasets, {run.run_id: question_means(connection, run.run_id, of_run=True) for run in runs}

        return self._call(read)

    def question_means(self, run_id: str) -> list[QuestionMeans]:
        """Return every numeric measure of the current scorings of a run as one number per question."""
        return self._call(lambda c: question_means(c, run_id))

    def pair_spreads(self, run: Run, means: QuestionMeans) -> list[PairSpread]:
        """Return how much each other run on the same questions, scored with the same parameters, differs from this one."""
        return self._call(lambda c: pair_spreads(c, run, means))

    def fetch(self) -> pd.DataFrame:
        """Return one row per run, newest first: run_id, name, dataset, created_at, n_questions, then `<table>_<measure>`.

        The numbers are the means of the current scoring of each metric (the one with default parameters, else the first).
        A warning names the metrics whose code, defaults or parameters differ between runs.
        """
        found, outdated = self._call(lambda c: (reading.fetch(c), reading.outdated(c)))
        if outdated:
            tables = ", ".join(f"{table} ({older} of {of} runs)" for table, (older, of) in outdated.items())
            warn_user(
                f"Some scores rest on older code, other defaults or other parameters than the newest ones: {tables}. "
                "rescore(run, metric) of those runs makes them comparable.",
            )
        return found

    def leaderboard(self, dataset: str | None = None) -> Board:
        """Return the runs on one question set with means, intervals and ranks by measure (see `Board`).

        `dataset` is a name or a dataset_id; None: the question set of the newest run. Of several contents under one name the
        newest is taken; `ambiguity` names the others. `RunNotFoundError` names the question sets there are.
        """
        return self._call(lambda c: leaderboard.read(c, dataset))

    def query(self, sql: str, parameters: Any = None, *, write: bool = False) -> pd.DataFrame:
        """Return the rows that the database gives for a query. It cannot change anything unless `write` is set.

        `parameters`: a list for `?`, or a dict for `$name`; of several statements those of the last one, whose rows are
        returned. `QueryError` has the database's reason, and what exists when a table or a column is not there.

        On a server the transaction is read-only, and functions known to change settings, files, locks or other databases are
        refused. Functions of its users' own are beyond that: ask strangers' queries as a role with SELECT only, never as a
        superuser. Where parameters are given, `?` stands for one; jsonb's operator of that name is `jsonb_exists`.
        """
        if not isinstance(sql, str) or not sql.strip():
            raise QueryError(f"A query is text in SQL, not {reprlib.repr(sql)}.")

        def ask(timeout: float) -> Any:
            with self._opened(writing=write, timeout=timeout, create=False) as connection:
                return queries.run(connection, clean_text(sql), parameters, self._database.path, write=write)

        rows = self._tried(ask)
        try:
            return to_frame(rows)
        except (ValueError, OverflowError, TypeError) as error:  # dates beyond Python's, structures without names
            raise QueryError(f"The answer cannot be shown as a frame: {error}. Cast that column to text.") from error

    def delete_run(self, run_id: str) -> dict[str, int]:
        """Delete one run with all that belongs to it; return the number of deleted rows by table."""

        def delete(connection: sa.Connection) -> dict[str, int]:
            selection.require_run(connection, run_id)
            return removal.delete_runs(connection, [run_id])

        return self._call(delete, writing=True, create=False)

    def delete_runs_named(self, name: str) -> dict[str, int]:
        """Delete every run of exactly this name; return the number of deleted scorings by metric table, 0 included."""
        if not isinstance(name, str):
            raise InputError(f"Runs are deleted by a name that is text, not {reprlib.repr(name)}.")

        def delete(connection: sa.Connection) -> dict[str, int]:
            run_ids = removal.run_ids_named(connection, name)
            counts = removal.scorings_by_table(connection, run_ids)
            removal.delete_runs(connection, run_ids)
            return counts

        return self._call(delete, writing=True, create=False)

    def _call(self, work: Callable[[sa.Connection], T], *, writing: bool = False, create: bool = True) -> T:
        """Do work in one transaction, which is repeated as a whole while others are in its way."""

        def attempt(timeout: float) -> T:
            with self._transaction(writing=writing, timeout=timeout, create=create) as connection:
                return work(connection)

        return self._tried(attempt)

    def _tried(self, attempt: Callable[[float], T]) -> T:
        deadline = time.monotonic() + self.timeout
        remaining = self.timeout
        while True:
            try:
                return attempt(remaining)
            except DatabaseLockedError:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise
            time.sleep(random.uniform(0.01, 0.1))

    @contextlib.contextmanager
    def _transaction(self, *, writing: bool, timeout: float, create: bool = True) -> Iterator[sa.Connection]:
        with self._opened(writing=writing, timeout=timeout, create=create) as connection, connection.begin():
            dialect.start(connection, writing=writing)
            yield connection

    @contextlib.contextmanager
    def _opened(self, *, writing: bool, timeout: float, create: bool) -> Iterator[sa.Connection]:
        """Give a connection to the database in the present schema, outside a transaction."""
        database = self._database
        if not create:
            database.require()
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(database.open(writing=writing, timeout=timeout))
            version = migrations.version(connection, database.name)
            connection.rollback()
            if version is None and not (writing and create):
                raise DatabaseNotFoundError(f"The database {database.name} is empty: nothing was stored in it yet.")
            if version != len(migrations.MIGRATIONS):
                if writing:
                    _migrate(connection, database.name)
                else:  # an older one: a reader cannot change it
                    stack.close()
                    self._update(timeout)
                    connection = stack.enter_context(database.open(writing=False, timeout=timeout))
            location.remember(database)
            yield connection

    def _update(self, timeout: float) -> None:
        """Bring an older database to the present schema, for a reader."""
        try:
            with self._opened(writing=True, timeout=timeout, create=False):
                pass
        except ReadOnlyError as error:
            way = "make it writable once, or copy it and read the copy"
            if self._database.path is None:
                way = "somebody who may store in it must open it once with this version (runs() is enough)"
            raise ReadOnlyError(
                f"{self.name} cannot be written, and as it is of an older version it has to be brought up to date before it "
                f"can be read: {way}."
            ) from error


def _migrate(connection: sa.Connection, name: str) -> None:
    with connection.begin():
        dialect.start(connection, writing=True)
        # Asked again: another process may have been first.
        present = migrations.version(connection, name)
        if present != len(migrations.MIGRATIONS):
            migrations.migrate(connection, present)


def _warn(misfits: Sequence[SchemaError]) -> None:
    for misfit in misfits:
        warn_user(f"Scores were not stored: {misfit}")
