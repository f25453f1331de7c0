"""How much two lists of tokens have in common."""

from __future__ import annotations

from typing import NamedTuple

from rapidfuzz.distance import LCSseq

subsequence_length = LCSseq.similarity
"""Length of the longest common subsequence of two sequences: items in the same order, gaps allowed."""

common_count = LCSseq.similarity
"""How many items two SORTED sequences share, counted with multiplicity.

The longest common subsequence of sorted sequences is their multiset intersection; in C++ that is faster than counting.
"""


class Overlap(NamedTuple):
    """Precision, recall and F1 of an answer's tokens against a reference's, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


NO_OVERLAP = Overlap(0.0, 0.0, 0.0)


def overlap(common: int, n_answer: int, n_reference: int) -> Overlap:
    """Return common / n_answer, common / n_reference and their harmonic mean; all 0 where nothing is common."""
    if not common:
        return NO_OVERLAP
    return Overlap(common / n_answer, common / n_reference, 2 * common / (n_answer + n_reference))
