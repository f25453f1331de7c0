"""Storing runs and scorings, each call in the one transaction that the caller has open."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from chatbench.core.dataset import Dataset
from chatbench.core.pairing import pair
from chatbench.core.response import Response, Sample
from chatbench.core.run import Run
from chatbench.core.scores import Scoring
from chatbench.errors import InputError, SchemaError
from chatbench.store import dialect, rows
from chatbench.store.catalog import Catalog
from chatbench.store.rows import PreparedScoring
from chatbench.store.tables import cases, datasets, responses, runs, scorings, summaries

Misfits = list[SchemaError]


def checked_samples(run: Run, dataset: Dataset, given: Sequence[Response]) -> list[Sample]:
    """Return questions and responses in pairs; `InputError` when run, questions and responses do not belong together."""
    if run.dataset_id != dataset.fingerprint or run.n_questions != len(dataset):
        raise InputError(
            f"The run {run.name!r} is of {run.n_questions} questions with the fingerprint {run.dataset_id}, but the question set "
            f"has {len(dataset)} with {dataset.fingerprint}. Make the run from the same set."
        )
    samples = pair(dataset, given)
    for before, after in itertools.pairwise(samples):
        if before.case is after.case and before.response.attempt >= after.response.attempt:
            raise InputError(
                f"Responses to {after.case.id!r} have the attempts {before.response.attempt} and {after.response.attempt}; "
                "within a case they count upwards: Response(answer, attempt=2)."
            )
    return samples


def prepare_all(given: Iterable[Scoring]) -> tuple[list[PreparedScoring], Misfits]:
    """Return the scorings as columns, the later of two that replace each other, and why some cannot be stored."""
    kept: list[Scoring] = []
    for scoring in given:
        kept = [other for other in kept if not _replaces(scoring.key, scoring.signature, other.key, other.signature)]
        kept.append(scoring)
    prepared, misfits = [], []
    for scoring in kept:
        try:
            prepared.append(rows.prepare(scoring))
        except SchemaError as error:
            misfits.append(error)
    return prepared, misfits


def save_run(
    connection: sa.Connection,
    run: Run,
    dataset: Dataset,
    answered: pa.Table,
    given: list[PreparedScoring],
    *,
    strict: bool = False,
) -> Misfits:
    """Write a run with all that belongs to it (`answered`: its rows of `responses`); return why some scorings were left out.

    With `strict` the first of these reasons is raised, which undoes the whole.
    """
    if connection.execute(sa.select(runs.c.run_id).where(runs.c.run_id == run.run_id)).first():
        raise InputError(f"The run {run.run_id} is stored already; use add_scorings to add scores, or a new run id.")
    known = sa.select(datasets.c.dataset_id).where(datasets.c.dataset_id == run.dataset_id)
    if not connection.execute(known).first():
        row = {"dataset_id": [run.dataset_id], "name": [run.dataset], "n_questions": [run.n_questions]}
        dialect.insert(connection, datasets, rows.arrow_table(datasets, row))
        dialect.insert(connection, cases, rows.case_rows(dataset))
    dialect.insert(connection, runs, rows.run_rows(run, dataset))
    dialect.insert(connection, responses, answered)
    misfits = _add(connection, run.run_id, given, answered.select(["case_id", "attempt"]))
    if strict and misfits:
        raise misfits[0]
    return misfits


def add_scorings(connection: sa.Connection, run_id: str, given: list[PreparedScoring]) -> Misfits:
    """Write scorings of a stored run and make them the current ones; return why some were left out."""
    keys = (
        sa.select(responses.c.case_id, sa.cast(responses.c.attempt, sa.BigInteger).label("attempt"))
        .join(runs, runs.c.run_id == responses.c.run_id)
        .join(cases, (cases.c.dataset_id == runs.c.dataset_id) & (cases.c.case_id == responses.c.case_id))
        .where(responses.c.run_id == run_id)
        .order_by(cases.c.position, responses.c.attempt)
    )
    return _add(connection, run_id, given, dialect.select(connection, keys))


def _add(connection: sa.Connection, run_id: str, given: list[PreparedScoring], answered: pa.Table) -> Misfits:
    catalog = Catalog(connection)
    fitting, misfits = [], []
    for prepared in given:
        try:
            _check_keys(prepared, answered)
            catalog.admit(prepared.scoring)
            fitting.append(prepared)
        except SchemaError as error:
            misfits.append(error)
    if fitting:
        catalog.write()
        for prepared in fitting:
            name = prepared.scoring.table
            table = catalog.table(name)
            dialect.insert(connection, table, rows.metric_rows(prepared, table))
        dialect.insert(connection, summaries, rows.summary_rows(fitting))
        _enter(connection, run_id, fitting)
    return misfits


def _check_keys(prepared: PreparedScoring, answered: pa.Table) -> None:
    """Refuse rows for other attempts than the run has, too few, and two for one: no key of the database would."""
    mine = prepared.rows.select(["case_id", "attempt"])
    if all(mine[name].equals(answered[name]) for name in mine.column_names):
        return
    pairs, due = (list(zip(*(t[n].to_pylist() for n in mine.column_names), strict=True)) for t in (mine, answered))
    key = prepared.scoring.key
    if len(set(pairs)) < len(pairs):
        raise SchemaError(f"{key!r} has two rows for one attempt; one row per case and attempt is due.")
    if unknown := set(pairs).difference(due):
        raise SchemaError(f"{key!r} has rows for case and attempt {min(unknown)}, which the run has not.")
    if lacking := set(due).difference(pairs):
        raise SchemaError(
            f"{key!r} has no row for case and attempt {min(lacking)} ({len(lacking)} of {len(due)} are lacking); "
            "one row per response is due, with None where there is no value."
        )


def _replaces(key: str, signature: str, old_key: str, old_signature: str) -> bool:
    """Whether a scoring takes the place of an older one of its run.

    The key is what people find it by, and it leaves out parameters at their defaults: after a default was changed or a
    parameter was added, one key has several signatures. The signature alone counts where a parameter became the default.
    """
    return key == old_key or signature == old_signature


def _enter(connection: sa.Connection, run_id: str, given: list[PreparedScoring]) -> None:
    """Note the scorings, supersede those that they replace, and choose the primary one of every table."""
    wanted = ("scoring_id", "metric", "table_name", "label", "signature", "position", "is_primary")
    current = sa.select(*(scorings.c[name] for name in wanted)).where(
        (scorings.c.run_id == run_id) & scorings.c.is_current
    )
    old = dialect.select(connection, current).to_pylist()
    next_place = max((row["position"] for row in old), default=-1) + 1
    superseded: list[str] = []
    new: list[dict[str, Any]] = []
    for prepared in given:
        key, signature = prepared.scoring.key, prepared.scoring.signature
        gone = [r for r in old if _replaces(key, signature, r["label"] or r["metric"], r["signature"])]
        superseded += [row["scoring_id"] for row in gone]
        old = [row for row in old if row not in gone]
        place = min((row["position"] for row in gone), default=next_place + len(new))
        new.append(_scoring_row(run_id, prepared, place))
    primary = _primary([*old, *new])
    for row in new:
        row["is_primary"] = row["scoring_id"] in primary
    _mark(connection, superseded, is_current=False, is_primary=False)
    for state in (True, False):
        changed = [r["scoring_id"] for r in old if r["is_primary"] != state == (r["scoring_id"] in primary)]
        _mark(connection, changed, is_primary=state)
    columns = {name: [row[name] for row in new] for name in scorings.c.keys()}  # noqa: SIM118
    dialect.insert(connection, scorings, rows.arrow_table(scorings, columns))


def _primary(current: Sequence[dict[str, Any]]) -> set[str]:
    """Return, for each table, the scoring with default parameters, else the first given."""
    chosen: dict[str, dict[str, Any]] = {}
    rank: Callable[[dict[str, Any]], tuple[bool, int]] = lambda row: (row["label"] != "", row["position"])  # noqa: E731
    for row in sorted(current, key=rank):
        chosen.setdefault(row["table_name"], row)
    return {row["scoring_id"] for row in chosen.values()}


def _mark(connection: sa.Connection, scoring_ids: list[str], **state: bool) -> None:
    if scoring_ids:
        connection.execute(scorings.update().where(scorings.c.scoring_id.in_(scoring_ids)).values(**state))


def _scoring_row(run_id: str, prepared: PreparedScoring, position: int) -> dict[str, Any]:
    scoring = prepared.scoring
    same = ("metric", "label", "signature", "code_hash", "run_values", "versions", "model", "prompt_hash")
    return {
        **{name: getattr(scoring, name) for name in (*same, "seconds", "error", "created_at")},
        "scoring_id": prepared.scoring_id,
        "run_id": run_id,
        "table_name": scoring.table,
        "measures": [rows.measure_content(m) for m in scoring.measures],
        "position": position,
        "is_current": True,
    }
