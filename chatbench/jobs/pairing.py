"""Two stored runs side by side: which questions and measures they share, and what a reader must know about that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chatbench.core.common_questions import CommonQuestions, common_questions
from chatbench.core.dataset import Dataset
from chatbench.core.groups import clusters_by
from chatbench.core.measure import Measure
from chatbench.core.question_means import Floats, QuestionMeans
from chatbench.core.run import Run
from chatbench.errors import InputError
from chatbench.results.run_pair import ComparedMeasure, RunPair, Settings
from chatbench.results.slices import chosen_measures

FEW = 20
"""With fewer independent pairs than this a comparison says so: only large differences can be shown."""

NO_TEST = 6
"""With fewer no exact test can reach 5 %: all signs equal have p = 2 / 2**5."""

Key = tuple[str, str, str]
"""What is the same measure in two runs: table, metric with its parameters as shown, measure."""

Named = tuple[str, str, Measure, bool]
"""Full name, metric, measure, and whether each question has one yes or no."""


@dataclass(frozen=True)
class ScoredRun:
    """A run with its questions and its scores; `label` is its name, with the id where several have that name."""

    run: Run
    label: str
    dataset: Dataset
    means: Mapping[Key, QuestionMeans]


def scored_runs(
    runs: Sequence[Run], datasets: Mapping[str, Dataset], means: Mapping[str, Sequence[QuestionMeans]]
) -> list[ScoredRun]:
    """Put together what was read of several runs."""
    names = [run.name for run in runs]
    return [
        ScoredRun(
            run,
            run.name if names.count(run.name) == 1 else f"{run.name} ({run.run_id})",
            datasets[run.dataset_id],
            {(m.table, m.key, m.measure.name): m for m in means[run.run_id]},
        )
        for run in runs
    ]


def measure_names(first: ScoredRun, others: Sequence[ScoredRun], wanted: str | Sequence[str] | None) -> dict[Key, str]:
    """Return the full name of each wanted measure: `<table>_<measure>`, with the metric's parameters behind it where a plain name
    would not tell which of several scorings is meant.

    The plain name is that of the scoring that the runs share; one that is in a single run only gives way to it.
    """
    keys = dict.fromkeys(key for scored in (first, *others) for key in scored.means)
    shared = [key for key in keys if key in first.means and any(key in other.means for other in others)]
    names: dict[Key, str] = {}
    for key in keys:
        table, metric, measure = key
        rivals = [k for k in shared if (k[0], k[2]) == (table, measure)]
        rivals = rivals or [k for k in keys if (k[0], k[2]) == (table, measure)]
        plain = f"{table}_{measure}"
        is_plain = rivals == [key] or (key in rivals and "(" not in metric)
        names[key] = plain if is_plain else f"{plain} {metric}"
    known = [(name, (f"{t}_{m}", t, metric, metric.split("(")[0])) for (t, metric, m), name in names.items()]
    chosen = set(chosen_measures(known, wanted))
    return {key: name for key, name in names.items() if name in chosen}


def pair_up(
    first: ScoredRun, other: ScoredRun, names: Mapping[Key, str], picked: Collection[str] | None, how: Settings
) -> tuple[RunPair, list[Named]]:
    """Return two runs over their common questions, and the measures that can be compared, which still have to be."""
    questions = common_questions(first.dataset, other.dataset)
    case_ids = [i for i in questions.same if picked is None or i in picked]
    if not case_ids:
        raise _nothing_common(first, other, questions, how)
    by_id = {case.id: case for case in first.dataset}
    cases = [by_id[i] for i in case_ids]
    not_compared = {name: why for key, name in names.items() if (why := _obstacle(key, first, other))}
    both = [key for key in names if key in first.means and key in other.means and names[key] not in not_compared]
    if not both:
        raise InputError(
            f"{first.label} and {other.label} have none of the chosen measures in common: "
            + (
                "; ".join(f"{name} ({why})" for name, why in not_compared.items())
                or "no scores per question are stored"
            )
            + ". rescore(run, metric) scores stored answers."
        )
    mine, theirs = ([scored.means[key] for key in both] for scored in (first, other))
    pairs = list(zip(both, mine, theirs, strict=True))
    notes = [*_notes(first, other, questions, len(case_ids), how), *_differing(pairs)]
    pair = RunPair(
        baseline=first.run,
        run=other.run,
        baseline_label=first.label,
        label=other.label,
        questions=questions,
        cases=cases,
        a=_matrix(mine, case_ids),
        b=_matrix(theirs, case_ids),
        measures=(),
        groups=None if how.cluster is None else np.asarray(clusters_by(cases, how.cluster)),
        not_compared=not_compared,
        notes=notes,
    )
    # A direction may have been declared after the older run was scored.
    return pair, [
        (names[key], a.key, b.measure if b.measure.better else a.measure, a.is_binary and b.is_binary)
        for key, a, b in pairs
    ]


def few_pairs(measures: Sequence[ComparedMeasure], how: Settings) -> str:
    """Return a sentence where a measure rests on few independent pairs, else an empty text."""
    counts = [m.result.n_groups for m in measures if m.result.n_groups < FEW]
    if not counts:
        return ""
    units = ("cluster of questions", "clusters of questions") if how.cluster else ("question", "questions")
    n = str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    which = "" if len(counts) == len(measures) else f" for {len(counts)} of {len(measures)} measures"
    shown = "nothing can be shown" if max(counts) < NO_TEST else "nothing but a large difference can be shown"
    return f"Only {n} {units[max(counts) != 1]} scored in both runs{which}: {shown}."


def with_verdicts(pair: RunPair, measures: Sequence[ComparedMeasure], how: Settings) -> RunPair:
    """Return the pair with its measures, and notes on what they rest on."""
    few = few_pairs(measures, how)
    notes = [*([few] if few else []), *pair.notes]
    partly = [m for m in measures if m.n_left_out]
    if partly:
        counts = sorted({m.n_left_out for m in partly})
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        what = f"{len(partly)} measure{'s' * (len(partly) != 1)}"
        notes.append(f"{n} of {len(pair.cases)} questions left out of {what}: not scored in both runs.")
    if pair.not_compared:
        notes.append("Not compared: " + "; ".join(f"{name} ({why})" for name, why in pair.not_compared.items()) + ".")
    return replace(pair, measures=measures, notes=notes)


def _obstacle(key: Key, first: ScoredRun, other: ScoredRun) -> str:
    """Return why a measure cannot be compared, or an empty text; also where neither run has it."""
    lacking = [scored for scored in (first, other) if key not in scored.means]
    if len(lacking) == 1:
        has = dict.fromkeys(metric for t, metric, m in lacking[0].means if (t, m) == (key[0], key[2]))
        label = lacking[0].label
        return f"{label} has it as {', '.join(has)} only" if has else f"not measured in {label}"
    if not lacking and any(scored.means[key].measure.of_run for scored in (first, other)):
        return "only a number of the whole run is known"
    if not lacking and {scored.means[key].measure.better for scored in (first, other)} == {"higher", "lower"}:
        said = " and ".join(f"{scored.means[key].measure.better} in {scored.label}" for scored in (first, other))
        return f"better is {said}: rescore the older run"
    return ""


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


def _nothing_common(first: ScoredRun, other: ScoredRun, questions: CommonQuestions, how: Settings) -> InputError:
    names = f"{first.label} ({first.run.dataset}) and {other.label} ({other.run.dataset})"
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


def _notes(first: ScoredRun, other: ScoredRun, questions: CommonQuestions, n: int, how: Settings) -> list[str]:
    """Return what a reader must know about the questions of a pair."""
    notes = []
    for ids, what in (
        (questions.changed, "not used, because text or gold differs"),
        (questions.only_first, f"only in {first.label}"),
        (questions.only_second, f"only in {other.label}"),
    ):
        if ids:
            notes.append(f"{len(ids)} question{'s' * (len(ids) != 1)} {what}: {_some(ids)}.")
    if how.where is not None:
        notes.append(f"{n} of {len(questions.same)} common questions, where {how.where}.")
    return notes


def _differing(pairs: Sequence[tuple[Key, QuestionMeans, QuestionMeans]]) -> list[str]:
    """Say where the two runs were not measured in the same way."""
    notes = []
    for attribute, what in (("signature", "other defaults"), ("code_hash", "another version of the metric's code")):
        keys = dict.fromkeys(a.key for _, a, b in pairs if getattr(a, attribute) != getattr(b, attribute))
        if keys:
            notes.append(
                f"{', '.join(keys)}: the two runs were scored with {what}; rescore(run, metric) makes them comparable."
            )
    repeats = {(a.attempts, b.attempts) for _, a, b in pairs if a.attempts != b.attempts}
    if repeats:
        mine, theirs = max(repeats)
        notes.append(f"{mine} and {theirs} attempts per question; they are averaged within each question.")
    return notes


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
