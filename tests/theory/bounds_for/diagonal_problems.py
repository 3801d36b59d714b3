"""Problems with diagonal Hessians, whose constants are known exactly, and their `bounds_for`."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bound_makers import as_seen_by, gradient, gradients, mean_square, minimiser, square, value
from problem_makers import fractions, inverse

import fedconvex as fc
from fedconvex import participation
from fedconvex.theory import Bounds, bounds_for

HALF = Fraction(1, 2)
START = fractions([2, -1])
DIAGONALS = [[1, 2], [3, 1], [2, 2]]
c = [[1, 0], [2, 1], [1, 1]]
EQUAL = fc.Quadratic([np.diag(h) for h in DIAGONALS], c)
UNEQUAL = fc.Quadratic([np.diag(h) for h in DIAGONALS], c, weights=[1, 2, 3])
SINGULAR = fc.Quadratic([np.diag([1, 0]), np.diag([0, 2]), np.diag([1, 0])], c)
INDEFINITE = fc.Quadratic([np.diag([-1, 2]), np.diag([3, 1]), np.diag([2, 2])], c)
TWINS = fc.Quadratic([np.diag([1, 2])] * 3, [[1, 0]] * 3)
LOGISTIC = fc.Logistic([[[1, 2], [0, 1]], [[1, 0]]], [[1, -1], [1]], ridge=HALF)
WEIGHTED = participation.Weighted(200)
BIG = fc.FedProx(mu=60)
GD = fc.GradientDescent(steps=5, stepsize=Fraction(1, 70))


def bounds(problem: Any, method: Any, scheme: Any = None, **options: Any) -> Bounds:
    return bounds_for(method, problem, scheme, **{"x0": START, "rounds": 5, **options})


class Truth:
    """The constants of the diagonal problems, exactly: eigenvalues are entries."""

    def __init__(self, problem: Any, method: Any, x: Any = START) -> None:
        self.terms = as_seen_by(method, problem)
        entries_ = [Fraction(v) for H in self.terms.H for v in np.diag(H)]
        self.L, self.mu, self.L_minus = max(map(abs, entries_)), min(entries_), max(Fraction(0), -min(entries_))
        self.square = square(gradient(self.terms, x))
        self.B2 = mean_square(self.terms, x) / self.square
        self.variance = mean_square(self.terms, x) - self.square
        solution = minimiser(self.terms)
        self.D0, self.delta = square(x - solution), value(self.terms, x) - value(self.terms, solution)
        at = gradients(self.terms, solution)
        m = len(at)
        self.G = sum(map(square, at)) / m
        self.stacked = lambda s: sum(square(x - (solution - s * g)) for g in at)
        if self.mu > 0:
            own = [inverse(H) @ c_k for H, c_k in zip(self.terms.H, self.terms.c, strict=True)]
            self.spread = sum(square(theta - x) for theta in own) / m


def close(found: Any, expected: Any) -> bool:
    """Measured L and mu are good to 1e-10."""
    return float(found) == pytest.approx(float(expected), rel=1e-7)
