"""Commands that bring results in and out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from chatbench.cli.common import AsJson, Database, app
from chatbench.cli.output import plain_errors, show_json, show_table


class Format(StrEnum):
    """What the files of an exported run are written as."""

    PARQUET = "parquet"
    JSONL = "jsonl"


@app.command()
def import_results(
    file: Annotated[Path, typer.Argument(help="SQLite file of chATLAS_Benchmark; it is only read.")],
    db: Database = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="The question set, where it is not where it was.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring the scores in that chATLAS_Benchmark stored: a run per call of its store_results."""
    from chatbench.jobs.transfer import import_results as bring_in

    with plain_errors():
        runs = bring_in(file, db, questions=questions)
        records = [
            {
                **{name: getattr(run, name) for name in ("run_id", "name", "dataset", "n_questions")},
                "created_at": run.created_at.isoformat(),
                "rows": len(run.settings["imported_from"]["rows"]),
            }
            for run in runs
        ]
        if as_json:
            show_json(records)
            return
        if records:
            rows = [[*r.values()] for r in records]
            show_table(["run_id", "name", "dataset", "questions", "created", "rows"], rows)
        print(f"{len(runs)} runs imported from {sum(r['rows'] for r in records)} rows")


@app.command()
def export_run(
    run: Annotated[str, typer.Argument(help="Id or name of a run.")],
    folder: Annotated[Path, typer.Argument(help="New folder, an empty one, or an export of the same run.")],
    format: Annotated[Format, typer.Option("--format", help="What the rows are written as.")] = Format.PARQUET,
    db: Database = None,
) -> None:
    """Write a run with its questions, responses and scores into a folder of plain files."""
    from chatbench.jobs.transfer import export_run as write_out

    with plain_errors():
        print(f"exported to {write_out(run, folder, str(format), db)}")


@app.command()
def import_run(
    folder: Annotated[Path, typer.Argument(help="Folder that export-run wrote.", exists=True, file_okay=False)],
    db: Database = None,
    name: Annotated[str | None, typer.Option("--name", help="Another name for the run.")] = None,
) -> None:
    """Store the run of a folder; its id is kept."""
    from chatbench.jobs.transfer import import_run as bring_in

    with plain_errors():
        run = bring_in(folder, db, name=name)
        print(f"stored as run {run.run_id} ({run.name})")
