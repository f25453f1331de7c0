"""Spreads of two systems against the statistics module."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from chatbench.stats.spread import Spread, differing_spreads, median_spread, spread_if_independent, spread_of_pairs

RNG = np.random.default_rng(1)
A, B = RNG.uniform(size=(2, 30))
YES, NO = RNG.integers(0, 2, size=(2, 30)).astype(float)


def test_pairs() -> None:
    found = spread_of_pairs(A, B)
    assert found is not None
    assert found.variance == pytest.approx(statistics.variance((B - A).tolist()), rel=1e-12)
    found = spread_of_pairs(YES, NO)
    assert found is not None
    assert found.discordant == sum(x != y for x, y in zip(YES, NO, strict=True)) / 30


def test_independent_systems() -> None:
    found = spread_if_independent(YES)
    assert found is not None
    assert found.variance == pytest.approx(2 * statistics.variance(YES.tolist()), rel=1e-12)
    assert found.discordant == pytest.approx(2 * YES.mean() * (1 - YES.mean()), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1000.0, 1e200])
def test_rounding_is_no_spread(scale: float) -> None:
    shifted = A + 0.1
    assert np.ptp(shifted - A) > 0
    assert spread_of_pairs(A * scale, shifted * scale) is None
    assert spread_if_independent(np.array([0.1 + 0.2, 0.3] * 5) * scale) is None
    assert spread_of_pairs(A * scale, B * scale) is not None


def test_all_zero_has_no_spread() -> None:
    assert spread_of_pairs(np.zeros(3), np.zeros(3)) is None
    assert spread_if_independent(np.zeros(3)) is None


def test_variance_beyond_floats_is_infinite() -> None:
    found = spread_of_pairs(A * 1e200, B * 1e200)
    assert found is not None
    assert found.variance == np.inf


def test_medians_of_what_differs() -> None:
    spreads = [Spread(0.04, 0.1), Spread(1e-32, 0.9), Spread(0.01, 0.3), Spread(0.09, 0.2)]
    varying = differing_spreads(spreads, 1.0)
    assert varying == [spreads[0], *spreads[2:]]
    assert median_spread(varying) == Spread(0.04, 0.2)
    assert differing_spreads(spreads, 1e14) == []
