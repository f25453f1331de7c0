"""Progress bars: quiet in a pipe, and when asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Progress = Callable[[Sequence[Any], str], Iterable[Any]]
"""Passes a sequence through while showing how far it is."""


def no_progress(items: Sequence[Any], title: str) -> Iterable[Any]:  # noqa: ARG001
    """Pass the items through silently."""
    return items


def progress_bar(items: Sequence[Any], title: str) -> Iterable[Any]:
    """Pass the items through a tqdm bar on standard error."""
    from tqdm import tqdm

    return tqdm(items, desc=title, leave=False)


def choose_progress(wanted: bool | None) -> Progress:
    """Return a bar when wanted; with None on a terminal or in a notebook only."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    return progress_bar if wanted else no_progress
