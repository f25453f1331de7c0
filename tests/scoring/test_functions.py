"""Plain functions as metrics, the original package's form included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from chatbench import Evaluation
from chatbench.core.response import Sample
from chatbench.core.scores import Scoring
from chatbench.errors import MetricDefinitionError
from chatbench.scoring.functions import function_metric
from chatbench.scoring.score import score

Make = Callable[..., Sample]


@pytest.fixture
def samples(make_sample: Make) -> list[Sample]:
    answers = ["one", None, "three three", ""]
    return [make_sample(a, ("gold",), ["d.txt"], ("d.txt",), id=str(i)) for i, a in enumerate(answers)]


def run(samples: list[Sample], function: Any, name: str = "Mine", default: Any = "sample") -> Scoring:
    return score(samples, [function_metric(function, name, default=default)])[0]


def test_a_function_of_a_sample(samples: list[Sample]) -> None:
    def words(sample: Sample) -> int:
        """Words in the answer."""
        return len(sample.answer.split())

    scoring = run(samples, words)
    assert scoring.values == {"value": [1, None, 2, 0]}
    assert (scoring.measures[0].type, scoring.measures[0].sentence) == (int, "Words in the answer.")
    assert scoring.missing[1] == {"value": "the system gave no answer"}


def test_a_function_that_returns_rows(samples: list[Sample]) -> None:
    def shape(sample: Sample) -> dict[str, Any]:
        return {"Number of Words": len(sample.answer.split()), "long": len(sample.answer) > 5, "order": "x"}

    scoring = run(samples, shape)
    assert {m.name: m.type for m in scoring.measures} == {"number_of_words": int, "long": bool, "order_value": str}
    assert scoring.values["long"] == [False, None, True, False]


def test_an_asynchronous_function_of_an_evaluable(samples: list[Sample]) -> None:
    class Judge:
        async def __call__(self, evaluable: Any, *, trace: Any = None) -> Evaluation:
            return Evaluation(1.0 if evaluable.eval_output == "one" else 0.0, f"expected {evaluable.expectation}")

    scoring = run(samples, Judge())
    assert scoring.values["score"] == [1.0, None, 0.0, 0.0]
    assert scoring.values["reasoning"][0] == "expected gold"


def test_the_original_form_with_a_row_per_question(samples: list[Sample]) -> None:
    seen: dict[str, Any] = {}

    def my_test(data: dict[str, Any]) -> pd.DataFrame:
        seen.update(data)
        return pd.DataFrame({"Length": [len(a) for a in data["answers"]], "bad": [float("nan"), 1.0, 2.0]})

    scoring = run(samples, my_test, default="data")
    assert sorted(seen) == ["answers", "documents", "questions", "test_answers", "test_documents"]
    assert seen["answers"] == ["one", "three three", ""]
    assert (seen["test_answers"][0], seen["test_documents"][0], seen["documents"][0][0].metadata["name"]) == (
        "gold",
        ["d.txt"],
        "d.txt",
    )
    assert scoring.values == {"length": [3, None, 11, 0], "bad": [None, None, 1.0, 2.0]}
    assert scoring.missing[1] == {"length": "the system gave no answer", "bad": "the system gave no answer"}


def test_the_original_form_with_one_row_of_lists_and_numbers(samples: list[Sample]) -> None:
    def my_test(data: dict[str, Any]) -> pd.DataFrame:
        return pd.DataFrame([{"x_score": 0.5, "x_by_question": [0.1, 0.5, 0.9]}])

    scoring = run(samples, my_test, default="data")
    assert scoring.values == {"x_by_question": [0.1, None, 0.5, 0.9]}
    assert scoring.run_values == {"x_score": 0.5}
    means = {s.measure: (s.mean, s.n_scored) for s in scoring.summaries}
    assert means == {"x_by_question": (pytest.approx(0.5), 3), "x_score": (0.5, None)}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (pd.DataFrame({"a": [1, 2]}), "returned 2 rows for 3 questions"),
        ([1, 2, 3], "a DataFrame is due"),
        (pd.DataFrame({"A b": [1, 2, 3], "a_b": [1, 2, 3]}), "fall together"),
    ],
)
def test_frames_of_the_wrong_shape(samples: list[Sample], result: Any, text: str) -> None:
    scoring = run(samples, lambda data: result, default="data")
    assert text in (scoring.error or "")
    assert all(text in (e or "") for e in scoring.errors)


def test_a_function_may_not_take_the_table_of_a_registered_metric() -> None:
    with pytest.raises(MetricDefinitionError, match="share the table of the registered metric LexicalMetrics"):
        function_metric(lambda data: None, "LexicalMetrics")
    with pytest.raises(MetricDefinitionError, match="takes no argument"):
        function_metric(lambda: None, "Nothing")


@pytest.mark.parametrize("name", ["x'); DROP TABLE runs; --", "Größe \N{GREEK SMALL LETTER PHI}", "select", "1st"])
def test_any_name_becomes_a_usable_table(name: str) -> None:
    table = function_metric(lambda sample: 1, name).table
    assert table.isidentifier()
    assert table.isascii()
    assert table != "select"


def test_numbers_beside_a_list_are_of_the_run_also_for_one_question(samples: list[Sample]) -> None:
    scoring = run(samples[:1], lambda data: pd.DataFrame([{"mean": 0.5, "each": [0.25]}]), default="data")
    assert (scoring.values, scoring.run_values) == ({"each": [0.25]}, {"mean": 0.5})


def test_na_of_pandas_is_missing_and_the_type_stays(samples: list[Sample]) -> None:
    frame = pd.DataFrame(
        {"n": pd.array([1, None, 3], dtype="Int64"), "yes": pd.array([True, None, False], dtype="boolean")}
    )
    scoring = run(samples, lambda data: frame, default="data")
    assert {m.name: m.type for m in scoring.measures} == {"n": int, "yes": bool}
    assert scoring.values == {"n": [1, None, None, 3], "yes": [True, None, None, False]}


def test_clashing_names_cost_only_that_function(samples: list[Sample]) -> None:
    def clash(sample: Sample) -> dict[str, int]:
        return {"A b": 1, "a_b": 2}

    bad, good = score(samples, [function_metric(clash), function_metric(lambda sample: 1, "Good")])
    assert "fall together" in (bad.error or "")
    assert good.values == {"value": [1, 1, 1, 1]}


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(MetricDefinitionError, match="has no name"):
        function_metric(lambda sample: 1)


def test_a_missing_reference_is_none_and_not_an_empty_text(make_sample: Make) -> None:
    """An empty text would be scored as 0; a function that gives None back says that the question cannot be scored."""
    samples = [
        make_sample("a b", ("a b",), id="0"),
        make_sample("a", (), id="1"),
        make_sample("a", ("x",), is_answerable=False, id="2"),
    ]

    def overlap(data: dict[str, Any]) -> pd.DataFrame:
        pairs = zip(data["answers"], data["test_answers"], strict=True)
        return pd.DataFrame({"o": [None if t is None else float(a == t) for a, t in pairs]})

    scoring = run(samples, overlap, default="data")
    assert scoring.values == {"o": [1.0, None, None]}
    assert (scoring.summaries[0].mean, scoring.summaries[0].n_scored, scoring.summaries[0].n_missing) == (1.0, 1, 2)


def test_no_answer_at_all_is_missing_and_not_a_division_by_zero(make_sample: Make) -> None:
    samples = [make_sample(None, id=str(i)) for i in range(3)]
    scoring = run(samples, lambda data: pd.DataFrame([{"m": sum([]) / len(data["answers"])}]), default="data")
    assert [m["value"] for m in scoring.missing if m] == ["the system gave no answer"] * 3
    assert scoring.error is None


def test_a_run_value_that_is_no_score_is_null_and_said(samples: list[Sample]) -> None:
    with pytest.warns(UserWarning, match="'m' is inf, which is no score"):
        scoring = run(samples, lambda data: pd.DataFrame([{"m": float("inf"), "n": 1}]), default="data")
    assert scoring.run_values == {"n": 1.0}
    assert {s.measure: s.mean for s in scoring.summaries} == {"m": None, "n": 1.0}


def test_a_stray_text_among_numbers_is_that_cell_s_error(make_sample: Make) -> None:
    from decimal import Decimal

    cells = [0.5, "bad", None, Decimal("0.25"), Decimal("NaN"), pd.NaT]
    samples = [make_sample("x", id=str(i)) for i in range(len(cells))]
    scoring = run(samples, lambda sample: cells[int(sample.case.id)])
    assert scoring.values == {"value": [0.5, None, None, 0.25, None, None]}
    assert [bool(e) for e in scoring.errors] == [False, True, False, False, False, False]


def test_names_in_other_scripts_have_tables_of_their_own() -> None:
    tables = {
        function_metric(lambda sample: 1, name).table for name in ("日本", "中国", "été", "ete", "x" * 40, "x" * 41)
    }
    assert len(tables) == 6
    assert all(len(t) <= 30 for t in tables)


@pytest.mark.parametrize("end", [SystemExit, GeneratorExit])
def test_a_function_that_wants_to_end_everything_costs_only_itself(samples: list[Sample], end: type) -> None:
    def leave(sample: Sample) -> int:
        if sample.case.id == "2":
            raise end
        return 1

    def leave_all(data: dict[str, Any]) -> pd.DataFrame:
        raise end

    first, second, good = score(
        samples,
        [function_metric(leave), function_metric(leave_all), function_metric(lambda sample: 1, "Good")],
    )
    assert first.values == {"value": [1, 1, None, 1]}
    assert (first.errors[2] or "").startswith(end.__name__)
    assert (second.error or "").startswith(end.__name__)
    assert good.values == {"value": [1, 1, 1, 1]}
