"""README blocks run, the list of metrics is not stale, every metric has a sentence."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from chatbench.reports.metric_table import metric_records
from tests import chatlas_files

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "data").symlink_to(ROOT / "data")
    chatlas_files.write(tmp_path / "old.db", [chatlas_files.row(chatlas_files.LEXICAL)])
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_blocks_of_the_readme_run_from_top_to_bottom(workplace: Path) -> None:
    script = workplace / "readme.py"
    script.write_text("\n\n".join(blocks("python")), encoding="utf-8")
    out = run([sys.executable, str(script)], workplace)
    assert "LexicalMetrics" in out
    assert (workplace / "benchmark.duckdb").exists()


def test_the_commands_of_the_readme_run(workplace: Path) -> None:
    commands = [
        shlex.split(line, comments=True)
        for block in blocks("bash")
        for line in block.splitlines()
        if line.startswith("chatbench ")
    ]
    assert {c[1] for c in commands} == {
        "score",
        "runs",
        "show",
        "compare",
        "slices",
        "leaderboard",
        "power",
        "sql",
        "metrics",
        "export-run",
        "import-run",
        "delete",
        "import-results",
    }
    for command in commands:
        run([sys.executable, "-m", *command], workplace)


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    wanted = set(re.findall(r"\bmake (\w+)", README))
    assert {"demo", "test"} <= wanted
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in wanted)


def test_the_list_of_metrics_is_not_stale() -> None:
    run([sys.executable, str(ROOT / "docs" / "write_metrics.py"), "--check"], ROOT)


@pytest.mark.parametrize("record", metric_records("chatbench."), ids=lambda r: r["metric"])
def test_every_metric_says_what_it_is(record: dict[str, object]) -> None:
    assert str(record["sentence"]).endswith("."), record
    assert record["measures"]


def test_links_of_the_readme_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", README)
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
