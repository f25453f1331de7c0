"""ROUGE-1, ROUGE-2 and ROUGE-L of tokenised texts."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from chatbench.core.overlap import common_count, subsequence_length
from chatbench.core.text import TOKENIZERS, porter_stem


class Rouge(NamedTuple):
    """F-measures from 0 to 1: over words, over pairs of neighbours, and over the longest common subsequence."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


NO_ROUGE = Rouge(0.0, 0.0, 0.0)


class RougeText:
    """A text made ready for `rouge`: its words in order, and sorted words and pairs to count what is common.

    `tokenizer` is a name in `TOKENIZERS`; `stemmer` puts Porter stems for words of more than three characters.
    """

    __slots__ = ("_pairs_sorted", "words", "words_sorted")

    def __init__(self, text: str, tokenizer: str = "unicode", stemmer: bool = False) -> None:
        words = TOKENIZERS[tokenizer](text)
        if stemmer:
            words = [porter_stem(word) if len(word) > 3 else word for word in words]
        self.words = words
        self.words_sorted = sorted(words)
        self._pairs_sorted: list[int] | None = None

    def pairs_sorted(self) -> list[int]:
        """The pairs of neighbouring words, made when they are first needed: as hashes, which sort faster."""
        if self._pairs_sorted is None:
            self._pairs_sorted = sorted(map(hash, pairwise(self.words)))
        return self._pairs_sorted


def rouge(answer: RougeText, reference: RougeText) -> Rouge:
    """Return ROUGE of an answer against one reference; 0 where nothing is common or a text has no words (or pairs).

    Symmetric, since it is the F-measure 2 · common / (n_answer + n_reference). Source: Lin 2004, without any of the options
    of the original script, as the package rouge-score 0.1.2 computes it (equal to 1e-9 on equal tokens).
    """
    words = common_count(answer.words_sorted, reference.words_sorted)
    if not words:
        return NO_ROUGE
    n = len(answer.words) + len(reference.words)
    if words == 1:  # it is its own subsequence, and a common pair would have two common words
        return Rouge(2 / n, 0.0, 2 / n)
    pairs = common_count(answer.pairs_sorted(), reference.pairs_sorted())
    in_order = subsequence_length(answer.words, reference.words)
    return Rouge(2 * words / n, 2 * pairs / (n - 2), 2 * in_order / n)
