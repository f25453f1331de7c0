"""A run as a folder of plain files: nothing is lost, nothing half is left, nothing wrong gets in."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatbench import delete_run, export_run, import_run, load_run, rescore
from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.document import Document
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.errors import InputError, RunNotFoundError, SchemaError
from chatbench.store import Store
from tests.store import examples
from tests.store.test_round_trip import OBJECT, TEXT, stored_runs

FORMATS = ["parquet", "jsonl"]


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def stored(store: examples.Place) -> str:
    """A run with all there is: NULLs, Unicode, repeats, unknown metric classes, numbers of the run, two parameter sets."""
    questions = Dataset(
        (
            Case(
                {"question": "Où est le CERN? 🎯\u2028", "n": None}, id="ключ", answers=("a", "b"), relevance={"x": 2.5}
            ),
            Case("plain", id="q,2\n", documents=("a.txt",), is_answerable=False, tags=("t",), metadata={"deep": [{}]}),
        ),
        name="physics",
        path="data/physics.json",
    )
    responses = [
        Response(None, error="TimeoutError: 5 s"),
        Response(
            "", (Document("", {"name": "a.txt"}, id="7"),), ("c",), ("1",), True, {"x": [None, 1.5]}, 2, 0.1, {"p": 3}
        ),
        Response('tab\tquote"', attempt=1, tokens={}),
        Response("x", attempt=2),
    ]
    one = examples.scoring(
        questions,
        {"f": [0.1 + 0.2, None, -0.0, 1e-300], "i": [2**63 - 1, None, -5, 0]},
        kinds={"i": int},
        repeat=2,
        errors=[None, "ValueError: no", None, None],
        model="judge",
        seconds=0.25,
        versions={"nltk": "3.9"},
    )
    two = examples.scoring(
        questions,
        {
            "f": [1.0] * 4,
            "s": ["ü", None, "", "x"],
            "j": [{"a": [1]}, None, {}, [None]],
            "b": [True, False, None, True],
        },
        kinds={"s": str, "j": dict, "b": bool},
        parameters="k=3",
        repeat=2,
    )
    whole = Measure(float, "one number", name="whole", at_least=0, better="lower", of_run=True)
    lonely = Measure(float, "nothing", name="lonely", of_run=True)
    three = examples.with_summaries(
        replace(
            examples.scoring(questions, {}, metric="my function", table="my_function", repeat=2),
            measures=(whole, lonely),
            run_values={"whole": 0.5},
            error="KeyError: lost",
        )
    )
    run = examples.run_of(
        questions,
        "naïve",
        settings={"k": [1, None], "api_key": "secret"},
        versions={"python": "3.11"},
        created_at=datetime(2025, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
        state="interrupted",
    )
    store.save_run(run, questions, responses, [one, two, three])
    return run.run_id


@pytest.mark.parametrize("format", FORMATS)
def test_there_and_back_without_loss(store: examples.Place, tmp_path: Path, format: str) -> None:
    run_id = stored(store)
    first = export_run(run_id, tmp_path / "first", format, store.address)
    assert first == tmp_path / "first"
    other = Store(tmp_path / "other.duckdb")
    run = import_run(first, other.path)
    assert other.load(run_id) == store.load(run_id)
    assert run == other.find_run(run_id)
    second = export_run(run, tmp_path / "second", format, other.path)
    assert content(first) == content(second)
    assert sorted(content(first)) == sorted(
        [
            "run.json",
            *(
                f"{name}.{format}"
                for name in (
                    "cases",
                    "responses",
                    "scores_answer_length",
                    "scores_answer_length.2",
                    "scores_my_function",
                )
            ),
        ]
    )
    for view in ("answer_length", "summaries", "results", "measures"):
        left, right = (_without_ids(s.query(f"SELECT * FROM {view}")) for s in (store, other))
        pd.testing.assert_frame_equal(left, right)


def _without_ids(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.drop(columns=["scoring_id"], errors="ignore").map(repr)
    return frame.sort_values(list(frame.columns), ignore_index=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder = tmp_path_factory.mktemp("pair")
    return Store(folder / "one.duckdb"), Store(folder / "two.duckdb")


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(stored_runs(), TEXT.filter(str.strip), OBJECT, st.sampled_from(FORMATS))
def test_any_run_comes_back_equal(
    pair: tuple[Store, Store], tmp_path_factory: pytest.TempPathFactory, case: Any, name: str, facts: Any, format: str
) -> None:
    folder = tmp_path_factory.mktemp("folders")
    questions, responses, made = case
    run = examples.run_of(questions, name, settings=facts, versions={"python": "3.11"})
    pair[0].save_run(run, questions, responses, [made])
    first = export_run(run.run_id, folder / "first", format, pair[0].path)
    import_run(first, pair[1].path)
    assert pair[1].load(run.run_id) == pair[0].load(run.run_id)
    assert content(export_run(run.run_id, folder / "second", format, pair[1].path)) == content(first)


def test_a_run_without_questions_and_scorings(store: examples.Place, tmp_path: Path) -> None:
    empty = Dataset((), name="nothing")
    run = examples.run_of(empty)
    store.save_run(run, empty, [], [])
    for format in FORMATS:
        folder = export_run(run, tmp_path / format, format, store.address)
        assert import_run(folder, tmp_path / f"{format}.duckdb") == run


def test_others_can_read_the_files(store: examples.Place, tmp_path: Path) -> None:
    run_id = stored(store)
    folder = export_run(run_id, tmp_path / "run", db_name=store.address)
    cases, scores = (pd.read_parquet(folder / f"{name}.parquet") for name in ("cases", "scores_answer_length"))
    assert cases["question"].tolist() == ["Où est le CERN? 🎯\u2028", "plain"]
    assert scores["f"].tolist()[0] == 0.1 + 0.2
    assert pd.isna(scores["f"][1])
    assert pq.read_schema(folder / "scores_answer_length.parquet").types == [
        pa.string(),
        pa.int64(),
        pa.string(),
        pa.string(),
        pa.float64(),
        pa.int64(),
    ]
    head = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (head["format_version"], head["run"]["run_id"], head["run"]["settings"]["api_key"]) == (1, run_id, "***")
    assert [s["label"] for s in head["scorings"]] == ["", "AnswerLength(k=3)", ""]
    lines = export_run(run_id, tmp_path / "lines", "jsonl", store.address) / "responses.jsonl"
    records = [json.loads(line) for line in lines.read_text(encoding="utf-8").split("\n")[:-1]]
    assert records[1]["documents"] == [{"metadata": {"name": "a.txt"}, "id": "7"}]
    assert [r["attempt"] for r in records] == [1, 2, 1, 2]


def test_a_stored_run_is_not_stored_again(store: examples.Place, tmp_path: Path) -> None:
    run_id = stored(store)
    folder = export_run(run_id, tmp_path / "run", db_name=store.address)
    with pytest.raises(InputError, match=f"{run_id} is stored already as 'naïve', with the same content"):
        import_run(folder, store.address)
    with pytest.raises(InputError, match="with the same content"):
        import_run(folder, store.address, name="other name")
    store.add_scorings(run_id, [examples.scoring(store.load(run_id).dataset, {"f": [0.0] * 4}, repeat=2)])
    before = store.load(run_id)
    with pytest.raises(InputError, match="with OTHER content; delete_run removes that one"):
        import_run(folder, store.address)
    assert store.load(run_id) == before
    store.delete_run(run_id)
    assert import_run(folder, store.address).run_id == run_id


def test_another_name(store: examples.Place, tmp_path: Path) -> None:
    run_id = stored(store)
    folder = export_run("naïve", tmp_path / "run", db_name=store.address)
    other = tmp_path / "other.duckdb"
    with pytest.raises(InputError, match="needs a name"):
        import_run(folder, other, name=" ")
    assert not other.exists()
    assert import_run(folder, other, name="moved").name == "moved"
    assert Store(other).find_run("moved").run_id == run_id


def test_a_table_of_another_metric_refuses_all(store: examples.Place, tmp_path: Path) -> None:
    folder = export_run(stored(store), tmp_path / "run", db_name=store.address)
    other = Store(tmp_path / "other.duckdb")
    examples.saved(other, examples.scoring(examples.dataset(), {"f": [1, 2, 3]}, metric="Another"))
    with pytest.raises(SchemaError, match="belongs to the metric 'Another'"):
        import_run(folder, other.path)
    assert len(other.runs()) == 1


def test_which_folders_are_written_to(store: examples.Place, tmp_path: Path) -> None:
    one, two = examples.saved(store), examples.saved(store)
    folder = tmp_path / "run"
    folder.mkdir()
    export_run(one, folder, db_name=store.address)  # an empty one
    before = content(folder)
    with pytest.raises(InputError, match=f"not just an export of the run {two}"):
        export_run(two, folder, db_name=store.address)
    assert content(folder) == before
    export_run(one, folder, "jsonl", store.address)  # replaced as a whole
    assert sorted(content(folder)) == ["cases.jsonl", "responses.jsonl", "run.json"]
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="holds cases.jsonl, notes.txt"):
        export_run(one, folder, db_name=store.address)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        export_run(one, tmp_path / "file", db_name=store.address)
    with pytest.raises(InputError, match="make it first"):
        export_run(one, tmp_path / "a" / "b", db_name=store.address)
    with pytest.raises(InputError, match="format is 'csv'; there are 'parquet', 'jsonl'"):
        export_run(one, tmp_path / "new", "csv", store.address)
    with pytest.raises(RunNotFoundError):
        export_run("gone", tmp_path / "new", db_name=store.address)
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".run") or p.name == "new"]


@pytest.mark.parametrize("dies", [True, False])
def test_a_broken_export_leaves_no_half_folder(store: examples.Place, tmp_path: Path, dies: bool) -> None:
    """A limit on the size of files stops the child in the middle of a file: by its death, or as a full disk would."""
    run_id = examples.saved(store, questions=examples.dataset(300))
    folder = export_run(run_id, tmp_path / "run", db_name=store.address)
    before = content(folder)
    code = (
        "import resource, signal, sys\n"
        f"signal.signal(signal.SIGXFSZ, signal.{'SIG_DFL' if dies else 'SIG_IGN'})\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from chatbench import export_run\n"
        f"for name in ('run', 'new'):\n    try: export_run({run_id!r}, name, 'jsonl', {str(store.address)!r})\n"
        "    except ValueError as error: print(error)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == (-signal.SIGXFSZ if dies else 0), done.stderr
    assert done.stdout.count("cannot be written: File too large. Nothing was changed.") == (0 if dies else 2)
    assert content(folder) == before
    assert not (tmp_path / "new").exists()
    assert len(list(tmp_path.glob(".*.new"))) == dies  # only what was killed leaves a hidden rest beside it


# --- what must not get in ---------------------------------------------------------------------------------------------


def edit_json(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    head = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    change(head)
    (folder / "run.json").write_text(json.dumps(head), encoding="utf-8")


def edit_line(folder: Path, file: str, place: int, change: Callable[[dict[str, Any]], Any]) -> None:
    lines = (folder / file).read_text(encoding="utf-8").split("\n")
    record = json.loads(lines[place])
    change(record)
    lines[place] = json.dumps(record)
    (folder / file).write_text("\n".join(lines), encoding="utf-8")


def cut_line(folder: Path, file: str, place: int) -> None:
    lines = (folder / file).read_text(encoding="utf-8").split("\n")
    del lines[place]
    (folder / file).write_text("\n".join(lines), encoding="utf-8")


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


SCORES = "scores_answer_length.jsonl"
FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no run.json": (lambda f: (f / "run.json").unlink(), "has no run.json"),
    "no cases": (lambda f: (f / "cases.jsonl").unlink(), "lacks cases.jsonl"),
    "no scores": (lambda f: (f / SCORES).unlink(), f"lacks {SCORES}"),
    "other json": (lambda f: (f / "run.json").write_text("[]"), "not that of an exported run"),
    "no json": (lambda f: (f / "run.json").write_text("{"), r"run\.json cannot be read"),
    "deep json": (lambda f: (f / "run.json").write_text("[" * 100_000), "nested too deeply"),
    "newer": (lambda f: edit_json(f, lambda h: h.update(format_version=2)), "format version 2; this chatbench reads 1"),
    "older than all": (lambda f: edit_json(f, lambda h: h.update(format_version=0)), "0, which no chatbench wrote"),
    "no version": (lambda f: edit_json(f, lambda h: h.update(format_version="1")), "'1', which no chatbench wrote"),
    "files": (lambda f: edit_json(f, lambda h: h.update(files="../x")), r"says files '\.\./x'"),
    "table": (
        lambda f: edit_json(f, lambda h: h["scorings"][0].update(table="../../etc/passwd")),
        "may hold only a-z",
    ),
    "file name": (
        lambda f: edit_json(f, lambda h: h["scorings"][0].update(file="../scores.jsonl")),
        r"its file is '\.\./scores\.jsonl'",
    ),
    "measure name": (
        lambda f: edit_json(
            f, lambda h: h["scorings"][0]["measures"][0].update(name='f" DOUBLE); DROP TABLE runs; --')
        ),
        "may hold only a-z",
    ),
    "measure type": (
        lambda f: edit_json(f, lambda h: h["scorings"][0]["measures"][0].update(type="os.system")),
        "cannot be used",
    ),
    "measure key": (lambda f: edit_json(f, lambda h: h["scorings"][0]["measures"][0].update(x=1)), "cannot be used"),
    "measure range": (
        lambda f: edit_json(f, lambda h: h["scorings"][0]["measures"][0].update(at_least="0")),
        "another type",
    ),
    "scores of another table": (
        lambda f: edit_json(f, lambda h: h["scorings"].append({**h["scorings"][0], "table": "other"})),
        "lacks scores_other.jsonl",
    ),
    "run values": (
        lambda f: edit_json(f, lambda h: h["scorings"][0].update(run_values={"f": "x"})),
        "numbers by measure are due",
    ),
    "no name": (lambda f: edit_json(f, lambda h: h["run"].pop("name")), "run lacks 'name'"),
    "name": (lambda f: edit_json(f, lambda h: h["run"].update(name=7)), "'name' is a int 7"),
    "empty name": (lambda f: edit_json(f, lambda h: h["run"].update(name=" ")), "needs a name that is text, not ' '"),
    "no time": (lambda f: edit_json(f, lambda h: h["run"].pop("created_at")), "run lacks 'created_at'"),
    "yes for a number": (
        lambda f: edit_json(f, lambda h: h["scorings"][0].update(seconds=True)),
        "'seconds' is a bool True",
    ),
    "settings": (lambda f: edit_json(f, lambda h: h["run"].update(settings=[])), "'settings' is a list"),
    "time": (lambda f: edit_json(f, lambda h: h["run"].update(created_at="now")), "a time in ISO form is due"),
    "zone": (lambda f: edit_json(f, lambda h: h["run"].update(created_at="2025-03-01 12:00")), "without a time zone"),
    "summaries": (
        lambda f: edit_json(f, lambda h: h["scorings"][0]["summaries"][0].update(mean=0.9)),
        "its summaries are not those of the scores",
    ),
    "interval": (
        lambda f: edit_json(f, lambda h: h["scorings"][0]["summaries"][0].update(low="0.1")),
        "an interval that is no number",
    ),
    "counts": (
        lambda f: edit_json(f, lambda h: h["scorings"][0]["summaries"][0].update(n_missing=0)),
        "its summaries are not those of the scores",
    ),
    "question": (
        lambda f: edit_line(f, "cases.jsonl", 1, lambda r: r.update(input="other")),
        "changed after the export",
    ),
    "lost question": (lambda f: cut_line(f, "cases.jsonl", 1), "changed after the export"),
    "double id": (lambda f: edit_line(f, "cases.jsonl", 1, lambda r: r.update(id="q0")), "Ids must be unique"),
    "no id": (lambda f: edit_line(f, "cases.jsonl", 1, lambda r: r.update(id=None)), "rows without 'id'"),
    "bad line": (lambda f: append(f / "responses.jsonl", "{nonsense}\n"), r"responses\.jsonl, line 7 is not JSON"),
    "list line": (lambda f: append(f / "responses.jsonl", "[]\n"), r"line 7 holds a list"),
    "NaN": (lambda f: append(f / SCORES, '{"f": NaN}\n'), f"{SCORES}, line 7 is not JSON: NaN"),
    "huge number": (lambda f: append(f / SCORES, '{"f": 1e999}\n'), "line 7 is not JSON: 1e999"),
    "half line": (lambda f: append(f / "responses.jsonl", '{"case_id": "q0"'), "line 7: the file breaks off"),
    "not text": (lambda f: (f / "responses.jsonl").write_bytes(b"\xff\xfe\n"), "cannot be read as UTF-8"),
    "answer": (
        lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(answer=5)),
        r"line 3: 'answer' is a int 5; str is due",
    ),
    "attempt": (
        lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(attempt=True)),
        "'attempt' is a bool True; int is due",
    ),
    "documents": (
        lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(documents=[{"x": 1}])),
        "row 3 cannot be used",
    ),
    "unknown key": (lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(x=1)), "line 3 has 'x', which"),
    "unknown case": (
        lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(case_id="q9")),
        "the case 'q9', which is not among",
    ),
    "other order": (lambda f: edit_line(f, "responses.jsonl", 2, lambda r: r.update(case_id="q0")), "in their order"),
    "lost response": (lambda f: cut_line(f, "responses.jsonl", 5), "5 rows for 3 questions"),
    "lost score": (lambda f: cut_line(f, SCORES, 5), "5 rows for 6 responses"),
    "score of another": (
        lambda f: edit_line(f, SCORES, 5, lambda r: r.update(case_id="q9")),
        r"case and attempt \('q9', 2\)",
    ),
    "score": (
        lambda f: edit_line(f, SCORES, 1, lambda r: r.update(f=0.9)),
        "its summaries are not those of the scores",
    ),
    "score type": (
        lambda f: edit_line(f, SCORES, 1, lambda r: r.update(f="0.9")),
        "line 2: 'f' is a str '0.9'; float is due",
    ),
    "reasons": (lambda f: edit_line(f, SCORES, 1, lambda r: r.update(missing=[1])), "'missing' is a list"),
    "dataset path": (lambda f: edit_json(f, lambda h: h.update(dataset_path=1)), "'dataset_path' is a int"),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("exported")
    store = Store(folder / "benchmark.duckdb")
    questions = examples.dataset()
    made = examples.scoring(questions, {"f": [0.5, 0.25, None, 1.0, 1.0, 0.0]}, repeat=2)
    run_id = examples.saved(store, made, questions=questions, repeat=2)
    return {format: export_run(run_id, folder / format, format, store.path) for format in FORMATS}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_refused_and_nothing_stored(exported: dict[str, Path], tmp_path: Path, fault: str) -> None:
    spoil, said = FAULTS[fault]
    folder = Path(shutil.copytree(exported["jsonl"], tmp_path / "run"))
    spoil(folder)
    with pytest.raises(InputError, match=said):
        import_run(folder, tmp_path / "other.duckdb")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


PARQUET_FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut off": (
        lambda f: (f / "cases.parquet").write_bytes((f / "cases.parquet").read_bytes()[:-9]),
        "no whole Parquet file",
    ),
    "empty": (lambda f: (f / "cases.parquet").write_bytes(b""), "no whole Parquet file"),
    "garbled": (
        lambda f: (f / "cases.parquet").write_bytes(b"PAR1" + b"\x15" * 400 + b"PAR1"),
        "no whole Parquet file",
    ),
    "type": (
        lambda f: rewrite(
            f / "responses.parquet",
            lambda t: t.set_column(t.column_names.index("answer"), "answer", pa.array([1] * 6)),
        ),
        "column 'answer' .* is int64; string is due",
    ),
    "json": (
        lambda f: rewrite(
            f / "responses.parquet",
            lambda t: t.set_column(t.column_names.index("documents"), "documents", pa.array(["{"] * 6)),
        ),
        "row 1: 'documents' is not JSON",
    ),
    "more": (
        lambda f: rewrite(f / "cases.parquet", lambda t: t.append_column("x", pa.array([1] * 3))),
        "has 'x', which",
    ),
    "less": (
        lambda f: rewrite(f / "scores_answer_length.parquet", lambda t: t.drop_columns(["f"])),
        "its summaries are not",
    ),
    "no key": (
        lambda f: rewrite(f / "responses.parquet", lambda t: t.drop_columns(["case_id"])),
        "rows without 'case_id'",
    ),
}


@pytest.mark.parametrize("fault", PARQUET_FAULTS)
def test_wrong_parquet_is_refused_and_nothing_stored(exported: dict[str, Path], tmp_path: Path, fault: str) -> None:
    spoil, said = PARQUET_FAULTS[fault]
    folder = Path(shutil.copytree(exported["parquet"], tmp_path / "run"))
    spoil(folder)
    with pytest.raises(InputError, match=said):
        import_run(folder, tmp_path / "other.duckdb")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        import_run(tmp_path / "gone", tmp_path / "other.duckdb")


def test_scorings_that_would_replace_each_other(exported: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported["jsonl"], tmp_path / "run"))
    shutil.copyfile(folder / SCORES, folder / "scores_answer_length.2.jsonl")
    edit_json(folder, lambda h: h["scorings"].append({**h["scorings"][0], "file": "scores_answer_length.2.jsonl"}))
    with pytest.raises(InputError, match="two scorings have one key"):
        import_run(folder, tmp_path / "other.duckdb")


def test_intervals_of_another_version_are_kept(exported: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported["jsonl"], tmp_path / "run"))
    edit_json(folder, lambda h: h["scorings"][0]["summaries"][0].update(low=None, high=None))
    run = import_run(folder, tmp_path / "other.duckdb")
    (summary,) = Store(tmp_path / "other.duckdb").load(run.run_id).scorings[0].summaries
    assert (summary.mean is not None, summary.low, summary.high) == (True, None, None)


def test_what_an_older_version_did_not_write_takes_its_default(exported: dict[str, Path], tmp_path: Path) -> None:
    def forget(head: dict[str, Any]) -> None:
        for name in ("versions", "settings", "state"):
            del head["run"][name]
        for name in ("prompt_hash", "model", "seconds", "error", "versions", "run_values", "summaries"):
            del head["scorings"][0][name]

    folder = Path(shutil.copytree(exported["jsonl"], tmp_path / "run"))
    whole = import_run(folder, tmp_path / "whole.duckdb")
    edit_json(folder, forget)
    run = import_run(folder, tmp_path / "other.duckdb")
    assert run == replace(whole, versions={})
    left, right = (Store(tmp_path / f"{name}.duckdb").load(run.run_id).scorings for name in ("whole", "other"))
    assert left == right


def test_texts_that_no_database_keeps(exported: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported["jsonl"], tmp_path / "run"))
    edit_json(folder, lambda h: h["run"].update(name="a\0b\ud800", settings={"k\0": ["\udfff"]}, state="x\0"))
    run = import_run(folder, tmp_path / "other.duckdb")
    assert (run.name, run.settings, run.state) == ("a\ufffdb\ufffd", {"k\ufffd": ["\ufffd"]}, "x\ufffd")
    assert run == Store(tmp_path / "other.duckdb").find_run(run.run_id)
    assert import_run(folder, tmp_path / "third.duckdb", name="c\0").name == "c\ufffd"


def test_a_loaded_run_names_itself(store: examples.Place, tmp_path: Path) -> None:
    examples.saved(store)
    examples.saved(store)
    first = load_run(store.runs()[1], store.address)
    rescore(first, "LexicalMetrics", store.address, progress=False)
    assert list(load_run(first, store.address).scores) == ["LexicalMetrics"]
    head = json.loads((export_run(first, tmp_path / "run", db_name=store.address) / "run.json").read_text("utf-8"))
    assert head["run"]["run_id"] == first.run.run_id
    delete_run(first, store.address)
    assert first.run.run_id not in [run.run_id for run in store.runs()]
    for call in (load_run, delete_run):
        with pytest.raises(InputError, match="named by its id or a name that is text, not 7"):
            call(7, store.address)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda head, rows: rows[0].update(share=500.0), r"row 1: share is 500.0, but its range is 0 to 1"),
        (
            lambda head, rows: head["scorings"][0]["summaries"][0].update(low=0.99, high=-7.0),
            "its summaries are not those",
        ),
        (
            lambda head, rows: head["scorings"][0]["summaries"][0].update(low=True),
            "cannot be used|its summaries are not",
        ),
        (lambda head, rows: head["run"].update(created_at="0001-01-01T00:00:00+14:00"), "a time in ISO form is due"),
    ],
)
def test_what_no_metric_can_have_given(file_store: Store, tmp_path: Path, fault: Any, said: str) -> None:
    questions = examples.dataset(4)
    made = examples.scoring(questions, {"share": [0.0, 0.5, 1.0, 0.25]})
    made = examples.with_summaries(replace(made, measures=(replace(made.measures[0], at_least=0, at_most=1),)))
    run_id = examples.saved(file_store, made, questions=questions)
    folder = export_run(run_id, tmp_path / "run", format="jsonl", db_name=file_store.path)
    head = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    scores = folder / "scores_answer_length.jsonl"
    rows = [json.loads(line) for line in scores.read_text(encoding="utf-8").splitlines()]
    fault(head, rows)
    (folder / "run.json").write_text(json.dumps(head), encoding="utf-8")
    scores.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    other = Store(tmp_path / "other.duckdb")
    with pytest.raises(InputError, match=said):
        import_run(folder, db_name=other.path)
    assert not other.path.exists()
