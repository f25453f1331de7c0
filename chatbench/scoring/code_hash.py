"""A hash of a metric's own code, so that scores of an edited metric are not mixed with older ones unseen."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from chatbench.core.measure import Measure


def code_hash(functions: dict[str, Callable[..., Any]], constants: dict[str, Any] | None = None) -> str:
    """Return 16 hex digits over the given functions' syntax trees, the plain values they close over, and plain constants.

    Comments, blank lines and formatting do not count. Helper functions that they call are not seen.
    """
    lines = [f"{name} {_tree(function)} {_closed_over(function)}" for name, function in sorted(functions.items())]
    lines += [f"{name} = {value!r}" for name, value in sorted((constants or {}).items()) if _is_plain(value)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def functions_of(class_: type, base: type) -> dict[str, Callable[..., Any]]:
    """Return the functions that a class and its parents below `base` define, the nearest definition first."""
    found: dict[str, Callable[..., Any]] = {}
    for name, value in _own_attributes(class_, base).items():
        function = getattr(value, "__func__", value)
        # dataclass() adds methods whose file is "<string>"; they follow from the fields and are not code of the user.
        if isinstance(function, FunctionType) and function.__code__.co_filename != "<string>":
            found[name] = function
    return found


def constants_of(class_: type, base: type, but: Iterable[str]) -> dict[str, Any]:
    """Return the other public attributes that a class and its parents below `base` define, without those named in `but`."""
    left_out = {*but, "measures", "table", "packages"}
    found = _own_attributes(class_, base)
    return {name: value for name, value in found.items() if not name.startswith("__") and name not in left_out}


def declared(measures: Iterable[Measure]) -> dict[str, str]:
    """Return, by a name that no attribute has, what each measure means to a reader of the numbers: type, direction and range."""
    return {
        f"measure {m.name}": f"{m.type_name}, {m.better or 'no'} is better, {m.at_least} to {m.at_most}"
        for m in measures
    }


def _own_attributes(class_: type, base: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parent in class_.__mro__:
        if parent is base or parent is object:
            break
        found = {**vars(parent), **found}
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _closed_over(function: Callable[..., Any]) -> str:
    cells = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if cells else ()
    values = {}
    for name, cell in zip(names, cells, strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return repr({name: value for name, value in sorted(values.items()) if _is_plain(value)})


def _tree(function: Callable[..., Any]) -> str:
    try:
        source = textwrap.dedent(inspect.getsource(function))
        return ast.dump(ast.parse(source))
    except (OSError, TypeError, SyntaxError):  # typed at a prompt, or a lambda inside an expression
        code = getattr(function, "__code__", None)
        return "\n".join(_bytecode(code)) if code is not None else repr(type(function))


def _bytecode(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield " ".join(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _bytecode(constant)
        elif isinstance(constant, frozenset):  # its repr depends on PYTHONHASHSEED
            yield repr(sorted(constant, key=repr))
        else:
            yield repr(constant)
