"""How many questions a comparison needs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from chatbench.core.measure import Measure
from chatbench.core.question_means import QuestionMeans
from chatbench.core.run import Run
from chatbench.errors import InputError, UnknownMetricError, did_you_mean
from chatbench.jobs.history import DatabaseName
from chatbench.results.power import Power
from chatbench.store import Store

Spread = tuple[float, float, str]
"""Variance of the questions' differences, share of questions that differ, and where both come from."""


def power(
    run: str | Run,
    measure: str,
    difference: float | None = None,
    *,
    against: str | Run | None = None,
    power: float = 0.8,
    level: float = 0.05,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Power:
    """Tell how many questions it takes to see a difference, and the smallest difference that this question set shows.

    `measure` is a name such as "lexical_metrics_f1". What counts is how much two runs differ question by question: with
    `against` that is taken from the two runs; else it is the median over the other runs on these questions that were scored
    with the same parameters and as many attempts; without any, the two runs are taken as independent, with the variance of this
    one. The object says which. Repeats are averaged first. Yes/no measures with one attempt: exact McNemar test; others: t test.

    Raises `RunNotFoundError`, `UnknownMetricError` (names the measures), and `InputError` for a difference of 0 or beyond
    the range of the measure, a power or level outside 0 to 1, fewer than two questions, and scores that do not vary.
    """
    for name, value in (("power", power), ("level", level)):
        if not _is_number(value) or not 0 < value < 1:
            raise InputError(f"{name} is between 0 and 1, such as {0.8 if name == 'power' else 0.05}, not {value!r}.")
    store = Store(db_name, connection_string=connection_string)
    found = store.find_run(run)
    mine = _chosen(store.question_means(found.run_id), measure, found)
    widest = _widest(mine.measure)
    _check_difference(difference, mine, widest)
    if against is None:
        n, is_binary = int(np.isfinite(mine.means).sum()), mine.is_binary
        if n < 2:
            raise _too_few(n, mine, found)
        variance, discordant, basis = _from_others(store, found, mine) or _as_if_independent(found, mine)
    else:
        n, is_binary, (variance, discordant, basis) = _from_pair(store, found, mine, store.find_run(against), measure)
    return Power(
        run=found,
        measure=mine.name,
        n=n,
        sd=math.sqrt(variance),
        discordant=discordant if is_binary else None,
        basis=basis,
        difference=None if difference is None else float(difference),
        power=float(power),
        level=float(level),
        widest=widest,
    )


def _chosen(found: Sequence[QuestionMeans], measure: str, run: Run) -> QuestionMeans:
    """Return the measure of this name: that of the default parameters, else of the first; or `<name> <label>`, as shown."""
    named = [m for m in found if measure in (m.name, f"{m.name} {m.label}")]
    if not named:
        names = list(dict.fromkeys(m.name for m in found))
        raise UnknownMetricError(
            f"The run {run.name!r} has no measure {measure!r} with a number per question (text, and numbers of a whole run, "
            f"have none).{did_you_mean(str(measure), names)} There are: {', '.join(names) or 'none'}."
        )
    return min(named, key=lambda m: m.label != "")


def _from_pair(store: Store, run: Run, mine: QuestionMeans, other_run: Run, measure: str) -> tuple[int, bool, Spread]:
    """Return the number of pairs, whether each is two answers of yes or no, and their spread."""
    if other_run.dataset_id != run.dataset_id or other_run.run_id == run.run_id:
        why = (
            "is that run itself" if other_run.run_id == run.run_id else f"is on other questions ({other_run.dataset!r})"
        )
        raise InputError(f"against={other_run.name!r} {why}; name another run on the questions of {run.name!r}.")
    other = _chosen(store.question_means(other_run.run_id), measure, other_run)
    if (other.signature, other.code_hash) != (mine.signature, mine.code_hash):
        warnings.warn(
            f"{mine.name} of {run.name!r} and {other_run.name!r} rests on different code, defaults or parameters; "
            "rescore(run, metric) makes them comparable.",
            stacklevel=3,
        )
    place = dict(zip(other.case_ids, other.means.tolist(), strict=True))
    pairs = mine.means - np.asarray([place.get(case_id, math.nan) for case_id in mine.case_ids])
    pairs = pairs[np.isfinite(pairs)]
    if len(pairs) < 2:
        raise _too_few(len(pairs), mine, run)
    variance = _variance(pairs)
    if not variance:
        raise InputError(
            f"{mine.name} of {run.name!r} and {other_run.name!r} differs by {pairs[0]:g} on each of {len(pairs)} questions: "
            "that says nothing about how differences vary. Leave against out, or name another run."
        )
    basis = f"from the {len(pairs)} questions scored in both runs (against {other_run.name!r})"
    return len(pairs), mine.is_binary and other.is_binary, (variance, float(np.mean(pairs != 0)), basis)


def _from_others(store: Store, run: Run, mine: QuestionMeans) -> Spread | None:
    """Return the median spread over the other runs; one that is the same throughout, as a run stored twice, says nothing."""
    rounding = (1e-9 * float(np.nanmax(np.abs(mine.means)))) ** 2
    others = [s for s in store.pair_spreads(run, mine) if s.attempts == mine.attempts]
    spreads = [(s.variance, s.discordant) for s in others if s.variance is not None and s.variance > rounding]
    if not spreads:
        return None
    variance, discordant = (median(column) for column in zip(*spreads, strict=True))
    runs = "the one other run" if len(spreads) == 1 else f"each of {len(spreads)} other runs, the median of them"
    return variance, discordant, f"from the pairs with {runs} on these questions"


def _as_if_independent(run: Run, mine: QuestionMeans) -> Spread:
    values = mine.means[np.isfinite(mine.means)]
    variance = _variance(values)
    if not variance:
        raise InputError(
            f"{mine.name} of {run.name!r} is {values[0]:g} on each of {len(values)} questions, and no other run on them tells how "
            "differences vary; nothing can be said about power."
        )
    share = float(values.mean())
    basis = "as if the runs were independent, because no other run on these questions was scored alike (pairs usually vary less)"
    return 2 * variance, 2 * share * (1 - share), basis


def _variance(values: Any) -> float:
    """Return the variance, 0 where the values differ by rounding only."""
    scale = float(np.abs(values).max())
    if float(np.ptp(values)) <= 1e-12 * scale:
        return 0.0
    variance = float(np.var(values / scale, ddof=1)) * scale * scale
    if not math.isfinite(variance):
        raise InputError("The scores are too large for a variance.")
    return variance


def _widest(measure: Measure) -> float | None:
    """Return the largest difference that two means can have."""
    if measure.type is bool:
        return 1.0
    return None if measure.at_least is None or measure.at_most is None else measure.at_most - measure.at_least


def _check_difference(difference: Any, mine: QuestionMeans, widest: float | None) -> None:
    if difference is None:
        return
    if not _is_number(difference) or not math.isfinite(difference) or difference == 0:
        raise InputError(f"A difference is a number other than 0, such as 0.05, not {difference!r}.")
    if widest is not None and abs(difference) > widest:
        of = mine.measure.range_text() or "yes or no"
        raise InputError(
            f"{mine.name} is {of}, so that no difference is larger than {widest:g}; {difference:g} was given."
        )


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and not isinstance(value, str)


def _too_few(n: int, mine: QuestionMeans, run: Run) -> InputError:
    return InputError(
        f"{mine.name} of {run.name!r} has {n} questions with a score; two are the fewest that say anything."
    )
