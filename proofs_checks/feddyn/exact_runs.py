"""Exact runs of FedDyn on one-dimensional quadratics, over all possible draws: the lemmas' expectations as numbers.

They serve two purposes: comparing definitions with the running code, and computing how tight a bound is.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from random import Random
from typing import Any, final

import fedconvex as fc
from fedconvex import participation

Draws = tuple[tuple[int, ...], ...]


@final
@dataclass(frozen=True)
class Federation:
    """Devices L_k(θ) = a_k θ²/2 − c_k θ with a_k ≠ 0, and a method: α, the number of active devices, θ⁰.

    The method is FedDyn, or FedDynOneGD with `one_gradient`.
    """

    curvatures: tuple[Any, ...]
    linear: tuple[Any, ...]
    alpha: Any
    active: int
    start: Any
    one_gradient: bool = False
    _kept: dict[Draws, tuple[Any, Any, list[Any]]] = field(default_factory=dict, compare=False)

    @classmethod
    def random(cls, number: int, loosest: int = 1) -> "Federation":
        """An instance with small rational numbers and α of at least `loosest` times the smoothness."""
        draw = Random(number)
        m = draw.randint(1, 3)
        a = tuple(Fraction(draw.randint(1, 9), draw.randint(1, 4)) for _ in range(m))
        c = tuple(Fraction(draw.randint(-6, 6), draw.randint(1, 3)) for _ in range(m))
        alpha = max(a) * loosest + Fraction(draw.randint(0, 20), 3)
        return cls(a, c, alpha, draw.randint(1, m), Fraction(draw.randint(-6, 6), 2))

    @property
    def devices(self) -> int:
        return len(self.curvatures)

    @property
    def smoothness(self) -> Any:
        return max(self.curvatures)

    @property
    def convexity(self) -> Any:
        return min(self.curvatures)

    @cached_property
    def minimiser(self) -> Any:
        return sum(self.linear) / Fraction(sum(self.curvatures))

    @cached_property
    def problem(self) -> fc.Quadratic:
        return fc.Quadratic([[[a]] for a in self.curvatures], [[c] for c in self.linear])

    def value(self, k: int, x: Any) -> Any:
        return self.curvatures[k] * x * x / 2 - self.linear[k] * x

    def gap(self, x: Any) -> Any:
        return mean(self.value(k, x) - self.value(k, self.minimiser) for k in range(self.devices))

    def gradients(self, x: Any) -> list[Any]:
        return [a * x - c for a, c in zip(self.curvatures, self.linear, strict=True)]

    def draws(self, rounds: int) -> list[Draws]:
        """Every sequence of sets of active devices; all are equally likely."""
        return list(product(combinations(range(self.devices), self.active), repeat=rounds))

    def state(self, draws: Draws) -> tuple[Any, Any, list[Any]]:
        """θ^t, h^t and the memories of the running code, after the rounds with these draws."""
        # Measures need the same state for many draws; a run in rationals takes a while.
        if draws not in self._kept:
            # A schedule needs a round; without rounds it is not used.
            plan = participation.Schedule([list(s) for s in draws] or [[0]])
            method = fc.FedDynOneGD(alpha=self.alpha) if self.one_gradient else fc.FedDyn(alpha=self.alpha)
            run = fc.simulate(method, self.problem, len(draws), plan, x0=[self.start], arithmetic="exact")
            memory = [rational(row[0]) for row in run.state.memory["gradient"]]
            self._kept[draws] = rational(run.points[-1][0]), rational(run.state.shared["h"][0]), memory
        return self._kept[draws]

    def average(self, draws: Draws) -> Any:
        """γ^t = θ^t + h^t/α."""
        server, h, _ = self.state(draws)
        return server + h / self.alpha

    def virtual(self, draws: Draws) -> list[Any]:
        """θ̃_k^{t+1} of every device: the value of γ^{t+1} if that device takes part alone."""
        return [self.average((*draws, (k,))) for k in range(self.devices)]

    def models(self, draws: Draws) -> list[Any]:
        """θ_k^t of every device: its last answer; before the first one its own minimiser, where its gradient is 0."""
        if not draws:
            return [c / Fraction(a) for a, c in zip(self.curvatures, self.linear, strict=True)]
        old, new = self.models(draws[:-1]), self.virtual(draws[:-1])
        return [new[k] if k in draws[-1] else old[k] for k in range(self.devices)]

    def errors(self, draws: Draws) -> Any:
        """(1/m)Σ‖∇L_k(θ_k^t) − ∇L_k(θ_*)‖²."""
        pairs = zip(self.curvatures, self.models(draws), strict=True)
        return mean((a * (theta - self.minimiser)) ** 2 for a, theta in pairs)

    def round(self, t: int) -> dict[str, Any]:
        """The expectations of round t in the lemmas, by their names in `theory.feddyn.notation`."""
        before, after, star = self.draws(t - 1), self.draws(t), self.minimiser
        return {
            "distance": mean((self.average(s) - star) ** 2 for s in before),
            "distance_next": mean((self.average(s) - star) ** 2 for s in after),
            "virtual_distance": mean((x - star) ** 2 for s in before for x in self.virtual(s)),
            "C": mean(map(self.errors, before)),
            "C_next": mean(map(self.errors, after)),
            "epsilon": mean((x - self.average(s)) ** 2 for s in before for x in self.virtual(s)),
            "move": mean((self.average(s) - self.average(s[:-1])) ** 2 for s in after),
            "h": mean(self.state(s)[1] ** 2 for s in after),
            "gap": mean(self.gap(self.average(s)) for s in before),
        }


def mean(numbers: Any) -> Any:
    rows = list(numbers)
    return sum(rows[1:], rows[0]) / Fraction(len(rows))


def rational(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q)) if hasattr(number, "p") else Fraction(number)
