"""The command line as a process: output, JSON, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS, RESPONSES = ROOT / "data/physics/questions.json", ROOT / "data/physics/responses/bm25.json"


def chatbench(*arguments: Any, code: int = 0) -> tuple[str, str]:
    """Run the command in the working folder of the test and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "chatbench", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def stored(name: str = "bm25") -> str:
    out, _ = chatbench(
        "score",
        QUESTIONS,
        RESPONSES,
        "-m",
        "DocumentMatch",
        "-m",
        "Retrieval(k=5)",
        "--name",
        name,
        "--num-q",
        30,
        "--json",
    )
    run_id: str = json.loads(out)["run_id"]
    return run_id


def test_from_score_to_delete() -> None:
    out, err = chatbench("score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--name", "bm25", "--num-q", 30)
    assert "n scored" in out
    assert "stored as run" in out
    assert err == ""
    out, _ = chatbench("runs")
    assert "bm25" in out
    assert "\x1b" not in out
    assert "weighted" in chatbench("show", "bm25")[0]
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))[:30]
    failures = json.loads(chatbench("show", "bm25", "--failures", "--json")[0])
    assert len(failures) == 2 * sum(not q["is_answerable"] for q in questions)
    chatbench("delete", "bm25", "--yes")
    assert "bm25" not in chatbench("runs")[0]


def test_json_for_scripts() -> None:
    run_id = stored()
    runs = json.loads(chatbench("runs", "--json")[0])
    assert (runs[0]["run_id"], runs[0]["n_questions"]) == (run_id, 30)
    shown = json.loads(chatbench("show", run_id, "--json")[0])
    hit = next(m for m in shown["summary"] if m["name"] == "document_match_hit")
    assert hit["mean"] == runs[0]["document_match_hit"]
    assert hit["n_scored"] + hit["n_errors"] + hit["n_missing"] == 30
    rows = json.loads(chatbench("sql", "select count(*) as n, null as nothing from retrieval", "--json")[0])
    assert rows == [{"n": 30, "nothing": None}]
    assert "LexicalMetrics" in {m["metric"] for m in json.loads(chatbench("metrics", "--json")[0])}


def test_no_store_leaves_no_file() -> None:
    chatbench("score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--no-store")
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["score", QUESTIONS, RESPONSES, "-m", "DocumentMatsch"], "Did you mean 'DocumentMatch'"),
        (["score", QUESTIONS, RESPONSES, "-m", "Retrieval(n=3)"], "no parameter 'n'"),
        (
            ["score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--encoding", "nonsense"],
            "unknown encoding: nonsense",
        ),
        (["score", QUESTIONS], "Missing argument"),
        (["score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--name", ""], "a run needs a name"),
        (["runs"], "benchmark.duckdb"),
        (["show", "x", "--db", "no.duckdb"], "no.duckdb"),
        (["nonsense"], "No such command"),
    ],
)
def test_wrong_usage_is_2(arguments: list[Any], text: str) -> None:
    assert text in chatbench(*arguments, code=2)[1]
    assert list(Path.cwd().iterdir()) == []


def test_wrong_names_in_a_database_are_2() -> None:
    stored()
    assert "bm26" in chatbench("show", "bm26", code=2)[1]
    assert "nowhere" in chatbench("sql", "select * from nowhere", code=2)[1]
    assert "--write" in chatbench("sql", "delete from runs", code=2)[1]
    chatbench("sql", "delete from runs", "--write")


def test_invalid_data_is_1() -> None:
    Path("broken.json").write_text('[{"question": "q"', encoding="utf-8")
    Path("short.json").write_text('[{"id": "phys-001", "answer": "a"}]', encoding="utf-8")
    assert "broken.json" in chatbench("score", "broken.json", RESPONSES, "-m", "DocumentMatch", code=1)[1]
    err = chatbench("score", QUESTIONS, "short.json", "-m", "DocumentMatch", "--num-q", 3, code=1)[1]
    assert "no response to 2 of 3 questions: phys-002, phys-003" in err
    assert "Traceback" not in err


def test_a_metric_that_fails_altogether_is_1_and_the_rest_is_kept() -> None:
    out, _ = chatbench(
        "score",
        QUESTIONS,
        RESPONSES,
        "-m",
        "SemanticSimilarity(model='no-such-model')",
        "-m",
        "DocumentMatch",
        "--num-q",
        3,
        code=1,
    )
    assert "no-such-model" in out
    assert "stored as run" in out


