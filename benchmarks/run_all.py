"""Runs every comparison, one after the other: python benchmarks/run_all.py"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORDER = (
    "imports_and_memory.py",
    "lexical.py",
    "retrieval.py",
    "semantic.py",
    "store.py",
    "history.py",
    "many_processes.py",
    "comparison.py",
)


def main() -> int:
    """Run them all; return 1 when one could not run."""
    failed = []
    for name in ORDER:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / name)], check=False).returncode:
            failed.append(name)
    print(f"\n{', '.join(failed)} could not run" if failed else "\nall ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
