"""FedDyn's synthetic data against the paper's recipe: shapes, distributions and seeds."""

import numpy as np
import pytest
from data_checks import is_argmax_of_some_linear_model, is_variance, pooled, same, scatter

from fedconvex.data import feddyn_synthetic

SMALL = {"clients": 5, "dimension": 2, "classes": 3, "average": 40, "seed": 4}


def shares_one_model(data) -> bool:
    return is_argmax_of_some_linear_model(*pooled(data), 3)


def has_own_centres(data) -> bool:
    """Whether some client's mean is not N(0, Σ/n)."""
    return not all(
        is_variance(float((x.mean(axis=0) ** 2 * len(x) * np.array([1, 2**1.2])).sum()), 2, 1) for x in data.features
    )


@pytest.mark.parametrize(
    ("options", "one_model", "own_centres", "equal_sizes"),
    [
        ({}, True, False, True),
        ({"optima": 1}, False, False, True),
        ({"optima": 0}, False, False, True),  # γ1 = 0 is not off: θ_k ~ N(0, 1), every client its own
        ({"features": 1}, True, True, True),
        ({"features": 0}, True, True, True),
        ({"sizes": 1}, True, False, False),
        ({"sizes": 0}, True, False, True),
        ({"optima": 1, "features": 1, "sizes": 1}, False, True, False),
    ],
)
def test_each_kind_of_heterogeneity_is_there_only_when_it_is_on(options, one_model, own_centres, equal_sizes) -> None:
    data = feddyn_synthetic(**SMALL, **options)
    assert shares_one_model(data) == one_model
    assert has_own_centres(data) == own_centres
    assert (set(data.sizes.tolist()) == {40}) == equal_sizes
    for x, y in zip(data.features, data.targets, strict=True):
        assert is_argmax_of_some_linear_model(x, y, 3)


def test_a_kind_changes_nothing_about_the_others() -> None:
    plain = feddyn_synthetic(**SMALL)
    models = feddyn_synthetic(**SMALL, optima=1)
    assert all(np.array_equal(x, y) for x, y in zip(models.features, plain.features, strict=True))
    assert not same(models, plain)
    for x, y in zip(feddyn_synthetic(**SMALL, features=1).features, plain.features, strict=True):
        assert np.allclose(x - y, (x - y)[0], atol=1e-12)  # moved by ν_k, no more
    for x, y in zip(feddyn_synthetic(**SMALL, sizes=1).features, plain.features, strict=True):
        rows = min(len(x), len(y))
        assert np.array_equal(x[:rows], y[:rows])


def test_gamma1_changes_no_label() -> None:
    assert same(feddyn_synthetic(optima=0), feddyn_synthetic(optima=9))
    assert not same(feddyn_synthetic(optima=0), feddyn_synthetic())


def test_defaults_are_those_of_the_paper() -> None:
    data = feddyn_synthetic()
    assert (data.num_clients, data.num_features, data.classes.tolist()) == (20, 30, [0, 1, 2, 3, 4])
    assert set(data.sizes.tolist()) == {200}
    assert data.problem().dim == 5 * 31


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("gamma", [0, 0.25, 4])
def test_gamma2_is_the_variance_or_the_deviation_of_the_centres(gamma: float) -> None:
    def fits(reading: str, variance: float) -> bool:
        # the mean of a client's numbers is β_k + N(0, 1/p + Σ_j j^(−1.2)/(p² n))
        data = feddyn_synthetic(features=gamma, clients=800, dimension=4, average=10, reading=reading)
        noise = 1 / 4 + sum(j**-1.2 for j in range(1, 5)) / 16 / 10
        return is_variance(scatter(np.array([x.mean() for x in data.features])), 799, variance + noise)

    assert fits("paper", gamma)
    assert fits("released", gamma**2)
    if gamma:
        assert not fits("paper", gamma**2)
        assert not fits("released", gamma)


@pytest.mark.beyond_core  # takes seconds
def test_gamma3_is_the_variance_or_the_deviation_of_the_logarithm_of_sizes() -> None:
    def sizes(reading: str) -> np.ndarray:
        return feddyn_synthetic(sizes=0.25, clients=4000, dimension=1, classes=2, average=300, reading=reading).sizes

    paper, released = sizes("paper"), sizes("released")
    assert is_variance(scatter(np.log(paper)), 3999, 0.25)
    assert is_variance(scatter(np.log(released)), 3999, 0.25**2)
    assert not is_variance(scatter(np.log(paper)), 3999, 0.25**2)
    assert not is_variance(scatter(np.log(released)), 3999, 0.25)

    def has_mean(numbers: np.ndarray, mean: float) -> bool:
        return bool(abs(numbers.mean() - mean) < 5 * numbers.std() / len(numbers) ** 0.5 + 0.02)

    assert has_mean(paper, 300)
    assert has_mean(released, 300 * np.exp(0.25**2 / 2) - 0.5)  # rounded down
    assert not has_mean(released, 300)
    assert has_mean(np.log(released + 0.5), np.log(300))
    assert not has_mean(np.log(paper), np.log(300))


def test_a_seed_gives_the_same_data_whatever_the_number_of_clients() -> None:
    on = {"optima": 1, "features": 1, "sizes": 1}
    for options in ({}, on):
        data = feddyn_synthetic(**SMALL, **options)
        assert same(data, feddyn_synthetic(**SMALL, **options))
        assert same(data, feddyn_synthetic(**{**SMALL, "clients": 7}, **options), clients=5)
        assert not same(data, feddyn_synthetic(**{**SMALL, "seed": 5}, **options))
