"""The notebook face from end to end, on a real DuckDB file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chatbench import (
    BenchmarkTest,
    Document,
    DocumentMatch,
    LexicalMetrics,
    Measure,
    Metric,
    Response,
    Retrieval,
    Scores,
    delete_model_from_database,
    delete_run,
    fetch_metrics_results,
    list_runs,
    load_run,
    rescore,
    sql,
)
from chatbench.core.response import Sample
from chatbench.errors import (
    DatabaseNotFoundError,
    InputError,
    LengthError,
    QueryError,
    RunNotFoundError,
    UnknownMetricError,
)

ROOT = Path(__file__).resolve().parents[1]

RECORDS = [
    {"id": "a", "question": "Who found it?", "answer": ["Marie Curie", "Curie"], "document": "curie.txt"},
    {"id": "b", "question": "When?", "answer": "in 1898", "document": ["dates.md", "curie.txt"]},
    {"id": "c", "question": "Why?", "answer": "", "document": "", "is_answerable": False},
    {"id": "d", "question": "Where?", "answer": "Paris", "document": "places.txt"},
]


@pytest.fixture
def test_set() -> BenchmarkTest:
    test = BenchmarkTest(RECORDS)
    named = Document(page_content="text", metadata={"name": "curie.txt"})
    test.set_generated_data(
        ["Marie Curie", "1898", "unknown", None],
        [[named, "x.txt"], ["y", "dates"], [], [Document(page_content="nameless")]],
    )
    return test


def score_all(test: BenchmarkTest) -> Scores:
    return test.score_test_set("LexicalMetrics", DocumentMatch(), Retrieval, "Retrieval(k=1)", progress=False)


def test_the_attributes_of_the_original(test_set: BenchmarkTest) -> None:
    assert test_set.questions == ["Who found it?", "When?", "Why?", "Where?"]
    assert test_set.test_answers == ["Marie Curie", "in 1898", "", "Paris"]
    assert test_set.test_documents == [["curie.txt"], ["dates.md", "curie.txt"], [], ["places.txt"]]
    assert (test_set.num_q, test_set.question_set_path) == (4, "Unknown dict")
    assert test_set.answers[3] is None
    assert test_set.documents[0][0].metadata["name"] == "curie.txt"
    assert {"LexicalMetrics", "DocumentMatch", "Retrieval", "SemanticSimilarity"} <= set(test_set.implemented_tests)
    assert repr(test_set) == "BenchmarkTest('Unknown dict': 4 questions, 4 responses)"


def test_a_row_per_question_and_means_in_the_summary(test_set: BenchmarkTest) -> None:
    scores = score_all(test_set)
    assert list(scores) == ["LexicalMetrics", "DocumentMatch", "Retrieval", "Retrieval(k=1)"]
    frame = scores["LexicalMetrics"]
    assert list(frame.case_id) == ["a", "b", "c", "d"]
    assert frame.f1.tolist() == [1.0, pytest.approx(2 / 3), pd.NA, pd.NA]
    assert frame.missing[2]["f1"] == "the question is unanswerable"
    assert frame.missing[3]["f1"] == "the system gave no answer (None)"
    summary = scores.summary.loc["lexical_metrics_f1"]
    assert summary["mean"] == pytest.approx(5 / 6)
    assert (summary.n_scored, summary.n_errors, summary.n_missing) == (2, 0, 2)
    assert scores.summary.loc["document_match_hit", "mean"] == pytest.approx(2 / 3)
    assert scores["Retrieval(k=1)"].precision.tolist()[:2] == [1.0, 0.0]


def test_what_a_notebook_shows(test_set: BenchmarkTest) -> None:
    scores = score_all(test_set)
    assert (scores.documents_per_question, scores.nameless_documents) == (1.25, 1)
    text, html = repr(scores), scores._repr_html_()
    for word in (
        "LexicalMetrics",
        "rouge_l",
        "n scored",
        "errors",
        "missing",
        "1.25 documents retrieved per question, 1 without a name",
    ):
        assert word in text
        assert word in html
    assert scores.plot()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_html_is_escaped() -> None:
    test = BenchmarkTest([{"question": "q", "answer": "a", "document": "d"}], keys=None)
    test.set_generated_data(["a"], [[]])

    def broken(sample: Sample) -> float:
        raise ValueError("<script>alert(1)</script>")

    html = test.score_test_set(broken, progress=False)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_failures_name_every_cell_without_a_score(test_set: BenchmarkTest) -> None:
    failures = test_set.score_test_set("DocumentMatch", progress=False).failures
    assert set(failures.case_id) == {"c"}
    assert set(failures.measure) == {"hit", "weighted"}
    assert set(failures.kind) == {"missing"}


def test_store_fetch_load_give_the_same_numbers(test_set: BenchmarkTest) -> None:
    scores = score_all(test_set)
    run = test_set.store_results(
        scores, "my.duckdb", "first", settings={"k": 5, "api_key": 123456, "url": "http://u:pw@h/"}
    )
    again = test_set.store_results(scores, name="first")
    fetched = fetch_metrics_results()
    assert list(fetched.run_id) == [again.run_id, run.run_id]
    assert list(fetched.columns[:5]) == ["run_id", "name", "dataset", "created_at", "n_questions"]
    means = scores.summary
    for name in ("lexical_metrics_f1", "document_match_hit", "retrieval_ndcg"):
        assert fetched[name][0] == means[means.metric != "Retrieval(k=1)"].loc[name, "mean"]
    loaded = load_run(run.run_id)
    assert loaded.scores.scorings == scores.scorings
    assert loaded.dataset == test_set.dataset
    assert list(loaded.responses) == test_set.responses
    assert loaded.answers == test_set.answers
    pd.testing.assert_frame_equal(loaded.scores.summary, scores.summary)
    assert loaded.run.settings == {"k": 5, "api_key": "***", "url": "http://***@h/"}
    in_sql = sql(
        "select mean, n_scored, n_errors, n_missing from summaries join scorings using (scoring_id) "
        "where run_id = ? and table_name = 'lexical_metrics' and measure = 'f1'",
        [run.run_id],
    )
    assert (
        in_sql.iloc[0].tolist()
        == means.loc["lexical_metrics_f1", ["mean", "n_scored", "n_errors", "n_missing"]].tolist()
    )


def test_a_simple_join_is_right_however_often_a_run_was_scored(test_set: BenchmarkTest) -> None:
    test_set.store_results(score_all(test_set), "my.duckdb", "first")
    rescore("first", ["Retrieval(k=3)", "Retrieval"], progress=False)
    rows = sql("select name, count(*) as n, avg(ndcg) as ndcg from retrieval join runs using (run_id) group by name")
    assert (rows.n[0], rows.ndcg[0]) == (
        4,
        pytest.approx(load_run("first").scores.summary.query("metric == 'Retrieval'").loc["retrieval_ndcg", "mean"]),
    )
    assert sql("select count(*) as n from scorings where metric = 'Retrieval'").n[0] == 4


def test_own_metrics_own_a_table(test_set: BenchmarkTest) -> None:
    class AnswerLength(Metric):
        """Words in the answer."""

        words = Measure(int, "number of words", at_least=0)

        def score_sample(self, sample: Sample) -> dict[str, int]:
            return {"words": len(sample.answer.split())}

    def my_test(data: dict[str, Any]) -> pd.DataFrame:
        return pd.DataFrame([{"mean_score": 0.5, "by_question": [0.25, 0.5, 0.75]}])

    test_set.implemented_tests["MyNewTest"] = my_test
    scores = test_set.score_test_set("AnswerLength", "MyNewTest", progress=False)
    test_set.store_results(scores, "my.duckdb", "own")
    assert sql("select words from answer_length order by case_id").words.tolist() == [2, 1, 1, pd.NA]
    assert sql("select by_question from my_new_test order by case_id").by_question.tolist() == [0.25, 0.5, 0.75, pd.NA]
    fetched = fetch_metrics_results().iloc[0]
    assert (fetched.answer_length_words, fetched.my_new_test_mean_score, fetched.my_new_test_by_question) == (
        pytest.approx(4 / 3),
        0.5,
        0.5,
    )
    assert load_run("own").scores.scorings == scores.scorings


def test_names_are_checked_before_anything_runs(test_set: BenchmarkTest) -> None:
    ran = []

    def seen(sample: Sample) -> float:
        ran.append(sample)
        return 1.0

    with pytest.raises(UnknownMetricError) as caught:
        test_set.score_test_set(seen, "LexicalMetric", "DocumentMatsch", progress=False)
    assert "Did you mean 'LexicalMetrics'" in str(caught.value)
    assert "Did you mean 'DocumentMatch'" in str(caught.value)
    assert ran == []
    with pytest.raises(InputError, match="Name at least one metric"):
        test_set.score_test_set()
    with pytest.raises(InputError, match="3 is no metric"):
        test_set.score_test_set(3)  # type: ignore[arg-type]


def test_a_metric_given_twice_is_scored_once(test_set: BenchmarkTest) -> None:
    assert list(test_set.score_test_set("LexicalMetrics", LexicalMetrics(), LexicalMetrics, progress=False)) == [
        "LexicalMetrics"
    ]


def test_bad_answers_are_refused_and_good_ones_kept(test_set: BenchmarkTest) -> None:
    with pytest.raises(LengthError, match="4 questions, 2 answers and 2 document lists"):
        test_set.set_generated_data(["a", "b"], [[], []])
    with pytest.raises(ValueError, match="4 questions, 4 answers and 3 document lists"):
        test_set.set_generated_data(["a"] * 4, [[]] * 3)
    assert test_set.answers[0] == "Marie Curie"
    with pytest.raises(InputError, match="set_generated_data"):
        BenchmarkTest(RECORDS).score_test_set("LexicalMetrics")


def test_a_set_without_questions_loads_and_is_refused_when_scored() -> None:
    empty = BenchmarkTest([])
    empty.set_generated_data([], [])
    with pytest.raises(InputError, match="has no questions"):
        empty.score_test_set("LexicalMetrics")


def test_responses_with_all_that_a_system_may_say() -> None:
    test = BenchmarkTest(RECORDS, num_q=2)
    test.set_generated_data(
        [Response("x", contexts=("c",), seconds=0.5, tokens={"prompt": 3}, outputs={"o": [1]}), "y"]
    )
    test.store_results(test.score_test_set("LexicalMetrics", progress=False), "my.duckdb", "r")
    assert list(load_run("r").responses) == test.responses


def test_hostile_names_are_data(test_set: BenchmarkTest) -> None:
    """F40."""
    name = "x'); DROP TABLE runs; -- \N{GREEK SMALL LETTER PHI} %s :p \n ?"
    scores = test_set.score_test_set("DocumentMatch", progress=False)
    run = test_set.store_results(scores, "my.duckdb", name)
    assert load_run(name).run == run
    assert delete_model_from_database(name)["document_match"] == 1
    assert list_runs() == []


def test_names_of_runs(test_set: BenchmarkTest) -> None:
    scores = test_set.score_test_set("DocumentMatch", progress=False)
    first = test_set.store_results(scores, "my.duckdb", "twice")
    second = test_set.store_results(scores, "my.duckdb", "twice")
    with pytest.warns(UserWarning, match="2 runs are named 'twice'; the newest is taken"):
        assert load_run("twice").run == second
    with pytest.raises(RunNotFoundError, match="twise"):
        load_run("twise")
    assert delete_run(second)["runs"] == 1
    assert load_run("twice").run == first
    for bad in ("", "  ", None, 3):
        with pytest.raises(InputError, match="needs a name"):
            test_set.store_results(scores, name=bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="what score_test_set returned"):
        test_set.store_results({"a": 1})  # type: ignore[arg-type]


def test_reading_creates_nothing_and_names_what_is_near(
    test_set: BenchmarkTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path.cwd()
    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "near.duckdb", "x")
    with pytest.raises(DatabaseNotFoundError, match=r"near\.duckdb"):
        fetch_metrics_results("other.duckdb")
    assert not (folder / "other.duckdb").exists()
    monkeypatch.setenv("CHATBENCH_DB", str(folder / "from_environment.duckdb"))
    assert len(fetch_metrics_results()) == 1  # the one used last comes first


def test_sql_only_reads(test_set: BenchmarkTest) -> None:
    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "my.duckdb", "x")
    with pytest.raises(QueryError, match="write=True"):
        sql("delete from runs")
    assert len(list_runs()) == 1
    sql("create table mine as select 1 as one", write=True)
    assert sql("select one from mine").one[0] == 1
    with pytest.raises(QueryError, match="document_match"):
        sql("select * from documentmatch")


def test_offline_and_quiet(tmp_path: Path) -> None:
    """F33 and F34: no host name is looked up, no socket opened, nothing printed, with an empty home."""
    code = f"""
