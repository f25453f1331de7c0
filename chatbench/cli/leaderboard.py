"""Commands that rank the stored runs and say what a question set can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chatbench.cli.common import AsJson, Database, app
from chatbench.cli.output import check_figure_path, frame_records, plain_errors, save_figure, show_json, show_table


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
        for path in (plot, history):
            if path is not None:
                check_figure_path(path)
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
