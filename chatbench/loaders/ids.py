"""Ids for records that have none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chatbench.core.jsonable import digest


def fill_ids(contents: list[dict[str, Any]]) -> None:
    """Give every content without `id` one that is made from its input: `q-` and 12 hex digits.

    The order of the records plays no part, and a corrected answer leaves the id as it is, so that runs before and after
    the correction can be compared. Records that share their question are told apart by 6 hex digits of their other
    content and, when that is the same too, by a number; only their ids depend on which of them are in the set.
    """
    nameless = [content for content in contents if not content.get("id")]
    for content in nameless:
        content["id"] = f"q-{digest(content['input'], 12)}"
    shared = _repeated(nameless)
    for content in nameless:
        if content["id"] in shared:
            content["id"] += f"-{digest(_rest(content), 6)}"
    seen: Counter[str] = Counter()
    for content in nameless:
        seen[content["id"]] += 1
        if (count := seen[content["id"]]) > 1:
            content["id"] += f"-{count}"


def _rest(content: dict[str, Any]) -> dict[str, Any]:
    """Return what is known besides the input, the same whether an empty field was written or left out."""
    rest = {key: value for key, value in content.items() if value and key not in ("id", "input")}
    return {**rest, "is_answerable": content.get("is_answerable", True)}


def _repeated(contents: list[dict[str, Any]]) -> set[str]:
    return {identity for identity, count in Counter(c["id"] for c in contents).items() if count > 1}