import socket
def refuse(*args, **kwargs):
    raise AssertionError(f"network: {{args}}")
socket.getaddrinfo = socket.socket.connect = socket.create_connection = refuse
from chatbench import BenchmarkTest, fetch_metrics_results, sql
test = BenchmarkTest({json.dumps(RECORDS).replace("false", "False")})
test.set_generated_data(["a", "b", "c", "d"], [["x"]] * 4)
scores = test.score_test_set("LexicalMetrics", "DocumentMatch", "Retrieval")
test.store_results(scores, "quiet.duckdb", "x")
assert len(fetch_metrics_results()) == 1 and len(sql("select * from runs")) == 1
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {p.name for p in tmp_path.iterdir()} <= {"quiet.duckdb", "quiet.duckdb.lock"}


def test_f45_no_secret_reaches_the_database(tmp_path: Path) -> None:
    secrets = ["sk-TEST-0123456789", "user:pw", "abc.def-ghi"]
    leak = f"401 from http://user:pw@127.0.0.1:9/v1 with Authorization: Bearer abc.def-ghi and api_key={secrets[0]}"
    test = BenchmarkTest(RECORDS, num_q=2)
    test.set_generated_data([Response(None, error=leak), Response("fine", outputs={"api_key": secrets[0]})])

    def failing(sample: Sample) -> float:
        raise RuntimeError(leak)

    scores = test.score_test_set(failing, "LexicalMetrics", progress=False)
    test.store_results(
        scores,
        tmp_path / "safe.duckdb",
        "x",
        settings={"headers": {"Authorization": "Bearer abc.def-ghi"}, "note": leak},
    )
    written = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert written
    for text in (written.decode("latin-1"), repr(scores), scores._repr_html_(), str(scores.failures.to_dict())):
        assert [s for s in secrets if s in text] == []


