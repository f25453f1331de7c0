"""How many questions a comparison needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from chatbench.core.measure import Measure
from chatbench.core.question_means import QuestionMeans
from chatbench.core.run import Run
from chatbench.core.warn import warn_user
from chatbench.errors import InputError, UnknownMetricError, WrongOptionError, did_you_mean
from chatbench.jobs.history import DatabaseName
from chatbench.jobs.run_like import RunLike, identity
from chatbench.results.power import Power
from chatbench.stats.spread import Spread, differing_spreads, median_spread, spread_if_independent, spread_of_pairs
from chatbench.store import Store


def power(
    run: RunLike,
    measure: str,
    difference: float | None = None,
    *,
    against: RunLike | None = None,
    power: float = 0.8,
    level: float = 0.05,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Power:
    """Tell how many questions it takes to see a difference, and the smallest difference that this question set shows.

    `measure` is a name such as "lexical_metrics_f1"; runs are named by id or name, or given as `load_run` returns them. What counts
    is how much two runs differ question by question: with `against` that is taken from the two runs; else it is the median over the
    other runs on these questions that were scored by the same code with the same parameters and as many attempts; without any,
    the two runs are taken as independent, with the variance of this one. The object says which. Repeats are averaged first.
    Yes/no measures with one attempt: exact McNemar test. Others: `compare_runs` flips signs; the power of the paired t test
    approximates that, roughly below 30 questions.

    Raises `RunNotFoundError`, `UnknownMetricError` (names the measures), and `InputError` for a difference of 0 or beyond
    the range of the measure, a power or level outside 0 to 1, fewer than two questions, scores that do not vary, and a measure
    that is yes/no in one of the two runs and a number in the other.
    """
    for name, value in (("power", power), ("level", level)):
        if not _is_number(value) or not 0 < value < 1:
            raise WrongOptionError(
                f"{name} is between 0 and 1, such as {0.8 if name == 'power' else 0.05}, not {value!r}."
            )
    store = Store(db_name, connection_string=connection_string)
    found = store.find_run(identity(run))
    mine = _chosen(store.question_means(found.run_id), measure, found)
    widest = _widest(mine.measure)
    _check_difference(difference, mine, widest)
    if against is None:
        n, is_binary = int(np.isfinite(mine.means).sum()), mine.is_binary
        if n < 2:
            raise _too_few(n, mine, found)
        spread, basis = _from_others(store, found, mine)
    else:
        n, is_binary, spread, basis = _from_pair(store, found, mine, store.find_run(identity(against)), measure)
    if not math.isfinite(spread.variance):
        raise InputError("The scores are too large for a variance.")
    return Power(
        run=found,
        measure=mine.name,
        n=n,
        sd=math.sqrt(spread.variance),
        discordant=spread.discordant if is_binary else None,
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


def _from_pair(
    store: Store, run: Run, mine: QuestionMeans, other_run: Run, measure: str
) -> tuple[int, bool, Spread, str]:
    """Return the number of pairs, whether each is two answers of yes or no, their spread, and where it comes from."""
    if other_run.dataset_id != run.dataset_id or other_run.run_id == run.run_id:
        why = (
            "is that run itself" if other_run.run_id == run.run_id else f"is on other questions ({other_run.dataset!r})"
        )
        raise InputError(f"against={other_run.name!r} {why}; name another run on the questions of {run.name!r}.")
    other = _chosen(store.question_means(other_run.run_id), measure, other_run)
    if (other.measure.type is bool) != (mine.measure.type is bool):
        raise InputError(
            f"{mine.name} is {_kind(mine)} in {run.name!r} and {_kind(other)} in {other_run.name!r}; rescore(run, metric) makes "
            "them comparable, or name another run."
        )
    if (other.signature, other.code_hash) != (mine.signature, mine.code_hash):
        warn_user(
            f"{mine.name} of {run.name!r} and {other_run.name!r} rests on different code, defaults or parameters; "
            "rescore(run, metric) makes them comparable."
        )
    place = dict(zip(other.case_ids, other.means.tolist(), strict=True))
    theirs = np.asarray([place.get(case_id, math.nan) for case_id in mine.case_ids])
    both = np.isfinite(mine.means) & np.isfinite(theirs)
    n = int(both.sum())
    if n < 2:
        raise _too_few(n, mine, run)
    a, b = mine.means[both], theirs[both]
    spread = spread_of_pairs(a, b)
    if spread is None:
        raise InputError(
            f"{mine.name} of {run.name!r} and {other_run.name!r} differs by {a[0] - b[0]:g} on each of {n} questions: "
            "that says nothing about how differences vary. Leave against out, or name another run."
        )
    basis = f"from the {n} questions scored in both runs (against {other_run.name!r})"
    return n, mine.is_binary and other.is_binary, spread, basis


def _from_others(store: Store, run: Run, mine: QuestionMeans) -> tuple[Spread, str]:
    """Return the median spread over the other runs that were scored alike, or that of independent runs; and which it is."""
    values = mine.means[np.isfinite(mine.means)]
    others = [s for s in store.pair_spreads(run, mine) if s.attempts == mine.attempts]
    same_code = [s for s in others if s.code_hash == mine.code_hash]
    alike = [s for s in same_code if s.is_yes_no == (mine.measure.type is bool)]
    given = [Spread(s.variance, s.discordant) for s in alike if s.variance is not None]
    # A run that is the same throughout, as one stored twice, says nothing.
    varying = differing_spreads(given, float(np.abs(values).max()))
    left_out = len(others) - len(same_code)
    note = f"; {left_out} {'run' if left_out == 1 else 'runs'} left out, scored by other code" if left_out else ""
    if varying:
        runs = "the one other run" if len(varying) == 1 else f"each of {len(varying)} other runs, the median of them"
        return median_spread(varying), f"from the pairs with {runs} on these questions{note}"
    spread = spread_if_independent(values)
    if spread is None:
        raise InputError(
            f"{mine.name} of {run.name!r} is {values[0]:g} on each of {len(values)} questions, and no other run on them tells how "
            f"differences vary{note}; nothing can be said about power."
        )
    basis = "as if the runs were independent, because no other run on these questions was scored alike (pairs usually vary less)"
    return spread, basis + note


def _kind(means: QuestionMeans) -> str:
    return "yes/no" if means.measure.type is bool else "a number"


def _widest(measure: Measure) -> float | None:
    """Return the largest difference that two means can have."""
    if measure.type is bool:
        return 1.0
    return None if measure.at_least is None or measure.at_most is None else measure.at_most - measure.at_least


def _check_difference(difference: Any, mine: QuestionMeans, widest: float | None) -> None:
    if difference is None:
        return
    if not _is_number(difference) or not math.isfinite(difference) or difference == 0:
        raise WrongOptionError(f"A difference is a number other than 0, such as 0.05, not {difference!r}.")
    if widest is not None and abs(difference) > widest:
        of = mine.measure.range_text() or "yes or no"
        raise WrongOptionError(
            f"{mine.name} is {of}, so that no difference is larger than {widest:g}; {difference:g} was given."
        )


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and not isinstance(value, str)


def _too_few(n: int, mine: QuestionMeans, run: Run) -> InputError:
    return InputError(
        f"{mine.name} of {run.name!r} has {n} questions with a score; two are the fewest that say anything."
    )
