"""Runs every notebook of this folder and keeps its outputs; `--check` runs copies and keeps nothing."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def run(path: Path) -> nbformat.NotebookNode:
    """Return the executed notebook. It runs in an empty folder that has the repository's data/ in it."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").symlink_to(HERE.parent / "data")
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:  # times and ids of a run are noise in a diff
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": notebook.metadata.get("kernelspec", {}), "language_info": {"name": "python"}}
    return notebook


def main() -> int:
    """Run the notebooks named on the command line, or all of them."""
    check = "--check" in sys.argv[1:]
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    for path in [Path(n) for n in names] or sorted(HERE.glob("*.ipynb")):
        notebook = run(path)
        if not check:
            nbformat.write(notebook, path)
        print(f"{path.name}: good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
