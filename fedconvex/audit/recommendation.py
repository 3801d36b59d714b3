"""`recommend`: which method to run on a problem, with which parameters, how many rounds it takes, and why.

The parameters are designed on the quadratic model at the minimiser (`audit.designs`); on losses that are not quadratic,
the predicted rounds follow the curvature on the way. Then each method runs on the problem itself, so that measured
rounds stand beside the predicted ones.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.audit.designs.linearised_runs import LinearisedRuns
from fedconvex.audit.designs.measured_runs import MeasuredRuns, longest_check
from fedconvex.audit.designs.parameters import DESIGNED, QUICK, MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import MOST
from fedconvex.audit.designs.search import LONGEST_CHECK, MOST_STEPS, DesignedMethod
from fedconvex.audit.designs.trials import NO_LIMITS, FederationLimits
from fedconvex.audit.intervals import Interval, arithmetic_for, interval
from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import fixed_point
from fedconvex.ground_truths import GroundTruth, ground_truth
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.names import checked_keywords, suggestion
from fedconvex.participation import Participation, Uniform
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.validation import in_floats, instance_of, integer_at_least, members_of, positive

LEAST_TOLERANCE = 1e-18  # below, gaps of float64 points are rounding errors
LEAST_CURVATURE = 1e-140  # squares of smaller ones, and of the inverses of larger ones, leave float64
ENCLOSED_STEPS, MOST_STEPS_OF_BIAS = 1000, 10_000  # local steps up to which a bias is enclosed, and computed at all
MOST_LOCAL_STEPS = 100_000
IDENTICAL = 1e-8  # clients' gradients at the minimiser this small, relative to those at 0, are 0
FORMED_COPIES = 6  # of all clients' Hessians

Say = Callable[[str], None]


@checked_keywords
def recommend(
    problem: Problem,
    tolerance: float = 1e-6,
    rounds: int | None = None,
    local_steps: int | None = None,
    participation: Participation | None = None,
    *,
    among: Sequence[str | type[Method]] | None = None,
    check: bool = True,
    say: Say = lambda line: None,
) -> Recommendation:
    """Which method to run on the problem, with which parameters, and how many rounds that takes.

    Use it before a run, to choose; afterwards, `diagnose` tells why a run is stuck. `fedconvex.audit` shows more about
    methods that you choose yourself.

    The parameters are those with the fewest rounds to f(x_t) − f(x*) <= tolerance · (f(0) − f(x*)): FedGD's and
    SCAFFOLD's stepsize and local steps, FedProx's μ, FedSplit's s, FedDyn's α; for FedGD and FedProx among those whose
    error floor is below the tolerance. They are found by the exact map of one round on quadratic clients, and
    elsewhere by its linearisation at the minimiser; predictions then begin with 3 rounds on the problem, and follow its
    curvature between the server's point and the minimiser. The methods are ranked by the bytes to the tolerance.

    Args:
        tolerance: in [1e-18, 1), of the suboptimality relative to the initial one.
        rounds: the most rounds that are possible; default no limit. Where no method reaches the tolerance in so many,
            the parameters and the ranking are for the smallest suboptimality after the last.
        local_steps: the most gradient steps that a client can do in a round; default no limit, with exact local
            solutions. FedProx, FedSplit and FedDyn then take so many gradient steps on their subproblems.
        participation: who takes part; default everyone. With random participation the predictions are means over
            seeds, and the measured rounds are those of seed 0.
        among: the methods that a framework has, such as ("FedAvg", "FedProx", "Scaffold"); default all five. FedAvg is
            FedGD: its epochs are gradient steps on all of a client's samples.
        check: run each method whose predicted rounds are at most 5,000.
        say: gets one line of progress at a time.

    Raises:
        InvalidInput: arguments out of range, or a minimiser at 0, where every run starts.
        NoMinimizer: the objective has none.
        TooLarge: the clients' Hessians do not fit into memory.
    """
    limits = _limits(problem, tolerance, rounds, local_steps, participation)
    kinds = () if among is None else _kinds(among)
    instance_of(check, bool, "check", "True or False", "give check=True or check=False")
    instance_of(say, Callable, "say", "a function", "give one of a line of text, such as print")
    say("minimiser: solving and certifying")
    truth = ground_truth(problem)
    return recommend_at(problem, truth, in_floats(tolerance, "tolerance"), limits, check=check, say=say, among=kinds)


@in_one_thread
def recommend_at(
    problem: Problem,
    truth: GroundTruth,
    tolerance: float,
    limits: FederationLimits,
    *,
    check: bool = True,
    others: bool = True,
    among: tuple[type[Method], ...] = (),
    say: Say = lambda line: None,
) -> Recommendation:
    """`recommend` with the minimiser known; without `others`, only until a run confirms the best."""
    needed = FORMED_COPIES * problem.num_clients * problem.dim**2 * memory.NUMBER
    memory.require(needed, "problem", problem, "the clients' Hessians", "give fewer features or clients")
    model = QuadraticModel.of(problem, truth)
    if model.first_gap <= 0:
        raise InvalidInput("problem", problem, "has its minimiser at 0, where every run starts", "shift the targets")
    largest = float(abs(model.hessians).max())
    if not (LEAST_CURVATURE < largest < 1 / LEAST_CURVATURE and model.first_gap < inf):
        words = "has squares beyond the range of float64"
        raise InvalidInput("problem", problem, words, "rescale features and targets")
    designer = MethodDesigner(model, tolerance, limits, among)
    designs = []
    for kind, design in designer.designs.items():
        if not others and kind not in QUICK and designer.is_large(FedSplit(stepsize=1)):
            continue  # a few rounds on the model take as long as the audit's own
        say(f"parameters of {kind.__name__}")
        designs.append(design())
    target = tolerance * model.first_gap
    runs = MeasuredRuns(truth, target, limits.participation)
    linearised = LinearisedRuns(model, truth, target, designer.is_large(FedSplit(stepsize=1)))
    bench = _Bench(designer, linearised, runs, check)
    found = [bench.measured(made) if others else bench.predicted(made) for made in designs]
    found.sort(key=bench.order)
    while not others and not found[0].is_measured:
        found = sorted([bench.measured(found[0].design), *found[1:]], key=bench.order)
    say("parameters under limits")
    scale = float(np.linalg.norm(problem.gradient(np.zeros(problem.dim))))
    methods = (one.entry.method for one in found if one.entry.predicted_rounds is not None)
    proximal = next((float(method.mu) for method in methods if isinstance(method, FedProx)), None)
    smallest = None
    if proximal is not None and limits == NO_LIMITS and not linearised.is_costly:
        smallest = designer.smallest_mu_on_problem(proximal, linearised.floor)
    return Recommendation(
        problem=problem,
        tolerance=tolerance,
        limits=limits,
        ranked=tuple(one.entry for one in found),
        under_limits=tuple(_under_limits(bench, found)),
        smallest_mu=smallest,
        shared_minimizer=bool(abs(model.gradients).max() <= IDENTICAL * scale),
    )


def _kinds(among: Any) -> tuple[type[Method], ...]:
    """The classes of methods by their names, FedAvg's being FedGD."""
    if isinstance(among, str):
        among = among.split(",")
    known = {kind.__name__.lower(): kind for kind in DESIGNED} | {"fedavg": FedGD}
    kinds = []
    for name in members_of(among, "among", "give names, such as ('FedAvg', 'FedProx')"):
        word = (name.__name__ if isinstance(name, type) else str(name)).strip().lower()
        if word not in known:
            cure = f"{suggestion(word, known)}choose from {', '.join(known)}"
            raise InvalidInput("among", name, "is no method whose parameters are designed", cure)
        kinds.append(known[word])
    if not kinds:
        raise InvalidInput("among", among, "names no method", f"choose from {', '.join(known)}")
    return tuple(kinds)


