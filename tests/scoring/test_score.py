"""The scoring loop: a failure is a row with a reason, never a lost run. Fault numbers are those of faults.json."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from chatbench import Evaluation, Evaluator, Measure, Metric, Missing
from chatbench.core.response import Sample
from chatbench.core.scores import Scoring, reason_of
from chatbench.errors import MissingDependencyError
from chatbench.scoring.context import Context
from chatbench.scoring.score import score

Make = Callable[..., Sample]


def one(samples: list[Sample], metric: Any, context: Context | None = None) -> Scoring:
    return score(samples, [metric], context)[0]


def from_list(values: list[Any], kind: type = float) -> Metric:
    """Return a metric that gives, or raises, the n-th value for case "n"."""

    class FromList(Metric, register=False):
        """From a list."""

        value = Measure(kind, "a value")

        def score_sample(self, sample: Sample) -> Any:
            value = values[int(sample.case.id)]
            if isinstance(value, BaseException):
                raise value
            return value

    return FromList()


@pytest.fixture
def samples(make_sample: Make) -> list[Sample]:
    return [make_sample("an answer", id=str(i)) for i in range(10)]


def test_f01_nan_is_null_and_poisons_no_mean(samples: list[Sample]) -> None:
    scoring = one(samples[:4], from_list([1.0, 0.5, float("nan"), 0.0]))
    assert scoring.values["value"] == [1.0, 0.5, None, 0.0]
    assert scoring.missing[2] == {"value": "the metric returned nan, which is no score"}
    summary = scoring.summaries[0]
    assert (summary.mean, summary.n_scored, summary.n_errors, summary.n_missing) == (0.5, 3, 0, 1)


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf")])
def test_infinities_are_null(samples: list[Sample], infinite: float) -> None:
    scoring = one(samples[:2], from_list([infinite, 1]))
    assert scoring.values["value"] == [None, 1.0]
    assert "no score" in (scoring.missing[0] or {})["value"]


def test_f02_a_crash_is_an_error_and_not_zero(samples: list[Sample]) -> None:
    values: list[Any] = [RuntimeError(f"boom {i}") if i in (3, 7) else 1.0 for i in range(10)]
    scoring = one(samples, from_list(values))
    assert len(scoring) == 10
    assert scoring.errors[3] == "RuntimeError: boom 3"
    summary = scoring.summaries[0]
    assert (summary.mean, summary.n_scored, summary.n_errors, summary.n_missing) == (1.0, 8, 2, 0)


def test_a_failing_metric_loses_no_other(samples: list[Sample]) -> None:
    class NoModel(Metric, register=False):
        """Needs a model."""

        def score_batch(self, samples: list[Sample]) -> list[float]:
            raise MissingDependencyError("the model is not there; pip install it")

    good, bad, again = score(samples, [from_list([1.0] * 10), NoModel(), from_list([0.5] * 10)])
    assert (good.summaries[0].mean, again.summaries[0].mean) == (1.0, 0.5)
    assert bad.error == "MissingDependencyError: the model is not there; pip install it"
    assert bad.summaries[0].n_errors == 10


def test_none_and_missing_are_missing_with_their_reason(samples: list[Sample]) -> None:
    scoring = one(samples[:4], from_list([None, Missing("no gold"), Missing("returned"), 0.25]))
    assert scoring.missing[:3] == [
        {"value": "the metric returned None"},
        {"value": "no gold"},
        {"value": "returned"},
    ]
    assert (scoring.summaries[0].mean, scoring.summaries[0].n_missing) == (0.25, 3)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (int, 1.5, "int is declared"),
        (int, "3", "a number is declared"),
        (float, "good", "a number is declared"),
        (bool, 0.5, "bool is declared"),
        (str, 3, "declared as str"),
        (float, [1, 2], "a number is declared"),
    ],
)
def test_wrong_types_are_errors_of_that_question(samples: list[Sample], kind: type, value: Any, text: str) -> None:
    scoring = one(samples[:1], from_list([value], kind))
    assert text in (scoring.errors[0] or "")


def test_values_outside_the_declared_range_are_errors(samples: list[Sample]) -> None:
    class Share(Metric, register=False):
        """A share."""

        value = Measure(float, "a share", at_least=0, at_most=1)

        def score_sample(self, sample: Sample) -> float:
            return float(sample.case.id)

    scoring = one(samples[:3], Share())
    assert scoring.values["value"] == [0.0, 1.0, None]
    assert "outside its declared range 0 to 1" in (scoring.errors[2] or "")


def test_undeclared_measures_are_errors_and_left_out_ones_missing(samples: list[Sample]) -> None:
    class Two(Metric, register=False):
        """Two."""

        a = Measure(float, "a")
        b = Measure(float, "b")

        def score_sample(self, sample: Sample) -> Any:
            return [{"a": 1, "c": 2}, {"a": 1}, 3][int(sample.case.id)]

    scoring = one(samples[:3], Two())
    assert "undeclared 'c' returned; declared are a, b" in (scoring.errors[0] or "")
    assert scoring.values["a"] == [None, 1.0, None]
    assert scoring.missing[1] == {"b": "the metric gave no value for this measure"}
    assert "2 measures are declared" in (scoring.errors[2] or "")


class Batch(Metric, register=False):
    """Lengths, all at once."""

    length = Measure(int, "characters")

    def score_batch(self, samples: list[Sample]) -> dict[str, list[int]]:
        return {"length": [len(s.answer) for s in samples]}


def test_a_batch_loses_only_the_failing_samples(make_sample: Make) -> None:
    answers = ["a", None, "ccc", "", None, "ffffff", "g"]
    scoring = one([make_sample(a, id=str(i)) for i, a in enumerate(answers)], Batch())
    assert scoring.values["length"] == [1, None, 3, 0, None, 6, 1]
    assert scoring.missing[1] == {"length": "the system gave no answer"}
    assert scoring.error is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"length": [1, 2]}, "column 'length' has 2 entries for 3 samples"),
        ({"length": [1, 2, 3, 4]}, "has 4 entries for 3 samples"),
        ({"width": [1, 2, 3]}, "undeclared columns 'width'"),
        ({"length": 3}, "a list with one entry per sample is due"),
        ({"length": "abc"}, "is a str"),
    ],
)
def test_columns_of_the_wrong_shape(samples: list[Sample], given: Any, text: str) -> None:
    class Wrong(Metric, register=False):
        """Wrong."""

        length = Measure(int, "characters")

        def score_batch(self, samples: list[Sample]) -> Any:
            return given

    wrong, good = score(samples[:3], [Wrong(), Batch()])
    assert text in (wrong.error or "")
    assert all(text in (e or "") for e in wrong.errors)
    assert good.values["length"] == [9, 9, 9]


def test_asynchronous_metrics_run_concurrently_also_inside_a_running_loop(samples: list[Sample]) -> None:
    """F18: works inside a running event loop, and asyncio is not patched."""
    running, most = 0, 0

    class Slow(Metric, register=False):
        """Slow."""

        def score_sample(self, sample: Sample) -> Any:
            raise NotImplementedError

    class Slower(Slow, register=False):
        """Slower."""

        async def score_sample(self, sample: Sample) -> float:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1
            if sample.case.id == "4":
                raise ValueError("four")
            return float(sample.case.id)

    async def in_a_notebook() -> Scoring:
        return one(samples, Slower())

    for scoring in (one(samples, Slower()), asyncio.run(in_a_notebook())):
        assert scoring.values["value"] == [0, 1, 2, 3, None, 5, 6, 7, 8, 9]
        assert scoring.errors[4] == "ValueError: four"
    assert most == 10
    assert not hasattr(asyncio, "_nest_patched")


def test_evaluations_have_their_columns(samples: list[Sample]) -> None:
    class Polite(Evaluator, register=False):
        """Polite."""

        def score_sample(self, sample: Sample) -> Evaluation:
            return Evaluation(0.5, "so so", {"words": ["an"]}, passed=True)

    scoring = one(samples[:1], Polite())
    assert {k: v[0] for k, v in scoring.values.items()} == {
        "score": 0.5,
        "passed": True,
        "reasoning": "so so",
        "details": {"words": ["an"]},
    }


def test_the_context_is_handed_in_on_request(samples: list[Sample]) -> None:
    class Embedded(Metric, register=False):
        """Embedded."""

        def score_batch(self, samples: list[Sample], ctx: Context) -> list[float]:
            return [float(row[0]) for row in ctx.embed([s.answer for s in samples], "mine")]

    import numpy as np

    def embed(texts: Any, model: str) -> Any:
        return np.full((len(texts), 2), len(model))

    assert one(samples[:2], Embedded(), Context(embed)).values["value"] == [4.0, 4.0]
    assert "needs an embedder" in (one(samples[:2], Embedded()).error or "")


def test_secrets_do_not_reach_error_texts(samples: list[Sample]) -> None:
    """F45."""
    leak = RuntimeError(
        "401 for http://user:pw@127.0.0.1:9/v1, Authorization: Bearer abc.def-ghi, api_key='sk-TEST-0123456789'"
    )
    text = one(samples[:1], from_list([leak])).errors[0] or ""
    assert not any(secret in text for secret in ("sk-TEST-0123456789", "user:pw", "abc.def"))
    assert "127.0.0.1:9/v1" in text


def test_means_are_of_questions_and_repeats_are_averaged_first(make_sample: Make) -> None:
    from dataclasses import replace

    values = {("a", 1): 1.0, ("a", 2): 0.0, ("a", 3): 0.5, ("b", 1): 1.0}

    class Given(Metric, register=False):
        """Given."""

        def score_sample(self, sample: Sample) -> float:
            return values[sample.case.id, sample.response.attempt]

    samples = [
        Sample(make_sample(id=case).case, replace(make_sample("x").response, attempt=attempt))
        for case, attempt in values
    ]
    summary = one(samples, Given()).summaries[0]
    assert summary.mean == pytest.approx(0.75)
    assert summary.n_scored == 4
    low, high = summary.low, summary.high
    assert low is not None
    assert high is not None
    # Student's t with one degree of freedom over the question means 0.5 and 1.0: 12.7062 * 0.353553 / sqrt(2)
    assert (high - low) / 2 == pytest.approx(12.706204736 * math.sqrt(0.125) / math.sqrt(2), rel=1e-8)


def test_f42_local_metrics_pass_through_no_limiter(samples: list[Sample]) -> None:
    """A synchronous metric runs in the caller's thread, one call after the other; its speed is in benchmarks/."""
    import threading

    threads = []

    class Where(Metric, register=False):
        """Where."""

        def score_sample(self, sample: Sample) -> float:
            threads.append((threading.get_ident(), sample.case.id))
            return 1.0

    one(samples, Where())
    assert threads == [(threading.get_ident(), s.case.id) for s in samples]


