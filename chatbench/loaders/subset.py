"""The first questions of a set (`num_q`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

from chatbench.errors import InputError, InputTypeError

T = TypeVar("T")

_ALLOWED = "Give None for all questions, n >= 1 for the first n, or a fraction such as 0.1 for that part."


def how_many(num_q: Any, available: int) -> int:
    """Return how many of the `available` questions `num_q` asks for.

    None: all; n >= 1: n (cut to a whole number); 0 < f <= 1: that part of them, rounded down, at least one; a whole
    number is never a fraction, so 1 is one question and 1.0 is all. More than there are: all.
    """
    if num_q is None:
        return available
    is_number, is_whole = isinstance(num_q, Real) and not isinstance(num_q, bool), isinstance(num_q, Integral)
    if not is_number:
        raise InputTypeError(f"num_q is {num_q!r}, a {type(num_q).__name__}. {_ALLOWED}")
    if not 0 < num_q < math.inf:
        raise InputError(f"num_q is {num_q!r}. {_ALLOWED}")
    if is_whole or num_q > 1:
        return min(int(num_q), available)
    return min(max(int(num_q * available), 1), available)


def first_questions(items: Sequence[T], num_q: int | float | None) -> Sequence[T]:
    """Return the first of the items, as many as `num_q` asks for."""
    return items[: how_many(num_q, len(items))]
