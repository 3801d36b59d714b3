"""FedProx's synthetic data against the paper's recipe and the published files."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from data_checks import is_argmax_of_some_linear_model, is_variance, pooled, same, scatter
from scipy.stats import ks_2samp, norm

from fedconvex.data import synthetic, synthetic_iid
from fedconvex.data.gaussian_clients import linear_model
from fedconvex.data.random_streams import GeneratorStream, stream

OFFICIAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "fedprox_synthetic"
needs_official = pytest.mark.skipif(
    not OFFICIAL.exists(), reason="the authors' test splits are not beside the checkout"
)


def decay(p: int) -> np.ndarray:
    """Σ_jj = j^(−1.2)."""
    return np.array([j**-1.2 for j in range(1, p + 1)])


def within(features) -> tuple[np.ndarray, int]:
    """Sums of squares around the clients' means, one for each coordinate, and their degrees of freedom."""
    return sum(((x - x.mean(axis=0)) ** 2).sum(axis=0) for x in features), sum(len(x) - 1 for x in features)


def has_covariance(features, claimed: np.ndarray) -> bool:
    sums, degrees = within(features)
    return all(is_variance(s, degrees, c) for s, c in zip(sums, claimed, strict=True))


def has_shift(features, variance: float) -> bool:
    """Whether B_k, read from the mean of all of client k's numbers, has that variance.

    That mean is B_k + (the mean of p standard normals) + (noise of variance Σ_j j^(−1.2)/(p² n_k)): normal, so the
    claim is judged after division by each client's own standard deviation.
    """
    p = features[0].shape[1]
    deviations = [x.mean() / (variance + 1 / p + decay(p).sum() / p**2 / len(x)) ** 0.5 for x in features]
    return is_variance(scatter(np.array(deviations)), len(features) - 1, 1)


MANY = {"clients": 600, "features": 6, "classes": 3, "sizes": [20] * 600, "seed": 3}


def test_features_have_the_stated_covariance_within_a_client() -> None:
    data = synthetic(1, 1, **MANY)
    assert has_covariance(data.features, decay(6))
    assert has_covariance(synthetic_iid(**MANY).features, decay(6))
    assert not has_covariance(data.features, decay(6) ** 2)  # j^(−1.2) taken for the standard deviation
    assert not has_covariance(data.features, decay(6) ** 0.5)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("beta", [0, 0.5, 4])
def test_centres_are_normal_around_b_k(beta: float) -> None:
    paper, released = (synthetic(0, beta, reading=reading, **MANY).features for reading in ("paper", "released"))
    assert has_shift(paper, beta)
    assert has_shift(released, beta**2)
    if beta:
        assert not has_shift(paper, beta**2)
        assert not has_shift(released, beta)
    for features in (paper, released):  # v_k1 − v_k2 does not feel B_k
        differences = np.array([x[:, 0].mean() - x[:, 1].mean() for x in features])
        assert is_variance(scatter(differences), 599, 2 + (1 + 2**-1.2) / 20)


def test_models_are_normal_around_one_u_k_for_weights_and_biases() -> None:
    models = [linear_model(stream(5, GeneratorStream.MODEL, k), 4, 7, 3.0) for k in range(2000)]
    means = np.array([np.append(model.W, model.b).mean() for model in models])
    assert is_variance(scatter(means), 1999, 9 + 1 / 32)
    assert not is_variance(scatter(means), 1999, 3 + 1 / 32)
    residuals = sum(scatter(np.append(model.W, model.b)) for model in models)
    assert is_variance(residuals, 2000 * 31, 1)
    shared = np.array([model.W[0, 0] - model.b[0] for model in models])
    assert is_variance(scatter(shared), 1999, 2)
    apart = np.array([model.W[0, 0] - models[k - 1].b[0] for k, model in enumerate(models)])
    assert not is_variance(scatter(apart), 1999, 2)  # as if W_k and b_k each had a mean of its own


def test_labels_are_the_highest_scores_of_the_clients_models() -> None:
    data = synthetic(4, 1, clients=3, features=5, classes=4, sizes=[40, 1, 60], seed=8)
    assert np.array_equal(data.classes, np.arange(4))
    models = [linear_model(stream(8, GeneratorStream.MODEL, k), 4, 5, 2.0) for k in range(3)]

    def agree(x: np.ndarray, y: np.ndarray, W: np.ndarray, b: np.ndarray) -> bool:
        scores = [[sum(W[c, j] * sample[j] for j in range(5)) + b[c] for c in range(4)] for sample in x]
        return all(row[label] == max(row) for row, label in zip(scores, y, strict=True))

    assert all(agree(*sample, *model) for *sample, model in zip(data.features, data.targets, models, strict=True))
    assert not agree(data.features[0], data.targets[0], *models[2])


def test_alpha_changes_nothing_at_all() -> None:
    # u_k adds u_k·(Σ_j x_j + 1) to the score of every class
    for reading in ("paper", "released"):
        assert same(synthetic(0, 1, clients=4), synthetic(100, 1, clients=4, reading=reading))
    assert not same(synthetic(0, 1, clients=4), synthetic(0, 2, clients=4))


