"""`Power`: what a question set can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chatbench.core.run import Run
from chatbench.reports.tables import html_table, text_table
from chatbench.stats.power import (
    flips_detectable,
    flips_needed,
    flips_power,
    mcnemar_detectable,
    mcnemar_pairs_needed,
    mcnemar_power,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Power:
    """How many questions a difference needs, and the smallest difference that the questions of a run show.

    `n`: questions with a score (with `against`: in both runs). `sd`: standard deviation of the questions' differences between
    two runs, and `basis`: where it comes from. `discordant`: share of questions on which two runs disagree, for yes/no measures
    with one attempt per question, which are tested by McNemar's exact test; None for others. These `compare_runs` tests by flips of
    the signs, and the power of the paired t test over question means is an approximation of it, rough below 30 questions.
    `power` and `level` are what is asked for; `widest` is the largest difference there can be.
    """

    run: Run
    measure: str
    n: int
    sd: float
    discordant: float | None
    basis: str
    difference: float | None = None
    power: float = 0.8
    level: float = 0.05
    widest: float | None = None

    @property
    def test(self) -> str:
        """The test whose power is given; for the paired t test `compare_runs` takes sign flips, whose power is about the same."""
        return "paired t test" if self.discordant is None else "McNemar's exact test"

    @property
    def detectable(self) -> float | None:
        """The smallest difference that `n` questions show with this power; None where they show none."""
        if self.discordant is None:
            error = np.array([self.sd / self.n**0.5])
            (found,) = flips_detectable(error, np.ones(self.n), self.power, self.level)
        else:
            found = mcnemar_detectable(self.discordant, self.n, self.power, self.level)
        return None if found is None or (self.widest is not None and found > self.widest) else found

    @property
    def needed(self) -> int | None:
        """The number of questions that show `difference` with this power; None without one, and where a billion are too few."""
        if self.difference is None:
            return None
        if self.discordant is None:
            return flips_needed(self.difference, self.sd, self.power, self.level)
        return mcnemar_pairs_needed(self.difference, self.discordant, self.power, self.level)

    def power_at(self, n: int, difference: float) -> float:
        """Return the chance (0..1) that n questions show this difference."""
        if self.discordant is None:
            return flips_power(difference, self.sd, n, self.level)
        return mcnemar_power(difference, self.discordant, n, self.level)

    @property
    def frame(self) -> pd.DataFrame:
        """Power for a few numbers of questions and differences: difference, n_questions, power; a row for each pair."""
        needed = self.needed
        sizes = {max(2, round(self.n * factor)) for factor in (0.5, 1, 2, 4)} | ({needed} if needed else set())
        rows = [(d, n, self.power_at(n, d)) for d in self.differences() for n in sorted(sizes)]
        return pd.DataFrame(rows, columns=["difference", "n_questions", "power"])

    def differences(self) -> list[float]:
        """Return half of the difference in question, itself and twice of it, as far as they are possible."""
        centre = self.difference or self.detectable or self.widest or self.sd
        possible = [abs(centre) * factor for factor in (0.5, 1, 2)]
        return [d for d in possible if self.widest is None or d <= self.widest]

    def plot(self) -> Figure:
        """Return a figure of the power over the number of questions, with this set's number marked."""
        from chatbench.reports.power_plots import power_plot

        most = max(8 * self.n, min(2 * (self.needed or 0), 1000 * self.n), 100)
        sizes = sorted({*np.geomspace(2, most, 50).round().astype(int).tolist(), self.n})
        curves = {d: [self.power_at(n, d) for n in sizes] for d in self.differences()}
        return power_plot(sizes, curves, self.n, self.power, f"{self.measure} of {self.run.name}: {self.test}")

    def table(self) -> tuple[list[str], list[list[Any]], str, list[str]]:
        """Return what is shown: columns, rows, caption, notes."""
        wide = self.frame.pivot(index="n_questions", columns="difference", values="power")
        columns = ["questions", *(f"power for {d:.3g}" for d in wide.columns)]
        rows = [[n, *(float(p) for p in row)] for n, row in zip(wide.index.tolist(), wide.to_numpy(), strict=True)]
        caption = f"{self.measure} of {self.run.name!r} on {self.run.dataset}: {self.n} questions"
        return columns, rows, caption, self._notes()

    def __repr__(self) -> str:
        return text_table(*self.table())

    def to_html(self) -> str:
        """Return the table as HTML, as a notebook shows it; every text is escaped."""
        return html_table(*self.table())

    _repr_html_ = to_html

    def _notes(self) -> list[str]:
        with_power = f"with {_percent(self.power)} power at the {_percent(self.level)} level ({self.test})"
        seen = "no difference that is possible" if self.detectable is None else f"a difference of {self.detectable:.3g}"
        notes = [f"{self.n} questions show {seen} {with_power}."]
        if self.difference is not None:
            here = _percent(self.power_at(self.n, self.difference))
            needed = "more questions than a billion" if self.needed is None else f"{self.needed} questions"
            notes.append(f"A difference of {self.difference:.3g} needs {needed}; {self.n} show it with {here} power.")
        spread = f"standard deviation {self.sd:.3g}"
        if self.discordant is not None:
            spread = f"unequal on {self.discordant:.3g} of the questions"
        notes.append(f"Differences between two runs: {spread}, {self.basis}.")
        if self.discordant is None:
            notes.append(
                "compare_runs tests by sign flips; the t test's power approximates theirs (rough below 30 questions)."
            )
        return notes


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
