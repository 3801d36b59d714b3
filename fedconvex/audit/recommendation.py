"""`recommend`: which method to run on a problem, with which parameters, how many rounds it takes, and why.

The parameters are designed on the quadratic model at the minimiser (`audit.designs`); on losses that are not quadratic,
the predicted rounds follow the curvature on the way. Then each method runs on the problem itself, so that measured
rounds stand beside the predicted ones.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.audit.designs.linearised_runs import LinearisedRuns
from fedconvex.audit.designs.measured_runs import MeasuredRuns, longest_check
from fedconvex.audit.designs.parameters import QUICK, MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import MOST
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import NO_LIMITS, FederationLimits
from fedconvex.audit.intervals import Interval, arithmetic_for, interval
from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import fixed_point
from fedconvex.ground_truths import GroundTruth, ground_truth
from fedconvex.methods.base import Method
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.names import checked_keywords
from fedconvex.participation import Participation, Uniform
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.validation import in_floats, instance_of, integer_at_least, positive

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
        check: run each method whose predicted rounds are at most 5,000.
        say: gets one line of progress at a time.

    Raises:
        InvalidInput: arguments out of range, or a minimiser at 0, where every run starts.
        NoMinimizer: the objective has none.
        TooLarge: the clients' Hessians do not fit into memory.
    """
    limits = _limits(problem, tolerance, rounds, local_steps, participation)
    instance_of(check, bool, "check", "True or False", "give check=True or check=False")
    instance_of(say, Callable, "say", "a function", "give one of a line of text, such as print")
    say("minimiser: solving and certifying")
    truth = ground_truth(problem)
    return recommend_at(problem, truth, in_floats(tolerance, "tolerance"), limits, check=check, say=say)


@in_one_thread
def recommend_at(
    problem: Problem,
    truth: GroundTruth,
    tolerance: float,
    limits: FederationLimits,
    *,
    check: bool = True,
    others: bool = True,
    say: Say = lambda line: None,
) -> Recommendation:
    """`recommend` with the minimiser known; `others`: check and enclose the alternatives, too."""
    needed = FORMED_COPIES * problem.num_clients * problem.dim**2 * memory.NUMBER
    memory.require(needed, "problem", problem, "the clients' Hessians", "give fewer features or clients")
    model = QuadraticModel.of(problem, truth)
    if model.first_gap <= 0:
        raise InvalidInput("problem", problem, "has its minimiser at 0, where every run starts", "shift the targets")
    largest = float(abs(model.hessians).max())
    if not (LEAST_CURVATURE < largest < 1 / LEAST_CURVATURE and model.first_gap < inf):
        words = "has squares beyond the range of float64"
        raise InvalidInput("problem", problem, words, "rescale features and targets")
    designer = MethodDesigner(model, tolerance, limits)
    designs = []
    for kind, design in designer.designs.items():
        if not others and kind not in QUICK and designer.is_large(FedSplit(stepsize=1)):
            continue  # a few rounds on the model take as long as the audit's own
        say(f"parameters of {kind.__name__}")
        designs.append(design())
    ranked = sorted(designs, key=lambda design: _preference(design, problem))
    target = tolerance * model.first_gap
    runs = MeasuredRuns(truth, target, limits.participation)
    linearised = LinearisedRuns(model, truth, target, designer.is_large(FedSplit(stepsize=1)))
    found: list[tuple[RecommendedMethod, DesignedMethod]] = []
    for made in ranked:  # without the others, until a run confirms its prediction
        measures = others or not any(entry.is_confirmed for entry, _ in found)
        if measures:
            found.append(_measured(made, designer, linearised, runs, check))
        else:
            made = _improved(made, linearised, limits)
            found.append((_predicted(made, model), made))
    compare = others and limits.participation is None  # one draw says little about the mean
    found.sort(key=lambda pair: _observed(pair[0], problem, compare))
    ranked = [made for _, made in found]
    say("parameters under limits")
    proximal = [float(design.method.mu) for design in ranked if hasattr(design.method, "mu")]
    smallest = proximal and limits == NO_LIMITS
    scale = float(np.linalg.norm(problem.gradient(np.zeros(problem.dim))))
    return Recommendation(
        problem=problem,
        tolerance=tolerance,
        limits=limits,
        ranked=tuple(entry for entry, _ in found),
        under_limits=tuple(_under_limits(designer, linearised, ranked)),
        # a run may have found a smaller one, whose error floor on the problem is below the tolerance
        smallest_mu=min(designer.smallest_mu(), *proximal) if smallest else None,
        shared_minimizer=bool(abs(model.gradients).max() <= IDENTICAL * scale),
    )


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


