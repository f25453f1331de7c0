from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbench.store import Store
from tests.store.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server; tests that need one are skipped where it is not installed."""
    running = Server()
    yield running
    running.remove()


@pytest.fixture
def file_address(tmp_path: Path) -> str:
    """The path of a DuckDB file that is not there yet."""
    return str(tmp_path / "benchmark.duckdb")


@pytest.fixture
def server_address(server: Server) -> Iterator[str]:
    """The URL of an empty database on a server."""
    url = server.new_database()
    yield url
    server.drop_database(url)


@pytest.fixture(params=["duckdb", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where an empty database of either kind is."""
    found: str = request.getfixturevalue({"duckdb": "file_address", "postgresql": "server_address"}[request.param])
    return found


@pytest.fixture
def store(address: str) -> Store:
    """An empty database of either kind."""
    return Store(address, timeout=10)


@pytest.fixture
def file_store(file_address: str) -> Store:
    """An empty DuckDB file."""
    return Store(file_address, timeout=10)


@pytest.fixture
def server_store(server_address: str) -> Store:
    """An empty database on a server."""
    return Store(server_address, timeout=10)
