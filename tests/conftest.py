"""Fixtures of all tests: a clean environment, and an empty working folder for whatever writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from chatbench.core.case import Case
from chatbench.core.document import to_document
from chatbench.core.response import Response, Sample
from chatbench.scoring import registry


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