def test_progress_is_shown_when_asked_and_only_then(samples: list[Sample], capfd: pytest.CaptureFixture[str]) -> None:
    from chatbench.scoring.progress import choose_progress

    for wanted, seen in ((True, True), (False, False), (None, False)):
        score(samples, [Batch(), from_list([1.0] * 10)], None, choose_progress(wanted))
        out, err = capfd.readouterr()
        assert out == ""
        assert ("FromList:" in err) == seen


def test_values_beyond_what_can_be_squared_cost_nothing(samples: list[Sample]) -> None:
    huge, good = score(samples[:3], [from_list([1e200, 2e200, 3e200]), from_list([1.0, 2.0, 3.0])])
    assert huge.summaries[0].mean == pytest.approx(2e200)
    assert huge.summaries[0].low == pytest.approx(2e200 - 4.302652729911275 * 1e200 / math.sqrt(3), rel=1e-9)
    assert good.summaries[0].mean == 2.0
    assert one(samples[:2], from_list([1.7e308, 1.7e308])).summaries[0].mean == pytest.approx(1.7e308)


def test_a_number_beyond_64_bits_is_that_question_s_error(samples: list[Sample]) -> None:
    scoring = one(samples[:2], from_list([2**70, 5], int))
    assert scoring.values["value"] == [None, 5]
    assert "64 bits" in (scoring.errors[0] or "")


