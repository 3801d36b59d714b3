"""`diagnose`: why a run does not reach a tolerance, each cause with its number, the evidence and the cure.

First the declared method is played from the run's start: losses that it does not have are not its run. Then the run is
compared with its deterministic twin: the same method with everyone in every round and with local work without chance,
whose fixed point and rounds are computed. What the twin does, too, is the method's doing (bias, slow contraction,
divergence, inexact local work); what only the run does is due to the draws (noise, stale memory).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isclose, isfinite
from typing import Any

import numpy as np

from fedconvex.audit.declared_methods import SEEDS, DeclaredMethod, reproducing
from fedconvex.audit.designs.measured_runs import MeasuredRuns, longest_check
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
from fedconvex.types import Vector
from fedconvex.validation import in_floats, instance_of, points

WITHOUT_BIAS = "run a method without bias: FedSplit, FedDyn or SCAFFOLD"  # where a run from 0 has nothing to do
MOST_STEPS = 1 << 14  # local gradient steps that are tried


@dataclass(frozen=True, eq=False)
class Cures:
    """Finds cures for one tolerance and the run's participation; those that take seconds are run from 0."""

    designer: MethodDesigner  # for the run's participation
    runs: MeasuredRuns

    def redesign(self, method: Method) -> str:
        """The same method with designed parameters, and the one that needs the fewest rounds."""
        if self.designer.model.first_gap <= 0:
            return WITHOUT_BIAS
        full = self.designer.limits.participation is None
        found = [self.designer.fedsplit(), self.designer.feddyn()] if full else [self._drawn]
        best = min(found, key=lambda design: design.reached.rounds)
        if not full or type(method) not in self.designer.designs or isinstance(method, type(best.method)):
            return f"run {self._priced(best)}"
        return f"run {self._priced(best)}; {self._priced(self.designer.like(method))}"

    def more_local_work(self, twin: DeterministicTwin) -> str:
        """The number of local gradient steps with which the error floor is below the tolerance and rounds suffice."""
        if not isinstance(twin.solver, GradientDescent):
            return "solve the local problems exactly"
        steps = twin.solver.steps
        while steps < MOST_STEPS:
            steps *= 2
            more = replace(twin, solver=replace(twin.solver, steps=steps))
            if more.floor <= twin.target and more.rounds[0] <= 2 * twin.exact().rounds[0]:
                start = ""
                if getattr(twin.method, "start", None) == "center":
                    start = f'; or start them at the server\'s point, {type(twin.method).__name__}(start="server")'
                rounds, played = more.rounds
                return (
                    f"take {steps:,} local gradient steps: {rounds:,.0f} rounds{'' if played else ' predicted'}{start}"
                )
        return f"more than {MOST_STEPS:,} local gradient steps are needed: solve the local problems exactly"

    def tighter(self, solver: LocalSolver) -> str:
        """The same for solvers with a tolerance."""
        gamma = getattr(solver, "gamma", None)
        return "solve the local problems exactly" + (
            "" if gamma is None else f", or lower gamma below {float(gamma):g}"
        )

    def less_noise(self) -> str:
        """A method without sampling noise at the minimiser, or larger samples."""
        if self.designer.limits.participation is None:
            return "enlarge the mini-batches, or lower the stepsize over the rounds (decay < 1)"
        return f"{self._memory}, which has no such noise; or draw more clients"

    def fresher_memory(self) -> str:
        """More participants, or parameters for this participation."""
        return f"{self._memory}; or draw more clients, so that their memories are renewed sooner"

    @property
    def _memory(self) -> str:
        return "run FedDyn" if self.designer.model.first_gap <= 0 else f"run {self._priced(self._drawn)}"

    @property
    def _drawn(self) -> DesignedMethod:
        """FedDyn for this participation."""
        everyone = replace(self.designer, limits=FederationLimits())
        return self.designer.drawn(float(everyone.feddyn().method.alpha))  # type: ignore[attr-defined]

    def _priced(self, design: DesignedMethod) -> str:
        name, sampled = describe(design.method), self.designer.limits.participation is not None
        measured = None
        if design.is_short and design.rounds is not None:
            measured = self.runs.rounds_to((design.method, design.solver), longest_check(design.rounds))
        if measured is not None:
            return f"{name}: {measured:,} rounds{' with the clients of seed 0' if sampled else ''}"
        if design.rounds is None or design.is_short:
            return f"{name}, which is not predicted to reach the tolerance"
        return f"{name}: {design.rounds:,} rounds predicted"


