"""Instances on which the FedSplit paper's bounds are attained or nearly attained, run in exact arithmetic.

Each measure returns (what happens, what the statement promises) for an instance (`tightness`).
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.theory import fedsplit

Pair = tuple[Any, Any]


def exact(*numbers: Any) -> np.ndarray:
    """A vector of rational numbers."""
    return np.array([Fraction(number) for number in numbers], dtype=object)


def equal_quadratics(curvatures: tuple[Any, ...], clients: int) -> Any:
    """Clients with the same f(x) = ½Σ c_i x_i², whose minimiser is 0."""
    H = np.diag(exact(*curvatures))
    return fc.Quadratic([H] * clients, [exact(*(0 for _ in curvatures))] * clients)


def fedsplit_points(problem: Any, stepsize: Any, start: np.ndarray, rounds: int) -> np.ndarray:
    """The server's points of FedSplit with exact steps."""
    method = fc.FedSplit(stepsize=Fraction(stepsize))
    points: np.ndarray = fc.simulate(method, problem, rounds, x0=start, arithmetic="exact").points
    return points


def distance(instance: tuple[int, ...]) -> Pair:
    """Theorem 1 on equal clients, from (1, 0): (√κ with ℓ_* = 1, m, the start, t)."""
    root, clients, size, t = instance
    problem = equal_quadratics((1, root**2), clients)
    reached = fedsplit_points(problem, Fraction(1, root), exact(size, 0), t)[t]
    start = Fraction(size) * root_of(clients)
    given = {"kappa": Fraction(root) ** 2, "num_clients": Fraction(clients), "b": Fraction(0)}
    return abs(reached[0]), fedsplit.theorem1.calculator.formula(t=t, initial_distance=start, **given)


def root_of(square: int) -> int:
    """The root of a square number."""
    return next(n for n in range(square + 1) if n * n == square)


def distance_any_stepsize(instance: tuple[Any, ...]) -> Pair:
    """Theorem 1, sharper, with errors: (s, ℓ_*, L^*, √m, t, b)."""
    return with_errors(fedsplit.theorem1sharper.calculator.formula, instance)


def with_errors(bound: Callable[..., Any], instance: tuple[Any, ...]) -> Pair:
    """Equal clients in one dimension; the curvature is the end that is slower, the errors b all increase |z|."""
    s, mu, L, root_m, t, b = (Fraction(number) for number in instance)
    # The curvature at which the reflected proximal step contracts least.
    curvature = mu if 1 / (s * mu) >= s * L else L
    problem = equal_quadratics((curvature,), int(root_m) ** 2)
    z = exact(*[1] * int(root_m) ** 2)[:, None]
    for _ in range(int(t)):
        x = z.mean(axis=0)
        half = problem.client_prox(2 * x - z, s)
        moved = z + 2 * (half - x)
        away = exact(*(b if entry >= 0 else -b for entry in moved[:, 0]))
        z = moved + 2 * away[:, None]
    promised = bound(t=int(t), stepsize=s, mu=mu, L=L, initial_distance=root_m, num_clients=root_m**2, b=b)
    return abs(z.mean()), promised


def one_client(curvatures: tuple[Any, ...], linear: tuple[Any, ...]) -> Any:
    """One client with f(x) = ½Σ c_i x_i² − linear·x."""
    return fc.Quadratic([np.diag(exact(*curvatures))], [exact(*linear)])


def local_answer(problem: Any, stepsize: Fraction, start: np.ndarray, steps: int, local_stepsize: Fraction) -> Any:
    """What FedSplit's first client computes in the first round with gradient steps on sf + ½‖· − x‖²."""
    solver = fc.GradientDescent(steps=steps, stepsize=local_stepsize * stepsize)  # on f + ‖· − x‖²/(2s)
    method = fc.FedSplit(stepsize=stepsize)
    run = fc.simulate(method, problem, 1, None, solver, start, arithmetic="exact")
    return (run.points[1] + start) / 2  # x⁺ = z⁺ = z + 2(answer − x), and z = x = start


def local_error(instance: tuple[int, int]) -> Pair:
    """Corollary 1: (√κ with ℓ_* = 1, e)."""
    return _local_error(fedsplit.corollary1.calculator.formula, instance)


def local_error_sharp(instance: tuple[int, int]) -> Pair:
    """Corollary 1, sharper: (√κ with ℓ_* = 1, e)."""
    return _local_error(fedsplit.corollary1sharper.calculator.formula, instance)


