"""`Comparison`: is the new version really better?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chatbench.core.question_means import Floats
from chatbench.core.run import Run
from chatbench.errors import UnknownMetricError, did_you_mean
from chatbench.reports.tables import html_table, interval_text, p_text, text_table
from chatbench.results.run_pair import ComparedMeasure, RunPair, Settings
from chatbench.results.slices import SMALL, Slices, chosen_measures, slice_pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison:
    """Two or more runs, question by question: differences with intervals, tests, and the questions that changed.

    Shown in a notebook it is a table with a line per measure. `frame` has all numbers, `flipped` the questions whose
    yes/no changed, `unpaired` the questions that could not be used, `by("tag")` the same comparison in groups.

    A difference is the run minus the baseline. Its interval is the symmetric bootstrap-t over questions (or clusters), for yes/no
    measures Bonett and Price's; its p value the exact McNemar test for yes/no measures, else a sign-flip permutation test; `p_adjusted`
    is corrected over all measures and runs of the comparison by Holm's method, and `verdict` rests on it.
    """

    def __init__(self, pairs: Sequence[RunPair], settings: Settings, select: Callable[[str], Collection[str]]) -> None:
        self.pairs = tuple(pairs)
        self.settings = settings
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
        """The questions whose yes/no changed, one row per measure and question: `change` is "won" or "lost".

        With several attempts per question it is the majority of them that changed.
        """
        rows = []
        for pair, compared, a, b in self._columns():
            if compared.measure.type is not bool:
                continue
            for case, before, after in zip(pair.cases, a, b, strict=True):
                if (before > 0.5) != (after > 0.5) and not np.isnan(before + after):
                    won = (after > before) == (compared.measure.better != "lower")
                    change = "won" if won else "lost"
                    rows.append((pair.run.name, compared.name, case.id, case.question, before, after, change))
        columns = ["run", "name", "case_id", "question", "before", "after", "change"]
        return pd.DataFrame(rows, columns=columns).sort_values(["run", "name", "change", "case_id"], ignore_index=True)

    @property
    def unpaired(self) -> pd.DataFrame:
        """The questions that were not used, with the reason: asked in one of the runs only, or asked otherwise."""
        rows = []
        for pair in self.pairs:
            q = pair.questions
            reasons = {
                "changed: text or gold differs": q.changed,
                f"only in {pair.baseline.name}": q.only_first,
                f"only in {pair.run.name}": q.only_second,
            }
            rows += [(pair.run.name, case_id, reason) for reason, ids in reasons.items() for case_id in ids]
        return pd.DataFrame(rows, columns=["run", "case_id", "reason"])

    @property
    def not_compared(self) -> pd.DataFrame:
        """The measures that could not be compared, with the reason."""
        rows = [(p.run.name, name, reason) for p in self.pairs for name, reason in p.not_compared.items()]
        return pd.DataFrame(rows, columns=["run", "name", "reason"])

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the numbers."""
        several = len(self.pairs) > 1
        return [f"{pair.run.name}: {note}" if several else note for pair in self.pairs for note in pair.notes]

    def questions(self, measure: str, run: str | Run | None = None) -> pd.DataFrame:
        """Return the questions of one measure with both values and their difference, the greatest loss first."""
        pair, compared, a, b = self._one(measure, run)
        columns = {
            "case_id": [case.id for case in pair.cases],
            "question": [case.question for case in pair.cases],
            "before": a,
            "after": b,
            "difference": b - a,
        }
        frame = pd.DataFrame(columns).astype(dict.fromkeys(("before", "after", "difference"), "Float64"))
        gain_last = compared.measure.better != "lower"
        return frame.sort_values("difference", ascending=gain_last, kind="stable", ignore_index=True)

    def by(
        self, by: str | Mapping[str, str], measures: str | Sequence[str] | None = None, *, small: int = SMALL
    ) -> Slices:
        """Return the comparison within each group of questions, the worst first; groups below `small` questions are marked.

        `by`: "tag", "document", "language", "is_answerable", a key of the questions' metadata, or names with SQL conditions
        on `cases`: `{"long": "length(question) > 60"}`. p values are corrected over all groups and measures.
        """
        return slice_pairs(self.pairs, self.settings, by, self.measure_names(measures), small, self._select)

    def measure_names(self, measures: str | Sequence[str] | None = None) -> list[str]:
        """Return the full names of all measures, or of those named, one by one or by their metric; `UnknownMetricError` for others."""
        known = {c.name: (c.key, c.key.split("(")[0]) for _, c in self._compared()}
        return chosen_measures([*known.items(), *((name, ()) for p in self.pairs for name in p.not_compared)], measures)

    def worse(self, measures: Sequence[str]) -> list[str]:
        """Return a sentence for each of these measures that is significantly worse, or could not be compared, in any run."""
        found = []
        for pair in self.pairs:
            compared = {m.name: m for m in pair.measures}
            for name in measures:
                if name in compared and compared[name].verdict == "worse":
                    r = compared[name].result
                    found.append(
                        f"{name} is worse in {pair.run.name}: {r.difference:+.4f} ({interval_text(r.low, r.high)}), "
                        f"p = {p_text(compared[name].p_adjusted)} after correction"
                    )
                elif name not in compared or compared[name].verdict == "not comparable":
                    reason = pair.not_compared.get(name, "no question was scored in both")
                    found.append(f"{name} could not be compared in {pair.run.name}: {reason}")
        return found

    def plot(self) -> Figure:
        """Return a figure of the differences with their intervals, a line per measure."""
        from chatbench.reports.comparison_plots import DifferenceLine, difference_plot

        several = len(self.pairs) > 1
        lines = [
            DifferenceLine(
                f"{c.name} ({pair.run.name})" if several else c.name,
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
        return scatter_plot(a, b, pair.baseline.name, pair.run.name, compared.name, compared.measure)

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown: columns, rows, caption, notes."""
        several = len(self.pairs) > 1
        columns = ["measure", self.baseline.name, "run" if several else self.pairs[0].run.name, "difference"]
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
            rows.append([*([pair.run.name] if several else []), *row])
        return columns, rows, self._caption(), self.notes

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table as HTML, as a notebook shows it; every text is escaped."""
        return html_table(*self.table())

    _repr_html_ = to_html

    def _caption(self) -> str:
        others = ", ".join(pair.run.name for pair in self.pairs)
        where = f", where {self.settings.where}" if self.settings.where else ""
        unit = f"clusters by {self.settings.cluster}" if self.settings.cluster else "questions"
        kind = f", {self.settings.interval} intervals" if self.settings.interval != "bootstrap-t" else ""
        return f"{others} against {self.baseline.name} ({unit} as units{where}{kind})"

    def _compared(self) -> Iterator[tuple[RunPair, ComparedMeasure]]:
        return ((pair, compared) for pair in self.pairs for compared in pair.measures)

    def _columns(self) -> Iterator[tuple[RunPair, ComparedMeasure, Floats, Floats]]:
        for pair in self.pairs:
            for place, compared in enumerate(pair.measures):
                yield pair, compared, pair.a[:, place], pair.b[:, place]

    def _one(self, measure: str, run: str | Run | None) -> tuple[RunPair, ComparedMeasure, Floats, Floats]:
        wanted = run.run_id if isinstance(run, Run) else run
        for found in self._columns():
            pair, compared = found[:2]
            if measure == compared.name and wanted in (None, pair.run.run_id, pair.run.name):
                return found
        names = list(dict.fromkeys(compared.name for _, compared in self._compared()))
        runs = ", ".join(pair.run.name for pair in self.pairs)
        raise UnknownMetricError(
            f"No measure {measure!r}{'' if run is None else f' of run {wanted!r}'} was compared.{did_you_mean(str(measure), names)} "
            f"There are: {', '.join(names)}; runs: {runs}."
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
        "baseline": pair.baseline.name,
        "run": pair.run.name,
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
