"""Comparing stored runs question by question, and looking at them in groups of questions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from chatbench.core.case import Case
from chatbench.core.common_questions import CommonQuestions, common_questions
from chatbench.core.dataset import Dataset
from chatbench.core.groups import clusters_by
from chatbench.core.question_means import Floats, QuestionMeans
from chatbench.core.run import Run
from chatbench.errors import InputError
from chatbench.jobs.history import DatabaseName
from chatbench.results.comparison import Comparison
from chatbench.results.run_pair import ComparedMeasure, RunPair, Settings, compare_columns, judged
from chatbench.results.run_result import RunResult
from chatbench.results.scores import Scores
from chatbench.results.slices import SMALL, Slices, chosen_measures
from chatbench.stats.paired import IntervalKind
from chatbench.store import Store

FEW = 20
"""With fewer independent pairs than this a comparison says so: only large differences can be shown."""

RunLike = str | Run | RunResult
Key = tuple[str, str, str]
"""What is the same measure in two runs: table, metric with its parameters as shown, measure."""


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
    within a question first. Raises `InputError` where the runs have no question or no measure in common.
    """
    how = _settings(confidence, resamples, seed, cluster, where, interval)
    store = Store(db_name, connection_string=connection_string)
    first, others = _chosen(store, runs, other, baseline)
    datasets, scores = store.load_means([first, *others])
    picked = None if where is None else set(store.select_case_ids(first.dataset_id, where))
    names = _names(list(scores.values()), measures)
    pairs = [_pair(first, run, datasets, scores, names, picked, how, len(names) * len(others)) for run in others]
    flat = iter(judged([m for pair in pairs for m in pair.measures], how))
    pairs = [_with_verdicts(pair, [next(flat) for _ in pair.measures], how) for pair in pairs]
    for pair in pairs:
        if few := _few(pair.measures, how):
            warnings.warn(f"{pair.run.name} against {first.name}: {few}", stacklevel=2)
    return Comparison(pairs, how, lambda condition: store.select_case_ids(first.dataset_id, condition))


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
    stored = store.load(store.find_run(_identity(run)).run_id)
    scores = Scores(stored.scorings, stored.dataset, stored.responses)
    cases: Sequence[Case] = stored.dataset.cases

    def select(condition: str) -> Collection[str]:
        return store.select_case_ids(stored.run.dataset_id, condition)

    if where is not None:
        picked = set(select(where))
        cases = [case for case in cases if case.id in picked]
        if not cases:
            raise InputError(f"No question of {stored.run.name!r} is left where {where}.")
    return scores.sliced(by, measures, small, cases, select)


