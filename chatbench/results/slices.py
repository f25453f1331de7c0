"""`Slices`: scores and comparisons in groups of questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chatbench.core.case import Case
from chatbench.core.groups import groups_by
from chatbench.core.measure import Measure
from chatbench.core.scores import Scoring, Summary, summarise
from chatbench.errors import UnknownMetricError, WrongOptionError, did_you_mean
from chatbench.reports.tables import html_table, interval_text, p_text, text_table
from chatbench.results.run_pair import ComparedMeasure, RunPair, Settings, compare_columns, judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 10
"""Groups with fewer scored questions are marked: their intervals are wide, and a few questions decide them."""

SHOWN = 60
"""Rows that a table shows; the frame has all."""

Select = Callable[[Mapping[str, str]], Mapping[str, Collection[str]]]
"""Gives the ids of the questions that each of several SQL conditions on `cases` picks, by the conditions' names."""

By = str | Mapping[str, str]
"""What groups questions: the name of an attribute, or names with SQL conditions."""


class Slices:
    """Groups of questions, the worst first within each measure; `frame` has all of them. Small groups are marked.

    Shown in a notebook it is a table with a line per measure and group.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        caption: str,
        small: int,
        shown: Sequence[tuple[str, Callable[[Any], Any]]],
        notes: Sequence[str] = (),
    ) -> None:
        self.frame = frame
        self.notes = list(notes)
        self._caption = caption
        self._small = small
        self._shown = shown

    def plot(self, measure: str | None = None) -> Figure:
        """Return a figure of one measure (by default the first) with a line per group."""
        from chatbench.reports.slice_plot import slice_plot

        names = list(dict.fromkeys(self.frame["name"]))
        chosen = measure or next(iter(names), "")
        if chosen not in names:
            raise UnknownMetricError(
                f"No measure {chosen!r} among these groups. There are: {', '.join(names) or 'none'}."
            )
        value, n = ("mean", "n_scored") if "mean" in self.frame else ("difference", "n")
        records = [{**r, "n": r[n]} for r in self._records() if r["name"] == chosen]
        return slice_plot(records, value, f"{chosen}\n{self._caption}")

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown: columns, rows, caption, notes."""
        rows = [[cell(record) for _, cell in self._shown] for record in self._records()[:SHOWN]]
        notes = []
        if len(self.frame) > SHOWN:
            notes.append(f"{SHOWN} of {len(self.frame)} lines; all are in .frame.")
        if self.frame["small"].any():
            notes.append(f"* fewer than {self._small} questions scored: a few of them decide such a group.")
        return [title for title, _ in self._shown], rows, self._caption, [*notes, *self.notes]

    def _records(self) -> list[dict[str, Any]]:
        plain = self.frame.astype(object)
        records: list[Any] = plain.where(plain.notna(), None).to_dict("records")
        return records

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table as HTML, as a notebook shows it; every text is escaped."""
        return html_table(*self.table())

    _repr_html_ = to_html


def groups_of(by: By, select: Select) -> Callable[[Sequence[Case]], dict[str, list[int]]]:
    """Return what puts cases into groups, by their places: of one attribute, or of named SQL conditions, which are asked once."""
    if not isinstance(by, Mapping):
        return lambda cases: groups_by(cases, by)
    if not by or not all(isinstance(name, str) for name in by):
        raise WrongOptionError(
            f"Groups by conditions are names with SQL: {{'long': 'length(question) > 60'}}, not {by!r}."
        )
    chosen = select(by)
    return lambda cases: {
        name: [place for place, case in enumerate(cases) if case.id in ids] for name, ids in chosen.items()
    }


def chosen_measures(known: Sequence[tuple[str, Collection[str]]], wanted: str | Sequence[str] | None) -> list[str]:
    """Return the full names that are asked for: by themselves, or by a name of their metric; None is all.

    `known` has each full name with the names of its metric. Raises `UnknownMetricError` naming what there is.
    """
    names = [name for name, _ in known]
    if wanted is None:
        return names
    listed = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Sequence) else []
    if not listed:
        raise WrongOptionError(f"measures is {wanted!r}; names are due, such as 'lexical_metrics_f1', or None for all.")
    chosen: list[str] = []
    for given in listed:
        found = [name for name, metric in known if given == name or given in metric]
        if not found:
            hint = did_you_mean(str(given), names)
            raise UnknownMetricError(f"No measure {given!r} here.{hint} There are: {', '.join(names) or 'none'}.")
        chosen += found
    return list(dict.fromkeys(chosen))


def slice_scorings(
    named: Sequence[tuple[str, Scoring, Measure]],
    cases: Sequence[Case],
    by: By,
    small: int,
    select: Select,
    title: str,
) -> Slices:
    """Summarise measures within each group of questions; `named` has full name, scoring and measure."""
    groups = {
        group: [cases[place].id for place in places] for group, places in groups_of(by, select)(cases).items() if places
    }
    rows = []
    entries_of: dict[str, list[int]] = {}
    last: Scoring | None = None
    for name, scoring, measure in named:
        if scoring is not last:
            last, entries_of = scoring, {}
            for entry, case_id in enumerate(scoring.case_ids):
                entries_of.setdefault(case_id, []).append(entry)
        for group, members in groups.items():
            part = _part(scoring, measure, [entry for case_id in members for entry in entries_of[case_id]])
            n_scored = len({c for c, v in zip(part.case_ids, part.values[measure.name], strict=True) if v is not None})
            rows.append((name, measure, group, len(members), n_scored < small, summarise(part)[0]))
    return _summary_slices(rows, small, f"{title}, by {_by_text(by)}", _empty(by, groups))


def slice_pairs(
    pairs: Sequence[RunPair],
    how: Settings,
    by: By,
    wanted: Collection[str],
    small: int,
    select: Select,
    title: str,
    notes: Sequence[str],
) -> Slices:
    """Compare runs within each group of questions; `wanted` names the measures."""
    group = groups_of(by, select)
    parts = []
    for pair in pairs:
        columns = [k for k, m in enumerate(pair.measures) if m.name in wanted]
        named = [(m.name, m.key, m.measure, m.is_binary) for m in (pair.measures[k] for k in columns)]
        parts += [(pair, named, columns, name, places) for name, places in group(pair.cases).items() if places]
    family = sum(len(named) for _, named, *_ in parts)
    found: list[tuple[str, str, int]] = []
    compared: list[ComparedMeasure] = []
    for pair, named, columns, name, places in parts:
        clusters = None if pair.groups is None else pair.groups[places]
        part = np.ix_(places, columns)
        compared += compare_columns(named, pair.a[part], pair.b[part], clusters, how, family)
        found += [(pair.label, name, len(places))] * len(named)
    rows = list(zip(found, judged(compared, how), strict=True))
    caption = f"{title}, by {_by_text(by)}"
    return _pair_slices(rows, pairs, how, small, caption, [*_empty(by, {p[3] for p in parts}), *notes])


def _empty(by: By, groups: Collection[str]) -> list[str]:
    """Say which conditions no question meets."""
    empty = [name for name in by if name not in groups] if isinstance(by, Mapping) else []
    return [f"No question in: {', '.join(empty)}."] if empty else []


def _part(scoring: Scoring, measure: Measure, entries: Sequence[int]) -> Scoring:
    """Return one measure of some of a scoring's rows, its summary to be made anew."""
    column = scoring.values[measure.name]
    return replace(
        scoring,
        measures=(measure,),
        case_ids=[scoring.case_ids[i] for i in entries],
        attempts=[scoring.attempts[i] for i in entries],
        values={measure.name: [column[i] for i in entries]},
        errors=[scoring.errors[i] for i in entries],
        missing=[scoring.missing[i] for i in entries],
        summaries=(),
    )


