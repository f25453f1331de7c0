"""Ids: as given, or made from the question."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chatbench.core.dataset import Dataset
from chatbench.errors import DatasetError
from chatbench.loaders import load_dataset

RECORDS: list[dict[str, Any]] = [
    {"question": "A?", "answer": "a", "document": "d1"},
    {"question": "B?", "answer": "b", "document": "d2", "level": 2},
    {"question": "Same?", "answer": "in 2012", "document": "d3"},
    {"question": "Same?", "answer": "in 2022", "document": "d4", "level": 3},
    {"input": [{"role": "user", "content": "A?"}], "answer": "a", "document": "d1"},
]


def ids_by_content(dataset: Dataset) -> dict[str, str]:
    return {f"{case.input} {case.answers}": case.id for case in dataset}


def test_made_ids_keep_in_any_order_and_part() -> None:
    whole = ids_by_content(load_dataset(RECORDS))
    assert len(set(whole.values())) == len(RECORDS)
    assert ids_by_content(load_dataset(RECORDS[::-1])) == whole
    assert ids_by_content(load_dataset([RECORDS[3], RECORDS[1], RECORDS[2]])).items() <= whole.items()
    assert ids_by_content(load_dataset(RECORDS, num_q=2)).items() <= whole.items()
    turned = [dict(reversed(record.items())) for record in RECORDS]
    assert ids_by_content(load_dataset(turned)) == whole


def test_a_made_id_never_means_another_record() -> None:
    """Of two records with one question, neither gets in a part the id that the other has in the whole."""
    whole = {case.id: case.answers for case in load_dataset(RECORDS)}
    for record in RECORDS:
        case = load_dataset([record]).cases[0]
        assert whole.get(case.id, case.answers) == case.answers


def test_a_corrected_answer_keeps_the_id() -> None:
    corrected = [{**record, "answer": "better", "tags": ["checked"]} for record in RECORDS[:2]]
    assert [c.id for c in load_dataset(corrected)] == [c.id for c in load_dataset(RECORDS[:2])]


def test_equal_records_are_numbered() -> None:
    first, second, third = (case.id for case in load_dataset([RECORDS[0]] * 3))
    assert (second, third) == (f"{first}-2", f"{first}-3")


def test_given_and_made_ids_mix() -> None:
    loaded = load_dataset([{"id": 7, "question": "A?"}, {"id": None, "question": "B?"}, {"id": " ", "question": "C?"}])
    assert loaded.cases[0].id == "7"
    assert all(case.id.startswith("q-") for case in loaded.cases[1:])


def test_duplicate_ids_are_named_with_their_records() -> None:
    records = [{"id": i, "question": f"{n}?"} for n, i in enumerate(["x", "y", "x", 1, "1"])]
    with pytest.raises(DatasetError, match=r"in 'mine': 'x' \(records 1 and 3\); '1' \(records 4 and 5\)"):
        load_dataset(records, name="mine")


def test_the_fingerprint_is_the_content_alone() -> None:
    turned = [dict(reversed(record.items())) for record in RECORDS]
    Path("one").mkdir()
    Path("two").mkdir()
    Path("one/set.json").write_text(json.dumps(RECORDS), "utf-8")
    Path("two/other.json").write_text(json.dumps(turned, indent=3, ensure_ascii=False), "utf-16")
    Path("two/set.jsonl").write_text(os.linesep.join(map(json.dumps, turned)), "utf-8-sig")
    sources = [RECORDS, "one/set.json", "two/other.json", Path("two/set.jsonl"), pd.DataFrame(RECORDS)]
    assert len({load_dataset(source).fingerprint for source in sources}) == 1
    changed = [*RECORDS[:-1], {**RECORDS[-1], "answer": "z"}]
    assert load_dataset(changed).fingerprint != load_dataset(RECORDS).fingerprint
