"""What a metric declares about each of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from chatbench.errors import MetricDefinitionError

TYPES: dict[str, type] = {"float": float, "int": int, "bool": bool, "str": str, "json": dict}
"""Types of a measure by the word that is stored. `dict` and `list` are kept as JSON."""

Direction = Literal["higher", "lower"] | None


@dataclass(frozen=True)
class Measure:
    """One column of a metric: its type, a sentence, its range and which direction is better.

    >>> Measure(float, "found of gold", at_least=0, at_most=1, better="higher").range_text()
    '0 to 1'

    `type` is float, int, bool, str, or dict / list (kept as JSON). Numbers and booleans have means; text has none.
    `better` is "higher", "lower", or None where neither is. The name comes from the class attribute. `of_run` marks a single
    number of the whole run, which a function metric returned beside its column.
    """

    type: type
    sentence: str
    at_least: float | None = None
    at_most: float | None = None
    better: Direction = None
    name: str = ""
    of_run: bool = False

    def __post_init__(self) -> None:
        if self.type is list:
            object.__setattr__(self, "type", dict)
        if self.type not in TYPES.values():
            raise MetricDefinitionError(
                f"A measure's type is one of float, int, bool, str, dict, list, not {self.type!r}: Measure(float, 'what it is')."
            )
        if not isinstance(self.sentence, str) or not self.sentence.strip():
            raise MetricDefinitionError(
                "A measure needs a sentence that says what it is: Measure(float, 'what it is')."
            )
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise MetricDefinitionError(f"No value is at least {self.at_least:g} and at most {self.at_most:g}.")
        if self.better not in ("higher", "lower", None):
            raise MetricDefinitionError(f'better is "higher", "lower" or None, not {self.better!r}.')

    @property
    def type_name(self) -> str:
        """The word for the type: float, int, bool, str or json."""
        return next(word for word, kind in TYPES.items() if kind is self.type)

    @property
    def is_number(self) -> bool:
        """Whether the measure has a mean (float, int, bool)."""
        return self.type in (float, int, bool)

    def check(self, value: Any) -> Any:
        """Return the value in the measure's type; raise ValueError that says what is wrong with it."""
        if self.type is bool:
            converted: Any = _to_bool(value)
        elif self.type is int:
            converted = _to_int(value)
        elif self.type is float:
            converted = _to_float(value)
        elif self.type is str:
            if not isinstance(value, str):
                raise ValueError(f"{self.name} is declared as str, but got {value!r}")
            return value
        else:
            return value
        if (self.at_least is not None and converted < self.at_least) or (
            self.at_most is not None and converted > self.at_most
        ):
            raise ValueError(f"{self.name} = {value!r} is outside its declared range {self.range_text()}")
        return converted

    def range_text(self) -> str:
        """The range for people: "0 to 1", "at least 0", or an empty string."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:g} to {self.at_most:g}"
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"


def _to_float(value: Any) -> float:
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise ValueError(f"a number is declared, but got {value!r}")
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"the metric returned {number}, which is no score")
    return number


def _to_int(value: Any) -> int:
    number = _to_float(value)
    if number != int(number):
        raise ValueError(f"int is declared, but got {value!r}")
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{value!r} is beyond the 64 bits of an int; declare float")
    return int(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool", "bool_") or (value in (0, 1) and not isinstance(value, str)):
        return bool(value)
    raise ValueError(f"bool is declared, but got {value!r}")
