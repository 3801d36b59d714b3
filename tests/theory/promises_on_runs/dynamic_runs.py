"""FedDyn and FedDynOneGD over all sequences of drawn sets: exact values of all quantities in the paper's proofs."""

from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from bound_makers import (
    as_seen_by,
    gradient,
    gradients,
    least_eigenvalue,
    mean,
    minimiser,
    positive_weights,
    square,
    starts,
    strongly_convex,
    upper,
    value,
)
from hypothesis import assume
from hypothesis import strategies as st
from problem_makers import entries, identity, inverse, rank, rationals, terms_of
from promises import Asked

import fedconvex as fc
from fedconvex import participation
from fedconvex.statements.instance import Instance


class DynamicRuns:
    """FedDyn or FedDynOneGD over all sequences of sets of P clients; everything that its lemmas speak of, exactly."""

    def __init__(self, problem: Any, method: Any, P: int, T: int, x0: np.ndarray) -> None:
        self.problem, self.method, self.P, self.T, self.x0 = problem, method, P, T, x0
        self.terms, self.alpha = as_seen_by(method, problem), Fraction(method.alpha)
        self.solution = minimiser(self.terms)
        self.at_solution = gradients(self.terms, self.solution)
        self.one_gradient = isinstance(method, fc.FedDynOneGD)
        self._states: dict[Any, Any] = {}
        self.sets = list(combinations(range(problem.num_clients), P))
        assert len(self.sets) == comb(problem.num_clients, P)

    @property
    def scheme(self) -> Any:
        return participation.Uniform(self.P)

    def bounds(self, **given: Any) -> Any:
        return Asked(self.method, self.problem, self.scheme, x0=self.x0, rounds=self.T, **given)

    def sequences(self, t: int) -> list[Any]:
        return list(product(self.sets, repeat=t))

    def state(self, played: Any) -> Any:
        """θ^t, h^t, the memories, and every device's last model, after these rounds."""
        if played not in self._states:
            plan = participation.Schedule([list(s) for s in played] or [[0]])
            run = fc.simulate(self.method, self.problem, len(played), plan, x0=self.x0, arithmetic="exact")
            server, memory = run.points[-1], rationals(run.state.memory["gradient"])
            h = rationals(run.state.shared["h"])
            if not played:
                models = [inverse(H) @ c for H, c in zip(self.terms.H, self.terms.c, strict=True)]
            else:
                before, _, old, models = self.state(played[:-1])
                models = [
                    before - (memory[k] - old[k]) / self.alpha if k in played[-1] else models[k]
                    for k in range(len(models))
                ]
            self._states[played] = server, h, memory, models
        return self._states[played]

    def average(self, played: Any) -> np.ndarray:
        """γ^t: the mean of the active devices' models; γ⁰ = θ⁰."""
        return mean(self.state(played)[3][k] for k in played[-1]) if played else self.x0

    def virtual(self, played: Any) -> list[np.ndarray]:
        """The θ̃_k^{t+1} of all devices, from the state after `played`."""
        server, _, memory, _ = self.state(played)
        if self.one_gradient:
            return [server - (g - h) / self.alpha for g, h in zip(gradients(self.terms, server), memory, strict=True)]
        return [
            inverse(H + self.alpha * identity(len(c))) @ (c + g + self.alpha * server)
            for H, c, g in zip(self.terms.H, self.terms.c, memory, strict=True)
        ]

    def gap(self, x: np.ndarray) -> Fraction:
        return value(self.terms, x) - value(self.terms, self.solution)

    def after(self, played: Any) -> dict[str, Fraction]:
        """The quantities of a point of the run."""
        (server, h, memory, models), average = self.state(played), self.average(played)
        here, there = gradients(self.terms, average), gradients(self.terms, server)
        return {
            "distance": square(average - self.solution),
            "server_distance": square(server - self.solution),
            "gap": self.gap(average),
            "loss": value(self.terms, average),
            "gradient_square": square(gradient(self.terms, average)),
            "A": mean(square(g - star) for g, star in zip(memory, self.at_solution, strict=True)),
            "B": mean(square(g - own) for g, own in zip(memory, here, strict=True)),
            "apart": mean(square(theta - average) for theta in models),
            "h": square(h),
            "lag": square(server - average),
            "gradients_apart": mean(square(a - b) for a, b in zip(here, there, strict=True)),
            "mean_square": mean(square(g - star) for g, star in zip(here, self.at_solution, strict=True)),
        }

    def expected(self) -> dict[str, Fraction]:
        """Of round T, named as in the paper's notation: what was before, what is after (`_next`), and the moves."""
        before = [self.after(s) for s in self.sequences(self.T - 1)]
        after = [self.after(s) for s in self.sequences(self.T)]
        found = {name: mean(q[name] for q in before) for name in before[0]}
        found |= {f"{name}_next": mean(q[name] for q in after) for name in after[0]}
        moves = [mean(square(v - self.average(s)) for v in self.virtual(s)) for s in self.sequences(self.T - 1)]
        ends = [mean(square(v - self.solution) for v in self.virtual(s)) for s in self.sequences(self.T - 1)]
        steps = [square(self.average(s) - self.average(s[:-1])) for s in self.sequences(self.T)]
        return found | {"epsilon": mean(moves), "move": mean(steps), "virtual_distance": mean(ends)}


@st.composite
def dynamic_runs(draw: Any, method: Any, convex: bool = True) -> DynamicRuns:
    """Up to three clients, any P, two rounds; α from well below to well above what the theorems ask for."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    P = draw(st.integers(1, m))
    if convex:
        problem = draw(strongly_convex(m, d))
    else:
        roots, weights = [draw(entries(d, d)) for _ in range(m)], draw(positive_weights(m))
        H, c = [(h + h.T) / 2 for h in roots], [draw(entries(d)) for _ in range(m)]
        whole, _ = terms_of(fc.Quadratic(H, c, weights)).summed()
        lifted = Fraction(1, 7) + int(max(0, -least_eigenvalue(whole)) + 1)
        problem = fc.Quadratic([h + lifted * identity(d) for h in H], c, weights)
        assume(all(rank(h) == d for h in problem.H))
    P = min(P, problem.num_clients)
    L = Fraction(int(upper(Instance(problem, fc.FedDyn(alpha=1)).smoothness)) + 1)
    alpha = L * draw(st.sampled_from([Fraction(3, 2), 5, 20 * Fraction(problem.num_clients, P), 30, 150]))
    return DynamicRuns(problem, method(alpha=alpha), P, draw(st.integers(1, 2)), draw(starts(problem)))