def _settings(
    confidence: float, resamples: int, seed: int, cluster: str | None, where: str | None, interval: IntervalKind
) -> Settings:
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence!r}; a share between 0 and 1 is due, such as 0.95.")
    for name, value, least, example in (("resamples", resamples, 100, 10_000), ("seed", seed, 0, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value!r}; an int of at least {least} is due, such as {example}.")
    if interval not in get_args(IntervalKind):
        raise InputError(
            f"interval is {interval!r}; one of {', '.join(map(repr, get_args(IntervalKind)))} is due, such as 'bca'."
        )
    return Settings(confidence, resamples, seed, cluster, where, interval)


def _chosen(
    store: Store, runs: RunLike | Sequence[RunLike], other: RunLike | None, baseline: RunLike | None
) -> tuple[Run, list[Run]]:
    """Return the baseline and the other runs."""
    given = [runs] if isinstance(runs, str | Run | RunResult) else list(runs)
    given += [] if other is None else [other]
    found = store.find_runs([_identity(run) for run in (*given, *([] if baseline is None else [baseline]))])
    first = None if not found else found[0] if baseline is None else found.pop()
    ids = [run.run_id for run in found]
    if twice := [run for run in found if ids.count(run.run_id) > 1]:
        raise InputError(
            f"{twice[0].name!r} is given twice (run {twice[0].run_id}); runs of one name are told apart by their ids."
        )
    others = [run for run in found if first is not None and run.run_id != first.run_id]
    if first is None or not others:
        raise InputError("Comparing takes two runs or more: compare_runs('bm25', 'hybrid').")
    return first, others


def _identity(run: RunLike) -> str | Run:
    return run.run if isinstance(run, RunResult) else run


def _names(scores: Sequence[Sequence[QuestionMeans]], wanted: str | Sequence[str] | None) -> dict[Key, str]:
    """Return the full name of each measure, by table, metric and measure: parameters behind it where a table has several."""
    keys: dict[str, set[str]] = {}
    for means in (m for run in scores for m in run):
        keys.setdefault(means.table, set()).add(means.key)
    names = {
        _key(m): f"{m.name} {m.label}".rstrip() if len(keys[m.table]) > 1 else m.name for run in scores for m in run
    }
    known = [(name, (table, metric, metric.split("(")[0])) for (table, metric, _), name in names.items()]
    chosen = set(chosen_measures(known, wanted))
    return {key: name for key, name in names.items() if name in chosen}


def _key(means: QuestionMeans) -> Key:
    return means.table, means.key, means.measure.name


def _pair(
    first: Run,
    run: Run,
    datasets: Mapping[str, Dataset],
    scores: Mapping[str, Sequence[QuestionMeans]],
    names: Mapping[Key, str],
    picked: Collection[str] | None,
    how: Settings,
    family: int,
) -> RunPair:
    """Compare two runs; the verdicts are still open."""
    questions = common_questions(datasets[first.dataset_id], datasets[run.dataset_id])
    case_ids = [i for i in questions.same if picked is None or i in picked]
    if not case_ids:
        raise _nothing_common(first, run, questions, how)
    by_id = {case.id: case for case in datasets[first.dataset_id]}
    cases = [by_id[i] for i in case_ids]
    groups = None if how.cluster is None else np.asarray(clusters_by(cases, how.cluster))
    mine, theirs = ({_key(m): m for m in scores[r.run_id]} for r in (first, run))
    both = [key for key in names if key in mine and key in theirs]
    one_only = [key for key in names if (key in mine) != (key in theirs)]
    not_compared = {names[key]: _absence(key, *((run, theirs) if key in mine else (first, mine))) for key in one_only}
    if not both:
        raise InputError(
            f"{first.name} and {run.name} have no measure in common. {first.name} has: {_listed(mine)}; {run.name}: {_listed(theirs)}. "
            "rescore(run, metric) scores stored answers."
        )
    a, b = (_matrix([means[key] for key in both], case_ids) for means in (mine, theirs))
    named = [(names[k], mine[k].key, mine[k].measure, mine[k].is_binary and theirs[k].is_binary) for k in both]
    compared = compare_columns(named, a, b, groups, how, family)
    notes = _notes(first, run, questions, len(case_ids), how)
    notes += _differing([(names[k], mine[k], theirs[k]) for k in both])
    return RunPair(first, run, questions, cases, a, b, compared, groups, not_compared, notes)


def _absence(key: Key, run: Run, has: Mapping[Key, QuestionMeans]) -> str:
    others = dict.fromkeys(metric for table, metric, measure in has if (table, measure) == (key[0], key[2]))
    return f"{run.name} has it as {', '.join(others)} only" if others else f"not measured in {run.name}"


def _matrix(means: Sequence[QuestionMeans], case_ids: Sequence[str]) -> Floats:
    """Return a row per question and a column per measure; NaN where a question was not scored."""
    matrix = np.full((len(case_ids), len(means)), np.nan)
    for column, one in enumerate(means):
        if list(one.case_ids) == list(case_ids):
            matrix[:, column] = one.means
            continue
        place = {case_id: i for i, case_id in enumerate(one.case_ids)}
        rows = [(row, place[case_id]) for row, case_id in enumerate(case_ids) if case_id in place]
        if rows:
            here, there = map(list, zip(*rows, strict=True))
            matrix[here, column] = one.means[there]
    return matrix


def _nothing_common(first: Run, run: Run, questions: CommonQuestions, how: Settings) -> InputError:
    names = f"{first.name} ({first.dataset}) and {run.name} ({run.dataset})"
    if questions.same:
        return InputError(f"No question that {names} have in common is left where {how.where}.")
    if questions.changed:
        return InputError(
            f"{names} share {len(questions.changed)} ids, such as {questions.changed[0]!r}, but text or gold differs in each: "
            "these are other questions. Run both on one question set."
        )
    return InputError(
        f"{names} have no question in common: ids are such as {_some(questions.only_first)} and {_some(questions.only_second)}."
    )


def _notes(first: Run, run: Run, questions: CommonQuestions, n: int, how: Settings) -> list[str]:
    """Return what a reader must know about the questions of a pair."""
    notes = []
    for ids, what in (
        (questions.changed, "not used, because text or gold differs"),
        (questions.only_first, f"only in {first.name}"),
        (questions.only_second, f"only in {run.name}"),
    ):
        if ids:
            notes.append(f"{len(ids)} question{'s' * (len(ids) != 1)} {what}: {_some(ids)}.")
    if how.where is not None:
        notes.append(f"{n} of {len(questions.same)} common questions, where {how.where}.")
    return notes


def _differing(measures: Sequence[tuple[str, QuestionMeans, QuestionMeans]]) -> list[str]:
    """Say where the two runs were not measured in the same way."""
    notes = []
    for attribute, what in (("signature", "other defaults"), ("code_hash", "another version of the metric's code")):
        keys = dict.fromkeys(a.key for _, a, b in measures if getattr(a, attribute) != getattr(b, attribute))
        if keys:
            notes.append(
                f"{', '.join(keys)}: the two runs were scored with {what}; rescore(run, metric) makes them comparable."
            )
    repeats = {(a.attempts, b.attempts) for _, a, b in measures if a.attempts != b.attempts}
    if repeats:
        mine, theirs = max(repeats)
        notes.append(f"{mine} and {theirs} attempts per question; they are averaged within each question.")
    return notes


def _few(measures: Sequence[ComparedMeasure], how: Settings) -> str:
    """Say so where a measure rests on few independent pairs."""
    counts = [m.result.n_groups for m in measures if m.result.n_groups < FEW]
    if not counts:
        return ""
    units = ("cluster of questions", "clusters of questions") if how.cluster else ("question", "questions")
    n = str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    which = "" if len(counts) == len(measures) else f" for {len(counts)} of {len(measures)} measures"
    return (
        f"Only {n} {units[max(counts) != 1]} scored in both runs{which}: nothing but a large difference can be shown."
    )


def _with_verdicts(pair: RunPair, measures: Sequence[ComparedMeasure], how: Settings) -> RunPair:
    notes = [*([few] if (few := _few(measures, how)) else []), *pair.notes]
    partly = [m for m in measures if m.n_left_out]
    if partly:
        counts = sorted({m.n_left_out for m in partly})
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        notes.append(
            f"{n} of {len(pair.cases)} questions are left out of {len(partly)} measures: not scored in both runs."
        )
    if pair.not_compared:
        notes.append(
            "Not compared: " + "; ".join(f"{name} ({reason})" for name, reason in pair.not_compared.items()) + "."
        )
    return replace(pair, measures=measures, notes=notes)


def _listed(means: Mapping[Key, QuestionMeans]) -> str:
    return ", ".join(dict.fromkeys(key for _, key, _ in means)) or "no scores per question"


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
