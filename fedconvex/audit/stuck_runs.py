"""`diagnose`: why a run does not reach a tolerance, each cause with its number, the evidence and the cure.

The run is compared with its deterministic twin: the same method with everyone in every round and with local work
without chance, whose fixed point and rounds are computed. What the twin does, too, is the method's doing (bias, slow
contraction, divergence, inexact local work); what only the run does is due to the draws (noise, stale memory).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isclose, isfinite
from typing import Any

import numpy as np

from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import FederationLimits
from fedconvex.audit.methods import describe
from fedconvex.audit.recommendation import require_tolerance
from fedconvex.audit.run_diagnosis import RunDiagnosis, StuckCause
from fedconvex.audit.run_series import RunSeries, of_losses, of_trajectory
from fedconvex.audit.twins import STABLE, DeterministicTwin, deterministic_solver
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.formulas import Formulas
from fedconvex.fixed_points.linear_forms import refusing
from fedconvex.ground_truths import ground_truth
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords
from fedconvex.parameters import is_scheduled
from fedconvex.participation import Full, Participation
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import without_term
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulation import Trajectory
from fedconvex.validation import in_floats, instance_of

WITHOUT_BIAS = "run a method without bias: FedSplit, FedDyn or SCAFFOLD"  # where a run from 0 has nothing to do
MOST_STEPS = 1 << 14  # local gradient steps that are tried


@dataclass(frozen=True, eq=False)
class Cures:
    """Finds cures on one model for one tolerance and the run's participation."""

    designer: MethodDesigner
    participation: Participation | None

    def redesign(self, method: Method) -> str:
        """The same method with designed parameters, and the one that needs the fewest rounds."""
        if self.designer.model.first_gap <= 0:
            return WITHOUT_BIAS
        found = [self.designer.fedsplit(), self.designer.feddyn()]
        best = min(found, key=lambda design: design.reached.rounds)
        if type(method) not in self.designer.designs or isinstance(method, type(best.method)):
            return f"run {_predicted(best)}"
        return f"run {_predicted(best)}; {_predicted(self.designer.like(method))}"

    def more_local_work(self, twin: DeterministicTwin) -> str:
        """The number of local gradient steps with which the error floor is below the tolerance and rounds suffice."""
        if not isinstance(twin.solver, GradientDescent):
            return "solve the local problems exactly"
        steps = twin.solver.steps
        while steps < MOST_STEPS:
            steps *= 2
            more = replace(twin, solver=replace(twin.solver, steps=steps))
            if more.floor <= twin.target and more.reached.rounds <= 2 * twin.exact().reached.rounds:
                start = ""
                if getattr(twin.method, "start", None) == "center":
                    start = f'; or start them at the server\'s point, {type(twin.method).__name__}(start="server")'
                rounds = more.reached.rounds
                return f"take {steps:,} local gradient steps, {rounds:,.0f} rounds are then predicted{start}"
        return f"more than {MOST_STEPS:,} local gradient steps are needed: solve the local problems exactly"

    def tighter(self, solver: LocalSolver) -> str:
        """The same for solvers with a tolerance."""
        gamma = getattr(solver, "gamma", None)
        return "solve the local problems exactly" + (
            "" if gamma is None else f", or lower gamma below {float(gamma):g}"
        )

    def less_noise(self, partial: bool) -> str:
        """A method without sampling noise at the minimiser, or larger samples."""
        if not partial or self.participation is None:
            return "enlarge the mini-batches, or lower the stepsize over the rounds (decay < 1)"
        return f"{self._drawn}, which has no such noise; or draw more clients"

    def fresher_memory(self, method: Method) -> str:
        """More participants, or parameters for this participation."""
        return f"{self._drawn}; or draw more clients, so that their memories are renewed sooner"

    @property
    def _drawn(self) -> str:
        """FedDyn for this participation."""
        assert self.participation is not None
        if self.designer.model.first_gap <= 0:
            return "run FedDyn"
        drawn = replace(self.designer, limits=FederationLimits(participation=self.participation))
        alpha = float(self.designer.feddyn().method.alpha)  # type: ignore[attr-defined]
        return f"run {_predicted(drawn.drawn(alpha))}"


