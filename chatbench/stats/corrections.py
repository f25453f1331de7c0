"""Corrections of p values for asking several questions at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted by Holm's step-down method, in the order given.

    Calling significant what stays below the level keeps the chance of one or more false alarms in the whole family
    below that level, whatever the dependence. None (no test) stays None and does not count in the family.

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted
