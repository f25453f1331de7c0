"""What Case, Response and Document take, and what they refuse with the field's name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from chatbench.core.case import Case
from chatbench.core.document import Document, to_document
from chatbench.core.jsonable import to_json_value
from chatbench.core.response import Response
from chatbench.errors import InputError

MAKERS = {"Case": lambda **given: Case("Q?", **given), "Response": Response, "Document": Document}

LOOP: dict[str, Any] = {}
LOOP["me"] = LOOP


@pytest.mark.parametrize(
    ("maker", "field", "value", "due"),
    [
        ("Response", "answer", 5, "text or None is due"),
        ("Response", "answer", b"a", "text or None is due"),
        ("Response", "outputs", "text", "an object"),
        ("Response", "outputs", [1], "an object"),
        ("Response", "seconds", "0.5", "a finite number of at least 0 is due"),
        ("Response", "seconds", math.nan, "a finite number of at least 0 is due"),
        ("Response", "seconds", math.inf, "a finite number"),
        ("Response", "seconds", 10**400, "a finite number"),
        ("Response", "seconds", -1, "a finite number of at least 0 is due"),
        ("Response", "seconds", True, "a finite number"),
        ("Response", "tokens", "x", "an object of names to whole numbers is due"),
        ("Response", "tokens", math.nan, "an object of names to whole numbers is due"),
        ("Response", "tokens", 12, "an object of names to whole numbers is due"),
        ("Response", "tokens", {"prompt": math.nan}, "a whole number of at least 0 is due"),
        ("Response", "tokens", {"prompt": -1}, "a whole number of at least 0 is due"),
        ("Response", "tokens", {"prompt": 1.5}, "a whole number of at least 0 is due"),
        ("Response", "tokens", {"prompt": "3"}, "a whole number of at least 0 is due"),
        ("Response", "attempt", 0, "a whole number of at least 1 is due"),
        ("Response", "attempt", None, "a whole number of at least 1 is due"),
        ("Response", "attempt", True, "a whole number of at least 1 is due"),
        ("Response", "attempt", 2**31, "at most 2147483647"),
        ("Response", "is_answerable", "yes", "true or false is due"),
        ("Response", "is_answerable", 2, "true or false is due"),
        ("Response", "error", 5, "text or None is due"),
        ("Response", "error", OSError("gone"), "text or None is due"),
        ("Response", "contexts", 5, "a text or a list of texts is due"),
        ("Response", "contexts", {"c": 1}, "a text or a list of texts is due"),
        ("Response", "contexts", {"c"}, r"\(a set has no order\), but a text or a list"),
        ("Response", "contexts", ["c", None], "holds a NoneType None, but text is due"),
        ("Response", "context_ids", [["c"]], "text is due"),
        ("Response", "documents", {"d"}, "a list of documents is due"),
        ("Response", "documents", pd.DataFrame({"name": ["d"]}), "a list of documents is due"),
        ("Case", "answers", [math.nan], "holds a float nan, but text is due"),
        ("Case", "answers", {"a": 1}, "a text or a list of texts is due"),
        ("Case", "documents", [Document("d")], "holds a Document .*, but text is due"),
        ("Case", "tags", [object()], "holds a object .*, but text is due"),
        ("Case", "contexts", b"c", "a text or a list of texts is due"),
        ("Case", "contexts", np.array("c"), "a text or a list of texts is due"),
        ("Case", "relevance", ["d"], "an object of names to grades is due"),
        ("Case", "relevance", {"d": "high"}, "a finite number is due"),
        ("Case", "relevance", {"d": math.nan}, "a finite number is due"),
        ("Case", "metadata", "m", "an object"),
        ("Case", "metadata", LOOP, "holds itself"),
        ("Document", "metadata", LOOP, "holds itself"),
        ("Response", "documents", [pd.Series({"text": "t", "name": "n"})], "is no document"),
        ("Case", "is_answerable", "no", "true or false is due"),
        ("Case", "id", ["i"], "text is due"),
        ("Document", "page_content", 5, "text is due"),
        ("Document", "metadata", "m", "an object"),
    ],
)
def test_a_field_of_another_type_is_named(maker: str, field: str, value: Any, due: str) -> None:
    with pytest.raises(InputError, match=f"(?s){field} .*{due}"):
        MAKERS[maker](**{field: value})


def test_nothing_is_empty() -> None:
    case = Case("Q?", None, None, None, None, None, None, None, None, None)  # type: ignore[arg-type]
    assert case == Case("Q?")
    assert case.is_answerable
    response = Response(None, None, None, None, None, None, error="")  # type: ignore[arg-type]
    assert response == Response()
    assert Document(None, None) == Document()  # type: ignore[arg-type]


@pytest.mark.parametrize("empty", [math.nan, np.float64("nan"), pd.NA, pd.NaT])
def test_empty_cells_of_pandas_are_nothing(empty: Any) -> None:
    assert Response(empty) == Response(None)
    assert Case("Q?", empty, empty, metadata=empty) == Case("Q?")
    assert to_json_value({"a": [empty]}) == {"a": [None]}
    assert to_document({"text": "t", "id": empty, "metadata": {"name": empty}}).name is None


def test_what_can_be_read_is_kept_as_plain_values() -> None:
    response = Response(
        np.str_("a"), seconds=np.float32(0.5), tokens={"prompt": np.int64(3), "all": 12.0}, is_answerable=np.False_
    )
    assert response == Response("a", seconds=0.5, tokens={"prompt": 3, "all": 12}, is_answerable=False)
    assert response.tokens is not None
    kinds = [type(v) for v in (response.answer, response.seconds, *response.tokens.values(), response.is_answerable)]
    assert kinds == [str, float, int, int, bool]
    one = UUID(int=1)
    case = Case("Q?", one, pd.Series(["b", "a"], index=[1, 0]), [Path("x/y.txt"), np.int64(3)])  # type: ignore[arg-type]
    assert (case.id, case.answers, case.documents) == (str(one), ("b", "a"), (str(Path("x/y.txt")), "3"))
    assert Case("Q?", relevance={"d": True, "e": np.False_}).relevance == {"d": 1.0, "e": 0.0}


def test_an_input_that_is_no_json_is_an_input_error_and_a_type_error() -> None:
    with pytest.raises(InputError, match=r"input of a Case\['a'\] is a object") as caught:
        Case({"a": object()})
    assert isinstance(caught.value, TypeError)
