"""The scores of chATLAS_Benchmark become runs: what belongs together, what is missing, what is doubtful, nothing twice."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chatbench import (
    compare_runs,
    delete_run,
    fetch_metrics_results,
    import_results,
    list_runs,
    load_dataset,
    load_run,
    sql,
)
from chatbench.core.run import Run
from chatbench.core.scores import Scoring
from chatbench.errors import DatabaseNotFoundError, InputError
from tests import chatlas_files as chatlas
from tests.chatlas_files import CORRECT, DOCUMENTS, LEXICAL, SEMANTIC, row

CASES = Path(__file__).resolve().parents[1] / "goldens" / "chatlas"
NAMES = {  # their column, our column: README, "Coming from chATLAS_Benchmark"
    "exact_match_score": "chatlas_lexical_exact_match",
    "f1_score": "chatlas_lexical_f1",
    "rouge_1_score": "chatlas_lexical_rouge_1",
    "rouge_2_score": "chatlas_lexical_rouge_2",
    "rouge_l_score": "chatlas_lexical_rouge_l",
    "semanticSimilarity_score": "chatlas_semantic_similarity_cosine",
    "answerCorrect_score": "chatlas_answer_correct_correct",
    "MeanDocumentMatch_score": "chatlas_document_match_hit",
    "WeightedDocumentMatch_score": "chatlas_document_match_weighted",
}


def brought_in(*rows: Any, file: str = "old.db", **options: Any) -> list[Run]:
    return import_results(chatlas.write(Path(file), rows), "new.duckdb", **options)


def scorings(run: Run) -> dict[str, Scoring]:
    return {s.table: s for s in load_run(run.run_id, "new.duckdb").scores.scorings}


def recorded_cases(file: str) -> list[Any]:
    return [pytest.param(c, id=c["id"]) for c in json.loads((CASES / file).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("case", recorded_cases("store_results.json"))
def test_recorded_files(case: dict[str, Any]) -> None:
    """Recorded from chATLAS_Benchmark 0.0.10: the columns and values of its tables after store_results."""
    expected = case["expected"].values()
    for table in expected:
        assert chatlas.columns_of(table["table"]) == table["columns"]
    runs = brought_in(*chatlas.recorded(case["input"]["runs"]))
    assert [run.name for run in runs] == [run["name"] for run in case["input"]["runs"]]
    fetched = fetch_metrics_results("new.duckdb").set_index("name")
    for table in expected:
        for stored in table["rows"]:
            run = next(run for run in runs if run.name == stored["model_name"])
            assert run.settings["imported_from"]["question_path"] == run.dataset == stored["question_path"]
            for column, value in stored.items():
                if column in NAMES:
                    assert fetched.loc[run.name, NAMES[column]] == value
                    listed = stored.get(chatlas.TABLES[table["table"]][column] or "")
                    scoring = next(s for s in scorings(run).values() if NAMES[column].startswith(s.table))
                    name = NAMES[column].removeprefix(f"{scoring.table}_")
                    assert scoring.values.get(name) == listed


@pytest.mark.parametrize("case", recorded_cases("fetch_metrics_results.json"))
def test_recorded_fetch(case: dict[str, Any]) -> None:
    """Recorded from chATLAS_Benchmark 0.0.10 (or the standard value where it errs): the values by model."""
    calls = case["input"]["runs"]
    if not calls:
        with pytest.warns(UserWarning, match="holds no scores"):
            assert brought_in() == []
        assert not Path("new.duckdb").exists()
        return
    assert len(brought_in(*chatlas.recorded(calls))) == len(calls)
    fetched = fetch_metrics_results("new.duckdb")
    expected = case["expected"]
    assert sorted(fetched["name"]) == expected["model_names_sorted"]
    lines = [{"model_name": name, **values} for name, values in expected.get("values_by_model", {}).items()]
    known = {theirs: ours for theirs, ours in NAMES.items() if ours in fetched}
    assert set(known) == set(NAMES).intersection(expected["columns"])
    theirs = [(line["model_name"], *map(line.get, known)) for line in lines or expected["rows_by_run"]]
    columns = ["name", *known.values()]
    mine = [
        tuple(None if pd.isna(v) else v for v in line) for line in fetched[columns].itertuples(index=False, name=None)
    ]
    assert sorted(mine, key=repr) == sorted(theirs, key=repr)


def test_a_call_is_one_run_with_name_time_and_source() -> None:
    (run,) = brought_in(
        row(LEXICAL), row(SEMANTIC, seconds=0.003), row(DOCUMENTS, seconds=0.006), row(CORRECT, seconds=2.5)
    )
    assert (run.name, run.created_at) == ("alpha", datetime(2025, 3, 1, 12, 0, 0, 250000, tzinfo=UTC))
    source = run.settings["imported_from"]
    assert source["format"] == "chATLAS_Benchmark"
    assert source["file"] == "old.db"
    assert source["seconds_apart"] == 2.5
    assert [(r["table"], r["id"]) for r in source["rows"]] == [
        (LEXICAL, 1),
        (SEMANTIC, 1),
        (DOCUMENTS, 1),
        (CORRECT, 1),
    ]
    stored = load_run(run.run_id, "new.duckdb")
    assert stored.run == run
    assert [r.answer for r in stored.responses] == [None, None]
    assert stored.responses[0].error == "chATLAS_Benchmark stored no answers"
    assert stored.dataset.questions == ["question 1 of 2 in set.json", "question 2 of 2 in set.json"]
    assert len(scorings(run)) == 4


def test_rows_per_question_can_be_asked_for_in_sql() -> None:
    brought_in(row(LEXICAL, values=[0.25, 1.0, 0.0]), row(DOCUMENTS, seconds=0.01))
    found = sql("SELECT case_id, f1 FROM chatlas_lexical ORDER BY case_id", db_name="new.duckdb")
    assert found["f1"].tolist() == [0.25, 1.0, 0.0]
    with pytest.raises(Exception, match="lexical_metrics"):  # nothing was put among our own scores
        sql("SELECT * FROM lexical_metrics", db_name="new.duckdb")


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        # (table, seconds, number of questions): the calls as sets of places in this list
        ([(LEXICAL, 0, 2), (DOCUMENTS, 0.01, 2), (LEXICAL, 60, 2), (DOCUMENTS, 60.01, 2)], [{0, 1}, {2, 3}]),
        ([(LEXICAL, 0, 2), (DOCUMENTS, 0.01, 2), (LEXICAL, 3, 2), (DOCUMENTS, 3.01, 2)], [{0, 1}, {2, 3}]),
        ([(LEXICAL, 0, 2), (DOCUMENTS, 1.9, 2)], [{0, 1}]),
        ([(LEXICAL, 0, 2), (LEXICAL, 0.01, 2)], [{0}, {1}]),
        ([(LEXICAL, 0, 2), (LEXICAL, 0, 2)], [{0}, {1}]),
        ([(LEXICAL, 0, 2), (SEMANTIC, 0.01, 3)], [{0}, {1}]),
        ([(LEXICAL, 0, 2), (DOCUMENTS, 600, 2)], [{0}, {1}]),
        ([(DOCUMENTS, 0, 2), (LEXICAL, 0, 2), (LEXICAL, 1, 2), (DOCUMENTS, 1, 2)], [{0, 1}, {2, 3}]),
    ],
)
def test_which_rows_belong_together(moments: list[Any], expected: list[set[int]]) -> None:
    given = [row(table, values=[0.5] * n, seconds=s) for table, s, n in moments]
    runs = brought_in(*given)
    ids = _ids_by_place(moments)
    found = [{ids.index((r["table"], r["id"])) for r in run.settings["imported_from"]["rows"]} for run in runs]
    assert sorted(found, key=min) == expected


def _ids_by_place(moments: list[Any]) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    ids = []
    for table, *_ in moments:
        seen[table] = seen.get(table, 0) + 1
        ids.append((table, seen[table]))
    return ids


def test_interleaved_calls_of_one_name_are_not_guessed() -> None:
    given = [row(LEXICAL), row(LEXICAL, seconds=0.005), row(DOCUMENTS, seconds=0.01), row(DOCUMENTS, seconds=0.015)]
    with pytest.warns(UserWarning, match="cannot be told which rows belong together") as caught:
        runs = brought_in(*given)
    assert len(caught) == 4
    assert len(runs) == 4
    assert all(any("belong together" in note for note in run.settings["notes"]) for run in runs)


def test_names_and_question_paths_part_runs() -> None:
    runs = brought_in(row(LEXICAL), row(SEMANTIC, "Alpha"), row(CORRECT, path="other.json"))
    assert sorted((run.name, run.dataset) for run in runs) == [
        ("Alpha", "set.json"),
        ("alpha", "other.json"),
        ("alpha", "set.json"),
    ]


def test_runs_of_one_path_and_number_have_the_same_questions() -> None:
    runs = brought_in(
        row(LEXICAL, "a"), row(SEMANTIC, "b"), row(LEXICAL, "c", [1, 0, 1]), row(LEXICAL, "d", path="other.json")
    )
    by_name = {run.name: run.dataset_id for run in runs}
    assert by_name["a"] == by_name["b"]
    assert len(set(by_name.values())) == 3


def test_runs_of_one_path_and_number_are_compared_question_by_question() -> None:
    """By hand: the means are 3/4 and 3/8, the differences 1, 0, 0, 1/2."""
    brought_in(
        row(LEXICAL, "a", [0, 0, 1, 0.5]),
        row(LEXICAL, "b", [1, 0, 1, 1]),
        row(LEXICAL, "longer", [1, 0, 1, 1, 1]),
        row(LEXICAL, "other", [1, 0, 1, 1], path="other.json"),
    )
    with pytest.warns(UserWarning, match="Only 4"):
        compared = compare_runs("a", "b", measures="chatlas_lexical_f1", db_name="new.duckdb")
    assert compared.frame["difference"].tolist() == [0.375]
    for name in ("longer", "other"):  # a place in another list is another question
        with pytest.raises(InputError, match="these are other questions"):
            compare_runs("a", name, db_name="new.duckdb")


def test_means_of_different_sets_do_not_meet_on_one_board() -> None:
    a, b, c = brought_in(row(DOCUMENTS, "a"), row(DOCUMENTS, "b", path="other.json"), row(DOCUMENTS, "c"))
    assert a.dataset_id == c.dataset_id != b.dataset_id


def test_lists_without_a_name_are_not_taken_for_the_same() -> None:
    a, b = brought_in(row(LEXICAL, "a", path="Unknown dict"), row(LEXICAL, "b", path="Unknown dict", seconds=1))
    assert a.dataset_id != b.dataset_id
    assert "cannot be told" in a.settings["notes"][0]
    assert a.dataset == "Unknown dict"


def questions_file(path: Path, n: int = 2) -> Path:
    records = [{"question": f"What is {i}?", "answer": str(i), "document": f"{i}.txt"} for i in range(n)]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_a_question_file_that_is_still_there_is_used_when_the_numbers_agree() -> None:
    path = questions_file(Path("set.json"))
    runs = brought_in(row(LEXICAL, "a"), row(LEXICAL, "b", [1, 1, 1]))
    assert load_run("a", "new.duckdb").dataset.questions == ["What is 0?", "What is 1?"]
    assert runs[0].dataset_id == load_dataset(path).fingerprint
    b = load_run("b", "new.duckdb")
    assert b.dataset.questions[0] == "question 1 of 3 in set.json"
    assert any("has 2 by now, not 3" in note for note in b.run.settings["notes"])


def test_a_question_file_beside_the_database_is_found(tmp_path: Path) -> None:
    questions_file(tmp_path / "set.json")
    brought_in(row(LEXICAL), file=str(tmp_path / "old.db"))
    assert load_run("alpha", "new.duckdb").dataset.questions[0] == "What is 0?"


def test_an_unusable_question_file_costs_nothing() -> None:
    Path("set.json").write_text("{", encoding="utf-8")
    with pytest.warns(UserWarning, match="cannot be used"):
        (run,) = brought_in(row(LEXICAL))
    assert run.n_questions == 2


def test_questions_can_be_given() -> None:
    path = questions_file(Path("moved.json"))
    brought_in(row(LEXICAL), questions=path)
    assert load_run("alpha", "new.duckdb").dataset.questions[0] == "What is 0?"
    assert list_runs("new.duckdb")[0].dataset == "set.json"


def test_questions_that_could_be_those_of_several_sets_are_refused() -> None:
    path = questions_file(Path("moved.json"))
    rows = row(LEXICAL, "a"), row(LEXICAL, "b", path="other.json")
    with pytest.raises(InputError, match=r"'other.json', 'set.json'.*questions=\{question_path: file\}"):
        brought_in(*rows, questions=path)
    with pytest.raises(InputError, match="question_path 'sets.json'; there are 'other.json', 'set.json'"):
        brought_in(questions={"sets.json": path})
    five = questions_file(Path("five.json"), 5)
    with pytest.raises(InputError, match="There are 5 questions given, and no rows are of so many"):
        brought_in(questions=five)
    with pytest.raises(InputError, match="given for 'set.json' are 5, but its rows are of 2"):
        brought_in(questions={"set.json": five})
    assert not Path("new.duckdb").exists()
    brought_in(questions={"other.json": path})
    assert load_run("b", "new.duckdb").dataset.questions[0] == "What is 0?"
    assert load_run("a", "new.duckdb").dataset.questions[0] == "question 1 of 2 in set.json"


def test_means_without_lists_are_measures_of_the_run() -> None:
    (run,) = brought_in(row(DOCUMENTS, values=[0.25]))
    scoring = scorings(run)["chatlas_document_match"]
    assert run.n_questions == 1
    assert any("does not tell how many questions" in note for note in run.settings["notes"])
    assert all(m.of_run for m in scoring.measures)
    assert scoring.run_values == {"hit": 0.25, "weighted": 0.25}
    assert "0.25" in repr(load_run(run, "new.duckdb").scores)


def test_null_is_missing_with_a_reason_and_never_zero() -> None:
    (run,) = brought_in(
        row(LEXICAL, values=[0.5, None], rouge_2_score=None, rouge_2_by_question=None),
        row(SEMANTIC, seconds=0.001, semanticSimilarity_score=None, semanticSimilarity_score_by_question=None),
        row(DOCUMENTS, seconds=0.002, MeanDocumentMatch_score=None),
        row(CORRECT, seconds=0.003, answerCorrect_score=None, answerCorrect_score_by_question="null"),
    )
    found = scorings(run)
    lexical = found["chatlas_lexical"]
    assert lexical.values["f1"] == [0.5, None]
    assert lexical.missing[1] is not None
    assert lexical.missing[1]["f1"] == "null in the list of the file"
    assert lexical.values["rouge_2"] == [None, None]
    assert lexical.missing[0] == {"rouge_2": "rouge_2_score is NULL in the file of chATLAS_Benchmark"}
    summaries = {s.measure: s for s in lexical.summaries}
    assert (summaries["f1"].mean, summaries["f1"].n_scored, summaries["f1"].n_missing) == (0.5, 1, 1)
    assert (summaries["rouge_2"].mean, summaries["rouge_2"].n_missing) == (None, 2)
    assert found["chatlas_semantic_similarity"].summaries[0].mean is None
    assert found["chatlas_answer_correct"].summaries[0].mean is None
    assert found["chatlas_document_match"].run_values == {"weighted": 0.75}
    assert any("MeanDocumentMatch_score is NULL" in note for note in run.settings["notes"])
    assert any("answerCorrect_score is NULL" in note for note in run.settings["notes"])


def test_a_mean_that_is_not_that_of_its_list() -> None:
    with pytest.warns(
        UserWarning, match=r"lexical_metrics_scores row 1: the mean of f1 is 0.9, but that of its list 0.75"
    ):
        (run,) = brought_in(row(LEXICAL, f1_score=0.9))
    assert scorings(run)["chatlas_lexical"].summaries[1].mean == 0.75


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('"{\\"0\\":[0.5,', "cannot be read"),
        ("nonsense", "cannot be read"),
        ('"{\\"0\\":[0.5,\\"x\\"]}"', "'x'"),
        ('"{\\"0\\":[0.5,7.5]}"', "outside its declared range 0 to 1"),
        ('{"0":[1],"1":[2]}', "a list is due"),
        ('"0.5"', "a list is due"),
        (b"\xff\xfe", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_corrupt_list_costs_its_own_row_only(broken: Any, said: str) -> None:
    with pytest.warns(UserWarning, match=r"row 1: f1_score_by_question cannot be read") as caught:
        run, other = brought_in(row(LEXICAL, f1_score_by_question=broken), row(LEXICAL, "beta", seconds=60))
    assert said in str(caught[0].message)
    scoring = scorings(run)["chatlas_lexical"]
    assert scoring.run_values == {"f1": 0.75}
    assert scoring.values["rouge_l"] == [0.5, 1.0]
    assert scorings(other)["chatlas_lexical"].values["f1"] == [0.5, 1.0]


def test_lists_of_different_lengths_leave_the_means() -> None:
    with pytest.warns(UserWarning, match="different lengths"):
        (run,) = brought_in(row(LEXICAL, f1_score_by_question=chatlas.encoded([1, 1, 1])))
    assert run.n_questions == 1
    assert scorings(run)["chatlas_lexical"].run_values["f1"] == 0.75


@pytest.mark.parametrize("raw", ["[0.5, 1.0]", '{"0":[0.5,1.0]}', '"[0.5,1.0]"'])
def test_lists_that_are_encoded_otherwise(raw: str) -> None:
    (run,) = brought_in(row(LEXICAL, f1_score_by_question=raw))
    assert scorings(run)["chatlas_lexical"].values["f1"] == [0.5, 1.0]


@pytest.mark.parametrize(
    "moment",
    [
        "2025-03-01 12:00:00",
        "2025-03-01T12:00:00Z",
        "2025-03-01T14:00:00+02:00",
        1740830400,
        "1740830400000",
        1740830400.0,
    ],
)
def test_other_forms_of_time(moment: Any) -> None:
    (run,) = brought_in(row(LEXICAL, date_time=moment))
    assert run.created_at == datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("moment", [None, "yesterday", 1e300])
def test_a_time_that_is_none(moment: Any) -> None:
    with pytest.warns(UserWarning, match="which is no time"):
        runs = brought_in(row(LEXICAL, date_time=moment), row(DOCUMENTS, date_time=moment))
    assert len(runs) == 2
    assert any("last change of the file" in note for note in runs[0].settings["notes"])
    assert abs(runs[0].created_at - datetime.now(UTC)) < timedelta(hours=1)


def test_a_run_without_a_name_gets_the_one_of_the_original() -> None:
    runs = brought_in(row(LEXICAL, None), row(LEXICAL, "  ", seconds=60))
    assert [run.name for run in runs] == ["Unknown_RAG", "Unknown_RAG"]


def test_nothing_is_imported_twice(tmp_path: Path) -> None:
    given = [row(LEXICAL), row(DOCUMENTS, seconds=0.01)]
    questions = {"set.json": questions_file(Path("moved.json"))}
    (first,) = brought_in(*given, questions=questions)
    with pytest.warns(UserWarning, match=f"2 of 2 rows of old.db were imported before.*{first.run_id}"):
        assert brought_in(questions=questions) == []
    moved = Path("old.db").rename(tmp_path / "moved.db")
    chatlas.write(moved, [row(LEXICAL, "beta", seconds=99)])
    with pytest.warns(UserWarning, match="2 of 3 rows"):
        (second,) = import_results(moved, "new.duckdb", questions=questions)
    assert second.name == "beta"
    assert len(list_runs("new.duckdb")) == 2
    delete_run(first, "new.duckdb")
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        assert [run.run_id for run in import_results(moved, "new.duckdb")] == [first.run_id]


def test_equal_rows_of_one_file_are_two_runs() -> None:
    assert len(brought_in(row(LEXICAL), row(LEXICAL))) == 2


def test_unicode_and_hostile_names() -> None:
    names = ["модель 模型 🎯", "a'; DROP TABLE runs; --", "../up", "x\u2028y", "long" * 999]
    runs = brought_in(*[row(LEXICAL, name, seconds=60 * i, path=f"{name}.json") for i, name in enumerate(names)])
    assert [run.name for run in runs] == names
    assert {run.name for run in list_runs("new.duckdb")} == set(names)


def test_extra_and_lacking_columns() -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect("own.db")) as connection, connection:
        connection.execute(f"CREATE TABLE {SEMANTIC} (model_name, extra, semanticSimilarity_score)")
        connection.execute(f"INSERT INTO {SEMANTIC} VALUES ('alpha', 'note', 0.5)")
        connection.execute("CREATE TABLE other (x)")
    with pytest.warns(UserWarning, match="its date_time is NoneType None"):
        (run,) = import_results("own.db", "new.duckdb")
    assert scorings(run)["chatlas_semantic_similarity"].run_values == {"cosine": 0.5}


def test_scores_of_all_imported_runs_are_comparable_by_fetch() -> None:
    brought_in(*[row(LEXICAL, f"run {i}", seconds=60 * i) for i in range(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning of other code or parameters
        assert len(fetch_metrics_results("new.duckdb")) == 3


def test_a_missing_file_makes_nothing() -> None:
    with pytest.raises(DatabaseNotFoundError, match="There is no file gone.db"):
        import_results("gone.db", "new.duckdb")
    assert list(Path().iterdir()) == []


def test_into_a_server_as_into_a_file(server_address: str) -> None:
    """Scores of the original package land in PostgreSQL as they do in DuckDB, and once only."""
    old = chatlas.write(Path("old.db"), [row(LEXICAL, values=(0.25, 1.0)), row(DOCUMENTS)])
    (run,) = import_results(old, connection_string=server_address)
    (twin,) = import_results(old, "new.duckdb")
    assert run.run_id == twin.run_id
    left, right = (load_run(run.run_id, place).summary for place in (server_address, "new.duckdb"))
    pd.testing.assert_frame_equal(left, right)
    with pytest.warns(UserWarning, match="were imported before"):
        assert import_results(old, connection_string=server_address) == []