GREW = 10.0  # a run diverges if it ends at this multiple of its start, or overflows …
GREW_LATE = 4.0  # … or, above its start, at this multiple of its middle
NEAR = 3.0  # a run is at its error floor if it ends within this factor of it
SETTLED, OFF = 0.02, 0.1  # relative: a run that moves less has levelled off; a fixed point that is farther is another
SAME_START = 1e-3  # relative difference to f(0) − f* of a run that starts at 0
ROUNDING = 1e-7  # a factor this near 1 may be above it by rounding
PERIODS = range(2, 9)  # rounds of a cycle
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
    x0: Vector | None = None,
) -> RunDiagnosis:
    """Why a run does not reach the tolerance: bias, slow contraction, divergence, noise, inexactness or stale memory.

    Use it after a run that is stuck, made here or by another framework; before a run, `recommend` chooses method and
    parameters.

    Args:
        run: a trajectory of `simulate`, or the losses (or gradient norms) of another framework's run, one for each
            round, the first before round 1. NaN is a round without a loss; infinite or NaN losses at the end are a run
            that overflowed.
        method: the method that made the losses; a trajectory knows its own.
        problem: the problem of the losses; a trajectory knows its own.
        tolerance: in [1e-18, 1), of the suboptimality relative to the run's first.
        kind: "loss" (f(x_t), of the same objective as the problem's) or "gradient_norm" (‖∇f(x_t)‖).
        local_solver: of the run with these losses; default the method's own.
        participation: of the run with these losses; default everyone.
        x0: the start of the run with these losses; default 0 where the first loss is that at 0, else unknown.

    Raises:
        InvalidInput: losses without problem and method, of another objective or start, or with too few digits; a method
            whose parameters change during the run.
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
    start = _start(run, x0, problem, series)
    model = QuadraticModel.of(problem, truth)
    target, resolution = in_floats(tolerance, "tolerance") * float(series.values[0]), float(series.resolution[-1])
    if target < resolution and float(series.values[-1]) <= 3 * resolution:
        words = f"are rounded to {resolution:g}, which hides a suboptimality of {target:.3g}"
        raise InvalidInput("losses", f"{series.rounds} rounds", words, "record more digits, or raise the tolerance")
    solver = rounds.solver
    begin = np.zeros(problem.dim) if start is None else start
    own = QuadraticModel.of(problem, truth, begin)
    twin = DeterministicTwin(method, deterministic_solver(method, solver, model), own, series, target, begin)
    with refusing(method):  # a round on the model maps many states at once, as vectors
        Formulas.of(method, problem, twin.solver)
    batches = isinstance(solver, SGD) and solver.batch_size is not None
    drawn = None if participation.takes_everyone(problem) else participation
    designer = MethodDesigner(model, float(tolerance), FederationLimits(participation=drawn))
    cures = Cures(designer, MeasuredRuns(truth, float(tolerance) * model.first_gap, drawn))
    declared = DeclaredMethod(method, series, replace(twin.run, solver=solver, participation=drawn))
    random = batches or drawn is not None
    causes = tuple(_Investigation(series, twin, declared, start is not None, target, random, cures).causes())
    return RunDiagnosis(causes, float(tolerance), series, twin)


def _start(run: Any, x0: Any, problem: Problem, series: RunSeries) -> np.ndarray | None:
    """Where the run starts; None: unknown."""
    if isinstance(run, Trajectory):
        if x0 is not None:
            raise InvalidInput("x0", x0, "is given with a trajectory, which knows its start", "leave it out")
        from fedconvex import arithmetic as arithmetics

        return np.asarray(arithmetics.of(run.points).to_float(run.points[0]), dtype=np.float64)
    start = np.zeros(problem.dim) if x0 is None else points(x0, "x0", [(problem.dim,)]).astype(np.float64)
    here, first = series.of_point(start), float(series.values[0])
    if isclose(here, first, rel_tol=SAME_START, abs_tol=float(series.resolution[0])):
        return start
    if x0 is None:
        return None
    words = f"has {series.name} = {here:.6g}, and the run begins with {first:.6g}"
    raise InvalidInput("x0", x0, words, "give the run's first point, and the losses of the same objective")


@dataclass(frozen=True, eq=False)
class _Investigation:
    series: RunSeries
    twin: DeterministicTwin
    declared: DeclaredMethod
    knows_start: bool
    target: float
    random: bool
    cures: Cures

    def causes(self) -> Iterator[StuckCause]:
        values, T = self.series.values, self.series.rounds
        reached = np.flatnonzero(values <= self.target)
        if len(reached) and values[-1] <= NEAR * self.target:
            t = self.series.places[reached[0]]
            words = f"{self.series.name} fell below {self.target:.3g} in round {t}"
            yield StuckCause("not stuck", float(t), "rounds to the tolerance:", words, "none is needed")
            return
        floor = self.twin.floor
        if self.series.recorded:
            found = self._unlike_the_method() if self.knows_start else self._off_its_fixed_point(floor)
            if found is not None:
                yield found
                return
        at_floor = floor > self.target and self.level <= NEAR * floor
        settled = at_floor and self._has_settled and isclose(self.level, floor, rel_tol=OFF)
        if self._diverges or (not self.random and not settled and self.factor >= 1):
            yield self._divergence()
            return
        if at_floor:
            yield self._floor(floor)
            return
        expected = max(min(self.twin.after(T), float(values[0])), self.target, floor if floor < inf else 0.0)
        if self.level > NOISY * expected and self.random:
            yield self._draws(expected)
        elif self.level > NOISY * expected and not isinstance(self.declared.run.solver, type(self.twin.solver)):
            yield self._inexact_answers(expected)
        else:
            yield self._slow()
        if self.target < floor < inf:
            yield self._floor(floor)

    @property
    def level(self) -> float:
        """Where the run ended: the median of its last quarter, or its last value if it still falls."""
        return float(np.median(self._late)) if self.random else float(self._late[-1])

    @property
    def _late(self) -> np.ndarray:
        return self.series.values[-max(3, len(self.series.values) // 4) :]

    @property
    def _has_settled(self) -> bool:
        return bool(self._late.max() <= (1 + SETTLED) * self._late.min())

    @cached_property
    def factor(self) -> float:
        """The factor per round of the error in late rounds; that of the run where the method's is 1 up to rounding."""
        factor = self.twin.contraction
        if abs(factor - 1) > ROUNDING:
            return factor
        half, places = len(self.series.values) // 2, self.series.places
        ratio = float(self.series.values[-1] / max(self.series.values[half], 1e-300))
        return float(ratio ** (0.5 / max(places[-1] - places[half], 1)))

    @property
    def _diverges(self) -> bool:
        values = self.series.values
        middle = values[len(values) // 2]
        late = values[-1] > values[0] and values[-1] > GREW_LATE * middle
        return bool(not isfinite(values[-1]) or values[-1] > GREW * values[0] or late)

    def _unlike_the_method(self) -> StuckCause | None:
        """Recorded numbers that the declared method does not have from this start."""
        difference = self.declared.difference(SEEDS if self.random else 1)
        if difference is None:
            return None
        t, own, other, number = difference
        values, last, played = self.series.values, self.series.rounds, self.declared.played(1)[0]
        words = (
            f"{self.series.name} went from {values[0]:.3g} to {values[-1]:.3g} in {last:,} rounds; the declared "
            f"{describe(self.twin.method)} from the same start goes to {played[-1]:.3g}, and has {other:.4g} instead "
            f"of {own:.4g} after round {t:,}"
        )
        if not self.random and (found := reproducing(self.declared, self.twin.model)) is not None:
            cure = f"correct the program, whose run is that of {found}, or declare that method"
            return _another_run(number, f"{words}; {found} gives all recorded numbers to 0.1 %", cure)
        return _another_run(number, words)

    def _off_its_fixed_point(self, floor: float) -> StuckCause | None:
        """A run from an unknown start that explodes under a method that converges, or levels off elsewhere."""
        convex_quadratic = isinstance(self.twin.model.problem, QuadraticProblem)
        if self.random or not self.twin.contraction < STABLE:
            return None
        if self._diverges and convex_quadratic:
            words = (
                f"one round of the declared method multiplies the error by {self.twin.contraction:.4g} from any start"
            )
            growth = float(self.series.values[-1] / self.series.values[0])
            return _another_run(growth, f"{self.series.name} grew by a factor of {growth:.3g}; {words}")
        late = self.series.places[-1] - self.series.places[-len(self._late)]
        is_flat = self._has_settled and self.twin.contraction**late < 0.5  # a slow method falls as little
        if not (is_flat and floor < inf) or self._diverges:
            return None
        allowed = OFF * max(floor, self.level) + 3 * float(self.series.resolution[-1]) + self.target
        if abs(self.level - floor) <= allowed:
            return None
        words = (
            f"the run levelled off at {self.level:.4g}, and at the declared method's fixed point {self.series.name} "
            f"is {floor:.4g}; it begins with {self.series.values[0]:.4g}, at 0 this is {self.twin.played[0]:.4g}"
        )
        return _another_run(self.level / max(floor, self.target), words)

    def _divergence(self) -> StuckCause:
        finite = self.series.values[np.isfinite(self.series.values)]
        places = self.series.places[: len(finite)]
        half = len(finite) // 2
        growth = inf
        if finite[half] > 0:
            growth = float((finite[-1] / finite[half]) ** (0.5 / max(places[-1] - places[half], 1)))
        if growth <= 1 and not isfinite(self.series.values[-1]):  # it overflowed later
            growth = inf
        factor = self.twin.contraction
        if self.random and factor < STABLE and not self.twin.method.is_stateless:
            return self._draws(self.target)
        words = (
            f"{self.series.name} went from {finite[0]:.3g} to {self.series.values[-1]:.3g}, the error by a factor of "
            f"{growth:.3g} per round; one round multiplies it by {factor:.4g} near the minimiser"
        )
        if (period := _period(self.series)) is not None:
            low, high = finite[-period:].min(), finite[-period:].max()
            words = (
                f"{self.series.name} repeats every {period} rounds, between {low:.4g} and {high:.4g}; one round "
                f"multiplies the error by {factor:.4g} near the minimiser"
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
        partial = self.declared.run.participation is not None
        if partial and not self.twin.method.is_stateless:
            return StuckCause(
                "stale memory", self.level / expected, "suboptimality over that with everyone:", words,
                self.cures.fresher_memory(),
            )  # fmt: skip
        return StuckCause(
            "sampling noise", self.level / float(self.series.values[0]), "noise level relative to the start:", words,
            self.cures.less_noise(),
        )  # fmt: skip

    def _inexact_answers(self, expected: float) -> StuckCause:
        words = f"the run ended at {self.level:.3g}; exact local solutions reach {expected:.3g} in as many rounds"
        return StuckCause(
            "local solver too inexact", self.level / expected, "suboptimality over that of exact answers:", words,
            self.cures.tighter(self.declared.run.solver or Exact()),
        )  # fmt: skip

    def _slow(self) -> StuckCause:
        (needed, played), factor = self.twin.rounds, self.factor
        when = "its fixed point is off"
        if isfinite(needed):
            when = f"the tolerance takes {needed:,.0f} rounds{'' if played else ' by prediction'}"
        words = (
            f"one round multiplies the error in late rounds by {factor:.6f}; {when}, the run had {self.series.rounds:,}"
        )
        if not self.knows_start:
            words += (
                f"; it begins with {self.series.values[0]:.4g}, and at 0 {self.series.name} is "
                f"{self.twin.played[0]:.4g}: give x0=…, or is the objective another?"
            )
        if not isinstance(self.twin.solver, Exact) and isinstance(self.twin.method.local_solver, Exact):
            exact = self.twin.exact().rounds[0]
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


def _another_run(number: float, evidence: str, cure: str = "") -> StuckCause:
    cure = cure or (
        "compare data, objective, method, parameters and start with the run's; fedconvex conform checks the "
        "implementation"
    )
    return StuckCause("not this method's run", number, "recorded over the method's:", evidence, cure)


def _period(series: RunSeries) -> int | None:
    """The rounds after which the last values repeat; None where they do not, or stay the same."""
    values = series.values
    for period in PERIODS:
        last = values[-3 * period :]
        if len(last) < 3 * period or series.places[-1] - series.places[-len(last)] != len(last) - 1:
            return None
        if not isfinite(last[-1]) or np.ptp(last) <= SETTLED * last.max():
            return None
        if np.allclose(last[period:], last[:-period], rtol=1e-3):
            return period
    return None
