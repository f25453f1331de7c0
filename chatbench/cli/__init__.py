"""The command line: thin commands over the jobs."""

from chatbench.cli.app import main

__all__ = ["main"]
