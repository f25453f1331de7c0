"""One line per promise: the ratio seen, the ratio wanted, and whether it is good."""

from __future__ import annotations

HEADER = f"{'':64}{'seen':>8}  wanted"


def show(name: str, seen: float, note: str = "", at_least: float = 0, at_most: float = float("inf")) -> bool:
    """Print one line, and return whether the promise is kept."""
    wanted = f">= {at_least:g}" if at_least else f"<= {at_most:g}" if at_most < float("inf") else "-"
    good = at_least <= seen <= at_most
    print(
        f"{name:64}{seen:8.2f}  {wanted:8}{'' if wanted == '-' else 'good      ' if good else 'NOT GOOD  '}{note}",
        flush=True,
    )
    return good
