"""DuckDB files that older versions made: everything in them reads as before, and they go on."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from chatbench.store import Store
from tests.places import ROOT
from tests.store import examples
from tests.store.test_files import run_script

QUESTIONS = examples.dataset(3)
SCHEMA_1 = (ROOT / "tests" / "goldens" / "schema_1.sql").read_text(encoding="utf-8")
"""What chatbench of schema version 1 had made; version 2 added the view `leaderboard`."""

USERS = """
CREATE TABLE mine (i int);
CREATE VIEW by_name AS SELECT name, case_id, words FROM answer_length JOIN runs USING (run_id);
CREATE VIEW scored AS SELECT * FROM share;
CREATE VIEW history AS SELECT * FROM scorings;
"""
PUBLIC = ("answer_length", "share", "results", "attempts", "summaries", "runs", "by_name", "scored")


def words(first: int, parameters: str = "", day: int = 1) -> Any:
    """A scoring with an error and a missing value."""
    return examples.scoring(
        QUESTIONS,
        {"words": [first, None, 7], "note": ["a", None, None]},
        kinds={"words": int, "note": str},
        parameters=parameters,
        errors=[None, "ValueError: no answer", None],
        created_at=datetime(2025, 1, day, tzinfo=UTC),
    )


def share(value: float, day: int = 1) -> Any:
    return examples.scoring(
        QUESTIONS,
        {"share": [value, 0.5, None]},
        metric="Share",
        table="share",
        created_at=datetime(2025, 2, day, tzinfo=UTC),
    )


def fill(store: Store) -> list[str]:
    """Store runs with superseded scorings and other labels, not in the order of their times; return their ids."""
    first = examples.saved(store, words(1, day=5), words(2, "limit=5", day=6), share(0.25), questions=QUESTIONS)
    second = examples.saved(store, words(3, day=2), name="hybrid", questions=QUESTIONS)
    store.add_scorings(first, [words(4, day=1), share(0.75, day=2)])
    return [first, second]


def older(new: Path, path: Path, version: int) -> None:
    """Write the contents of a file in the form of an older version."""
    with duckdb.connect(str(path)) as raw:
        raw.execute("SET TimeZone = 'UTC'")
        raw.execute(SCHEMA_1)
        raw.execute(f"ATTACH '{new}' AS new (READ_ONLY)")
        for table in ("cases", "datasets", "measures", "responses", "runs", "summaries"):
            raw.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new.{table}")
        raw.execute("INSERT INTO scorings BY NAME SELECT * EXCLUDE (scoring_no) FROM new.scorings")
        for table in ("_answer_length", "_share"):
            rows = f"SELECT s.scoring_id, m.* EXCLUDE (scoring_no) FROM new.{table} m JOIN new.scorings s USING (scoring_no)"
            raw.execute(f"INSERT INTO {table} BY NAME {rows}")
        raw.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(version)])
        if version == 2:
            view = raw.execute(
                "SELECT sql FROM duckdb_views() WHERE view_name = 'leaderboard' AND database_name = 'new'"
            ).fetchall()[0][0]
            raw.execute(view)
        raw.execute(USERS)


def shown(path: Path) -> dict[str, Any]:
    """Columns and rows of what everybody may look at, by plain DuckDB."""
    found: dict[str, Any] = {}
    with duckdb.connect(str(path), read_only=True) as raw:
        raw.execute("SET TimeZone = 'UTC'")
        for name in (*PUBLIC, "scorings"):
            what = "* EXCLUDE (scoring_no)" if name == "scorings" and "scoring_no" in raw.table(name).columns else "*"
            rows = raw.execute(f"SELECT {what} FROM {name} ORDER BY ALL").fetchall()
            found[name] = [column[0] for column in raw.description or ()], rows
    return found


def schema(path: Path) -> list[Any]:
    """Columns and constraints of every table and view that is ours."""
    with duckdb.connect(str(path), read_only=True) as raw:
        raw.execute("CREATE TEMP VIEW users AS SELECT unnest(['mine', 'by_name', 'scored', 'history']) AS name")
        columns = "table_name, column_name, ordinal_position, data_type, is_nullable"
        listed = raw.execute(
            f"SELECT {columns} FROM information_schema.columns "
            "WHERE table_name NOT IN (SELECT name FROM users) AND table_name <> 'users' ORDER BY ALL"
        ).fetchall()
        keys = raw.execute(
            "SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints() ORDER BY ALL"
        ).fetchall()
    return [*listed, *keys]


@pytest.fixture(params=[1, 2])
def brought(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Store, Store, list[str]]:
    """A database of today, the same in the form of an older version, and the ids of the runs."""
    today, path = Store(tmp_path / "today.duckdb"), tmp_path / "older.duckdb"
    ids = fill(today)
    older(today.path, path, request.param)
    return today, Store(path), ids


def test_everything_reads_as_before(brought: tuple[Store, Store, list[str]]) -> None:
    today, store, ids = brought
    before = shown(store.path)
    assert [len(before[name][1]) for name in ("answer_length", "scorings")] == [6, 6]
    assert [store.load(run_id) for run_id in ids] == [today.load(run_id) for run_id in ids]
    assert repr(list(map(store.question_means, ids))) == repr(list(map(today.question_means, ids)))
    assert shown(store.path) == before
    pd.testing.assert_frame_equal(store.fetch(), today.fetch())
    boards = (
        place.leaderboard().ranks.sort_values(["measure", "run_id"], ignore_index=True) for place in (store, today)
    )
    pd.testing.assert_frame_equal(*boards)
    assert len(store.query("SELECT * FROM history")) == 6
    superseded = (
        "SELECT words FROM _answer_length JOIN scorings s USING (scoring_no) WHERE NOT is_current ORDER BY words"
    )
    assert store.query(superseded)["words"].tolist() == [1, 7, pd.NA]
    numbers = store.query("SELECT scoring_no FROM scorings ORDER BY created_at, scoring_id")
    assert numbers["scoring_no"].tolist() == [1, 2, 3, 4, 5, 6]
    assert schema(store.path) == schema(today.path)
    assert store.query("SELECT value FROM meta")["value"].tolist() == ["3"]


def test_it_goes_on(brought: tuple[Store, Store, list[str]]) -> None:
    _, store, ids = brought
    wider = examples.scoring(QUESTIONS, {"words": [0.5, 1.5, 2.5], "lines": [1.0] * 3})
    third = examples.saved(store, wider, share(0.1), name="third", questions=QUESTIONS)  # the first to open the file
    assert store.load(third).scorings[0] == wider
    store.add_scorings(ids[1], [words(9)])
    assert store.load(ids[1]).scorings == [words(9)]
    assert store.query("SELECT count(DISTINCT scoring_no) AS n FROM scorings")["n"][0] == 9
    rows = "SELECT count(*) AS n FROM _answer_length"
    assert store.query(rows)["n"][0] == 18
    assert store.delete_run(ids[0])["answer_length"] == 9
    assert store.query(rows)["n"][0] == 9
    assert store.query("SELECT words FROM by_name WHERE name = 'third' ORDER BY words")["words"].tolist() == [
        0.5,
        1.5,
        2.5,
    ]
    for run_id in (ids[1], third):
        store.delete_run(run_id)
    assert not {"_answer_length", "_share", "__older"} & examples.relations(store)


def test_an_older_file_that_cannot_be_written() -> None:
    script = """
        import os, sys
        from pathlib import Path
        from chatbench.errors import ReadOnlyError
        from chatbench.store import Store
        from tests.store.test_older_versions import fill, older
        folder = Path(sys.argv[1])
        folder.chmod(0o755)
        today, path = folder / "today.duckdb", folder / "older.duckdb"
        fill(Store(today))
        older(today, path, 2)
        path.chmod(0o444)
        content = path.read_bytes()
        for mode in (0o555, 0o777):
            folder.chmod(mode)
            child = os.fork()
            if not child:
                status = 1
                try:
                    if os.getuid() == 0:  # root may write anywhere
                        os.setgroups([]); os.setgid(65534); os.setuid(65534)
                    store = Store(path)
                    for call in (store.fetch, store.runs, lambda: store.query("select * from share")):
                        try:
                            call()
                        except ReadOnlyError as error:
                            assert "older version" in str(error) and "make it writable once, or copy it" in str(error), error
                        else:
                            raise AssertionError("read")
                    status = 0
                except BaseException:
                    import traceback; traceback.print_exc()
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
        assert path.read_bytes() == content
        path.chmod(0o644)
        print(len(Store(path).fetch()))
    """
    # Not tmp_path: the folders above it are closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        assert run_script(script, folder) == "2\n"
