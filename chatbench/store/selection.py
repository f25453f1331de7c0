"""Finding what a user names: runs by id or name, questions by a condition in SQL."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa

from chatbench.core.run import Run
from chatbench.core.warn import warn_user
from chatbench.errors import InputError, QueryError
from chatbench.store import queries, reading


def wanted(which: Sequence[str | Run]) -> list[str]:
    """Return the ids and names that runs are asked for by."""
    names = [run.run_id if isinstance(run, Run) else run for run in which]
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"A run is named by its id or a name that is text, not {reprlib.repr(name)}.")
    return names


def require_run(connection: sa.Connection, run_id: str, name: str | None = None) -> None:
    """Raise `RunNotFoundError` unless a run of this id is stored; `name` is what it was known by."""
    if not any(run.run_id == run_id for run in reading.find_runs(connection, run_id)):
        raise reading.no_run(connection, run_id, name)


def candidates(connection: sa.Connection, which: str) -> list[Run]:
    """Return the runs of an id or a name, newest first; at least one."""
    found = reading.find_runs(connection, which)
    if not found:
        raise reading.no_run(connection, which)
    return found


def choose(found: Sequence[Run], which: str) -> Run:
    """Return the run of that id, else the newest of that name, with a warning when there are several."""
    by_id = [run for run in found if run.run_id == which]
    if not by_id and len(found) > 1:
        ids = ", ".join(run.run_id for run in found[:10])
        more = f" and {len(found) - 10} more" if len(found) > 10 else ""
        warn_user(f"{len(found)} runs are named {which!r}; the newest is taken. Their ids, newest first: {ids}{more}.")
    return (by_id or list(found))[0]


def check_conditions(conditions: Mapping[str, str]) -> None:
    """Raise `QueryError` for a condition that is no text."""
    for condition in conditions.values():
        if not isinstance(condition, str) or not condition.strip():
            raise QueryError(f"A condition on cases is text in SQL, not {reprlib.repr(condition)}.")


def case_ids(connection: sa.Connection, path: Path | None, dataset_id: str, condition: str) -> list[str]:
    """Return the ids of the questions of a set that a condition picks; see `Store.select_cases`."""
    # On lines of their own: a comment at the end of the condition must not swallow what follows.
    within = f"SELECT case_id FROM cases WHERE dataset_id = ? AND (\n{condition}\n)"
    # What is an expression within brackets and without them cannot have left the brackets: "true) or (true".
    alone = f"EXPLAIN SELECT case_id FROM cases WHERE\n{condition}\n"
    try:
        found = queries.run(connection, within, [dataset_id], path, write=False)
        queries.run(connection, alone, None, path, write=False)
    except QueryError as error:
        raise QueryError(f"The condition {condition!r} on cases does not work: {error}") from error
    ids: list[str] = found["case_id"].to_pylist()
    return ids
