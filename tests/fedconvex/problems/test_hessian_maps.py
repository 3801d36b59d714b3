"""`hessian_map`, which multiplies many vectors at one point, against formed Hessians and derivatives by torch."""

from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.problems import losses

SIZES = (4, 7)  # two sizes: two padded groups of clients


def problem_of(outputs: int, ridge: float = 0.25):
    rng = np.random.default_rng(outputs)
    A = [rng.standard_normal((n, 3)) for n in SIZES]
    if outputs == 1:
        return fc.Logistic(A=A, y=[rng.choice([-1, 1], n) for n in SIZES], ridge=ridge)
    return fc.MultinomialLogistic(A=A, y=[rng.integers(0, outputs, n) for n in SIZES], num_classes=outputs, ridge=ridge)


@pytest.mark.parametrize("outputs", [1, 3, 5])
@pytest.mark.parametrize("size", [1e-3, 1.0, 40.0])  # at 40, probabilities round to 0 and 1
def test_the_map_is_the_formed_hessian(outputs: int, size: float) -> None:
    problem, rng = problem_of(outputs), np.random.default_rng(9)
    X, V = size * rng.standard_normal((2, problem.dim)), rng.standard_normal((2, 2, problem.dim))
    clients = problem.clients("float")
    multiply = clients.hessian_map(X)
    formed = clients.hessians(X)
    for directions in V:  # the map is used again: it must not change
        assert abs(multiply(directions) - np.einsum("kij,kj->ki", formed, directions)).max() < 1e-13
        assert (multiply(directions) == clients.hessian_products(X, directions)).all()


@pytest.mark.parametrize("outputs", [1, 4])
def test_the_map_is_the_derivative_of_the_gradient(outputs: int) -> None:
    import torch

    problem, rng = problem_of(outputs), np.random.default_rng(2)
    x, v = rng.standard_normal(problem.dim), rng.standard_normal(problem.dim)
    clients = problem.clients("torch")
    products = clients.hessian_map(torch.tensor(x))(clients.rows(torch.tensor(v)))
    for k in range(2):
        gradient = torch.autograd.functional.jvp(
            lambda w: clients.gradients(w)[k],  # noqa: B023
            torch.tensor(x),
            torch.tensor(v),
        )[1]
        assert abs(products[k] - gradient).max() < 1e-13


def test_probabilities_of_another_point_are_noticed() -> None:
    problem, rng = problem_of(3), np.random.default_rng(1)
    x, v = rng.standard_normal((2, problem.dim))
    clients = problem.clients("float")
    assert abs(clients.hessian_map(2 * x)(v) - clients.hessian_products(x, v)).max() > 1e-3


def test_shares_weigh_the_samples() -> None:
    Z, S = np.random.default_rng(3).standard_normal((2, 6, 3))
    shares = np.arange(6.0)
    loss = losses.SoftmaxLoss()
    expected = shares[:, None] * np.einsum("ncd,nd->nc", loss.curvatures(np, Z), S)
    assert abs(loss.curvature_map(np, Z, shares)(S.copy()) - expected).max() < 1e-14


@pytest.mark.parametrize("classes", [1, 3])
def test_a_product_survives_the_next_one(classes) -> None:
    problem, rng = problem_of(classes), np.random.default_rng(4)
    x, v, w = rng.standard_normal((3, problem.dim))
    product = problem.clients("float").hessian_map(x)
    first = product(v)
    kept = first.copy()
    product(w)
    assert (first == kept).all()
    assert (product(v) == kept).all()


@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (2, 3, 5)])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_labels_are_marked_in_the_shape_of_the_scores(shape: tuple[int, ...], library: str) -> None:
    rng = np.random.default_rng(3)
    y, Z = rng.integers(0, 4, shape), rng.standard_normal((*shape, 4))
    expected = np.array([[float(c == label) for c in range(4)] for label in np.ravel(y)]).reshape(Z.shape)
    xp: Any = np
    if library == "torch":
        import torch

        xp = torch
        y, Z = xp.as_tensor(y), xp.as_tensor(Z)
    y = 1.0 * y if library == "torch" else np.asarray(y, dtype=float)
    found = losses._is_label(xp, Z, y)
    assert (np.asarray(1.0 * found) == expected).all()
    p = np.asarray(losses.SoftmaxLoss().probabilities(xp, Z))
    assert abs(np.asarray(losses.SoftmaxLoss().derivatives(xp, Z, y)) - (p - expected)).max() < 1e-16
    assert (np.asarray(Z) != p).all()  # nothing is overwritten that the caller holds


@pytest.mark.parametrize("steps", [[1e-9, 0.3], [1e-9, 700.0], [900.0, -900.0]])
def test_small_and_large_steps_of_one_batch_keep_their_digits(steps: list[float]) -> None:
    """Differences of large steps are computed in another way, which those of small ones must not see."""
    from fractions import Fraction

    import flint

    Z, y = np.array([[[0.2, -1.0, 0.7]] * len(steps)]), np.ones((1, len(steps)))
    step = np.array([[[s, 0.0, -s / 2] for s in steps]])
    found = losses.SoftmaxLoss().differences(np, Z, step, y)[0]
    with flint.ctx.workprec(4000):
        for z, s, value in zip(Z[0], step[0], found, strict=True):
            before = [flint.arb(flint.fmpq(*Fraction(x).as_integer_ratio())) for x in z]
            after = [b + flint.arb(flint.fmpq(*Fraction(x).as_integer_ratio())) for b, x in zip(before, s, strict=True)]
            lse = [sum((x.exp() for x in xs), flint.arb(0)).log() - xs[1] for xs in (before, after)]
            exact = float((lse[1] - lse[0]).mid())
            assert abs(value - exact) <= 1e-13 * abs(exact)
            assert abs(value - 1.001 * exact) > 1e-13 * abs(exact)
