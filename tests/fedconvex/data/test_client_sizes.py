"""Numbers of samples per client: they add up, keep their minimum, and follow the stated distributions."""

from fractions import Fraction

import numpy as np
import pytest
from data_checks import is_variance, scatter
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.data import lognormal_sizes, power_law_sizes
from fedconvex.data.client_sizes import apportion

SEEDS = st.integers(0, 2**64)
CLIENTS = st.integers(1, 40)


@given(m=CLIENTS, extra=st.integers(0, 5000), sigma=st.floats(0, 1e300), seed=SEEDS)
def test_lognormal_sizes_are_whole_positive_and_sum_exactly(m, extra, sigma, seed) -> None:
    sizes = lognormal_sizes(m, m + extra, sigma, seed)
    assert (sizes.dtype, sizes.shape, sizes.sum()) == (np.int64, (m,), m + extra)
    assert sizes.min() >= 1
    assert np.array_equal(sizes, lognormal_sizes(m, m + extra, sigma, seed))


@given(
    m=CLIENTS,
    minimum=st.integers(1, 20),
    extra=st.integers(0, 5000),
    exponent=st.floats(1, 1e300, exclude_min=True),
    seed=SEEDS,
)
def test_power_law_sizes_keep_their_minimum_and_sum_exactly(m, minimum, extra, exponent, seed) -> None:
    total = m * minimum + extra
    sizes = power_law_sizes(m, total, exponent, minimum, seed)
    assert (sizes.dtype, sizes.shape, sizes.sum()) == (np.int64, (m,), total)
    assert sizes.min() >= minimum


@st.composite
def apportionments(draw) -> tuple[int, np.ndarray, int, np.ndarray]:
    m, lower = draw(st.integers(1, 8)), draw(st.integers(0, 4))
    upper = np.array(draw(st.lists(st.integers(lower, 30), min_size=m, max_size=m)))
    shares = np.array(draw(st.lists(st.integers(1, 50), min_size=m, max_size=m)))
    total = draw(st.integers(lower * m, int(upper.sum())))
    return total, shares / shares.max(), lower, upper


def is_in_proportion(whole: np.ndarray, shares: np.ndarray, lower: int, upper: np.ndarray) -> bool:
    """Whether one t exists with |n_k − clip(t·share_k, lower_k, upper_k)| < 1 for all k: intervals that must meet."""
    exact = [Fraction(float(share)) for share in shares]
    inner = [(int(n), s) for n, s, u in zip(whole, exact, upper, strict=True) if lower < n < u]
    bottom = [(n - 1) / s for n, s in inner] + [
        (u - 1) / s for n, s, u in zip(whole, exact, upper.tolist(), strict=True) if n == u > lower
    ]
    top = [(n + 1) / s for n, s in inner] + [
        (lower + 1) / s for n, s, u in zip(whole, exact, upper.tolist(), strict=True) if n == lower < u
    ]
    return not bottom or not top or max(bottom) < min(top) + Fraction(1, 10**9)


@given(case=apportionments())
def test_apportioned_numbers_are_in_proportion_within_their_bounds(case) -> None:
    total, shares, lower, upper = case
    whole = apportion(total, shares, lower, upper)
    assert whole.sum() == total
    assert ((lower <= whole) & (whole <= upper)).all()
    assert is_in_proportion(whole, shares, lower, upper)


def test_numbers_out_of_proportion_are_noticed() -> None:
    no_limit = np.full(3, 100)
    assert is_in_proportion(np.array([5, 3, 2]), np.array([1, 0.6, 0.4]), 1, no_limit)
    assert not is_in_proportion(np.array([4, 2, 4]), np.array([1, 0.6, 0.4]), 1, no_limit)


def test_largest_remainders_by_hand() -> None:
    # quotas 10/21·(10, 7, 4) = 4.76, 3.33, 1.90: the rests .90 and .76 are rounded up
    assert apportion(10, np.array([1.0, 0.7, 0.4]), 1).tolist() == [5, 3, 2]
    # the smallest share is raised to 3; 9 are left for 10 : 7, quotas 5.29 and 3.71
    assert apportion(12, np.array([1.0, 0.7, 0.1]), 3).tolist() == [5, 4, 3]
    assert apportion(9, np.ones(3), 1, np.array([9, 2, 9])).sum() == 9
    assert apportion(9, np.ones(3), 1, np.array([9, 2, 9]))[1] == 2


def test_no_spread_gives_equal_sizes() -> None:
    assert lognormal_sizes(7, 72, 0).tolist() == [11, 11, 10, 10, 10, 10, 10]


def test_sigma_is_the_deviation_of_the_logarithm() -> None:
    sizes = lognormal_sizes(2000, 10**9, sigma=0.3, seed=1)
    assert is_variance(scatter(np.log(sizes)), 1999, 0.3**2)
    assert not is_variance(scatter(np.log(sizes)), 1999, 0.3)  # as if sigma were the variance


def test_exponent_is_that_of_the_tail() -> None:
    # with density ∝ w^(−a), log w is exponential with mean 1/(a − 1) above its least value
    def fits(a: float) -> bool:
        sizes = power_law_sizes(4000, 10**12, exponent=3, seed=2)
        logs = np.log(sizes / sizes.min())
        return abs(logs.mean() * (a - 1) - 1) < 5 / 4000**0.5

    assert fits(3)
    assert not fits(2)
    assert not fits(4)


def test_the_default_law_has_the_spread_of_fedprox_mnist() -> None:
    deviations = [power_law_sizes(1000, 69035, seed=seed).std() for seed in range(101)]
    assert 0.9 * 106 < np.median(deviations) < 1.1 * 106  # Table 1 of FedProx
    equal = [lognormal_sizes(1000, 69035, 0.3, seed=seed).std() for seed in range(9)]
    assert not 0.9 * 106 < np.median(equal) < 1.1 * 106


@pytest.mark.parametrize(
    "law", [lambda seed: lognormal_sizes(9, 500, 1, seed), lambda s: power_law_sizes(9, 500, seed=s)]
)
def test_seeds_differ(law) -> None:
    assert not np.array_equal(law(0), law(1))
