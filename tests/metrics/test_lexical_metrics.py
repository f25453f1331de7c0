import json
import re
import string
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from chatbench.core.case import Case
from chatbench.core.response import Response, Sample
from chatbench.errors import MetricDefinitionError
from chatbench.metrics.lexical_metrics import LexicalMetrics
from chatbench.scoring.score import score
from tests.places import DATA

GOLDENS = Path(__file__).parents[1] / "goldens"
NAMES = [measure.name for measure in LexicalMetrics.measures]
ROUGES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


def cases(name: str, feature: str) -> list:
    found = json.loads((GOLDENS / name).read_text(encoding="utf-8"))
    return [pytest.param(c["input"], c["expected"], id=c["id"]) for c in found if c["feature"] == feature]


def columns(pairs, **parameters):
    """The scoring of (accepted answers, answer) pairs."""
    samples = [
        Sample(
            Case("q", id=str(i), answers=(accepted,) if isinstance(accepted, str) else tuple(accepted)),
            Response(answer),
        )
        for i, (accepted, answer) in enumerate(pairs)
    ]
    [scoring] = score(samples, [LexicalMetrics(**parameters)])
    assert scoring.errors == [None] * len(samples)
    return scoring.values


def row(accepted, answer, **parameters):
    return {name: values[0] for name, values in columns([(accepted, answer)], **parameters).items()}


# Recorded cases


@pytest.mark.parametrize(("given_", "expected"), cases("chatlas/exact_match.json", "exact_match"))
def test_exact_match_of_the_chatlas_cases(given_, expected):
    assert row(given_["test_answer"], given_["answer"])["exact_match"] is bool(expected["exact_match"])


@pytest.mark.parametrize(("given_", "expected"), cases("chatlas/f1_rouge.json", "f1_rouge"))
def test_f1_and_rouge_of_the_chatlas_cases(given_, expected):
    found = row(given_["test_answer"], given_["answer"])
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)


# The design adds Porter stems to SQuAD's exact match; in none of these cases do they change the verdict.
@pytest.mark.parametrize(("given_", "expected"), cases("unitxt/squad.json", "hf_squad"))
def test_exact_match_and_f1_of_the_squad_cases(given_, expected):
    found = row(given_["references"], given_["prediction"])
    assert found["exact_match"] is (expected["exact_match"] == 100)
    assert found["f1"] == pytest.approx(expected["f1"] / 100, abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("unitxt/squad.json", "hf_squad.batch"))
def test_means_of_the_squad_batch(given_, expected):
    samples = [Sample(Case("q", answers=tuple(p["references"])), Response(p["prediction"])) for p in given_["pairs"]]
    means = {s.measure: s.mean for s in score(samples, [LexicalMetrics()])[0].summaries}
    assert means["exact_match"] == pytest.approx(expected["exact_match"] / 100, abs=1e-9)
    assert means["f1"] == pytest.approx(expected["f1"] / 100, abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("unitxt/squad.json", "hf_squad_v2"))
def test_the_squad_v2_cases(given_, expected):
    """SQuAD v2 scores questions without an answer; the design leaves them out of answer means, as missing.

    `squad2-both-normalise-empty` is recorded with F1 100 because v2 drops a gold that normalises to nothing and takes the
    question for unanswerable; here SQuAD v1.1's rule holds: exact match 1, F1 0.
    """
    if not given_["references"]:
        [scoring] = score([Sample(Case("q"), Response(given_["prediction"]))], [LexicalMetrics()])
        assert scoring.missing == [dict.fromkeys(NAMES, "no reference answer")]
        return
    found = row(given_["references"], given_["prediction"])
    assert found["exact_match"] is (expected["exact"] == 100)
    both_empty = given_["prediction"] != "" and given_["references"] == ["a"]
    assert found["f1"] == pytest.approx(0.0 if both_empty else expected["f1"] / 100, abs=1e-9)


def test_one_word_has_no_pairs_in_any_script():
    """rouge_2 of one-word texts is 0 in rouge-score 0.1.2, and recorded so (f1_rouge-011), though the texts are identical."""
    for word in ("Paris", "Москва"):
        found = row(word, word)
        assert (found["rouge_1"], found["rouge_l"], found["f1"], found["exact_match"]) == (1.0, 1.0, 1.0, True)
        assert found["rouge_2"] == 0.0


