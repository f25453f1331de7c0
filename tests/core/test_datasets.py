"""Cases, datasets and the pairing with answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
        ([{"role": "user", "content": None}], ""),
        ([{"role": "user", "content": [{"type": "text", "text": "Q?"}, {"type": "image_url", "image_url": {}}]}], "Q?"),
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
        ("abc", [[], [], []], "answers is a str 'abc', but a list with one answer per question"),
        (["a", "b", "c"], "abc", "documents is a str 'abc', but a list with one list of documents per question"),
        ({"q1": "a", "q2": "b", "q3": "c"}, None, "answers is a dict"),
        ({"a", "b", "c"}, None, r"answers is a set .*\(a set has no order\)"),
        (b"abc", None, "answers is a bytes"),
        (None, None, "answers is a NoneType None, but a list"),
        (np.array("abc"), None, "answers is a ndarray"),
        (pd.DataFrame({"x": [1], "y": [2], "z": [3]}), None, "answers is a DataFrame"),
        (["a", "b", "c"], {"q1": [], "q2": [], "q3": []}, "documents is a dict"),
        (["a", "b", "c"], [[], {"d"}, []], r"documents of question 2 .* is a set .*\(a set has no order\)"),
        (["a", b"b", "c"], None, r"answer to question 2 \('1'\) is a bytes b'b'; text, None or a Response is due"),
        (["a", {"answer": "b"}, "c"], None, r"answer to question 2 \('1'\) is a dict"),
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


@pytest.mark.parametrize(
    "answers",
    [
        ("a", "b", None),
        (letter for letter in ("a", "b", None)),
        {0: "a", 1: "b", 2: None}.values(),
        np.array(["a", "b", None], dtype=object),
        [np.str_("a"), np.array(["b"])[0], np.float64("nan")],
        ["a", "b", float("nan")],
        pd.Series(["a", "b", None], index=[2, 1, 0]),
        pd.Series(["a", "b", pd.NA], dtype="string"),
        pd.DataFrame({"answer": ["a", "b", pd.NaT]}, index=["x", "x", "x"])["answer"],
    ],
)
def test_answers_come_in_whatever_has_an_order(answers: Any) -> None:
    responses = respond(answers, None, CASES)
    assert [r.answer for r in responses] == ["a", "b", None]
    assert {type(r.answer) for r in responses[:2]} == {str}
    assert responses[2].error == "the system gave no answer (None)"


# fault 9 of chATLAS_Benchmark 0.0.10: None as document list was a TypeError
@pytest.mark.parametrize("nothing", [None, [], (), float("nan"), pd.NA, np.array([])])
def test_no_document_list_is_an_empty_one(nothing: Any) -> None:
    responses = respond(["a", "b", "c"], [["d"], nothing, ("e", "f")], CASES)
    assert [[d.name for d in r.documents] for r in responses] == [["d"], [], ["e", "f"]]


def test_document_lists_come_in_whatever_has_an_order() -> None:
    lists = [["d"], np.array(["e", "f"]), (name for name in "gh")]
    for documents in (iter(lists), pd.Series([["d"], ["e", "f"], ["g", "h"]], index=[2, 1, 0])):
        responses = respond(["a", "b", "c"], documents, CASES)
        assert [[d.name for d in r.documents] for r in responses] == [["d"], ["e", "f"], ["g", "h"]]


def test_a_response_gets_the_documents_of_its_place() -> None:
    given = [Response("a", seconds=1), Response("b", ["own"]), "c"]  # type: ignore[arg-type]
    responses = respond(given, [["d"], None, ["e"]], CASES)
    assert [(r.answer, [d.name for d in r.documents]) for r in responses] == [
        ("a", ["d"]),
        ("b", ["own"]),
        ("c", ["e"]),
    ]
    assert responses[0].seconds == 1
    assert respond(given[:1], None, CASES[:1]) == given[:1]
    with pytest.raises(InputError, match=r"Response to question 2 \('1'\) has 1 documents of its own, and 2 are given"):
        respond(given, [["d"], ["e", "f"], []], CASES)


def test_the_name_key_holds_for_the_documents_of_a_response() -> None:
    given = Response("a", [{"text": "t", "title": "T", "name": "n"}])  # type: ignore[arg-type]
    [response] = respond([given], None, CASES[:1], "title")
    assert response.documents[0].name == "T"


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


def test_a_dataset_made_by_hand_is_cleaned_and_checked() -> None:
    dataset = Dataset(list(CASES), "set \ud800", Path("x\udcff.json"))  # type: ignore[arg-type]
    assert (dataset.cases, dataset.name, dataset.path) == (
        CASES,
        "set \N{REPLACEMENT CHARACTER}",
        "x\N{REPLACEMENT CHARACTER}.json",
    )
    assert Dataset(CASES, "a\x00").name == "a\N{REPLACEMENT CHARACTER}"
    with pytest.raises(InputError, match="record 2 of a Dataset is a dict .* a Case is due"):
        Dataset((CASES[0], {"question": "Q?"}))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="name of a Dataset is a int 3"):
        Dataset(CASES, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cases of a Dataset is a Case"):
        Dataset(CASES[0])  # type: ignore[arg-type]


def test_metadata_that_is_no_json_costs_nothing() -> None:
    [response] = respond(
        ["a"], [[{"text": "t", "metadata": {"name": "n", "file": Path("p"), "vector": {1, 2}}}]], CASES[:1]
    )
    assert response.documents[0].metadata == {"name": "n", "file": "p", "vector": [1, 2]}
