"""How the attributes of a metric class become measures and parameters."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from chatbench.core.measure import Measure
from chatbench.core.redact import names_a_secret, redact_json
from chatbench.errors import MetricDefinitionError

TAKEN = frozenset(
    [
        "name",
        "label",
        "table",
        "measures",
        "packages",
        "parameters",
        "signature",
        "code_hash",
        "score_sample",
        "score_batch",
    ]
)
"""Attributes that every metric has; no measure and no parameter can have these names."""

_TAKEN_REASON = "every metric has an attribute of that name; call it otherwise."

EVALUATION_MEASURES = (
    Measure(float, "degree of success", at_least=0, at_most=1, better="higher", name="score"),
    Measure(bool, "whether the sample is good enough", better="higher", name="passed"),
    Measure(str, "why", name="reasoning"),
    Measure(dict, "anything else that was found", name="details"),
)
"""The columns of an `Evaluation`."""


def collect_measures(cls: type, methods: list[str]) -> tuple[Measure, ...]:
    """Return the measures of a class and its parents, named by their attributes."""
    found: dict[str, Measure] = {}
    for parent in reversed(cls.__mro__):
        for name, value in vars(parent).items():
            if isinstance(value, Measure):
                if name in TAKEN:
                    raise MetricDefinitionError(f"{cls.__name__}.{name} cannot be a measure: {_TAKEN_REASON}")
                found[name] = dataclasses.replace(value, name=name)
    if not found and methods:
        return _undeclared_measures(cls, getattr(cls, methods[0]))
    for name, measure in found.items():
        if name in vars(cls):
            setattr(cls, name, measure)
    return tuple(found.values())


def _undeclared_measures(cls: type, method: Callable[..., Any]) -> tuple[Measure, ...]:
    """One `value`, of the type that the method's return annotation says; the columns of an `Evaluation` where it returns one."""
    annotation = str(inspect.signature(method).return_annotation)
    code = getattr(method, "__code__", None)
    if "Evaluation" in annotation or (code is not None and "Evaluation" in code.co_names):
        return EVALUATION_MEASURES
    # Also inside `list[bool | None]`, and where annotations are kept as text: None is how a metric says that a value is missing.
    words = set(re.findall(r"\b(bool|int|float)\b", annotation))
    kind = bool if words == {"bool"} else int if words == {"int"} else float
    sentence = (inspect.getdoc(cls) or cls.__name__).split("\n")[0]
    return (Measure(kind, sentence, name="value"),)


def prepare_parameters(cls: type) -> None:
    """Check the annotated attributes of a class and make its defaults safe to share, before it becomes a dataclass."""
    annotations = vars(cls).get("__annotations__", {})
    for name, annotation in annotations.items():
        if "ClassVar" in str(annotation):
            continue
        if name in TAKEN:
            raise MetricDefinitionError(f"{cls.__name__}.{name} cannot be a parameter: {_TAKEN_REASON}")
        if names_a_secret(name):
            raise MetricDefinitionError(
                f"{cls.__name__}.{name} looks like a secret; parameters are stored with the scores. Read it from the environment."
            )
        default = vars(cls).get(name)
        if isinstance(default, Measure):
            raise MetricDefinitionError(
                f"{cls.__name__}.{name} is a measure with an annotation; annotations are for parameters. Write `{name} = Measure(...)`."
            )
        if isinstance(default, list | set | frozenset):
            setattr(cls, name, _parameter(default, f"default of {name!r}"))
        elif isinstance(default, dict):
            setattr(cls, name, dataclasses.field(default_factory=default.copy))
    own = vars(cls).get("__post_init__")
    if own is not None:

        def normalise_first(self: object) -> None:
            normalise_parameters(self)
            own(self)

        cls.__post_init__ = normalise_first  # type: ignore[attr-defined]


def normalise_parameters(metric: object) -> None:
    """Make the parameters of a new metric hashable JSON values; lists become tuples, ints floats where declared."""
    for f in dataclasses.fields(metric):  # type: ignore[arg-type]
        where = f"parameter {f.name!r} of {type(metric).__name__}"
        object.__setattr__(metric, f.name, _normalised(f, getattr(metric, f.name), where))


def default_of(f: dataclasses.Field[Any]) -> Any:
    """Return the default of a parameter as a new metric would hold it, or MISSING."""
    default = f.default
    if default is dataclasses.MISSING:
        if f.default_factory is dataclasses.MISSING:
            return dataclasses.MISSING
        default = f.default_factory()
    return _normalised(f, default, f"default of {f.name!r}")


def _normalised(f: dataclasses.Field[Any], value: Any, where: str) -> Any:
    value = _parameter(value, where)
    if redact_json(plain(value)) != plain(value):
        raise MetricDefinitionError(
            f"The {where} holds what looks like a secret; parameters are stored with the scores. Read it from the environment."
        )
    kind = str(f.type)
    if isinstance(value, int) and not isinstance(value, bool) and "float" in kind and "int" not in kind:
        return float(value)  # t=1 and t=1.0 are one metric
    return value


def _parameter(value: Any, where: str) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise MetricDefinitionError(f"The {where} is {value}; parameters are JSON values.")
        return value
    if isinstance(value, list | tuple | set | frozenset):
        entries = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return tuple(_parameter(v, where) for v in entries)
    if isinstance(value, Mapping):
        return {str(k): _parameter(v, where) for k, v in value.items()}
    raise MetricDefinitionError(
        f"The {where} is a {type(value).__name__}; parameters are JSON values (text, numbers, lists, dicts). "
        "A live object comes from the context: score_sample(self, sample, ctx)."
    )


def plain(value: Any) -> Any:
    """Return a parameter as plain JSON: tuples are lists again."""
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    return value
