"""`error_floor`: how far from the minimiser a method stays, for noisy gradients or for clients that differ."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, final

from fedconvex.arithmetic.rationals import float_at_least, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords, one_of
from fedconvex.proofs_checks.search.lyapunov.coordinates import Biased, is_memoryless, memories_at_rest, memoryless
from fedconvex.proofs_checks.search.lyapunov.drawn_federations import counts_to_try
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction
from fedconvex.proofs_checks.search.lyapunov.lyapunov import (
    MOST_HISTORY,
    MOST_POINTS,
    attained_rate,
    lyapunov,
    specified,
)
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.priced_functions import cheapest, least_cost
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine, trial_federations
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import QuadraticBoard
from fedconvex.proofs_checks.search.lyapunov.second_moments import NOISE, PULL, Groups, second_moments
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes
from fedconvex.shown import on_screen
from fedconvex.validation import is_choice

CAUSES = ("noise", "heterogeneity")
MOST_STEPS = 8  # local steps: equations of noise make larger programs slow
RATES = 24  # that are tried between the fastest and 1
GRID = [-i * 8 / RATES for i in range(1, RATES + 1)]  # log10(1 − rate)
SECTIONS = 18  # of the golden section around the best of them
ALONE = (Fraction(1),)
NEARLY = Fraction(1, 10**6)  # relative distance from an attained rate
TIGHT = Fraction(1, 10**4)  # relative distance at which the bounds are said to meet
WORTHWHILE = Fraction(1, 100)  # the relative gain for which a larger proof is preferred
GOLDEN = (5**0.5 - 1) / 2


@final
@dataclass(frozen=True, eq=False)
class ErrorFloor:
    """E‖w − x*‖² after T rounds is at most rate^T · V(start) + upper · size, and quadratics keep at least lower · size.

    The size is σ², the variance of one client's gradient, or ζ*² = mean‖∇F_k(x*)‖².

    Attributes:
        method, solver, clients, num_clients, cause: what was asked.
        function: V and the proof of E V(next state) <= rate·V(state) + prices · sizes. Without prices V is positive
            definite in what later rounds compute with, as in `lyapunov`, and at least a multiple of the squared error.
        lower: a squared error, per unit of the size, at which some quadratics keep the method.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int | str
    cause: str
    function: LyapunovFunction
    lower: Fraction

    @property
    def rate(self) -> Fraction:
        """The factor by which V decreases in a round, but for the floor."""
        return self.function.rate

    @property
    def prices(self) -> tuple[Fraction, ...]:
        """What a round adds to V, per unit of ζ*²; or, for each evaluated gradient, of the noise of all clients.

        Where `num_clients` is a number: of the noise of their mean, then of the deviations from it. None where clients
        that differ add nothing.
        """
        return self.function.prices

    @property
    def upper(self) -> Fraction:
        """The floor of E‖w − x*‖², proved, per unit of σ² or ζ*²."""
        return _floor(self.function, _weights(len(self.prices), self.cause, self.num_clients))

    @property
    def certificate(self) -> DualCertificate:
        """The proof, with its multipliers by the inequalities' names."""
        return self.function.certificate

    @property
    def tight(self) -> bool:
        """Whether the two bounds are apart by at most one part in 10,000."""
        return self.upper <= self.lower * (1 + TIGHT)

    def __repr__(self) -> str:
        size = "σ²" if self.cause == "noise" else "ζ*²"
        return (f"<error floor of {self.method}: squared error within [{0.0 - float_at_least(-self.lower)}, "
                f"{float_at_least(self.upper)}]·{size}>")  # fmt: skip

    def __str__(self) -> str:
        return on_screen(f"{self!r}\n  V decreases by {float_at_least(self.rate)} a round; V = {self.function}")


