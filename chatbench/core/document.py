"""A source document or retrieved passage, and how foreign document objects become one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chatbench.core.fields import entries, json_object, shown
from chatbench.core.jsonable import clean_text, is_missing
from chatbench.errors import InputError

NAME_KEYS = ("name", "source")
"""Metadata keys that are looked at, in this order, for the name of a document."""

TEXT_SUFFIXES = frozenset(
    "txt text md markdown rst tex html htm xhtml xml json jsonl csv tsv yaml yml log "  # noqa: SIM905
    "pdf doc docx odt rtf ppt pptx odp xls xlsx ods epub".split()
)
"""Extensions, in lower case, of files that hold text. Any other ending belongs to a document's name."""


@dataclass(frozen=True)
class Document:
    """A document as retrieval returns it: text, metadata, and the name it is known by.

    >>> Document(page_content="A boson.", metadata={"name": "higgs.txt"}).name
    'higgs.txt'
    """

    page_content: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    parent_id: str | None = None

    def __post_init__(self) -> None:
        own = self.__dict__  # frozen for users; written here once, in the fastest way: retrieval makes many documents
        if own["page_content"] != "":
            own["page_content"] = _text(own["page_content"])
        # what a retriever leaves in there (paths, ids, objects) must not cost the run: no JSON, then its text
        own["metadata"] = json_object(self.metadata, "metadata of a Document")
        for key in ("id", "parent_id"):
            if own[key] is not None:
                own[key] = None if is_missing(own[key]) else clean_text(str(own[key]))

    @property
    def name(self) -> str | None:
        """`metadata["name"]`, else `metadata["source"]`, else the id; None when there is none of them."""
        for key in NAME_KEYS:
            if (value := self.metadata.get(key)) not in (None, ""):
                return str(value)
        return self.id or None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value)
    if is_missing(value):
        return ""
    raise InputError(f"page_content of a Document is a {shown(value)}; text is due")


def to_document(value: Any, name_key: str | None = None) -> Document:
    """Return a `Document` from whatever a retriever gives.

    A string is a name. A mapping is read by the keys of `Document` (also `text` or `content` for the text); one
    without any of them is metadata. LangChain documents (`page_content`, `metadata`) and LlamaIndex nodes
    (`text` or `get_content()`, `metadata`, also inside a `.node`) are read by their attributes. `name_key`
    names a metadata key that holds the name before the usual ones. Other values raise `InputError`.
    """
    if isinstance(value, str):
        return _named(value)
    if isinstance(value, Document):
        document = value
    elif isinstance(value, Mapping):
        document = _from_mapping(value)
    else:
        document = _from_object(value)
    if name_key is None or document.metadata.get(name_key) in (None, ""):
        return document
    metadata = {**document.metadata, "name": str(document.metadata[name_key])}
    return replace(document, metadata=metadata)


def _named(name: str) -> Document:
    # Past __init__: most retrieved lists are names, and a run has tens of thousands of them.
    document = object.__new__(Document)
    document.__dict__.update(page_content="", metadata={"name": clean_text(name)}, id=None, parent_id=None)
    return document


_DUE = (
    "a list of documents is due: one list per question, best first, each entry a document, a dict or a name. "
    "Put a single one into a list."
)


def to_documents(value: Any, where: str, name_key: str | None = None) -> tuple[Document, ...]:
    """Return the ranked documents of one question; `where` names the place in error texts."""
    if is_missing(value):
        return ()
    documents = []
    for place, entry in enumerate(entries(value, where, _DUE), 1):
        try:
            documents.append(to_document(entry, name_key))
        except InputError as error:
            raise InputError(f"{where}, entry {place}: {error}") from error
    return tuple(documents)


_TEXT_KEYS = ("page_content", "text", "content")


def _from_mapping(value: Mapping[str, Any]) -> Document:
    text = next((value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str)), "")
    metadata = json_object(value.get("metadata"), "metadata")
    known = {*_TEXT_KEYS, "metadata", "id", "parent_id"}
    metadata.update({k: v for k, v in value.items() if k not in known and k not in metadata})
    return Document(text, metadata, value.get("id"), value.get("parent_id"))


def _from_object(value: Any) -> Document:
    node = getattr(value, "node", value)  # LlamaIndex wraps a scored node
    metadata: Any = getattr(node, "metadata", None)
    text = getattr(node, "page_content", None)
    if text is None:
        text = getattr(node, "text", None)
    if text is None and callable(getattr(node, "get_content", None)):
        text = node.get_content()
    if (text is None and metadata is None) or hasattr(node, "ndim"):  # a row of a frame has the columns as attributes
        raise InputError(
            f"{shown(value)} is no document: give a name, a dict, a Document, or an object with page_content and metadata."
        )
    identity = getattr(node, "id", None) or getattr(node, "node_id", None)
    return Document(str(text or ""), metadata, identity)


def names(documents: Sequence[Document]) -> list[str | None]:
    """Return the documents' names in order; None stands for a nameless one."""
    return [document.name for document in documents]


def fold_name(name: str) -> str:
    """Return the form in which names of documents are compared: the base name without the extension of a text file.

    Both path separators count, also at the end. `docs/paper.v0.txt`, `paper.v0.pdf` and `paper.v0` are the same;
    `report v1.2` and `report v1.3` are not, nor are `A` and `a`. Composed and decomposed accents (NFC, NFD) are the
    same. An empty result means that the name names nothing.
    """
    base = name.replace("\\", "/").strip().rstrip("/").rpartition("/")[2].strip()
    stem, _, suffix = base.rpartition(".")
    if stem and suffix.lower() in TEXT_SUFFIXES:
        base = stem
    return unicodedata.normalize("NFC", base)


def folded_names(documents: Sequence[Document]) -> list[str]:
    """Return the documents' names in order, in the form in which they are compared; nameless ones are left out."""
    return [folded for name in names(documents) if name is not None and (folded := fold_name(name))]
