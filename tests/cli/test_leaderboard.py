"""`chatbench leaderboard` and `chatbench power` as processes; figures are saved whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from chatbench import leaderboard
from chatbench.cli.output import save_figure
from chatbench.store import Store
from tests.cli.test_cli import chatbench
from tests.store import examples

QUESTIONS = examples.dataset(12)


@pytest.fixture
def db() -> str:
    """Two runs in the working folder, in the file that is taken when none is named."""
    store = Store("benchmark.duckdb")
    for name, shift in (("bm25", 0.0), ("hybrid", 0.3)):
        values = {"words": [shift + i % 3 for i in range(12)], "hit": [i % 4 < 2 + 4 * shift for i in range(12)]}
        made = examples.scoring(QUESTIONS, values, kinds={"hit": bool})
        examples.saved(store, made, name=name, questions=QUESTIONS)
    return str(store.path)


def test_the_board(db: str) -> None:
    out, err = chatbench("leaderboard", "--measure", "answer_length_hit")
    assert out.splitlines()[0] == "physics: answer_length_hit"
    assert [line.split()[2] for line in out.splitlines()[2:4]] == ["hybrid", "bm25"]
    assert err == ""
    shown = json.loads(chatbench("leaderboard", "--dataset", "physics", "--json", "--db", db)[0])
    assert (shown["measure"], shown["better"]) == ("answer_length_words", None)
    expected = leaderboard(db_name=db).frame
    assert [run["mean"] for run in shown["runs"]] == expected["mean"].tolist()
    assert [run["rank"] for run in shown["runs"]] == [None, None]


def test_figures_are_saved_by_suffix(db: str) -> None:
    _, err = chatbench("leaderboard", "--plot", "board.png", "--history", "history.SVG")
    assert err == "saved board.png\nsaved history.SVG\n"
    chatbench("power", "bm25", "answer_length_words", "--plot", "power.svg")
    assert Path("board.png").read_bytes().startswith(b"\x89PNG")
    assert all("<svg" in Path(name).read_text() for name in ("history.SVG", "power.svg"))
    assert sorted(p.name for p in Path().iterdir() if p.suffix not in (".duckdb", ".lock")) == [
        "board.png",
        "history.SVG",
        "power.svg",
    ]


def test_power(db: str) -> None:
    out, _ = chatbench("power", "bm25", "answer_length_hit", "0.2", "--against", "hybrid")
    assert "12 questions show" in out
    assert "A difference of 0.2 needs" in out
    shown = json.loads(chatbench("power", "bm25", "answer_length_words", "--power", "0.9", "--json")[0])
    assert (shown["name"], shown["n"], shown["power"], shown["needed"]) == ("bm25", 12, 0.9, None)
    assert {row["n_questions"] for row in shown["power_by_n_questions"]} == {6, 12, 24, 48}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["leaderboard", "--dataset", "phisics"], "Did you mean 'physics'"),
        (["leaderboard", "--measure", "answer_length_word"], "Did you mean 'answer_length_words'"),
        (["leaderboard", "--measure", "AnswerLength"], "by one of answer_length_words, answer_length_hit"),
        (["leaderboard", "--plot", "b.png", "--history", "b.png"], "cannot hold two figures"),
        (["leaderboard", "--plot", "board.pdf"], ".png or .svg, not as 'board.pdf'"),
        (["leaderboard", "--history", "no/board.png"], "does not exist; make it first"),
        (["leaderboard", "--db", "no.duckdb"], "no.duckdb"),
        (["power", "bm26", "answer_length_hit"], "bm26"),
        (["power", "bm25", "answer_length_hits"], "There are: answer_length_words, answer_length_hit"),
        (["power", "bm25", "answer_length_hit", "0"], "is no difference"),
        (["power", "bm25", "answer_length_hit", "--level", "1"], "is not between 0 and 1"),
    ],
)
def test_wrong_usage_is_2(db: str, arguments: list[str], text: str) -> None:
    out, err = chatbench(*arguments, code=2)
    assert text in " ".join(err.split())
    assert out == ""
    assert not any(p.suffix in (".png", ".svg", ".pdf") for p in Path().iterdir())


def test_what_the_scores_cannot_tell_is_1(db: str) -> None:
    assert "is yes or no" in chatbench("power", "bm25", "answer_length_hit", "2", code=2)[1]


class Broken(Figure):
    """Stops in the middle of writing."""

    def savefig(self, fname: object, **options: object) -> None:  # type: ignore[override]
        Path(str(fname)).write_text("half")
        raise OSError(28, "No space left on device")


def test_an_older_figure_is_not_overwritten_by_half_a_one(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("figure.svg")
    path.write_text("older")
    with pytest.raises(SystemExit) as stopped:
        save_figure(Broken(), path)
    assert stopped.value.code == 1
    assert "No space left on device" in capsys.readouterr().err
    assert path.read_text() == "older"
    assert list(Path().iterdir()) == [path]
