"""`FederatedData`: its checks, its task and classes, and the problems made of it."""

from dataclasses import replace

import numpy as np
import pytest

from fedconvex.data import FederatedData
from fedconvex.errors import InvalidInput
from fedconvex.problems import LeastSquares, Logistic, MultinomialLogistic

RNG = np.random.default_rng(0)
SIZES = (5, 20, 10)
FEATURES = tuple(RNG.normal(size=(n, 2)) for n in SIZES)


def federated(
    *, features=FEATURES, targets=None, client_names=("a", "b", "c"), feature_names=("u", "v")
) -> FederatedData:
    if targets is None:
        targets = tuple(RNG.normal(size=n) for n in SIZES)
    return FederatedData(features, targets, client_names, feature_names, "a test")


def labels(values: list) -> tuple[np.ndarray, ...]:
    """Labels of the 35 samples, in turn."""
    pooled = np.array([values[i % len(values)] for i in range(sum(SIZES))])
    return tuple(np.split(pooled, np.cumsum(SIZES)[:-1]))


def test_it_counts() -> None:
    data = federated()
    assert (data.num_clients, data.num_features, data.num_samples) == (3, 2, 35)
    assert data.sizes.tolist() == list(SIZES)
    assert repr(data) == "FederatedData(m=3, p=2, samples=35, task='regression', source='a test')"


def test_its_arrays_are_read_only_and_those_given_are_not() -> None:
    mine = tuple(array.copy() for array in FEATURES)
    data = federated(features=mine)
    for array in data.features + data.targets:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    mine[0][0] = 1


@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        ([0, 1], "binary", "i"),
        ([-1.0, 1.0], "binary", "i"),
        ([True, False], "binary", "i"),
        (["no", "yes"], "binary", "U"),
        ([0.5, 1.5], "regression", "f"),
        ([0, 1, 2], "multiclass", "i"),
        (["a", "b", "c"], "multiclass", "U"),
        (list(range(7)), "multiclass", "i"),
        (list(range(8)), "regression", "i"),  # 8 values for 35 samples are more than one for 5
        ([f"name {i}" for i in range(8)], "multiclass", "U"),
        ([3], "regression", "i"),
        ([2.0**60, 0], "regression", "f"),
    ],
)
def test_the_targets_decide_the_task(values: list, task: str, kind: str) -> None:
    data = federated(targets=labels(values))
    assert (data.task, data.targets[0].dtype.kind) == (task, kind)
    assert data.classes.tolist() == sorted(set(values))


def test_more_than_ten_whole_numbers_are_no_classes() -> None:
    for distinct, task in ((10, "multiclass"), (11, "regression")):
        y = np.arange(1000) % distinct
        assert FederatedData((np.ones((1000, 1)),), (y,), ("a",), ("u",), "").task == task


def with_ones(arrays) -> np.ndarray:
    pooled = np.concatenate(arrays)
    return np.column_stack([pooled, np.ones(len(pooled))])


def close(one, other) -> bool:
    return bool(np.allclose(np.asarray(one, dtype=float), np.asarray(other, dtype=float), rtol=1e-12, atol=1e-14))


def test_pooled_least_squares_is_the_loss_over_all_samples() -> None:
    data = federated()
    A, b, x = with_ones(data.features), np.concatenate(data.targets), np.array([0.3, -1.0, 2.0])
    problem = data.problem()
    assert isinstance(problem, LeastSquares)
    assert close(problem.value(x) * 3, ((A @ x - b) ** 2).sum() / 2)
    assert close(problem.gradient(x) * 3, A.T @ (A @ x - b))
    plain = data.problem(intercept=False)
    assert close(plain.value(x[:2]) * 3, ((A[:, :2] @ x[:2] - b) ** 2).sum() / 2)


def test_pooled_logistic_is_the_mean_over_all_samples() -> None:
    data = federated(targets=labels(["no", "yes"]))
    A, y, x = (
        with_ones(data.features),
        np.where(np.concatenate(data.targets) == "yes", 1, -1),
        np.array([0.3, -1.0, 2.0]),
    )
    losses = np.log1p(np.exp(-y * (A @ x)))
    problem = data.problem()
    assert isinstance(problem, Logistic)
    assert close(problem.weights, np.array(SIZES) / 35)
    assert close(problem.value(x), losses.mean() + 1e-3 / 2 * x @ x)
    assert close(data.problem(ridge=0).value(x), losses.mean())
    means = [part.mean() for part in np.split(losses, np.cumsum(SIZES)[:-1])]
    assert close(data.problem(ridge=0, weights="uniform").value(x), np.mean(means))


