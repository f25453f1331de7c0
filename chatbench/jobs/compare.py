"""Comparing stored runs question by question, and looking at them in groups of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import get_args

from chatbench.core.case import Case
from chatbench.core.run import Run
from chatbench.core.warn import warn_user
from chatbench.errors import InputError, WrongOptionError
from chatbench.jobs.history import DatabaseName
from chatbench.jobs.pairing import few_pairs, measure_names, pair_up, scored_runs, with_verdicts
from chatbench.jobs.run_like import RunLike, identity
from chatbench.results.comparison import Comparison
from chatbench.results.run_pair import Settings, compare_columns, judged
from chatbench.results.run_result import RunResult
from chatbench.results.scores import Scores
from chatbench.results.slices import SMALL, Select, Slices
from chatbench.stats.paired import IntervalKind
from chatbench.store import Store


def compare_runs(
    runs: RunLike | Sequence[RunLike],
    other: RunLike | None = None,
    *,
    baseline: RunLike | None = None,
    measures: str | Sequence[str] | None = None,
    cluster: str | None = None,
    where: str | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    interval: IntervalKind = "bootstrap-t",
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Comparison:
    """Return what two or more stored runs say about each other, question by question.

        compare_runs("bm25", "hybrid")
        compare_runs(["bm25", "minilm", "hybrid"], baseline="bm25")

    - Runs are named by id or name; the first is the baseline unless `baseline` names another.
    - `measures`: names such as "lexical_metrics_f1", or of whole metrics; None is all. p values are corrected over what is
      compared (Holm), over all runs.
    - `cluster`: "document", "tag", or a key of the questions' metadata: questions that share a value are not independent, and
      are drawn and flipped together.
    - `where`: an SQL condition on `cases` that picks questions, such as `"question like '%boson%'"`.
    - `interval`: "bootstrap-t" (the symmetric one; Bonett and Price's for yes/no measures), or "bca" as in other packages, which is too
      short with few questions, ties or long tails.
    - `confidence`: of the intervals; the tests are at 1 - confidence. `resamples`, `seed`: of the bootstrap and permutations.

    Questions are paired by id; those whose text or gold differs between the runs, and those of one run only, are listed in
    `.unpaired` and never used. Only questions that were scored in both runs count, measure by measure. Attempts are averaged
    within a question first. Of several runs, one that shares no question or measure with the baseline is named in the notes.

    Raises `RunNotFoundError`, `UnknownMetricError` (a measure that no run has), `QueryError` (a condition that does not work), and
    `InputError` where nothing can be compared or an option cannot be used.
    """
    how = _settings(confidence, resamples, seed, cluster, where, interval)
    store = Store(db_name, connection_string=connection_string)
    found = _chosen(store, runs, other, baseline)
    first, *others = scored_runs(found, *store.load_means(found))
    names = measure_names(first, others, measures)
    select = _selector(store, first.run.dataset_id)
    picked = None if where is None else select({"": where})[""]
    prepared, failed = [], {}
    for one in others:
        try:
            prepared.append(pair_up(first, one, names, picked, how))
        except InputError as error:
            if len(others) == 1:
                raise
            failed[one.label] = error
    if not prepared:
        raise next(iter(failed.values()))
    family = sum(len(named) for _, named in prepared)
    compared = [compare_columns(named, pair.a, pair.b, pair.groups, how, family) for pair, named in prepared]
    flat = iter(judged([m for measures_of_pair in compared for m in measures_of_pair], how))
    pairs = [with_verdicts(pair, [next(flat) for _ in named], how) for pair, named in prepared]
    for pair in pairs:
        if few := few_pairs(pair.measures, how):
            warn_user(f"{pair.label} against {first.label}: {few}")
    return Comparison(pairs, how, select, {label: str(error) for label, error in failed.items()})


def slices(
    run: RunLike,
    by: str | Mapping[str, str],
    measures: str | Sequence[str] | None = None,
    *,
    where: str | None = None,
    small: int = SMALL,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Slices:
    """Return the scores of a stored run in groups of questions, the worst first; groups below `small` questions are marked.

    `by`: "tag", "document", "language", "is_answerable", a key of the questions' metadata, or names with SQL conditions on
    `cases`: `{"long": "length(question) > 60", "short": "length(question) <= 60"}`. `where`: such a condition for all of it.
    """
    store = Store(db_name, connection_string=connection_string)
    stored = store.load(store.find_run(identity(run)).run_id, responses=False)
    scores = Scores(stored.scorings, stored.dataset, stored.responses)
    cases: Sequence[Case] = stored.dataset.cases
    select = _selector(store, stored.run.dataset_id)
    if where is not None:
        picked = select({"": where})[""]
        cases = [case for case in cases if case.id in picked]
        if not cases:
            raise InputError(f"No question of {stored.run.name!r} is left where {where}.")
    return scores.sliced(by, measures, small, cases, select, "" if where is None else f", where {where}")


def _selector(store: Store, dataset_id: str) -> Select:
    return partial(store.select_cases, dataset_id)


def _settings(
    confidence: float, resamples: int, seed: int, cluster: str | None, where: str | None, interval: IntervalKind
) -> Settings:
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise WrongOptionError(f"confidence is {confidence!r}; a share between 0 and 1 is due, such as 0.95.")
    for name, value, least, example in (("resamples", resamples, 100, 10_000), ("seed", seed, 0, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise WrongOptionError(f"{name} is {value!r}; an int of at least {least} is due, such as {example}.")
    if interval not in get_args(IntervalKind):
        raise WrongOptionError(
            f"interval is {interval!r}; one of {', '.join(map(repr, get_args(IntervalKind)))} is due, such as 'bca'."
        )
    return Settings(confidence, resamples, seed, cluster, where, interval)


def _chosen(
    store: Store, runs: RunLike | Sequence[RunLike], other: RunLike | None, baseline: RunLike | None
) -> list[Run]:
    """Return the runs to compare, the baseline first."""
    if not isinstance(runs, str | Run | RunResult | Sequence):
        raise WrongOptionError(f"Runs are named by id or name, alone or in a list, not by a {type(runs).__name__}.")
    given = [runs] if isinstance(runs, str | Run | RunResult) else list(runs)
    given += [] if other is None else [other]
    found = store.find_runs([identity(run) for run in (*given, *([] if baseline is None else [baseline]))])
    first = None if not found else found[0] if baseline is None else found.pop()
    ids = [run.run_id for run in found]
    if twice := [run for run in found if ids.count(run.run_id) > 1]:
        raise WrongOptionError(
            f"{twice[0].name!r} is given twice (run {twice[0].run_id}); runs of one name are told apart by their ids."
        )
    others = [run for run in found if first is not None and run.run_id != first.run_id]
    if first is None or not others:
        raise WrongOptionError(
            f"Comparing takes two runs or more, and {len(ids)} was given: compare_runs('bm25', 'hybrid')."
        )
    return [first, *others]