def test_own_metrics_from_a_file() -> None:
    Path("own.py").write_text(
        "from chatbench import Metric\n\n\nclass Shout(Metric):\n    'Capital letters.'\n\n    by: int = 1\n\n"
        "    def score_sample(self, sample) -> int:\n        return self.by * sum(c.isupper() for c in sample.answer)\n",
        encoding="utf-8",
    )
    chatbench("score", QUESTIONS, RESPONSES, "-m", "own.py:Shout(by=2)", "--num-q", 3)
    assert json.loads(chatbench("sql", "select count(value) as n from shout", "--json")[0]) == [{"n": 3}]
    Path("broken.py").write_text("1 +", encoding="utf-8")
    Path("needs.py").write_text(
        "from chatbench import Metric\n\n\nclass Needs(Metric):\n    'Needs.'\n\n    by: int\n\n"
        "    def score_sample(self, sample) -> int:\n        return self.by\n",
        encoding="utf-8",
    )
    for metric, text in (
        ("../own.py:Shout", "outside the working folder"),
        ("no.py:Shout", "no file no.py"),
        ("broken.py:Shout", "broken.py cannot be imported: SyntaxError"),
        ("own.py:Whisper", "no metric 'Whisper'"),
        ("needs.py:Needs", "It has: by"),
        ("LexicalMetrics(tokenizer='x')", "no tokenizer 'x'"),
        ("Retrieval(k=0)", "k"),
    ):
        err = chatbench("score", QUESTIONS, RESPONSES, "-m", metric, code=2)[1]
        assert text in err
        assert "Traceback" not in err


@pytest.mark.parametrize("db", ["no/such/folder.duckdb", "."])
def test_a_place_that_cannot_be_written_is_said_before_scoring(db: str) -> None:
    out, err = chatbench("score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--db", db, code=2)
    assert out == ""
    assert "Traceback" not in err


def test_scores_that_do_not_fit_their_table_are_shown_and_the_exit_code_tells() -> None:
    own = (
        "from chatbench import Measure, Metric\n\n\nclass Own(Metric):\n    'Own.'\n\n    x = Measure({kind}, 'x')\n\n"
        "    def score_sample(self, sample):\n        return {{'x': {value}}}\n"
    )
    Path("own.py").write_text(own.format(kind="float", value="1"), encoding="utf-8")
    chatbench("score", QUESTIONS, RESPONSES, "-m", "own.py:Own", "--num-q", 3)
    Path("own.py").write_text(own.format(kind="str", value="'one'"), encoding="utf-8")
    out, err = chatbench("score", QUESTIONS, RESPONSES, "-m", "own.py:Own", "-m", "DocumentMatch", "--num-q", 3, code=1)
    assert "DocumentMatch" in out
    assert "were not stored" in err


def test_a_metric_that_fails_on_every_question_is_1() -> None:
    Path("own.py").write_text(
        "from chatbench import Metric\n\n\nclass Boom(Metric):\n    'Boom.'\n\n"
        "    def score_sample(self, sample):\n        raise ValueError('boom')\n",
        encoding="utf-8",
    )
    assert "boom" in chatbench("score", QUESTIONS, RESPONSES, "-m", "own.py:Boom", "--num-q", 3, code=1)[0]


def test_deleting_asks_or_wants_yes() -> None:
    stored()
    assert "--yes" in chatbench("delete", "bm25", code=2)[1]
    assert "bm25" in chatbench("runs")[0]


def test_ambiguous_names_say_so() -> None:
    stored()
    newest = stored()
    out, err = chatbench("delete", "bm25", "--yes")
    assert f"deleted {newest}" in out
    assert "2 runs are named 'bm25'" in err
    stored()
    assert chatbench("delete", "bm25", "--all", "--yes")[0].count("deleted") == 2


def test_version_and_help() -> None:
    assert chatbench("--version")[0].startswith("chatbench 0.")
    for command in ("demo", "score", "runs", "show", "leaderboard", "power", "sql", "metrics", "delete"):
        assert len(chatbench(command, "--help")[0]) > 100


def test_the_demonstration() -> None:
    out, _ = chatbench("demo", "--quiet")
    lines = out.splitlines()
    assert sum("245 questions scored and stored" in line for line in lines) == 3
    assert any("bm25" in line and "minilm" in line and "hybrid" in line for line in lines)
    for measure in ("document_match_hit", "retrieval_ndcg", "lexical_metrics_f1", "semantic_similarity_cosine"):
        assert any(line.startswith(measure) for line in lines)
    query = next(line for line in lines if "chatbench sql" in line)
    assert "question" in chatbench("sql", "--db", "demo.duckdb", query.split('"')[1])[0]
