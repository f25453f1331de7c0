"""Real question sets load as their PROVENANCE files describe them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatbench.core.dataset import Dataset
from chatbench.loaders import load_dataset

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not beside this checkout")


def load(name: str) -> Dataset:
    return load_dataset(DATA / name / "questions.json")


def test_clapnq() -> None:
    loaded = load("clapnq")
    assert len(loaded) == 600
    assert sum(bool(case.answers) and bool(case.documents) for case in loaded) == 300
    answerable = [case.metadata["answerable"] for case in loaded]
    assert [bool(case.answers) for case in loaded] == answerable
    assert loaded.cases[0].id == "clapnq-a001"
    assert loaded.cases[0].documents == ("001_Forecasting.txt",)


def test_mtrag() -> None:
    loaded = load("mtrag")
    assert len(loaded) == 121
    assert sum("standalone_question" not in case.metadata for case in loaded) == 8  # null for 8
    assert sum(not case.documents for case in loaded) == 8
    assert all(len(case.answers) == 1 for case in loaded)


def test_nq301() -> None:
    loaded = load("nq301")
    assert len(loaded) == 301
    assert all(case.answers and not case.documents for case in loaded)
    assert loaded.cases[0].answers == ("FedExField in Landover, Maryland", "the Washington metropolitan area")
