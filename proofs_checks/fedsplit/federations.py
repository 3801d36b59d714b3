"""Small exact federations on which the FedSplit paper's formulas are compared with the running code."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

import fedconvex as fc
from fedconvex.proofs_checks.fedsplit.instances import Pair, exact
from fedconvex.theory import fedsplit

Formula = Callable[..., Any]


def quadratics(number: int) -> Any:
    """Two strongly convex clients with two unknowns."""
    H = [np.array([exact(number + 2, 1), exact(1, 3)]), np.array([exact(2, -1), exact(-1, number + 1)])]
    return fc.Quadratic(H, [exact(1, number), exact(number - 4, 2)])


def point(number: int) -> np.ndarray:
    """A point."""
    return exact(Fraction(number - 3, 2), Fraction(5 - 2 * number, 3))


def by_coordinate(formula: Formula, **vectors: Any) -> tuple[Any, ...]:
    """The formula for every coordinate of its vectors, and of its lists of vectors."""
    coordinates = range(2)
    return tuple(
        formula(**{name: _coordinate(value, i) for name, value in vectors.items()}) for i in coordinates
    )  # fmt: skip


def _coordinate(value: Any, i: int) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value[i]
    return tuple(row[i] for row in value) if isinstance(value, np.ndarray | Sequence) else value


def after(method: Any, problem: Any, start: np.ndarray, rounds: int = 1) -> tuple[Any, ...]:
    """The server's point after some rounds."""
    return tuple(fc.simulate(method, problem, rounds, x0=start, arithmetic="exact").points[rounds])


def alone(problem: Any, client: int) -> Any:
    """A federation of one of the clients."""
    return fc.Quadratic([problem.H[client]], [problem.c[client]])


def gradient_step(formula: Formula, number: int) -> Pair:
    """(3), and FedGD with one step and one client."""
    problem, x, s = quadratics(number), point(number), Fraction(1, number + 3)
    gradient = problem.client_gradients(x)[0]
    found = by_coordinate(formula, x=x, stepsize=s, gradient=gradient)
    return found, after(fc.FedGD(stepsize=s, local_steps=1), alone(problem, 0), x)


def fedgd_round(formula: Formula, number: int) -> Pair:
    """(4), of what each client computes alone, and a round of FedGD."""
    problem, x = quadratics(number), point(number)
    method = fc.FedGD(stepsize=Fraction(1, number + 3), local_steps=number % 3 + 1)
    points = [after(method, alone(problem, k), x) for k in range(2)]
    return by_coordinate(formula, points=points), after(method, problem, x)


def fedprox_round(formula: Formula, number: int) -> Pair:
    """(6), of the clients' proximal points, and a round of FedProx with exact answers."""
    problem, x, s = quadratics(number), point(number), Fraction(2, number + 1)
    points = problem.client_prox(x, s)
    return by_coordinate(formula, points=points), after(fc.FedProx(mu=1 / s), problem, x)


def fedgd_rests(formula: Formula, number: int) -> Pair:
    """(5) at an exact fixed point of FedGD, and 0."""
    problem, s, e = quadratics(number), Fraction(1, 40), number % 3 + 1
    x = fc.fixed_point(fc.FedGD(stepsize=s, local_steps=e), problem, arithmetic="exact").point
    ends, gradients = np.array([x, x]), []
    for _ in range(e):
        slopes = problem.client_gradients(ends)
        gradients += list(slopes)
        ends = ends - s * slopes
    return by_coordinate(formula, gradients=gradients), (0, 0)


def no_bias_of_one_step(number: int) -> Pair:
    """The bias of FedGD with one step, and 0."""
    method = fc.FedGD(stepsize=Fraction(1, 40), local_steps=1)
    return tuple(fc.fixed_point(method, quadratics(number), arithmetic="exact").bias), (0, 0)


def bias_of_fedgd() -> Any:
    """The squared bias of FedGD with two steps on two clients in one dimension."""
    problem = fc.Quadratic([[[1]], [[4]]], [[1], [0]])
    found = fc.fixed_point(fc.FedGD(stepsize=Fraction(1, 8), local_steps=2), problem, arithmetic="exact")
    return number_of(found.bias[0]) ** 2


def number_of(value: Any) -> Any:
    """A rational number for SymPy."""
    return sympy.Rational(int(value.numerator), int(value.denominator))


def fedprox_and_minimiser() -> tuple[Any, Any]:
    """Where FedProx with s = 1 rests on ½(x − 1)² and ½(2x)², by the paper's closed forms, and the minimiser."""
    A, b = [np.array([exact(1)]), np.array([exact(2)])], [exact(1), exact(0)]
    prox = fedsplit.fedprox_fixed_point.formula(A=A, b=b, stepsize=Fraction(1))[0]
    return number_of(prox), number_of(fedsplit.least_squares_solution.calculator.formula(A=A, b=b)[0])


def fedprox_rests(formula: Formula, number: int) -> Pair:
    """(7) at an exact fixed point of FedProx, and 0."""
    problem, s = quadratics(number), Fraction(number + 1, 3)
    x = fc.fixed_point(fc.FedProx(mu=1 / s), problem, arithmetic="exact").point
    return by_coordinate(formula, x=x, points=problem.client_prox(x, s), stepsize=s), (0, 0)


def fedsplit_moves(formula: Formula, number: int) -> Pair:
    """(13)'s residual, and how far a round of FedSplit moves each z_j; after a round that makes them different."""
    problem, s, start = quadratics(number), Fraction(number + 1, 3), point(number)
    before = fc.simulate(fc.FedSplit(stepsize=s), problem, 1, x0=start, arithmetic="exact")
    moved = fc.simulate(fc.FedSplit(stepsize=s), problem, 2, x0=start, arithmetic="exact")
    z, z_after = (fractions(run.state.memory["z"]) for run in (before, moved))
    x = before.points[1]
    points = problem.client_prox(2 * x - z, s)
    residuals = tuple(by_coordinate(formula, x=x, point=half) for half in points)
    return residuals, tuple(tuple(row) for row in z_after - z)


def fractions(values: Any) -> np.ndarray:
    """As Python's Fractions."""
    return np.array([[Fraction(int(v.numerator), int(v.denominator)) for v in row] for row in values], dtype=object)


def fedsplit_rests(formula: Formula, number: int) -> Pair:
    """Σ∇f_j at the server's point of an exact fixed point of FedSplit, and 0."""
    problem = quadratics(number)
    x = fc.fixed_point(fc.FedSplit(stepsize=Fraction(number + 1, 3)), problem, arithmetic="exact").point
    return by_coordinate(formula, gradients=problem.client_gradients(x)), (0, 0)
