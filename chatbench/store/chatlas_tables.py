"""The tables of chATLAS_Benchmark's file, and the metrics that their scores go under."""

from __future__ import annotations

from dataclasses import dataclass

from chatbench.core.measure import Measure


@dataclass(frozen=True)
class Column:
    """A measure, the column of its mean, and the column of its list with an entry per question (None: there is none)."""

    measure: Measure
    mean: str
    by_question: str | None = None


@dataclass(frozen=True)
class SourceTable:
    """A table of the file, and the metric and table that its scores go under."""

    name: str
    metric: str
    table: str
    columns: tuple[Column, ...]


def _measure(name: str, sentence: str) -> Measure:
    return Measure(float, sentence, at_least=0, at_most=1, better="higher", name=name)


# Tables of their own: these numbers are defined otherwise than ours of like names (exact match without stems, F1 on the
# tokens of nltk, ROUGE-1 and -2 on sets of words, names of documents folded further, a judge whose unreadable replies
# count as no), so one column must not hold both. Cosines nearly agree, but rest on unknown versions of model and code.
TABLES = (
    SourceTable(
        "lexical_metrics_scores",
        "ChatlasLexical",
        "chatlas_lexical",
        (
            Column(
                _measure("exact_match", "equal texts, without stemming (chATLAS_Benchmark)"),
                "exact_match_score",
                "exact_match_by_question",
            ),
            Column(
                _measure("f1", "F1 of the tokens of nltk, punctuation included (chATLAS_Benchmark)"),
                "f1_score",
                "f1_score_by_question",
            ),
            Column(
                _measure("rouge_1", "F-measure of the sets of words (chATLAS_Benchmark)"),
                "rouge_1_score",
                "rouge_1_by_question",
            ),
            Column(
                _measure("rouge_2", "F-measure of the sets of word pairs (chATLAS_Benchmark)"),
                "rouge_2_score",
                "rouge_2_by_question",
            ),
            Column(
                _measure("rouge_l", "F-measure of the longest common subsequence (chATLAS_Benchmark)"),
                "rouge_l_score",
                "rouge_l_by_question",
            ),
        ),
    ),
    SourceTable(
        "semanticSimilarity_metrics_scores",
        "ChatlasSemanticSimilarity",
        "chatlas_semantic_similarity",
        (
            Column(  # without a range: rounding gave values up to 1.0000002 there
                Measure(float, "cosine of the embeddings (chATLAS_Benchmark)", better="higher", name="cosine"),
                "semanticSimilarity_score",
                "semanticSimilarity_score_by_question",
            ),
        ),
    ),
    SourceTable(
        "answerCorrect_metrics_scores",
        "ChatlasAnswerCorrect",
        "chatlas_answer_correct",
        (
            Column(
                _measure("correct", "the judge said exactly yes (chATLAS_Benchmark)"),
                "answerCorrect_score",
                "answerCorrect_score_by_question",
            ),
        ),
    ),
    SourceTable(
        "DocumentMatch_metrics_scores",
        "ChatlasDocumentMatch",
        "chatlas_document_match",
        (
            Column(
                _measure("hit", "share of questions with a true document (chATLAS_Benchmark)"),
                "MeanDocumentMatch_score",
            ),
            Column(
                _measure("weighted", "rank of the best hit, 1 for the first place (chATLAS_Benchmark)"),
                "WeightedDocumentMatch_score",
            ),
        ),
    ),
)