def test_numpy_and_pandas_values_are_what_they_hold(samples: list[Sample]) -> None:
    import numpy as np
    import pandas as pd

    class Mixed(Metric, register=False):
        """Mixed."""

        a = Measure(float, "a")
        b = Measure(dict, "b")

        def score_sample(self, sample: Sample) -> Any:
            return [
                {"a": np.float32("nan"), "b": np.array([1, 2])},
                {"a": pd.NA, "b": {"x": np.int64(3)}},
                {"a": np.float64(0.5), "b": None},
            ][int(sample.case.id)]

    scoring = one(samples[:3], Mixed())
    assert scoring.values == {"a": [None, None, 0.5], "b": [[1, 2], {"x": 3}, None]}
    assert scoring.errors == [None] * 3


@pytest.mark.parametrize("end", [asyncio.CancelledError, SystemExit, GeneratorExit])
@pytest.mark.parametrize("form", ["async", "sync"])
def test_a_metric_that_wants_to_end_everything_costs_one_question(samples: list[Sample], end: type, form: str) -> None:
    class Ending(Metric, register=False):
        """Ending."""

        value = Measure(float, "a value")

        def score_sample(self, sample: Sample) -> Any:
            if sample.case.id == "1":
                raise end
            return 1.0

    class EndingLater(Ending, register=False):
        """Ending later."""

        async def score_sample(self, sample: Sample) -> Any:
            await asyncio.sleep(0.001)
            return Ending.score_sample(self, sample)

    first, second = score(samples[:3], [EndingLater() if form == "async" else Ending(), from_list([1.0] * 3)])
    assert first.values["value"] == [1.0, None, 1.0]
    assert (first.errors[1] or "").startswith(end.__name__)
    assert second.values["value"] == [1.0] * 3