def _preference(design: DesignedMethod, problem: Problem) -> tuple[float, ...]:
    """Bytes to the tolerance, then rounds, then local work; without them the least suboptimality."""
    work = float("inf") if design.local_steps is None else float(design.local_steps)
    if design.rounds is None:
        return (float("inf"), float("inf"), design.reached.gap, work)
    return (_bytes(design.method, problem, design.rounds), design.rounds, 0.0, work)


def _observed(entry: RecommendedMethod, problem: Problem, compare: bool) -> tuple[int, int]:
    """A key that puts methods whose runs miss the tolerance last, and compares bytes by the measured rounds.

    Predictions for losses that are not quadratic may be far off.
    """
    rounds = entry.measured_rounds or entry.predicted_rounds
    if rounds is None:
        return 2, 0
    if not entry.is_confirmed:
        return 1, 0
    return 0, _bytes(entry.method, problem, rounds) if compare else 0


def _bytes(method: Method, problem: Problem, rounds: int) -> int:
    return rounds * (method.vectors_down + method.vectors_up) * problem.num_clients * problem.dim * memory.NUMBER


def _predicted(design: DesignedMethod, model: QuadraticModel) -> RecommendedMethod:
    solver = design.method.local_solver if design.solver is None else design.solver
    total = None if design.rounds is None else _bytes(design.method, model.problem, design.rounds)
    relative = design.reached.gap / model.first_gap
    return RecommendedMethod(design.method, solver, design.rounds, None, False, relative, total, None, None)


def _measured(
    design: DesignedMethod, designer: MethodDesigner, linearised: LinearisedRuns, runs: MeasuredRuns, check: bool
) -> tuple[RecommendedMethod, DesignedMethod]:
    """The design, or a better one that runs found, with its bias and, where `check`, the rounds of a run."""
    model, limits, measured, checked = designer.model, designer.limits, None, False
    if limits == NO_LIMITS and not linearised.is_costly and not isinstance(model.problem, QuadraticProblem):
        design = designer.with_floor_on_problem(design, linearised.floor)
    improved = _improved(design, linearised, limits)
    if check and improved.is_short and improved.rounds is not None:
        longest = min(longest_check(max(improved.rounds, design.rounds or 0)), limits.rounds or MOST)
        method, measured = runs.tuned(design, longest)
        checked = True
        if method is not design.method:
            improved = _improved(designer.at(method), linearised, limits)
    design = improved
    entry = replace(_predicted(design, model), measured_rounds=measured, checked=checked)
    if limits.participation is not None:  # each participant receives and sends
        return replace(entry, bytes=None), design
    bias, floor = _relative_bias(design, model, runs.truth)
    is_above = floor is not None and floor.lower > designer.tolerance
    if is_above and design.rounds is not None and limits.rounds is None:  # the tolerance is reached only in passing
        entry = replace(entry, measured_rounds=None, checked=True)
    return replace(entry, bias=bias, floor=floor), design


def _improved(design: DesignedMethod, linearised: LinearisedRuns, limits: FederationLimits) -> DesignedMethod:
    """The design with rounds that the problem's first ones and its curvature on the way predict."""
    return design if limits.participation is not None else linearised.improved(design, limits.rounds or MOST)


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


def _under_limits(
    designer: MethodDesigner, linearised: LinearisedRuns, ranked: Sequence[DesignedMethod]
) -> Iterable[tuple[str, RecommendedMethod]]:
    """What to run under each limit that the caller did not set."""
    model, limits, problem, best = designer.model, designer.limits, designer.model.problem, ranked[0]
    if limits != NO_LIMITS:
        return
    if designer.is_large(best.method):  # each of these searches takes minutes
        return
    few = replace(designer, limits=FederationLimits(local_steps=1))
    designs = [few.fedgd()]
    designs.append(few.feddyn(designs[0].reached.rounds))  # with more rounds, it would send more bytes
    designs.append(few.scaffold(min(design.reached.rounds for design in designs) / 2))  # it sends twice the vectors
    single = min((linearised.improved(d, MOST) for d in designs), key=lambda d: _preference(d, problem))
    yield "one gradient step a round", _predicted(single, model)
    if best.rounds is not None and best.rounds > 1:
        half = replace(designer, limits=FederationLimits(rounds=best.rounds // 2))
        yield f"{best.rounds // 2:,} rounds", _predicted(half.like(best.method), model)
    number = ceil(problem.num_clients / 2)
    if number < problem.num_clients:
        drawn = replace(designer, limits=FederationLimits(participation=Uniform(number)))
        alpha = next(float(design.method.alpha) for design in ranked if hasattr(design.method, "alpha"))
        found = replace(_predicted(drawn.drawn(alpha), model), bytes=None)  # each participant sends and receives
        yield f"{number} of {problem.num_clients} clients a round", found
