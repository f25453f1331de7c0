"""Metrics by name. Defining a class registers it; nobody keeps a list."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from chatbench.core.warn import warn_user
from chatbench.errors import MetricDefinitionError, UnknownMetricError, did_you_mean

if TYPE_CHECKING:
    from chatbench.scoring.metric import Metric

ENTRY_POINT_GROUP = "chatbench.metrics"
"""Group under which other packages offer metrics: `name = "package.module"`."""

_PACKAGES = ("chatbench.metrics", "chatbench.evaluators")

_metrics: dict[str, type[Metric]] = {}
_aliases: dict[str, str] = {}
_discovered = False


def register(cls: type[Metric], aliases: tuple[str, ...] = ()) -> None:
    """Enter a class under its name and aliases. The same owner (file and name) replaces; another one is refused."""
    name = cls.__name__
    if not cls.__module__.startswith("chatbench."):
        _discover()  # so that a name of ours is refused here, where it was written, and not at a later look-up
    old = _metrics.get(name)
    if old is not None and owner(old) != owner(cls):
        raise MetricDefinitionError(
            f"A metric {name!r} exists already, in {owner(old)}. Name yours otherwise, or keep it out: class {name}(Metric, register=False)."
        )
    for other in _metrics.values():
        if other.__name__ != name:
            _refuse_clash(cls, other)
    for alias in aliases:
        taken_by = alias if alias in _metrics else _aliases.get(alias, name)
        if taken_by != name:
            raise MetricDefinitionError(f"The alias {alias!r} of {name} is taken by {taken_by}.")
    if name in _aliases:
        raise MetricDefinitionError(f"{name!r} is an alias of {_aliases[name]} already; name yours otherwise.")
    for alias in [a for a, owner_name in _aliases.items() if owner_name == name]:
        del _aliases[alias]  # an earlier definition may have had others
    _metrics[name] = cls
    _aliases.update(dict.fromkeys(aliases, name))


def _refuse_clash(cls: type[Metric], other: type[Metric]) -> None:
    if cls.table == other.table:
        raise MetricDefinitionError(
            f"{cls.__name__} and {other.__name__} (in {owner(other)}) would share the table {cls.table!r}: "
            f'class {cls.__name__}(Metric, table="...").'
        )
    mine = {f"{cls.table}_{m.name}" for m in cls.measures}
    clash = mine & {f"{other.table}_{m.name}" for m in other.measures}
    if clash:
        raise MetricDefinitionError(
            f"{cls.__name__} and {other.__name__} would both have the result column {min(clash)!r}: rename a measure or the table."
        )


def owner(cls: type) -> str:
    """Return where a class is defined: its module's file, or the module's name in a notebook."""
    module = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) or cls.__module__


def all_metrics() -> dict[str, type[Metric]]:
    """Return every registered metric by name, in alphabetical order."""
    _discover()
    return dict(sorted(_metrics.items()))


def registered() -> MutableMapping[str, Any]:
    """Return a live view of the registered metrics by name; a metric that is defined later is in it."""
    _discover()
    return cast("MutableMapping[str, Any]", MappingProxyType(_metrics))


def find_metric(name: str) -> type[Metric]:
    """Return the class registered under a name or an alias; `UnknownMetricError` suggests the nearest one."""
    if name not in _metrics and name not in _aliases:
        _discover()
    cls = _metrics.get(name) or _metrics.get(_aliases.get(name, name))
    if cls is None:
        known = all_metrics()
        raise UnknownMetricError(
            f"There is no metric {name!r}.{did_you_mean(name, [*known, *_aliases])} Registered are: {', '.join(known)}."
        )
    return cls


def parse_metric(text: str) -> Metric:
    """Return the metric that a text names: `LexicalMetrics`, `Retrieval(k=3)`, or `my_metrics.py:AnswerLength`.

    The text is read as data, never evaluated: only literals are possible as parameters. A file is imported.

    >>> parse_metric("Retrieval(k=3)").parameters
    {'k': 3, 'by': 'auto'}
    """
    text = text.strip()
    file, found, name = text.rpartition(".py:")
    if found:
        load_file(f"{file}.py")
        text = name
    if "(" not in text:
        return build_metric(text, {})
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("it is no name with keyword parameters")
        parameters: dict[str, Any] = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise UnknownMetricError(
            f"Cannot read {text!r} as a metric ({error}); write it like Retrieval(k=3)."
        ) from error
    return build_metric(call.func.id, parameters)


def build_metric(name: str, parameters: dict[str, Any]) -> Metric:
    """Return the metric of a name with these parameters; an unknown parameter is named with those that exist."""
    cls = find_metric(name)
    known = [f.name for f in dataclasses.fields(cls)]
    unknown = [p for p in parameters if p not in known]
    if unknown:
        raise UnknownMetricError(
            f"{name} has no parameter {unknown[0]!r}.{did_you_mean(unknown[0], known)} It has: {', '.join(known) or 'none'}."
        )
    try:
        return cls(**parameters)
    except TypeError as error:
        if isinstance(error, MetricDefinitionError):
            raise
        raise MetricDefinitionError(
            f"{name} cannot be made of {parameters or 'no parameters'}: {error}. It has: {', '.join(known) or 'none'}."
        ) from error


def load_file(path: str) -> None:
    """Import a file below the working folder, so that the metrics it defines are registered."""
    file = Path(path).resolve()
    if not file.is_relative_to(Path.cwd().resolve()):
        raise UnknownMetricError(
            f"{path} lies outside the working folder {Path.cwd()}; metrics are imported only from below it."
        )
    if not file.is_file():
        raise UnknownMetricError(f"There is no file {path} to take metrics from.")
    module_name = f"chatbench_file_{file.stem}_{abs(hash(str(file))):x}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise UnknownMetricError(f"{path} cannot be imported as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # before it runs: dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except MetricDefinitionError:
        raise
    except Exception as error:
        raise MetricDefinitionError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error


def _discover() -> None:
    """Import the modules that define metrics: chatbench's own rooms, then those of other packages."""
    global _discovered
    if _discovered:
        return
    _discovered = True
    for package_name in _PACKAGES:
        if importlib.util.find_spec(package_name) is None:
            continue
        package = importlib.import_module(package_name)
        for module in pkgutil.iter_modules(package.__path__, f"{package_name}."):
            importlib.import_module(module.name)
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            point.load()
        except Exception as error:  # a stranger's package must not take ours down
            warn_user(f"The metrics of {point.value!r} cannot be loaded: {error}")