def _summary_slices(
    rows: list[tuple[str, Measure, str, int, bool, Summary]], small: int, caption: str, notes: Sequence[str]
) -> Slices:
    order = {name: place for place, name in enumerate(dict.fromkeys(name for name, *_ in rows))}
    rows = sorted(rows, key=lambda r: (order[r[0]], _badness(r[5].mean, r[1])))
    records = [
        {
            "name": name,
            "group": group,
            "mean": s.mean,
            "low": s.low,
            "high": s.high,
            "n_questions": n,
            "n_scored": s.n_scored,
            "n_errors": s.n_errors,
            "n_missing": s.n_missing,
            "small": is_small,
        }
        for name, _, group, n, is_small, s in rows
    ]
    whole = ("n_questions", "n_scored", "n_errors", "n_missing")
    types: dict[str, Any] = {
        **dict.fromkeys(("mean", "low", "high"), "Float64"),
        **dict.fromkeys(whole, "Int64"),
        "small": bool,
    }
    columns = ["name", "group", "mean", "low", "high", *whole, "small"]
    shown: list[tuple[str, Callable[[Any], Any]]] = [
        ("measure", lambda r: r["name"]),
        ("group", _marked),
        ("mean", lambda r: r["mean"]),
        ("95 % interval", lambda r: interval_text(r["low"], r["high"])),
        ("questions", lambda r: r["n_questions"]),
        ("n scored", lambda r: r["n_scored"]),
        ("errors", lambda r: r["n_errors"]),
        ("missing", lambda r: r["n_missing"]),
    ]
    return Slices(pd.DataFrame(records, columns=columns).astype(types), caption, small, shown, notes)


