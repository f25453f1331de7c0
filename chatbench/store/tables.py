"""The tables of a benchmark database: fixed ones as SQLModel classes, those of the metrics made at run time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

BULK = {"info": {"bulk": True}}
"""Mark of tables that grow with the attempts; `dialect` leaves their key out where it makes deleting slow."""


class Base(SQLModel, registry=registry()):
    """Base of the fixed tables, apart from any SQLModel classes of the user."""


class Meta(Base, table=True):
    """Facts about the database itself: the schema version."""

    key: str = Field(primary_key=True)
    value: str


class Datasets(Base, table=True):
    """Question sets by the hash of their content."""

    dataset_id: str = Field(primary_key=True)
    name: str
    n_questions: int


class Cases(Base, table=True):
    """Questions of a set in order; `payload` is the whole case as JSON."""

    __table_args__ = BULK
    dataset_id: str = Field(primary_key=True)
    case_id: str = Field(primary_key=True)
    position: int
    question: str
    tags: Any = Field(sa_type=sa.JSON)
    payload: Any = Field(sa_type=sa.JSON)


class Runs(Base, table=True):
    """One line per stored run."""

    run_id: str = Field(primary_key=True)
    name: str
    dataset_id: str
    dataset: str
    dataset_path: str | None
    n_questions: int
    created_at: datetime = Field(sa_type=sa.DateTime(timezone=True))
    settings: Any = Field(sa_type=sa.JSON)
    versions: Any = Field(sa_type=sa.JSON)
    state: str


class Responses(Base, table=True):
    """What the system gave: one line per run, case and attempt."""

    __table_args__ = BULK
    run_id: str = Field(primary_key=True)
    case_id: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    answer: str | None
    documents: Any = Field(sa_type=sa.JSON)
    contexts: Any = Field(sa_type=sa.JSON)
    context_ids: Any = Field(sa_type=sa.JSON)
    is_answerable: bool | None
    outputs: Any = Field(sa_type=sa.JSON)
    seconds: float | None = Field(sa_type=sa.Double)
    tokens: Any = Field(sa_type=sa.JSON, nullable=True)
    error: str | None


class Measures(Base, table=True):
    """Columns of the metrics' tables as they are now, in order of appearance."""

    table_name: str = Field(primary_key=True)
    measure: str = Field(primary_key=True)
    metric: str
    type: str
    better: str | None
    at_least: float | None = Field(sa_type=sa.Double)
    at_most: float | None = Field(sa_type=sa.Double)
    sentence: str
    of_run: bool
    result_column: str
    position: int


class Scorings(Base, table=True):
    """One metric with its parameters applied to one run at one time; `measures` as they were declared then.

    `scoring_no` is what the rows of the metrics' tables go by: joining millions of them on a text costs twice the time.
    """

    scoring_id: str = Field(primary_key=True)
    run_id: str
    metric: str
    table_name: str
    label: str
    signature: str
    code_hash: str
    measures: Any = Field(sa_type=sa.JSON)
    run_values: Any = Field(sa_type=sa.JSON)
    versions: Any = Field(sa_type=sa.JSON)
    model: str | None
    prompt_hash: str | None
    seconds: float | None = Field(sa_type=sa.Double)
    error: str | None
    position: int
    is_current: bool
    is_primary: bool
    created_at: datetime = Field(sa_type=sa.DateTime(timezone=True))
    scoring_no: int = Field(unique=True)


class Summaries(Base, table=True):
    """Mean, interval and counts of each measure of each scoring."""

    __table_args__ = BULK
    scoring_id: str = Field(primary_key=True)
    measure: str = Field(primary_key=True)
    mean: float | None = Field(sa_type=sa.Double)
    low: float | None = Field(sa_type=sa.Double)
    high: float | None = Field(sa_type=sa.Double)
    n_scored: int | None
    n_errors: int | None
    n_missing: int | None


_FIXED = Base.metadata.tables
meta, datasets, cases, runs = (_FIXED[name] for name in ("meta", "datasets", "cases", "runs"))
responses, measures, scorings, summaries = (_FIXED[name] for name in ("responses", "measures", "scorings", "summaries"))

COLUMN_TYPES: dict[str, type[sa.types.TypeEngine[Any]]] = {
    "float": sa.Double,
    "int": sa.BigInteger,
    "bool": sa.Boolean,
    "str": sa.Text,
    "json": sa.JSON,
}
"""Column type by the word for a measure's type."""


def storage_name(table: str) -> str:
    """Return the name of the table that holds a metric's rows; the plain name is its public view."""
    return f"_{table}"


def metric_table(table: str, columns: Iterable[tuple[str, str]]) -> sa.Table:
    """Return the storage table of a metric; `columns` are names and type words of its measures per attempt."""
    return sa.Table(
        storage_name(table),
        sa.MetaData(),
        sa.Column("scoring_no", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("case_id", sa.Text, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("error", sa.Text),
        sa.Column("missing", sa.JSON),
        *(sa.Column(name, COLUMN_TYPES[word]) for name, word in columns),
        info=BULK["info"],
    )
