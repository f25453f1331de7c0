from __future__ import annotations

from pathlib import Path

import pytest

from chatbench.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty database."""
    return Store(tmp_path / "benchmark.duckdb", timeout=10)
