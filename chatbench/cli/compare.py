"""Commands that compare: two runs or more, and one run in groups of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chatbench.cli.common import AsJson, Database, app
from chatbench.cli.output import (
    FAILED,
    check_figure_paths,
    frame_records,
    plain_errors,
    save_figure,
    show_frame,
    show_json,
    show_table,
)
from chatbench.errors import WrongOptionError

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
    plot: Annotated[
        Path | None, typer.Option(help="Write the differences, or with --by the groups, to a .png or .svg file.")
    ] = None,
    scatter: Annotated[
        Path | None,
        typer.Option(help="Write two runs question by question, with one --measure, to a .png or .svg file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs question by question: differences, intervals, tests, and what changed."""
    from chatbench.jobs.compare import compare_runs

    with plain_errors() as told:
        _check_options(runs, baseline, measure, by, flipped, scatter)
        check_figure_paths(plot, scatter)
        comparison = compare_runs(runs, baseline=baseline, measures=measure, cluster=cluster, where=where, db_name=db)
        gates = _gates(comparison, fail_if_worse or [])
        scattered = "" if scatter is None else _scattered(comparison, measure)
        groups = None if by is None else comparison.by(by, measure)
        if plot is not None:
            save_figure(comparison.plot() if groups is None else _plot_of(groups), plot)
        if scatter is not None:
            save_figure(comparison.scatter(scattered), scatter)
        if flipped or (groups is not None and as_json):  # tables have the notes below them
            _tell_notes(comparison, told)
        if flipped:
            show_frame(comparison.flipped, as_json)
        elif groups is not None:
            _show(groups, as_json)
        elif as_json:
            show_json(_record(comparison))
        else:
            show_table(*comparison.table())
        failed = comparison.worse(gates)
        for sentence in failed:
            typer.echo(f"failed: {sentence}", err=True)
    if failed:
        raise typer.Exit(FAILED)


def _check_options(
    runs: list[str],
    baseline: str | None,
    measure: list[str] | None,
    by: str | None,
    flipped: bool,
    scatter: Path | None,
) -> None:
    """Stop before any work where the options cannot be used together."""
    if len(runs) + (baseline is not None) < 2:
        raise WrongOptionError("Comparing takes two runs or more; `chatbench runs` lists them.")
    if twice := next((run for run in runs if runs.count(run) > 1), None):
        raise WrongOptionError(f"{twice!r} is given twice; runs of one name are told apart by their ids.")
    if flipped and by is not None:
        raise WrongOptionError("--flipped lists questions, --by groups of them; ask for one, then for the other.")
    if scatter is not None and len(measure or []) != 1:
        raise WrongOptionError("--scatter shows one measure; name it by one --measure.")


def _gates(comparison: Any, wanted: list[str]) -> list[str]:
    """Return the measures that `wanted` names, by themselves or by their metric, and that can be worse."""
    better = {r["name"]: r["better"] for r in frame_records(comparison.frame)}
    gates: list[str] = []
    for given in wanted:
        found = comparison.measure_names([given])
        can_fail = [name for name in found if name not in better or better[name] is not None]
        if not can_fail:
            raise WrongOptionError(f"--fail-if-worse {given}: it declares no direction, so it cannot be worse.")
        gates += can_fail
    return list(dict.fromkeys(gates))


def _scattered(comparison: Any, measure: list[str] | None) -> str:
    """Return the one measure of the one pair of runs that a scatter plot shows."""
    names: list[str] = comparison.measure_names(measure)
    if len(names) != 1:
        raise WrongOptionError(f"--scatter shows one measure, and these are {len(names)}: {', '.join(names)}.")
    if len(comparison.pairs) > 1:
        others = ", ".join(pair.run.name for pair in comparison.pairs)
        raise WrongOptionError(
            f"--scatter shows two runs, and {comparison.baseline.name} is compared with {others}; name two."
        )
    return names[0]


def _plot_of(groups: Any) -> Any:
    """Return the plot of the first measure, and say which it is where there are others."""
    names = list(dict.fromkeys(groups.frame["name"]))
    if len(names) > 1:
        typer.echo(f"note: the plot shows {names[0]}, the first of {len(names)}; --measure picks another", err=True)
    return groups.plot()


def _tell_notes(comparison: Any, told: list[str]) -> None:
    """Print what a reader must know beside the numbers, unless it was told as a warning."""
    for pair in comparison.pairs:
        for note in pair.notes:
            if not any(line.endswith(note) for line in told):
                typer.echo(f"note: {pair.label} against {pair.baseline_label}: {note}", err=True)
    for label, reason in comparison.failed.items():
        typer.echo(f"note: {label} was not compared: {reason}", err=True)


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
        check_figure_paths(plot)
        found = slices_of(run, by, measure, where=where, db_name=db)
        if plot is not None:
            save_figure(_plot_of(found), plot)
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
