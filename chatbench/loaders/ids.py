"""Ids for records that have none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chatbench.core.jsonable import digest


def fill_ids(contents: list[dict[str, Any]]) -> None:
    """Give every content without `id` one that is made from it alone: `q-`, 12 hex digits of its input, 6 of the rest.

    The order of the records and the rest of the set play no part. Records that are equal in everything are numbered in
    their order: the first has no number, then come -2, -3.
    """
    seen: Counter[str] = Counter()
    for content in contents:
        if content.get("id"):
            continue
        made = f"q-{digest(content['input'], 12)}-{digest(_rest(content), 6)}"
        seen[made] += 1
        content["id"] = made if seen[made] == 1 else f"{made}-{seen[made]}"


def _rest(content: dict[str, Any]) -> dict[str, Any]:
    """Return what is known besides the input, the same whether an empty field was written or left out."""
    rest = {key: value for key, value in content.items() if value and key not in ("id", "input")}
    return {**rest, "is_answerable": content.get("is_answerable", True)}
