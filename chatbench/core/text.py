"""From texts to tokens: SQuAD's for overlap and exact match, Unicode words and rouge-score's for ROUGE, Porter stems.

Every function is pure, keeps the order of the text and never fails on a string.
"""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import regex

_UTF8 = ("utf-8", "surrogatepass")  # lone surrogates are no error
_PUNCTUATION = string.punctuation.encode()
_ARTICLES = frozenset(["a", "an", "the"])
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def squad_tokens(text: str) -> list[str]:
    """Return the words of a text as SQuAD's evaluation compares them.

    Lower case; the 32 ASCII punctuation marks are deleted (`3.14` becomes `314`), the articles a, an, the are
    dropped, the rest is cut at white space. Other punctuation stays, and Chinese without spaces is one token.
    Source: evaluate-v1.1.py of SQuAD (Rajpurkar et al. 2016), `normalize_answer`.
    """
    # ASCII bytes never occur inside a longer UTF-8 sequence, so that bytes.translate, the fastest way, is right here.
    kept = text.lower().encode(*_UTF8).translate(None, _PUNCTUATION).decode(*_UTF8)
    words = kept.split()
    if "".join(words).isalnum():  # then every word boundary is white space, and no pattern is needed
        return [word for word in words if word not in _ARTICLES]
    return _ARTICLE.sub(" ", kept).split()


_ROUGE_BYTES = bytes(byte if chr(byte) in string.ascii_lowercase + string.digits else ord(" ") for byte in range(256))


def rouge_tokens(text: str) -> list[str]:
    """Return the words of a text as the package rouge-score cuts them: lower case, runs of a-z and 0-9.

    Letters beyond ASCII separate words: `café` becomes `caf`, and Chinese has no token at all.
    """
    return text.lower().encode(*_UTF8).translate(_ROUGE_BYTES).decode("ascii").split()


# Scripts that write no spaces between words. Only their letters stand alone; their digits form numbers as elsewhere.
_UNSPACED = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Tai_Viet}]&&\p{L}]"
)
# The joiner U+200D ties letters of one word together in Indic scripts.
_RUNS = regex.compile(r"[\p{L}\p{N}\p{M}\u200d]+")
_WORDS = regex.compile(rf"{_UNSPACED}[\p{{M}}\u200d]*+|[[\p{{L}}\p{{N}}\p{{M}}\u200d]--{_UNSPACED}]++", regex.VERSION1)
_BEYOND_ASCII = regex.compile(r"[[\p{L}\p{N}]--[\x00-\x7f]]", regex.VERSION1)
# Ligatures, Arabic presentation forms, half and full width, mathematical alphabets: the same letters in another dress.
_FORMS = regex.compile("[\ufb00-\ufdff\ufe70-\ufeff\uff00-\uffef\U0001d400-\U0001d7ff]+")


def unicode_tokens(text: str) -> list[str]:
    """Return the words of a text in any script, for comparisons that ignore case.

    Words are runs of letters and digits with their combining marks; in scripts without spaces (Chinese, Japanese, Thai,
    Lao, Khmer, Burmese, ...) each letter is a token. Everything else separates. Where no letter or digit is beyond
    ASCII the tokens are those of `rouge_tokens`. Texts that differ in a letter or digit have different tokens, except for
    letters that Unicode holds to be the same: by case folding (`Straße` and `STRASSE`, `µ` and `μ`), by composition (NFC),
    and by NFKC for ligatures, full and half width, Arabic presentation forms and mathematical alphabets. Super- and
    subscripts and fractions are not folded: `10⁶` is not `106`.
    """
    if text.isascii():
        return rouge_tokens(text)
    tokens: list[str] = []
    for piece in normalize("NFC", text).encode(*_UTF8).translate(_PIECE_BYTES).decode(*_UTF8).split():
        if piece.isascii():
            tokens.append(piece)
        else:
            tokens += (_kept_words if len(piece) <= 40 else _words_of_piece)(piece)
    return tokens


# ASCII letters in lower case, ASCII digits and everything beyond ASCII stay; the rest of ASCII separates.
_PIECE_BYTES = bytes(b if b >= 128 else ord(chr(b).lower()) if chr(b).isalnum() else ord(" ") for b in range(256))


def _words_of_piece(piece: str) -> tuple[str, ...]:
    """Cut a piece between two ASCII separators into its words, and fold them."""
    words: list[str] = []
    for run in _RUNS.findall(piece):
        if _BEYOND_ASCII.search(run):
            run = _FORMS.sub(lambda forms: normalize("NFKC", forms[0]), run)
            words += [sys.intern(word.casefold()) for word in _WORDS.findall(run)]  # interned: one object per character
        else:  # marks on ASCII letters that compose to none: separators, as for rouge-score
            words += rouge_tokens(run)
    return tuple(words)


_kept_words = lru_cache(maxsize=16_384)(_words_of_piece)  # words come back; a clause without spaces hardly does


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"unicode": unicode_tokens, "rouge_score": rouge_tokens}
"""Tokenizers by the name that a metric's parameter gives."""


@lru_cache(maxsize=65_536)
def porter_stem(word: str) -> str:
    """Return the stem of a lower-case English word by nltk's Porter stemmer in its default mode; no data is needed."""
    stem: str = _porter_stemmer().stem(word)
    return stem


@lru_cache(maxsize=1)
def _porter_stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
