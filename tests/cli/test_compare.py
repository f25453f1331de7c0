"""Commands that compare, as processes: tables, JSON, plots, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import QUESTIONS, RESPONSES, chatbench


@pytest.fixture
def runs() -> None:
    """Two stored runs of 40 questions."""
    for name in ("bm25", "hybrid"):
        chatbench(
            *("score", QUESTIONS, RESPONSES.with_name(f"{name}.json"), "-m", "DocumentMatch", "-m", "Retrieval(k=5)"),
            *("--name", name, "--num-q", 40, "--quiet"),
        )


@pytest.mark.usefixtures("runs")
def test_compare() -> None:
    out, err = chatbench("compare", "bm25", "hybrid")
    assert "hybrid against bm25" in out
    assert "no difference shown" in out
    assert err == ""
    out, _ = chatbench("compare", "bm25", "hybrid", "-m", "retrieval_ndcg", "--cluster", "document", "--json")
    record = json.loads(out)
    assert [m["name"] for m in record["measures"]] == ["retrieval_ndcg"]
    assert record["measures"][0]["n_groups"] < record["measures"][0]["n"]
    assert set(record) == {"baseline", "measures", "flipped", "unpaired", "not_compared", "notes"}
    out, _ = chatbench("compare", "bm25", "hybrid", "-m", "document_match_hit", "--by", "tag", "--json")
    assert {"span", "number"} <= {group["group"] for group in json.loads(out)}
    assert "change" in chatbench("compare", "bm25", "hybrid", "--flipped")[0]
    out, err = chatbench("compare", "bm25", "hybrid", "--where", "case_id < 'phys-010'")
    assert "note: hybrid against bm25: Only" in err
    assert "where case_id < 'phys-010'" in out


@pytest.mark.usefixtures("runs")
def test_plots_are_written(tmp_path: Path) -> None:
    chatbench("compare", "bm25", "hybrid", "-m", "retrieval_ndcg", "--plot", "d.svg", "--scatter", "s.png")
    assert Path("d.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert Path("s.png").read_bytes()[:4] == b"\x89PNG"
    chatbench("slices", "bm25", "--by", "tag", "-m", "document_match_hit", "--plot", "g.png")
    assert Path("g.png").read_bytes()[:4] == b"\x89PNG"
    _, err = chatbench("compare", "bm25", "hybrid", "--plot", "d.pdff", code=2)
    assert ".png or .svg" in err
    _, err = chatbench("compare", "bm25", "hybrid", "--scatter", "s.png", code=2)
    assert "one --measure" in err


@pytest.mark.usefixtures("runs")
def test_slices() -> None:
    out, _ = chatbench("slices", "bm25", "--by", "tag", "-m", "document_match_hit")
    assert "fewer than 10 questions" in out
    records = json.loads(chatbench("slices", "bm25", "--by", "tag", "-m", "DocumentMatch", "--json")[0])
    assert {"name", "group", "mean", "low", "high", "n_scored", "n_errors", "n_missing", "small"} <= set(records[0])
    assert "There are: tag, document" in chatbench("slices", "bm25", "--by", "chapter", code=1)[1]


def test_a_gate_fails_only_where_the_named_measure_is_worse() -> None:
    good = [{"id": f"q{i}", "question": f"What is {i}?", "answer": f"the {i}"} for i in range(30)]
    Path("set.json").write_text(json.dumps(good), encoding="utf-8")
    for name, end in (("right", ""), ("wrong", " or so it seems")):
        Path(f"{name}.json").write_text(
            json.dumps([{"id": q["id"], "answer": q["answer"] + end} for q in good]), encoding="utf-8"
        )
        chatbench("score", "set.json", f"{name}.json", "-m", "LexicalMetrics", "--quiet")
    gate = ("--fail-if-worse", "lexical_metrics_f1")
    _, err = chatbench("compare", "right", "wrong", *gate, code=1)
    assert "failed: lexical_metrics_f1 is worse in wrong: -0." in err
    chatbench("compare", "wrong", "right", *gate)
    chatbench("compare", "right", "wrong", "--fail-if-worse", "lexical_metrics_recall")  # every word is still there
    _, err = chatbench("compare", "right", "wrong", "--fail-if-worse", "lexical_metrics_f2", code=2)
    assert "Did you mean 'lexical_metrics_f" in err
    chatbench("score", "set.json", "right.json", "-m", "DocumentMatch", "--name", "no f1", "--quiet")
    chatbench(
        "score", "set.json", "right.json", "-m", "LexicalMetrics", "-m", "DocumentMatch", "--name", "both", "--quiet"
    )
    _, err = chatbench("compare", "both", "no f1", *gate, code=1)
    assert "failed: lexical_metrics_f1 could not be compared in no f1: not measured in no f1" in err


@pytest.mark.usefixtures("runs")
def test_wrong_usage() -> None:
    assert "two runs or more" in chatbench("compare", "bm25", code=2)[1]
    assert "There is no run 'hybird'. Did you mean 'hybrid'?" in chatbench("compare", "bm25", "hybird", code=2)[1]
    assert "is given twice" in chatbench("compare", "bm25", "bm25", code=1)[1]
