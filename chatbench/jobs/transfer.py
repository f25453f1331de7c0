"""Bringing results in and out: the file of chATLAS_Benchmark, and runs as folders of plain files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from chatbench.core.run import Run
from chatbench.core.warn import warn_user
from chatbench.errors import DatabaseNotFoundError, InputError, RunNotFoundError
from chatbench.jobs.chatlas_runs import SOURCE, Questions, calls, to_run
from chatbench.jobs.history import DatabaseName, checked_name
from chatbench.jobs.run_like import RunLike, identity
from chatbench.store import Store, run_export, run_import
from chatbench.store.chatlas_file import read_rows


def import_results(
    path: str | Path,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
    *,
    questions: Any = None,
) -> list[Run]:
    """Bring the scores in that chATLAS_Benchmark stored in an SQLite file, and return the new runs, oldest first.

    The rows of one `store_results` call (one name, one question_path, written within seconds) become one run, with the
    name and the time that they have; where it cannot be told which rows belong together, each becomes a run. The scores go
    into tables of their own (`chatlas_lexical`, ...), since most are defined otherwise than ours of like names. The settings
    of a run say where it comes from, and have notes on all that is uncertain or missing.

    Answers are not in such a file, nor are questions: these are those of the question file where it is still there,
    or those given, when their number agrees; else they go by their position, so that runs of one question_path and of
    equally many questions can be compared. `questions` is anything that `load_dataset` reads, or a dict of
    question_path to such.

    The file is never changed. Rows that were imported before are left out, with a warning. Each run is stored as a
    whole or not at all. Warns of lists that cannot be read (their mean is kept) and of means that differ from their list.
    Raises `DatabaseNotFoundError`, `NotADatabaseError` and `DatabaseLockedError` about the file, `InputError` for questions that
    belong to no rows or to several sets, and what storing raises.
    """
    source = Path(path).expanduser()
    store = Store(db_name, connection_string=connection_string)
    rows = read_rows(source)
    if not rows:
        warn_user(f"{source} holds no scores; nothing was imported.")
    known = _imported_rows(store) if rows else {}
    fresh = [row for row in rows if row.digest not in known]
    if len(fresh) < len(rows):
        before = sorted({known[row.digest] for row in rows if row.digest in known})
        warn_user(
            f"{len(rows) - len(fresh)} of {len(rows)} rows of {source} were imported before and are left out (runs: "
            f"{', '.join(before[:10])}{', ...' if len(before) > 10 else ''}). Delete a run to import it anew.",
        )
    if not fresh:
        return []
    asked = Questions(questions, source.absolute().parent, calls(rows))
    prepared = [to_run(call, source, asked) for call in calls(fresh)]
    for content, faults in prepared:
        store.save_run(content.run, content.dataset, content.responses, content.scorings)
        if faults:
            warn_user(f"Run {content.run.name!r} ({content.run.run_id}): {' '.join(faults)}")
    return [content.run for content, _ in prepared]


def _imported_rows(store: Store) -> dict[str, str]:
    """Return the digests of the rows that the database has, each with its run."""
    try:
        stored = store.runs()
    except DatabaseNotFoundError:
        return {}
    facts = [(run, run.settings.get(SOURCE)) for run in stored]
    return {
        row["digest"]: run.run_id
        for run, source in facts
        if isinstance(source, dict) and isinstance(source.get("rows"), list)
        for row in source["rows"]
        if isinstance(row, dict) and isinstance(row.get("digest"), str)
    }


def export_run(
    run: RunLike,
    folder: str | Path,
    format: str = "parquet",
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Path:
    """Write a stored run into a folder of plain files, and return the folder: questions, responses, current scorings.

    `run.json` has the run and what each scoring is; `cases`, `responses` and one file `scores_<table>` per scoring have
    the rows, as Parquet (nested values as JSON text) or as JSON lines: `format` is "parquet" or "jsonl". `import_run` reads them into any
    database, without loss. The folder appears as a whole or not at all. One that is there must be empty or an export of the same run,
    which is replaced; else `InputError`.
    """
    store = Store(db_name, connection_string=connection_string)
    return run_export.write(Path(folder).expanduser(), store.load(store.find_run(identity(run)).run_id), format)


def import_run(
    folder: str | Path,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
    name: str | None = None,
) -> Run:
    """Store the run of a folder that `export_run` wrote, and return it. Its id is kept; `name` gives it another name.

    Everything is checked first, nothing in the folder is ever run, and all of it is stored or nothing. The classes of its metrics
    need not be defined. Raises `InputError` for a folder that is incomplete, damaged or changed, and for a run that is stored
    already (it says whether the content is the same), `SchemaError` when a scoring does not fit the tables of the database.
    """
    content = run_import.read(Path(folder).expanduser())
    name = checked_name(content.run.name if name is None else name, "import_run(folder, name='bm25')")
    content = replace(content, run=replace(content.run, name=name))
    store = Store(db_name, connection_string=connection_string)
    try:
        stored = store.load(content.run.run_id)
    except (DatabaseNotFoundError, RunNotFoundError):
        store.save_run(content.run, content.dataset, content.responses, content.scorings, strict=True)
        return content.run
    same = replace(content, run=replace(content.run, name=stored.run.name)) == stored
    state = "with the same content" if same else "with OTHER content; delete_run removes that one"
    raise InputError(
        f"The run {content.run.run_id} is stored already as {stored.run.name!r}, {state}. Nothing was changed."
    )