@checked_keywords
def error_floor(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = "any",
    local_solver: LocalSolver | None = None,
    cause: str = "noise",
    participation: Any = None,
) -> ErrorFloor:
    """How close a method comes to the minimiser: a rate and an error floor, proved for all clients of a class.

    Use it for gradients with noise (minibatches), and for methods whose fixed point is biased on heterogeneous clients
    (FedGD with several local steps, FedProx). The floor of heterogeneity is 0 where the fixed point is the minimiser:
    with one local step, with a memory that removes the bias (Scaffold, FedDyn, FedSplit), and on quadratics of one
    curvature. Then V measures the whole state, as in `lyapunov`, and decreases without a price.

    E V(next state) <= rate · V(state) + price · size with V >= ‖w − x*‖², for a quadratic V of the state; so in the
    limit the squared error is at most price/(1 − rate) times the size. Of all rates the one with the lowest floor that
    was found is taken. With momentum V sees gradients and values at the points that would come without noise. Where a
    server's point waits for a communication (Scaffnew), the mean of the clients' models is measured.

    Args:
        method: with gradient steps for "noise", at most 8 of them; without memory, or unbiased, for "heterogeneity".
        clients: `SmoothStronglyConvex(mu, L)` or `Quadratics(mu, L)`.
        num_clients: with a number m, clients have independent noise, whose mean has variance σ²/m. With "any", noise
            may be the same for all clients.
        local_solver: as in `lyapunov`.
        cause: "noise": every evaluated gradient has unbiased noise, E‖·‖² <= σ² on average over the clients, unrelated
            to what was before. "heterogeneity": the clients' gradients at the minimiser, ζ*² = mean‖∇F_k(x*)‖².
        participation: as in `lyapunov`: E‖w − x*‖² is then over who takes part, too.

    Returns:
        An `ErrorFloor` with `.upper`, `.lower`, `.rate` and `.prices`.

    Raises:
        InvalidInput: an unknown cause; as `lyapunov`; local solvers without steps, with noise; biased methods with a
            memory, with heterogeneity; methods that do not contract.
    """
    if not is_choice(cause, CAUSES):
        raise InvalidInput("cause", cause, "is no cause of an error floor", one_of(cause, CAUSES))
    spec = specified(method, clients, num_clients, local_solver, participation)
    num_clients = spec.independent or "any"
    if not clients.ends[0] > 0:
        raise InvalidInput("clients", clients, "have no minimiser that runs come near at a rate, and no floor of "
                           "distances", "give SmoothStronglyConvex(mu, L)")  # fmt: skip
    function: LyapunovFunction | None
    if cause == "noise":
        if isinstance(spec.solver, Exact | ToInexactness):
            raise InvalidInput("local_solver", spec.solver, "evaluates no gradients in steps, which would have noise",
                               "give GradientDescent(…)")  # fmt: skip
        steps = getattr(spec.solver, "steps", 1)
        if steps > MOST_STEPS:
            raise InvalidInput("local_steps", steps, "has too many noisy gradients for a proof",
                               f"give at most {MOST_STEPS}")  # fmt: skip
        # Where noise is not independent, only the mean over the clients of its squares is known.
        known = [(MEAN,), (DEVIATION,)][: min(spec.num_clients, 2)] if num_clients != "any" else [(MEAN, DEVIATION)]
        posed = _posed(spec, noise=known)
        weights = _weights(len(posed.sizes), cause, num_clients)
        fastest = attained_rate(method, clients, num_clients, local_solver, participation)
        function, lower = _lowest(posed, weights, fastest), attained_floor(posed, spec, cause, weights[0])
        # Methods that remember more than the server's point may have momentum: V sees the points that come.
        remembers = len(posed.coordinates.mean.read) > 1 and not spec.is_random
        for history in range(1, MOST_HISTORY + 1) if remembers else ():
            if function is not None and _floor(function, weights) <= lower * (1 + TIGHT):
                break
            larger = _posed(spec, noise=known, history=history, by_inequalities=True)
            better = _lowest(larger, weights, fastest) if len(larger.board.evaluations) <= MOST_POINTS else None
            if better is None or (function and _floor(better, weights) > _floor(function, weights) * (1 - WORTHWHILE)):
                break
            function = better
    else:
        if spec.num_clients == 1:
            raise InvalidInput("num_clients", num_clients, "is one client, which is not heterogeneous", "give more")
        function, lower = _of_heterogeneity(spec, method, local_solver, participation)
    if function is None or not function.rate < 1:
        raise InvalidInput("method", method, "was not proved to contract on these clients", "give smaller steps, or "
                           "more regularisation")  # fmt: skip
    return ErrorFloor(spec.method, spec.solver, clients, num_clients, cause, function, lower)


def _of_heterogeneity(
    spec: Specification, method: Method, local_solver: LocalSolver | None, participation: Any
) -> tuple[LyapunovFunction | None, Fraction]:
    """The function, and the floor that some quadratics attain: 0 for an unbiased method, whose function has no price.

    A price of 0 leaves a program for prices no interior, so that an unbiased method is proved by its rate alone.
    """
    try:
        return lyapunov(method, spec.clients, spec.num_clients, local_solver, participation).function, Fraction(0)
    except Biased:
        if not is_memoryless(spec.method):
            raise InvalidInput("method", method, "is biased and has a memory, which is not analysed here",
                               "give FedGD, FedProx or an unbiased method") from None  # fmt: skip
    posed = _posed(spec, of=memoryless(spec.method), pulled=True)
    if spec.clients.lowest < spec.clients.highest or not spec.draws.everyone:
        return _lowest(posed, ALONE, None), attained_floor(posed, spec, "heterogeneity", *ALONE)
    # Quadratics of one curvature: the mean of their gradients is the gradient at the mean, whatever the clients do.
    alike = replace(posed, sizes=())
    rates = (Fraction(f"{1 - 10**x:.9g}") for x in GRID)
    return next((found for rate in rates if (found := cheapest(alike, rate, ())) is not None), None), Fraction(0)


def _floor(function: LyapunovFunction, weights: Sequence[Fraction]) -> Fraction:
    return sum((p * w for p, w in zip(function.prices, weights, strict=True)), Fraction(0)) / (1 - function.rate)


