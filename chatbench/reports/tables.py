"""Tables for a notebook and for plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

# A p value, an interval, counts: "< 0.0001", "-0.1 to 0.2", "3 / 1 / 20".
_NUMBERS = re.compile(r"[<+-]? ?[\d.]+(?: (?:to|/) [+-]?[\d.]+)*")

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
    cells = [list(columns), *[[cell_text(c) for c in row] for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = [
        "  ".join(
            text.rjust(w) if k in right else text.ljust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*([caption] if caption else []), *lines, *notes])


def cell_text(value: Any) -> str:
    """Return a value as people read it: four decimals, and a dash for NULL."""
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def interval_text(low: float | None, high: float | None) -> str:
    """Return an interval as text, or a dash where there is none."""
    return "–" if low is None or high is None else f"{low:.4f} to {high:.4f}"


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
