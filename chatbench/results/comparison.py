"""`Comparison`: is the new version really better?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from chatbench.core.question_means import Floats
from chatbench.core.run import Run
from chatbench.errors import UnknownMetricError, WrongOptionError, did_you_mean
from chatbench.reports.tables import html_table, interval_text, p_text, text_table
from chatbench.results.run_pair import ComparedMeasure, RunPair, Settings
from chatbench.results.slices import SMALL, Select, Slices, chosen_measures, slice_pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison:
    """Two or more runs, question by question: differences with intervals, tests, and the questions that changed.

    Shown in a notebook it is a table with a line per measure. `frame` has all numbers, `flipped` the questions whose
    yes/no changed, `unpaired` the questions that could not be used, `by("tag")` the same comparison in groups.

    A difference is the run minus the baseline. Its interval is the symmetric bootstrap-t over questions (or clusters), for yes/no
    measures Bonett and Price's; its p value the exact McNemar test for yes/no measures, else a sign-flip permutation test; `p_adjusted`
    is corrected over all measures and runs of the comparison by Holm's method, and `verdict` rests on it. `detectable` is the smallest
    true difference that one such test alone would show four times out of five. `failed` has the runs that share nothing with the
    baseline, with the reason.
    """

    def __init__(
        self, pairs: Sequence[RunPair], settings: Settings, select: Select, failed: Mapping[str, str] | None = None
    ) -> None:
        self.pairs = tuple(pairs)
        self.settings = settings
        self.failed = dict(failed or {})
        self._select = select

    @property
    def baseline(self) -> Run:
        """The run that the others are compared with."""
        return self.pairs[0].baseline

    @property
    def frame(self) -> pd.DataFrame:
        """One row per run and measure: means, difference, interval, p values, effect, wins, losses, ties, counts, verdict."""
        rows = [_record(pair, compared) for pair, compared in self._compared()]
        whole = ("wins", "losses", "ties", "n", "n_left_out", "n_groups")
        types = {**dict.fromkeys(_NUMBERS, "Float64"), **dict.fromkeys(whole, "Int64")}
        return pd.DataFrame(rows, columns=list(_RECORD)).astype(types)

    @property
    def flipped(self) -> pd.DataFrame:
        """The questions whose yes/no changed, one row per measure and question: `a` in the baseline, `b` in the run, `change` is
        "won" or "lost".

        With several attempts per question it is the majority of them that changed; one half is no majority.
        """
        rows = []
        for pair, compared, a, b in self._columns():
            if compared.measure.type is not bool:
                continue
            for case, before, after in zip(pair.cases, a, b, strict=True):
                if min(before, after) < 0.5 < max(before, after):
                    won = (after > before) == (compared.measure.better != "lower")
                    change = "won" if won else "lost"
                    rows.append((pair.label, compared.name, case.id, case.question, before, after, change))
        columns = ["run", "name", "case_id", "question", "a", "b", "change"]
        return pd.DataFrame(rows, columns=columns).sort_values(["run", "name", "change", "case_id"], ignore_index=True)

    @property
    def unpaired(self) -> pd.DataFrame:
        """The questions that were not used, with the reason: asked in one of the runs only, or asked otherwise."""
        rows = []
        for pair in self.pairs:
            q = pair.questions
            reasons = {
                "changed: text or gold differs": q.changed,
                f"only in {pair.baseline_label}": q.only_first,
                f"only in {pair.label}": q.only_second,
            }
            rows += [(pair.label, case_id, reason) for reason, ids in reasons.items() for case_id in ids]
        return pd.DataFrame(rows, columns=["run", "case_id", "reason"])

    @property
    def not_compared(self) -> pd.DataFrame:
        """The measures that could not be compared, with the reason."""
        rows = [(p.label, name, reason) for p in self.pairs for name, reason in p.not_compared.items()]
        return pd.DataFrame(rows, columns=["run", "name", "reason"])

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the numbers."""
        several = len(self.pairs) > 1
        notes = [f"{pair.label}: {note}" if several else note for pair in self.pairs for note in pair.notes]
        return [*notes, *(f"{label} was not compared: {reason}" for label, reason in self.failed.items())]

    def questions(self, measure: str, run: str | Run | None = None) -> pd.DataFrame:
        """Return the questions of one measure with both values (`a` the baseline's) and their difference, the greatest loss first.

        `run` says which, by id or name, where several were compared with the baseline.
        """
        pair, compared, a, b = self._one(measure, run)
        columns = {
            "case_id": [case.id for case in pair.cases],
            "question": [case.question for case in pair.cases],
            "a": a,
            "b": b,
            "difference": b - a,
        }
        frame = pd.DataFrame(columns).astype(dict.fromkeys(("a", "b", "difference"), "Float64"))
        gain_last = compared.measure.better != "lower"
        return frame.sort_values("difference", ascending=gain_last, kind="stable", ignore_index=True)

    def by(
        self, by: str | Mapping[str, str], measures: str | Sequence[str] | None = None, *, small: int = SMALL
    ) -> Slices:
        """Return the comparison within each group of questions, the worst first; groups below `small` questions are marked.

        `by`: "tag", "document", "language", "is_answerable", a key of the questions' metadata, or names with SQL conditions
        on `cases`: `{"long": "length(question) > 60"}`, all as the baseline's question set has it. p values are corrected over all groups
        and measures.
        """
        names = self.measure_names(measures)
        return slice_pairs(self.pairs, self.settings, by, names, small, self._select, self._caption(), self.notes)

    def measure_names(self, measures: str | Sequence[str] | None = None) -> list[str]:
        """Return the full names of all measures, or of those named, one by one or by their metric; `UnknownMetricError` for others."""
        known = {c.name: (c.key, c.key.split("(")[0]) for _, c in self._compared()}
        return chosen_measures([*known.items(), *((name, ()) for p in self.pairs for name in p.not_compared)], measures)

    def worse(self, measures: Sequence[str]) -> list[str]:
        """Return a sentence for each of these measures that is significantly worse, or could not be compared, in any run."""
        found = [f"{label} could not be compared: {reason}" for label, reason in self.failed.items() if measures]
        for pair in self.pairs:
            compared = {m.name: m for m in pair.measures}
            for name in measures:
                if name in compared and compared[name].verdict == "worse":
                    r = compared[name].result
                    found.append(
                        f"{name} is worse in {pair.label}: {r.difference:+.4f} ({interval_text(r.low, r.high)}), "
                        f"p = {p_text(compared[name].p_adjusted)} after correction"
                    )
                elif name not in compared or compared[name].verdict == "not comparable":
                    reason = pair.not_compared.get(name, "no question was scored in both")
                    found.append(f"{name} could not be compared in {pair.label}: {reason}")
        return found

    def plot(self) -> Figure:
        """Return a figure of the differences with their intervals, a line per measure."""
        from chatbench.reports.comparison_plots import DifferenceLine, difference_plot

        several = len(self.pairs) > 1
        lines = [
            DifferenceLine(
                f"{c.name} ({pair.label})" if several else c.name,
                c.measure,
                c.result.difference,
                c.result.low,
                c.result.high,
                c.result.n,
                c.verdict,
            )
            for pair, c in self._compared()
            if c.result.difference is not None
        ]
        return difference_plot(lines, self._caption())

    def scatter(self, measure: str, run: str | Run | None = None) -> Figure:
        """Return a figure of one measure with a point per question: the baseline across, the other run upwards."""
        from chatbench.reports.comparison_plots import scatter_plot

        pair, compared, a, b = self._one(measure, run)
        return scatter_plot(a, b, pair.baseline_label, pair.label, compared.name, compared.measure)

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown: columns, rows, caption, notes."""
        several = len(self.pairs) > 1
        first = self.pairs[0]
        columns = ["measure", first.baseline_label, "run " if several else first.label, "difference"]
        columns += [
            f"{100 * self.settings.confidence:g} % interval",
            "p",
            "p (Holm)",
            "effect",
            "won / lost / tied",
            "n",
        ]
        columns = [*(["run"] if several else []), *columns, "detectable", "verdict"]
        rows = []
        for pair, compared in self._compared():
            r = compared.result
            row = [compared.name, r.mean_a, r.mean_b, r.difference, interval_text(r.low, r.high), p_text(r.p)]
            row += [p_text(compared.p_adjusted), r.effect, " / ".join(map(str, compared.wins_losses_ties)), r.n]
            row += [r.detectable, compared.verdict]
            rows.append([*([pair.label] if several else []), *row])
        return columns, rows, self._caption(), self.notes

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table as HTML, as a notebook shows it; every text is escaped."""
        return html_table(*self.table())

    _repr_html_ = to_html

    def _caption(self) -> str:
        others = ", ".join(pair.label for pair in self.pairs)
        where = f", where {self.settings.where}" if self.settings.where else ""
        unit = f"clusters by {self.settings.cluster}" if self.settings.cluster else "questions"
        kind = f", {self.settings.interval} intervals" if self.settings.interval != "bootstrap-t" else ""
        return f"{others} against {self.pairs[0].baseline_label} ({unit} as units{where}{kind})"

    def _compared(self) -> Iterator[tuple[RunPair, ComparedMeasure]]:
        return ((pair, compared) for pair in self.pairs for compared in pair.measures)

    def _columns(self) -> Iterator[tuple[RunPair, ComparedMeasure, Floats, Floats]]:
        for pair in self.pairs:
            for place, compared in enumerate(pair.measures):
                yield pair, compared, pair.a[:, place], pair.b[:, place]

    def _one(self, measure: str, run: str | Run | None) -> tuple[RunPair, ComparedMeasure, Floats, Floats]:
        wanted = run.run_id if isinstance(run, Run) else run
        found = [
            one
            for one in self._columns()
            if one[1].name == measure and wanted in (None, one[0].run.run_id, one[0].run.name, one[0].label)
        ]
        if len(found) == 1:
            return found[0]
        labels = ", ".join(repr(pair.label) for pair in self.pairs)
        if found:
            raise WrongOptionError(f"{measure} was compared in {len(found)} runs; name one by run=: {labels}.")
        names = list(dict.fromkeys(compared.name for _, compared in self._compared()))
        raise UnknownMetricError(
            f"No measure {measure!r}{'' if run is None else f' of run {wanted!r}'} was compared.{did_you_mean(str(measure), names)} "
            f"There are: {', '.join(names)}; runs: {labels}."
        )


_NUMBERS = ("mean_a", "mean_b", "difference", "low", "high", "p", "p_adjusted", "effect", "detectable")
_RECORD = (
    *("baseline", "run", "run_id", "name", "metric", "measure", "mean_a", "mean_b", "difference", "low", "high", "p"),
    *("p_adjusted", "test", "effect", "wins", "losses", "ties", "n", "n_left_out", "n_groups", "detectable"),
    *("better", "verdict"),
)


def _record(pair: RunPair, compared: ComparedMeasure) -> dict[str, Any]:
    wins, losses, ties = compared.wins_losses_ties
    r = compared.result
    same = ("mean_a", "mean_b", "difference", "low", "high", "p", "test", "effect", "n", "n_groups", "detectable")
    return {
        **{name: getattr(r, name) for name in same},
        "baseline": pair.baseline_label,
        "run": pair.label,
        "run_id": pair.run.run_id,
        "name": compared.name,
        "metric": compared.key,
        "measure": compared.measure.name,
        "p_adjusted": compared.p_adjusted,
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "n_left_out": compared.n_left_out,
        "better": compared.measure.better,
        "verdict": compared.verdict,
    }
