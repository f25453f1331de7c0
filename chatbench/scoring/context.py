"""What the loop hands to a metric that asks for it: live objects, which are no parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from chatbench.errors import MissingDependencyError
from chatbench.scoring.progress import Progress, no_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embed(Protocol):
    """Turns texts into vectors: an array of shape (texts, dimensions)."""

    def __call__(self, texts: Sequence[str], model: str) -> Vectors:
        """Return one row per text."""


CHUNK = 256
"""Texts that are embedded between two steps of a progress bar."""


@dataclass(frozen=True)
class Context:
    """Live objects of one scoring call: `score_sample(self, sample, ctx)` receives it."""

    embedder: Embed | None = None
    progress: Progress = no_progress

    def embed(self, texts: Sequence[str], model: str) -> Vectors:
        """Return one vector per text by the embedder of this call."""
        if self.embedder is None:
            raise MissingDependencyError("This metric needs an embedder: score_test_set(..., embed=my_function).")
        import numpy as np

        if self.progress is no_progress or len(texts) <= CHUNK:
            return np.asarray(self.embedder(texts, model))
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # chunks of alike lengths waste no padding
        chunks = [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]
        parts = [
            np.asarray(self.embedder([texts[i] for i in chunk], model))
            for chunk in self.progress(chunks, f"embedding by {model}")
        ]
        vectors = np.concatenate(parts)
        return vectors[np.argsort(np.asarray(order))]
