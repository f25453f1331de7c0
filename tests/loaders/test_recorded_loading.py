"""What chATLAS_Benchmark 0.0.10 gave for its loading (recorded; where it is wrong, the documented value)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatbench.loaders import load_dataset

CASES = json.loads((Path(__file__).parents[1] / "goldens" / "chatlas" / "loading.json").read_text("utf-8"))
ERRORS = {"ValueError": ValueError, "KeyError": KeyError}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['note']}" for case in CASES])
def test_recorded_case(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    source = given["data"]
    if given["via"] == "json":
        source = given["file_name"]
        Path(source).write_text(json.dumps(given["data"]), encoding=given["encoding"])
    num_q = None if given["num_q"] == "default" else given["num_q"]
    if "error" in expected:
        with pytest.raises(ERRORS[expected["error"]]):
            load_dataset(source, keys=given["keys"], num_q=num_q)
        return
    loaded = load_dataset(source, keys=given["keys"], num_q=num_q)
    assert {
        "questions": loaded.questions,
        "test_answers": [case.answers[0] for case in loaded],
        "test_documents": [list(case.documents) for case in loaded],
        "set_name": loaded.name,
    } == expected
