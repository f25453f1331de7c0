"""Question sets from pandas DataFrames."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from chatbench.core.response import Response, Sample
from chatbench.errors import DatasetError, Missing, MissingKeyError
from chatbench.loaders import load_dataset


def test_one_row_is_one_question() -> None:
    frame = pd.DataFrame(
        {"question": ["A?", "B?"], "answer": ["a", "b"], "document": ["d1", "d2"], "id": [5, 6], "level": [1.5, 2.0]},
        index=["x", "x"],
    )
    loaded = load_dataset(frame, name="mine")
    assert loaded.name == "mine"
    assert [(c.id, c.question, c.answers, c.documents, c.metadata) for c in loaded] == [
        ("5", "A?", ("a",), ("d1",), {"level": 1.5}),
        ("6", "B?", ("b",), ("d2",), {"level": 2.0}),
    ]


def test_whole_numbers_stay_whole_beside_empty_cells() -> None:
    frame = pd.DataFrame({"question": ["A?", "B?", "C?"], "answer": [42, np.nan, 7], "n": [1, 2, np.nan]})
    loaded = load_dataset(frame)
    assert [c.answers for c in loaded] == [("42",), (), ("7",)]
    assert [c.metadata for c in loaded] == [{"n": 1}, {"n": 2}, {}]
    assert load_dataset(frame, num_q=1).cases[0].answers == ("42",)


@pytest.mark.parametrize("values", [[6.8, np.nan], [2.0**60, np.nan], [np.inf, np.nan]])
def test_other_floats_stay_floats(values: list[float]) -> None:
    assert load_dataset(pd.DataFrame({"question": ["A?", "B?"], "answer": values})).cases[0].answers == (
        str(values[0]),
    )


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA, pd.NaT])
def test_every_kind_of_empty_cell_is_missing(empty: object) -> None:
    columns = {"answer": ["a", empty], "document": ["d", empty], "is_answerable": [False, empty], "note": ["n", empty]}
    frame = pd.DataFrame({"question": ["A?", "B?"], **columns}, dtype=object)
    case = load_dataset(frame).cases[1]
    assert (case.answers, case.documents, case.is_answerable, case.metadata) == ((), (), True, {})


# fault F10, confident-ai/deepeval PR #3298
@pytest.mark.parametrize("dtype", ["object", "string", "category"])
@pytest.mark.parametrize("empty", [None, np.nan, pd.NA])
def test_text_cells_come_back_verbatim_and_an_empty_one_can_be_found(dtype: str, empty: object) -> None:
    answers = ["007", "42", "N/A", empty, "None", "true", "1.50", "nan", "NULL"]
    frame = pd.DataFrame({"question": [f"{i}?" for i in range(9)], "answer": pd.Series(answers, dtype=dtype)})
    loaded = load_dataset(frame, name="mine")
    assert [c.answers for c in loaded] == [() if i == 3 else (a,) for i, a in enumerate(answers)]
    assert [(place, c.question) for place, c in enumerate(loaded, 1) if not c.answers] == [(4, "3?")]
    with pytest.raises(Missing, match="no reference answer"):
        _ = Sample(loaded.cases[3], Response("x")).answers


def test_cells_of_lists_and_arrays() -> None:
    cells = [np.array(["a", "b"], dtype=object), np.array([1, 2]), ["c"], (), np.float32(0.5)]
    frame = pd.DataFrame({"question": [f"{i}?" for i in range(5)], "answers": pd.Series(cells, dtype=object)})
    assert [c.answers for c in load_dataset(frame)] == [("a", "b"), ("1", "2"), ("c",), (), ("0.5",)]


def test_keys_name_columns() -> None:
    frame = pd.DataFrame({"q": ["A?"], "a": [True], "d": ["x"]})
    case = load_dataset(frame, keys={"test_questions": "q", "test_answers": "a", "test_documents": "d"}).cases[0]
    assert (case.question, case.answers, case.documents) == ("A?", ("true",), ("x",))
    with pytest.raises(MissingKeyError, match="record 1: lacks 'question' or 'input'.*has the keys: 'q', 'a', 'd'"):
        load_dataset(frame)


def test_columns_of_one_name_are_refused() -> None:
    with pytest.raises(DatasetError, match="several columns of one name: answer"):
        load_dataset(pd.DataFrame([["A?", "a", "b"]], columns=["question", "answer", "answer"]))


def test_no_rows_and_derived_frames() -> None:
    class Mine(pd.DataFrame):  # type: ignore[misc]
        pass

    assert len(load_dataset(pd.DataFrame({"question": []}))) == 0
    assert load_dataset(Mine({"question": ["A?"]})).questions == ["A?"]


def test_lists_are_read_without_pandas() -> None:
    code = (
        "import sys; from chatbench.loaders import load_dataset; load_dataset([{'question': 'Q?'}]); "
        "sys.exit('pandas' in sys.modules)"
    )
    root = __file__.partition("/tests/")[0]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
