import re
import string
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize as rouge_score_tokenize

from chatbench.core.text import porter_stem, rouge_tokens, squad_tokens, unicode_tokens

WORDY = st.lists(
    st.sampled_from(["the", "A", "an", "a", " ", "\n", "\u00a0", "3.5", "it's", "–", "“", "_", "\x00"])
    | st.text(max_size=4)
)
# Characters beyond ASCII that are no letters or digits and compose with none.
SYMBOLS = "–—’“”…€·™℃№㎏′°\u00a0\u200b\u200d\u00ad\u20dd。，🚀"


def squad_formula(text: str) -> list[str]:
    """Rajpurkar et al. 2016, step by step: lower case, no punctuation, no articles, white space folded."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


@given(WORDY)
def test_squad_tokens_follow_the_formula_on_any_text(parts):
    text = "".join(parts)
    assert squad_tokens(text) == squad_formula(text)


@given(st.text())
def test_rouge_tokens_are_those_of_rouge_score_on_any_text(text):
    assume(not any(0xD800 <= ord(c) <= 0xDFFF for c in text))  # on these rouge_score fails
    assert rouge_tokens(text) == rouge_score_tokenize(text, None)


@given(st.text(st.sampled_from(string.printable + SYMBOLS)))
def test_unicode_tokens_are_those_of_rouge_score_without_letters_or_digits_beyond_ascii(text):
    assert unicode_tokens(text) == rouge_score_tokenize(text, None)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Größe der Käfer", ["grösse", "der", "käfer"]),
        ("το σύστημα διαβάζει", ["το", "σύστημα", "διαβάζει"]),
        ("Детектор читает 40 МГц", ["детектор", "читает", "40", "мгц"]),
        ("触发器以100 kHz读取，每次。", [*"触发器以", "100", "khz", *"读取每次"]),
        ("データを読む", list("データを読む")),
        ("데이터를 읽는다", ["데이터를", "읽는다"]),
        ("प्रणाली डेटा पढ़ती है।", ["प्रणाली", "डेटा", "पढ़ती", "है"]),
        ("يَقرأ النظامُ البيانات", ["يَقرأ", "النظامُ", "البيانات"]),
        ("สวัสดี ๑๒๓", ["ส", "วั", "ส", "ดี", "๑๒๓"]),
        ("m̀bọ̀ x̄", ["m̀bọ̀", "x"]),  # a mark on an ASCII letter counts where its word has letters beyond ASCII
        ("İzmir", ["i̇zmir"]),
        ("10⁶ H₂O ½", ["10⁶", "h₂o", "½"]),
    ],
)
def test_unicode_tokens_by_script(text, tokens):
    tokens = [unicodedata.normalize("NFC", token) for token in tokens]
    assert unicode_tokens(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("5 µs", "5 μs"),
        ("caf\u00e9", "cafe\u0301"),
        ("１００ ＧＰＵ", "100 gpu"),
        ("ｶﾞｽ", "ガス"),
        ("eﬃcient é", "efficient é"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
        ("𝑝𝑇", "pT"),
    ],
)
def test_letters_that_unicode_holds_to_be_the_same_are_equal(one, other):
    assert unicode_tokens(one) == unicode_tokens(other)


@pytest.mark.parametrize(
    ("one", "other"), [("10⁶", "106"), ("2½", "21/2"), ("x²", "x2"), ("и", "й"), ("ガ", "カ"), ("①", "1"), ("é", "e")]
)
def test_letters_and_digits_that_mean_something_else_are_not(one, other):
    assert unicode_tokens(one) != unicode_tokens(other)


def test_a_text_of_one_long_run_without_spaces_is_cut_like_its_parts():
    assert unicode_tokens("触发器" * 50) == list("触发器" * 50)


def test_lone_surrogates_and_control_characters_are_no_error():
    text = "ab\x00 é\udfff"
    assert squad_tokens(text) == ["ab\x00", "é\udfff"]
    assert rouge_tokens(text) == ["ab"]
    assert unicode_tokens(text) == ["ab", "é"]


@pytest.mark.parametrize(("word", "stem"), [("relational", "relat"), ("studies", "studi"), ("operators", "oper")])
def test_porter_stems_of_the_paper(word, stem):  # Porter 1980
    assert porter_stem(word) == stem