def _predicted(design: DesignedMethod) -> str:
    name = describe(design.method)
    if design.rounds is None:
        return f"{name}, which is not predicted to reach the tolerance"
    return f"{name}: {design.rounds:,} rounds predicted"


GREW = 10.0  # a run diverges if it ends at this multiple of its start, or overflows …
GREW_LATE = 4.0  # … or, above its start, at this multiple of its middle
NEAR = 3.0  # a run is at its error floor if it ends within this factor of it
SAME_START = 1e-3  # relative difference to f(0) − f* of a run that starts at 0
NOISY = 5.0  # the draws hold a run up if it ends at this multiple of what its twin reaches


@checked_keywords
def diagnose(
    run: Any,
    method: Method | None = None,
    problem: Problem | None = None,
    *,
    tolerance: float = 1e-6,
    kind: str = "loss",
    local_solver: LocalSolver | None = None,
    participation: Participation | None = None,
) -> RunDiagnosis:
    """Why a run does not reach the tolerance: bias, slow contraction, divergence, noise, inexactness or stale memory.

    Use it after a run that is stuck, made here or by another framework; before a run, `recommend` chooses method and
    parameters.

    Args:
        run: a trajectory of `simulate`, or the losses (or gradient norms) of another framework's run, one for each
            round, the first before round 1. Infinite or NaN losses at the end are a run that overflowed.
        method: the method that made the losses; a trajectory knows its own.
        problem: the problem of the losses; a trajectory knows its own.
        tolerance: in [1e-18, 1), of the suboptimality relative to the run's first.
        kind: "loss" (f(x_t), of the same objective as the problem's) or "gradient_norm" (‖∇f(x_t)‖).
        local_solver: of the run with these losses; default the method's own.
        participation: of the run with these losses; default everyone.

    Raises:
        InvalidInput: losses without problem and method, with gaps, of another objective or with too few digits;
            a method whose parameters change during the run.
        NoMinimizer: the objective has none.
    """
    if isinstance(run, Method | Problem):
        cure = "give the run first: diagnose(run), or diagnose(losses, method, problem)"
        raise InvalidInput("run", run, "is neither a run nor a list of losses", cure)
    given: tuple[Any, Any] = (problem, method)
    if isinstance(given[0], Method) or isinstance(given[1], Problem):  # either order is clear
        method, problem = given
    require_tolerance(tolerance)
    if isinstance(run, Trajectory):
        setup = run.setup
        if method is not None and method != run.method:
            cure = "call diagnose(run): a trajectory knows its method"
            raise InvalidInput("method", method, f"is not the method of the run, {run.method!r}", cure)
        if problem is not None and problem is not run.problem:
            cure = "call diagnose(run): a trajectory knows its problem"
            raise InvalidInput("problem", problem, "is not the problem of the run", cure)
        problem, method = without_term(run.problem), run.method
        if setup is not None:
            if setup.stragglers is not None and setup.stragglers.fraction > 0:
                cure = "run without stragglers, whose work is unequal"
                raise InvalidInput("run", setup.stragglers, "has no deterministic counterpart", cure)
            local_solver, participation = setup.local_solver, setup.participation
    if problem is None or method is None:
        cure = "call diagnose(losses, method=…, problem=…)"
        raise InvalidInput("problem" if problem is None else "method", None, "is needed with a list of losses", cure)
    rounds = rounds_of(method, problem, "float", local_solver)  # refuses what is no method, or does not fit
    if is_scheduled(method) or method.skip != 0:
        cure = "diagnose a run with fixed parameters"
        raise InvalidInput("method", method, "changes from round to round, or skips communication", cure)
    participation = Full() if participation is None else participation
    instance_of(participation, Participation, "participation", "a participation scheme", "give participation.Full()")
    participation.require(problem, 1)
    truth = ground_truth(problem)
    series = of_trajectory(run, truth) if isinstance(run, Trajectory) else of_losses(run, problem, truth, kind)
    model = QuadraticModel.of(problem, truth)
    target = in_floats(tolerance, "tolerance") * float(series.values[0])
    if target < series.resolution < inf and float(series.values[-1]) <= 3 * series.resolution:
        words = f"are rounded to {series.resolution:g}, which hides a suboptimality of {target:.3g}"
        raise InvalidInput("losses", f"{series.rounds} rounds", words, "record more digits, or raise the tolerance")
    solver = rounds.solver
    twin = DeterministicTwin(method, deterministic_solver(method, solver, model), model, series, target)
    with refusing(method):  # a round on the model maps many states at once, as vectors
        Formulas.of(method, problem, twin.solver)
    batches = isinstance(solver, SGD) and solver.batch_size is not None
    random = batches or not participation.takes_everyone(problem)
    designer = MethodDesigner(model, float(tolerance), FederationLimits())
    cures = Cures(designer, None if participation.takes_everyone(problem) else participation)
    causes = tuple(_Investigation(series, twin, target, solver, participation, random, cures).causes())
    return RunDiagnosis(causes, float(tolerance), series, twin)


