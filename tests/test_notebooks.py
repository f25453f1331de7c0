"""Every notebook runs from top to bottom, and is committed with its outputs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert {"score_a_run", "history_with_sql", "custom_metric"} <= {p.stem for p in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "notebooks" / "run_notebooks.py"), "--check", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": os.environ.get("IPYTHONDIR", "ipython")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_committed_with_outputs(path: Path) -> None:
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert all(c.execution_count for c in cells)
    assert sum(bool(c.outputs) for c in cells) >= len(cells) // 2
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
