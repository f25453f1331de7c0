"""The rules of the house as programs: what is loaded when, the public names, where the heavy packages live."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chatbench

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "chatbench").rglob("*.py"))

HEAVY = {
    "torch": "llm",
    "sentence_transformers": "llm",
    "nltk": "core",
    "scipy": "stats",
    "openai": "llm",
    "matplotlib": "reports",
    "mlflow": "integrations",
    "opentelemetry": "integrations",
    "psycopg": "store",
}
"""Packages that are imported inside functions only, each in one room."""


def imports(path: Path) -> list[tuple[str, bool]]:
    """Return the top packages that a file imports, each with whether that happens inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checking = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.dump(test.test)
        for node in ast.walk(test)
    }
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in checking:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name.split(".")[0], id(node) in inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.module.split(".")[0], id(node) in inside))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_packages_are_imported_inside_functions_of_one_room(path: Path) -> None:
    room = path.relative_to(ROOT / "chatbench").parts[0]
    for package, inside in imports(path):
        if package in HEAVY:
            assert (inside, room) == (True, HEAVY[package]), f"{package} in {path}"


def test_importing_chatbench_loads_nothing_heavy() -> None:
    code = (
        "import sys, chatbench\n"
        "heavy = {'pandas','duckdb','sqlmodel','sqlalchemy','numpy','scipy','pyarrow','torch','nltk','openai','matplotlib',"
        "'sentence_transformers','rouge_score','typer','rich','jinja2','regex','rapidfuzz'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names_are_the_importable_ones_sorted() -> None:
    names = chatbench.__all__
    assert names == sorted(names)
    assert set(names) == {*chatbench._MODULE_OF, "__version__"}
    assert all(getattr(chatbench, name) is not None for name in names)
    assert len(names) <= 40
    assert set(names) <= set(dir(chatbench))
    with pytest.raises(AttributeError, match="no attribute 'Benchmark'"):
        chatbench.Benchmark  # noqa: B018


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_prints_and_only_the_store_speaks_sql(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    room = path.relative_to(ROOT / "chatbench").parts[0]
    calls = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert room == "cli" or "print" not in calls
    assert not calls & {"eval", "exec"}
    if room != "store":
        docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
        texts = [
            n.value
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
        ]
        starts = ("select ", "insert ", "delete from", "create table", "create view", "update ")
        assert [t for t in texts if t.lower().lstrip().startswith(starts) and " from " in t.lower()] == []


def test_no_file_is_a_hall() -> None:
    """300 lines is the aim; the few above it must stay below 400."""
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
