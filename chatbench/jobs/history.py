"""Keeping runs and asking for them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from chatbench.core.jsonable import clean_text, to_json_value
from chatbench.core.redact import redact_json
from chatbench.core.run import Run, new_id
from chatbench.core.versions import package_versions
from chatbench.errors import InputError
from chatbench.jobs.run_like import RunLike, identity
from chatbench.jobs.score import MetricLike, resolve_metrics, score_responses
from chatbench.results.run_result import RunResult
from chatbench.results.scores import Scores
from chatbench.scoring.context import Embed
from chatbench.store import Store

DEFAULT_NAME = "Unknown_RAG"

DatabaseName = str | Path | None


def store_results(
    scores: Scores,
    db_name: DatabaseName = None,
    name: str = DEFAULT_NAME,
    connection_string: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """Keep questions, responses and scores as one run, and return its identity. All of it is stored, or nothing.

    `name` is free text; runs of one name add up. `settings` is anything worth remembering as JSON (model, chunk size, commit);
    secrets in it are blanked. The file is `db_name`, else the one used last, else `$CHATBENCH_DB`, else `benchmark.duckdb`.
    """
    if not isinstance(scores, Scores):
        raise InputError(f"store_results needs what score_test_set returned, not a {type(scores).__name__}.")
    run = Run(
        run_id=new_id(),
        name=checked_name(name, "store_results(scores, name='bm25')"),
        dataset_id=scores.dataset.fingerprint,
        dataset=scores.dataset.name,
        n_questions=len(scores.dataset),
        settings=_safe_settings(settings or {}),
        versions=package_versions(),
    )
    Store(db_name, connection_string=connection_string).save_run(run, scores.dataset, scores.responses, scores.scorings)
    return run


def fetch_metrics_results(db_name: DatabaseName = None, connection_string: str | None = None) -> pd.DataFrame:
    """Return one row per stored run, newest first: run_id, name, dataset, created_at, n_questions, then the mean of every measure."""
    return Store(db_name, connection_string=connection_string).fetch()


def sql(
    query: str,
    parameters: Any = None,
    *,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
    write: bool = False,
) -> pd.DataFrame:
    """Return the answer of the database to a query. It cannot change anything unless `write=True`.

    `parameters` are bound to `?` in the query. Tables: `runs`, `cases`, `responses`, `results`, and one per metric
    (`lexical_metrics`, ...) with a row per run, question and attempt.
    """
    return Store(db_name, connection_string=connection_string).query(query, parameters, write=write)


def list_runs(db_name: DatabaseName = None, connection_string: str | None = None) -> list[Run]:
    """Return the stored runs, newest first."""
    return Store(db_name, connection_string=connection_string).runs()


def load_run(run: RunLike, db_name: DatabaseName = None, connection_string: str | None = None) -> RunResult:
    """Return a stored run by its id or name: questions, responses and scores as they went in."""
    store = Store(db_name, connection_string=connection_string)
    stored = store.load(store.find_run(identity(run)).run_id)
    return RunResult(
        stored.run, stored.dataset, stored.responses, Scores(stored.scorings, stored.dataset, stored.responses)
    )


def rescore(
    run: RunLike,
    metrics: MetricLike | Iterable[MetricLike] | Mapping[str, Callable[..., Any]],
    db_name: DatabaseName = None,
    connection_string: str | None = None,
    *,
    embed: Embed | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score the stored responses of a run with metrics, keep the scores beside the older ones, and return them.

    A scoring of the same metric and parameters is superseded: it stays, and the new one is shown. A dict of names to
    functions stands for functions in the form of the original package: `rescore(run, {"MyTest": my_test})`.
    """
    functions = metrics if isinstance(metrics, Mapping) else {}
    given = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else list(metrics)
    resolved = resolve_metrics(given, functions)
    store = Store(db_name, connection_string=connection_string)
    stored = store.load(store.find_run(identity(run)).run_id)
    scores = score_responses(stored.dataset, stored.responses, resolved, embed=embed, progress=progress)
    store.add_scorings(stored.run.run_id, scores.scorings)
    return scores


def delete_run(run: RunLike, db_name: DatabaseName = None, connection_string: str | None = None) -> dict[str, int]:
    """Delete one run and all that belongs to it; return the number of rows by table."""
    store = Store(db_name, connection_string=connection_string)
    return store.delete_run(store.find_run(identity(run)).run_id)


def delete_model_from_database(
    model_name: str, db_name: DatabaseName = None, connection_string: str | None = None
) -> dict[str, int]:
    """Delete every run of exactly this name; return the number of deleted scorings by table. An unknown name deletes nothing."""
    return Store(db_name, connection_string=connection_string).delete_runs_named(model_name)


def checked_name(name: Any, example: str) -> str:
    """Return the name of a run as it is stored; `example` shows how one is given."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"A run needs a name that is text, not {name!r}: {example}.")
    return clean_text(name)


def _safe_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(settings, Mapping):
        raise InputError(
            f"settings is a {type(settings).__name__}; a dict of JSON values is due: settings={{'top_k': 5}}."
        )
    try:
        plain = to_json_value(settings, "settings")
    except TypeError as error:
        raise InputError(f"settings must be JSON values: {error}.") from error
    safe: dict[str, Any] = redact_json(plain)
    return safe
