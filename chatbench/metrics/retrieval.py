"""The usual measures of a ranked list against the true documents or passages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from chatbench.core.document import fold_name, folded_names
from chatbench.core.measure import Measure
from chatbench.core.response import Sample
from chatbench.errors import MetricDefinitionError, Missing
from chatbench.scoring.metric import Metric

BY = ("auto", "documents", "contexts")


def _share(sentence: str) -> Measure:
    return Measure(float, sentence, at_least=0, at_most=1, better="higher")


class Retrieval(Metric):
    """How good the ranked list of retrieved documents or passages is.

    `by` says what is compared: "contexts" are the context ids of case and response, as text; "documents" are the
    names of documents as in `DocumentMatch`; "auto" takes context ids where case and response have them, else
    documents. The order of the list is the rank. Of several copies the first counts and the ranks close up; so it
    is with documents without a name, which are left out.

    `hit`, `precision`, `recall` and `ndcg` look at the first `k` (at least 1) entries, the others at the whole list.
    Precision divides by k even when fewer were retrieved; average precision divides by the number of true entries.
    nDCG has linear gain: the case's `relevance`, 1 where there is no grade; a gain of 0 or less is not relevant.

    Nothing retrieved: all are 0. Missing are unanswerable questions, those without a true entry, those where none of
    the judged entries is relevant, and responses that hold only the kind that is not compared. Definitions and
    numbers are those of trec_eval (as in pytrec_eval and ir_measures) on lists without ties and copies.
    """

    k: int = 10
    by: str = "auto"

    hit = Measure(bool, "whether a true entry is among the first k", better="higher")
    precision = _share("share of true entries in the first k places")
    recall = _share("share of the true entries that is among the first k")
    mrr = _share("reciprocal rank: 1 / rank of the first true entry, 0 without one")
    map = _share("average precision: mean over all true entries of the precision at their ranks")
    ndcg = _share("normalised discounted cumulative gain of the first k, linear gain")
    r_precision = _share("share of true entries among the first n, n being the number of true entries")

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1:
            raise MetricDefinitionError(
                f"Retrieval: k is a whole number of at least 1, not {self.k!r}: Retrieval(k=10)."
            )
        if self.by not in BY:
            raise MetricDefinitionError(f"Retrieval: by is one of {', '.join(BY)}, not {self.by!r}.")

    def score_sample(self, sample: Sample) -> dict[str, float]:
        """Return the row of one sample."""
        case, response = sample.case, sample.response
        if not case.is_answerable:
            raise Missing("the question is unanswerable")
        by = self.by
        if by == "auto":
            by = "contexts" if case.context_ids and (response.context_ids or not case.documents) else "documents"
        gains = self._gains(sample, by)
        if not gains:
            raise Missing("no true context id" if by == "contexts" else "no true document")
        relevant = {key: gain for key, gain in gains.items() if gain > 0}
        if not relevant:
            raise Missing("none of the judged entries is relevant")
        return self._row(self._ranked(sample, by), relevant)

    @staticmethod
    def _gains(sample: Sample, by: str) -> dict[str, float]:
        """Return the gain of each judged entry; listed entries without a grade count 1."""
        case = sample.case
        listed, others = case.documents, case.context_ids
        fold: Callable[[str], str] = fold_name
        if by == "contexts":
            listed, others, fold = others, listed, str
        gains = dict.fromkeys(map(fold, listed), 1.0)
        graded: dict[str, float] = {}
        for key, gain in case.relevance.items():
            if key in listed or key not in others:  # a grade of the other kind is no gold here
                graded[fold(key)] = max(gain, graded.get(fold(key), gain))
        gains |= graded
        gains.pop("", None)
        return gains

    @staticmethod
    def _ranked(sample: Sample, by: str) -> list[str]:
        """Return what was retrieved, in the form in which it is compared, later copies dropped."""
        response = sample.response
        if by == "documents":
            if response.context_ids and not response.documents:
                raise Missing("the response has context ids, but no documents to compare")
            return list(dict.fromkeys(folded_names(sample.documents)))
        if not response.context_ids:
            if response.error is not None:
                raise Missing(response.error)
            if response.documents or response.contexts:
                raise Missing("the response has no context ids to compare")
        return list(dict.fromkeys(map(str, response.context_ids)))

    def _row(self, ranked: Sequence[str], relevant: Mapping[str, float]) -> dict[str, float]:
        """Return all measures of a list without copies; `relevant` holds gains above 0."""
        n, k = len(relevant), self.k
        found = [rank for rank, key in enumerate(ranked, 1) if key in relevant]
        in_k = sum(rank <= k for rank in found)
        dcg = self._dcg((rank, relevant[ranked[rank - 1]]) for rank in found[:in_k])
        ideal_dcg = self._dcg(enumerate(sorted(relevant.values(), reverse=True)[:k], 1))
        return {
            "hit": in_k > 0,
            "precision": in_k / k,
            "recall": in_k / n,
            "mrr": 1 / found[0] if found else 0.0,
            "map": math.fsum(i / rank for i, rank in enumerate(found, 1)) / n,
            "ndcg": min(1.0, dcg / ideal_dcg),  # rounding may lift an almost ideal order above the ideal one
            "r_precision": sum(rank <= n for rank in found) / n,
        }

    @staticmethod
    def _dcg(gains: Iterable[tuple[int, float]]) -> float:
        return math.fsum(gain / math.log2(rank + 1) for rank, gain in gains)
