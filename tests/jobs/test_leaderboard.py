"""The leaderboard in Python, in SQL, and by comparing each run with each other."""

from __future__ import annotations

import itertools
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from chatbench import leaderboard
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.scores import Scoring, Summary
from chatbench.errors import RunNotFoundError, UnknownMetricError
from chatbench.results.leaderboard import Leaderboard
from chatbench.store.leaderboard import Board
from tests.store import examples

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAYS: Counter[str] = Counter()
DIRECTIONS: dict[str, Any] = {"up": "higher", "down": "lower", "none": None, "yes": "higher", "text": None}
KINDS = {"up": float, "down": int, "none": float, "yes": bool, "text": str}


@pytest.fixture
def db(store: examples.Place) -> examples.Place:
    return store


def scoring(questions: Dataset, columns: dict[str, list[Any]], code_hash: str = "0" * 16, **fields: Any) -> Scoring:
    made = examples.scoring(questions, columns, metric="Mixed", table="mixed", kinds=KINDS, **fields)
    measures = tuple(replace(m, better=DIRECTIONS[m.name]) for m in made.measures)
    return examples.with_summaries(replace(made, measures=measures, code_hash=code_hash))


def save(db: examples.Place, questions: Dataset, columns: dict[str, list[Any]] | None, name: str, **fields: Any) -> str:
    """Store the next run, a day after the one before."""
    run = examples.run_of(questions, name, created_at=START + timedelta(days=DAYS[db.address]))
    DAYS[db.address] += 1
    made = [] if columns is None else [scoring(questions, columns, **fields)]
    db.save_run(run, questions, examples.answers(questions), made)
    return run.run_id


def plain(db: examples.Place) -> dict[str, dict[str, Any]]:
    """The board of one measure, by name of the run, NULL as None."""
    board = leaderboard("physics", "mixed_up", db.address)
    return {row.pop("name"): row for row in board._records()}


def by_hand(db: examples.Place) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    """Rank by comparing each run with each other, from the tables that a scoring is stored in."""
    runs = db.query("select run_id, dataset_id from runs").to_dict("records")
    frame = db.query(
        "select c.run_id, d.result_column as measure, d.better, s.mean, s.low, s.high, s.n_scored, s.n_errors, s.n_missing "
        "from scorings c, summaries s, measures d where c.scoring_id = s.scoring_id and c.is_current and c.is_primary "
        "and d.table_name = c.table_name and d.measure = s.measure and d.type <> 'str'"
    )
    found = {(r["run_id"], r["measure"]): r for r in frame.astype(object).where(frame.notna(), None).to_dict("records")}
    boards: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for run in runs:
        for (_, measure), row in found.items():
            if any(r["dataset_id"] == run["dataset_id"] and r["run_id"] == row["run_id"] for r in runs):
                boards[run["dataset_id"], measure][run["run_id"]] = found.get((run["run_id"], measure))
    ranks: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for (dataset_id, measure), rows in boards.items():
        for run_id, row in rows.items():
            ranks[dataset_id, measure, run_id] = one_by_hand(row, [r for r in rows.values() if r])
    return ranks


def one_by_hand(row: dict[str, Any] | None, others: list[dict[str, Any]]) -> tuple[Any, ...]:
    if row is None:
        return (None,) * 9
    shown = tuple(row[name] for name in ("mean", "low", "high", "n_scored", "n_errors", "n_missing"))
    if row["better"] is None or row["mean"] is None:
        return (*shown, None, None, None)
    sign = 1 if row["better"] == "higher" else -1
    ranked = [o for o in others if o["mean"] is not None]
    rank = 1 + sum(sign * o["mean"] > sign * row["mean"] for o in ranked)
    if row["low"] is None:
        return (*shown, rank, None, None)
    wholly_better = wholly_worse = 0
    for other in ranked:
        if other["low"] is None:
            continue
        ends = [sign * x for x in (other["low"], other["high"])]
        mine = [sign * x for x in (row["low"], row["high"])]
        wholly_better += min(ends) > max(mine)
        wholly_worse += max(ends) < min(mine)
    return (*shown, rank, 1 + wholly_better, len(ranked) - wholly_worse)


