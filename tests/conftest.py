"""Fixtures of all tests: a clean environment, an empty working folder for whatever writes, empty databases of both kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.document import to_document
from chatbench.core.response import Response, Sample
from chatbench.scoring import registry
from chatbench.store import Store
from tests.store.examples import Place
from tests.store.server import Server


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No variable of the machine steers a test, and no file lands in the repository."""
    for name in ("CHATBENCH_DB", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """Metrics that a test defines are gone after it."""
    registry.all_metrics()
    metrics, aliases = dict(registry._metrics), dict(registry._aliases)
    yield
    for now, before in ((registry._metrics, metrics), (registry._aliases, aliases)):
        now.clear()
        now.update(before)  # type: ignore[arg-type]


@pytest.fixture
def make_sample() -> Callable[..., Sample]:
    """Return a maker of samples: `make_sample(answer, answers, documents, gold)`."""

    def make(
        answer: str | None = "",
        answers: Sequence[str] = ("yes",),
        documents: Sequence[Any] = (),
        gold: Sequence[str] = (),
        id: str = "q1",
        **case: Any,
    ) -> Sample:
        return Sample(
            Case("A question?", id, tuple(answers), tuple(gold), **case),
            Response(answer, tuple(to_document(d) for d in documents)),
        )

    return make


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
def store(address: str) -> Place:
    """An empty database of either kind."""
    return Place(address)


@pytest.fixture
def file_store(file_address: str) -> Store:
    """An empty DuckDB file."""
    return Store(file_address, timeout=10)


@pytest.fixture
def server_store(server_address: str) -> Store:
    """An empty database on a server."""
    return Store(server_address, timeout=10)
