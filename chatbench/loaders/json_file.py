"""Records from a file with a JSON list or JSON lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from chatbench.errors import DatasetError
from chatbench.loaders.files import read_text
from chatbench.loaders.records import require_objects
from chatbench.loaders.subset import first_questions
from chatbench.loaders.values import WrittenFloat

_DUE = "A JSON list of objects is due, or one object per line (JSONL)."
_LINES = (".jsonl", ".ndjson")


def read_records(
    path: str | os.PathLike[str],
    encoding: str | None = None,
    num_q: int | float | None = None,
    *,
    as_written: bool = False,
) -> Sequence[Mapping[str, Any]]:
    """Return the first records of a file with a JSON list or JSON lines, told apart by the content.

    Only for a file with a single object its ending decides: `.jsonl` and `.ndjson` hold lines. Lines behind `num_q`
    are not read. `as_written` keeps how fractions were written (`WrittenFloat`). Raises what `read_text` raises, and
    `DatasetError` naming the file and the place in it.
    """
    source = os.fsdecode(path)
    records = _records(read_text(Path(source).expanduser(), source, encoding), source, num_q, as_written)
    require_objects(records, source)
    return records


def _records(text: str, source: str, num_q: int | float | None, as_written: bool) -> Sequence[Any]:
    start = text.lstrip()[:1]
    if not start:
        raise DatasetError(f"{source!r} is empty. {_DUE} A set without records is [].")
    if start == "{":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if _is_object(lines[0][1]) and (len(lines) > 1 or Path(source).suffix.lower() in _LINES):
            return [_parse(line, source, as_written, number) for number, line in first_questions(lines, num_q)]
    value = _parse(text, source, as_written)
    if not isinstance(value, list):
        what = f"a single object (keys: {', '.join(map(repr, value))})" if isinstance(value, dict) else repr(value)
        raise DatasetError(f"{source!r} holds {what[:200]}. {_DUE}")
    return first_questions(value, num_q)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _parse(text: str, source: str, as_written: bool, first_line: int = 1) -> Any:
    """Return the JSON value; `first_line` is the place of the text in its file."""
    try:
        return json.loads(text, parse_float=WrittenFloat if as_written else None, parse_constant=_refuse_constant)
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