def test_f37_scores_are_bit_identical_in_other_processes() -> None:
    """Another hash seed orders sets and dicts otherwise; the scores, reasons, signatures and hashes must not notice."""
    code = f"""
import json
import os
from chatbench import BenchmarkTest, load_responses
test = BenchmarkTest({str(ROOT / "data/physics/questions.json")!r}, num_q=60)
test.set_generated_data(load_responses({str(ROOT / "data/physics/responses/hybrid.json")!r}, test.dataset))
scores = test.score_test_set("LexicalMetrics", "LexicalMetrics(stemmer=True)", "DocumentMatch", "Retrieval", progress=False)
for s in scores.scorings:
    print(s.signature, s.code_hash, {{k: [v and float(v).hex() for v in c] for k, c in s.values.items()}}, s.missing, s.summaries)
print(test.dataset.fingerprint)
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "LexicalMetrics" in outputs.pop()


def test_a_metric_defined_again_counts_in_an_older_benchmark(test_set: BenchmarkTest) -> None:
    def define(n: int) -> None:
        class Fixed(Metric):
            """Fixed."""

            by: int = n

            def score_sample(self, sample: Sample) -> int:
                return self.by

    for n in (1, 2):
        define(n)
        assert test_set.score_test_set("Fixed", progress=False)["Fixed"].value.tolist() == [n] * 4
    assert "Fixed" in test_set.implemented_tests


def test_two_functions_of_one_name_are_refused(test_set: BenchmarkTest) -> None:
    def make(n: int) -> Any:
        def same(sample: Sample) -> int:
            return n

        return same

    with pytest.raises(InputError, match="Two functions are named 'same'"):
        test_set.score_test_set(make(1), make(2), progress=False)


def test_functions_can_rescore_stored_runs(test_set: BenchmarkTest) -> None:
    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "my.duckdb", "x")

    def length(data: dict[str, Any]) -> pd.DataFrame:
        return pd.DataFrame({"n": [len(a) for a in data["answers"]]})

    assert rescore("x", {"AnswerSize": length}, progress=False)["AnswerSize"].n.tolist() == [11, 4, 7, pd.NA]
    assert list(load_run("x").scores) == ["DocumentMatch", "AnswerSize"]


@pytest.mark.parametrize("which", [None, 5, "", float("nan"), [], pd.NA])
def test_a_run_must_be_named(test_set: BenchmarkTest, which: Any) -> None:
    """A variable that was never set must not delete the newest run."""
    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "my.duckdb", "x")
    for call in (delete_run, load_run):
        with pytest.raises(InputError, match="id or a name"):
            call(which)
    with pytest.raises(InputError, match="id or a name"):
        rescore(which, "DocumentMatch")
    assert len(list_runs()) == 1


def test_a_function_that_failed_at_first_stores_whatever_it_gives_later(test_set: BenchmarkTest) -> None:
    """A run of errors only, or of None only, fixes no type; numbers and yes/no share a column of numbers."""
    given: list[list[Any]] = [[ValueError("bug")] * 4, [None] * 4, [True, False, None, True], [1, 0, 1, 1], ["a"] * 4]

    def judge(sample: Sample) -> Any:
        value = values.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    for n, column in enumerate(given[:3]):
        values = list(column)
        test_set.store_results(test_set.score_test_set(judge, progress=False), "my.duckdb", f"run {n}")
    stored = load_run("run 2").scores
    assert stored["judge"].value.tolist() == [True, False, pd.NA, True]
    assert stored.scoring("judge").measures[0].type is bool
    values = list(given[4])
    with pytest.warns(UserWarning, match="is float there and str now.*Rename the metric"):
        test_set.store_results(test_set.score_test_set(judge, progress=False), "my.duckdb", "text")


def test_yes_and_no_fit_into_a_column_of_numbers(test_set: BenchmarkTest) -> None:
    def judge(sample: Sample) -> Any:
        return values.pop(0)

    for n, column in enumerate(([0.5, 1, 0, 0], [1, 2, 3, 4], [True, False, True, True])):
        values = list(column)
        test_set.store_results(test_set.score_test_set(judge, progress=False), "my.duckdb", f"run {n}")
    assert sql("select sum(value) as s from judge join runs using (run_id) group by name order by name").s.tolist() == [
        1.5,
        10,
        3,
    ]
    assert load_run("run 2").scores["judge"].value.tolist() == [True, False, True, True]
    assert load_run("run 1").scores["judge"].value.tolist() == [1, 2, 3, 4]


def test_a_response_without_an_answer_is_as_missing_as_none(test_set: BenchmarkTest) -> None:
    for nothing in (None, Response(None)):
        test_set.set_generated_data([nothing] * 4, [[]] * 4)
        scores = test_set.score_test_set("DocumentMatch", "Retrieval", "LexicalMetrics", progress=False)
        assert set(scores.summary.n_scored) == {0}
    test_set.set_generated_data([Response(None)] * 4, [["curie.txt"]] * 4)  # retrieval alone can still be scored
    assert test_set.score_test_set("DocumentMatch", progress=False).summary.loc["document_match_hit", "n_scored"] == 3


def test_one_question_first_does_not_fix_what_a_number_is_of() -> None:
    def accuracy(data: dict[str, Any]) -> pd.DataFrame:
        return pd.DataFrame({"acc": [0.5]})

    runs = [("try", 1), ("all", 4), ("again", 1)]
    for name, n in runs:
        test = BenchmarkTest(RECORDS, num_q=n)
        test.set_generated_data(["x"] * n)
        test.implemented_tests["MyAcc"] = accuracy
        scores = test.score_test_set("MyAcc", progress=False)
        test.store_results(scores, "my.duckdb", name)
        assert load_run(name).scores.scorings == scores.scorings
    fetched = fetch_metrics_results()
    assert fetched.my_acc_acc.tolist() == [0.5, 0.5, 0.5]
    assert sql("select count(acc) as n from my_acc").n[0] == 2


def test_runs_scored_with_other_parameters_are_not_mixed_unseen(test_set: BenchmarkTest) -> None:
    test_set.store_results(test_set.score_test_set("Retrieval", progress=False), "my.duckdb", "ten")
    test_set.store_results(test_set.score_test_set("Retrieval(k=1)", progress=False), "my.duckdb", "one")
    with pytest.warns(UserWarning, match=r"other parameters.*retrieval \(1 of 2 runs\)"):
        fetch_metrics_results()


@pytest.mark.parametrize("query", ["select date '290000-01-01' as d", "select row(1, 2) as r", 5, "", None])
def test_what_cannot_be_shown_is_one_clear_error(test_set: BenchmarkTest, query: Any) -> None:
    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "my.duckdb", "x")
    with pytest.raises(QueryError):
        sql(query)


def test_numbers_and_texts_of_queries_are_taken_as_they_are(test_set: BenchmarkTest) -> None:
    import numpy as np

    test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), "my.duckdb", "x")
    assert sql("select 18446744073709551615::ubigint as a").a[0] == 2**64 - 1
    assert sql("select ? as v", [np.int64(3)]).v[0] == 3
    assert len(sql("select * from runs where name = 'enable_logging'")) == 0
    with pytest.raises(QueryError, match="computed"):
        sql("set variable p = 'my.duck' || 'db'; copy runs to (getvariable('p'))", write=True)
    for settings in ("x", 5):
        with pytest.raises(InputError, match="a dict of JSON values"):
            test_set.store_results(test_set.score_test_set("DocumentMatch", progress=False), settings=settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="name that is text"):
        delete_model_from_database(5)  # type: ignore[arg-type]
    assert len(list_runs()) == 1
