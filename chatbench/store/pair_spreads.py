"""How much runs differ from a run, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from chatbench.core.question_means import QuestionMeans
from chatbench.core.run import Run
from chatbench.store import dialect
from chatbench.store.tables import measures, metric_table, runs, scorings


@dataclass(frozen=True)
class PairSpread:
    """The differences of one measure between two runs: questions scored in both, variance, share of questions that differ.

    `variance` is None for fewer than two questions. `attempts` is the largest number of attempts of the other run.
    """

    run_id: str
    n: int
    variance: float | None
    discordant: float
    attempts: int


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
        .join(scorings, scorings.c.scoring_id == table.c.scoring_id)
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
    return [PairSpread(**row) for row in dialect.select(connection, compared).to_pylist()]