ROUGE_CASES = [
    *cases("unitxt/rouge_score.json", "rouge_score"),
    *cases("unitxt/rouge_score.json", "rouge_score.score_multi"),
]


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize(("given_", "expected"), ROUGE_CASES)
def test_rouge_of_the_rouge_score_cases(given_, expected, stemmer):
    found = row(
        given_.get("targets") or given_["target"], given_["prediction"], tokenizer="rouge_score", stemmer=stemmer
    )
    wanted = {ours: expected["stemmer" if stemmer else "plain"][theirs]["fmeasure"] for ours, theirs in ROUGES.items()}
    assert {name: found[name] for name in ROUGES} == pytest.approx(wanted, abs=1e-9)


# Independent implementations


def squad_row(accepted, answer):
    """SQuAD's formula (Rajpurkar et al. 2016), and exact match on nltk's Porter stems."""

    def tokens(text):
        text = "".join(c for c in text.lower() if c not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    def f1(reference):
        common = sum((Counter(tokens(answer)) & Counter(tokens(reference))).values())
        if not common:
            return 0.0, 0.0, 0.0
        precision, recall = common / len(tokens(answer)), common / len(tokens(reference))
        return 2 * precision * recall / (precision + recall), precision, recall

    stem = PorterStemmer().stem
    best = max(map(f1, accepted), key=lambda found: round(found[0], 12))
    exact = any([*map(stem, tokens(answer))] == [*map(stem, tokens(reference))] for reference in accepted)
    return {"exact_match": exact, "f1": best[0], "precision": best[1], "recall": best[2]}


def rouge_row(accepted, answer, stemmer=False):
    found = RougeScorer(list(ROUGES.values()), use_stemmer=stemmer).score_multi(list(accepted), answer)
    return {ours: found[theirs].fmeasure for ours, theirs in ROUGES.items()}


TEXT = st.lists(
    st.sampled_from(["the", "trigger", "triggers", "reads", "reading", "at", "100", "kHz.", "It's", "A"])
    | st.text(st.characters(max_codepoint=127), max_size=5),
    max_size=12,
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=3), TEXT, st.booleans())
def test_ascii_texts_have_the_numbers_of_rouge_score_and_squad(accepted, answer, stemmer):
    wanted = squad_row(accepted, answer) | rouge_row(accepted, answer, stemmer)
    assert row(accepted, answer, stemmer=stemmer) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("folder", ["clapnq", "nq301"])
def test_real_answers_have_the_numbers_of_rouge_score_and_squad(folder):
    if not (DATA / folder).is_dir():
        pytest.skip(f"the data set {folder} is not beside the repository")
    questions = json.loads((DATA / folder / "questions.json").read_text(encoding="utf-8"))
    accepted = {q["id"]: tuple(q["answers"]) for q in questions if q.get("answerable", True)}
    pairs = [
        (accepted[r["id"]], r["answer"])
        for run in sorted((DATA / folder / "runs").glob("*.json"))
        for r in json.loads(run.read_text(encoding="utf-8"))
        if r["id"] in accepted
    ]
    assert len(pairs) > 500
    by_default, as_rouge_score = columns(pairs), columns(pairs, tokenizer="rouge_score")
    for i, (references, answer) in enumerate(pairs):
        rouges = rouge_row(references, answer)
        assert {name: values[i] for name, values in as_rouge_score.items()} == pytest.approx(
            squad_row(references, answer) | rouges, abs=1e-9
        )
        if all(text.isascii() for text in (*references, answer)):
            assert {name: by_default[name][i] for name in ROUGES} == pytest.approx(rouges, abs=1e-9)


# Scripts


IN_SCRIPTS = [
    "触发器在每次碰撞后读取数据",
    "スキャナーがデータを読む",
    "สวัสดีชาวโลก",
    "يقرأ النظام البيانات بعد كل تصادم",
    "प्रणाली हर टक्कर के बाद डेटा पढ़ती है",
    "το σύστημα διαβάζει τα δεδομένα",
    "детектор читает данные",
    "시스템이 데이터를 읽는다",
    "המערכת קוראת נתונים",
]