def _local_error(formula: Callable[..., Any], instance: tuple[int, int]) -> Pair:
    root, steps = instance
    s, problem, start = Fraction(1, root), one_client((1, root**2), (0, 0)), exact(1, 0)
    alpha = fedsplit.local_stepsize.formula(mu=Fraction(1), L=Fraction(root) ** 2)
    point = problem.client_prox(start, s)[0]
    reached = local_answer(problem, s, start, steps, alpha)
    moved = abs(start[0] - point[0])
    bound = formula(kappa=Fraction(root) ** 2, local_steps=steps, start_distance=moved)
    return abs(reached[0] - point[0]), bound


def regularised_runs(formula: Any, number: int) -> Pair:
    """RegularizedFedSplit, and FedSplit on clients with the regularisation of (19), corrected, written out.

    That the sum of these clients is the formula, less its value at 0, is compared at a point.
    """
    H = [np.diag(exact(number, 1)), np.diag(exact(2, number + 3))]
    c = [exact(1, number), exact(-2, 3)]
    start, strength, s = exact(number - 2, 5), Fraction(1, number + 1), Fraction(2, 3)
    eye, point = np.diag(exact(1, 1)), exact(3, number - 1)
    method = fc.RegularizedFedSplit(stepsize=s, regularization=strength)
    run = fc.simulate(method, fc.Quadratic(H, c), 2, x0=start, arithmetic="exact").points
    written = fc.Quadratic([h + strength * eye for h in H], [k + strength * start for k in c])

    def objective(z: Any) -> Any:
        values = [z @ h @ z / 2 - k @ z for h, k in zip(H, c, strict=True)]
        apart = (z - start) @ (z - start)
        return formula(values=values, squared_distances=[apart] * len(H), regularizer=strength)

    ours = (*run.ravel(), objective(point) - objective(0 * point))
    return ours, (*fedsplit_points(written, s, start, 2).ravel(), len(H) * written.value(point))


def regularised_points(n: int, rounds: int) -> tuple[np.ndarray, Fraction, Fraction]:
    """One client with f(x) = x²/2 from x = 1, λ = 1/(n² − 1): the points, λ and ‖z^(1) − z_λ*‖."""
    strength = Fraction(1, n**2 - 1)
    method = fc.RegularizedFedSplit(stepsize=Fraction(n**2 - 1, n), regularization=strength)
    run = fc.simulate(method, equal_quadratics((1,), 1), rounds, x0=exact(1), arithmetic="exact")
    return run.points, strength, 1 - strength / (1 + strength)


def regularised_gap(instance: tuple[int, int]) -> Pair:
    """Theorem 2, round by round: (n, t)."""
    n, t = instance
    points, strength, away = regularised_points(n, t)
    bound = fedsplit.theorem2roundbyround.calculator.formula(
        t=t, stepsize=Fraction(n**2 - 1, n), L=Fraction(1), regularizer=strength, num_clients=Fraction(1),
        squared_distance=Fraction(1),
        initial_distance=away,
    )  # fmt: skip
    return points[t][0] ** 2 / 2, bound


def regularised_rounds(instance: tuple[int, int]) -> Pair:
    """Theorem 2, corrected: (n, 1/ε); the rounds that are needed, and that are promised."""
    n, inverse = instance
    points, strength, away = regularised_points(n, 4 * n)
    epsilon = Fraction(1, inverse)
    assert strength < epsilon, "beyond the interval of Theorem 2"
    # The gap oscillates, so the last round above ε counts, not the first below.
    missed = [t for t, point in enumerate(points) if point[0] ** 2 / 2 > epsilon]
    promised = fedsplit.theorem2corrected(
        stepsize=Fraction(n**2 - 1, n), L=Fraction(1), regularizer=strength, epsilon=epsilon, initial_distance=away,
        num_clients=Fraction(1), squared_distance=Fraction(1),
    )  # fmt: skip
    return missed[-1] + 1, promised


def rounds_to_gap(instance: tuple[int, int, int]) -> Pair:
    """(22): (√κ with ℓ_* = 1, numerator and denominator of ε): FedSplit's rounds that are needed, and promised."""
    root, *accuracy = instance
    epsilon = Fraction(*accuracy)
    problem = equal_quadratics((1, root**2), 1)
    points = fedsplit_points(problem, Fraction(1, root), exact(0, 1), 60)
    missed = [t for t, point in enumerate(points) if point[1] ** 2 > epsilon]  # relative to L/2
    half = fedsplit.complexities(kappa=Fraction(root) ** 2, epsilon=epsilon).fedsplit / 2
    return Fraction(missed[-1] + 1), Fraction(ceil(float(half)))
