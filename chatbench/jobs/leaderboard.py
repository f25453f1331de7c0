"""Ranking the stored runs."""

from __future__ import annotations

from chatbench.core.warn import warn_user
from chatbench.jobs.history import DatabaseName
from chatbench.results.leaderboard import Leaderboard
from chatbench.store import Store


def leaderboard(
    dataset: str | None = None,
    measure: str | None = None,
    db_name: DatabaseName = None,
    connection_string: str | None = None,
) -> Leaderboard:
    """Rank all stored runs on one question set, best first, with the best and worst rank that the 95 % intervals allow.

    `dataset` is the name of a question set or its dataset_id; None: that of the newest run. Of several contents under one name
    the newest is taken, with a warning that names the others. `measure` is a name such as "lexical_metrics_f1"; None: the first
    with a direction that most runs have. The object holds all measures: `board["retrieval_ndcg"]`. The same numbers are in the
    SQL view `leaderboard`. An unknown question set raises `RunNotFoundError`, an unknown measure `UnknownMetricError`; both
    name what there is.
    """
    board = Store(db_name, connection_string=connection_string).leaderboard(dataset)
    if board.ambiguity and dataset is not None:
        warn_user(board.ambiguity)
    return Leaderboard(board, measure)
