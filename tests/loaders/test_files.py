"""Files: JSON lists and JSON lines in any encoding, and what is no question set."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest

from chatbench.errors import DatasetError, DatasetNotFoundError, InputTypeError, ReadingError
from chatbench.loaders import load_dataset
from chatbench.loaders.json_file import read_records

RECORDS = [{"question": "Ça va?", "answer": "Ωραία 🙂"}, {"question": "Seconde?", "answer": "oui\u2028non\x85"}]
LINES = "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)


def write(content: str | bytes, name: str = "set.json") -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", [json.dumps(RECORDS, ensure_ascii=False), LINES], ids=["list", "lines"])
def test_unicode_encodings_are_recognised(encoding: str, text: str) -> None:
    loaded = load_dataset(write(text.encode(encoding)))
    assert [(c.question, c.answers) for c in loaded] == [(r["question"], (r["answer"],)) for r in RECORDS]


def test_other_text_is_read_as_windows_1252_with_a_warning() -> None:
    name = write('[\n{"question": "Ça va? 5 €"}]'.encode("cp1252"))
    with pytest.warns(
        UserWarning, match=r"'set.json' is not UTF-8: byte 0xc7 at position 16 \(line 2\).*1252"
    ) as caught:
        loaded = load_dataset(name)
    assert loaded.questions == ["Ça va? 5 €"]
    assert caught[0].filename == __file__


def test_a_file_with_a_byte_order_mark_is_never_read_as_something_else() -> None:
    with pytest.raises(ReadingError, match=r"is not utf-8-sig: byte 0xe9 at position 18 \(line 1\)"):
        load_dataset(write(b'\xef\xbb\xbf[{"question": "\xe9?"}]'))


def test_a_given_encoding_decides() -> None:
    name = write('[{"question": "Ça va?"}]'.encode("latin-1"))
    assert load_dataset(name, encoding="latin-1").questions == ["Ça va?"]
    assert load_dataset(write("\ufeff[]"), encoding="utf-8").cases == ()
    with pytest.raises(
        ReadingError, match=r"'b.json' is not utf-8: byte 0xc7 at position 15 \(line 1\).*encoding="
    ) as caught:
        load_dataset(write('[{"question": "Ça va?"}]'.encode("latin-1"), "b.json"), encoding="utf-8")
    assert isinstance(caught.value, UnicodeError)


@pytest.mark.parametrize("encoding", ["utf-9", "base64", "a\x00b"])
def test_an_unknown_encoding(encoding: str) -> None:
    with pytest.raises(ReadingError, match=r"'set.json' cannot be read with encoding=.*such as 'utf-8'"):
        load_dataset(write("[]"), encoding=encoding)


def test_an_encoding_that_is_no_text() -> None:
    with pytest.raises(InputTypeError, match="encoding is 8"):
        load_dataset(write("[]"), encoding=8)  # type: ignore[arg-type]


def test_bytes_of_no_encoding() -> None:
    with pytest.raises(ReadingError, match=r"not UTF-8: byte 0x81 at position 2 .* Windows-1252 .* neither"):
        load_dataset(write(b'["\x81"]'))
    with pytest.raises(ReadingError, match="is not utf-16"):
        load_dataset(write("[]".encode("utf-16") + b"x"))


@pytest.mark.parametrize(
    ("content", "name", "questions"),
    [
        ("[]", "set.json", []),
        ('[{"question": "A?"}]', "set.jsonl", ["A?"]),
        ('{"question": "A?"}\n{"question": "B?"}', "set.json", ["A?", "B?"]),
        ('\n{"question": "A?"}\r\n\r\n{"question": "B?"}\r\n', "set.txt", ["A?", "B?"]),
        ('{"question": "A?"}\n', "set.JSONL", ["A?"]),
        ('{"question": "A?"}', "set.ndjson", ["A?"]),
        ('  [\n{"question": "A?"}\n]\n', "set", ["A?"]),
    ],
)
def test_lists_and_lines_are_told_by_their_content(content: str, name: str, questions: list[str]) -> None:
    loaded = load_dataset(write(content, name))
    assert (loaded.questions, loaded.name, loaded.path) == (questions, name, name)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", r"is empty\. A JSON list of objects is due, or one object per line \(JSONL\)\. .* is \[\]"),
        (" \n", "is empty"),
        ("question,answer\nA?,a", "is not JSON: line 1, column 1: Expecting value, found 'question,answer"),
        ('[{"question": "A?"},\n {"question" "B?"}]', "line 2, column 14: Expecting ':' delimiter, found ' ?\"B"),
        ('[{"question": "A?"', "line 1, column 19: Expecting ',' delimiter, found the end of the text"),
        ('{"question": "A?"}\n\n{"question": }', r"line 3, column 14: Expecting value, found '}'"),
        ('{"question": "A?"\n{"question": "B?"}', "line 2, column 1: Expecting ',' delimiter"),
        ('{"questions": [1], "n": 2}', r"holds a single object \(keys: 'questions', 'n'\)\. A JSON list"),
        ('{\n"question": "A?"\n}', "holds a single object"),
        ('"text"', "holds 'text'. A JSON list"),
        ("42", "holds 42"),
        ('[{"question": "NaN \\" NaN", "n": NaN}]', "line 1, column 34: NaN is no JSON value.*found 'NaN}]'"),
        ('{"question": "A?"}\n{"n": -Infinity}', "line 2, column 7: -Infinity is no JSON value"),
        ("[" * 100_000, "is nested too deeply"),
        ("[" + "1" * 5000 + "]", "is not JSON: .*Exceeds the limit"),
        ("[1, {}]", "1 record of 'set.json' cannot be used: record 1: is a int 1"),
    ],
)
def test_what_is_no_question_set(content: str, text: str) -> None:
    with pytest.raises(DatasetError, match=text) as caught:
        load_dataset(write(content))
    assert "set.json" in str(caught.value)


def test_lines_behind_num_q_are_not_read() -> None:
    assert load_dataset(write(LINES + "\nnot JSON"), num_q=2).questions == ["Ça va?", "Seconde?"]


def test_numbers_stay_as_written() -> None:
    case = load_dataset(write('[{"question": "Energy?", "answers": [6.80, 42, 1e3, 1.0, true], "n": 0.50}]')).cases[0]
    assert case.answers == ("6.80", "42", "1e3", "1.0", "true")
    assert case.metadata == {"n": 0.5}
    assert type(case.metadata["n"]) is float


def test_characters_that_no_database_keeps_are_replaced() -> None:
    case = load_dataset(write('[{"question": "a\\u0000b", "answer": "\\ud800", "k\\u0000": "\\udfff"}]')).cases[0]
    assert (case.question, case.answers, case.metadata) == ("a\ufffdb", ("\ufffd",), {"k\ufffd": "\ufffd"})


def test_a_file_that_is_not_there() -> None:
    write("[]", "questions.json")
    write("[]", "other.jsonl")
    with pytest.raises(
        DatasetNotFoundError, match=r"no file 'question.json' in '.*'\. Did you mean 'questions.json'\?"
    ) as e:
        load_dataset("question.json")
    assert isinstance(e.value, FileNotFoundError)
    assert isinstance(e.value, ValueError)
    with pytest.raises(FileNotFoundError, match="Check the path; it has other.jsonl, questions.json"):
        load_dataset(Path("zzz"))
    with pytest.raises(FileNotFoundError, match="no file 'no/set.json': the folder '.*no' does not exist"):
        load_dataset("no/set.json")


def test_a_folder() -> None:
    Path("sets").mkdir()
    for i in range(7):
        write("[]", f"sets/{i}.json")
    with pytest.raises(DatasetError, match=r"'sets' is a folder\. .*it has 0.json, 1.json, .*4.json and 2 more"):
        load_dataset("sets")


@pytest.mark.parametrize(("name", "hint"), [("set.csv", "read_csv"), ("set.TSV", "read_csv"), ("a.parquet", "parquet")])
def test_other_formats_say_how(name: str, hint: str) -> None:
    with pytest.raises(DatasetError, match=rf"'{name}' is a .* file; JSON lists, .* DataFrames are read.*{hint}"):
        load_dataset(write("question,answer\nA?,a\n", name))


@pytest.mark.parametrize("text", ['[{"question": "A?"}]', json.dumps(RECORDS * 100)])
def test_json_text_in_place_of_a_path(text: str) -> None:
    with pytest.raises(DatasetError, match=r"looks like JSON text; a path is due.*json\.loads"):
        load_dataset(text)


@pytest.mark.parametrize("path", ["a\x00b", "x" * 5000])
def test_impossible_paths(path: str) -> None:
    with pytest.raises(DatasetError, match="cannot be read: "):
        load_dataset(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission() -> None:
    Path(write("[]")).chmod(0)
    with pytest.raises(DatasetError, match="cannot be read: .*Permission denied"):
        load_dataset("set.json")


def test_no_warning_without_cause() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_dataset(write("[]")).cases == ()


def test_plain_records_have_plain_numbers() -> None:
    records = read_records(write('[{"seconds": 0.50}]'))
    assert records == [{"seconds": 0.5}]
    assert type(records[0]["seconds"]) is float
    with pytest.raises(DatasetError, match=r"2 records of 'set.json' cannot be used: record 1: .*; record 3: "):
        read_records(write("[1, {}, null]"))
