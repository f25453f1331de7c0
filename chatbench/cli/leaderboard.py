"""Commands that rank the stored runs and say what a question set can show."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from chatbench.cli.common import AsJson, Database, app
from chatbench.cli.output import check_figure_paths, frame_records, plain_errors, save_figure, show_json, show_table


@app.command()
def leaderboard(
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Question set by name or dataset_id; else that of the newest run.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help="Such as lexical_metrics_f1; else the first that most runs have.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save the means with intervals: .png or .svg.")] = None,
    history: Annotated[
        Path | None, typer.Option("--history", help="Save the means over the time of the runs: .png or .svg.")
    ] = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Rank the runs on one question set, with the ranks that the 95 % intervals allow."""
    from chatbench.jobs.leaderboard import leaderboard as rank

    with plain_errors():
        check_figure_paths(plot, history)
        board = rank(dataset, measure, db)
        if as_json:
            same = {name: getattr(board, name) for name in ("dataset", "dataset_id", "measure", "better", "measures")}
            show_json({**same, "runs": frame_records(board.frame)})
        else:
            show_table(*board.table())
        if plot is not None:
            save_figure(board.plot(), plot)
        if history is not None:
            save_figure(board.plot_history(), history)


@app.command()
def power(
    run: Annotated[str, typer.Argument(help="Id or name of a run.")],
    measure: Annotated[str, typer.Argument(help="Such as lexical_metrics_f1.")],
    difference: Annotated[float | None, typer.Argument(help="How many questions does this difference need?")] = None,
    against: Annotated[str | None, typer.Option("--against", help="The run it is to be compared with.")] = None,
    wanted: Annotated[float, typer.Option("--power", help="Wanted chance to see the difference.")] = 0.8,
    level: Annotated[float, typer.Option("--level", help="Level of the test.")] = 0.05,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save the power over questions: .png or .svg.")] = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Tell how many questions a difference needs, and what difference the questions of a run show."""
    from chatbench.jobs.power import power as plan

    for name, share in (("--power", wanted), ("--level", level)):
        if not 0 < share < 1:
            raise typer.BadParameter(f"{share:g} is not between 0 and 1", param_hint=name)
    if difference is not None and not (difference and math.isfinite(difference)):
        raise typer.BadParameter(f"{difference:g} is no difference", param_hint="difference")
    with plain_errors():
        check_figure_paths(plot)
        found = plan(run, measure, difference, against=against, power=wanted, level=level, db_name=db)
        if as_json:
            same = (
                "measure",
                "n",
                "test",
                "basis",
                "sd",
                "discordant",
                "power",
                "level",
                "detectable",
                "difference",
                "needed",
            )
            identity = {"run_id": found.run.run_id, "name": found.run.name, "dataset": found.run.dataset}
            numbers = {name: getattr(found, name) for name in same}
            show_json({**identity, **numbers, "power_by_n_questions": frame_records(found.frame)})
        else:
            show_table(*found.table())
        if plot is not None:
            save_figure(found.plot(), plot)
