"""What the files of commands share: the application, and options that mean the same in each."""

from __future__ import annotations

from typing import Annotated

import typer

from chatbench import __version__

app = typer.Typer(
    name="chatbench",
    help="Score RAG systems, keep every score in DuckDB, and ask in SQL which version is better.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Database = Annotated[
    str | None,
    typer.Option(
        "--db", help="Database file or postgresql://...; else $CHATBENCH_DB, else benchmark.duckdb.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"chatbench {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
