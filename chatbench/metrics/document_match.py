"""Whether a true source document was retrieved, and how high it stands in the list."""

from __future__ import annotations

from typing import Any

from chatbench.core.document import fold_name, folded_names
from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.errors import Missing
from chatbench.scoring.metric import Metric


class DocumentMatch(Metric):
    """Whether one of the true documents was retrieved, and how high the best of them stands.

    Names are compared by base name (`/` and `\\` both separate) without the extension of a text file; case matters
    (see `chatbench.core.document.fold_name`). Documents without a name are left out of the list before it is
    weighted, and counted in `n_nameless`. Nothing retrieved: no hit, weight 0. `hit` and `weighted` are missing for
    an unanswerable question and for one without a true document.

    `weighted` is (n - i) / n for the best hit at place i (from 0) of n named documents; several passages of one
    document count as several places. Source: chATLAS_Benchmark (MeanDocumentMatch, WeightedDocumentMatch).
    """

    hit = Measure(bool, "whether a true document is among the retrieved ones", better="higher")
    weighted = Measure(
        float,
        "1 for a true document in first place, falling evenly with the place; 0 without one",
        at_least=0,
        at_most=1,
        better="higher",
    )
    n_documents = Measure(int, "number of retrieved documents, nameless ones included", at_least=0)
    n_nameless = Measure(int, "number of retrieved documents without a name", at_least=0)

    def score_sample(self, sample: Sample) -> dict[str, Any]:
        """Return the row of one sample."""
        ranked = folded_names(sample.documents)
        n = len(ranked)
        counts = {"n_documents": len(sample.documents), "n_nameless": len(sample.documents) - n}
        try:
            gold = set(filter(None, map(fold_name, sample.gold_documents)))
            if not gold:
                raise Missing("no true document")
        except Missing as reason:
            return {**counts, "hit": reason, "weighted": reason}
        place = next((i for i, name in enumerate(ranked) if name in gold), n)
        return {**counts, "hit": place < n, "weighted": (n - place) / n if n else 0.0}
