"""Exact match, token overlap and ROUGE of an answer against the accepted answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from chatbench.core.measure import Measure
from chatbench.core.overlap import NO_OVERLAP, Overlap, common_count, overlap
from chatbench.core.response import Sample
from chatbench.core.rouge import RougeText, rouge
from chatbench.core.text import TOKENIZERS, porter_stem, squad_tokens
from chatbench.errors import MetricDefinitionError, did_you_mean
from chatbench.scoring.metric import Metric


class LexicalMetrics(Metric):
    """Words in common with the accepted answers: exact match, F1 with precision and recall, ROUGE-1, -2 and -L.

    - `exact_match`: equal to any accepted answer after SQuAD's normalisation and Porter stems, so that "The valves." is "valve".
    - `f1`, `precision`, `recall`: overlap of SQuAD tokens with the accepted answer of the best F1. Precision is the share of
      the answer's tokens, recall that of the accepted answer's.
    - `rouge_1`, `rouge_2`, `rouge_l`: F-measure over words, pairs of neighbours, and the longest common subsequence; the best
      accepted answer for each. A one-word text has no pairs: its `rouge_2` is 0, as in rouge-score.

    All from 0 to 1. An empty answer scores 0; two texts that normalise to nothing match exactly and have F1 0, as in SQuAD.
    Missing: unanswerable questions, questions without an accepted answer, and no answer.

    `tokenizer` cuts texts for ROUGE: "unicode" reads every script and equals rouge-score on text without letters or digits
    beyond ASCII; "rouge_score" gives that package's numbers on any text. `stemmer` compares Porter stems of words of
    more than three characters in ROUGE, as rouge-score's `use_stemmer`.

    Sources: evaluate-v1.1.py of SQuAD (Rajpurkar et al. 2016); ROUGE (Lin 2004) as in the package rouge-score 0.1.2.
    """

    packages: ClassVar[tuple[str, ...]] = ("rapidfuzz", "nltk", "regex")

    tokenizer: str = "unicode"
    stemmer: bool = False

    exact_match = Measure(bool, "equal to an accepted answer after normalising and stemming", 0, 1, "higher")
    f1 = Measure(float, "harmonic mean of precision and recall", 0, 1, "higher")
    precision = Measure(float, "share of the answer's words that are in the accepted answer", 0, 1, "higher")
    recall = Measure(float, "share of the accepted answer's words that are in the answer", 0, 1, "higher")
    rouge_1 = Measure(float, "F-measure of common words", 0, 1, "higher")
    rouge_2 = Measure(float, "F-measure of common pairs of neighbouring words", 0, 1, "higher")
    rouge_l = Measure(float, "F-measure of the longest common subsequence of words", 0, 1, "higher")

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise MetricDefinitionError(
                f"There is no tokenizer {self.tokenizer!r}.{did_you_mean(str(self.tokenizer), TOKENIZERS)} "
                f"Write one of {', '.join(map(repr, TOKENIZERS))}."
            )

    def score_sample(self, sample: Sample) -> dict[str, float]:
        """Return the row of one sample."""
        references = [_reference(text, self.tokenizer, self.stemmer) for text in sample.answers]
        answer = _Text(sample.answer, self.tokenizer, self.stemmer)
        best = _best_overlap(answer, references)
        rouge_1, rouge_2, rouge_l = map(
            max, zip(*[rouge(answer.rouge, reference.rouge) for reference in references], strict=True)
        )
        return {
            "exact_match": any(_equal_stems(answer.squad, reference.squad) for reference in references),
            "f1": best.f1,
            "precision": best.precision,
            "recall": best.recall,
            "rouge_1": rouge_1,
            "rouge_2": rouge_2,
            "rouge_l": rouge_l,
        }


class _Text:
    """All that scoring needs of one text."""

    __slots__ = ("rouge", "squad", "squad_sorted")

    def __init__(self, text: str, tokenizer: str, stemmer: bool) -> None:
        self.squad = squad_tokens(text)
        self.squad_sorted = sorted(self.squad)
        self.rouge = RougeText(text, tokenizer, stemmer)


_kept_text = lru_cache(maxsize=4096)(_Text)
forget_references = _kept_text.cache_clear
"""Empty the memory of accepted answers, which makes later runs over the same questions faster."""


def _reference(text: str, tokenizer: str, stemmer: bool) -> _Text:
    """An accepted answer, kept since it comes back in every run of its question set; a long one is not, to bound memory."""
    return (_kept_text if len(text) <= 500 else _Text)(text, tokenizer, stemmer)


def _best_overlap(answer: _Text, references: Sequence[_Text]) -> Overlap:
    """The overlap of SQuAD tokens with the reference of the best F1, the first of equal ones."""
    best = NO_OVERLAP
    for reference in references:
        common = common_count(answer.squad_sorted, reference.squad_sorted)
        if common:
            found = overlap(common, len(answer.squad), len(reference.squad))
            if found.f1 > best.f1:
                best = found
    return best


def _equal_stems(a: Sequence[str], b: Sequence[str]) -> bool:
    return len(a) == len(b) and all(x == y or porter_stem(x) == porter_stem(y) for x, y in zip(a, b, strict=True))
