"""`lyapunov`: the rate of a method on a class of clients, proved by a Lyapunov function that is searched for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.compressors import Contractive
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords
from fedconvex.parameters import is_scheduled, require_period
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, coordinates
from fedconvex.proofs_checks.search.lyapunov.drawn_federations import slowest_when_drawn
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction, certified
from fedconvex.proofs_checks.search.lyapunov.grouped_rounds import slowest_in_groups, vectors_in_groups
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, extremes, refined, slowest
from fedconvex.proofs_checks.search.lyapunov.rate import TIGHT, Rate
from fedconvex.proofs_checks.search.lyapunov.semidefinite import NO_MARGIN, lyapunov_function
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    ClientGroups,
    FunctionClass,
    SimilarClients,
    SmoothStronglyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification, specify
from fedconvex.validation import instance_of, integer_at_least

MOST_STEPS = 64
MOST_TOSSES = 4  # rounds in a period that may be local
MOST_POINTS = 16  # up to which all are compared, where comparing neighbours leaves a gap
MOST_HISTORY = 3  # rounds of which V measures gradients and values
WORTHWHILE = Fraction(1, 10**6)  # the relative gain for which a larger proof is preferred
LARGEST = 10**6  # the largest factor by which V may grow
BEYOND_FLOATS = 10**300
NEARLY = 1e-7  # relative distance from the least rate, so that a proof has an interior
SMALLEST = 1e-9  # its absolute distance from the least rate, which may be 0
NOISE = 1e-10  # margins that the solver does not tell from 0
MOST_TRIALS = 40  # rates that are tried
FEW_EIGENVECTORS = 6  # of attaining federations: others rarely add anything


@checked_keywords
@in_one_thread
def lyapunov(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = "any",
    local_solver: LocalSolver | None = None,
    participation: Any = None,
    composite: bool = False,
    period: int = 1,
) -> Rate:
    """The contraction of a method per round, on clients of a class with equal weights: a rigorous interval.

    Use it for methods with memory (control variates, duals), whose distance to the minimiser need not decrease in every
    round: a Lyapunov function measures the whole state. It is quadratic in the error, a form in the means over the
    clients plus the mean of a form in the deviations; where this leaves a gap, it measures gradients and function
    values at the points of the round, too, and with momentum at those of up to three rounds. For one round of a
    memoryless method, or for other metrics, use `worst_case`.

    V(next state) <= upper · V(state) from every state that a run can reach; it is proved in rationals, for any number
    of clients. No Lyapunov function proves less than `lower`, the contraction on quadratics over many rounds.

    Where clients compress what they send, V contracts in expectation for every compressor that keeps the promise of
    `Unbiased(omega)`, each client's errors being independent of the others', or of `Contractive(delta)`.

    Args:
        method: its numbers are exact, a float being the dyadic rational that it is.
        clients: `SmoothStronglyConvex(mu, L)`; `SmoothConvex(L)`, `Quadratics(mu, L)` and `SimilarClients(mu, L,
            delta)`, too. Without strong convexity no rate below 1 exists, and the federation that shows it is found.
        num_clients: 1, more, or "any". A proof for two or more is one for any number, also for one.
        local_solver: `Exact()`, `GradientDescent(…)` of at most 64 steps, or `ToInexactness(gamma)`, which stands for
            any γ-inexact answer; by default the method's own. Unequal numbers of steps, as of `local_steps=(1, 3)`: one
            for each of `num_clients` clients; for "any" one for each of equally many. Clients with equal numbers are a
            group: V then measures its mean and its deviations.
        participation: `Full()`, the default, or with a number of clients `Uniform(K)`, `Weighted(K)`, which are K
            independent draws, or `Bernoulli(p)`: V then contracts in expectation, as it does where rounds are local at
            random (`Scaffnew`). There V measures what the clients compute with; a server's point that they do not use
            is their mean of the last communication. Of sampled clients it measures, too, where that proves more, the
            points at which their gradients are those that they remember, and the objective at the server's point, whose
            expectation after the round smoothness bounds.
        composite: whether the objective is f + ψ, ψ any convex function of which the server takes proximal steps
            (`CompositeProblem`), for methods that allow it and everyone. The federation that is found has ψ = 0.
        period: the number of rounds after which stepsizes repeat, such as 2 for `stepsize=[1/8, 1/2]`, a list being
            repeated. The rate, lower and upper, is then that of so many rounds. Schedules that never repeat, such as
            "1/(8 + t)", have no rate: `worst_case` bounds a number of their rounds.

    Returns:
        A `Rate` with `.lower`, `.upper`, `.tight`, `.function` and `.federation()`. Where errors grow, `.lower` is
        larger than 1 and `.federation()` diverges.

    Raises:
        InvalidInput: a method that changes from round to round, or that does not rest at the minimiser of
            heterogeneous clients; a class, solver or scheme that is not analysed; too many local steps.
    """
    period = integer_at_least(period, 1, "period")
    spec = specified(method, clients, num_clients, local_solver, participation, grouped=True, period=period)
    num_clients = spec.independent or "any"
    instance_of(composite, bool, "composite", "a truth value", "give True or False")
    if composite:
        _require_composite(spec)
    functions, solver, own = spec.clients, spec.solver, _steps_of(method, local_solver)
    first, found, attaining = _posed(spec, "neighbours", composite=composite, period=period), None, []
    points, compressed = len(first.board.evaluations), bool(first.coordinates.compressors)
    if compressed and isinstance(functions, ClientGroups):
        raise InvalidInput("local_steps", spec.solver, "differ between clients, which is not analysed where they "
                           "compress what they send", "give one number for all clients")  # fmt: skip
    if period > 1 and compressed:
        raise InvalidInput("period", period, "is not analysed where clients compress what they send", "leave it out")
    if points <= MOST_POINTS and not (own or first.board.residuals or compressed) and spec.draws.everyone:
        attaining = extremes(first.coordinates, solver, clients)
        found = _exactly(first, attaining)
    if found is None:  # else none is slower, and nothing remains to be searched for
        attaining = _slowest(spec, first.coordinates, clients, num_clients, own)
        found = _best(first, attaining)
    slow, gained = attaining[0], False
    for goes_on, measured in _larger(spec, first, period):
        if _is_tight(found, slow) or slow.squared > LARGEST or (goes_on and not gained):
            break
        larger = _posed(spec, composite=composite, period=period, **measured)
        if len(larger.board.evaluations) <= MOST_POINTS:
            better = _best(larger, attaining, found)
            gained = better is not None and (found is None or better.rate < found.rate * (1 - WORTHWHILE))
            found = better if gained else found
    # Those beside similar clients may be less similar.
    like = isinstance(functions, SimilarClients | ClientGroups) or compressed
    if spec.draws.everyone and not (_is_tight(found, slow) or like):
        slow = refined(first.coordinates, solver, slow, clients, num_clients)
    if isinstance(solver, UnequalSteps) and own is not None:
        solver = replace(solver, steps=own.steps)
    return Rate(spec.method, solver, clients, num_clients, found, slow, period)


def _posed(spec: Specification, among: str = "all", **measured: Any) -> PosedRound:
    """The round that a Lyapunov function is sought for, with what it measures."""
    return pose_round(spec.method, spec.solver, spec.clients, min(spec.num_clients, 2), among, draws=spec.draws,
                      compressing=spec.independent, **measured)  # fmt: skip


@in_one_thread
def is_proved(
    rate: Fraction, method: Method, clients: FunctionClass, num_clients: int | str, local_solver: LocalSolver | None,
    participation: Any,
) -> bool:  # fmt: skip
    """Whether a Lyapunov function of this rate is found, by few programs: `lyapunov` takes dozens for the least one."""
    spec = specified(method, clients, num_clients, local_solver, participation, grouped=True)
    first = _posed(spec, "neighbours")
    larger = (_posed(spec, **measured) for _, measured in _larger(spec, first, 1))
    small = (posed for posed in larger if len(posed.board.evaluations) <= MOST_POINTS)
    return any(_at(posed, rate) for posed in chain([first], small))


def _larger(spec: Specification, first: PosedRound, period: int) -> Iterator[tuple[bool, dict[str, Any]]]:
    """What larger rounds measure, where smaller ones leave a gap; and whether only after one that has gained.

    All pairs of points, then gradients and values as parts of V, or what sampled clients remember. Methods that
    remember more than the server's point may have momentum: V sees the points that come, and inequalities between them
    make it positive.
    """
    points, remembers = len(first.board.evaluations), len(first.coordinates.mean.read) > 1
    ways = 2**period if spec.method.skip != 0 else 1
    if not spec.draws.everyone:
        if 3 < points <= MOST_POINTS:
            yield False, {}
        if isinstance(spec.clients, SmoothStronglyConvex | SimilarClients):
            yield False, {"remembered": True, "valued": True}
        return
    for history in (0, 1):
        least = 1 if history and ways > 1 else 3 - history
        if least < points <= (MOST_POINTS - history) // (1 + history * ways):
            yield False, {"history": history}
    for history in range(1, MOST_HISTORY + 1):
        large = 1 + (points - 1) * (1 + history) > MOST_POINTS
        if not remembers or ways > 1 or isinstance(spec.clients, ClientGroups) or large:
            return
        yield history > 1, {"history": history, "by_inequalities": True}


def _slowest(
    spec: Specification, found: Coordinates, clients: FunctionClass, num_clients: int | str,
    own: UnequalSteps | None,
) -> list[Attained]:  # fmt: skip
    """The slowest federations of the class; `own`: the steps of every client, where unequal."""
    inexact = _is_signed(spec, found)
    if found.compressors and spec.draws.everyone:  # any number of clients may be one or two
        draws = [Draws(0, m) for m in ([spec.independent] if spec.independent else [1, 2])]
        each = [slowest_when_drawn(found, spec.solver, clients, of, inexact) for of in draws]
        return max(each, key=lambda these: these[0].squared)
    if not spec.draws.everyone:
        return slowest_when_drawn(found, spec.solver, clients, spec.draws, inexact)
    if isinstance(spec.clients, ClientGroups) and isinstance(spec.solver, UnequalSteps) and own is not None:
        return slowest_in_groups(spec.method, spec.solver, clients, spec.clients, own.steps, found.period)
    return slowest(found, spec.solver, clients, num_clients, inexact)


def _is_signed(spec: Specification, found: Coordinates) -> bool:
    """Whether answers, or what is sent of vectors, may be too large or too small by a part of what they should be."""
    contractive = any(isinstance(compressor, Contractive) for compressor in found.compressors)
    return contractive or isinstance(spec.solver, ToInexactness)


def _steps_of(method: Method, local_solver: LocalSolver | None) -> UnequalSteps | None:
    """Local steps of which every client takes its own number."""
    solver = method.local_solver if local_solver is None and isinstance(method, Method) else local_solver
    return solver if isinstance(solver, UnequalSteps) else None


def specified(
    method: Method, clients: FunctionClass, num_clients: int | str, local_solver: LocalSolver | None,
    participation: Any, convex: bool = True, grouped: bool = False, period: int | None = None,
) -> Specification:  # fmt: skip
    """What is asked, checked, of convex clients or of any that are smooth. Raises InvalidInput; see `lyapunov`.

    `grouped`: whether clients may take unequal numbers of local steps; `period`: of schedules, None: none is analysed.
    """
    if isinstance(clients, ClientGroups):
        raise InvalidInput("clients", clients, "are not analysed here", "give one class for all clients")
    instance_of(clients, FunctionClass, "clients", "a class of functions", "give SmoothStronglyConvex(mu, L)")
    if convex and clients.lowest < 0:
        raise InvalidInput("clients", clients, "may have no minimiser, or many, from which errors are measured",
                           "give SmoothStronglyConvex(mu, L)")  # fmt: skip
    metric = "distance" if convex else "descent"
    own = _steps_of(method, local_solver)
    if own is not None and len({*own.steps}) == 1 and num_clients in ("any", len(own.steps)):  # all clients are alike
        local_solver = GradientDescent(steps=own.steps[0], stepsize=own.stepsize)
    elif own is not None and not grouped:
        raise InvalidInput("local_steps", own.steps, "differ between clients, which is not analysed here",
                           "give one number for all clients; `lyapunov` takes unequal ones")  # fmt: skip
    spec = specify(method, clients, num_clients, 1, metric, None, 0, local_solver, participation)
    if is_scheduled(spec.method) or is_scheduled(spec.solver):
        if period is None or period == 1:
            problem = "has a stepsize that changes from round to round, and a rate is that of one"
            cure = "give one stepsize; `lyapunov` takes the period of one that repeats, `worst_case` any schedule"
            raise InvalidInput("method", method, problem, cure)
        for parameters in (spec.method, spec.solver):
            require_period(parameters, period)
    _require_few_rounds(spec, period or 1)
    if not spec.draws.everyone and spec.method.gradients_from == "sample":
        problem = f"is drawn twice a round by {type(method).__name__}, which is not analysed here"
        raise InvalidInput("participation", participation, problem, "give Full()")
    if spec.draws.replaced and not spec.draws.clients:
        raise InvalidInput("num_clients", num_clients, "is no number, which clients who remember need", "give m")
    return spec


def _require_few_rounds(spec: Specification, period: int) -> None:
    """Refuses so many local steps in a period that programs take hours, and rounds of drawn clients in several."""
    if period > 1 and not spec.draws.everyone:
        raise InvalidInput("period", period, "is not analysed where clients are drawn", "leave it out")
    if period > MOST_TOSSES and spec.method.skip != 0:
        raise InvalidInput("period", period, "leaves too many ways to communicate at random",
                           f"give at most {MOST_TOSSES}")  # fmt: skip
    steps = getattr(spec.solver, "steps", 1)
    total = period * (steps if isinstance(steps, int) else sum(steps))
    if total > MOST_STEPS:
        name, value = ("local_steps", steps) if period == 1 else ("period", period)
        raise InvalidInput(name, value, f"needs semidefinite matrices of {total + 1} rows",
                           f"give at most {MOST_STEPS} local steps, of all groups and rounds together")  # fmt: skip


def _require_composite(spec: Specification) -> None:
    """Refuses methods whose server takes no proximal steps, and rounds of drawn clients."""
    spec.method.require_prox(spec.solver)
    if not spec.draws.everyone:
        raise InvalidInput("composite", True, "is not analysed where clients are drawn", "give Full(), or False")
    if isinstance(spec.clients, SimilarClients):
        raise InvalidInput("composite", True, "is not analysed for similar clients", "give SmoothStronglyConvex(mu, L)")


@in_one_thread
def attained_rate(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = "any",
    local_solver: LocalSolver | None = None,
    participation: Any = None,
) -> Fraction:
    """`lyapunov(…).lower`, before its last refinement: what some quadratics attain, in a fraction of the time."""
    spec = specified(method, clients, num_clients, local_solver, participation, grouped=True)
    if not spec.draws.everyone:
        found = coordinates(spec.method, spec.solver, clients, 2, draws=spec.draws)
        signed = _is_signed(spec, found)
        return slowest_when_drawn(found, spec.solver, clients, spec.draws, signed, groups=1)[0].squared
    found = coordinates(spec.method, spec.solver, spec.clients, min(spec.num_clients, 2))
    return _slowest(spec, found, clients, num_clients, _steps_of(method, local_solver))[0].squared


def _is_tight(found: LyapunovFunction | None, attained: Attained) -> bool:
    return found is not None and found.rate <= attained.squared * (1 + TIGHT)


def _best(
    posed: PosedRound, attaining: list[Attained], known: LyapunovFunction | None = None
) -> LyapunovFunction | None:
    """The Lyapunov function with nearly the least rate that these inequalities prove; None where none is found."""
    least = attaining[0].squared
    found = _exactly(posed, attaining)
    if found is not None:
        return found
    if least > LARGEST:
        return None
    above = float(least) * (1 + NEARLY) + SMALLEST
    return _at(posed, Fraction(above)) or _bracketed(posed, above, known)


def _exactly(posed: PosedRound, attaining: list[Attained]) -> LyapunovFunction | None:
    """A Lyapunov function of just the rate that these federations attain."""
    # Of similar clients' objective more is unknown in a round than what `attained_vectors` gives.
    if attaining[0].is_exact and not (
        posed.coordinates.compressors or isinstance(posed.board.functions, SimilarClients)
    ):
        vectors = vectors_in_groups if isinstance(posed.board.functions, ClientGroups) else attained_vectors
        zeros = [zero for one in attaining[:FEW_EIGENVECTORS] for zero in vectors(posed, one)]
        return _at(posed, attaining[0].squared, zeros)
    return None


def _bracketed(posed: PosedRound, low: float, known: LyapunovFunction | None) -> LyapunovFunction | None:
    """A Lyapunov function whose rate is nearly where the proofs' largest margin changes its sign, above `low`."""
    below = _margin(posed, low)
    high = min(max(1.0, 2 * low), LARGEST) if known is None else float(known.rate * (1 - WORTHWHILE))
    while (over := _margin(posed, high)) <= 0:
        if high >= LARGEST or known is not None:
            return None
        low, below, high = high, over, min(4 * high, LARGEST)
    if below > 0:  # a proof is near, only the rounding failed
        high = low
    for step in range(MOST_TRIALS):
        if high - low <= NEARLY * high or over < NOISE:
            break
        # A secant, slightly beyond its zero, then middles twice: the margin is often linear in the rate, but may jump.
        guess = low + (high - low) * -below / (over - below)
        middle = (low + high) / 2 if step % 3 else min(guess * (1 + NEARLY / 4), (guess + 9 * high) / 10)
        margin = _margin(posed, middle)
        if margin > 0:
            high, over = middle, margin
        else:
            low, below = middle, margin
    for exponent in range(6):  # further from the least rate the margin is larger than what rounding takes
        found = _at(posed, Fraction(high * (1 + NEARLY * 8**exponent)))
        if found is not None:
            return found
    return None


def _at(posed: PosedRound, rate: Fraction, zeros: Sequence[Any] = ()) -> LyapunovFunction | None:
    """A certified Lyapunov function of just this rate."""
    if rate > BEYOND_FLOATS:
        return None
    proposed = lyapunov_function(posed, float(rate), zeros)
    # With zeros there may be a proof without a margin: where simple numbers are right, not only those near them.
    least = -NO_MARGIN if zeros else 0.0
    return None if proposed is None or proposed.margin <= least else certified(posed, rate, proposed, zeros)


def _margin(posed: PosedRound, rate: float) -> float:
    proposed = lyapunov_function(posed, rate)
    return -1.0 if proposed is None else proposed.margin
