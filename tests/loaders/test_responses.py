"""Responses from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import Document
from chatbench.core.response import Response
from chatbench.errors import DatasetError, LengthError
from chatbench.loaders import load_responses

SET = Dataset((Case("A?", "1"), Case("B?", "2.50"), Case("C?", "c")))


def written(*records: Any) -> str:
    text = records[0] if isinstance(records[0], str) else json.dumps(records)
    Path("responses.json").write_text(text, "utf-8")
    return "responses.json"


def test_every_field_is_read_and_the_rest_becomes_outputs() -> None:
    record = {
        "answer": "a",
        "documents": ["d1", {"text": "t", "name": "d2"}],
        "contexts": ["x", "y"],
        "context_ids": ["c", 7],
        "is_answerable": False,
        "outputs": {"steps": 3},
        "seconds": 0.5,
        "tokens": {"prompt": 12},
        "error": "late",
        "model": "small",
    }
    [response] = load_responses(written(record), Dataset((Case("A?"),)))
    assert response == Response(
        "a",
        (Document(metadata={"name": "d1"}), Document("t", {"name": "d2"})),
        ("x", "y"),
        ("c", "7"),
        False,
        {"steps": 3, "model": "small"},
        seconds=0.5,
        tokens={"prompt": 12},
        error="late",
    )
    assert type(response.seconds) is float


def test_ids_decide_the_order_and_are_read_as_written() -> None:
    path = written('[{"id": 2.50, "answer": "b"}, {"id": "z", "answer": 0}, {"id": "c", "answer": null}, '
                   '{"id": 1, "answer": "a", "documents": null, "document": "d"}]')  # fmt: skip
    responses = load_responses(path, SET)
    assert [r.answer for r in responses] == ["a", "b", None]
    assert responses[2].error == "the system gave no answer (None)"
    assert [d.name for d in responses[0].documents] == ["d"]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"answer": "a", "seconds": "0.5"}, "seconds of a Response is a str '0.5'; a finite number"),
        ({"answer": "a", "is_answerable": "yes"}, "is_answerable of a Response is a str 'yes'; true or false"),
        ({"answer": "a", "outputs": "text"}, "outputs is a str 'text'; an object"),
        ({"answer": "a", "error": 5}, "error of a Response is a int 5; text or None is due"),
        ({"answer": "a", "tokens": "x"}, "tokens of a Response is a str 'x'; an object of names to whole numbers"),
        ({"answer": "a", "tokens": {"prompt": None}}, "'prompt' in tokens of a Response is a NoneType None"),
        ({"answer": "a", "contexts": 5}, "contexts of a Response is a int 5"),
        ({"answer": "a", "documents": 5}, "documents is a int 5, but a list of documents is due"),
        ({"answer": "a", "documents": ["d", 5]}, "documents, entry 2: int 5 is no document"),
        ({"answer": "a", "documents": [{"text": "t", "metadata": "m"}]}, "documents, entry 1: metadata is a str 'm'"),
        ({"answer": 5}, "answer of a Response is a int 5; text or None is due"),
        ({"anser": "a"}, "lacks 'answer'; it has 'anser'"),
    ],
)
def test_the_record_that_cannot_be_used_is_named(record: dict[str, Any], text: str) -> None:
    two = Dataset((Case("A?", "1"), Case("B?", "2")))
    for path in (
        written({"answer": "a"}, record),
        written({"id": "2", "answer": "a"}, {**record, "id": "1"}),
    ):
        with pytest.raises(DatasetError) as caught:
            load_responses(path, two)
        assert f"1 record of 'responses.json' cannot be used: record 2: {text}" in str(caught.value)


def test_all_records_that_cannot_be_used_are_named_up_to_twenty() -> None:
    many = Dataset(tuple(Case("Q?", str(i)) for i in range(25)))
    path = written(*[{"answer": i if i != 1 else "fine"} for i in range(25)])
    with pytest.raises(DatasetError) as caught:
        load_responses(path, many)
    text = str(caught.value)
    assert text.startswith("24 records of 'responses.json' cannot be used: record 1: answer of a Response is a int 0")
    assert "record 21: " in text
    assert "record 22: " not in text
    assert "and 4 more" in text


def test_ids_that_cannot_be_used_are_named() -> None:
    records = [{"id": 1, "answer": "a"}, {"answer": "b"}, {"id": "1", "answer": "c"}, {"id": ["x"], "answer": "d"}]
    with pytest.raises(DatasetError) as caught:
        load_responses(written(*records), SET)
    text = str(caught.value)
    assert "record 2: has no id, but others have; record 3: the id '1' is there twice, also in record 1; " in text
    assert "record 4: 'id' holds a list ['x']" in text
    with pytest.raises(LengthError, match=r"'responses.json' has no response to 2 of 3 questions: 2\.50, c\. Write"):
        load_responses(written(records[0]), SET)
    with pytest.raises(LengthError, match="2 responses without ids for 3 questions"):
        load_responses(written({"answer": "a"}, {"answer": "b"}), SET)
