"""FedSplit's random problems: conditioning, eigenvectors, labels and refused arguments."""

import numpy as np
import pytest
from data_checks import is_variance, scatter
from scipy.stats import chi2

from fedconvex.data import conditioned_least_squares, fedsplit_least_squares, fedsplit_logistic
from fedconvex.problems import LeastSquares, Logistic


def minimiser(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(A, b, rcond=None)[0]


def grams(problem: LeastSquares) -> np.ndarray:
    return np.array([A.T @ A for A in problem.A])


def test_least_squares_have_standard_normal_designs_and_the_stated_noise() -> None:
    problem = fedsplit_least_squares(clients=20, samples=60, features=10, noise=0.3)
    assert isinstance(problem, LeastSquares)
    assert [A.shape for A in problem.A] == [(60, 10)] * 20
    assert is_variance(float(sum((A**2).sum() for A in problem.A)), 20 * 60 * 10, 1)
    residual = sum(float(((A @ minimiser(A, b) - b) ** 2).sum()) for A, b in zip(problem.A, problem.b, strict=True))
    assert is_variance(residual, 20 * (60 - 10), 0.3**2)
    assert not is_variance(residual, 20 * (60 - 10), 0.3)  # as if noise were the variance


def test_spread_is_the_deviation_of_the_clients_parameters() -> None:
    problem = fedsplit_least_squares(clients=50, samples=12, features=10, noise=0, spread=2)
    own = np.array([minimiser(A, b) for A, b in zip(problem.A, problem.b, strict=True)])
    assert is_variance(float(((own - own.mean(axis=0)) ** 2).sum()), 49 * 10, 4)
    assert not is_variance(float(((own - own.mean(axis=0)) ** 2).sum()), 49 * 10, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda noise: fedsplit_least_squares(clients=4, samples=12, features=10, noise=noise),
        lambda noise: conditioned_least_squares(100, clients=4, features=10, noise=noise),
    ],
)
def test_without_noise_all_clients_share_their_minimiser(make) -> None:
    def distance(noise: float) -> float:
        problem = make(noise)
        own = np.array([minimiser(A, b) for A, b in zip(problem.A, problem.b, strict=True)])
        return float(abs(own - own[0]).max())

    assert distance(0) < 1e-12
    assert distance(0.1) > 1e-3


def fitted(problem: Logistic) -> tuple[np.ndarray, np.ndarray]:
    """The pooled maximum-likelihood fit and the Fisher information there, by Newton's method written out."""
    A, y = np.concatenate(problem.A), np.concatenate(problem.y)
    x = np.zeros(A.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-A @ x))
        information = A.T @ (A * (p * (1 - p))[:, None])
        x = x + np.linalg.solve(information, A.T @ ((y + 1) / 2 - p))
    assert abs(A.T @ ((y + 1) / 2 - 1 / (1 + np.exp(-A @ x)))).max() < 1e-9 * len(y)
    return x, information


@pytest.mark.beyond_core  # takes seconds
def test_logistic_labels_have_the_stated_odds() -> None:
    shape = {"clients": 5, "samples": 4000, "features": 6, "seed": 2}
    # the same seed gives the same x_0, so signal 2 must fit twice the parameter of signal 1
    one, information_1 = fitted(fedsplit_logistic(signal=1, **shape))
    two, information_2 = fitted(fedsplit_logistic(signal=2, **shape))

    def are_the_same(factor: float) -> bool:
        difference = two - factor * one
        covariance = np.linalg.inv(information_2) + factor**2 * np.linalg.inv(information_1)
        return bool(difference @ np.linalg.solve(covariance, difference) < chi2.ppf(1 - 1e-6, 6))

    assert are_the_same(2)
    assert not are_the_same(1)
    assert not are_the_same(2**0.5)
    norms = [float(np.sum(fitted(fedsplit_logistic(signal=1, **{**shape, "seed": s}))[0] ** 2)) for s in range(40)]
    assert is_variance(sum(norms) * 6, 40 * 6, 1)  # x = x_0/√d, x_0 ~ N(0, I); the fit's own error adds 1 % of this
    assert not is_variance(sum(norms), 40 * 6, 1)
    problem = fedsplit_logistic(signal=1, **shape)
    scores, y = np.concatenate(problem.A) @ one, np.concatenate(problem.y)
    assert calibrated(scores, y)
    assert not calibrated(3 * scores, y)


def calibrated(scores: np.ndarray, y: np.ndarray) -> bool:
    """Whether in each tenth of the samples, by score, as many labels are +1 as 1/(1 + exp(−score)) adds up to."""
    p = 1 / (1 + np.exp(-scores))
    tenths = np.array_split(np.argsort(scores), 10)
    deviates = [((y[i] == 1).sum() - p[i].sum()) / (p[i] * (1 - p[i])).sum() ** 0.5 for i in tenths]
    return float(np.sum(np.square(deviates))) < chi2.ppf(1 - 1e-6, 10)


