"""The bounds that `bounds_for` gives for a run, compared with exact numbers; rounds of FedProx over all draws."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from bound_makers import mean, square, upper, value
from problem_makers import terms_of, weighted

import fedconvex as fc
from fedconvex import participation, theory
from fedconvex.statements.instance import Instance
from fedconvex.theory.bounds import Applies, DoesNot, apply


class Asked:
    """`bounds_for(…)` of the statements that a test asks for, without the two hundred others."""

    def __init__(
        self, method: Any, problem: Any, scheme: Any = None, *, solver: Any = None, x0: Any = None,
        rounds: int | None = None, **given: Any,
    ) -> None:  # fmt: skip
        self.setting = Instance(problem, method, scheme, solver, x0, rounds)
        self.given = given

    def __getitem__(self, identifier: str) -> Applies | DoesNot:
        return apply(theory.statement(identifier), self.setting, self.given)


def promised(bounds: Any, identifier: str) -> Any:
    """The number of a statement that applies."""
    entry = bounds[identifier]
    assert isinstance(entry, Applies), f"{identifier} does not apply: {entry.assumption}: {entry.reason}"
    return entry.value


def at_most(left: Fraction, bound: Any) -> bool:
    """Whether an exact number keeps a bound known as a ball."""
    return left <= upper(bound)


class ProximalRound:
    """Every client's exact or inexact answer from w, and the exact expectations over K independent draws."""

    def __init__(self, problem: Any, mu: Fraction, solver: Any, w: np.ndarray, K: int) -> None:
        self.method, self.scheme, self.solver = fc.FedProx(mu=mu), participation.Weighted(K), solver
        self.problem, self.terms, self.w, self.K = problem, terms_of(problem), w, K
        alone = [participation.Schedule([[k]]) for k in range(problem.num_clients)]
        self.answers = [
            fc.simulate(self.method, problem, 1, only, solver, w, arithmetic="exact").points[1] for only in alone
        ]
        self.average = weighted(self.terms.w, self.answers)

    @property
    def variance(self) -> Fraction:
        """E‖w_k − w̄‖² of one draw."""
        return weighted(self.terms.w, [square(a - self.average) for a in self.answers])

    @property
    def sampling(self) -> Fraction:
        """E f(w⁺) − f(w̄) = tr(H Cov)/(2K), f being quadratic."""
        H, _ = self.terms.summed()
        away = [a - self.average for a in self.answers]
        return weighted(self.terms.w, [v @ H @ v for v in away]) / (2 * self.K)

    @property
    def expected_value(self) -> Fraction:
        return value(self.terms, self.average) + self.sampling

    def bounds(self, **given: Any) -> Any:
        return Asked(self.method, self.problem, self.scheme, solver=self.solver, x0=self.w, **given)

    def draws(self) -> Iterator[tuple[Fraction, np.ndarray]]:
        """The probability and the server's point of every K-tuple."""
        clients = range(self.problem.num_clients)
        for drawn in product(clients, repeat=self.K):
            chance = Fraction(1)
            for k in drawn:
                chance *= self.terms.w[k]
            yield chance, mean(self.answers[k] for k in drawn)
