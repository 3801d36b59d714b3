"""This project's own results on FedSplit, on exact runs that no proof uses."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from bound_makers import square
from problem_makers import inverse

import fedconvex as fc
from fedconvex.theory import fedsplit

RUNS = range(12)
ONE = Fraction(1)


def vector(random: Random, size: int) -> np.ndarray:
    return np.array([Fraction(random.randint(-6, 6), random.randint(1, 3)) for _ in range(size)], dtype=object)


def curved(random: Random, clients: int, least: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rotated quadratics with curvatures from `least` to 9: their Hessians have rational eigenvectors."""
    turns = [np.array([[Fraction(3, 5), Fraction(4, 5)], [Fraction(-4, 5), Fraction(3, 5)]]), np.diag([ONE, ONE])]
    H = []
    for _ in range(clients):
        turn = random.choice(turns)
        H.append(turn.T @ np.diag([Fraction(random.randint(least, 9)) for _ in range(2)]) @ turn)
    return H, [vector(random, 2) for _ in range(clients)]


def solved(H: list[np.ndarray], c: list[np.ndarray]) -> np.ndarray:
    """The minimiser of Σ ½xᵀH_jx − c_jᵀx."""
    return inverse(sum(H)) @ sum(c)


def fixed_point(H: list[np.ndarray], c: list[np.ndarray], s: Fraction) -> tuple[np.ndarray, list[np.ndarray]]:
    """x* and the z_j* = x* − s∇f_j(x*)."""
    x = solved(H, c)
    return x, [x - s * (h @ x - k) for h, k in zip(H, c, strict=True)]


def root_above(value: Fraction) -> Fraction:
    """A rational number slightly above the root."""
    return Fraction(float(value) ** 0.5) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("seed", RUNS)
def test_any_stepsize_and_errors(seed: int) -> None:
    """Proximal points with errors of length at most b = 1/7, by hand, keep Theorem 1, sharper."""
    random = Random(seed)
    clients, s, b = random.choice([1, 4]), Fraction(1, random.randint(1, 12)), Fraction(random.randint(0, 1), 7)
    H, c = curved(random, clients, least=1)
    problem = fc.Quadratic(H, c)
    optimum, resting = fixed_point(H, c, s)
    start = vector(random, 2)
    z = np.array([start] * clients)
    distance = root_above(sum(square(start - rest) for rest in resting))
    for t in (1, 2, 3):
        x = z.mean(axis=0)
        errors = [
            b * np.array(random.choice([(1, 0), (0, -1), (Fraction(3, 5), Fraction(4, 5))])) for _ in range(clients)
        ]
        z = z + 2 * (problem.client_prox(2 * x - z, s) + np.array(errors) - x)
        bound = fedsplit.distance_bound_any_stepsize(
            t=t, stepsize=s, mu=ONE, L=Fraction(9), initial_distance=distance, num_clients=Fraction(clients), b=b
        )
        assert square(z.mean(axis=0) - optimum) <= bound**2


@pytest.mark.parametrize("seed", RUNS)
def test_the_regularised_objective(seed: int) -> None:
    """Clients that are convex only, some of them flat in a direction, keep Theorem 2, round by round."""
    random = Random(seed)
    clients, s, strength = (
        random.choice([1, 2, 3]),
        Fraction(random.randint(1, 9), 2),
        Fraction(1, random.randint(2, 60)),
    )
    H, c = curved(random, clients, least=0)
    H[0] = H[0] + np.diag([ONE, ONE]) / 100  # so that the minimiser is one
    start, optimum = vector(random, 2), solved(H, c)
    bent = [h + strength * np.diag([ONE, ONE]) for h in H]
    _, resting = fixed_point(bent, [k + strength * start for k in c], s)
    method = fc.RegularizedFedSplit(stepsize=s, regularization=strength)
    points = fc.simulate(method, fc.Quadratic(H, c), 4, x0=start, arithmetic="exact").points
    total = sum(H)
    for t in (1, 2, 4):
        gap = (points[t] - optimum) @ total @ (points[t] - optimum) / 2
        bound = fedsplit.regularized_gap_bound(
            t=t, stepsize=s, L=Fraction(10), regularizer=strength, num_clients=clients,
            squared_distance=square(start - optimum),
            initial_distance=root_above(sum(square(start - rest) for rest in resting)),
        )  # fmt: skip
        assert gap <= bound


@pytest.mark.parametrize("seed", RUNS)
def test_local_steps(seed: int) -> None:
    """Corollary 1, sharper, on one client in two dimensions."""
    random = Random(seed)
    root = random.randint(1, 4)
    s, L = Fraction(1, root), Fraction(root) ** 2
    h, k, x = np.diag([ONE, L]), vector(random, 2), vector(random, 2)
    problem = fc.Quadratic([h], [k])
    prox = problem.client_prox(x, s)[0]
    alpha = fedsplit.local_stepsize(mu=ONE, L=L)
    u = x
    for e in (1, 2, 3):
        u = np.array([
            fedsplit.corrected_prox_gradient_step(u=v, x=a, stepsize=s, local_stepsize=alpha, gradient=g)
            for v, a, g in zip(u, x, h @ u - k, strict=True)
        ], dtype=object)  # fmt: skip
        bound = fedsplit.prox_error_bound_sharp(kappa=L, local_steps=e, start_distance=ONE)
        assert square(u - prox) <= bound**2 * square(x - prox)
        assert bound <= fedsplit.prox_error_bound(kappa=L, local_steps=e, start_distance=ONE)
