"""Records to cases: which keys are read, what becomes text, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatbench.core.case import Case
from chatbench.core.dataset import UNNAMED, Dataset
from chatbench.errors import DatasetError, InputError, InputTypeError, MissingKeyError
from chatbench.loaders import load_dataset

KEYS = {"test_questions": "q", "test_answers": "a", "test_documents": "d"}


def only(record: dict[str, Any]) -> Case:
    return load_dataset([record]).cases[0]


def test_every_field_is_read() -> None:
    record = {
        "id": 7,
        "question": "Which magnet?",
        "answers": ["solenoid", "a solenoid"],
        "documents": ["magnet.txt"],
        "contexts": ["The solenoid bends tracks."],
        "context_ids": [12],
        "relevance": {"magnet.txt": 2, "other.txt": 0},
        "is_answerable": True,
        "tags": ["detector"],
        "metadata": {"level": 3},
        "author": "x",
    }
    assert only(record) == Case(
        "Which magnet?",
        "7",
        ("solenoid", "a solenoid"),
        ("magnet.txt",),
        ("The solenoid bends tracks.",),
        ("12",),
        {"magnet.txt": 2.0, "other.txt": 0.0},
        True,
        ("detector",),
        {"author": "x", "level": 3},
    )


def test_the_plural_counts_where_both_are_there() -> None:
    case = only({"question": "Q?", "answer": "one", "answers": ["two"], "document": "a", "documents": []})
    assert (case.answers, case.documents, case.metadata) == (("two",), (), {})
    assert only({"question": "Q?", "answer": "one", "answers": None}).answers == ("one",)


@pytest.mark.parametrize("given", ["Q?", {"question": "Q?", "n": 1}, [{"role": "user", "content": "Q?"}]])
def test_input_is_any_json(given: Any) -> None:
    case = only({"input": given})
    assert (case.input, case.question) == (given, "Q?")


def test_question_comes_before_input_which_is_kept() -> None:
    case = only({"question": "Q?", "input": {"a": 1}})
    assert (case.input, case.metadata) == ("Q?", {"input": {"a": 1}})


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("x", ("x",)),
        ("007", ("007",)),
        ("N/A", ("N/A",)),
        ("None", ("None",)),
        (42, ("42",)),
        (6.8, ("6.8",)),
        (True, ("true",)),
        (False, ("false",)),
        (0, ("0",)),
        ([1, "b", None, " ", 2.5], ("1", "b", "2.5")),
        (("a", "b"), ("a", "b")),
        (None, ()),
        ("", ()),
        (" \n", ()),
        (float("nan"), ()),
        ([], ()),
        ("a\x00b\ud800", ("a\ufffdb\ufffd",)),
        (" kept as written ", (" kept as written ",)),
    ],
)
def test_answers_and_documents_become_text(given: Any, texts: tuple[str, ...]) -> None:
    case = only({"question": "Q?", "answer": given, "document": given})
    assert (case.answers, case.documents) == (texts, texts)


def test_graded_documents_come_highest_first_whatever_the_order_of_keys() -> None:
    given = {"b.txt": 1, "c.txt": 3, "a.txt": 1, "no.txt": 0, "junk.txt": -1}
    case = only({"question": "Q?", "documents": given})
    assert case.documents == ("c.txt", "a.txt", "b.txt")
    assert case.relevance == {"c.txt": 3.0, "a.txt": 1.0, "b.txt": 1.0, "no.txt": 0.0, "junk.txt": -1.0}


@pytest.mark.parametrize(("given", "flag"), [(None, True), (True, True), (False, False), (0, False), (1.0, True)])
def test_is_answerable(given: Any, flag: bool) -> None:
    assert only({"question": "Q?", "is_answerable": given}).is_answerable is flag


def test_numpy_values_are_read_as_what_they_hold() -> None:
    record = {
        "id": np.int64(3),
        "question": "Q?",
        "answer": np.float64(6.8),
        "documents": {"a": np.int64(2)},
        "is_answerable": np.False_,
        "n": np.float64(0.5),
    }
    case = only(record)
    assert case == Case("Q?", "3", ("6.8",), ("a",), relevance={"a": 2.0}, is_answerable=False, metadata={"n": 0.5})
    assert type(case.metadata["n"]) is float


def test_empty_metadata_is_left_out() -> None:
    record = {"question": "Q?", "a": None, "b": float("nan"), "c": [float("nan")], "metadata": {"d": None, "e": 0}}
    assert only(record).metadata == {"c": [None], "e": 0}


# fault F12, OpenBMB/UltraRAG #511
def test_all_records_that_lack_keys_are_named() -> None:
    records = [
        {"question": "Beam energy?", "answer": "6.8 TeV", "documents": ["d1"]},
        {"question": "Number of layers?", "answer": "4"},
        {"question": "Who signs?", "documents": ["d3"]},
        {"question": "Cooling fluid?", "answer": "CO2", "documents": ["d4"]},
        {"answer": "x"},
    ]
    with pytest.raises(MissingKeyError) as caught:
        load_dataset(records)
    text = str(caught.value)
    assert text.startswith("3 records of 'Unknown dict' cannot be used: record 2: lacks 'documents' or 'document'; ")
    assert "record 3: lacks 'answers' or 'answer'; " in text
    assert "record 5: lacks 'question' or 'input' and 'documents' or 'document'." in text
    assert "Record 2 has the keys: 'question', 'answer'." in text
    assert isinstance(caught.value, KeyError | ValueError)


def test_a_set_may_have_no_references_at_all() -> None:
    loaded = load_dataset([{"question": "A?"}, {"question": "B?"}])
    assert [(case.answers, case.documents) for case in loaded] == [((), ()), ((), ())]


def test_unanswerable_records_need_no_references() -> None:
    records = [{"question": "A?", "answer": "a", "document": "d"}, {"question": "B?", "is_answerable": False}]
    assert [case.is_answerable for case in load_dataset(records)] == [True, False]
    with pytest.raises(MissingKeyError, match=r"record 2: lacks 'answers' or 'answer' and 'documents' or 'document'\."):
        load_dataset([records[0], {"question": "B?", "is_answerable": True}])


def test_chosen_keys_must_be_in_every_record() -> None:
    records = [{"q": "A?", "a": "x", "d": "y"}, {"q": "B?", "a": "x"}]
    with pytest.raises(MissingKeyError, match=r"record 2: lacks 'd'\. Record 2 has the keys: 'q', 'a'\."):
        load_dataset(records, keys=KEYS)
    with pytest.raises(MissingKeyError, match="2 records"):
        load_dataset([{"q": "A?", "a": "x"}, {"q": "B?", "a": "x"}], keys=KEYS)


def test_a_chosen_key_is_read_as_nothing_else() -> None:
    case = load_dataset(
        [{"tags": "Q?", "id": "doc", "a": "x", "question": "no"}],
        keys={"test_questions": "tags", "test_answers": "a", "test_documents": "id"},
    ).cases[0]
    assert (case.question, case.documents, case.tags, case.metadata) == ("Q?", ("doc",), (), {"question": "no"})
    assert case.id != "doc"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({**KEYS, "test_answer": "a"}, "'test_answer' is unknown. Did you mean 'test_answers'?"),
        ({"test_questions": "q", "test_documents": "d", "test_answer": "a"}, "'test_answers' is missing"),
        ({**KEYS, "test_answers": None}, "'test_answers' is None, but text is due"),
        ({**KEYS, "test_name": 3}, "'test_name' is 3, but text is due"),
        ({}, "'test_questions' is missing; 'test_answers' is missing; 'test_documents' is missing"),
    ],
)
def test_unusable_keys_are_named(keys: Any, text: str) -> None:
    with pytest.raises(InputError) as caught:
        load_dataset([], keys=keys)
    assert text in str(caught.value)
    assert '{"test_questions": "question"' in str(caught.value)


def test_keys_of_another_type() -> None:
    with pytest.raises(InputTypeError, match="keys is 'question', but a dict is due"):
        load_dataset([], keys="question")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ("a text", "is a str 'a text'"),
        (None, "is a NoneType None"),
        ({"question": None}, "'question' is null"),
        ({"question": " "}, "'question' is blank"),
        ({"question": 42}, "'question' is a int 42; text is due"),
        ({"question": ["Q?"]}, r"'question' is a list \['Q\?'\]; text is due"),
        ({"input": {}}, "'input' is empty"),
        ({"question": "Q?", "answer": {"a": 1}}, r"'answer' holds a dict \{'a': 1\}; text or a number is due"),
        ({"question": "Q?", "answers": [["a"]]}, r"'answers' holds a list \['a'\]"),
        ({"question": "Q?", "documents": [{"name": "a"}]}, "'documents' holds a dict"),
        ({"question": "Q?", "documents": {"a": "high"}}, "the grade of 'a' in 'documents' is a str 'high'"),
        ({"question": "Q?", "relevance": ["a"]}, "'relevance' is a list"),
        ({"question": "Q?", "relevance": {"a": float("inf")}}, "the grade of 'a' in 'relevance' is a float inf"),
        ({"question": "Q?", "is_answerable": "no"}, "'is_answerable' is a str 'no'; true or false is due"),
        ({"question": "Q?", "metadata": "x"}, "'metadata' is a str 'x'; an object is due"),
        ({"question": "Q?", "extra": {1j}}, r"'extra'\[0\] is a complex"),
        ({"question": "Q?", "contexts": ["a", "b"], "context_ids": [1]}, "there are 2 contexts and 1 context_ids"),
        ({"question": "Q?", "id": ["x"]}, "'id' holds a list"),
    ],
)
def test_unusable_records_are_named(record: Any, text: str) -> None:
    with pytest.raises(DatasetError, match=f"^1 record of 'mine' cannot be used: record 2: .*{text}"):
        load_dataset([{"question": "Fine?", "is_answerable": False}, record], name="mine")


def test_all_unusable_records_are_named_up_to_twenty() -> None:
    records: list[Any] = [{"question": 1}, {"question": "Q?"}, {"question": None}] + [{"question": ""}] * 22
    with pytest.raises(DatasetError) as caught:
        load_dataset(records)
    text = str(caught.value)
    assert text.startswith("24 records of")
    assert "record 1: 'question' is a int 1" in text
    assert "record 3: 'question' is null" in text
    assert "record 21: " in text
    assert "record 22: " not in text
    assert "; and 4 more. " in text


# fault F40, lavague-ai/LaVague #650
def test_nothing_in_the_data_is_run() -> None:
    text = "__import__('os').system('touch ./pwned')"
    case = only({"question": text, "answer": text, "document": text, "x": text})
    assert (case.question, case.answers, case.documents, case.metadata) == (text, (text,), (text,), {"x": text})
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("source", [{"question": "Q?"}, None, 3, iter([])])
def test_other_sources_are_refused(source: Any) -> None:
    with pytest.raises(InputTypeError, match=f"cannot be read from a {type(source).__name__}.*list of dicts"):
        load_dataset(source)


def test_names() -> None:
    assert load_dataset([]).name == UNNAMED
    assert load_dataset([], keys={**KEYS, "test_name": "winter"}).name == "winter"
    assert load_dataset([], name="mine", keys={**KEYS, "test_name": "winter"}).name == "mine"
    with pytest.raises(InputTypeError, match="name is 3"):
        load_dataset([], name=3)  # type: ignore[arg-type]


def test_a_dataset_goes_through() -> None:
    given = Dataset((Case("A?", "1"), Case("B?", "2")), "mine", "mine.json")
    assert load_dataset(given) == given
    assert load_dataset(given, num_q=1) == Dataset((Case("A?", "1"),), "mine", "mine.json")
    assert load_dataset(given, name="other").name == "other"
    with pytest.raises(InputError, match="keys= is for records"):
        load_dataset(given, keys=KEYS)


def test_no_questions_are_no_error() -> None:
    assert len(load_dataset(())) == 0