@pytest.mark.slow
@pytest.mark.beyond_core  # takes seconds
def test_the_default_logistic_problem_has_a_minimiser() -> None:
    problem = fedsplit_logistic()
    assert isinstance(problem, Logistic)
    assert (problem.num_clients, problem.dim, problem.ridge) == (10, 50, 0)
    x, information = fitted(problem)  # Newton's method finds a zero of the gradient
    assert np.linalg.eigvalsh(information)[0] > 0
    assert np.linalg.norm(x) < 3


@pytest.mark.parametrize("eigenvectors", ["own", "shared"])
@pytest.mark.parametrize(("kappa", "L"), [(1, 1.0), (10, 1.0), (1e4, 1.0), (1e4, 50.0)])
def test_every_client_has_the_spectrum_that_was_asked_for(kappa: float, L: float, eigenvectors: str) -> None:
    problem = conditioned_least_squares(kappa, clients=4, features=12, L=L, eigenvectors=eigenvectors)
    spectra = np.linalg.eigvalsh(grams(problem))
    assert np.allclose(spectra[:, 0], L / kappa, rtol=0, atol=1e-14 * L)
    assert np.allclose(spectra[:, -1], L, rtol=0, atol=1e-14 * L)
    assert np.isclose(problem.L.max() / problem.mu.min(), kappa, rtol=1e-9)
    designs = np.linalg.svd(np.array(problem.A), compute_uv=False)  # keeps the digits of small eigenvalues
    assert np.allclose(designs[:, [0, -1]] ** 2, [L, L / kappa], rtol=1e-12 * kappa**0.5)
    shared = np.linalg.eigvalsh(grams(problem).mean(axis=0))
    if eigenvectors == "shared":
        assert np.isclose(shared[-1] / shared[0], kappa, rtol=1e-9)
    elif kappa > 1:
        assert shared[-1] / shared[0] < 0.9 * kappa


def test_eigenvalues_between_the_ends_are_uniform_in_logarithm() -> None:
    problem = conditioned_least_squares(1e4, clients=300, features=12)
    inner = np.log(np.linalg.eigvalsh(grams(problem)))[:, 1:-1]
    variance = np.log(1e4) ** 2 / 12  # of a uniform variable; its fourth moment gives the error of the estimate
    assert abs(inner.mean() - np.log(1e-4) / 2) < 5 * (variance / inner.size) ** 0.5
    assert abs(inner.var() / variance - 1) < 5 * (0.8 / inner.size) ** 0.5
    assert not abs(np.exp(inner).mean() - (1 + 1e-4) / 2) < 5 * (1 / 12 / inner.size) ** 0.5


def test_own_eigenvectors_are_uniform_over_all_directions() -> None:
    def squares(problem: LeastSquares) -> np.ndarray:
        """The squared first coordinates of every client's top eigenvector: their mean is 1/d."""
        return np.array([np.linalg.eigh(gram)[1][0, -1] ** 2 for gram in grams(problem)])

    own = squares(conditioned_least_squares(10, clients=600, features=4))
    assert abs(own.mean() - 1 / 4) < 5 * own.std() / 600**0.5
    signs = [np.sign(np.linalg.det(A)) for A in conditioned_least_squares(10, clients=600, features=4).A]
    assert abs(np.mean(signs)) < 5 / 600**0.5  # rotations and reflections alike
    shared = squares(conditioned_least_squares(10, clients=600, features=4, eigenvectors="shared"))
    assert scatter(shared) < 1e-20
    assert not abs(shared.mean() - 1 / 4) < 5 * own.std() / 600**0.5


def test_noise_is_the_deviation_of_the_targets() -> None:
    quiet, loud = (conditioned_least_squares(10, clients=30, features=20, noise=s) for s in (0, 0.2))
    differences = np.array(loud.b) - np.array(quiet.b)
    assert is_variance(float((differences**2).sum()), 600, 0.2**2)
    assert not is_variance(float((differences**2).sum()), 600, 0.2)


MAKERS = [
    lambda **options: fedsplit_least_squares(samples=7, features=5, **options),
    lambda **options: fedsplit_logistic(samples=7, features=5, **options),
    lambda **options: conditioned_least_squares(10, features=5, **options),
    lambda **options: conditioned_least_squares(10, features=5, eigenvectors="shared", **options),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_the_same_problem_whatever_the_number_of_clients(make) -> None:
    def data(problem) -> list[np.ndarray]:
        return [np.column_stack(pair) for pair in zip(problem.A, getattr(problem, "b", None) or problem.y, strict=True)]

    three, five, other = (data(make(clients=m, seed=seed)) for m, seed in ((3, 0), (5, 0), (3, 1)))
    assert all(np.array_equal(one, two) for one, two in zip(three, five[:3], strict=True))
    assert not np.array_equal(three[0], other[0])
    assert not np.array_equal(three[0], three[1])
