"""Saves and queries: the only room with SQL."""

from chatbench.store.location import locate
from chatbench.store.reading import StoredRun
from chatbench.store.store import Store

__all__ = ["Store", "StoredRun", "locate"]