@pytest.mark.parametrize("text", IN_SCRIPTS)
@pytest.mark.parametrize("stemmer", [False, True])
def test_identical_texts_score_one_in_every_script(text, stemmer):
    assert row(text, text, stemmer=stemmer) == dict.fromkeys(NAMES, 1.0)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("触发器的频率是 100 kHz。", "探测器每秒记录 100 kHz 的数据。"),
        ("детектор читает 100 kHz", "система хранит 100 kHz"),
        ("प्रणाली 100 kHz", "यंत्र 100 kHz"),
    ],
)
def test_sentences_that_share_only_a_number_and_a_unit_are_far_from_one(reference, answer):
    found = row(reference, answer)
    assert not found.pop("exact_match")
    assert all(0 < value < 0.75 for name, value in found.items() if name != "rouge_2")


LETTERS = st.characters(categories=["L", "Nd"]) | st.sampled_from("aeо漢字かกक٣７é")
MIXED = st.lists(LETTERS | st.sampled_from(" .,。-\u093f\u0e31\u0301\u200d"), min_size=1, max_size=12).map("".join)


def folded(text):
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@settings(max_examples=300, deadline=None)
@given(MIXED, st.integers(0, 11), LETTERS, st.sampled_from(["replace", "insert", "delete"]))
def test_texts_that_differ_in_a_letter_or_digit_never_score_one(text, place, letter, kind):
    places = [i for i, c in enumerate(text) if unicodedata.category(c)[0] in "LN"]
    assume(places)
    i = places[place % len(places)]
    other = text[:i] + ("" if kind == "delete" else letter) + text[i + (kind != "insert") :]
    assume(folded(text) != folded(other))
    found = row(text, other)
    assert max(found[name] for name in ROUGES) < 1


@settings(deadline=None)
@given(MIXED.filter(lambda text: any(unicodedata.category(c)[0] in "LN" for c in text)))
def test_a_text_scores_one_against_itself(text):
    found = row(text, text)
    assert found["exact_match"]
    assert (found["rouge_1"], found["rouge_l"]) == (1, 1)


# Edges


@pytest.mark.parametrize("answer", ["", "   ", "\n", "?!", "🚀"])
def test_an_answer_without_words_scores_zero(answer):
    assert row("The trigger reads 100 kHz.", answer) == dict.fromkeys(NAMES, 0)


@pytest.mark.parametrize(("reference", "answer"), [("", ""), ("the", "a"), ("...", "!!!")])
def test_two_texts_that_normalise_to_nothing_match_exactly_and_overlap_in_nothing(reference, answer):
    found = row(reference, answer)
    assert found["exact_match"]
    assert (found["f1"], found["precision"], found["recall"]) == (0, 0, 0)


def test_one_word_texts_score_one_except_for_pairs_of_words():
    found = row("Paris", "Paris")
    assert found.pop("rouge_2") == 0  # rouge-score's number
    assert set(found.values()) == {1}


def test_precision_and_recall_are_those_of_the_answer_with_the_best_f1():
    found = row(["gold", "gold coin of the old king", "gold coin"], "gold bar coin")
    assert (found["f1"], found["precision"], found["recall"]) == pytest.approx((0.8, 2 / 3, 1))
    assert found["rouge_1"] == pytest.approx(0.8)


def test_questions_that_cannot_be_scored_are_missing_with_a_reason():
    samples = [
        Sample(Case("q", id="1", answers=("yes",), is_answerable=False), Response("yes")),
        Sample(Case("q", id="2"), Response("yes")),
        Sample(Case("q", id="3", answers=("yes",)), Response(None, error="TimeoutError: late")),
        Sample(Case("q", id="4", answers=("yes",)), Response("Yes!")),
    ]
    [scoring] = score(samples, [LexicalMetrics()])
    reasons = [m and m["f1"] for m in scoring.missing]
    assert reasons == ["the question is unanswerable", "no reference answer", "TimeoutError: late", None]
    assert scoring.values["exact_match"] == [None, None, None, True]


def test_parameters_of_one_call_do_not_mix():
    samples = [Sample(Case("q", answers=("café readings",)), Response("caf reading"))]
    metrics = [
        LexicalMetrics(),
        LexicalMetrics(tokenizer="rouge_score"),
        LexicalMetrics(tokenizer="rouge_score", stemmer=True),
    ]
    assert [s.values["rouge_1"] for s in score(samples, metrics)] == [[0], [0.5], [1]]


def test_an_unknown_tokenizer_is_refused_with_those_that_exist():
    with pytest.raises(
        MetricDefinitionError, match=r"'rouge-score'.*Did you mean 'rouge_score'.*'unicode', 'rouge_score'"
    ):
        LexicalMetrics(tokenizer="rouge-score")
