"""What a run looks like as a folder: `run.json`, and files of records for questions, responses and each scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from chatbench.core.case import Case
from chatbench.core.jsonable import to_json_value
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.core.scores import Scoring
from chatbench.errors import ChatbenchError, InputError
from chatbench.scoring.names import check_table_name
from chatbench.store.record_files import FORMATS, parse_json

MARK, VERSION = "chatbench run", 1
HEAD = "run.json"
_WORDS = {
    "str": "str",
    "str | None": "str",
    "float | None": "float",
    "bool": "bool",
    "bool | None": "bool",
    "int": "int",
}


def _kinds(record: type, *, without: Iterable[str] = ()) -> dict[str, str]:
    """Return the columns of a class by its annotations: texts and numbers as they are, all else as JSON."""
    return {f.name: _WORDS.get(str(f.type), "json") for f in fields(record) if f.name not in without}


# What the classes gain later becomes a column by itself; a file that lacks it has the field's default.
CASES = {"id": "str", "question": "str", **_kinds(Case)}
RESPONSES = {"case_id": "str", **_kinds(Response)}
KEYS = {"case_id": "str", "attempt": "int", "error": "str", "missing": "json"}
RUN = _kinds(Run)
_COLUMNS_OF_SCORING = ("case_ids", "attempts", "values", "errors", "missing")
SCORING = _kinds(Scoring, without=_COLUMNS_OF_SCORING)


def score_files(tables: Sequence[str], format: str) -> list[str]:
    """Return the file of each scoring; a dot, which no table's name has, parts the number of a further one of a table."""
    seen: Counter[str] = Counter()
    names = []
    for table in tables:
        seen[table] += 1
        names.append(f"scores_{table}{f'.{seen[table]}' if seen[table] > 1 else ''}.{format}")
    return names


def score_kinds(measures: Sequence[Measure]) -> dict[str, str]:
    """Return the columns of a scoring's file."""
    return {**KEYS, **{m.name: m.type_name for m in measures if not m.of_run}}


def read_head(folder: Path) -> dict[str, Any]:
    """Return the content of `run.json`, its outline checked: the format, and tables whose names are names."""
    path = folder / HEAD
    try:
        head = to_json_value(parse_json(path.read_bytes().decode("utf-8")))  # its texts as a database keeps them
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} has no {HEAD}; it is no folder that export_run wrote, or not the whole one."
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    if not isinstance(head, dict) or head.get("format") != MARK:
        raise InputError(f'{path} is not that of an exported run; it has no "format": "{MARK}".')
    version = head.get("format_version")
    if type(version) is not int or version < 1:
        raise InputError(f"{path} has the format version {version!r}, which no chatbench wrote.")
    if version > VERSION:
        raise InputError(
            f"{path} has the format version {version}; this chatbench reads {VERSION}. Install a newer chatbench."
        )
    if head.get("files") not in FORMATS:
        raise InputError(f"{path} says files {head.get('files')!r}; there are {', '.join(map(repr, FORMATS))}.")
    scorings = head.get("scorings")
    if not isinstance(head.get("run"), dict) or not isinstance(scorings, list):
        raise InputError(f"{path} lacks the object 'run' or the list 'scorings'.")
    for i, scoring in enumerate(scorings, 1):
        if not isinstance(scoring, dict) or not isinstance(scoring.get("table"), str):
            raise InputError(f"{path}, scoring {i} has no 'table' that is text.")
        in_place(f"{path}, scoring {i}", check_table_name, scoring["table"], str(scoring.get("metric")))
    return head


def all_files(head: Mapping[str, Any]) -> list[str]:
    """Return the names of the files of records. They follow from the tables' names, whatever `run.json` calls them."""
    format = head["files"]
    return [f"cases.{format}", f"responses.{format}", *score_files([s["table"] for s in head["scorings"]], format)]


def in_place(where: str, make: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what `make` gives; its errors become one that names the place."""
    try:
        return make(*arguments, **named)
    except (ChatbenchError, TypeError, ValueError, KeyError, AttributeError) as error:
        text = str(error) if isinstance(error, ChatbenchError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{where} cannot be used: {text}") from error