def require_tolerance(tolerance: Any) -> None:
    """Raises InvalidInput where the relative suboptimality is not in [1e-18, 1)."""
    positive(tolerance, "tolerance")
    if not LEAST_TOLERANCE <= tolerance < 1:
        cure = f"give a relative suboptimality in [{LEAST_TOLERANCE:g}, 1), such as 1e-6"
        words = "is reached before the first round" if tolerance >= 1 else "is below what float64 points resolve"
        raise InvalidInput("tolerance", tolerance, words, cure)


def _limits(problem: Any, tolerance: Any, rounds: Any, local_steps: Any, participation: Any) -> FederationLimits:
    """The validated limits."""
    if isinstance(problem, Method):
        cure = "give the problem alone: recommend(problem)"
        raise InvalidInput("problem", problem, "is a method, and recommend chooses the method itself", cure)
    require_problem(problem)
    require_tolerance(tolerance)
    if participation is not None:
        cure = "give such as fedconvex.participation.Uniform(5)"
        instance_of(participation, Participation, "participation", "a participation scheme", cure)
        participation.require(problem, 1)
        participation = None if participation.takes_everyone(problem) else participation
    if local_steps is not None and integer_at_least(local_steps, 1, "local_steps") > MOST_LOCAL_STEPS:
        cure = f"give at most {MOST_LOCAL_STEPS:,}, or none for exact local solutions"
        raise InvalidInput("local_steps", local_steps, "is too large to limit the solver", cure)
    return FederationLimits(
        None if rounds is None else min(integer_at_least(rounds, 1, "rounds"), MOST),
        None if local_steps is None else integer_at_least(local_steps, 1, "local_steps"),
        participation,
    )


