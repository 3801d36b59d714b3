"""The deterministic twin of a run: the same method with everyone in every round, and local work without chance."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isclose

import numpy as np

from fedconvex.audit.designs.measured_runs import PlayedRun
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import RoundMap
from fedconvex.audit.run_series import RunSeries
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import fixed_point
from fedconvex.local_solvers.base import LocalSolver, SmoothSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem

LONGEST, SHORTEST = 5000, 20  # rounds that are played, as long as these have …
WORK = 2e9  # … about so many multiplications
STABLE = 1 - 1e-9  # a factor per round above counts as no contraction
BISECTIONS = 20
DIRECTIONS = (("stepsize", False), ("eta", False), ("alpha", True), ("mu", True))  # up: larger ones converge


@dataclass(frozen=True, eq=False)
class DeterministicTwin:
    """A method with a deterministic local solver on a problem, and its run from the series' start, or from 0."""

    method: Method
    solver: SmoothSolver
    model: QuadraticModel  # from that start
    series: RunSeries
    target: float
    start: np.ndarray

    @property
    def map(self) -> RoundMap:
        """One of its rounds on the quadratic model."""
        return RoundMap(self.model, self.method, self.solver)

    @cached_property
    def floor(self) -> float:
        """The recorded quantity at the fixed point: the error floor; inf if none is found (NUMERIC)."""
        try:
            stop = fixed_point(self.method, self.model.problem, "float", self.solver)
        except (NoFixedPoint, NotConverged, TooLarge, InvalidInput):
            return inf
        return self.series.of_point(np.asarray(stop.point, dtype=np.float64))

    @cached_property
    def played(self) -> np.ndarray:
        """The recorded quantity after each of the run's rounds, or after as many as are played."""
        longest = min(self.series.rounds, longest_run(self.model.problem, self.solver))
        return np.array(self.run.values(self.method, longest))

    @property
    def starts_alike(self) -> bool:
        """Whether it starts where the run did, as far as the first numbers tell."""
        return isclose(float(self.played[0]), float(self.series.values[0]), rel_tol=1e-2)

    @property
    def run(self) -> PlayedRun:
        """Its runs on the problem."""
        return PlayedRun(self.model.problem, self.series.of_point, self.start, self.solver)

    @cached_property
    def rounds(self) -> tuple[float, bool]:
        """The rounds to the target, and whether they were played; else they are the model's, whatever the floor."""
        longest = longest_run(self.model.problem, self.solver)
        if len(played := self.played) <= longest and not self.floor > self.target:
            played = np.array(self.run.values(self.method, longest, self.target))
        hit = np.flatnonzero(played <= self.target)
        if len(hit):
            return float(hit[0]), True
        on_model = self.map.reached(self.target / float(self.played[0]) * self.model.first_gap).rounds
        return max(on_model, float(len(played))), False

    def after(self, rounds: int) -> float:
        """What is recorded after so many rounds; at most that after the last one that is played."""
        return float(self.played[min(rounds, len(self.played) - 1)])

    @property
    def contraction(self) -> float:
        """The factor per round of the error in late rounds (NUMERIC)."""
        return self.map.contraction

    def exact(self) -> "DeterministicTwin":
        """The same method with exact local solutions."""
        return replace(self, solver=Exact())

    def stable_parameter(self) -> tuple[str, float] | None:
        """The method's parameter and its value nearest to the run's with which the rounds converge; None: none found.

        Stepsizes and s are lowered, weights of proximal terms raised.
        """
        names = [(name, up) for name, up in DIRECTIONS if hasattr(self.method, name)]
        if not names:
            return None
        name, up = names[0]
        value = float(getattr(self.method, name))

        def converges(exponent: float) -> bool:
            changed = value * 10.0 ** (exponent if up else -exponent)
            method = replace(self.method, **{name: changed})  # type: ignore[type-var]
            own = method.local_solver  # where it takes steps, their size is the method's parameter
            solver = self.solver if isinstance(own, Exact) else deterministic_solver(method, own, self.model)
            return replace(self, method=method, solver=solver).contraction < STABLE

        low, high = 0.0, 4.0
        if value <= 0 or not converges(high):
            return None
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if converges(middle) else (middle, high)
        return name, value * 10.0 ** (high if up else -high)


def deterministic_solver(method: Method, solver: LocalSolver, model: QuadraticModel) -> SmoothSolver:
    """The solver without chance and adaptive stopping: SGD with full batches, exact solutions for the others."""
    if isinstance(solver, SmoothSolver):
        return solver
    if isinstance(solver, SGD):
        if solver.within_round is not None:
            problem = "changes its stepsize within a round, which is not analysed"
            raise InvalidInput("local_solver", solver, problem, "leave within_round out")
        steps = solver.steps
        if steps is None:
            sizes = [len(y) for y in getattr(model.problem, "y", getattr(model.problem, "b", ()))]
            batches = [1 if solver.batch_size is None else -(-size // solver.batch_size) for size in sizes]
            steps = max(1, round((solver.epochs or 1) * sum(batches) / max(len(batches), 1)))
        return GradientDescent(steps=steps, stepsize=solver.stepsize)
    return Exact()


def longest_run(problem: Problem, solver: LocalSolver) -> int:
    """The rounds of a run that takes seconds."""
    entries = sum(A.size for A in getattr(problem, "A", ())) or problem.num_clients * problem.dim**2
    steps = float(np.max(getattr(solver, "steps", None) or 10))  # a Newton solution takes about as many passes
    return int(min(LONGEST, max(SHORTEST, WORK / (4 * entries * steps))))
