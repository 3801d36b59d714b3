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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, log10
from typing import Any, Literal

import numpy as np

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import FORMED, MOST, SEEDS, ReachedTarget, RoundMap
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.participation import Participation

STEPS = (1, 2, 5, 10, 20, 50, 100)  # numbers of local steps that are tried
PER_DECADE, REFINED, FEW = 5, 7, 3  # trials of a parameter; FEW per decade where a round is too large for a matrix
WORK = 300_000_000  # multiplications of a trial, from which on FEW are made
TRIED = 500  # rounds of a trial with drawn clients
SAME = 1.01  # fewer local steps are preferred if they need at most this multiple of the rounds
MARGIN = 10.0  # the search goes this far beyond the curvatures
SECANTS = 40  # steps to the first admissible parameter
NARROW, AIM = 1.001, 3e-4  # an admissible floor this near the tolerance ends the search, which aims at its middle
LEAST_FLOOR = 1e-30  # of the first gap: a smaller error floor is 0 up to rounding

Stepsizes = Callable[[int, "DesignedMethod | None"], tuple[float, float]]  # the range for some local steps
Make = Callable[[float], tuple[Method, LocalSolver | None]]


@dataclass(frozen=True)
class FederationLimits:
    """What a federation allows; None: no limit."""

    rounds: int | None = None
    local_steps: int | None = None
    participation: Participation | None = None


@dataclass(frozen=True, eq=False)
class DesignedMethod:
    """A method with the parameters found for it, and its rounds on the model."""

    method: Method
    solver: LocalSolver | None  # None: the method's own
    reached: ReachedTarget
    floor: float  # error floor on the model relative to the first gap; 0 for methods without bias

    @property
    def rounds(self) -> int | None:
        """Rounds to the tolerance on the model, None if the limits or the error floor forbid it."""
        # the model may reach at the start what the problem does not
        return max(ceil(self.reached.rounds - 1e-9), 1) if isfinite(self.reached.rounds) else None

    @property
    def local_steps(self) -> int | None:
        """Gradient steps of a client in a round; None for exact local solutions."""
        solver = self.method.local_solver if self.solver is None else self.solver
        return solver.steps if isinstance(solver, GradientDescent) else None


