"""A run into a folder of plain files."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from chatbench.core.dataset import case_content
from chatbench.errors import InputError
from chatbench.store.reading import StoredRun
from chatbench.store.record_files import FORMATS, Columns
from chatbench.store.rows import document_content, measure_content
from chatbench.store.run_folder import (
    CASES,
    HEAD,
    KEYS,
    MARK,
    RESPONSES,
    RUN,
    SCORING,
    VERSION,
    all_files,
    read_head,
    score_files,
    score_kinds,
)


def write(folder: Path, stored: StoredRun, format: str) -> Path:
    """Write the folder under another name first, then put it in its place; see `export_run`."""
    if format not in FORMATS:
        raise InputError(f"format is {format!r}; there are {', '.join(map(repr, FORMATS))}.")
    folder = folder.resolve()
    if not folder.parent.is_dir():
        raise InputError(f"The folder {folder.parent} does not exist; make it first.")
    _check_replaceable(folder, stored.run.run_id)
    new = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.new")
    try:
        new.mkdir()
        _write_files(stored, format, new)
        _put_in_place(new, folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}. Nothing was changed.") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _write_files(stored: StoredRun, format: str, folder: Path) -> None:
    write_file = FORMATS[format].write
    cases = [
        {**dict.fromkeys(CASES), **case_content(case), "id": case.id, "question": case.question}
        for case in stored.dataset
    ]
    write_file(folder / f"cases.{format}", _columns(cases, CASES), CASES)
    repeat = len(stored.responses) // max(len(stored.dataset), 1)
    ids = [case.id for case in stored.dataset for _ in range(repeat)]
    answered = [
        {"case_id": i, **vars(r), "documents": [document_content(d) for d in r.documents]}
        for i, r in zip(ids, stored.responses, strict=True)
    ]
    write_file(folder / f"responses.{format}", _columns(answered, RESPONSES), RESPONSES)
    names = score_files([s.table for s in stored.scorings], format)
    heads = []
    for scoring, name in zip(stored.scorings, names, strict=True):
        keys = (scoring.case_ids, scoring.attempts, scoring.errors, scoring.missing)
        columns = {
            **dict(zip(KEYS, map(list, keys), strict=True)),
            **{m.name: list(scoring.values[m.name]) for m in scoring.columns},
        }
        write_file(folder / name, columns, score_kinds(scoring.measures))
        plain = {key: getattr(scoring, key) for key in SCORING}
        plain["measures"] = [measure_content(m) for m in scoring.measures]
        plain["summaries"] = [asdict(s) for s in scoring.summaries]
        heads.append({"file": name, **plain})
    head = {
        "format": MARK,
        "format_version": VERSION,
        "files": format,
        "run": {key: getattr(stored.run, key) for key in RUN},
        "dataset_path": stored.dataset.path,
        "scorings": heads,
    }
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False, default=_plain)
    (folder / HEAD).write_text(text + "\n", encoding="utf-8", newline="\n")


def _columns(records: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Columns:
    return {name: [record[name] for record in records] for name in kinds}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else dict(value)


def _check_replaceable(folder: Path, run_id: str) -> None:
    """Raise `InputError` unless nothing is lost when this folder is replaced."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder.")
    names = sorted(p.name for p in folder.iterdir())
    if not names:
        return
    with contextlib.suppress(InputError):
        head = read_head(folder)
        written = {HEAD, *all_files(head)}
        if head["run"].get("run_id") == run_id and written.issuperset(names):
            return
    raise InputError(
        f"{folder} holds {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}, and is not just an export of the run {run_id}. "
        "Name a new or an empty folder."
    )


def _put_in_place(new: Path, folder: Path) -> None:
    if not folder.exists() or not any(folder.iterdir()):
        os.replace(new, folder)  # an empty folder gives way
        return
    old = new.with_suffix(".old")
    os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
