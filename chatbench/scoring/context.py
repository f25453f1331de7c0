"""What the loop hands to a metric that asks for it: live objects, which are no parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from chatbench.errors import MissingDependencyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embed(Protocol):
    """Turns texts into vectors: an array of shape (texts, dimensions)."""

    def __call__(self, texts: Sequence[str], model: str) -> Vectors:
        """Return one row per text."""


@dataclass(frozen=True)
class Context:
    """Live objects of one scoring call: `score_sample(self, sample, ctx)` receives it."""

    embedder: Embed | None = None

    def embed(self, texts: Sequence[str], model: str) -> Vectors:
        """Return one vector per text by the embedder of this call."""
        if self.embedder is None:
            raise MissingDependencyError("This metric needs an embedder: score_test_set(..., embed=my_function).")
        import numpy as np

        return np.asarray(self.embedder(texts, model))