@dataclass(frozen=True, eq=False)
class MethodDesigner:
    """Finds parameters on one model for one tolerance."""

    model: QuadraticModel
    tolerance: float
    limits: FederationLimits = FederationLimits()

    def designs(self) -> Iterator[tuple[str, Callable[[], DesignedMethod]]]:
        """The methods by name, each with the function that designs it."""
        yield "FedGD", self.fedgd
        yield "FedProx", self.fedprox
        yield "FedSplit", self.fedsplit
        yield "FedDyn", self.feddyn
        yield "SCAFFOLD", self.scaffold

    def drawn(self, alpha: float) -> DesignedMethod:
        """FedDyn with one of few multiples of the α for everyone; its fixed point is right whoever takes part."""
        designs = [
            self.at(FedDyn(alpha=float(significant(alpha * factor, 3, Rounding.NEAREST)))) for factor in (1, 2, 4)
        ]
        return min(designs, key=lambda design: (design.reached.rounds, design.reached.gap))

    def like(self, design: DesignedMethod) -> DesignedMethod:
        """The method of a design, designed again for these limits."""
        kinds = {FedGD: self.fedgd, FedProx: self.fedprox, FedSplit: self.fedsplit, FedDyn: self.feddyn}
        return kinds.get(type(design.method), self.scaffold)()

    def fedgd(self) -> DesignedMethod:
        """FedGD's (stepsize, local steps) with the fewest rounds and an error floor below the tolerance."""
        largest = self.model.curvatures[1]

        def stepsizes(e: int, best: DesignedMethod | None) -> tuple[float, float]:
            high = 2 / largest
            if e > 1 and self._floor_counts:
                high = self._admissible(lambda s: (FedGD(stepsize=s, local_steps=e), None), high, 0.5)
            return high / (50 if e == 1 else 5), high

        return self._with_steps(lambda e: lambda s: (FedGD(stepsize=s, local_steps=e), None), stepsizes)

    def scaffold(self) -> DesignedMethod:
        """SCAFFOLD's (stepsize, local steps) with the fewest rounds."""
        largest = self.model.curvatures[1]

        def stepsizes(e: int, best: DesignedMethod | None) -> tuple[float, float]:
            if best is None:
                return 0.02 / largest, 2 / largest
            before: Any = best.method  # stepsize · local steps changes slowly
            high = min(2 / largest, 4 * before.stepsize * before.local_steps / e)
            return high / 20, high

        return self._with_steps(lambda e: lambda s: (Scaffold(stepsize=s, local_steps=e), None), stepsizes)

    def fedprox(self) -> DesignedMethod:
        """FedProx's μ with the fewest rounds among those with an error floor below the tolerance.

        At the smallest such μ the floor equals the tolerance, which is then reached only in the limit.
        """
        make = self._proximal(lambda mu: FedProx(mu=mu))
        if not self._floor_counts:
            return self._best(make, self.model.curvatures[0] / 1000, 1000 * self.model.curvatures[1])
        begin = self.smallest_mu(make)
        return self._best(make, begin, 10 * begin)

    def smallest_mu(self, make: Make | None = None) -> float:
        """FedProx's smallest μ whose error floor on the model is below the tolerance."""
        make = self._proximal(lambda mu: FedProx(mu=mu)) if make is None else make
        return self._admissible(make, self.model.curvatures[0] / 1000, -0.5)

    def fedsplit(self) -> DesignedMethod:
        """FedSplit's s with the fewest rounds."""
        least, largest = self.model.curvatures
        # local steps that start at the center would leave an error; from the server's point they do not
        exact = self.limits.local_steps is None
        start: Literal["center", "server"] = "center" if exact else "server"
        make = self._proximal(lambda s: FedSplit(stepsize=s, start=start))
        return self._best(make, 1 / (largest * MARGIN), MARGIN / least)

    def feddyn(self) -> DesignedMethod:
        """FedDyn's α with the fewest rounds."""
        least, largest = self.model.curvatures
        return self._best(self._proximal(lambda w: FedDyn(alpha=w)), least / MARGIN, largest * MARGIN)

    def at(self, method: Method, solver: LocalSolver | None = None) -> DesignedMethod:
        """The given method and solver on the model, as a design."""
        return self._design(method, solver, MOST if self.limits.rounds is None else self.limits.rounds)

    def _with_steps(self, make: Callable[[int], Make], stepsizes: Stepsizes) -> DesignedMethod:
        """The best over the numbers of local steps, each with its stepsize."""
        most = STEPS[-1] if self.limits.local_steps is None else self.limits.local_steps
        best: DesignedMethod | None = None
        for e in sorted({e for e in STEPS if e < most} | {most}):
            if best is not None and e > FEW and (self.is_large(best.method) or self.limits.participation is not None):
                break
            low, high = stepsizes(e, best)
            found = self._best(make(e), low, high, inf if best is None else best.reached.rounds, best is not None)
            if best is None or _better(found, best):
                best = found
        assert best is not None
        return best

    @property
    def _floor_counts(self) -> bool:
        """Whether parameters are excluded by their error floor; otherwise by the gap that a run has at the limit."""
        return self.limits.rounds is None and self.limits.participation is None

    def _admissible(self, make: Make, extreme: float, power: float) -> float:
        """The parameter nearest to `extreme` with an error floor below the tolerance; floor^power is about linear."""
        parameter = extreme
        for _ in range(SECANTS):
            floor = self._floor(*make(parameter))
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

        def make(parameter: float) -> tuple[Method, LocalSolver | None]:
            made = method(parameter)
            if steps is None:
                return made, None
            factors = made.scale(self.model.problem)
            L = max(self.model.problem.L * (1 if factors is None else [float(f) for f in factors]))
            return made, GradientDescent(steps=steps, stepsize=1 / (float(L) + float(made.proximal_weight)))

        return make

    def _best(self, make: Make, low: float, high: float, limit: float = inf, narrow: bool = False) -> DesignedMethod:
        """The parameter in [low, high] with the fewest rounds, in three digits; then the least last gap decides."""
        most = MOST if self.limits.rounds is None else self.limits.rounds
        trials: dict[float, ReachedTarget] = {}

        def attempt(parameter: float) -> None:
            if parameter not in trials:
                best = min((r.rounds for r in trials.values()), default=limit)
                bound = most if not isfinite(best) else min(most, ceil(best) + 1)
                if self.limits.participation is not None:
                    bound = min(bound, TRIED)
                trials[parameter] = self._reached(*make(parameter), bound, seeds=1)

        def order(parameter: float) -> tuple[float, float]:
            return trials[parameter].rounds, trials[parameter].gap

        large = self.is_large(make((low * high) ** 0.5)[0]) or self.limits.participation is not None
        few = large or narrow
        count = max(FEW, ceil((FEW if few else PER_DECADE) * log10(high / low))) + 1
        for parameter in _from_the_middle([float(p) for p in np.geomspace(low, high, count)]):
            attempt(parameter)
        for points in (FEW, FEW) if few else (REFINED, REFINED):
            best, grid = min(trials, key=order), sorted(trials)
            place = grid.index(best)
            left, right = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
            if right / left < 1.02:
                break
            for parameter in np.geomspace(left, right, points + 2)[1:-1]:
                attempt(float(parameter))
        best = min(trials, key=order)
        down, up = (float(significant(best, 3, rounding)) for rounding in (Rounding.FLOOR, Rounding.CEILING))
        designs = [self._design(*make(parameter), most) for parameter in {down, up}]
        return min(designs, key=lambda design: (design.reached.rounds, design.reached.gap))

    def _design(self, method: Method, solver: LocalSolver | None, most: int) -> DesignedMethod:
        return DesignedMethod(method, solver, self._reached(method, solver, most), self._floor(method, solver))

    def _reached(
        self, method: Method, solver: LocalSolver | None, limit: int, seeds: int = len(SEEDS)
    ) -> ReachedTarget:
        target = self.tolerance * self.model.first_gap
        if solver is None and not self._has_local_minimisers(method):
            return ReachedTarget(inf, inf)
        if self._floor_counts:
            floor = self._floor(method, solver)
            if floor > self.tolerance:  # a run may come near the minimiser only in passing
                return ReachedTarget(inf, floor * self.model.first_gap)
        return RoundMap(self.model, method, solver, self.limits.participation, SEEDS[:seeds]).reached(target, limit)

    def _floor(self, method: Method, solver: LocalSolver | None) -> float:
        if not method.memoryless or (isinstance(method, FedGD) and method.local_steps == 1):
            return 0.0
        floor = RoundMap(self.model, method, solver).floor / self.model.first_gap
        return 0.0 if floor < LEAST_FLOOR else floor

    def _has_local_minimisers(self, method: Method) -> bool:
        """Whether the proximal term makes up for clients that are not convex, where subproblems are solved exactly."""
        if self.model.problem.is_convex or not isinstance(method.local_solver, Exact):
            return True
        factors = method.scale(self.model.problem)
        least = min(self.model.problem.mu * (1.0 if factors is None else np.array([float(f) for f in factors])))
        return float(method.proximal_weight) > -float(least)

    def is_large(self, method: Method) -> bool:
        """Whether a trial takes so long that few can be made."""
        m, d = self.model.gradients.shape
        size = RoundMap(self.model, method).size
        return size > FORMED or m * d * d * size > WORK


def _better(new: DesignedMethod, old: DesignedMethod) -> bool:
    if isfinite(new.reached.rounds) or isfinite(old.reached.rounds):
        return new.reached.rounds * SAME < old.reached.rounds
    return new.reached.gap * SAME < old.reached.gap


def _from_the_middle(values: Sequence[float]) -> list[float]:
    """The values ordered by their distance from the middle one: good trials first make the poor ones short."""
    middle = (len(values) - 1) / 2
    return [value for _, value in sorted(enumerate(values), key=lambda pair: abs(pair[0] - middle))]