@dataclass(frozen=True, eq=False)
class _Investigation:
    series: RunSeries
    twin: DeterministicTwin
    target: float
    solver: LocalSolver
    participation: Participation
    random: bool
    cures: Cures

    def causes(self) -> Iterator[StuckCause]:
        values, T = self.series.values, self.series.rounds
        reached = np.flatnonzero(values <= self.target)
        if len(reached) and values[-1] <= NEAR * self.target:
            words = f"{self.series.name} fell below {self.target:.3g} in round {reached[0]}"
            yield StuckCause("not stuck", float(reached[0]), "rounds to the tolerance:", words, "none is needed")
            return
        if self._diverges:
            yield self._not_the_method(self.target) if self._is_too_large_for(inf) else self._divergence()
            return
        floor = self.twin.floor
        at_floor = floor > self.target and self.level <= NEAR * floor
        if at_floor:
            yield self._floor(floor)
            return
        expected = max(min(self.twin.gap_after(T), float(values[0])), self.target, floor if floor < inf else 0.0)
        if self._is_too_large_for(expected):
            yield self._not_the_method(expected)
            return
        if self.level > NOISY * expected and self.random:
            yield self._draws(expected)
        elif self.level > NOISY * expected and not isinstance(self.solver, type(self.twin.solver)):
            yield self._inexact_answers(expected)
        else:
            yield self._slow()
        if self.target < floor < inf:
            yield self._floor(floor)

    @property
    def level(self) -> float:
        """Where the run ended: the median of its last quarter, or its last value if it still falls."""
        last = self.series.values[-max(3, self.series.rounds // 4) :]
        return float(np.median(last)) if self.random else float(last[-1])

    @property
    def _diverges(self) -> bool:
        values = self.series.values
        middle = values[len(values) // 2]
        late = values[-1] > values[0] and values[-1] > GREW_LATE * middle
        return bool(not isfinite(values[-1]) or values[-1] > GREW * values[0] or late)

    def _is_too_large_for(self, expected: float) -> bool:
        """Whether recorded losses are not the method's: on quadratics its rounds are known exactly.

        expected: what the method reaches from 0 in as many rounds; inf where the run diverges.
        """
        model = self.twin.model
        same_solver = isinstance(self.solver, type(self.twin.solver))
        known = isinstance(model.problem, QuadraticProblem) and self.series.recorded and self.series.of_losses
        if not known or self.random or not same_solver or not self.twin.contraction < STABLE:
            return False
        return expected == inf or (self._starts_at_0 and self.level > NOISY * max(expected, self.series.resolution))

    @property
    def _starts_at_0(self) -> bool:
        return isclose(float(self.series.values[0]), self.twin.model.first_gap, rel_tol=SAME_START)

    def _not_the_method(self, expected: float) -> StuckCause:
        T = self.series.rounds
        reached = max(self.twin.gap_after(T), self.target)
        values = self.series.values
        words = (
            f"{self.series.name} went from {values[0]:.3g} to {values[-1]:.3g}; this method with these "
            f" parameters goes from {self.twin.model.first_gap:.3g} (at 0) to {reached:.3g} in {T:,} rounds, and "
            f"multiplies the error in late rounds by {self.twin.contraction:.4g} per round"
        )
        cure = (
            "compare data, objective, method, parameters and start with the run's; fedconvex conform checks the "
            "implementation"
        )
        number = self.level / max(expected, reached)
        return StuckCause("not this method's run", number, "suboptimality over that of the method:", words, cure)

    def _divergence(self) -> StuckCause:
        finite = self.series.values[np.isfinite(self.series.values)]
        half = finite[len(finite) // 2 :]
        growth = float((half[-1] / half[0]) ** (0.5 / max(len(half) - 1, 1))) if half[0] > 0 else inf
        if growth <= 1:  # it overflowed later
            growth = inf
        factor = self.twin.contraction
        if self.random and factor < STABLE and not self.twin.method.is_stateless:
            return self._draws(self.target)
        words = (
            f"{self.series.name} rose from {finite[0]:.3g} to {self.series.values[-1]:.3g}, the error by a factor of "
            f"{growth:.3g} per round; one round multiplies it by {factor:.4g} near the minimiser"
        )
        stable = self.twin.stable_parameter() if factor >= STABLE else None
        cure = "" if stable is None else f"{stable[0]} {_beyond(stable, self.twin.method)} {stable[1]:.3g} converges; "
        return StuckCause(
            "divergence by stepsize", max(factor, growth), "factor of the error per round:", words,
            cure + self.cures.redesign(self.twin.method),
        )  # fmt: skip

    def _floor(self, floor: float) -> StuckCause:
        first = float(self.series.values[0])
        words = f"at the fixed point {self.series.name} is {floor:.4g}; the run ended at {self.level:.4g}"
        if not isinstance(self.twin.solver, Exact) and isinstance(self.twin.method.local_solver, Exact):
            exact = self.twin.exact().floor
            if exact <= self.target:
                words += f"; with exact local solutions it is {exact:.2g}"
                return StuckCause(
                    "local solver too inexact", floor / first, "error floor relative to the start:", words,
                    self.cures.more_local_work(self.twin),
                )  # fmt: skip
        return StuckCause(
            "bias floor", floor / first, "error floor relative to the start:", words,
            self.cures.redesign(self.twin.method),
        )  # fmt: skip

    def _draws(self, expected: float) -> StuckCause:
        words = (
            f"the run ended at {self.level:.3g}; with full participation and full batches the same method "
            f"reaches {expected:.3g} in {self.series.rounds:,} rounds"
        )
        partial = not self.participation.takes_everyone(self.twin.model.problem)
        if partial and not self.twin.method.is_stateless:
            return StuckCause(
                "stale memory", self.level / expected, "suboptimality over that with everyone:", words,
                self.cures.fresher_memory(self.twin.method),
            )  # fmt: skip
        return StuckCause(
            "sampling noise", self.level / float(self.series.values[0]), "noise level relative to the start:", words,
            self.cures.less_noise(partial),
        )  # fmt: skip

    def _inexact_answers(self, expected: float) -> StuckCause:
        words = f"the run ended at {self.level:.3g}; exact local solutions reach {expected:.3g} in as many rounds"
        return StuckCause(
            "local solver too inexact", self.level / expected, "suboptimality over that of exact answers:", words,
            self.cures.tighter(self.solver),
        )  # fmt: skip

    def _slow(self) -> StuckCause:
        predicted = self.twin.reached.rounds
        factor = self.twin.contraction
        when = (
            f"{predicted:,.0f} rounds to the tolerance are predicted"
            if isfinite(predicted)
            else "its fixed point is off"
        )
        words = (
            f"one round multiplies the error in late rounds by {factor:.6f}; {when}, the run had {self.series.rounds:,}"
        )
        if self.series.recorded and self.series.of_losses and not self._starts_at_0:
            first = f"{self.series.values[0]:.4g}"
            words += (
                f"; it starts at {first}, and f(0) − f* is {self.twin.model.first_gap:.4g}: is the objective the same?"
            )
        if not isinstance(self.twin.solver, Exact) and isinstance(self.twin.method.local_solver, Exact):
            exact = self.twin.exact().reached.rounds
            if exact <= self.series.rounds:
                words += f"; with exact local solutions {exact:,.0f}"
                return StuckCause(
                    "local solver too inexact", factor, "factor of the error per round:", words,
                    self.cures.more_local_work(self.twin),
                )  # fmt: skip
        return StuckCause(
            "slow contraction", factor, "factor of the error per round:", words,
            self.cures.redesign(self.twin.method),
        )  # fmt: skip


def _beyond(stable: tuple[str, float], method: Method) -> str:
    return "<=" if stable[1] < float(getattr(method, stable[0])) else ">="
