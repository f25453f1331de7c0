"""Cases, datasets and the pairing with answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset, case_content, case_from_content
from chatbench.core.pairing import pair, respond
from chatbench.core.response import Response
from chatbench.errors import DatasetError, InputError, LengthError

CASES = tuple(Case(f"Question {i}?", str(i), (f"a{i}",), (f"d{i}",)) for i in range(3))


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ("Q?", "Q?"),
        ({"question": "Q?", "level": 3}, "Q?"),
        (
            [
                {"role": "user", "content": "old"},
                {"role": "assistant", "content": "x"},
                {"role": "user", "content": "Q?"},
            ],
            "Q?",
        ),
        ({"question": [{"role": "user", "content": "Q?"}]}, "Q?"),
        ([], ""),
        (7, "7"),
    ],
)
def test_the_question_is_the_text_view_of_the_input(given: Any, question: str) -> None:
    assert Case(given).question == question


def test_duplicate_ids_are_named() -> None:
    with pytest.raises(DatasetError, match=r"'1' \(records 2 and 4\)"):
        Dataset((*CASES, CASES[1]))


def test_the_fingerprint_is_of_the_content_only() -> None:
    one = Dataset((Case("Q", "1", metadata={"a": 1, "b": 2}),), "x", "/somewhere")
    other = Dataset((Case("Q", "1", metadata={"b": 2, "a": 1}),), "y")
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != Dataset((Case("Q", "2", metadata={"a": 1, "b": 2}),)).fingerprint
    assert one.fingerprint != Dataset((Case("Q", "1", is_answerable=False, metadata={"a": 1, "b": 2}),)).fingerprint


def test_a_case_survives_its_json() -> None:
    case = Case({"question": "Q"}, "1", ("a", "b"), ("d",), ("c",), ("ci",), {"d": 2.0}, False, ("t",), {"m": [1]})
    assert case_from_content(case_content(case)) == case


@pytest.mark.parametrize(("answers", "documents"), [(2, 3), (3, 2), (4, 4), (0, 0)])
def test_unequal_lengths_are_refused_with_all_numbers(answers: int, documents: int) -> None:
    with pytest.raises(LengthError, match=f"3 questions, {answers} answers and {documents} document lists"):
        respond(["a"] * answers, [[]] * documents, CASES)


@pytest.mark.parametrize(
    ("answers", "documents", "text"),
    [
        ("abc", [[], [], []], "answers is one text"),
        (["a", "b", "c"], "abc", "documents is one text"),
        (["a", 3, "c"], [[], [], []], r"answer to question 2 \('1'\) is a int"),
        (["a", "b", "c"], [[], "d.txt", []], r"documents of question 2 \('1'\) is a str 'd.txt', but a list"),
        (["a", "b", "c"], ["x", "y", "z"], "a list of documents is due"),
    ],
)
def test_bad_answers_are_refused_with_their_place(answers: Any, documents: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        respond(answers, documents, CASES)


def test_no_answer_is_kept_as_missing() -> None:
    responses = respond(["a", None, Response("c", attempt=2)], None, CASES)
    assert [r.answer for r in responses] == ["a", None, "c"]
    assert responses[1].error == "the system gave no answer (None)"


def test_attempts_belong_to_their_case() -> None:
    responses = [Response(f"{case}{attempt}", attempt=attempt) for case in "abc" for attempt in (1, 2)]
    samples = pair(Dataset(CASES), responses)
    assert [(s.case.id, s.response.answer) for s in samples][:3] == [("0", "a1"), ("0", "a2"), ("1", "b1")]
    with pytest.raises(LengthError, match="5 responses do not belong to 3 questions"):
        pair(Dataset(CASES), responses[:5])


def test_cases_made_by_hand_are_cleaned_and_lenient() -> None:
    """A lone surrogate, as some PDFs give, must not stop the fingerprint or a whole store call."""
    case = Case("What \ud800?", 7, "Paris", ["a.txt"], metadata={"path": Path("x/y"), "bad": "\x00"})  # type: ignore[arg-type]
    assert (case.id, case.answers, case.documents) == ("7", ("Paris",), ("a.txt",))
    assert case.question == "What \N{REPLACEMENT CHARACTER}?"
    assert case.metadata == {"path": "x/y", "bad": "\N{REPLACEMENT CHARACTER}"}
    assert len(Dataset((case,)).fingerprint) == 16


def test_metadata_that_is_no_json_costs_nothing() -> None:
    [response] = respond(
        ["a"], [[{"text": "t", "metadata": {"name": "n", "file": Path("p"), "vector": {1, 2}}}]], CASES[:1]
    )
    assert response.documents[0].metadata == {"name": "n", "file": "p", "vector": [1, 2]}
