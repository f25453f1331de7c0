"""num_q: the first questions of a set."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from chatbench.errors import InputError, InputTypeError
from chatbench.loaders import load_dataset

RECORDS = [{"question": f"Question {i}?"} for i in range(10)]


@pytest.mark.parametrize(
    ("num_q", "count"),
    [
        (None, 10),
        (1, 1),
        (10, 10),
        (11, 10),
        (10**400, 10),
        (np.int64(3), 3),
        (0.25, 2),
        (0.01, 1),
        (1.0, 10),
        (1.5, 1),
        (3.9, 3),
        (np.float32(0.5), 5),
        (Fraction(1, 3), 3),
    ],
)
def test_the_first_so_many(num_q: Any, count: int) -> None:
    assert load_dataset(RECORDS, num_q=num_q).questions == [f"Question {i}?" for i in range(count)]


@pytest.mark.parametrize("num_q", [0, -1, 0.0, -0.5, math.nan, math.inf])
def test_unusable_numbers(num_q: float) -> None:
    with pytest.raises(InputError, match=r"num_q is .* Give None for all questions, n >= 1"):
        load_dataset(RECORDS, num_q=num_q)


@pytest.mark.parametrize("num_q", [True, "3", [3], np.True_])
def test_other_types(num_q: Any) -> None:
    with pytest.raises(InputTypeError, match=f"a {type(num_q).__name__}. Give None for all") as caught:
        load_dataset(RECORDS, num_q=num_q)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


def test_a_part_of_nothing_is_nothing() -> None:
    assert len(load_dataset([], num_q=0.5)) == 0


def test_records_behind_are_not_looked_at() -> None:
    assert len(load_dataset([*RECORDS, None, {"id": 1}], num_q=10)) == 10
