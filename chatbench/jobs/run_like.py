"""What names a stored run, in every call that takes one."""

from __future__ import annotations

from chatbench.core.run import Run
from chatbench.results.run_result import RunResult

RunLike = str | Run | RunResult
"""The id or the name of a run, or what a call returned for it."""


def identity(run: RunLike) -> str | Run:
    """Return what a `Store` finds the run by."""
    return run.run if isinstance(run, RunResult) else run
