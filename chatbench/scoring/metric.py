"""`Metric`: a value that turns samples into rows, and declares its columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, dataclass_transform

from chatbench.core.jsonable import canonical_json
from chatbench.core.measure import Measure
from chatbench.errors import MetricDefinitionError
from chatbench.scoring import registry
from chatbench.scoring.code_hash import code_hash, constants_of, declared, functions_of
from chatbench.scoring.declaration import (
    EVALUATION_MEASURES,
    collect_measures,
    default_of,
    normalise_parameters,
    plain,
    prepare_parameters,
)
from chatbench.scoring.names import check_column_name, check_table_name, table_name_of

METHODS = ("score_sample", "score_batch")


@dataclass(frozen=True)
class Evaluation:
    """What an `Evaluator` says of one sample: a score from 0 to 1, why, any details, and a verdict if it has one."""

    score: float | None
    reasoning: str | None = None
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    passed: bool | None = None

    def row(self) -> dict[str, Any]:
        """Return it as a row of the measures of an `Evaluator`."""
        return {
            "score": self.score,
            "passed": self.passed,
            "reasoning": self.reasoning,
            "details": dict(self.details or {}),
        }


# The decorator sits on a base below Metric: type checkers then treat every metric, and none of their bases, as a dataclass.
@dataclass_transform(frozen_default=True, kw_only_default=True)
class _Declared:
    pass


class Metric(_Declared):
    """Base of every metric. Defining a subclass registers it; its table follows from what it declares.

    >>> class AnswerLength(Metric, register=False):
    ...     '''Words in the answer.'''
    ...     limit: int = 100
    ...     words = Measure(int, "number of words", at_least=0)
    ...     def score_sample(self, sample):
    ...         return {"words": len(sample.answer.split())}
    >>> AnswerLength(limit=5), AnswerLength.table
    (AnswerLength(limit=5), 'answer_length')

    Class attributes made by `Measure` are columns; annotated attributes with defaults are parameters (JSON values),
    and the class becomes a frozen, keyword-only dataclass of them. Implement one of

    - `score_sample(self, sample)`: a row (dict of measures), a number, a bool, an `Evaluation`, or None;
    - `score_batch(self, samples)`: a dict of equally long columns, or one column. Samples must be treated
      independently: after an exception the batch is halved until the failing samples are found.

    Both may be `async`, and may take a second argument `ctx` (`Context`: `ctx.embed(texts, model)`). A cell that cannot be
    scored is `None`, or `Missing("why")`, which may also be raised. Without a `Measure` there is one column
    `value`, typed by the method's return annotation. Class keywords: `table="..."`, `aliases=(...)`, `register=False`.
    """

    measures: ClassVar[tuple[Measure, ...]] = ()
    table: ClassVar[str] = ""
    packages: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions change the numbers; they are stored with each scoring."""

    def __init_subclass__(
        cls, *, register: bool = True, table: str | None = None, aliases: tuple[str, ...] = (), **rest: Any
    ) -> None:
        super().__init_subclass__(**rest)
        if table is not None and not isinstance(table, str):
            raise MetricDefinitionError(f"The table of {cls.__name__} is {table!r}; its name as text is due.")
        prepare_parameters(cls)
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)
        methods = [m for m in METHODS if getattr(cls, m, None) is not None]
        if len(methods) > 1:
            raise MetricDefinitionError(f"{cls.__name__} has both score_sample and score_batch; implement one of them.")
        cls.measures = collect_measures(cls, methods)
        cls.table = table or table_name_of(cls.__name__)
        if methods and register:
            check_table_name(cls.table, cls.__name__)
            for measure in cls.measures:
                check_column_name(measure.name, cls.__name__)
            registry.register(cls, aliases)

    def __post_init__(self) -> None:
        normalise_parameters(self)

    @property
    def name(self) -> str:
        """The registered name."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters by name, as JSON values."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @cached_property
    def signature(self) -> str:
        """Name and all parameters; equal metrics have equal signatures."""
        return f"{self.name}({canonical_json(self.parameters)})"

    @property
    def label(self) -> str:
        """The repr, or an empty text when all parameters have their defaults."""
        text = repr(self)
        return "" if text == f"{self.name}()" else text

    def code_hash(self) -> str:
        """Hash of the code of the class (not of functions it calls elsewhere) and of what it declares of its measures."""
        cls = type(self)
        constants = constants_of(cls, Metric, self.parameters)
        return code_hash(functions_of(cls, Metric), {**constants, **declared(cls.measures)})

    def __repr__(self) -> str:
        shown = []
        for f in dataclasses.fields(self):
            value, default = getattr(self, f.name), default_of(f)
            if default is dataclasses.MISSING or canonical_json(plain(value)) != canonical_json(plain(default)):
                shown.append(f"{f.name}={plain(value)!r}")
        return f"{self.name}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and type(self) is type(other) and self.signature == other.signature

    def __hash__(self) -> int:
        return hash(self.signature)


class Evaluator(Metric, register=False):
    """A metric that judges one sample: `score_sample(self, sample)` returns an `Evaluation`."""

    score, passed, reasoning, details = EVALUATION_MEASURES
