"""Commands of the main job: score, keep, show, ask, delete."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from chatbench.cli.common import AsJson, Database, Quiet, app
from chatbench.cli.output import FAILED, USAGE, plain_errors, show_frame, show_json, show_table


@app.command()
def demo(db: Annotated[str, typer.Option("--db", help="Database file.")] = "demo.duckdb", quiet: Quiet = False) -> None:
    """Score three retrieval systems on the physics questions, store them, and set them side by side."""
    from chatbench.jobs.compare import compare_runs
    from chatbench.jobs.demo import MAIN_MEASURES, run_demo
    from chatbench.reports.side_by_side import side_by_side
    from chatbench.store import Store
    from chatbench.store.examples import MISSED_BY_ALL

    with plain_errors():
        place = Store(db).name if "://" in db else db  # the address of a server may hold a password
        results = []
        for run, scores in run_demo(db, progress=False if quiet else None):
            print(f"{run.name}: {run.n_questions} questions scored and stored as run {run.run_id}")
            results.append((run, scores))
        columns, rows = side_by_side([(run.name, scores.summaries) for run, scores in results])
        print()
        show_table(columns, rows, f"{results[0][0].dataset}: mean over questions, 95 % interval")
        comparison = compare_runs(results[0][0], results[-1][0], measures=MAIN_MEASURES, db_name=db)
        print("\nQuestion by question:")
        show_table(*comparison.table())
        print(f"\nAll of it is in {place}. Ask in SQL, for example which questions every system misses:")
        print(f'  chatbench sql --db {place} "{MISSED_BY_ALL}"')


def _known_encoding(name: str | None) -> str | None:
    try:
        codecs.lookup(name or "utf-8")
    except LookupError as error:
        raise typer.BadParameter(f"{error}; such as utf-8, utf-16, latin-1") from None
    return name


@app.command()
def score(
    questions: Annotated[Path, typer.Argument(help="Question set: JSON list or JSONL.")],
    responses: Annotated[Path, typer.Argument(help="Responses: JSON list or JSONL with id, answer, documents.")],
    metric: Annotated[
        list[str], typer.Option("--metric", "-m", help='Name, "Retrieval(k=3)", or own.py:MyMetric. Repeatable.')
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the run; default: the responses' file name.")
    ] = None,
    db: Database = None,
    store: Annotated[bool, typer.Option("--store/--no-store", help="Whether to keep the run.")] = True,
    num_q: Annotated[int | None, typer.Option("--num-q", min=1, help="Only the first so many questions.")] = None,
    encoding: Annotated[str | None, typer.Option(callback=_known_encoding, help="Encoding of both files.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score the responses of a system to a question set, and keep the run."""
    from chatbench.jobs.history import store_results
    from chatbench.jobs.score import resolve_metrics, score_responses
    from chatbench.loaders import load_dataset, load_responses
    from chatbench.store import Store

    if name is not None and not name.strip():
        raise typer.BadParameter("a run needs a name", param_hint="--name")
    with plain_errors() as notes:
        metrics = resolve_metrics(metric)
        if store:
            Store(db).check_writable()  # before an hour of scoring, not after it
        dataset = load_dataset(questions, num_q=num_q, encoding=encoding)
        given = load_responses(responses, dataset, encoding=encoding)
        scores = score_responses(dataset, given, metrics, progress=False if quiet or as_json else None)
        identity: dict[str, Any] = {"run_id": None, "name": responses.stem if name is None else name}
        try:
            if store:
                identity["run_id"] = store_results(scores, db, identity["name"]).run_id
        finally:  # what was scored is shown even where it could not be kept
            _show_scores(scores, as_json, identity)
        if identity["run_id"] and not as_json:
            print(f"stored as run {identity['run_id']} ({identity['name']})")
    failed = any(s.n_errors and not s.n_scored for scoring in scores.scorings for s in scoring.summaries)
    if failed or any("were not stored" in note for note in notes):
        raise typer.Exit(FAILED)


def _show_scores(scores: Any, as_json: bool, identity: dict[str, Any]) -> None:
    from chatbench.cli.output import frame_records

    if as_json:
        summary = frame_records(scores.summary.reset_index())
        show_json({**identity, "dataset": scores.dataset.name, "n_questions": len(scores.dataset), "summary": summary})
    else:
        columns, rows, caption, notes = scores.table()
        show_table(columns, rows, caption, notes)


@app.command()
def runs(db: Database = None, as_json: AsJson = False) -> None:
    """List the stored runs, newest first; with --json also the mean of every measure."""
    from chatbench.jobs.history import fetch_metrics_results, list_runs

    with plain_errors():
        if as_json:
            show_frame(fetch_metrics_results(db), True)
            return
        rows = [
            [r.run_id, r.name, r.dataset, r.n_questions, f"{r.created_at:%Y-%m-%d %H:%M}", r.state]
            for r in list_runs(db)
        ]
        show_table(["run_id", "name", "dataset", "questions", "created (UTC)", "state"], rows)


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="Id or name of a run.")],
    db: Database = None,
    failures: Annotated[bool, typer.Option("--failures", help="The cells without a score, with reasons.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the means of a run with intervals and counts."""
    from chatbench.jobs.history import load_run

    with plain_errors():
        result = load_run(run, db)
        if failures:
            show_frame(result.scores.failures, as_json)
        else:
            _show_scores(result.scores, as_json, {"run_id": result.run.run_id, "name": result.run.name})


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A query; it cannot change anything without --write.")],
    db: Database = None,
    write: Annotated[bool, typer.Option("--write", help="Allow changes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the database in SQL."""
    from chatbench.jobs.history import sql as ask

    with plain_errors():
        show_frame(ask(query, db_name=db, write=write), as_json)


@app.command()
def metrics(as_json: AsJson = False) -> None:
    """List the registered metrics with their measures and parameters."""
    from chatbench.reports.metric_table import metric_records

    with plain_errors():
        records = metric_records()
        if as_json:
            show_json(records)
            return
        rows = [
            [record["metric"], ", ".join(record["parameters"]), measure["name"], measure["range"], measure["sentence"]]
            for record in records
            for measure in record["measures"]
        ]
        show_table(["metric", "parameters", "measure", "range", "what it is"], rows)


@app.command()
def delete(
    run: Annotated[str, typer.Argument(help="Id or name of a run.")],
    db: Database = None,
    all_of_name: Annotated[bool, typer.Option("--all", help="Every run of exactly this name.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a run (of several with one name, the newest) with all that belongs to it."""
    from chatbench.errors import RunNotFoundError
    from chatbench.jobs.history import delete_model_from_database, delete_run, list_runs
    from chatbench.store import Store

    with plain_errors():
        if all_of_name:
            found = [r for r in list_runs(db) if r.name == run]
            if not found:
                raise RunNotFoundError(f"No run is named {run!r}; `chatbench runs` lists them.")
        else:
            found = [Store(db).find_run(run)]
        if not yes and not sys.stdin.isatty():
            print("error: deleting needs --yes where nobody can be asked", file=sys.stderr)
            raise SystemExit(USAGE)
        if not yes:
            typer.confirm(f"Delete {', '.join(f'{r.name} ({r.run_id})' for r in found)}?", abort=True)
        if all_of_name:
            delete_model_from_database(run, db)
        else:
            delete_run(found[0], db)
        for r in found:
            print(f"deleted {r.run_id} ({r.name})")