NUMBERS_SHOWN = ["mean", "low", "high", "n_scored", "n_errors", "n_missing", "rank", "best_rank", "worst_rank"]


def as_rows(frame: pd.DataFrame, keys: Iterable[str]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    frame = frame.astype(object).where(frame.notna(), None)
    rows = zip(*(frame[k] for k in keys), frame[NUMBERS_SHOWN].itertuples(index=False, name=None), strict=True)
    return {tuple(row[:-1]): tuple(row[-1]) for row in rows}


def mixed_bag(db: examples.Place) -> None:
    """Ties, NULLs, lower is better, no direction, a single question, two sets, names that come twice, a rescored run."""
    draw = random.Random(7)
    sets = {
        "physics": examples.dataset(6),
        "chemistry": examples.dataset(4, "chemistry"),
        "one": examples.dataset(1, "one"),
    }
    levels = itertools.cycle([0.0, 0.5, 0.2, 0.9, 0.35, 0.05, 0.7])
    for i in range(36):
        questions = sets[("physics", "physics", "chemistry", "one")[i % 4]]
        n, base = len(questions), next(levels)
        columns: dict[str, list[Any]] = {
            "up": [base + draw.choice([0, 0.01, 0.05]) for _ in range(n)],
            "down": [draw.choice([0, 0, 1, 2]) + round(10 * base) for _ in range(n)],
            "none": [draw.random() if draw.random() < 0.7 else None for _ in range(n)],
            "yes": [draw.random() < base for _ in range(n)],
            "text": ["words"] * n,
        }
        if i % 5 == 0:
            columns["up"] = [0.5] * n  # equal means, intervals without width
        if i % 7 == 0:
            columns["up"] = [None] * n
        if i % 11 == 0:
            columns = {k: [None] * n for k in columns}
        save(db, questions, None if i % 13 == 12 else columns, f"system {i % 9}")
    newest = db.runs()[0].run_id
    db.add_scorings(newest, [scoring(examples.dataset(1, "one"), {"up": [0.7]}, code_hash="1" * 16)])


def test_python_and_sql_agree_with_a_loop_over_all_pairs(db: examples.Place) -> None:
    mixed_bag(db)
    expected = by_hand(db)
    view = as_rows(db.query("select * from leaderboard"), ("dataset_id", "measure", "run_id"))
    assert view.keys() == expected.keys()
    assert {key: (view[key], row) for key, row in expected.items() if view[key] != row} == {}
    ranges = [row[7:] for row in expected.values() if row[7] is not None]
    assert len(set(ranges)) > 10  # not one range for all
    assert any(best == worst for best, worst in ranges)
    python: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for dataset_id in {key[0] for key in expected}:
        board = leaderboard(dataset_id, db_name=db.address)
        for measure in board:
            frame = board[measure].frame.assign(dataset_id=dataset_id, measure=measure)
            python |= as_rows(frame, ("dataset_id", "measure", "run_id"))
            assert_sorted(board[measure].frame, board[measure].better)
    assert python == expected


def assert_sorted(frame: pd.DataFrame, better: str | None) -> None:
    means = frame["mean"].dropna().tolist()
    assert means == sorted(means, reverse=better != "lower")
    assert frame["mean"].isna().tolist() == sorted(frame["mean"].isna())  # unranked runs stand last
    if better is not None:
        assert frame["rank"].dropna().is_monotonic_increasing


def given(
    db: examples.Place, intervals: dict[str, tuple[float | None, float | None, float | None]], better: str = "higher"
) -> None:
    """Store runs of these means, lows and highs."""
    questions = examples.dataset(3)
    for name, (mean, low, high) in intervals.items():
        made = examples.scoring(questions, {"up": [0.0] * 3}, metric="Mixed", table="mixed")
        measure = Measure(float, "given", name="up", better=better)  # type: ignore[arg-type]
        made = replace(made, measures=(measure,), summaries=(Summary("up", mean, low, high, 3, 0, 0),))
        db.save_run(examples.run_of(questions, name), questions, examples.answers(questions), [made])


CASES = {
    "apart": ({"a": (0.9, 0.8, 1.0), "b": (0.5, 0.4, 0.6), "c": (0.1, 0.0, 0.2)}, {"a": (1, 1, 1), "b": (2, 2, 2), "c": (3, 3, 3)}),
    "chain": ({"a": (0.7, 0.5, 0.9), "b": (0.5, 0.3, 0.6), "c": (0.3, 0.1, 0.4)}, {"a": (1, 1, 2), "b": (2, 1, 3), "c": (3, 2, 3)}),
    "touching": ({"a": (0.7, 0.6, 0.8), "b": (0.5, 0.4, 0.6)}, {"a": (1, 1, 2), "b": (2, 1, 2)}),
    "equal": ({"a": (0.5, 0.5, 0.5), "b": (0.5, 0.5, 0.5), "c": (0.4, 0.4, 0.4)}, {"a": (1, 1, 2), "b": (1, 1, 2), "c": (3, 3, 3)}),
    "no interval": ({"a": (0.9, 0.8, 1.0), "b": (0.5, None, None), "c": (0.1, 0.0, 0.2)}, {"a": (1, 1, 2), "b": (2, None, None), "c": (3, 2, 3)}),
    "no mean": ({"a": (0.1, 0.0, 0.2), "b": (None, None, None)}, {"a": (1, 1, 1), "b": (None, None, None)}),
}  # fmt: skip


@pytest.mark.parametrize(("runs", "ranks"), CASES.values(), ids=CASES.keys())
def test_ranks_by_hand(db: examples.Place, runs: Any, ranks: Any) -> None:
    given(db, runs)
    assert {name: (r["rank"], r["best_rank"], r["worst_rank"]) for name, r in plain(db).items()} == ranks


def test_lower_is_better(db: examples.Place) -> None:
    given(db, {"a": (0.0, 0.0, 0.1), "b": (0.0, -0.1, 0.0), "c": (5.0, 4.0, 6.0)}, better="lower")
    ranks = {name: (r["rank"], r["best_rank"], r["worst_rank"]) for name, r in plain(db).items()}
    assert ranks == {"a": (1, 1, 2), "b": (1, 1, 2), "c": (3, 3, 3)}
    assert "mixed_up, lower is better" in repr(leaderboard(db_name=db.address))


def test_which_question_set(db: examples.Place) -> None:
    first = save(db, examples.dataset(2), {"up": [0, 1]}, "old content")
    save(db, examples.dataset(3), {"up": [0, 1, 1]}, "new content")
    save(db, examples.dataset(4, "chemistry"), {"up": [0, 1, 1, 0]}, "other set")
    assert leaderboard(db_name=db.address).dataset == "chemistry"
    assert "are named" not in repr(leaderboard(db_name=db.address))
    old = examples.dataset(2).fingerprint
    with pytest.warns(
        UserWarning, match=rf"2 question sets are named 'physics'.*by its dataset_id: {old} \(1 run\)"
    ) as caught:
        board = leaderboard("physics", db_name=db.address)
    assert caught[0].filename == __file__
    assert board.frame["name"].tolist() == ["new content"]
    assert leaderboard(old, db_name=db.address).frame["run_id"].tolist() == [first]
    with pytest.raises(
        RunNotFoundError, match=r"'phisics'. Did you mean 'physics'\? Stored are runs on: 'chemistry', 'physics'"
    ):
        leaderboard("phisics", db_name=db.address)
    save(db, examples.dataset(3), {"up": [0, 1, 1]}, "newest")
    assert "2 question sets are named 'physics'" in repr(
        leaderboard(db_name=db.address)
    )  # nothing was asked for by that name


def test_which_measure(db: examples.Place) -> None:
    questions = examples.dataset(2)
    save(db, questions, {"none": [1, 2], "up": [0.1, None], "down": [1, 2], "text": ["a", "b"]}, "a")
    save(db, questions, {"none": [1, 2], "up": [None, None], "down": [1, 2], "text": ["a", "b"]}, "b")
    board = leaderboard(db_name=db.address)
    assert (board.measure, board.better) == ("mixed_down", "lower")
    assert board.measures == ["mixed_none", "mixed_up", "mixed_down"]
    assert (list(board), len(board)) == (board.measures, 3)
    for name in ("mixed_pu", "mixed_text"):
        with pytest.raises(UnknownMetricError, match="There are: mixed_none, mixed_up, mixed_down"):
            board[name]
    assert "no direction" in repr(board["mixed_none"])
    assert board["mixed_none"].frame["rank"].isna().all()


def test_a_measure_without_any_value_is_not_offered(db: examples.Place) -> None:
    questions = examples.dataset(2)
    save(db, questions, {"up": [None, None], "none": [1, 2]}, "a")
    board = leaderboard(db_name=db.address)
    assert (board.measure, board.measures) == ("mixed_none", ["mixed_none"])
    with pytest.raises(
        UnknownMetricError, match="No run on 'physics' has a value of 'mixed_up': all questions failed or"
    ):
        board["mixed_up"]
    for name in ("Mixed", "Mixed(k=3)", "mixed"):
        with pytest.raises(UnknownMetricError, match=r"is no measure; runs are ranked by one of mixed_none\."):
            board[name]


def test_nothing_to_rank(db: examples.Place) -> None:
    run_id = save(db, examples.dataset(), None, "unscored")
    with pytest.raises(UnknownMetricError, match="No run on 'physics' has a measure with a mean; rescore"):
        leaderboard(db_name=db.address)
    db.delete_run(run_id)
    with pytest.raises(RunNotFoundError, match="No run is stored yet"):
        leaderboard(db_name=db.address)


def test_missing_is_last_and_never_zero(db: examples.Place) -> None:
    questions = examples.dataset(3)
    save(db, questions, None, "never scored")
    save(db, questions, {"up": [None] * 3}, "all missing")
    save(db, questions, {"up": [-0.5, -0.4, -0.6]}, "below zero")
    save(db, questions, {"up": [0.5, None, None]}, "one question")
    board = leaderboard(db_name=db.address)
    assert board.frame["name"].tolist() == ["one question", "below zero", "all missing", "never scored"]
    shown = [row[:8] for row in board.table()[1]]
    assert shown[0] == [1, None, "one question", 0.5, "–", 1, 0, 2]
    assert shown[1][:2] == [2, "1 to 2"]
    assert shown[2] == [None, None, "all missing", None, "–", 0, 0, 3]
    assert shown[3] == [None, None, "never scored", None, "–", None, None, None]


def test_runs_scored_in_another_way_are_marked(db: examples.Place) -> None:
    questions = examples.dataset(2)
    older = save(db, questions, {"up": [0.5, 1]}, "older code", code_hash="1" * 16)
    save(db, questions, {"up": [0.5, 1]}, "other parameters", parameters="k=3")
    save(db, questions, {"up": [0.5, 1]}, "new")
    board = leaderboard(db_name=db.address)
    assert dict(zip(board.frame["name"], board.frame["outdated"], strict=True)) == {
        "older code": True,
        "other parameters": True,
        "new": False,
    }
    assert "older code *" in repr(board)
    assert "rescore(run, metric)" in repr(board)
    # The newest scoring is what counts, not the newest run.
    db.add_scorings(older, [scoring(questions, {"up": [0.5, 1]}, code_hash="2" * 16)])
    outdated = leaderboard(db_name=db.address).frame.set_index("name")["outdated"]
    assert outdated.to_dict() == {"older code": False, "other parameters": True, "new": True}


def test_one_run_has_no_rivals(db: examples.Place) -> None:
    save(db, examples.dataset(2), {"yes": [True, False]}, "alone")
    row = leaderboard(db_name=db.address)._records()[0]
    assert (row["rank"], row["best_rank"], row["worst_rank"]) == (1, 1, 1)


@pytest.fixture
def board() -> Leaderboard:
    """60 runs with names that HTML and plots must not read as their own."""
    draw = random.Random(3)
    means = sorted((draw.random() for _ in range(60)), reverse=True)
    rows = [
        {
            **{
                "measure": "mixed_up",
                "run_id": f"{i}",
                "name": f"<b>system</b> {i} of $5$ " + "x" * i,
                "outdated": False,
            },
            **{"created_at": START + timedelta(days=i), "mean": mean, "low": mean - 0.1, "high": mean + 0.1},
            **{"n_scored": 3, "n_errors": 0, "n_missing": 0, "rank": i + 1, "best_rank": 1, "worst_rank": 60},
        }
        for i, mean in enumerate(means)
    ]
    draw.shuffle(rows)
    measures = pd.DataFrame([{"measure": "mixed_up", "type": "float", "better": "higher", "sentence": "given"}])
    return Leaderboard(Board("physics", "0" * 16, pd.DataFrame(rows), measures))


def test_how_a_board_is_shown(board: Leaderboard) -> None:
    assert repr(board).count("system") == 50
    assert "50 of 60 runs" in repr(board)
    assert board._repr_html_().count("&lt;b&gt;system") == 50
    assert board.to_html().count("&lt;b&gt;system") == 60
    assert "<b>" not in board.to_html()
    assert len(board.frame) == 60
    assert len(board.table()[1]) == 50


def test_plots(board: Leaderboard) -> None:
    figure = board.plot()
    axes = figure.axes[0]
    assert "50 of 60 runs" in figure.get_suptitle()
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in dots] == board.frame["mean"].tolist()[:50]  # type: ignore[index]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0].startswith("1.  <b>system</b>")
    assert labels[0].endswith("(n=3)")
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    history_figure = board.plot_history()
    history = history_figure.axes[0]
    assert "12 of 60 names" in history_figure.get_suptitle()
    styles = {(line.get_marker(), line.get_linestyle()) for line in history.get_lines()}
    assert len(styles) == 12
    assert len({line.get_marker() for line in history.get_lines()}) == 12  # told apart without colour


