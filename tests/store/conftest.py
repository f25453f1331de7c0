from __future__ import annotations

from pathlib import Path

import pytest

from chatbench.store import Store


@pytest.fixture(params=["duckdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty database of every kind that is supported."""
    assert request.param == "duckdb"
    return Store(tmp_path / "benchmark.duckdb", timeout=10)
