"""`Scores`: what `score_test_set` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from chatbench.core.case import Case
from chatbench.core.dataset import Dataset
from chatbench.core.measure import Measure
from chatbench.core.response import Response
from chatbench.core.scores import Scoring, Summary, reason_of
from chatbench.errors import InputError, UnknownMetricError, did_you_mean
from chatbench.reports.tables import html_table, interval_text, text_table
from chatbench.results.slices import SMALL, Select, Slices, chosen_measures, slice_scorings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DTYPES = {"float": "Float64", "int": "Int64", "bool": "boolean"}


class Scores(Mapping[str, pd.DataFrame]):
    """Scores of one run: `scores["LexicalMetrics"]` is a frame with one row per question, `scores.summary` has the means.

    Shown in a notebook it is a table of means with 95 % intervals and the counts behind them.
    """

    def __init__(self, scorings: Sequence[Scoring], dataset: Dataset, responses: Sequence[Response]) -> None:
        self.scorings = tuple(scorings)
        self.dataset = dataset
        self.responses = tuple(responses)

    def __getitem__(self, key: str) -> pd.DataFrame:
        """Rows of one metric: `case_id`, `question`, (`attempt`,) its measures, `error`, `missing`.

        A cell without a score is NA; `error` (text) or `missing` (reasons by measure) says why.
        """
        return self._frame(self.scoring(key))

    def __iter__(self) -> Iterator[str]:
        return (s.key for s in self.scorings)

    def __len__(self) -> int:
        return len(self.scorings)

    def scoring(self, key: str) -> Scoring:
        """Return the columns of one metric, by its name or by its name with parameters as it is shown."""
        found = [s for s in self.scorings if key in (s.key, s.metric, s.table)]
        exact = [s for s in found if s.key == key]
        if len(exact or found) == 1:
            return (exact or found)[0]
        known = list(self)
        raise UnknownMetricError(
            f"No single metric {key!r} among these scores.{did_you_mean(key, known)} There are: {', '.join(known) or 'none'}."
        )

    def full_name(self, scoring: Scoring, measure: str) -> str:
        """Return `<table>_<measure>`, with the parameters behind it where the metric was scored with several."""
        several = sum(s.table == scoring.table for s in self.scorings) > 1
        return f"{scoring.table}_{measure} {scoring.label if several else ''}".rstrip()

    @property
    def summaries(self) -> dict[str, Summary]:
        """The summary of each measure by its full name."""
        return {self.full_name(scoring, s.measure): s for scoring, _, s in self._summaries()}

    @property
    def summary(self) -> pd.DataFrame:
        """One row per measure, by its full name `<table>_<measure>`: metric, mean, 95 % interval, counts, direction."""
        rows = [
            {
                "name": f"{scoring.table}_{s.measure}",
                "metric": scoring.key,
                "measure": s.measure,
                "mean": s.mean,
                "low": s.low,
                "high": s.high,
                "n_scored": s.n_scored,
                "n_errors": s.n_errors,
                "n_missing": s.n_missing,
                "better": measure.better,
            }
            for scoring, measure, s in self._summaries()
        ]
        columns = ["name", "metric", "measure", "mean", "low", "high", "n_scored", "n_errors", "n_missing", "better"]
        types = {
            **dict.fromkeys(("mean", "low", "high"), "Float64"),
            **dict.fromkeys(("n_scored", "n_errors", "n_missing"), "Int64"),
        }
        return pd.DataFrame(rows, columns=columns).astype(types).set_index("name")

    @property
    def failures(self) -> pd.DataFrame:
        """Every cell without a score: metric, case_id, attempt, measure, kind ("error" or "missing") and reason."""
        rows = []
        for scoring in self.scorings:
            for i, (case_id, attempt) in enumerate(zip(scoring.case_ids, scoring.attempts, strict=True)):
                for measure in scoring.columns:
                    if scoring.values[measure.name][i] is None:
                        kind, reason = reason_of(scoring, i, measure.name)
                        rows.append((scoring.key, case_id, attempt, measure.name, kind, reason))
        return pd.DataFrame(rows, columns=["metric", "case_id", "attempt", "measure", "kind", "reason"])

    @property
    def documents_per_question(self) -> float | None:
        """Average number of retrieved documents per response; failed responses are left out; None without any."""
        counts = [len(r.documents) for r in self.responses if r.documents or r.error is None]
        return sum(counts) / len(counts) if counts else None

    @property
    def nameless_documents(self) -> int:
        """Number of retrieved documents without a name; document metrics cannot match them."""
        return sum(document.name is None for r in self.responses for document in r.documents)

    def to_frame(self) -> pd.DataFrame:
        """Return all measures side by side, one row per question (and attempt), columns `<table>_<measure>`."""
        frame = self._keys()
        for scoring in self.scorings:
            for measure in scoring.columns:
                frame[self.full_name(scoring, measure.name)] = _series(scoring, measure)
        return frame

    def by(
        self, by: str | Mapping[str, str], measures: str | Sequence[str] | None = None, *, small: int = SMALL
    ) -> Slices:
        """Return means, intervals and counts within each group of questions, the worst first; groups below `small` questions are marked.

        `by`: "tag", "document", "language", "is_answerable", or a key of the questions' metadata. `measures`: names such as
        "lexical_metrics_f1", or of whole metrics. For SQL conditions as groups see `slices`, which takes a stored run.
        """
        return self.sliced(by, measures, small, self.dataset.cases, _no_conditions)

    def sliced(
        self,
        by: str | Mapping[str, str],
        measures: str | Sequence[str] | None,
        small: int,
        cases: Sequence[Case],
        select: Select,
        which: str = "",
    ) -> Slices:
        """Return `by` for some of the cases (`which` says so in the caption), with a reader of SQL conditions."""
        names = [
            (self.full_name(scoring, m.name), scoring, m)
            for scoring in self.scorings
            for m in scoring.columns
            if m.is_number
        ]
        chosen = chosen_measures([(name, (s.metric, s.key, s.table)) for name, s, _ in names], measures)
        named = [(name, scoring, m) for name, scoring, m in names if name in chosen]
        return slice_scorings(named, cases, by, small, select, self._caption() + which)

    def plot(self) -> Figure:
        """Return a figure of the means with their intervals."""
        from chatbench.reports.plots import summary_plot

        rows = [(self.full_name(s, m.name), m, summary) for s, m, summary in self._summaries()]
        return summary_plot(rows, self._caption())

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table of means as HTML, as a notebook shows it; every text is escaped."""
        return html_table(*self.table())

    _repr_html_ = to_html

    def _summaries(self) -> Iterator[tuple[Scoring, Measure, Summary]]:
        for scoring in self.scorings:
            measures = {m.name: m for m in scoring.measures}
            for summary in scoring.summaries:
                yield scoring, measures[summary.measure], summary

    def _keys(self) -> pd.DataFrame:
        repeat = len(self.responses) // max(len(self.dataset), 1)
        cases = [case for case in self.dataset for _ in range(repeat)]
        columns: dict[str, Any] = {"case_id": [c.id for c in cases], "question": [c.question for c in cases]}
        if repeat > 1:
            columns["attempt"] = [r.attempt for r in self.responses]
        return pd.DataFrame(columns)

    def _frame(self, scoring: Scoring) -> pd.DataFrame:
        frame = self._keys()
        for measure in scoring.columns:
            frame[measure.name] = _series(scoring, measure)
        frame["error"] = pd.Series(list(scoring.errors), dtype=object)
        frame["missing"] = pd.Series([dict(m) if m else None for m in scoring.missing], dtype=object)
        return frame

    def _caption(self) -> str:
        return f"{self.dataset.name}: {len(self.dataset)} questions"

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown: columns, rows, caption, notes."""
        columns = ["metric", "measure", "mean", "95 % interval", "n scored", "errors", "missing"]
        rows = [
            [scoring.key, s.measure, s.mean, interval_text(s.low, s.high), s.n_scored, s.n_errors, s.n_missing]
            for scoring, _, s in self._summaries()
        ]
        return columns, rows, self._caption(), self._notes()

    def _notes(self) -> list[str]:
        per_question = self.documents_per_question
        notes = (
            []
            if per_question is None
            else [f"{per_question:.2f} documents retrieved per question, {self.nameless_documents} without a name."]
        )
        for scoring in self.scorings:
            first = scoring.error or next((e for e in scoring.errors if e), None)
            if first:
                notes.append(f"{scoring.key}: {first}")
        return notes


def _no_conditions(conditions: Mapping[str, str]) -> dict[str, list[str]]:
    raise InputError(
        f"The condition {next(iter(conditions.values()))!r} is for a stored run: slices(run, by={{'name': 'SQL condition on cases'}})."
    )


def _series(scoring: Scoring, measure: Measure) -> pd.Series[Any]:
    return pd.Series(list(scoring.values[measure.name]), dtype=_DTYPES.get(measure.type_name, "object"))
