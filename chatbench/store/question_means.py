"""Reading the scores of a run as one number per question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from chatbench.core.measure import Measure
from chatbench.core.question_means import Floats, QuestionMeans, average_attempts
from chatbench.store import dialect
from chatbench.store.rows import from_json, measure_from_content
from chatbench.store.tables import metric_table, scorings


def question_means(connection: sa.Connection, run_id: str, *, of_run: bool = False) -> list[QuestionMeans]:
    """Return every numeric measure of the current scorings of a run, scorings in their order; with `of_run` also the numbers
    of the whole run, which have no questions."""
    current = sa.select(scorings).where((scorings.c.run_id == run_id) & scorings.c.is_current)
    found = dialect.select(connection, current.order_by(scorings.c.position)).to_pylist()
    return [means for row in found for means in _of_scoring(connection, row, of_run)]


def _of_scoring(connection: sa.Connection, row: dict[str, Any], of_run: bool) -> list[QuestionMeans]:
    declared = [m for m in map(measure_from_content, from_json(row["measures"])) if m.is_number]
    numbers: list[Measure] = [m for m in declared if not m.of_run]
    same = {name: row[name] for name in ("label", "signature", "code_hash")}
    same |= {"table": row["table_name"], "key": row["label"] or row["metric"]}
    whole = [
        QuestionMeans(measure=m, case_ids=[], means=np.empty(0), n_scored=0, attempts=0, **same)
        for m in declared
        if m.of_run and of_run
    ]
    if not numbers:
        return whole
    table = metric_table(row["table_name"], [(m.name, m.type_name) for m in numbers])
    chosen = sa.select(table.c.case_id, *(table.c[m.name] for m in numbers))
    rows = dialect.select(connection, chosen.where(table.c.scoring_no == row["scoring_no"]))
    columns = {m.name: _floats(rows[m.name]) for m in numbers}
    case_ids, means, attempts = average_attempts(rows["case_id"].to_pylist(), columns)
    return whole + [
        QuestionMeans(
            measure=m,
            case_ids=case_ids,
            means=means[m.name],
            n_scored=len(rows) - rows[m.name].null_count,
            attempts=attempts,
            **same,
        )
        for m in numbers
    ]


def _floats(column: pa.ChunkedArray) -> Floats:
    # Arrow keeps yes/no in bits, which only become numbers by way of small integers.
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    values: Floats = column.cast(pa.float64()).to_numpy()  # NULL is NaN here: neither is a score
    return values
