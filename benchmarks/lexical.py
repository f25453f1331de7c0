"""Speed of the lexical metrics as ratios within one run: python benchmarks/lexical.py [pairs]

CPU seconds, best of five, both sides on the same pairs. References are new to every measurement unless a line says otherwise.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus import Pair, describe, load_pairs
from report import HEADER, show
from rouge_score.rouge_scorer import RougeScorer

from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.core.rouge import RougeText, rouge
from chatbench.core.text import squad_tokens, unicode_tokens
from chatbench.metrics.lexical_metrics import LexicalMetrics, forget_references
from chatbench.scoring.score import score

TYPES = ("rouge1", "rouge2", "rougeL")


def main() -> None:
    """Print one line per promise: the ratio seen, the ratio wanted, and whether it is good."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    short = load_pairs(limit)
    sentences = [pair for pair in load_pairs(5 * limit) if len(pair[2].split()) > 20][:limit]
    print(describe(short))
    print(HEADER)
    for stemmer in (False, True):
        name = "ROUGE, times rouge_score" + (", stemmer" if stemmer else "")
        step = 20 if stemmer else 4  # rouge_score is slow: a part of the pairs will do
        show(name, *against_rouge_score(short[::step], stemmer), at_least=10)
        show(f"{name}, answers over 20 words", *against_rouge_score(sentences[::step], stemmer), at_least=10)
    show("ROUGE, times rouge_score, 1,500 words", *against_rouge_score(long_pairs(short, 6), False), at_least=100)
    show("LexicalMetrics / tokenising alone", *against_tokenising(short), at_most=3)
    show("LexicalMetrics / tokenising alone, answers over 20 words", *against_tokenising(sentences), at_most=3)
    show("LexicalMetrics / tokenising alone, references seen before", *against_tokenising(short, warm=True), at_most=3)
    show("through score(), with its checks / tokenising alone", *against_tokenising(short, loop=True))
    show("time per pair, all pairs / a quarter of them", *growth(short), at_most=1.3)


def against_rouge_score(pairs: list[Pair], stemmer: bool) -> tuple[float, str]:
    """Return how many times faster ROUGE is, after a check that the numbers are equal on equal tokens."""
    scorer = RougeScorer(list(TYPES), use_stemmer=stemmer)

    def theirs() -> list[tuple[float, ...]]:
        found = [scorer.score_multi(list(references), answer) for _, references, answer in pairs]
        return [tuple(row[t].fmeasure for t in TYPES) for row in found]

    def ours(tokenizer: str = "unicode") -> list[tuple[float, ...]]:
        rows = []
        for _, references, answer in pairs:
            text = RougeText(answer, tokenizer, stemmer)
            found = [rouge(text, RougeText(reference, tokenizer, stemmer)) for reference in references]
            rows.append(tuple(map(max, zip(*found, strict=True))))
        return rows

    differences = [
        abs(a - b) for x, y in zip(theirs(), ours("rouge_score"), strict=True) for a, b in zip(x, y, strict=True)
    ]
    slow, fast = cpu_seconds(theirs), cpu_seconds(ours)
    return (
        slow / fast,
        f"{slow:.3f} s / {fast:.3f} s; {len(differences)} values, largest difference {max(differences):.0e}",
    )


def against_tokenising(pairs: list[Pair], warm: bool = False, loop: bool = False) -> tuple[float, str]:
    """Return the time of the metric over the time of cutting the same texts into SQuAD's tokens and words."""
    metric, samples = LexicalMetrics(), samples_of(pairs)

    def tokenise() -> None:
        for sample in samples:
            for text in (sample.answer, *sample.answers):
                squad_tokens(text)
                unicode_tokens(text)

    def measure() -> None:
        if loop:
            score(samples, [metric])
        for sample in () if loop else samples:
            metric.score_sample(sample)

    forget = nothing if warm else forget_references
    if warm:  # as many as are kept
        samples = samples[:800]
        measure()
    taken, floor = cpu_seconds(measure, before=forget), cpu_seconds(tokenise)
    return taken / floor, f"{taken:.3f} s / {floor:.3f} s"


def growth(pairs: list[Pair]) -> tuple[float, str]:
    """Return the time per pair of all pairs over that of every fourth one."""
    metric, times = LexicalMetrics(), []
    for samples in (samples_of(pairs[::4]), samples_of(pairs)):
        seconds = cpu_seconds(lambda s=samples: [metric.score_sample(x) for x in s], forget_references)  # type: ignore[misc]
        times.append(seconds / len(samples))
    return times[1] / times[0], f"{times[1] * 1e6:.1f} us / {times[0] * 1e6:.1f} us"


def long_pairs(pairs: list[Pair], n: int, words: int = 1500) -> list[Pair]:
    """Return pairs of long texts, each put together from many answers; the reference is the next answer of the same stock."""
    stock = [word for _, _, answer in pairs for word in answer.split()]
    stock *= 1 + (n + 1) * words // len(stock)
    texts = [" ".join(stock[i * words // 2 : i * words // 2 + words]) for i in range(n + 1)]
    return [(str(i), (texts[i],), texts[i + 1]) for i in range(n)]


def samples_of(pairs: list[Pair]) -> list[Sample]:
    """Return the pairs as samples."""
    return [Sample(Case("", id=id_, answers=references), Response(answer)) for id_, references, answer in pairs]


def nothing() -> None:
    """Prepare nothing."""


def cpu_seconds(work: Callable[[], object], before: Callable[[], object] = nothing) -> float:
    """Return the CPU seconds of the fastest of five calls."""
    best = float("inf")
    for _ in range(5):
        before()
        gc.collect()
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