def _posed(spec: Specification, **disturbed: Any) -> PosedRound:
    count = min(spec.num_clients, 2)
    return pose_round(spec.method, spec.solver, spec.clients, count, draws=spec.draws, **disturbed)


def _weights(count: int, cause: str, num_clients: int | str) -> tuple[Fraction, ...]:
    """What the prices are multiplied by: for every evaluation the variance of the means, and of the deviations."""
    if cause == "heterogeneity" or num_clients == "any":
        return ALONE * count
    m = int(num_clients)
    each = (Fraction(1, m), 1 - Fraction(1, m))[: 1 + (m > 1)]
    return each * (count // len(each))


def _lowest(posed: PosedRound, weights: tuple[Fraction, ...], fastest: Fraction | None) -> LyapunovFunction | None:
    """The function whose floor is the lowest found: over rates, of which each has a least price.

    `fastest`: a rate that is attained; just above it the floor is often the lowest.
    """

    def floor(x: float) -> float:  # x: log10(1 − rate)
        return least_cost(posed, 1 - 10**x, weights) / 10**x

    values = [floor(x) for x in GRID]
    best = min(range(RATES), key=lambda i: values[i])
    if values[best] == inf:
        return None
    low, high = GRID[min(best + 1, RATES - 1)], (GRID[best - 1] if best else 0.0)
    for _ in range(SECTIONS):  # below `low` prices are known; the least rate may lie inside, and has infinite cost
        a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, b) if floor(a) <= floor(b) else (a, high)
    tried = [*([fastest * (1 + NEARLY)] if fastest else []), *(Fraction(f"{1 - 10**x:.9g}") for x in (b, a, low))]
    rates = sorted((rate for rate in {*tried, Fraction(f"{1 - 10 ** GRID[best]:.9g}")} if rate < 1),
                   key=lambda rate: least_cost(posed, float(rate), weights) / float(1 - rate))  # fmt: skip
    return next((found for rate in rates if (found := cheapest(posed, rate, weights)) is not None), None)


# Error floors that quadratics attain, exactly: where a method's fixed point is, or how noise spreads around it.


def attained_floor(posed: PosedRound, spec: Specification, cause: str, variance: Fraction) -> Fraction:
    """The largest squared error, per unit of σ² or ζ*², that some trial federations keep; 0 where none is known.

    `variance`: of the clients' mean noise, in units of σ².
    """
    (low, high), m = spec.clients.ends, spec.draws.clients
    alike = dict.fromkeys(low + (high - low) * Fraction(i, BETWEEN) for i in range(BETWEEN + 1))
    if cause == NOISE and spec.draws.everyone:
        return variance * max(_spread(posed, spec, [(a, 1)], cause) for a in alike)
    if spec.draws.everyone:
        return max(_bias(posed, spec.solver, one) for one in trial_federations(spec.clients, "any"))
    tried = [[(a, m)] for a in alike]
    if cause == PULL:
        ends = ((low, high), (low, (low + high) / 2), ((low + high) / 2, high))
        tried += [[(a, n), (b, m - n)] for n in counts_to_try(m) for a, b in ends]
    return max(_spread(posed, spec, groups, cause) for groups in tried)


def _spread(posed: PosedRound, spec: Specification, groups: Groups, cause: str) -> Fraction:
    """The stationary E‖w − x*‖² of clients in these groups, in units of the disturbance."""
    found, memories = posed.coordinates, posed.coordinates.deviation.vectors
    moments = second_moments(spec.method, spec.solver, spec.draws, groups, memories_at_rest(found), disturbed=cause)
    measured: dict[str, Any] = {}
    for c, row in zip(posed.measured or (), found.mean.read, strict=True):
        for name, x in zip(found.mean.vectors, row, strict=True):
            key = f"{name} 0" if name in memories else name
            measured[key] = measured.get(key, ZERO) + c * x
    size = moments.stationary(measured)
    return Fraction(0) if size is None else max(to_fraction(size), Fraction(0))


def _bias(posed: PosedRound, solver: LocalSolver, federation: Any) -> Fraction:
    """The squared distance of a memoryless method's fixed point from the minimiser, where mean‖∇F_k(x*)‖² = 1."""
    found = posed.coordinates
    board: Any = QuadraticBoard(0, federation, Family({(DEVIATION, PULL): ONE}))
    begun = {(MEAN, 0): Family({(MEAN, "w"): ONE})}
    [(_, state)] = outcomes(found.method, solver, board, found.state(begun))
    after = found.of(state)[MEAN, 0].parts
    left = 1 - after.get((MEAN, "w"), ZERO)
    if not left:
        return Fraction(0)
    share = federation.share if isinstance(federation, OnALine) else None
    if share == 1:
        return Fraction(0)
    # The two groups' deviations are 1 − p and −p times the coordinate, in a plane they have its length.
    size = ONE if share is None else to_fmpq(share * (1 - share))
    return to_fraction((after.get((MEAN, PULL), ZERO) / left) ** 2 / size)
