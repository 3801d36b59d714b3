"""Worst cases with vectors of every client in one Gram matrix, by cvxpy: no code in common with what is tested."""

import warnings

import cvxpy as cp
import numpy as np
import pytest


def mean(rows):
    return sum(rows) / len(rows)


def agree(found, truth):
    """Whether both proved ends are the worst case, as far as the solver tells."""
    assert found.lower <= found.upper
    assert [float(found.lower), float(found.upper)] == pytest.approx([truth, truth], abs=1e-6)


class Clients:
    """Coefficients over `size` basic vectors; function values are cvxpy numbers."""

    def __init__(self, m, lowest, highest, minimiser, size=40):
        self.m, self.curvatures, self.size, self.used = m, [(lowest, highest)] * m, size, 0
        self.known = [[] for _ in range(m)]
        self.w = self.new()
        if minimiser:
            pulls = [self.new() for _ in range(m - 1)]
            pulls.append(-sum(pulls, np.zeros(size)))
            self.pulls = pulls
            for k in range(m):
                self.known[k].append((np.zeros(size), pulls[k], 0.0))

    def new(self):
        vector = np.zeros(self.size)
        vector[self.used] = 1.0
        self.used += 1
        return vector

    def look(self, k, x, g=None):
        for y, h, f in self.known[k]:
            if np.allclose(x, y) and g is None:
                return h, f
        g, f = (self.new() if g is None else g), cp.Variable()
        self.known[k].append((x, g, f))
        return g, f

    def prox(self, k, weight, center, linear=0.0):
        g = self.new()
        theta = center - (g + linear) / weight
        self.look(k, theta, g)
        return theta, g

    def worst(self, metric, measure, more=()):
        """max metric subject to measure = 1; both are functions of the inner product."""
        n = self.used
        G = cp.Variable((n, n), PSD=True)

        def inner(u, v):
            return cp.sum(cp.multiply(np.outer(u[:n], v[:n]), G))

        constraints = [measure(inner) == 1, *(condition(inner) for condition in more)]
        for k, known in enumerate(self.known):
            low, high = self.curvatures[k]
            for i, (x, g, f) in enumerate(known):
                for j, (y, h, e) in enumerate(known):
                    if i != j:
                        step, change = y - x, h - g - low * (y - x)
                        curved = low / 2 * inner(step, step) + inner(change, change) / (2 * (high - low))
                        constraints.append(e >= f + inner(g, step) + curved)
        problem = cp.Problem(cp.Maximize(metric(inner)), constraints)
        with warnings.catch_warnings():  # "may be inaccurate": the comparison tells
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.CLARABEL)
        assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
        return problem.value
