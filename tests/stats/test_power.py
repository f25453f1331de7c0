"""Power against statsmodels' TTestPower and brute force over scipy.stats.binom; Holm against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from chatbench.stats.corrections import holm
from chatbench.stats.power import (
    detectable_difference,
    flips_level,
    flips_needed,
    flips_power,
    mcnemar_detectable,
    mcnemar_pairs_needed,
    mcnemar_power,
    pairs_needed,
    power_of,
)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 100, 1000, 64_252])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0, 2.8, 5.0])
def test_power_equals_statsmodels(n: int, shift: float) -> None:
    expected = TTestPower().power(shift / np.sqrt(n), n, 0.05)
    assert power_of(-3 * shift / np.sqrt(n), 3.0, n) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n", [5, 20, 100, 1000])
def test_detectable_difference_equals_statsmodels(n: int) -> None:
    expected = TTestPower().solve_power(nobs=n, alpha=0.01, power=0.9)
    assert detectable_difference(2.0, n, power=0.9, level=0.01) == pytest.approx(2 * expected, rel=1e-4)


@pytest.mark.parametrize("effect", [1e-4, 0.1, 0.3, 1.0])
def test_pairs_needed_equal_statsmodels(effect: float) -> None:
    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert pairs_needed(effect, 1.0) == pytest.approx(np.ceil(expected), rel=1e-4)


def brute_force(difference: float, discordant: float, n: int, level: float) -> float:
    share = (1 + difference / discordant) / 2
    power = 0.0
    for k in range(1, n + 1):
        x = np.arange(k + 1)
        rejected = 2 * stats.binom.cdf(np.minimum(x, k - x), k, 0.5) <= level
        power += stats.binom.pmf(k, n, discordant) * stats.binom.pmf(x, k, share)[rejected].sum()
    return power


@pytest.mark.parametrize("n", [1, 5, 6, 20, 100, 300])
@pytest.mark.parametrize(("difference", "discordant"), [(0.0, 0.4), (0.1, 0.3), (-0.1, 0.3), (0.25, 0.25), (1.0, 1.0)])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_mcnemar_power_equals_brute_force(n: int, difference: float, discordant: float, level: float) -> None:
    assert mcnemar_power(difference, discordant, n, level) == pytest.approx(
        brute_force(difference, discordant, n, level), abs=1e-10
    )


def test_mcnemar_power_is_even_where_the_sum_ends() -> None:
    assert mcnemar_power(0.02, 0.25, 5000) == pytest.approx(mcnemar_power(0.02, 0.25, 5001), abs=0.01)


def test_mcnemar_detectable_and_pairs_needed_turn_the_power_around() -> None:
    smallest = mcnemar_detectable(0.3, 200)
    assert smallest is not None
    assert brute_force(smallest, 0.3, 200, 0.05) == pytest.approx(0.8, abs=1e-3)
    n = mcnemar_pairs_needed(0.1, 0.3)
    assert n is not None
    assert brute_force(0.1, 0.3, n, 0.05) >= 0.8 > brute_force(0.1, 0.3, n // 2, 0.05)


def test_what_cannot_be_shown_is_none() -> None:
    assert mcnemar_detectable(0.5, 5) is None
    assert mcnemar_detectable(0.0, 6) == pytest.approx(0.8 ** (1 / 6), abs=1e-4)  # all six must differ
    assert power_of(0.1, 0.0, 10) is None
    assert detectable_difference(1.0, 1) is None
    assert pairs_needed(0.0, 1.0) is None
    assert pairs_needed(1e-5, 1.0) is None
    assert mcnemar_pairs_needed(0.0, 0.3) is None


@pytest.mark.parametrize("family", [[0.01, 0.04, 0.03, 0.005], [0.2], [0.5, 0.5, 0.6], [0.0, 1.0, 0.02, 0.02]])
def test_holm_equals_statsmodels(family: list[float]) -> None:
    assert holm(family) == pytest.approx(list(multipletests(family, method="holm")[1]), rel=1e-12)


def test_holm_leaves_out_what_was_not_tested() -> None:
    assert holm([None, 0.01, None, 0.04]) == [None, 0.02, None, 0.04]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("n", "level"), [(1, 0.05), (5, 0.05), (5, 0.0625), (6, 0.05), (7, 0.05), (12, 0.01), (20, 1e-9)]
)
def test_the_level_that_flips_reach_is_the_largest_p_below_it(n: int, level: float) -> None:
    possible = np.arange(1, 2 ** (n - 1) + 1) / 2 ** (n - 1)
    assert flips_level(n, level) == possible[possible < level].max(initial=0.0)


def test_power_of_flips_is_that_of_the_t_test_of_statsmodels_at_the_level_they_reach() -> None:
    for n, level in ((8, 6 / 128), (200, 0.05)):
        assert flips_power(0.4, 0.5, n) == pytest.approx(TTestPower().power(0.8, n, level), abs=1e-4)
    needed = TTestPower().solve_power(effect_size=0.2, alpha=0.05, power=0.8)
    assert flips_needed(0.1, 0.5) == np.ceil(needed)
    assert flips_needed(1.0, 0.01) == 6
    assert flips_power(1.0, 0.01, 5) == 0.0
    assert flips_needed(0.0, 1.0) is None
