"""Parameters of the methods designed for a problem: those that need the fewest rounds on its quadratic model.

| method | parameters | subject to |
|---|---|---|
| FedGD | stepsize, local steps | error floor below the tolerance |
| FedProx | μ | error floor below the tolerance |
| FedSplit, FedDyn | s, α | – (no bias) |
| SCAFFOLD | stepsize, local steps | – (no bias) |

Each stepsize or weight is searched on a logarithmic grid, then between its best neighbours. A trial ends when it needs
more rounds than the best one before, so that poor parameters cost little.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal, TypeVar

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import FORMED, RoundMap
from fedconvex.audit.designs.search import CandidateFamily, DesignedMethod, designed, search
from fedconvex.audit.designs.trials import LEAST_FLOOR, NO_LIMITS, Candidate, FederationLimits, Trials, with_number
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold

STEPS = (1, 2, 5, 10, 20, 50, 100)  # numbers of local steps that are tried
WORK = 300_000_000  # multiplications of a trial, from which on few are made
MARGIN = 10.0  # the search goes this far beyond the curvatures
SECANTS, FEW_SECANTS = 40, 8  # steps to the first admissible parameter, from afar and from nearby
NARROW, AIM = 1.001, 3e-4  # an admissible floor this near the tolerance ends the search, which aims at its middle

DESIGNED: tuple[type[Method], ...] = (FedGD, FedProx, FedSplit, FedDyn, Scaffold)
QUICK: tuple[type[Method], ...] = (FedSplit, FedDyn)  # designed in an audit of a large problem

C = TypeVar("C")
Make = Callable[[float], Candidate]


@dataclass(frozen=True, eq=False)
class MethodDesigner:
    """Finds parameters on one model for one tolerance."""

    model: QuadraticModel
    tolerance: float
    limits: FederationLimits = NO_LIMITS
    among: tuple[type[Method], ...] = ()  # the methods to choose from; empty: all

    @property
    def designs(self) -> dict[type[Method], Callable[[], DesignedMethod]]:
        """The methods that are designed, each with the function that does it."""
        designs: dict[type[Method], Callable[[], DesignedMethod]] = {
            FedGD: self.fedgd,
            FedProx: self.fedprox,
            FedSplit: self.fedsplit,
            FedDyn: self.feddyn,
            Scaffold: self.scaffold,
        }
        return {kind: design for kind, design in designs.items() if not self.among or kind in self.among}

    def drawn(self, alpha: float) -> DesignedMethod:
        """FedDyn with one of few multiples of the α for everyone; its fixed point is right whoever takes part."""
        alphas = [float(significant(alpha * factor, 3, Rounding.NEAREST)) for factor in (1, 2, 4)]
        designs = designed(self.trials, [(FedDyn(alpha=value), None) for value in alphas])
        return min(designs, key=lambda design: (design.reached.rounds, design.reached.gap))

    def like(self, method: Method) -> DesignedMethod:
        """The method, designed again for these limits."""
        return self.designs[type(method)]()

    def fedgd(self) -> DesignedMethod:
        """FedGD's (stepsize, local steps) with the fewest rounds and an error floor below the tolerance."""

        def family(e: int) -> CandidateFamily:
            def make(s: float) -> Candidate:
                return FedGD(stepsize=s, local_steps=e), None

            high = 2 / self.model.curvatures[1]
            if e > 1 and self.trials.floor_counts:
                high = self._admissible(make, high, 0.5, self.trials.floor)
            return CandidateFamily(make, high / (50 if e == 1 else 5), high)

        # each error floor of several local steps needs a linear system of the size of the unknowns
        numbers = self._numbers_of_steps[:2] if self._is_long else self._numbers_of_steps
        return search(self.trials, [family(e) for e in numbers], self._is_long, inf)

    def scaffold(self, bound: float = inf) -> DesignedMethod:
        """SCAFFOLD's (stepsize, local steps) with the fewest rounds, if it needs at most `bound`."""
        high = 2 / self.model.curvatures[1]

        def family(e: int) -> CandidateFamily:
            return CandidateFamily(lambda s: (Scaffold(stepsize=s, local_steps=e), None), high / (40 * e), high)

        return search(self.trials, [family(e) for e in self._numbers_of_steps], self._is_long, bound)

    def fedprox(self) -> DesignedMethod:
        """FedProx's μ with the fewest rounds among those with an error floor below the tolerance.

        At the smallest such μ the floor equals the tolerance, which is then reached only in the limit.
        """
        make = self._proximal(lambda mu: FedProx(mu=mu))
        if not self.trials.floor_counts:
            return self._best(make, self.model.curvatures[0] / 1000, 1000 * self.model.curvatures[1])
        begin = self.smallest_mu(make)
        return self._best(make, begin, 10 * begin)

    def smallest_mu(self, make: Make) -> float:
        """FedProx's smallest μ whose error floor on the model is below the tolerance."""
        return self._admissible(make, self.model.curvatures[0] / 1000, -0.5, self.trials.floor)

    def smallest_mu_on_problem(self, mu: float, floor_of: Callable[[Method], float]) -> float | None:
        """FedProx's smallest μ whose error floor on the problem is below the tolerance, rounded up to three digits.

        None where none is found near the given one for which this holds, and a μ smaller by 2 % has a floor above it.
        """
        for _ in range(FEW_SECANTS):
            floor = floor_of(FedProx(mu=mu))
            if not LEAST_FLOOR < floor < inf:
                return None
            if self.tolerance / NARROW < floor <= self.tolerance:
                break
            mu *= (floor / self.tolerance) ** 0.5 * (1 + AIM)
        mu = float(significant(mu, 3, Rounding.CEILING))
        smallest = floor_of(FedProx(mu=mu)) <= self.tolerance < floor_of(FedProx(mu=0.98 * mu))
        return mu if smallest else None

    def fedsplit(self) -> DesignedMethod:
        """FedSplit's s with the fewest rounds."""
        least, largest = self.model.curvatures
        # local steps that start at the center would leave an error; from the server's point they do not
        exact = self.limits.local_steps is None
        start: Literal["center", "server"] = "center" if exact else "server"
        make = self._proximal(lambda s: FedSplit(stepsize=s, start=start))
        return self._best(make, 1 / (largest * MARGIN), MARGIN / least)

    def feddyn(self, bound: float = inf) -> DesignedMethod:
        """FedDyn's α with the fewest rounds, if it needs at most `bound`."""
        least, largest = self.model.curvatures
        return self._best(self._proximal(lambda w: FedDyn(alpha=w)), least / MARGIN, largest * MARGIN, bound)

    def at(self, method: Method) -> DesignedMethod:
        """The given method on the model, as a design."""
        return designed(self.trials, [(method, None)])[0]

    @property
    def trials(self) -> Trials:
        """Trials on the model under the limits."""
        return Trials(self.model, self.tolerance, self.limits)

    def is_large(self, method: Method) -> bool:
        """Whether a trial takes so long that few can be made."""
        m, d = self.model.gradients.shape
        size = RoundMap(self.model, method).size
        return size > FORMED or m * d * d * size > WORK

    def with_floor_on_problem(self, design: DesignedMethod, floor_of: Callable[[Method], float]) -> DesignedMethod:
        """The design, or another parameter where its error floor on the problem is above the tolerance.

        The floor on the problem is then what the design's is on the model.

        Args:
            floor_of: error floors on the problem, relative to the initial suboptimality.
        """
        method, tolerance = design.method, self.tolerance
        if design.solver is not None or not method.is_stateless or floor_of(method) <= tolerance:
            return design
        name, power, rounding = (
            ("mu", -0.5, Rounding.CEILING) if method.proximal_weight > 0 else ("stepsize", 0.5, Rounding.FLOOR)
        )
        aim = replace(self, tolerance=design.floor if 0 < design.floor < tolerance else tolerance)
        own = float(getattr(method, name))
        found = aim._admissible(lambda value: with_number(method, name, value), own, power, floor_of)
        return self.at(with_number(method, name, float(significant(found, 3, rounding))))

    def _admissible(
        self, make: Callable[[float], C], extreme: float, power: float, floor_of: Callable[[C], float]
    ) -> float:
        """The parameter nearest to `extreme` with an error floor below the tolerance; floor^power is about linear."""
        parameter = extreme
        for _ in range(SECANTS):
            floor = floor_of(make(parameter))
            if not isfinite(floor) or (
                floor <= self.tolerance and (parameter == extreme or floor > self.tolerance / NARROW)
            ):
                break
            parameter *= (self.tolerance / max(floor, LEAST_FLOOR)) ** power * (1 - AIM if power > 0 else 1 + AIM)
            parameter = min(parameter, extreme) if power > 0 else max(parameter, extreme)
        return parameter

    def _proximal(self, method: Callable[[float], Method]) -> Make:
        """The method by its parameter, with exact local solutions or as many gradient steps as are allowed."""
        steps = self.limits.local_steps

        def make(parameter: float) -> Candidate:
            made = method(parameter)
            if steps is None:
                return made, None
            factors = made.scale(self.model.problem)
            L = max(self.model.problem.L * (1 if factors is None else [float(f) for f in factors]))
            return made, GradientDescent(steps=steps, stepsize=1 / (float(L) + float(made.proximal_weight)))

        return make

    def _best(self, make: Make, low: float, high: float, bound: float = inf) -> DesignedMethod:
        return search(self.trials, [CandidateFamily(make, low, high)], self._is_long, bound)

    @property
    def _numbers_of_steps(self) -> list[int]:
        most = STEPS[-1] if self.limits.local_steps is None else self.limits.local_steps
        return sorted({e for e in STEPS if e < most} | {most})

    @property
    def _is_long(self) -> bool:
        return self.is_large(FedSplit(stepsize=1))
