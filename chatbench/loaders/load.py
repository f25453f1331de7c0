"""The one way in: any source of questions to a `Dataset`."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chatbench.core.dataset import UNNAMED, Dataset
from chatbench.core.jsonable import clean_text
from chatbench.errors import InputError, InputTypeError
from chatbench.loaders.frame import frame_records, is_frame
from chatbench.loaders.json_file import read_records
from chatbench.loaders.keys import read_keys
from chatbench.loaders.records import read_cases
from chatbench.loaders.subset import first_questions


def load_dataset(
    source: Any,
    *,
    keys: Mapping[str, str] | None = None,
    num_q: int | float | None = None,
    encoding: str | None = None,
    name: str | None = None,
) -> Dataset:
    """Read a question set from a JSON or JSONL file, a list of dicts, a DataFrame or a `Dataset`.

    - `source`: path of a file that holds a JSON list of objects or one object per line; a list or tuple of dicts;
      a pandas DataFrame with one row per question; a `Dataset`.
    - A record has `question` (text) or `input` (any JSON, such as a dialog), and may have `answer` or `answers`,
      `document` or `documents` (names, or an object of name to grade), `id`, `contexts`, `context_ids`, `relevance`
      (an object of name to grade; 0 and below: not relevant), `is_answerable`, `tags` and `metadata`; where both forms are there the plural
      counts. Other keys become metadata; those that are null (NaN in a DataFrame) are left out.
    - Numbers as answers or names become text as written, true and false too. Null and blank ones are no reference.
    - `keys`: other names, all three of `{"test_questions": ..., "test_answers": ..., "test_documents": ...}`, which
      every record must then have; `test_name` in it names a set that comes from no file.
    - `num_q`: None for all; n >= 1 for the first n; a fraction up to 1 for that part (rounded down, at least one).
      Records behind them are not looked at.
    - `encoding`: of the file. Without it UTF-8, or UTF-16 and UTF-32 as they show themselves; what is none of these
      is read as Windows-1252 with a warning.
    - `name`: of the set; else the path as given, or "Unknown dict" for lists and frames.

    Where no id is given it is made from the question, so that it stays the same in any order of the records and when an
    answer is corrected. Questions that occur several times in the set get an addition made from the rest of their record.

    Raises `DatasetError` for records that cannot be used, naming all of them counted from 1 (`MissingKeyError`, a
    KeyError, when they lack keys); `DatasetNotFoundError`, a FileNotFoundError; `ReadingError`, a UnicodeError;
    `InputError`, a ValueError, for other arguments (`InputTypeError`, a TypeError, for their types).
    """
    if name is not None and not isinstance(name, str):
        raise InputTypeError(f"name is {reprlib.repr(name)}, but text is due.")
    if isinstance(source, Dataset):
        if keys is not None:
            raise InputError("keys= is for records; a Dataset has been read already. Leave it out.")
        return replace(source, cases=tuple(first_questions(source.cases, num_q)), name=name or source.name)
    known = read_keys(keys)
    path = None
    records: Sequence[Any]
    if isinstance(source, str | os.PathLike):
        path = os.fsdecode(source)
        records = read_records(path, encoding, num_q, as_written=True)
    elif is_frame(source):
        records = frame_records(source, num_q)
    elif isinstance(source, list | tuple):
        records = first_questions(source, num_q)
    else:
        raise InputTypeError(
            f"A question set cannot be read from a {type(source).__name__} ({reprlib.repr(source)}): "
            "give the path of a JSON or JSONL file, a list of dicts, a pandas DataFrame or a Dataset."
        )
    name = clean_text(name or path or known.name or UNNAMED)
    return Dataset(read_cases(records, known, name), name, path)
