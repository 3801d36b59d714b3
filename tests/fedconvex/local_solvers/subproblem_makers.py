"""Local subproblems, their exact gradients and minimisers, and the answers of local solvers."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from hypothesis import strategies as st
from problem_makers import Draw, entries, fractions, inverse, least_squares, quadratics, terms_of

import fedconvex as fc
from fedconvex.problems.base import Subproblem

RIDGE = Fraction(1, 2)
BOWLS = fc.Quadratic([[[2, 1], [1, 2]], [[1, 0], [0, 3]], [[3, -1], [-1, 1]]], [[1, 2], [0, 1], [1, -1]])
LOSSES = {
    "logistic": fc.Logistic(
        [[[1, 2], [0, 1], [1, 1]], [[2, 1], [0, 1]], [[1, -1], [0, 1]]], [[1, -1, 1], [1, -1], [-1, -1]], RIDGE
    ),
    "multinomial": fc.MultinomialLogistic(
        [[[1], [0], [1]], [[2], [1]], [[1], [-1]]], [[0, 1, 2], [1, 0], [2, 0]], 3, RIDGE
    ),
}


def asked(problem: Any, subproblem: Subproblem, solver: Any, arithmetic: str = "float") -> np.ndarray:
    """The solver's answers, as floats."""
    clients = problem.clients(arithmetic)
    numbers = clients.arithmetic
    parts = [subproblem.start, subproblem.center, subproblem.linear]
    with numbers.context():
        start, center, linear = (None if part is None else numbers.array(part) for part in parts)
        there = Subproblem(start, numbers.scalar(subproblem.weight), center, linear)
        return np.asarray(numbers.to_float(solver.solve(clients, there).points))


def exact_gradients(problem: Any, subproblem: Subproblem, theta: Any) -> list[np.ndarray]:
    """Those of the subproblems, in Fractions, at floats taken as the rationals they are."""
    terms, theta = terms_of(problem), fractions(theta)
    gradients = []
    for k, (H, c) in enumerate(zip(terms.H, terms.c, strict=True)):
        g = H @ theta[k] - c
        if subproblem.center is not None:
            g = g + subproblem.weight * (theta[k] - subproblem.center[k])
        if subproblem.linear is not None:
            g = g + subproblem.linear[k]
        gradients.append(g)
    return gradients


def minimisers(problem: Any, subproblem: Subproblem) -> np.ndarray:
    """Of the subproblems, in Fractions."""
    terms, d = terms_of(problem), problem.dim
    right = exact_gradients(problem, subproblem, np.zeros((problem.num_clients, d), dtype=int))
    return np.array(
        [-inverse(H + subproblem.weight * fractions(np.eye(d, dtype=int))) @ r
         for H, r in zip(terms.H, right, strict=True)]
    )  # fmt: skip


def longest(gradients: Any) -> float:
    return max(sqrt(g @ g) for g in gradients)


@st.composite
def subproblems(draw: Draw, problem: Any, weights: Any) -> Subproblem:
    """With a proximal term of one of the weights or without one, with a linear term or without."""
    shape = (problem.num_clients, problem.dim)
    weight = draw(weights)
    center = draw(entries(*shape)) if weight else None
    return Subproblem(draw(entries(*shape)), weight, center, draw(st.none() | entries(*shape)))


@st.composite
def solvable(draw: Draw) -> tuple[Any, Subproblem]:
    """Least squares, or quadratics that may be indefinite with a proximal term that makes up for it."""
    problem = draw(least_squares() | least_squares(full_rank=True) | quadratics())
    safe = Fraction(max(0.0, -problem.mu.min())).limit_denominator(1000) + Fraction(1, 3)
    enough = [Fraction(0)] if problem.mu.min() > 0.1 else []
    return problem, draw(subproblems(problem, st.sampled_from([*enough, safe, safe + 1, 10 * safe])))


def valley(kappa: int, d: int = 12) -> tuple[fc.Quadratic, Subproblem]:
    """Curvatures from 1 to κ, the minimiser at 0, and a start at distance 1 in every direction."""
    problem = fc.Quadratic([np.diag(np.geomspace(1, kappa, d))], [np.zeros(d)])
    return problem, Subproblem(np.ones((1, d)))
