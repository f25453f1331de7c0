"""The command line. Exit codes: 0 good, 1 invalid data or quality that failed, 2 wrong usage."""

from __future__ import annotations

from chatbench.cli import compare, leaderboard, runs, transfer
from chatbench.cli.common import app

__all__ = [
    "app",
    "compare",
    "leaderboard",
    "main",
    "runs",
    "transfer",
]  # importing a file of commands puts them into the application


def main() -> None:
    """Run the command line."""
    app()
