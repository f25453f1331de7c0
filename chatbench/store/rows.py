"""What is to be stored, as Arrow columns of the tables' types; and plain values made of what comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset, case_content
from chatbench.core.document import Document
from chatbench.core.jsonable import clean_text
from chatbench.core.measure import TYPES, Measure
from chatbench.core.redact import redact_json
from chatbench.core.response import Response, Sample
from chatbench.core.run import Run, new_id
from chatbench.core.scores import Scoring, Summary, summarise
from chatbench.errors import SchemaError
from chatbench.store import tables

_ARROW_TYPES = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True)
class PreparedScoring:
    """A scoring ready to be stored: its new id, its rows as Arrow columns, its summaries."""

    scoring: Scoring
    scoring_id: str
    rows: pa.Table
    summaries: tuple[Summary, ...]


def arrow_table(table: sa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return the columns in the types of a table; JSON columns become text."""
    return pa.table({name: _arrow_column(table.c[name].type, values) for name, values in columns.items()})


def _arrow_column(kind: Any, values: Any) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if isinstance(kind, sa.JSON):
        return _text_column([None if v is None else to_json(v) for v in values])
    arrow_type = _ARROW_TYPES.get(kind.python_type)
    if arrow_type is None:
        return _text_column(values)
    # Not as pandas does it: NaN must not turn into NULL unseen (it has no reason beside it).
    return pa.array(values, arrow_type, from_pandas=False)


def _text_column(values: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:  # a lone surrogate would lose the whole call
        return pa.array([None if v is None else clean_text(v) for v in values], pa.string())


def to_json(value: Any) -> str:
    """Return the text of a JSON column."""
    if not value and isinstance(value, list | tuple | dict):  # the most of a million responses
        return "{}" if isinstance(value, dict) else "[]"
    return _encoder.encode(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)


def from_json(text: str | None) -> Any:
    """Return the value of a JSON column."""
    if text is None or text == "{}":
        return None if text is None else {}
    return [] if text == "[]" else json.loads(text)


def run_rows(run: Run, dataset: Dataset) -> pa.Table:
    """Return the row of `runs`, secrets in the settings blanked."""
    row = {k: clean_text(v) if isinstance(v, str) else v for k, v in vars(run).items()}
    row["settings"] = redact_json(run.settings)
    path = None if dataset.path is None else clean_text(str(dataset.path))
    return arrow_table(tables.runs, {k: [v] for k, v in {**row, "dataset_path": path}.items()})


def case_rows(dataset: Dataset) -> pa.Table:
    """Return the rows of `cases`."""
    cases: Sequence[Case] = dataset.cases
    return arrow_table(
        tables.cases,
        {
            "dataset_id": pa.repeat(dataset.fingerprint, len(cases)),
            "case_id": [c.id for c in cases],
            "position": range(len(cases)),
            "question": [c.question for c in cases],
            "tags": [list(c.tags) for c in cases],
            "payload": [case_content(c) for c in cases],
        },
    )


def response_rows(run_id: str, samples: Sequence[Sample]) -> pa.Table:
    """Return the rows of `responses`."""
    given: list[Response] = [s.response for s in samples]
    same = ("attempt", "answer", "is_answerable", "seconds", "error", "tokens", "outputs", "contexts", "context_ids")
    return arrow_table(
        tables.responses,
        {
            "run_id": pa.repeat(run_id, len(given)),
            "case_id": [s.case.id for s in samples],
            "documents": [[document_content(d) for d in r.documents] for r in given],
            **{name: [getattr(r, name) for r in given] for name in same},
        },
    )


def document_content(document: Document) -> dict[str, Any]:
    """Return a document as JSON: every field that is not empty."""
    return {k: v for k, v in vars(document).items() if v not in (None, "", {})}


def prepare(scoring: Scoring) -> PreparedScoring:
    """Turn a scoring into Arrow columns; raise `SchemaError` when an entry is not what its measure declares."""
    table = tables.metric_table(scoring.table, [(m.name, m.type_name) for m in scoring.columns])
    keys = {
        "case_id": scoring.case_ids,
        "attempt": scoring.attempts,
        "error": scoring.errors,
        "missing": scoring.missing,
    }
    try:
        rows = arrow_table(table, {**keys, **{m.name: scoring.values[m.name] for m in scoring.columns}})
    except (pa.ArrowException, ValueError, TypeError, OverflowError, KeyError) as error:
        raise SchemaError(f"the columns of {scoring.key!r} cannot be stored: {error}") from error
    for measure in scoring.columns:
        if measure.type is float and not pc.all(pc.is_finite(rows[measure.name]), min_count=0).as_py():
            raise SchemaError(f"{scoring.key!r} has NaN or infinity in {measure.name!r}; None stands for no value.")
    return PreparedScoring(scoring, new_id(), rows, scoring.summaries or summarise(scoring))


def metric_rows(prepared: PreparedScoring, table: sa.Table) -> pa.Table:
    """Return the rows for a metric's table, integers and yes/no widened where the table has wider numbers by now."""
    rows = prepared.rows.append_column("scoring_id", pa.repeat(prepared.scoring_id, len(prepared.rows)))
    for place, name in enumerate(rows.column_names):
        if isinstance(table.c[name].type, sa.Double) and rows[name].type in (pa.int64(), pa.bool_()):
            rows = rows.set_column(place, name, rows[name].cast(pa.float64()))
        elif isinstance(table.c[name].type, sa.BigInteger) and rows[name].type == pa.bool_():
            rows = rows.set_column(place, name, rows[name].cast(pa.int64()))
    return rows


def summary_rows(given: Sequence[PreparedScoring]) -> pa.Table:
    """Return the rows of `summaries`."""
    rows = [{"scoring_id": p.scoring_id, **asdict(s)} for p in given for s in p.summaries]
    return arrow_table(tables.summaries, {c.name: [row[c.name] for row in rows] for c in tables.summaries.c})


def measure_content(measure: Measure) -> dict[str, Any]:
    """Return a declared measure as JSON."""
    return {**vars(measure), "type": measure.type_name}


def measure_from_content(content: Mapping[str, Any]) -> Measure:
    """Return the measure that `measure_content` wrote."""
    return Measure(**{**content, "type": TYPES[content["type"]]})
