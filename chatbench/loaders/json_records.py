"""Records from the text of a JSON list or of JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, NoReturn

from chatbench.errors import DatasetError
from chatbench.loaders.subset import first_questions
from chatbench.loaders.values import WrittenFloat

_DUE = "A JSON list of objects is due, or one object per line (JSONL)."
_LINES = (".jsonl", ".ndjson")


def parse_records(text: str, source: str, num_q: int | float | None) -> Sequence[Any]:
    """Return the first records of a JSON list or of JSON lines, told apart by the content.

    Only for a file with a single object its ending decides: `.jsonl` and `.ndjson` hold lines. Lines behind `num_q`
    are not read. Raises `DatasetError` naming `source` and the place in it.
    """
    start = text.lstrip()[:1]
    if not start:
        raise DatasetError(f"{source!r} is empty. {_DUE} A set without questions is [].")
    if start == "{":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if _is_object(lines[0][1]) and (len(lines) > 1 or PurePath(source).suffix.lower() in _LINES):
            return [_parse(line, source, number) for number, line in first_questions(lines, num_q)]
    value = _parse(text, source)
    if not isinstance(value, list):
        what = f"a single object (keys: {', '.join(map(repr, value))})" if isinstance(value, dict) else repr(value)
        raise DatasetError(f"{source!r} holds {what[:200]}. {_DUE}")
    return first_questions(value, num_q)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _parse(text: str, source: str, first_line: int = 1) -> Any:
    """Return the JSON value; `first_line` is the place of the text in its file."""
    try:
        return json.loads(text, parse_float=WrittenFloat, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise DatasetError(_fault(text, source, first_line, error.pos, error.msg)) from error
    except RecursionError as error:
        raise DatasetError(f"{source!r} is nested too deeply. {_DUE}") from error
    except ValueError as error:  # a constant, or a number of thousands of digits
        raise DatasetError(_fault(text, source, first_line, _constant(text), str(error))) from error


def _fault(text: str, source: str, first_line: int, place: int, message: str) -> str:
    line = first_line + text.count("\n", 0, place)
    column = place - text.rfind("\n", 0, place)
    found = repr(text[place : place + 20]) if text[place:].strip() else "the end of the text"
    return f"{source!r} is not JSON: line {line}, column {column}: {message}, found {found}. {_DUE}"


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value (null is the word for nothing)")


def _constant(text: str) -> int:
    """Return the place of the first NaN or Infinity outside of strings."""
    found = re.finditer(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', text)
    return next((match.start() for match in found if not match[0].startswith('"')), 0)
