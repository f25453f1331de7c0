"""Declaring a metric: measures, parameters, names, equality, registration."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chatbench import Evaluator, Measure, Metric
from chatbench.core.response import Sample
from chatbench.errors import MetricDefinitionError, UnknownMetricError
from chatbench.scoring import registry
from tests.places import ROOT


class Graded(Metric, register=False):
    """A metric with parameters of every kind."""

    k: int = 10
    threshold: float = 0.5
    words: tuple[str, ...] = ("a",)
    options: dict[str, Any] = {}  # noqa: RUF012 - a default that a user may write

    recall = Measure(float, "found of gold", at_least=0, at_most=1, better="higher")
    rank = Measure(int, "place of the first hit", at_least=1, better="lower")

    def score_sample(self, sample: Sample) -> dict[str, Any]:
        return {"recall": 0.5, "rank": self.k}


def test_measures_are_declared_in_order() -> None:
    assert [m.name for m in Graded.measures] == ["recall", "rank"]
    assert Graded.table == "graded"


def test_equal_parameters_are_one_metric() -> None:
    assert Graded(threshold=1) == Graded(threshold=1.0)
    assert hash(Graded(words=["x"])) == hash(Graded(words=("x",)))  # type: ignore[arg-type]
    assert Graded(k=3) != Graded(k=5)
    assert Graded(k=3).signature == 'Graded({"k":3,"options":{},"threshold":0.5,"words":["a"]})'


def test_repr_shows_what_differs_and_reads_back() -> None:
    metric = Graded(k=3, words=("x", "y"), options={"a": [1, 2]})
    assert repr(metric) == "Graded(k=3, words=['x', 'y'], options={'a': [1, 2]})"
    assert eval(repr(metric), {"Graded": Graded}) == metric
    assert (Graded().label, Graded(k=3).label) == ("", "Graded(k=3)")


def test_a_metric_is_frozen_and_can_be_sent_to_another_process() -> None:
    metric = Graded(k=3)
    with pytest.raises(AttributeError):
        metric.k = 4  # type: ignore[misc]
    with pytest.raises(TypeError):
        Graded(3)  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), print])
def test_parameters_are_json(value: Any) -> None:
    with pytest.raises(MetricDefinitionError, match="threshold.*JSON values"):
        Graded(threshold=value)


def test_a_default_is_not_shared() -> None:
    Graded().options["x"] = 1
    assert Graded().options == {}


def test_post_init_of_the_user_sees_normalised_parameters() -> None:
    class Checked(Metric, register=False):
        """Checks itself."""

        share: float = 1

        def __post_init__(self) -> None:
            assert isinstance(self.share, float)
            if self.share > 1:
                raise MetricDefinitionError("share is at most 1")

        def score_sample(self, sample: Sample) -> float:
            return self.share

    assert Checked(share=1).share == 1.0
    with pytest.raises(MetricDefinitionError, match="at most 1"):
        Checked(share=2)


def test_an_annotated_measure_is_refused() -> None:
    with pytest.raises(MetricDefinitionError, match="measure with an annotation"):

        class Wrong(Metric):
            """Wrong."""

            words: Any = Measure(int, "words")

            def score_sample(self, sample: Sample) -> int:
                return 1


def test_two_methods_are_refused() -> None:
    with pytest.raises(MetricDefinitionError, match="implement one of them"):

        class Both(Metric):
            """Both."""

            def score_sample(self, sample: Sample) -> int:
                return 1

            def score_batch(self, samples: Any) -> list[int]:
                return [1]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("select", "reserved word"),
        ("asof", "reserved word"),
        ("runs", "itself uses"),
        ("a" * 31, "31 characters"),
        ('a"; drop table runs; --', "may hold only"),
        ("naïve", "may hold only"),
        ("1st", "may hold only"),
    ],
)
def test_impossible_tables_are_refused_when_the_class_is_defined(table: str, fault: str) -> None:
    with pytest.raises(MetricDefinitionError, match=fault):

        class Odd(Metric, table=table):
            """Odd."""

            def score_sample(self, sample: Sample) -> int:
                return 1

    assert "Odd" not in registry.all_metrics()


def test_impossible_columns_are_refused() -> None:
    for name in ("order", "error", "Words", "run_id"):
        with pytest.raises(MetricDefinitionError, match=repr(name)):
            type("Odd", (Metric,), {name: Measure(int, "x"), "score_sample": lambda self, sample: 1, "__doc__": "Odd."})


def test_the_type_of_an_undeclared_value_follows_the_annotation() -> None:
    class Yes(Metric, register=False):
        """Whether it is long."""

        def score_sample(self, sample: Sample) -> bool:
            return True

    class Many(Metric, register=False):
        """How many."""

        def score_sample(self, sample: Sample) -> int:
            return 1

    assert [(m.name, m.type, m.sentence) for m in Yes.measures] == [("value", bool, "Whether it is long.")]
    assert Many.measures[0].type is int


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("bool | None", bool),
        ("list[bool | None]", bool),
        ("Optional[int]", int),
        ("int | float", float),
        ("Any", float),
    ],
)
def test_none_in_an_annotation_says_only_that_a_value_may_be_missing(annotation: str, kind: type) -> None:
    def score_sample(self: Any, sample: Any) -> Any:
        return None

    score_sample.__annotations__["return"] = annotation

    metric = type("Maybe", (Metric,), {"score_sample": score_sample, "__doc__": "Maybe."})
    assert metric.measures[0].type is kind  # type: ignore[attr-defined]


def test_defaults_are_defaults_in_every_spelling() -> None:
    class Spelled(Metric, register=False):
        """Defaults in every spelling."""

        share: float = 1
        words: tuple[str, ...] = frozenset({"b", "a"})  # type: ignore[assignment]

        def score_sample(self, sample: Sample) -> float:
            return self.share

    assert (Spelled().label, Spelled(share=1.0).label, Spelled(words=("a", "b")).label) == ("", "", "")
    assert Spelled().signature == 'Spelled({"share":1.0,"words":["a","b"]})'


@pytest.mark.parametrize("name", ["table", "parameters", "name", "label", "code_hash"])
def test_names_that_every_metric_has_are_refused(name: str) -> None:
    with pytest.raises(MetricDefinitionError, match="call it otherwise"):
        type("Odd", (Metric,), {name: Measure(int, "x"), "score_sample": lambda self, sample: 1, "__doc__": "Odd."})
    with pytest.raises(MetricDefinitionError, match="call it otherwise"):
        type("Odd", (Metric,), {"__annotations__": {name: int}, name: 1, "__doc__": "Odd."})


def test_an_abstract_base_is_not_registered_and_its_children_share_its_measures() -> None:
    class Base(Metric):
        """Base."""

        limit: int = 5
        length = Measure(int, "characters")

    class OfAnswer(Base):
        """Characters of the answer."""

        def score_sample(self, sample: Sample) -> int:
            return min(len(sample.answer), self.limit)

    assert "Base" not in registry.all_metrics()
    assert registry.find_metric("OfAnswer") is OfAnswer
    assert [m.name for m in OfAnswer.measures] == ["length"]
    assert OfAnswer(limit=2).limit == 2
    assert [m.name for m in Evaluator.measures] == ["score", "passed", "reasoning", "details"]


def test_defining_again_replaces_and_the_code_hash_tells() -> None:
    def define(n: int) -> type[Metric]:
        if n == 1:

            class Again(Metric):
                """First."""

                def score_sample(self, sample: Sample) -> int:
                    return 1  # a comment does not count

        else:

            class Again(Metric):  # type: ignore[no-redef]
                """Second."""

                def score_sample(self, sample: Sample) -> int:
                    return 2

        return Again

    first, second = define(1), define(2)
    assert registry.find_metric("Again") is second
    assert first().code_hash() != second().code_hash()
    assert first().code_hash() == define(1)().code_hash()


def test_another_owner_of_a_taken_name_is_refused() -> None:
    space: dict[str, Any] = {"__name__": "somewhere_else", "Metric": Metric}
    source = "class LexicalMetrics(Metric):\n    'Mine.'\n    def score_sample(self, sample):\n        return 1\n"
    registry.all_metrics()
    with pytest.raises(MetricDefinitionError, match=r"exists already.*lexical_metrics\.py"):
        exec(source, space)
    with pytest.raises(MetricDefinitionError, match="share the table 'lexical_metrics'"):
        exec(source.replace("LexicalMetrics(Metric)", "Other(Metric, table='lexical_metrics')"), space)


def test_result_columns_may_not_fall_together() -> None:
    class Ab(Metric):
        """One."""

        c_d = Measure(int, "x")

        def score_sample(self, sample: Sample) -> int:
            return 1

    with pytest.raises(MetricDefinitionError, match="'ab_c_d'"):

        class AbC(Metric, table="ab_c"):
            """Two."""

            d = Measure(int, "x")

            def score_sample(self, sample: Sample) -> int:
                return 1


def test_a_name_is_found_and_a_miss_gets_a_hint() -> None:
    with pytest.raises(UnknownMetricError, match="Did you mean 'LexicalMetrics'"):
        registry.find_metric("lexicalmetric")
    assert repr(registry.parse_metric("Retrieval(k=3)")) == "Retrieval(k=3)"
    with pytest.raises(UnknownMetricError, match="no parameter 'n'.*It has: k"):
        registry.parse_metric("Retrieval(n=3)")


@pytest.mark.parametrize("text", ["Retrieval(k=__import__('os'))", "Retrieval(3)", "Retrieval(k=", "x.y(k=1)"])
def test_a_name_is_never_evaluated(text: str) -> None:
    with pytest.raises(UnknownMetricError, match="Cannot read"):
        registry.parse_metric(text)


def test_aliases_lead_to_their_metric_and_cannot_be_taken() -> None:
    class Polite(Metric, aliases=("evals:polite", "PoliteEvaluator")):
        """Polite."""

        def score_sample(self, sample: Sample) -> bool:
            return True

    assert registry.find_metric("evals:polite") is Polite
    for taken in ("LexicalMetrics", "evals:polite"):
        with pytest.raises(MetricDefinitionError, match="is taken by"):

            class Thief(Metric, aliases=(taken,)):
                """Thief."""

                def score_sample(self, sample: Sample) -> bool:
                    return True


def test_a_class_may_not_take_the_name_of_an_alias_and_the_alias_stays() -> None:
    class Owner(Metric, aliases=("OtherSpelling",)):
        """Owner."""

        def score_sample(self, sample: Sample) -> bool:
            return True

    with pytest.raises(MetricDefinitionError, match="is an alias of Owner already"):

        class OtherSpelling(Metric):
            """Other."""

            def score_sample(self, sample: Sample) -> bool:
                return True

    assert registry.find_metric("OtherSpelling") is Owner


def test_another_package_offers_metrics_by_an_entry_point(tmp_path: Path) -> None:
    """A real installed distribution with a metric, and one that is broken and must not take the others down."""
    (tmp_path / "other_metrics.py").write_text(
        "from chatbench import Metric\n\n\nclass FromElsewhere(Metric):\n    'From elsewhere.'\n\n"
        "    def score_sample(self, sample) -> int:\n        return 1\n",
        encoding="utf-8",
    )
    info = tmp_path / "other_metrics-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-metrics\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[chatbench.metrics]\ngood = other_metrics\nbad = not_there\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import chatbench; print('FromElsewhere' in chatbench.all_metrics())"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
    assert "'not_there' cannot be loaded" in done.stderr


@pytest.mark.parametrize(
    "value",
    ["sk-abcdefgh12345678XYZ", "https://me:PW@h/x", "api_key=PW", {"api_key": "PW"}, {"a": [{"token": "PW"}]}],
)
def test_secrets_cannot_be_parameters(value: Any) -> None:
    """Parameters are stored as label and signature."""

    class Remote(Metric, register=False):
        """Remote."""

        where: Any = "http://127.0.0.1"

        def score_sample(self, sample: Sample) -> float:
            return 1.0

    with pytest.raises(MetricDefinitionError, match="looks like a secret"):
        Remote(where=value)
    with pytest.raises(MetricDefinitionError, match="looks like a secret"):
        type("Keyed", (Metric,), {"__annotations__": {"api_key": str}, "api_key": "", "__doc__": "Keyed."})


def test_constants_and_closures_count_as_code() -> None:
    def define(limit: int, factor: int) -> Metric:
        class Constant(Metric, register=False):
            """Constant."""

            LIMIT = limit

            def score_sample(self, sample: Sample) -> float:
                return float(self.LIMIT * factor)

        return Constant()

    assert define(3, 1).code_hash() == define(3, 1).code_hash()
    assert len({define(3, 1).code_hash(), define(5, 1).code_hash(), define(3, 2).code_hash()}) == 3


def test_declarations_of_measures_count_as_code() -> None:
    def hash_of(kind: type = float, sentence: str = "a share", **declared: Any) -> str:
        class Directed(Metric, register=False):
            """Directed."""

            share = Measure(kind, sentence, **declared)

            def score_sample(self, sample: Sample) -> dict[str, float]:
                return {"share": 1.0}

        return Directed().code_hash()

    up = {"better": "higher", "at_least": 0, "at_most": 1}
    different = [{}, up, {**up, "better": "lower"}, {**up, "at_least": -1}, {**up, "at_most": 2}, {**up, "kind": int}]
    assert len({hash_of(**each) for each in different}) == len(different)
    assert hash_of(**up) == hash_of(**up, sentence="other words")


def test_a_miss_names_the_real_parameters() -> None:
    with pytest.raises(UnknownMetricError, match="It has: tokenizer, stemmer"):
        registry.parse_metric("LexicalMetrics(x=1)")
