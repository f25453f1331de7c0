"""Ids for records that have none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chatbench.core.case import Case
from chatbench.core.dataset import case_content
from chatbench.core.jsonable import digest


def fill_ids(contents: list[dict[str, Any]]) -> None:
    """Give every content without `id` one that is made from its input: `q-` and 12 hex digits.

    The order of the records and the rest of the set play no part, and a corrected answer leaves the id as it is.
    Only records that share their question are told apart, by 6 hex digits of their other content and, when that is
    the same too, by a number.
    """
    nameless = [content for content in contents if not content.get("id")]
    for content in nameless:
        content["id"] = f"q-{digest(content['input'], 12)}"
    shared = _repeated(nameless)
    for content in nameless:
        if content["id"] in shared:
            content["id"] += f"-{digest(case_content(Case(**content)), 6)}"
    seen: Counter[str] = Counter()
    for content in nameless:
        seen[content["id"]] += 1
        if (count := seen[content["id"]]) > 1:
            content["id"] += f"-{count}"


def _repeated(contents: list[dict[str, Any]]) -> set[str]:
    return {identity for identity, count in Counter(c["id"] for c in contents).items() if count > 1}
