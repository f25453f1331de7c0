"""Documents at the edge: LangChain, LlamaIndex, dicts, names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from chatbench.core.document import Document, to_document, to_documents
from chatbench.errors import InputError


@pytest.mark.parametrize(
    ("given", "name", "text"),
    [
        ("a.txt", "a.txt", ""),
        (Document(page_content="t", metadata={"name": "a"}), "a", "t"),
        ({"page_content": "t", "metadata": {"source": "b/c.txt"}}, "b/c.txt", "t"),
        ({"text": "t", "name": "flat"}, "flat", "t"),
        (SimpleNamespace(page_content="t", metadata={"source": "s"}, id="i"), "s", "t"),
        (SimpleNamespace(node=SimpleNamespace(text="t", metadata={}, node_id="n1"), score=0.5), "n1", "t"),
        (SimpleNamespace(get_content=lambda: "t", metadata={"name": 7}, node_id="n1"), "7", "t"),
        (SimpleNamespace(page_content="t", metadata=None), None, "t"),
        ({"metadata": None, "id": 3}, "3", ""),
        (Document(metadata={"name": "", "source": "s"}), "s", ""),
    ],
)
def test_whatever_a_retriever_gives_becomes_a_document(given: Any, name: str | None, text: str) -> None:
    document = to_document(given)
    assert (document.name, document.page_content) == (name, text)


def test_the_name_key_can_be_chosen() -> None:
    assert to_document({"metadata": {"title": "t", "name": "n"}}, name_key="title").name == "t"
    assert to_document({"metadata": {"name": "n"}}, name_key="title").name == "n"


@pytest.mark.parametrize("given", ["a.txt", b"a", {"name": "a"}, 3])
def test_something_else_than_a_list_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="documents of question 2.*a list of documents is due"):
        to_documents(given, "documents of question 2")


@pytest.mark.parametrize("entry", [3, None, object()])
def test_an_entry_that_is_no_document_is_named(entry: Any) -> None:
    with pytest.raises(InputError, match="documents of question 2, entry 2: .*is no document"):
        to_documents(["a", entry], "documents of question 2")


def test_text_that_no_database_keeps_is_cleaned() -> None:
    document = to_document({"text": "a\ud800b\x00", "metadata": {"name": "x\ud800", "score": float("nan")}})
    assert (document.page_content, document.name, document.metadata["score"]) == (
        "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}",
        "x\N{REPLACEMENT CHARACTER}",
        None,
    )