def test_pooled_multinomial_is_the_mean_over_all_samples() -> None:
    data = federated(targets=labels([7, 3, 5]))
    A, x = with_ones(data.features), RNG.normal(size=9)
    scores = A @ x.reshape(3, 3).T
    rows = np.arange(35)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[rows, (np.concatenate(data.targets) - 3) // 2]
    problem = data.problem()
    assert isinstance(problem, MultinomialLogistic)
    assert close(problem.value(x), losses.mean() + 1e-3 / 2 * x @ x)
    assert close(data.problem(weights="uniform").weights, np.full(3, 1 / 3))


def test_a_model_can_be_chosen() -> None:
    binary = federated(targets=labels([0, 1]))
    assert isinstance(binary.problem(model="least-squares"), LeastSquares)
    assert isinstance(binary.problem(model="multinomial"), MultinomialLogistic)
    assert isinstance(federated(targets=labels([0.5, 1.5])).problem(model="logistic"), Logistic)
    regression = replace(binary, requested_task="regression")
    with pytest.raises(InvalidInput, match="model = logistic: fits classes, and the task is given as regression"):
        regression.problem(model="logistic")


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        (["yes"] * 3, {}, "targets = yes: is the target of all samples: there is one class only, and nothing to fit"),
        ([7, 7, 7], {"model": "logistic"}, "targets = 7: .* one class only"),
        ([0, 1, 2], {"model": "logistic"}, "needs 2 classes, the targets have 3.*call for multinomial"),
        ([0.5, 1, 2], {"model": "multinomial"}, "the targets have 3 fractional numbers.*call for least-squares"),
        (["a", "b"], {"model": "least-squares"}, "the targets are text.*call for logistic"),
        ([0.5, 1], {"ridge": 0.1}, "ridge = 0.1: least squares takes no ridge"),
        ([0, 1], {"ridge": -1}, "ridge = -1"),
        ([0, 1], {"model": "svm"}, "model = svm: is not known; give auto, least-squares, logistic, multinomial"),
        ([0, 1], {"weights": "sizes"}, "weights = sizes: is not known; give pooled or uniform"),
        ([0, 1, 2], {"intercept": False}, "intercept = False.*leave it out"),
    ],
)
def test_a_problem_that_does_not_fit_is_refused(targets: list, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        federated(targets=labels(targets)).problem(**options)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": ()}, "features = .*no clients"),
        ({"features": (*FEATURES[:2], np.ones((0, 2)))}, r"features\[2\] = .*shape \(0, 2\).*drop empty clients"),
        ({"features": (*FEATURES[:2], np.ones((10, 3)))}, r"features\[2\] = .*\(n_k, 2\)"),
        ({"features": (np.ones(5), *FEATURES[1:])}, r"features\[0\]"),
        ({"features": (np.full((5, 2), "a"), *FEATURES[1:])}, r"features\[0\] = <U1"),
        ({"features": (np.array([[1, np.nan]] * 5), *FEATURES[1:])}, r"features\[0\]\[0, 1\] = nan: is not finite"),
        ({"features": FEATURES[:2]}, "2, 3 and 3 clients"),
        ({"targets": labels([1])[:2] + (np.ones(9),)}, r"targets\[2\] = 9 values: .*which has 10 rows"),
        ({"targets": (np.ones(5), np.ones((20, 1)), np.ones(10))}, r"must have shapes \(n_k,\)"),
        ({"targets": labels([1, np.inf])}, r"targets\[1\] = inf"),
        ({"targets": (np.full(5, "a"), np.ones(20), np.ones(10))}, "text for some clients and numbers for others"),
        ({"targets": labels([1j])}, "neither numbers nor text"),
        ({"client_names": ("a", "b")}, "3, 3 and 2 clients"),
        ({"client_names": ("a", "b", "b")}, "3, 3 and 2 clients"),
        ({"feature_names": ("u",)}, r"\(n_k, 1\)"),
    ],
)
def test_what_is_no_data_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        federated(**changed)


def test_classes_may_have_no_sample() -> None:
    targets = labels([0, 2])
    data = FederatedData(FEATURES, targets, ("a", "b", "c"), ("u", "v"), "", class_labels=[2, 1, 0, 3])
    assert (data.task, data.classes.tolist()) == ("multiclass", [0, 1, 2, 3])
    assert data.problem().dim == 4 * 3
    assert set(data.problem().y[0].tolist()) == {0, 2}
    without = federated(targets=targets)
    assert (without.task, without.classes.tolist(), without.problem().dim) == ("binary", [0, 2], 3)
    text = FederatedData((FEATURES[0],), (["b"] * 5,), ("a",), ("u", "v"), "", class_labels=("a", "b"))
    assert (text.task, text.problem().y[0].tolist()) == ("binary", [1] * 5)
    with pytest.raises(ValueError, match="read-only"):
        data.classes[0] = 9


@pytest.mark.parametrize(
    ("class_labels", "message"),
    [
        ([0, 1], r"class_labels = \[0, 1\]: lacks 2, which is among the targets; list all classes"),
        (["0", "2"], r"class_labels = \['0', '2'\]: lacks 0"),
        ([0], r"class_labels = \[0\]: must be 2 or more"),
        ([0, 2.5], r"class_labels = \[0, 2.5\]: must be 2 or more distinct whole numbers or texts"),
    ],
)
def test_classes_that_do_not_fit_are_refused(class_labels: list, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FederatedData(FEATURES, labels([0, 2]), ("a", "b", "c"), ("u", "v"), "", class_labels=class_labels)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_integers_that_floats_would_merge_are_refused(kind: type) -> None:
    largest = 2**53
    data = federated(targets=labels([kind(largest - 1), kind(largest)]))
    assert data.task == "binary"
    assert sorted({int(value) for array in data.targets for value in array}) == [largest - 1, largest]
    with pytest.raises(InvalidInput, match=r"9007199254740993.*beyond 2\^53.*text"):
        federated(targets=labels([kind(largest), kind(largest + 1)]))
    mixed = [labels([kind(largest + 1)])[0], *labels([0.5])[1:]]
    with pytest.raises(InvalidInput, match=r"beyond 2\^53"):
        federated(targets=tuple(mixed))
    floats = federated(targets=labels([2.0**60, 2.0**61, 0.5]))
    assert floats.task == "regression"
