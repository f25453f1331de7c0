"""How much runs differ from a run, question by question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from chatbench.core.question_means import QuestionMeans
from chatbench.core.run import Run
from chatbench.store import dialect
from chatbench.store.rows import from_json, measure_from_content
from chatbench.store.tables import measures, metric_table, runs, scorings


@dataclass(frozen=True)
class PairSpread:
    """The differences of one measure between two runs: questions scored in both, variance, share of questions that differ.

    `variance` is None for fewer than two questions. `attempts`: the largest number of attempts of the other run; `code_hash`,
    `is_yes_no`: the code that scored it, and whether the measure was declared as yes/no then.
    """

    run_id: str
    n: int
    variance: float | None
    discordant: float
    attempts: int
    code_hash: str
    is_yes_no: bool


def pair_spreads(connection: sa.Connection, run: Run, means: QuestionMeans) -> list[PairSpread]:
    """Return the differences to every other run on the same questions that was scored with the same parameters."""
    column = measures.c.type
    kind = dialect.select(connection, sa.select(column).where(measures.c.result_column == means.name))["type"][
        0
    ].as_py()
    table = metric_table(means.table, [(means.measure.name, kind)])
    value = table.c[means.measure.name]
    number = sa.case((value, 1.0), (sa.not_(value), 0.0)) if kind == "bool" else sa.cast(value, sa.Double)
    questions = (
        sa.select(scorings.c.run_id, table.c.case_id, sa.func.avg(number).label("x"), sa.func.count().label("attempts"))
        .join(scorings, scorings.c.scoring_no == table.c.scoring_no)
        .join(runs, runs.c.run_id == scorings.c.run_id)
        .where(runs.c.dataset_id == run.dataset_id, scorings.c.table_name == means.table)
        .where(scorings.c.signature == means.signature, scorings.c.is_current)
        .group_by(scorings.c.run_id, table.c.case_id)
        .having(sa.func.avg(number).is_not(None))
    ).cte("questions")
    mine, other = questions.alias("mine"), questions.alias("other")
    compared = (
        sa.select(
            other.c.run_id,
            sa.func.count().label("n"),
            sa.func.var_samp(sa.cast(other.c.x - mine.c.x, sa.Double)).label("variance"),
            sa.func.avg(sa.cast(sa.case((other.c.x != mine.c.x, 1.0), else_=0.0), sa.Double)).label("discordant"),
            sa.func.max(other.c.attempts).label("attempts"),
        )
        .join(mine, mine.c.case_id == other.c.case_id)
        .where(mine.c.run_id == run.run_id, other.c.run_id != run.run_id)
        .group_by(other.c.run_id)
    )
    scored = _scored(connection, run, means)
    return [PairSpread(**row, **scored[row["run_id"]]) for row in dialect.select(connection, compared).to_pylist()]


def _scored(connection: sa.Connection, run: Run, means: QuestionMeans) -> dict[str, dict[str, Any]]:
    """Return by which code, and as yes/no or not, each run on the same questions was scored."""
    alike = (
        sa.select(scorings.c.run_id, scorings.c.code_hash, scorings.c.measures)
        .join(runs, runs.c.run_id == scorings.c.run_id)
        .where(runs.c.dataset_id == run.dataset_id, scorings.c.table_name == means.table)
        .where(scorings.c.signature == means.signature, scorings.c.is_current)
    )
    scored = {}
    for row in dialect.select(connection, alike).to_pylist():
        declared = [measure_from_content(content) for content in from_json(row["measures"])]
        is_yes_no = any(m.type is bool for m in declared if m.name == means.measure.name)
        scored[row["run_id"]] = {"code_hash": row["code_hash"], "is_yes_no": is_yes_no}
    return scored
