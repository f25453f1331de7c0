"""Identity of a stored run."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


def new_id() -> str:
    """Return a unique id that sorts by time: 14 hex digits of microseconds and 8 random ones."""
    return f"{time.time_ns() // 1000:014x}{secrets.token_hex(4)}"


@dataclass(frozen=True)
class Run:
    """What a run is known by. `dataset_id` is the fingerprint of its questions; times are UTC."""

    run_id: str
    name: str
    dataset_id: str
    dataset: str
    n_questions: int
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    state: str = "complete"

    def __repr__(self) -> str:
        return f"Run({self.name!r}, run_id={self.run_id!r}, dataset={self.dataset!r}, n_questions={self.n_questions})"
