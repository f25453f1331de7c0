"""Files as chATLAS_Benchmark writes them: the tables and columns of its recorded cases, lists as JSON inside JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

LEXICAL = "lexical_metrics_scores"
SEMANTIC = "semanticSimilarity_metrics_scores"
CORRECT = "answerCorrect_metrics_scores"
DOCUMENTS = "DocumentMatch_metrics_scores"

TABLES: dict[str, dict[str, str | None]] = {
    LEXICAL: {
        "exact_match_score": "exact_match_by_question",
        "f1_score": "f1_score_by_question",
        "rouge_1_score": "rouge_1_by_question",
        "rouge_2_score": "rouge_2_by_question",
        "rouge_l_score": "rouge_l_by_question",
    },
    SEMANTIC: {"semanticSimilarity_score": "semanticSimilarity_score_by_question"},
    CORRECT: {"answerCorrect_score": "answerCorrect_score_by_question"},
    DOCUMENTS: {"MeanDocumentMatch_score": None, "WeightedDocumentMatch_score": None},
}
OF_METRIC = {
    "LexicalMetrics": LEXICAL,
    "SemanticSimilarity": SEMANTIC,
    "AnswerCorrect": CORRECT,
    "DocumentMatch": DOCUMENTS,
}
START = datetime(2025, 3, 1, 12, 0, 0, 250000)


def columns_of(table: str) -> list[str]:
    """Columns in the order of the recorded cases."""
    lists = [name for name in TABLES[table].values() if name]
    return ["id", "model_name", "question_path", *TABLES[table], *lists, "date_time"]


def encoded(values: Sequence[float | None]) -> str:
    """A list as the package stores it: cut to 10 decimals, JSON text inside JSON text under the key "0"."""
    cut = [None if value is None else round(value, 10) for value in values]
    return json.dumps(json.dumps({"0": cut}, separators=(",", ":")))


def row(
    table: str,
    name: str | None = "alpha",
    values: Sequence[float | None] = (0.5, 1.0),
    *,
    seconds: float = 0,
    path: str | None = "set.json",
    **columns: Any,
) -> tuple[str, dict[str, Any]]:
    """A row with the same values in every list, its mean NULL where one is; `columns` replaces single ones."""
    mean = None if None in values else sum(v or 0 for v in values) / max(len(values), 1)
    content: dict[str, Any] = {"model_name": name, "question_path": path}
    for score, by_question in TABLES[table].items():
        content[score] = mean
        if by_question:
            content[by_question] = encoded(values)
    content["date_time"] = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")
    return table, {**content, **columns}


def write(path: Path, rows: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> Path:
    """Make the file with all four tables, or add rows to it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in TABLES:
            kinds = {"id": "INTEGER NOT NULL", "date_time": "DATETIME", "WeightedDocumentMatch_score": "JSON"}
            kinds.update(dict.fromkeys(("model_name", "question_path"), "VARCHAR"))
            columns = ", ".join(
                f"{name} {kinds.get(name, 'JSON' if name.endswith('by_question') else 'FLOAT')}"
                for name in columns_of(table)
            )
            connection.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({columns}, PRIMARY KEY (id))')
        for table, content in rows:
            marks = ", ".join("?" * len(content))
            connection.execute(
                f'INSERT INTO "{table}" ({", ".join(content)}) VALUES ({marks})', tuple(content.values())
            )
    return path


def recorded(runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Rows of a recorded case: a minute between calls, four milliseconds between the tables of a call."""
    rows = []
    for i, run in enumerate(runs):
        for j, metric in enumerate(run["metrics"]):
            half = {"WeightedDocumentMatch_score": run["value"] / 2} if metric == "DocumentMatch" else {}
            rows.append(
                row(
                    OF_METRIC[metric],
                    run["name"],
                    [run["value"]] * 2,
                    seconds=60 * i + 0.004 * j,
                    path=run["set"],
                    **half,
                )
            )
    return rows