def _bytes(method: Method, problem: Problem, rounds: int) -> int:
    return rounds * (method.vectors_down + method.vectors_up) * problem.num_clients * problem.dim * memory.NUMBER


@dataclass(frozen=True, eq=False)
class _Candidate:
    entry: RecommendedMethod
    design: DesignedMethod
    is_measured: bool  # as far as a run of it takes seconds


@dataclass(frozen=True, eq=False)
class _Bench:
    """Predicts and runs designs under the designer's limits."""

    designer: MethodDesigner
    linearised: LinearisedRuns
    runs: MeasuredRuns
    check: bool

    def under(self, limits: FederationLimits) -> "_Bench":
        """The same under other limits."""
        runs = replace(self.runs, participation=limits.participation)
        return replace(self, designer=replace(self.designer, limits=limits), runs=runs)

    def order(self, found: _Candidate) -> tuple[float, ...]:
        """Puts methods whose runs miss the tolerance last, those that only come near it by how near.

        The others by bytes to the tolerance, then rounds, then local work: as measured, since predictions for losses
        that are not quadratic may be far off. With drawn clients as predicted, since one draw says little of the mean.
        """
        entry, problem = found.entry, self.designer.model.problem
        work = float(found.design.local_steps or inf)
        drawn = self.designer.limits.participation is not None
        rounds = entry.predicted_rounds if drawn else entry.measured_rounds or entry.predicted_rounds
        if rounds is None:
            return 2, entry.relative_gap, work
        return 0 if entry.is_confirmed else 1, _bytes(entry.method, problem, rounds), rounds, work

    def predicted(self, design: DesignedMethod) -> _Candidate:
        """The design with the rounds that the problem's first ones and its curvature on the way predict."""
        return _Candidate(self._entry(improved := self._improved(design)), improved, False)

    def measured(self, design: DesignedMethod) -> _Candidate:
        """The design, or a better one that runs found, with its bias and, where `check`, the rounds of a run."""
        limits, model, measured, checked = self.designer.limits, self.designer.model, None, False
        if limits == NO_LIMITS and not self.linearised.is_costly and not isinstance(model.problem, QuadraticProblem):
            design = self.designer.with_floor_on_problem(design, self.linearised.floor)
        improved = self._improved(design)
        if self.check and improved.is_short and improved.rounds is not None:
            longest = min(longest_check(max(improved.rounds, design.rounds or 0)), limits.rounds or MOST)
            method, measured = self.runs.tuned(design, longest)
            checked = True
            if method is not design.method:
                improved = self._improved(self.designer.at(method))
        entry = replace(self._entry(improved), measured_rounds=measured, checked=checked)
        if limits.participation is not None:  # each participant receives and sends
            return _Candidate(replace(entry, bytes=None), improved, True)
        if checked:
            sent = None if measured is None else _bytes(entry.method, model.problem, measured)
            entry = replace(entry, bytes=sent)
        elif limits.rounds is not None and improved.rounds is None:
            entry = self._after(entry, limits.rounds)
        bias, floor = _relative_bias(improved, model, self.runs.truth)
        is_above = floor is not None and floor.lower > self.designer.tolerance
        if is_above and improved.rounds is not None and limits.rounds is None:  # the tolerance is reached in passing
            entry = replace(entry, measured_rounds=None, checked=True, bytes=None)
        return _Candidate(replace(entry, bias=bias, floor=floor), improved, True)

    def after(self, design: DesignedMethod, rounds: int) -> RecommendedMethod:
        """The design with the suboptimality that a run has after so many rounds."""
        return self._after(replace(self._entry(design), predicted_rounds=None, bytes=None), rounds)

    def _after(self, entry: RecommendedMethod, rounds: int) -> RecommendedMethod:
        steps = getattr(entry.local_solver, "steps", None) or 1
        if not self.check or rounds > LONGEST_CHECK or rounds * steps > MOST_STEPS:
            return entry
        reached = self.runs.reached((entry.method, entry.local_solver), rounds)
        gap = reached.gap / self.designer.model.first_gap
        return replace(entry, relative_gap=gap, checked=True)

    def _improved(self, design: DesignedMethod) -> DesignedMethod:
        limits = self.designer.limits
        if limits.participation is not None:
            return design
        return self.linearised.improved(design, limits.rounds or MOST)

    def _entry(self, design: DesignedMethod) -> RecommendedMethod:
        model = self.designer.model
        solver = design.method.local_solver if design.solver is None else design.solver
        total = None if design.rounds is None else _bytes(design.method, model.problem, design.rounds)
        relative = design.reached.gap / model.first_gap
        return RecommendedMethod(design.method, solver, design.rounds, None, False, relative, total, None, None)


