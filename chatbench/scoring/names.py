"""Names that are safe as tables and columns on every database that chatbench writes to."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources

from chatbench.errors import MetricDefinitionError

MAX_LENGTH = 30
"""PostgreSQL cuts identifiers at 63 bytes without a word; `<table>_<measure>` must stay below."""

FIXED_TABLES = frozenset(
    [
        "meta",
        "runs",
        "datasets",
        "cases",
        "checks",
        "responses",
        "spans",
        "verdicts",
        "measures",
        "scorings",
        "summaries",
        "replies",
        "results",
        "attempts",
        "case_verdicts",
        "pass_rates",
        "leaderboard",
        "journals",
        "run",
    ]
)
"""Table names of the store; `run` because `run_id` is a column everywhere."""

KEY_COLUMNS = frozenset(
    [
        "run_id",
        "case_id",
        "scoring_id",
        "dataset_id",
        "attempt",
        "label",
        "error",
        "missing",
        "name",
        "dataset",
        "created_at",
        "n_questions",
        "state",
    ]
)
"""Columns that chatbench itself has in the tables and views of every metric."""

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


@cache
def reserved_words() -> frozenset[str]:
    """Words that DuckDB or PostgreSQL refuse, unquoted, as a table or a column."""
    text = resources.files("chatbench.scoring").joinpath("reserved_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split() if line)


def table_name_of(class_name: str) -> str:
    """Return the table of a class.

    >>> table_name_of("AnswerLength"), table_name_of("JSONDiff")
    ('answer_length', 'json_diff')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name)
    return spaced.lower()


def check_table_name(name: str, owner: str) -> None:
    """Raise `MetricDefinitionError` unless the name can be a table."""
    _check(
        name, f"The table {name!r} of metric {owner!r}", FIXED_TABLES, 'give it another: class X(Metric, table="...")'
    )


def check_column_name(name: str, owner: str) -> None:
    """Raise `MetricDefinitionError` unless the name can be a column."""
    _check(name, f"The measure {name!r} of metric {owner!r}", KEY_COLUMNS, "rename the measure")


def safe_name(text: str, taken: frozenset[str] = KEY_COLUMNS) -> str:
    """Return a usable identifier made from any text, for names and columns of functions; different texts stay different."""
    name = re.sub(r"[^a-z0-9]+", "_", table_name_of(text)).strip("_")
    if not name or not text.isascii() or len(name) > MAX_LENGTH:
        name = f"{name[: MAX_LENGTH - 9].strip('_') or 'c'}_{hashlib.sha256(text.encode()).hexdigest()[:6]}"
    if not name[0].isalpha():
        name = f"c_{name}"
    name = name[:MAX_LENGTH].rstrip("_")
    if name in reserved_words() or name in taken:
        name = f"{name[: MAX_LENGTH - 6]}_value"
    return name


def _check(name: str, what: str, taken: frozenset[str], cure: str) -> None:
    if not _IDENTIFIER.fullmatch(name):
        fault = "may hold only a-z, 0-9 and _, and starts with a letter"
    elif len(name) > MAX_LENGTH:
        fault = f"has {len(name)} characters; at most {MAX_LENGTH} are possible"
    elif name in taken:
        fault = "is a name that chatbench itself uses"
    elif name in reserved_words():
        fault = "is a reserved word of SQL"
    else:
        return
    raise MetricDefinitionError(f"{what} {fault}: {cure}.")
