"""Commands that compare: two runs or more, and one run in groups of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chatbench.cli.common import AsJson, Database, app
from chatbench.cli.output import (
    FAILED,
    check_figure_path,
    frame_records,
    plain_errors,
    save_figure,
    show_frame,
    show_json,
    show_table,
)

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", "-m", help="lexical_metrics_f1, or a metric. Repeatable; default: all.", show_default=False
    ),
]
By = Annotated[str | None, typer.Option("--by", help="tag, document, language, or a key of the metadata.")]
Where = Annotated[str | None, typer.Option("--where", help="SQL condition on cases that picks questions.")]


@app.command()
def compare(
    runs: Annotated[list[str], typer.Argument(help="Ids or names of two runs or more; the first is the baseline.")],
    db: Database = None,
    baseline: Annotated[str | None, typer.Option(help="Another baseline than the first.")] = None,
    measure: Measures = None,
    cluster: Annotated[
        str | None, typer.Option(help="document, tag, or a key of the metadata: such questions are drawn together.")
    ] = None,
    where: Where = None,
    by: By = None,
    flipped: Annotated[bool, typer.Option("--flipped", help="The questions whose yes/no changed.")] = False,
    fail_if_worse: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if-worse",
            help="Exit with 1 if this measure is significantly worse. Repeatable.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the differences to a .png or .svg file.")] = None,
    scatter: Annotated[
        Path | None, typer.Option(help="Write two runs question by question (with one --measure).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs question by question: differences, intervals, tests, and what changed."""
    from chatbench.jobs.compare import compare_runs

    with plain_errors():
        if len(runs) + (baseline is not None) < 2:
            raise typer.BadParameter("name two runs or more", param_hint="RUNS")
        if scatter is not None and len(measure or []) != 1:
            raise typer.BadParameter("a scatter plot shows one --measure", param_hint="--scatter")
        for path in filter(None, (plot, scatter)):
            check_figure_path(path)  # before the work, not after it
        comparison = compare_runs(runs, baseline=baseline, measures=measure, cluster=cluster, where=where, db_name=db)
        gates = comparison.measure_names(fail_if_worse or [])
        if plot is not None:
            save_figure(comparison.plot(), plot)
        if scatter is not None:
            save_figure(comparison.scatter(comparison.frame["name"].iloc[0]), scatter)
        if flipped:
            show_frame(comparison.flipped, as_json)
        elif by is not None:
            _show(comparison.by(by, measure), as_json)
        elif as_json:
            show_json(_record(comparison))
        else:
            show_table(*comparison.table())
        failed = comparison.worse(gates)
        for sentence in failed:
            typer.echo(f"failed: {sentence}", err=True)
    if failed:
        raise typer.Exit(FAILED)


@app.command()
def slices(
    run: Annotated[str, typer.Argument(help="Id or name of a run.")],
    by: Annotated[str, typer.Option("--by", help="tag, document, language, or a key of the metadata.")],
    db: Database = None,
    measure: Measures = None,
    where: Where = None,
    plot: Annotated[Path | None, typer.Option(help="Write the first measure to a .png or .svg file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the scores of a run in groups of questions, the worst first."""
    from chatbench.jobs.compare import slices as slices_of

    with plain_errors():
        found = slices_of(run, by, measure, where=where, db_name=db)
        if plot is not None:
            save_figure(found.plot(), plot)
        _show(found, as_json)


def _show(slices: Any, as_json: bool) -> None:
    if as_json:
        show_json(frame_records(slices.frame))
    else:
        show_table(*slices.table())


def _record(comparison: Any) -> dict[str, Any]:
    return {
        "baseline": comparison.baseline.name,
        "measures": frame_records(comparison.frame),
        "flipped": frame_records(comparison.flipped),
        "unpaired": frame_records(comparison.unpaired),
        "not_compared": frame_records(comparison.not_compared),
        "notes": comparison.notes,
    }