def _pair_slices(
    rows: list[tuple[tuple[str, str, int], ComparedMeasure]],
    pairs: Sequence[RunPair],
    how: Settings,
    small: int,
    caption: str,
    notes: Sequence[str],
) -> Slices:
    several = len(pairs) > 1
    order = {name: place for place, name in enumerate(dict.fromkeys(c.name for _, c in rows))}
    runs = {name: place for place, name in enumerate(dict.fromkeys(run for (run, *_), _ in rows))}
    rows = sorted(rows, key=lambda r: (runs[r[0][0]], order[r[1].name], _badness(r[1].result.difference, r[1].measure)))
    same = ("mean_a", "mean_b", "difference", "low", "high", "p")
    records = [
        {
            "run": run,
            "name": c.name,
            "group": group,
            **{key: getattr(c.result, key) for key in same},
            "p_adjusted": c.p_adjusted,
            "n_questions": n,
            "n": c.result.n,
            "n_left_out": c.n_left_out,
            "verdict": c.verdict,
            "small": c.result.n < small,
        }
        for (run, group, n), c in rows
    ]
    columns = ["run", "name", "group", *same, "p_adjusted", "n_questions", "n", "n_left_out", "verdict", "small"]
    types: dict[str, Any] = {
        **dict.fromkeys((*same, "p_adjusted"), "Float64"),
        "n_questions": "Int64",
        "n": "Int64",
        "small": bool,
    }
    # Pairs, not a dict: a run may be named like another column.
    shown: list[tuple[str, Callable[[Any], Any]]] = [
        *([("run", lambda r: r["run"])] if several else []),
        ("measure", lambda r: r["name"]),
        ("group", _marked),
        (pairs[0].baseline_label, lambda r: r["mean_a"]),
        ("run " if several else pairs[0].label, lambda r: r["mean_b"]),
        ("difference", lambda r: r["difference"]),
        (f"{100 * how.confidence:g} % interval", lambda r: interval_text(r["low"], r["high"])),
        ("p", lambda r: p_text(r["p"])),
        ("p (Holm)", lambda r: p_text(r["p_adjusted"])),
        ("n", lambda r: r["n"]),
        ("verdict", lambda r: r["verdict"]),
    ]
    return Slices(pd.DataFrame(records, columns=columns).astype(types), caption, small, shown, notes)


def _marked(record: Mapping[str, Any]) -> str:
    return f"{record['group']}{' *' if record['small'] else ''}"


def _badness(value: float | None, measure: Measure) -> tuple[bool, float]:
    """Sort key: the worst first, where nothing is known last."""
    if value is None:
        return True, 0.0
    return False, -value if measure.better == "lower" else value


def _by_text(by: By) -> str:
    return ", ".join(by) if isinstance(by, Mapping) else by
