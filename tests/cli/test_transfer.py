"""The commands that bring results in and out: output, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from chatbench.cli.app import app
from chatbench.store import Store
from tests import chatlas_files as chatlas
from tests.chatlas_files import DOCUMENTS, LEXICAL, row
from tests.store import examples


def chatbench(*arguments: Any, db: str = "new.duckdb", code: int = 0) -> tuple[str, str]:
    """Run the command within this process, in the working folder of the test, and return what it printed."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--db", db], env={"COLUMNS": "200"})
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout, done.stderr


def test_the_file_of_the_original() -> None:
    chatlas.write(Path("old.db"), [row(LEXICAL), row(DOCUMENTS, seconds=0.01), row(LEXICAL, "beta", seconds=60)])
    out, err = chatbench("import-results", "old.db")
    assert out.endswith("2 runs imported from 3 rows\n")
    assert err == ""
    out, err = chatbench("import-results", "old.db", "--json")
    assert json.loads(out) == []
    assert err.startswith("note: 3 of 3 rows of old.db were imported before")
    assert {run["name"] for run in json.loads(chatbench("runs", "--json")[0])} == {"alpha", "beta"}
    assert "rouge_l" in chatbench("show", "alpha")[0]


def test_json_and_questions_for_scripts() -> None:
    chatlas.write(Path("old.db"), [row(LEXICAL)])
    Path("moved.json").write_text('[{"question": "a?"}, {"question": "b?"}]', encoding="utf-8")
    out, _ = chatbench("import-results", "old.db", "--questions", "moved.json", "--json")
    (line,) = json.loads(out)
    assert (line["name"], line["n_questions"], line["rows"]) == ("alpha", 2, 1)
    (run,) = json.loads(chatbench("runs", "--json")[0])
    assert all(line[key] == run[key] for key in ("run_id", "dataset", "created_at"))
    asked = chatbench("sql", "select question from cases order by position", "--json")[0]
    assert json.loads(asked) == [{"question": "a?"}, {"question": "b?"}]


def test_wrong_files_of_the_original() -> None:
    assert "There is no file gone.db" in chatbench("import-results", "gone.db", code=2)[1]
    Path("text.db").write_text("x", encoding="utf-8")
    assert "error: text.db is no SQLite file" in chatbench("import-results", "text.db", code=2)[1]
    assert not Path("new.duckdb").exists()


def test_a_run_moves_to_another_database() -> None:
    questions = examples.dataset()
    run_id = examples.saved(Store("new.duckdb"), examples.scoring(questions, {"words": [1, 2, None]}))
    assert "exported to" in chatbench("export-run", "bm25", "folder", "--format", "jsonl")[0]
    out, _ = chatbench("import-run", "folder", "--name", "moved", db="other.duckdb")
    assert out == f"stored as run {run_id} (moved)\n"
    there = [json.loads(chatbench("show", run_id, "--json", db=db)[0]) for db in ("new.duckdb", "other.duckdb")]
    assert there[0]["summary"] == there[1]["summary"]
    assert "is stored already" in chatbench("import-run", "folder", code=1)[1]
    assert "There is no run" in chatbench("export-run", "gone", "other", code=2)[1]
    assert "csv" in chatbench("export-run", "bm25", "other", "--format", "csv", code=2)[1]
    chatbench("import-run", "gone", code=2)