def test_plots_of_few_and_unscored_runs(db: examples.Place) -> None:
    questions = examples.dataset(3)
    save(db, questions, {"up": [0.5, None, None]}, "_one")
    for i in range(2):
        save(db, questions, {"up": [0.1, 0.2, 0.3 + i]}, "twice")
    save(db, questions, None, "unscored")
    board = leaderboard(db_name=db.address)
    labels = [label.get_text() for label in board.plot().axes[0].get_yticklabels()]
    assert labels == [
        "1.  twice  2026-01-03 12:00  (n=3)",
        "2.  _one  (n=1, 2 missing)",
        "3.  twice  2026-01-02 12:00  (n=3)",
        "unscored  (not scored)",
    ]
    history = board.plot_history()
    assert [text.get_text() for text in history.axes[0].get_legend().get_texts()] == ["twice", "_one"]  # type: ignore[union-attr]
    twice = history.axes[0].get_lines()[0]
    assert list(twice.get_ydata()) == pytest.approx([0.2, 1.6 / 3])  # type: ignore[arg-type]
    history.draw_without_rendering()


def test_an_older_database_gains_the_view(db: examples.Place) -> None:
    save(db, examples.dataset(2), {"up": [0, 1]}, "a")
    db.query("drop view leaderboard; update meta set value = '1' where key = 'schema_version'", write=True)
    assert db.query("select name, rank from leaderboard where measure = 'mixed_up'").values.tolist() == [["a", 1]]


def test_a_view_of_the_users_own_stays(db: examples.Place) -> None:
    save(db, examples.dataset(2), {"up": [0, 1]}, "a")
    own = "drop view leaderboard; create table leaderboard as select 1 as mine; update meta set value = '1'"
    db.query(own, write=True)
    assert db.query("select * from leaderboard").columns.tolist() == ["mine"]
    assert leaderboard(db_name=db.address).frame["rank"].tolist() == [1]


def test_a_metric_cannot_take_the_name_of_the_view() -> None:
    from chatbench.errors import MetricDefinitionError
    from chatbench.scoring.names import check_table_name

    with pytest.raises(MetricDefinitionError, match=re.escape("leaderboard")):
        check_table_name("leaderboard", "Leaderboard")


def test_without_several_contents_nothing_is_warned_of(db: examples.Place) -> None:
    save(db, examples.dataset(2), {"up": [0, 1]}, "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leaderboard("physics", db_name=db.address)
        leaderboard(db_name=db.address)
