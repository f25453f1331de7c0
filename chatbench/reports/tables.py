"""Tables for a notebook and for plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

# A p value, an interval, counts: "< 0.0001", "-0.1 to 1.2e+06", "3 / 1 / 20".
_NUMBER = r"(?:[\d.]+(?:e[+-]\d+)?|inf)"
_NUMBERS = re.compile(rf"[<+-]? ?{_NUMBER}(?: (?:to|/) [+-]?{_NUMBER})*")

# Line breaks, tabs and other control characters would tear a line of text apart, or steer the terminal.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_TABLE = """\
<table style="font-variant-numeric: tabular-nums">
{%- if caption %}<caption style="text-align: left">{{ caption }}</caption>{% endif -%}
<thead><tr>{% for column in columns %}<th style="text-align: {{ 'right' if loop.index0 in right else 'left' }}">{{ column }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in rows %}
<tr>{% for cell in row %}<td style="text-align: {{ 'right' if loop.index0 in right else 'left' }}">{{ cell }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody></table>
{%- for note in notes %}<div>{{ note }}</div>{% endfor %}"""


def html_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", notes: Sequence[str] = ()
) -> str:
    """Return an HTML table; every text is escaped, columns of numbers are set to the right."""
    html: str = _template().render(
        columns=columns,
        rows=[[cell_text(c) for c in row] for row in rows],
        right=number_columns(columns, rows),
        caption=caption,
        notes=notes,
    )
    return html


def text_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", notes: Sequence[str] = ()
) -> str:
    """Return a plain table for a pipe, a log or a repr."""
    right = number_columns(columns, rows)
    cells = [[one_line(text) for text in line] for line in (columns, *([cell_text(c) for c in row] for row in rows))]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = [
        "  ".join(
            text.rjust(w) if k in right else text.ljust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*([one_line(caption)] if caption else []), *lines, *notes])


def text_blocks(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", notes: Sequence[str] = ()
) -> str:
    """Return a table as a block of lines "column  value" per row, for a screen that is too narrow for the lines of a table."""
    names = [one_line(column) for column in columns]
    width = max(map(len, names), default=0)
    blocks = [
        "\n".join(f"{n.ljust(width)}  {one_line(cell_text(c))}" for n, c in zip(names, row, strict=True))
        for row in rows
    ]
    return "\n\n".join([*([one_line(caption)] if caption else []), *blocks, *(["\n".join(notes)] if notes else [])])


def one_line(text: str) -> str:
    """Return text with a space in place of line breaks, tabs and other control characters."""
    return _CONTROL.sub(" ", text)


def cell_text(value: Any) -> str:
    """Return a value as people read it: numbers by `number_text`, and a dash for NULL."""
    if value is None or value != value:
        return "–"
    return number_text(value) if isinstance(value, float) else str(value)


def number_text(value: float, decimals: int = 4) -> str:
    """Return a number with so many decimals, and with four significant digits where these would hide it or be endless.

    That is below 0.001 and from a million on: 0.1235, 1.235e-05, 1.235e+06; zero is 0.0000.
    """
    if value == 0 or 0.001 <= abs(value) < 1e6:
        return f"{value or 0.0:.{decimals}f}"
    return f"{value:.4g}"


def interval_text(low: float | None, high: float | None, decimals: int = 4) -> str:
    """Return an interval as text, or a dash where there is none."""
    return "–" if low is None or high is None else f"{number_text(low, decimals)} to {number_text(high, decimals)}"


def p_text(p: float | None) -> str:
    """Return a p value as text: four decimals, and no zeros that stand for "very small"."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def number_columns(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> set[int]:
    """Return the places of the columns that hold numbers and are set to the right."""

    def is_number(value: Any) -> bool:
        return (
            value is None
            or isinstance(value, int | float)
            or (isinstance(value, str) and bool(_NUMBERS.fullmatch(value)))
        )

    return {k for k in range(len(columns)) if rows and all(is_number(row[k]) or row[k] == "–" for row in rows)}


@cache
def _template() -> Any:
    return Environment(autoescape=True).from_string(_TABLE)
