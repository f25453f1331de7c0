"""Commands that compare, as processes: tables, JSON, plots, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import QUESTIONS, RESPONSES, ROOT, chatbench


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
    _, err = chatbench("compare", "bm25", "hybrid", "--by", "tag", "-m", "DocumentMatch", "--plot", "by.svg")
    assert "note: the plot shows document_match_hit, the first of 4; --measure picks another" in err
    assert "document_match_hit" in Path("by.svg").read_text(encoding="utf-8")  # a comment beside the drawn letters


@pytest.mark.usefixtures("runs")
def test_slices() -> None:
    out, _ = chatbench("slices", "bm25", "--by", "tag", "-m", "document_match_hit")
    assert "fewer than 10 questions" in out
    records = json.loads(chatbench("slices", "bm25", "--by", "tag", "-m", "DocumentMatch", "--json")[0])
    assert {"name", "group", "mean", "low", "high", "n_scored", "n_errors", "n_missing", "small"} <= set(records[0])
    assert "There are: tag, document" in chatbench("slices", "bm25", "--by", "chapter", code=2)[1]


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
def test_notes_are_told_once_with_groups_and_flipped_questions() -> None:
    for option in (["--by", "tag", "--json"], ["--flipped"]):
        out, err = chatbench(
            "compare", "bm25", "hybrid", "-m", "DocumentMatch", *option, "--where", "case_id < 'phys-010'"
        )
        assert "common questions, where" not in out
        assert "note: hybrid against bm25: 9 of 40 common questions, where case_id < 'phys-010'." in err
        assert err.count("Only") == 1


@pytest.mark.usefixtures("runs")
def test_wrong_usage_is_2() -> None:
    two = ("compare", "bm25", "hybrid")
    for arguments, text in (
        (("compare", "bm25"), "two runs or more"),
        (("compare", "bm25", "hybird"), "There is no run 'hybird'. Did you mean 'hybrid'?"),
        (("compare", "bm25", "bm25"), "is given twice"),
        ((*two, "--cluster", "chapter"), "There are: tag, document"),
        ((*two, "--by", "chapter"), "There are: tag, document"),
        ((*two, "-m", "retrieval_ncdg"), "Did you mean 'retrieval_ndcg'?"),
        ((*two, "--flipped", "--by", "tag"), "--flipped lists questions"),
        ((*two, "--plot", "d.pdff"), ".png or .svg"),
        ((*two, "--scatter", "s.png"), "one --measure"),
        ((*two, "--scatter", "s.png", "-m", "DocumentMatch"), "these are 4: document_match_hit"),
        ((*two, "--scatter", "s.png", "--plot", "./s.png", "-m", "retrieval_ndcg"), "cannot hold two figures"),
        ((*two, "--fail-if-worse", "document_match_n_documents"), "declares no direction, so it cannot be worse"),
    ):
        out, err = chatbench(*arguments, code=2)
        assert text in err
        assert out == ""
    chatbench("score", QUESTIONS, RESPONSES, "-m", "DocumentMatch", "--name", "third", "--num-q", 40, "--quiet")
    scatter = ("--scatter", "s.png", "-m", "document_match_hit")
    assert "--scatter shows two runs" in chatbench(*two, "third", *scatter, code=2)[1]
    chatbench(*two, "--fail-if-worse", "DocumentMatch")  # of its measures those with a direction
    assert not list(Path().glob("*.png"))


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(("columns", "expected"), [("80", "won / lost / tied  "), ("200", "┃")])
def test_numbers_are_never_folded_on_a_terminal(columns: str, expected: str) -> None:
    ours, theirs = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "chatbench", "compare", "bm25", "hybrid", "-m", "retrieval_ndcg"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": columns, "TERM": "xterm"},
        stdout=theirs,
        check=True,
        timeout=120,
    )
    os.close(theirs)
    pieces = []
    with contextlib.suppress(OSError):  # the end: nobody holds the other side any more
        while piece := os.read(ours, 100_000):
            pieces.append(piece)
    os.close(ours)
    shown = b"".join(pieces).decode()
    record = json.loads(chatbench("compare", "bm25", "hybrid", "-m", "retrieval_ndcg", "--json")[0])["measures"][0]
    assert expected in shown
    assert all(f"{record[end]:.4f}" in shown for end in ("mean_a", "mean_b", "difference", "low", "high"))
