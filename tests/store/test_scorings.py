"""Missing is not zero; tables that grow; clashes; runs that are found and deleted."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response, Sample
from chatbench.errors import InputError, LengthError, RunNotFoundError, SchemaError
from chatbench.scoring.metric import Metric
from chatbench.scoring.score import score
from chatbench.store import Store
from tests.store import examples
from tests.store.examples import saved

QUESTIONS = examples.dataset(3)


class Raising(Metric, register=False):
    """Case F02 of the recorded faults: raises for questions 3 and 7, gives 1.0 otherwise."""

    def score_sample(self, sample: Sample) -> float:
        if sample.case.id in ("q3", "q7"):
            raise RuntimeError("no connection")
        return 1.0


def test_a_crash_is_null_with_its_error(store: Store) -> None:
    questions = examples.dataset(10)
    responses = examples.answers(questions)
    samples = [Sample(c, r) for c, r in zip(questions, responses, strict=True)]
    run = examples.run_of(questions)
    store.save_run(run, questions, responses, score(samples, [Raising()]))
    rows = store.query(
        "SELECT count(*) AS n, count(value) AS scored, count(error) AS errors, avg(value) AS mean FROM raising"
    )
    assert rows.to_dict("records") == [{"n": 10, "scored": 8, "errors": 2, "mean": 1.0}]
    assert store.query("SELECT error FROM raising WHERE case_id = 'q7'")["error"][0] == "RuntimeError: no connection"
    counts = store.query("SELECT mean, n_scored, n_errors, n_missing FROM summaries")
    assert counts.to_dict("records") == [{"mean": 1.0, "n_scored": 8, "n_errors": 2, "n_missing": 0}]
    assert store.fetch()["raising_value"].tolist() == [1.0]


class Dividing(Metric, register=False):
    """Case F01 of the recorded faults: 1.0, 0.5, NaN, 0.0."""

    def score_sample(self, sample: Sample) -> float:
        return {"q0": 1.0, "q1": 0.5, "q2": float("nan"), "q3": 0.0}[sample.case.id]


def test_nan_is_null_and_counted(store: Store) -> None:
    questions = examples.dataset(4)
    samples = [Sample(c, r) for c, r in zip(questions, examples.answers(questions), strict=True)]
    saved(store, *score(samples, [Dividing()]), questions=questions)
    rows = store.query("SELECT avg(value) AS mean, count(value) AS scored, count(*) AS n FROM dividing")
    assert rows.to_dict("records") == [{"mean": 0.5, "scored": 3, "n": 4}]
    assert store.fetch()["dividing_value"].tolist() == [0.5]
    counts = store.query("SELECT mean, n_scored, n_errors + n_missing AS without FROM summaries")
    assert counts.to_dict("records") == [{"mean": 0.5, "n_scored": 3, "without": 1}]
    reason = store.query("SELECT coalesce(error, CAST(missing AS text)) AS r FROM dividing WHERE value IS NULL")[
        "r"
    ].tolist()
    assert len(reason) == 1
    assert "nan" in reason[0].lower()


def test_missing_has_its_reason(store: Store) -> None:
    questions = examples.dataset(2)
    saved(store, examples.scoring(questions, {"words": [1.0, None]}), questions=questions)
    reasons = store.query("SELECT missing FROM answer_length WHERE words IS NULL")["missing"].tolist()
    assert reasons == ['{"words":"no reference"}']


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "text", 10**400])
def test_no_other_value_gets_in(store: Store, bad: Any) -> None:
    good = examples.scoring(QUESTIONS, {"chars": [1, 2, 3]}, metric="Other", table="other")
    broken = replace(examples.scoring(QUESTIONS, {"words": [1, 2, 3]}), values={"words": [1, bad, 3]})
    with pytest.warns(UserWarning, match="Scores were not stored: .*AnswerLength"):
        saved(store, broken, good)
    assert store.query("SELECT metric FROM scorings")["metric"].tolist() == ["Other"]


def test_measure_of_the_run(store: Store) -> None:
    made = examples.scoring(QUESTIONS, {})
    measures = (Measure(float, "corpus score", name="corpus", of_run=True),)
    made = examples.with_summaries(replace(made, measures=measures, run_values={"corpus": 31.5}))
    run_id = saved(store, made)
    assert store.load(run_id).scorings == [made]
    assert store.fetch()["answer_length_corpus"].tolist() == [31.5]
    assert store.query("SELECT answer_length_corpus AS c FROM results")["c"].tolist() == [31.5]
    counts = store.query("SELECT low, n_scored FROM summaries")
    assert counts.isna().all(axis=None)


def test_a_new_measure_gets_a_column(store: Store) -> None:
    first = saved(store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}))
    second = saved(
        store, examples.scoring(QUESTIONS, {"words": [2.0] * 3, "chars": ["a", None, "b"]}, kinds={"chars": str})
    )
    rows = store.query("SELECT run_id, words, chars FROM answer_length ORDER BY run_id, case_id")
    assert rows["chars"].tolist() == [None, None, None, "a", None, "b"]
    assert [list(store.load(i).scorings[0].values) for i in (first, second)] == [["words"], ["words", "chars"]]


def test_int_widens_to_float(store: Store) -> None:
    first = examples.scoring(QUESTIONS, {"words": [1, None, 3]}, kinds={"words": int})
    run_id = saved(store, first)
    saved(store, examples.scoring(QUESTIONS, {"words": [0.5, 1.5, None]}))
    saved(store, first)
    assert store.query("SELECT sum(words) AS s FROM answer_length")["s"][0] == 10.0
    values = store.load(run_id).scorings[0].values["words"]
    assert values == [1, None, 3]
    assert isinstance(values[0], int)
    assert store.query("SELECT type FROM measures")["type"].tolist() == ["float"]


CLASHES = {
    "another type": ({"words": ["a"] * 3}, {"kinds": {"words": str}}, "words is float there and str now"),
    "another owner": ({"words": [1.0] * 3}, {"metric": "Longest"}, "belongs to the metric 'AnswerLength'"),
    "one result column": (
        {"length_words": [1.0] * 3},
        {"metric": "Answer", "table": "answer"},
        "'answer_length_words'",
    ),
    "fixed table": ({"words": [1.0] * 3}, {"metric": "Runs", "table": "runs"}, "itself uses"),
    "hostile table": (
        {"words": [1.0] * 3},
        {"metric": 'a"; DROP TABLE runs; --', "table": 'a"; DROP TABLE runs; --'},
        "a-z",
    ),
    "key column": ({"run_id": [1.0] * 3}, {"metric": "Other", "table": "other"}, "itself uses"),
}


@pytest.mark.parametrize(("values", "fields", "reason"), CLASHES.values(), ids=CLASHES)
def test_a_misfit_costs_nothing_else(store: Store, values: Any, fields: dict[str, Any], reason: str) -> None:
    saved(store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}))
    misfit = examples.scoring(QUESTIONS, values, **fields)
    fitting = examples.scoring(QUESTIONS, {"share": [0.5] * 3}, metric="Share", table="share")
    with pytest.warns(UserWarning, match=reason):
        run_id = saved(store, misfit, fitting, name="second")
    stored = store.load(run_id)
    assert stored.scorings == [fitting]
    assert len(stored.responses) == 3
    with pytest.raises(SchemaError, match=reason):
        store.add_scorings(run_id, [misfit])


def test_rows_of_unknown_questions(store: Store) -> None:
    other = examples.scoring(examples.dataset(4), {"words": [1.0] * 4})
    with pytest.warns(UserWarning, match=r"\('q3', 1\), which the run has not"):
        saved(store, other)
    double = replace(examples.scoring(QUESTIONS, {"words": [1.0] * 3}), case_ids=["q0", "q0", "q2"])
    with pytest.warns(UserWarning, match="two rows for one attempt"):
        saved(store, double)


def test_what_does_not_belong_together_is_refused(store: Store) -> None:
    run = examples.run_of(QUESTIONS)
    with pytest.raises(InputError, match="fingerprint"):
        store.save_run(run, examples.dataset(2), examples.answers(examples.dataset(2)), [])
    with pytest.raises(LengthError):
        store.save_run(run, QUESTIONS, [Response("a")] * 4, [])
    with pytest.raises(InputError, match="count upwards"):
        store.save_run(run, QUESTIONS, [Response("a")] * 6, [])
    store.save_run(run, QUESTIONS, [Response("a")] * 3, [])
    with pytest.raises(InputError, match="stored already"):
        store.save_run(run, QUESTIONS, [Response("a")] * 3, [])
    with pytest.raises(RunNotFoundError):
        store.add_scorings("nowhere", [examples.scoring(QUESTIONS, {"words": [1.0] * 3})])


def test_hostile_names(store: Store) -> None:
    # Case F40 of the recorded faults: text is bound, never run.
    names = ["x'); DROP TABLE runs; --", "__import__('os')", "%s :p $1 ?", "👩‍🔬\n\t\"'", "naïve modèle"]
    questions = Dataset(tuple(Case(n, id=n, answers=(n,), documents=(n,)) for n in names), name=names[0])
    ids = [saved(store, examples.scoring(questions, {"words": [1.0] * 5}), name=n, questions=questions) for n in names]
    assert [store.find_run(n).run_id for n in names] == ids
    assert store.load(ids[0]).dataset.questions == names
    assert store.delete_runs_named(names[0]) == {"answer_length": 1}
    assert sorted(store.fetch()["name"]) == sorted(names[1:])


def test_two_runs_in_one_moment(store: Store) -> None:
    # Case F21 of the recorded faults: nothing is overwritten, from one thread or two.
    def work() -> None:
        for _ in range(5):
            saved(store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}), name="baseline")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.query("SELECT count(DISTINCT run_id) AS n FROM answer_length")["n"][0] == 10
    assert store.fetch()["run_id"].is_unique


def test_runs_are_found(store: Store) -> None:
    first, second = saved(store, name="bm25"), saved(store, name="bm25")
    third = saved(store, name="hybrid")
    assert [run.run_id for run in store.runs()] == [third, second, first]
    assert store.find_run(first).run_id == first
    assert store.find_run(store.runs()[0]).run_id == third
    with pytest.warns(UserWarning, match=f"2 runs are named 'bm25'; the newest is taken.*{second}, {first}"):
        assert store.find_run("bm25").run_id == second
    with pytest.raises(
        RunNotFoundError, match=r"no run 'hybird'. Did you mean 'hybrid'\? Stored are: 'hybrid', 'bm25'"
    ):
        store.find_run("hybird")


def test_delete_run(store: Store) -> None:
    made = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    first, second = saved(store, made), saved(store, made)
    counts = {"answer_length": 3, "summaries": 1, "scorings": 1, "responses": 3, "runs": 1}
    assert store.delete_run(first) == {**counts, "cases": 0, "datasets": 0}
    assert store.load(second).scorings == [made]
    assert store.delete_run(second) == {**counts, "cases": 3, "datasets": 1}
    assert store.fetch().empty
    with pytest.raises(RunNotFoundError, match="none yet"):
        store.delete_run(second)
    saved(store, made)
    assert len(store.fetch()) == 1


def test_too_few_rows(store: Store) -> None:
    few = examples.scoring(examples.dataset(2), {"words": [1.0, 2.0]})
    one_attempt = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    with pytest.warns(UserWarning, match=r"no row for case and attempt \('q2', 1\) \(1 of 3 are lacking\)"):
        run_id = saved(store, few)
    with pytest.raises(SchemaError, match="no row for"):
        store.add_scorings(run_id, [few])
    with pytest.warns(UserWarning, match=r"no row for case and attempt \('q0', 2\) \(3 of 6 are lacking\)"):
        saved(store, one_attempt, repeat=2)
    assert store.query("SELECT count(*) AS n FROM scorings")["n"][0] == 0


def test_the_order_of_rows_is_free(store: Store) -> None:
    made = examples.scoring(QUESTIONS, {"words": [1.0, 2.0, 3.0]})
    turned = replace(made, case_ids=["q2", "q1", "q0"], values={"words": [3.0, 2.0, 1.0]})
    run_id = saved(store, turned)
    assert store.load(run_id).scorings == [made]


def test_a_metric_starts_afresh_after_its_last_run(store: Store) -> None:
    kept = examples.scoring(QUESTIONS, {"share": [0.5] * 3}, metric="Share", table="share")
    numbers = examples.scoring(QUESTIONS, {"words": [1.0] * 3, "chars": [2.0] * 3})
    texts = examples.scoring(QUESTIONS, {"words": ["a"] * 3}, kinds={"words": str})
    first, second = saved(store, numbers, kept), saved(store, numbers, name="other")
    store.delete_run(first)
    with pytest.warns(UserWarning, match="words is float there and str now.*Rename the metric.*function.*or delete"):
        saved(store, texts)
    store.delete_run(second)
    assert examples.relations(store).isdisjoint({"answer_length", "_answer_length", "share"})
    assert store.query("SELECT * FROM measures").empty
    assert "answer_length_words" not in store.query("SELECT * FROM results")
    run_id = saved(store, texts, kept)
    assert store.load(run_id).scorings == [texts, kept]
    store.delete_runs_named("bm25")
    assert store.load(saved(store, numbers)).scorings == [numbers]
    assert store.query("SELECT answer_length_chars AS c FROM results")["c"].tolist() == [2.0]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE answer_length AS SELECT 1 AS a",
        "CREATE VIEW Answer_Length AS SELECT 1 AS a",
        "CREATE TABLE _answer_length AS SELECT 1 AS a",
    ],
)
def test_tables_of_the_user_stay(store: Store, sql: str) -> None:
    share = examples.scoring(QUESTIONS, {"share": [0.5] * 3}, metric="Share", table="share")
    words = examples.scoring(QUESTIONS, {"words": [1.0] * 3})
    saved(store)
    store.query(sql, write=True)
    with pytest.warns(UserWarning, match="a (table|view) '_?answer_length' of your own. Rename that, or the metric"):
        run_id = saved(store, words, share)
    assert store.load(run_id).scorings == [share]
    assert store.query(f"SELECT a FROM {sql.split()[2]}")["a"].tolist() == [1]


def test_a_table_of_the_user_in_place_of_a_view(store: Store) -> None:
    first = saved(store, examples.scoring(QUESTIONS, {"words": [1.0] * 3}))
    store.query("DROP VIEW answer_length; CREATE TABLE answer_length AS SELECT 1 AS a", write=True)
    more = examples.scoring(QUESTIONS, {"words": [1.0] * 3, "chars": [1.0] * 3})
    with pytest.warns(UserWarning, match="a table 'answer_length' of your own"):
        saved(store, more)
    store.delete_run(first)
    assert store.query("SELECT a FROM answer_length")["a"].tolist() == [1]