def _relative_bias(
    design: DesignedMethod, model: QuadraticModel, truth: GroundTruth
) -> tuple[Interval | None, Interval | None]:
    """The bias relative to ‖x*‖ and the error floor relative to the first gap, enclosed where that takes seconds."""
    problem = model.problem
    steps = design.local_steps or 1
    if steps > MOST_STEPS_OF_BIAS:
        return None, None
    wanted = arithmetic_for(design.method, problem) if steps <= ENCLOSED_STEPS else "float"
    for arithmetic in dict.fromkeys((wanted, "float")):
        try:
            stop = fixed_point(design.method, problem, arithmetic, design.solver)
            bias, floor = interval(stop.bias_norm, stop.certainty), interval(stop.gap, stop.certainty)
        except (NoFixedPoint, NotConverged, TooLarge, InvalidInput):
            continue
        if isfinite(bias.upper) and isfinite(floor.upper):
            # the divisors are lowered and raised by what the minimiser's rounding may change
            error = truth.distance_bound if isfinite(truth.distance_bound) else 0.0
            return _over(bias, float(np.linalg.norm(truth.point)), error), _over(
                floor, model.first_gap, 1e-9 * model.first_gap
            )
    return None, None


def _over(number: Interval, divisor: float, error: float) -> Interval:
    return replace(
        number,
        value=max(number.value, 0.0) / divisor,
        lower=max(number.lower, 0.0) / (divisor + error) * (1 - 1e-12),
        upper=max(number.upper, 0.0) / max(divisor - error, 1e-300) * (1 + 1e-12),
    )


def _under_limits(bench: _Bench, ranked: Sequence[_Candidate]) -> Iterable[tuple[str, RecommendedMethod]]:
    """What to run under each limit that the caller did not set, by the same runs as the ranking."""
    designer, best = bench.designer, ranked[0]
    problem, kinds = designer.model.problem, designer.designs
    if designer.limits != NO_LIMITS or designer.is_large(best.entry.method):  # each of these searches takes minutes
        return
    few = bench.under(FederationLimits(local_steps=1))
    designs = [few.designer.fedgd()] if FedGD in kinds else []
    if FedDyn in kinds:  # with more rounds than the others, they would send more bytes
        designs.append(few.designer.feddyn(min((design.reached.rounds for design in designs), default=inf)))
    if Scaffold in kinds:
        designs.append(few.designer.scaffold(min((design.reached.rounds for design in designs), default=inf) / 2))
    singles = [few.measured(design) for design in designs or [few.designer.like(best.entry.method)]]
    singles += [one for one in ranked if one.design.local_steps == 1]
    yield "one gradient step a round", min(singles, key=few.order).entry
    rounds = best.entry.measured_rounds or best.entry.predicted_rounds
    if rounds is not None and rounds > 1:
        limits = FederationLimits(rounds=rounds // 2)
        half = replace(bench.under(limits), runs=replace(bench.runs, target=0.0))
        tried = [half.designer.like(best.entry.method), *(one.design for one in ranked)]
        yield f"{rounds // 2:,} rounds", min((half.after(d, rounds // 2) for d in tried), key=lambda e: e.relative_gap)
    number = ceil(problem.num_clients / 2)
    if number < problem.num_clients:
        drawn = bench.under(FederationLimits(participation=Uniform(number)))
        alphas = [float(one.entry.method.alpha) for one in ranked if isinstance(one.entry.method, FedDyn)]
        design = drawn.designer.drawn(alphas[0]) if alphas else drawn.designer.at(best.entry.method)
        yield f"{number} of {problem.num_clients} clients a round", drawn.measured(design).entry
