"""A hash of a metric's own code, so that scores of an edited metric are not mixed with older ones unseen."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any


def code_hash(functions: dict[str, Callable[..., Any]]) -> str:
    """Return 16 hex digits over the given functions' syntax trees.

    Comments, blank lines and formatting do not count. Helper functions that they call are not seen.
    """
    lines = [f"{name} {_tree(function)}" for name, function in sorted(functions.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def functions_of(class_: type, base: type) -> dict[str, Callable[..., Any]]:
    """Return the functions that a class and its parents below `base` define, the nearest definition first."""
    found: dict[str, Callable[..., Any]] = {}
    for parent in class_.__mro__:
        if parent is base or parent is object:
            break
        for name, value in vars(parent).items():
            function = getattr(value, "__func__", value)
            # dataclass() adds methods whose file is "<string>"; they follow from the fields and are not code of the user.
            if isinstance(function, FunctionType) and function.__code__.co_filename != "<string>":
                found.setdefault(name, function)
    return found


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