def test_labels_are_noiseless_and_every_clients_model_is_its_own() -> None:
    small = {"clients": 4, "features": 2, "classes": 3, "sizes": [60] * 4, "seed": 1}
    data = synthetic(0, 0, **small)
    for x, y in zip(data.features, data.targets, strict=True):
        assert is_argmax_of_some_linear_model(x, y, 3)
    assert not is_argmax_of_some_linear_model(*pooled(data), 3)
    x, y = pooled(synthetic_iid(**small))
    assert is_argmax_of_some_linear_model(x, y, 3)
    noisy = y.copy()
    noisy[np.argsort(abs(x).sum(axis=1))[:3]] = [0, 1, 2]
    assert not is_argmax_of_some_linear_model(x, noisy, 3)


def test_iid_clients_share_their_distribution_of_features() -> None:
    features = synthetic_iid(**MANY).features
    means = np.array([x.mean(axis=0) for x in features])
    assert all(is_variance(float((m**2).sum()), 600, c / 20) for m, c in zip(means.T, decay(6), strict=True))
    moved = np.array([x.mean(axis=0) for x in synthetic(0, 0, **MANY).features])
    assert not any(is_variance(float((m**2).sum()), 600, c / 20) for m, c in zip(moved.T, decay(6), strict=True))


def follows_lognormal(sizes: np.ndarray, mu: float, sigma: float) -> bool:
    """Whether P(n <= 50 + t) = Φ((log(t + 1) − mu)/sigma) up to the Dvoretzky-Kiefer-Wolfowitz bound at chance 1e-6."""
    t = np.sort(sizes) - 50
    empirical = np.searchsorted(t, t, side="right") / t.size
    distance = abs(empirical - norm.cdf((np.log(t + 1) - mu) / sigma)).max()
    return bool(distance <= (np.log(2e6) / 2 / t.size) ** 0.5)


def test_sizes_are_fifty_more_than_lognormal_ones() -> None:
    sizes = synthetic_iid(clients=500, features=1, classes=2).sizes
    assert sizes.min() >= 50
    assert follows_lognormal(sizes, 4, 2)
    assert not follows_lognormal(sizes, 4, 1)
    assert not follows_lognormal(sizes, 5, 2)


def test_defaults_are_those_of_the_paper() -> None:
    for data in (synthetic(), synthetic_iid()):
        assert (data.num_clients, data.num_features, data.classes.tolist()) == (30, 60, list(range(10)))
        assert (data.task, data.client_names[29], data.feature_names[59]) == ("multiclass", "29", "x60")
    assert data.problem().dim == 610
    assert np.array_equal(synthetic(seed=4).sizes, synthetic_iid(seed=4).sizes)


def test_a_seed_gives_the_same_data_whatever_the_number_of_clients_and_samples() -> None:
    for make in (synthetic, synthetic_iid):
        small, large = make(clients=3, features=4, seed=7), make(clients=5, features=4, seed=7)
        assert same(small, make(clients=3, features=4, seed=7))
        assert same(small, large, clients=3)
        assert not same(small, make(clients=3, features=4, seed=8))
        longer = make(clients=3, features=4, seed=7, sizes=small.sizes + 5)
        assert all(np.array_equal(x[:-5], y) for x, y in zip(longer.features, small.features, strict=True))
        assert not np.array_equal(large.features[3][:50], large.features[4][:50])


def test_readings_agree_at_0_and_1() -> None:
    for beta in (0, 1):
        assert same(synthetic(beta, beta, clients=2), synthetic(beta, beta, clients=2, reading="released"))
    half = synthetic(0.5, 0.5, clients=2)
    assert not same(half, synthetic(0.5, 0.5, clients=2, reading="released"))
    assert same(half, synthetic(0.5**0.5, 0.5**0.5, clients=2, reading="released"))


def official(name: str) -> list[np.ndarray]:
    """The features of the authors' test split: about a tenth of every client's samples."""
    with gzip.open(OFFICIAL / f"synthetic_{name}_mytest.json.gz") as file:
        users = json.load(file)["user_data"]
    return [np.array(users[user]["x"]) for user in sorted(users)]


@needs_official
@pytest.mark.parametrize("name", ["iid", "0_0", "0.5_0.5", "1_1"])
def test_the_authors_features_have_the_same_covariance(name: str) -> None:
    features = official(name)
    assert (len(features), features[0].shape[1]) == (30, 60)
    assert has_covariance(features, decay(60))
    assert not has_covariance(features, decay(60) ** 2)


@needs_official
def test_the_authors_centres_have_the_same_spread() -> None:
    for name, released in (("0_0", 0.0), ("0.5_0.5", 0.25), ("1_1", 1.0)):
        assert has_shift(official(name), released)
        parameter = released**0.5
        ours = synthetic(parameter, parameter, reading="released", sizes=[len(x) for x in official(name)])
        assert has_shift(ours.features, released)
    assert not has_shift(official("0_0"), 1.0)
    assert not has_shift(official("1_1"), 0.0)
    assert max(abs(x.mean()) for x in official("iid")) < 0.1 < max(abs(x.mean()) for x in official("0_0"))


@needs_official
def test_the_authors_sizes_have_the_same_distribution() -> None:
    theirs = np.concatenate([[len(x) for x in official(name)] for name in ("iid", "0_0", "0.5_0.5", "1_1")])
    ours = synthetic_iid(clients=600, features=1, classes=2).sizes
    assert ks_2samp(theirs, ours - np.floor(0.9 * ours)).pvalue > 0.01
    wrong = 50 + np.random.default_rng(0).lognormal(4, 1, 600)
    assert ks_2samp(theirs, wrong - np.floor(0.9 * wrong)).pvalue < 1e-4
