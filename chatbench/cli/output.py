"""What the command line prints: rich tables on a terminal, plain text in a pipe, JSON when asked."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from chatbench.errors import (
    ChatbenchError,
    DatabaseNotFoundError,
    DatasetNotFoundError,
    InputError,
    MetricDefinitionError,
    MissingDependencyError,
    NotADatabaseError,
    QueryError,
    RunNotFoundError,
    UnknownMetricError,
    WrongOptionError,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD, FAILED, USAGE = 0, 1, 2
FIGURES = (".png", ".svg")

_WRONG_USAGE = (
    DatabaseNotFoundError,
    DatasetNotFoundError,
    MetricDefinitionError,
    NotADatabaseError,
    QueryError,
    RunNotFoundError,
    UnknownMetricError,
    WrongOptionError,
)
"""What was given on the command line is not there, is something else, or cannot be used."""


@contextmanager
def plain_errors() -> Iterator[list[str]]:
    """Turn errors into one message on standard error and an exit code, and warnings into single lines; give those lines."""
    notes: list[str] = []

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        notes.append(str(message))
        print(f"note: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        try:
            yield notes
        except _WRONG_USAGE as error:
            _stop(error, USAGE)
        except (ChatbenchError, MissingDependencyError) as error:
            _stop(error, FAILED)


def _stop(error: Exception, code: int) -> NoReturn:
    print(f"error: {error}", file=sys.stderr)
    raise SystemExit(code) from None


def show_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", notes: Sequence[str] = ()
) -> None:
    """Print a table: by rich on a terminal, in blocks of lines on a narrow one, as plain text elsewhere."""
    from chatbench.reports.tables import cell_text, number_columns, one_line, text_blocks, text_table

    if not sys.stdout.isatty():
        print(text_table(columns, rows, caption, notes))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    right = number_columns(columns, rows)
    lines = [[one_line(text) for text in line] for line in (columns, *([cell_text(c) for c in row] for row in rows))]
    least = [_least_width(column, place in right) for place, column in enumerate(zip(*lines, strict=True))]
    console = Console()
    if sum(least) + 3 * len(least) + 1 > console.width:
        print(text_blocks(columns, rows, caption, notes))
        return
    # Text, because a plain string would be read as markup.
    table = Table(title=Text(one_line(caption)) if caption else None, title_justify="left", header_style="bold")
    for place, (header, width) in enumerate(zip(lines[0], least, strict=True)):
        is_number = place in right
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(Text(header), justify=justify, no_wrap=is_number, min_width=width, overflow="fold")
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    console.print(table)
    for note in notes:
        console.print(Text(note))


def _least_width(cells: Sequence[str], is_number: bool) -> int:
    """Return how narrow a column may be: numbers are never folded, nor are words unless they are long."""
    from rich.cells import cell_len

    if is_number:
        return max(map(cell_len, cells))
    return min(max((cell_len(word) for cell in cells for word in cell.split()), default=1), 30)


def show_frame(frame: Any, as_json: bool, caption: str = "") -> None:
    """Print a DataFrame as a table, or as a JSON list of records."""
    records = frame_records(frame)
    if as_json:
        show_json(records)
    else:
        show_table([str(c) for c in frame.columns], [list(r.values()) for r in records], caption)


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a DataFrame as dicts of JSON values; NULL is None."""
    import pandas as pd

    from chatbench.core.jsonable import to_json_value

    def cell(value: Any) -> Any:
        if not isinstance(value, list | dict | tuple) and not hasattr(value, "tolist") and pd.isna(value):
            return None
        try:
            return to_json_value(value)
        except TypeError:
            return str(value)

    columns = [str(c) for c in frame.columns]
    return [dict(zip(columns, map(cell, row), strict=True)) for row in frame.itertuples(index=False, name=None)]


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def _check_figure_path(path: Path) -> None:
    if path.suffix.lower() not in FIGURES:
        raise WrongOptionError(f"A figure is saved as {' or '.join(FIGURES)}, not as {path.name!r}.")
    if not path.absolute().parent.is_dir():
        raise WrongOptionError(f"The folder {path.absolute().parent} of {path.name} does not exist; make it first.")
    if path.is_dir():
        raise WrongOptionError(f"{path} is a folder; name a file in it.")


def check_figure_paths(*paths: Path | None) -> None:
    """Stop as wrong usage unless figures can be saved at these, one in each; to be called before long work."""
    given = [path for path in paths if path is not None]
    for path in given:
        _check_figure_path(path)
    if len({path.resolve() for path in given}) < len(given):
        raise WrongOptionError(f"{given[0]} cannot hold two figures; name another file for one of them.")


def save_figure(figure: Figure, path: Path) -> None:
    """Save a figure as PNG or SVG by the suffix of the file. An older file is replaced when the new one is complete."""
    new = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        figure.savefig(new, format=path.suffix.lower().lstrip("."), dpi=150)
        os.replace(new, path)
    except OSError as error:
        _stop(InputError(f"{path} cannot be written: {error.strerror or error}."), FAILED)
    finally:
        new.unlink(missing_ok=True)
    print(f"saved {path}", file=sys.stderr)
