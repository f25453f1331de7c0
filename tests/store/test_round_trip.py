"""What goes in comes out equal: columns, reasons, responses, cases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import Document
from chatbench.core.measure import Measure
from chatbench.core.redact import names_a_secret, redact
from chatbench.core.response import Response
from chatbench.core.scores import Scoring
from chatbench.store import Store
from tests.store import examples

# Lone surrogates and NUL are cleaned where text enters the package; see test_unstorable_text.
# What looks like a secret is blanked; see test_no_secret_is_stored. (The generator tries words of our own code.)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12).filter(
    lambda text: redact(text) == text and not names_a_secret(text)
)
# Larger ones overflow in the variance, which is not the store's matter.
NUMBER = st.floats(-1e100, 1e100)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
KINDS: dict[str, tuple[type, st.SearchStrategy[Any]]] = {
    "f": (float, NUMBER),
    "i": (int, st.integers(-(2**63), 2**63 - 1)),
    "b": (bool, st.booleans()),
    "s": (str, TEXT),
    "j": (dict, OBJECT | st.lists(JSON, max_size=3)),
}
MEASURES = (
    *(Measure(kind, f"a {name}", name=name) for name, (kind, _) in KINDS.items()),
    Measure(float, "one number", at_least=0, at_most=1, better="lower", name="whole", of_run=True),
)
DOCUMENTS = st.builds(Document, TEXT, OBJECT, st.none() | TEXT.filter(bool), st.none() | TEXT.filter(bool))
TUPLE = st.lists(TEXT, max_size=2).map(tuple)
RESPONSE_FIELDS = {
    "answer": st.none() | TEXT,
    "documents": st.lists(DOCUMENTS, max_size=2).map(tuple),
    "contexts": TUPLE,
    "context_ids": TUPLE,
    "is_answerable": st.none() | st.booleans(),
    "outputs": OBJECT,
    "seconds": st.none() | st.floats(0, 1e6),
    "tokens": st.none() | st.dictionaries(TEXT, st.integers(0, 9), max_size=2),
    "error": st.none() | TEXT,
}


@st.composite
def stored_runs(draw: st.DrawFn) -> tuple[Dataset, list[Response], Scoring]:
    ids = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    cases = tuple(
        Case(
            draw(TEXT | st.builds(lambda q: {"question": q}, TEXT)),
            id=i,
            answers=draw(TUPLE),
            metadata=draw(OBJECT),
            tags=draw(TUPLE),
        )
        for i in ids
    )
    repeat = draw(st.integers(1, 3))
    responses = [
        Response(attempt=a, **{k: draw(s) for k, s in RESPONSE_FIELDS.items()})
        for _ in ids
        for a in range(1, repeat + 1)
    ]
    n = len(responses)

    def column(strategy: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(st.none() | strategy, min_size=n, max_size=n))

    made = Scoring(
        metric="Everything",
        table="everything",
        label=draw(TEXT),
        signature=draw(TEXT),
        code_hash=draw(TEXT),
        measures=MEASURES,
        case_ids=[i for i in ids for _ in range(repeat)],
        attempts=[r.attempt for r in responses],
        values={name: column(strategy) for name, (_, strategy) in KINDS.items()},
        errors=column(TEXT),
        missing=column(st.dictionaries(st.sampled_from(sorted(KINDS)), TEXT, max_size=2)),
        run_values={"whole": draw(NUMBER)},
        versions=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        model=draw(st.none() | TEXT),
        prompt_hash=draw(st.none() | TEXT),
        seconds=draw(st.none() | NUMBER),
        error=draw(st.none() | TEXT),
    )
    return Dataset(cases, name=draw(TEXT), path=draw(st.none() | TEXT)), responses, examples.with_summaries(made)


@pytest.fixture(scope="module", params=["duckdb", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if request.param == "duckdb":
        yield Store(tmp_path_factory.mktemp("round_trip") / "benchmark.duckdb")
    else:
        server = request.getfixturevalue("server")
        url = server.new_database()
        yield Store(url)
        server.drop_database(url)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(stored_runs(), TEXT, OBJECT)
def test_everything_comes_back_equal(shared: Store, case: Any, name: str, facts: dict[str, Any]) -> None:
    questions, responses, made = case
    run = examples.run_of(questions, name, settings=facts, versions={"python": "3.11"})
    shared.save_run(run, questions, responses, [made])
    stored = shared.load(run.run_id)
    assert stored.run == run
    assert stored.dataset == questions
    assert stored.dataset.fingerprint == run.dataset_id
    assert stored.responses == responses
    assert stored.scorings == [made]
    assert {k: list(map(type, v)) for k, v in stored.scorings[0].values.items()} == {
        k: list(map(type, v)) for k, v in made.values.items()
    }


def test_one_question_set_under_two_names(store: Store) -> None:
    for name in ("physics", ""):  # without a name is not the name that another run gave
        questions = examples.dataset(name=name)
        assert store.load(examples.saved(store, questions=questions)).dataset.name == name


def test_order_of_questions_and_attempts(store: Store) -> None:
    questions = Dataset(tuple(Case(f"{i}", id=i) for i in ("z", "a", "m")))
    made = examples.scoring(questions, {"words": range(6)}, repeat=2, kinds={"words": int})
    run = examples.run_of(questions)
    store.save_run(run, questions, examples.answers(questions, 2), [made])
    stored = store.load(run.run_id).scorings[0]
    assert stored.case_ids == ["z", "z", "a", "a", "m", "m"]
    assert stored.attempts == [1, 2] * 3
    assert stored.values["words"] == [0, 1, 2, 3, 4, 5]


def test_unstorable_text_costs_no_run(store: Store) -> None:
    questions = examples.dataset(1)
    run = examples.run_of(questions, "name \udfff")
    store.save_run(run, questions, [Response("an \ud800 answer", contexts=("\udc00",))], [])
    stored = store.load(run.run_id)
    assert stored.run.name == "name \ufffd"
    assert store.find_run("name \0").run_id == run.run_id
    assert stored.responses == [Response("an \ufffd answer", contexts=("\ufffd",))]


def test_times_are_utc(store: Store, tmp_path: Path) -> None:
    questions = examples.dataset()
    moment = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)
    run = examples.run_of(questions, created_at=moment)
    store.save_run(run, questions, examples.answers(questions), [])
    assert store.load(run.run_id).run.created_at == moment
    shown = store.query("SELECT CAST(created_at AS VARCHAR) AS t, created_at FROM runs")
    assert shown["t"][0].startswith("2026-03-29 01:30:00.123456")
    assert str(shown["created_at"].dtype) == "datetime64[us, UTC]"


def test_no_secret_is_stored(store: Store) -> None:
    questions = examples.dataset(1)
    settings = {"model": "small", "api_key": "abc", "steps": [{"url": "https://me:pw@host/v1"}]}
    run = examples.run_of(questions, settings=settings)
    store.save_run(run, questions, [Response("a", error="401: api_key=abc")], [])
    stored = store.load(run.run_id)
    assert stored.run.settings == {"model": "small", "api_key": "***", "steps": [{"url": "https://***@host/v1"}]}
    assert stored.responses[0].error == "401: api_key=***"
    assert run.settings == settings