def test_an_exception_that_cannot_be_shown_is_still_an_error(samples: list[Sample]) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    scoring = one(samples[:2], from_list([Mute(), 1.0]))
    assert scoring.values["value"] == [None, 1.0]
    assert (scoring.errors[0] or "").startswith("Mute")


def test_errors_and_missing_are_counted_as_they_are_listed(samples: list[Sample]) -> None:
    class Half(Metric, register=False):
        """Half."""

        a = Measure(float, "a")
        b = Measure(float, "b")

        def score_sample(self, sample: Sample) -> Any:
            return {"a": RuntimeError("no"), "b": Missing("why")}

    scoring = one(samples[:3], Half())
    assert [(s.n_scored, s.n_errors, s.n_missing) for s in scoring.summaries] == [(0, 3, 0), (0, 0, 3)]
    assert [reason_of(scoring, 0, m)[0] for m in ("a", "b")] == ["error", "missing"]


def test_only_a_parameter_without_default_receives_the_context(samples: list[Sample]) -> None:
    class Strict(Metric, register=False):
        """Strict."""

        def score_sample(self, sample: Sample, strict: bool = False) -> bool:
            return not strict

    assert one(samples[:2], Strict()).values["value"] == [True, True]


def test_a_batch_may_return_a_series(samples: list[Sample]) -> None:
    import pandas as pd

    class Column(Metric, register=False):
        """Column."""

        def score_batch(self, samples: list[Sample]) -> Any:
            return pd.Series([0.5] * len(samples), index=range(7, 7 + len(samples)))

    assert one(samples[:2], Column()).values["value"] == [0.5, 0.5]


def test_an_evaluation_with_details_that_are_no_json_keeps_its_score(samples: list[Sample]) -> None:
    class Odd(Evaluator, register=False):
        """Odd."""

        def score_sample(self, sample: Sample) -> Evaluation:
            return Evaluation(0.5, details={"o": object()} if sample.case.id == "0" else None)  # type: ignore[arg-type]

    scoring = one(samples[:2], Odd())
    assert scoring.values["score"] == [0.5, 0.5]
    assert scoring.errors == [None, None]


def test_embedding_shows_its_progress_and_keeps_the_order(capfd: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    from chatbench.scoring.progress import progress_bar

    texts = ["x" * (i * 7 % 900) for i in range(900)]
    vectors = Context(lambda t, model: np.array([[len(s)] for s in t]), progress_bar).embed(texts, "mine")
    assert vectors[:, 0].tolist() == [len(t) for t in texts]
    assert "embedding by mine" in capfd.readouterr().err
