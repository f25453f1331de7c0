"""`RunResult`: a stored run with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from chatbench.core.dataset import Dataset
from chatbench.core.response import Response
from chatbench.core.run import Run
from chatbench.results.scores import Scores


@dataclass(frozen=True)
class RunResult:
    """A run as it was stored: its identity, questions, responses and current scores."""

    run: Run
    dataset: Dataset
    responses: Sequence[Response]
    scores: Scores

    @property
    def answers(self) -> list[str | None]:
        """The answers in the order of the questions."""
        return [r.answer for r in self.responses]

    @property
    def summary(self) -> pd.DataFrame:
        """The means of the current scores (see `Scores.summary`)."""
        return self.scores.summary

    def __repr__(self) -> str:
        return f"{self.run!r}\n{self.scores!r}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div><b>{escape(self.run.name)}</b> ({escape(self.run.run_id)})</div>{self.scores._repr_html_()}"
