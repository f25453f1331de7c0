"""Reading runs back: as objects, and as one table of means."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from chatbench.core.dataset import Dataset, case_from_content
from chatbench.core.document import Document
from chatbench.core.jsonable import clean_text
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring, Summary
from chatbench.errors import RunNotFoundError, did_you_mean
from chatbench.store import dialect
from chatbench.store.frames import to_frame
from chatbench.store.rows import from_json, measure_from_content
from chatbench.store.tables import cases, datasets, measures, metric_table, runs, scorings, summaries
from chatbench.store.tables import responses as answers

Row = dict[str, Any]


@dataclass(frozen=True)
class StoredRun:
    """A run as it was stored, with its current scorings."""

    run: Run
    dataset: Dataset
    responses: list[Response]
    scorings: list[Scoring]


def find_runs(connection: sa.Connection, which: str | None = None) -> list[Run]:
    """Return all runs, or those of this id or name, newest first."""
    statement = sa.select(runs).order_by(runs.c.created_at.desc(), runs.c.run_id.desc())
    if which is not None:
        which = clean_text(which)  # as it was stored
        statement = statement.where((runs.c.run_id == which) | (runs.c.name == which))
    return [_run(row) for row in dialect.select(connection, statement).to_pylist()]


def no_run(connection: sa.Connection, which: str, name: str | None = None) -> RunNotFoundError:
    """Return the error that names the runs there are; `name` is what the run of that id was known by."""
    found = find_runs(connection)
    names = list(dict.fromkeys(run.name for run in found))
    shown = ", ".join(map(repr, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    hint = did_you_mean(which, [*names, *(run.run_id for run in found)])
    what = repr(which) if name is None else f"{name!r} ({which})"
    return RunNotFoundError(f"There is no run {what}.{hint} Stored are: {shown or 'none yet'}.")


def load(connection: sa.Connection, run_id: str, *, responses: bool = True) -> StoredRun:
    """Return everything that is stored of one run, on request without its responses."""
    found = dialect.select(connection, sa.select(runs).where(runs.c.run_id == run_id)).to_pylist()
    if not found:
        raise no_run(connection, run_id)
    run = _run(found[0])
    answered = _in_order(sa.select(answers), answers, run.dataset_id).where(answers.c.run_id == run_id)
    return StoredRun(
        run,
        load_dataset(connection, run.dataset_id, name=run.dataset, path=found[0]["dataset_path"]),
        _responses(dialect.select(connection, answered).to_pydict()) if responses else [],
        _scorings(connection, run),
    )


def load_dataset(
    connection: sa.Connection, dataset_id: str, name: str | None = None, path: str | None = None
) -> Dataset:
    """Return a question set as it was stored, under the name and path that a run knew it by, else its own."""
    if name is None:
        name = connection.execute(sa.select(datasets.c.name).where(datasets.c.dataset_id == dataset_id)).scalar_one()
    payloads = sa.select(cases.c.payload).where(cases.c.dataset_id == dataset_id).order_by(cases.c.position)
    return Dataset(tuple(case_from_content(from_json(t)) for t in _column(connection, payloads)), name=name, path=path)


def fetch(connection: sa.Connection) -> pd.DataFrame:
    """Return one row per run, newest first, with the mean of every measure of its primary scorings."""
    head = sa.select(runs.c.run_id, runs.c.name, runs.c.dataset, runs.c.created_at, runs.c.n_questions)
    stored = dialect.select(connection, head.order_by(runs.c.created_at.desc(), runs.c.run_id.desc()))
    means = dialect.select(
        connection,
        sa.select(
            scorings.c.run_id, (scorings.c.table_name + "_" + summaries.c.measure).label("name"), summaries.c.mean
        )
        .join(summaries, summaries.c.scoring_id == scorings.c.scoring_id)
        .where(scorings.c.is_current & scorings.c.is_primary),
    )
    order = _column(connection, sa.select(measures.c.result_column).order_by(measures.c.position))
    present = set(pc.unique(means["name"]).to_pylist())
    names = [name for name in order if name in present]
    # One query and a pivot here: an aggregate per column would cost columns x runs in the database.
    values = np.full((len(names), len(stored)), np.nan)
    columns = pc.index_in(means["name"], value_set=pa.array(names, pa.string())).to_numpy()
    lines = pc.index_in(means["run_id"], value_set=stored["run_id"].combine_chunks()).to_numpy()
    values[columns, lines] = means["mean"].to_numpy()
    table = pa.table({n: pa.array(v, pa.float64(), from_pandas=True) for n, v in zip(names, values, strict=True)})
    return pd.concat([to_frame(stored), to_frame(table)], axis=1)


def outdated(connection: sa.Connection) -> dict[str, tuple[int, int]]:
    """Return, for each table whose primary scorings have several code hashes or signatures, in how many runs of how many
    they differ from those of the newest scoring."""
    newest, n_runs = sa.func.max(scorings.c.created_at).label("newest"), sa.func.count().label("n_runs")
    kinds = (
        sa.select(scorings.c.table_name, newest, n_runs)
        .where(scorings.c.is_current & scorings.c.is_primary)
        .group_by(scorings.c.table_name, scorings.c.code_hash, scorings.c.signature)
        .order_by(scorings.c.table_name, newest.desc())
    )
    runs_of: dict[str, list[int]] = {}
    for row in dialect.select(connection, kinds).to_pylist():
        runs_of.setdefault(row["table_name"], []).append(row["n_runs"])
    return {table: (sum(counts[1:]), sum(counts)) for table, counts in runs_of.items() if len(counts) > 1}


def _column(connection: sa.Connection, statement: sa.Select[Any]) -> list[Any]:
    values: list[Any] = dialect.select(connection, statement).column(0).to_pylist()
    return values


def _in_order(statement: sa.Select[Any], table: sa.Table, dataset_id: str) -> sa.Select[Any]:
    """Sort rows by question, then by attempt."""
    same = (cases.c.dataset_id == dataset_id) & (cases.c.case_id == table.c.case_id)
    return statement.join_from(table, cases, same).order_by(cases.c.position, table.c.attempt)


def _run(row: Row) -> Run:
    same = ("run_id", "name", "dataset_id", "dataset", "n_questions", "state")
    return Run(
        **{name: row[name] for name in same},
        created_at=row["created_at"].astimezone(UTC),
        settings=from_json(row["settings"]),
        versions=from_json(row["versions"]),
    )


def _responses(columns: dict[str, list[Any]]) -> list[Response]:
    names = ("answer", "documents", "contexts", "context_ids", "is_answerable", "outputs")
    given = zip(*(columns[n] for n in (*names, "attempt", "seconds", "tokens", "error")), strict=True)
    return [
        Response(
            answer,
            tuple(Document(**content) for content in from_json(documents)),
            tuple(from_json(contexts)),
            tuple(from_json(context_ids)),
            is_answerable,
            from_json(outputs),
            attempt,
            seconds,
            from_json(tokens),
            error,
        )
        for answer, documents, contexts, context_ids, is_answerable, outputs, attempt, seconds, tokens, error in given
    ]


def _scorings(connection: sa.Connection, run: Run) -> list[Scoring]:
    current = (scorings.c.run_id == run.run_id) & scorings.c.is_current
    found = dialect.select(connection, sa.select(scorings).where(current).order_by(scorings.c.position)).to_pylist()
    known = sa.select(summaries).where(summaries.c.scoring_id.in_([row["scoring_id"] for row in found]))
    sums: dict[str, dict[str, Summary]] = {}
    for row in dialect.select(connection, known).to_pylist():
        scoring_id = row.pop("scoring_id")
        sums.setdefault(scoring_id, {})[row["measure"]] = Summary(**row)
    return [_scoring(connection, run, row, sums.get(row["scoring_id"], {})) for row in found]


def _scoring(connection: sa.Connection, run: Run, row: Row, sums: dict[str, Summary]) -> Scoring:
    declared = tuple(measure_from_content(m) for m in from_json(row["measures"]))
    per_attempt = {m.name: m for m in declared if not m.of_run}
    table = metric_table(row["table_name"], [(m.name, m.type_name) for m in per_attempt.values()])
    chosen = sa.select(*(c for c in table.c if c.name != "scoring_no"))
    chosen = _in_order(chosen, table, run.dataset_id).where(table.c.scoring_no == row["scoring_no"])
    entries = dialect.select(connection, chosen).to_pydict()
    same = ("metric", "label", "signature", "code_hash", "model", "prompt_hash", "seconds", "error")
    return Scoring(
        **{name: row[name] for name in same},
        table=row["table_name"],
        measures=declared,
        case_ids=entries["case_id"],
        attempts=entries["attempt"],
        values={name: _values(m.type, entries[name]) for name, m in per_attempt.items()},
        errors=entries["error"],
        missing=[from_json(text) for text in entries["missing"]],
        run_values=from_json(row["run_values"]),
        versions=from_json(row["versions"]),
        created_at=row["created_at"].astimezone(UTC),
        summaries=tuple(sums[m.name] for m in declared if m.name in sums),
    )


def _values(kind: type, column: list[Any]) -> list[Any]:
    if kind is dict:
        return [from_json(text) for text in column]
    # The column may hold wider numbers than this scoring declared: integers as floats, yes/no as 1 and 0.
    return [None if v is None else kind(v) for v in column] if kind in (int, bool) else column
