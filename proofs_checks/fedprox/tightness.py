"""How tight FedProx's bounds are: the worst rounds known, by statement; both sides come from the claims.

The clients are F_k(x) = h_k x²/2 + a_k x, and the round begins at x = 0; a client's residual is r_k·a_k, |r_k| ≤ γ. An
instance is (μ, L, L₋, γ, K, ((p_k, h_k, a_k, r_k), …)). Some bounds on numbers have instances of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

import fedconvex as fc
from fedconvex.arithmetic.rationals import rational_root
from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.proofs_checks.tightness import Measure, Tightness, of_claim
from fedconvex.statements.functions import sqrt
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

# FedProx: convex clients for which `rho_convex_everyone` is attained, for any dissimilarity.
#
# Two clients in the plane with L = 1, w = 0 and gradients (1, ±t), so B² = 1 + t². The code states their values and
# gradients at three points only: w, the answer y_k, and w⁺. A convex L-smooth function with these exists if and only if
# F(x) ≥ F(y) + ⟨∇F(y), x − y⟩ + ‖∇F(x) − ∇F(y)‖²/(2L) for every two of the points (Taylor, Hendrickx, Glineur 2017).

F = Fraction
Point = Sequence[Fraction]


class InterpolatedPoint(NamedTuple):
    """A point with the function's gradient and value there."""

    x: Point
    gradient: Point
    value: Fraction


def inner(u: Point, v: Point) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), F(0))


def minus(u: Point, v: Point) -> Point:
    return [a - b for a, b in zip(u, v, strict=True)]


def above(p: InterpolatedPoint, q: InterpolatedPoint) -> Fraction:
    """The slack of the interpolation inequality from q to p; it holds if this is ≥ 0."""
    change = minus(p.gradient, q.gradient)
    return p.value - q.value - inner(q.gradient, minus(p.x, q.x)) - inner(change, change) / 2


def lowest(x: Point, gradient: Point, start: InterpolatedPoint) -> InterpolatedPoint:
    """The point with the smallest value that the interpolation inequality with the start allows."""
    free = InterpolatedPoint(x, gradient, F(0))
    return InterpolatedPoint(x, gradient, above(start, free))


def client(mu: Fraction, B: Fraction, t: Fraction) -> tuple[InterpolatedPoint, InterpolatedPoint, InterpolatedPoint]:
    """One client's values and gradients at w, y_k and w⁺; w⁺ is the mean of the answers of the clients t and −t."""
    kept, middle = (2 * mu + 1 - B) / (2 * (mu + 1)), (2 * mu + 1) / (2 * (mu + 1))
    start = InterpolatedPoint((F(0), F(0)), (F(1), t), F(0))
    answer = (kept, middle * t)
    server = (-kept / mu, F(0))
    return (
        start,
        lowest([-g / mu for g in answer], answer, start),
        lowest(server, (1 + server[0], t), start),
    )


def of_everyone(statement: Statement) -> Measure:
    """The promised decrease and the decrease; None where there are no such functions."""

    def measure(instance: tuple[Any, Any]) -> tuple[Any, Any] | None:
        mu, t = map(F, instance)
        B = sqrt(1 + t * t)
        clients = [client(mu, B, s) for s in (t, -t)]
        exists = all(above(p, q) >= 0 for points in clients for p, q in permutations(points, 2))
        meets = all(a + b == 2 * c for a, b, c in zip(clients[0][1].x, clients[1][1].x, clients[0][2].x, strict=True))
        solved = all(y.gradient == tuple(-mu * x for x in y.x) for _, y, _ in clients)
        decrease = -sum((server.value for _, _, server in clients), F(0)) / 2
        rho = statement.calculator.formula(mu=mu, L=F(1), B=B)
        return (rho, decrease) if exists and meets and solved else None

    return measure


def attained_by_everyone(statement: Statement) -> Tightness:
    """With B = 5/4 and μ = 2L."""
    how = "two clients in the plane with gradients (1, ±t): for every μ and B tried, by points that can be interpolated"
    return Tightness(of_everyone(statement), (2, F(3, 4)), how, attained=True)


Instance = tuple[Any, Any, Any, Any, Any, tuple[tuple[Any, ...], ...]]


def round_on(instance: Instance) -> ExactFederation | None:
    """The federation of an admissible instance, whose dissimilarity and variance are those at 0."""
    mu, L, L_minus, gamma, K, clients = instance
    weights, curvatures, slopes, residuals = ([F(x) for x in row] for row in zip(*clients, strict=True))
    mean = sum(p * a for p, a in zip(weights, slopes, strict=True))
    square = sum(p * a * a for p, a in zip(weights, slopes, strict=True))
    curved = all(-min(L_minus, L) <= h <= L for h in curvatures)
    solved = all(abs(r) <= gamma for r in residuals) and 0 <= gamma <= 1
    weighted = sum(weights) == 1 and all(p > 0 for p in weights)
    if not (curved and solved and weighted and K >= 1 and int(K) == K and mu > L_minus >= 0 and mean != 0):
        return None
    if (root := rational_root(F(square))) is None:
        return None
    B = root / abs(mean)
    numbers = {"mu": mu, "L": L, "L_minus": L_minus, "gamma": gamma, "gamma_drawn": gamma, "K": K, "B": B,
               "sigma2": square - mean**2, "epsilon": mean**2}  # fmt: skip
    problem = fc.Quadratic([[[h]] for h in curvatures], [[-a] for a in slopes], weights)
    # One client is drawn every time, however often.
    scheme = fc.participation.Weighted(int(K)) if len(clients) > 1 else fc.participation.Full()
    sizes = tuple(AnswerError(r / F(gamma) if gamma else F(0), (F(0),)) for r in residuals)
    return ExactFederation(
        problem, fc.FedProx(mu=F(mu)), [F(0)], scheme, {name: F(x) for name, x in numbers.items()},
        answers="inexact", inexactness=F(gamma), deviations=(sizes,),
    )  # fmt: skip


ONE = (F(1), F(1), F(1), F(0))  # x²/2 + x, solved exactly
LARGE = 1000  # a value of μ/L near which quotients are close to their limit for μ/L → ∞
APART = ((F(1, 2), F(17)), (F(1, 2), F(-7)))  # weights and gradients of two clients: B = 13/5


def one_client(mu: Any, K: int = 4, L_minus: Any = 0, client: Any = ONE, gamma: Any = 0) -> Instance:
    """The instance of one client."""
    return mu, 1, L_minus, gamma, K, (client,)


MANY = one_client(LARGE, 2 * 10**8)
LINEAR = (1, 0, 0, 0, 1, tuple((p, F(0), a, F(0)) for p, a in APART))
CONCAVE_APART = (3, 1, 1, F(1, 2), 2, tuple((p, F(-1), a, F(-1, 2)) for p, a in APART))


def answering(sign: int) -> Instance:
    """x − L₋x²/2, and a residual of full size."""
    return one_client(3, 1, 1, (F(1), F(-1), F(1), sign * F(1, 2)), F(1, 2))


def along_a_line(statement: Statement) -> Tightness:
    """(9) for f(x) = ax, between two points."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        slope, mean_answer, answer = map(F, instance)
        numbers = {"mean_value": slope * mean_answer, "lipschitz": abs(slope), "deviation": abs(answer - mean_answer)}
        return slope * (answer - mean_answer), statement.calculator.formula(**numbers) - slope * mean_answer

    return Tightness(measure, (1, 0, 1), "an equality for linear functions", attained=True)


def around_a_kink(statement: Statement) -> Tightness:
    """(10) for f(x) = |x|, rounded to x²/(2d) + d/2 where |x| < d: w̄ = 0, and w⁺ is 1 or −1."""

    def measure(instance: tuple[Any]) -> tuple[Any, Any] | None:
        radius = F(instance[0])
        at_mean, after, slope = radius / 2, F(1), F(1)
        promised = statement.calculator.formula(mean_value=at_mean, Q=slope * 1) - at_mean
        return (after - at_mean, promised) if 0 < radius < 1 else None

    how = "|x|, rounded near 0; w̄ = 0, w⁺ = ±1: the quotient is 1 − d/2 for a rounding of width d"
    return Tightness(measure, (F(1, 500),), how, attained=True)


def with_growing_slope(statement: Statement) -> Tightness:
    """(11) for f with slope g + L|x − w|, where w̄ = w and w⁺ = w ± s: Q = E[L₀|w⁺ − w̄|], L₀ the largest slope."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        L, gradient, step = map(F, instance)
        largest = gradient + L * step
        numbers = {"L": L, "gradient": gradient, "mean_step": F(0), "deviation": step,
                   "mean_square_deviation": step**2}  # fmt: skip
        return (largest * step, statement.calculator.formula(**numbers)) if min(L, gradient, step) >= 0 else None

    return Tightness(measure, (1, 2, 1), "an equality where the slope grows as fast as it may", attained=True)


def of_deviations(statement: Statement) -> Tightness:
    """(12) for deviations that are equally likely."""

    def measure(instance: tuple[Any, ...]) -> tuple[Any, Any]:
        deviations = [abs(F(x)) for x in instance]
        mean_square = sum(x * x for x in deviations) / len(deviations)
        bound = statement.calculator(mean_square_deviation=mean_square)  # a ball where it is irrational
        return sum(deviations) / len(deviations), bound

    return Tightness(measure, (1, -1), "an equality for deviations of one length", attained=True)


def rounds_begun_above(statement: Statement) -> Tightness:
    """Lx²/2, exact steps with μ = L: how many rounds begin where the squared gradient is at least ε.

    For σ² = 0 all clients are alike, and n rounds use at most n/(4n − 2) of the bound: by convexity a round that ends
    at ‖∇f(w⁺)‖² >= ε decreases f by ‖∇f(w⁺)‖²/μ or more, and inf f is ‖∇f‖²/(2L) or more below where the last begins.
    """

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        L, start, epsilon = map(F, instance)
        if min(L, epsilon) <= 0 or start == 0:
            return None
        rounds, x = 0, start
        while (L * x) ** 2 >= epsilon:
            rounds, x = rounds + 1, x / 2
        numbers = {"L": L, "delta": L * start**2 / 2, "sigma2": F(0), "epsilon": epsilon}
        return F(rounds), statement.calculator.formula(**numbers)

    how = "x²/2 from 1 with ε = 1: one round; for σ² = 0, n rounds use n/(4n − 2) at most"
    return Tightness(measure, (1, 1, 1), how)


def rounds_needed(statement: Statement, rho: Statement) -> Tightness:
    """½x² from 1: the mean of the squared gradients over as many rounds as the theorem asks for, and ε."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        mu, K, T = map(F, instance)
        at = {"mu": mu, "L": F(1), "L_minus": F(0), "B": F(1), "gamma": F(0), "K": K}
        promised = rho.calculator.formula(**at)
        epsilon = F(1, 2) / (promised * T)
        rounds = statement.calculator.formula(delta=F(1, 2), rho=promised, epsilon=epsilon)
        shrunk = (mu / (mu + 1)) ** 2
        return (1 - shrunk ** int(rounds)) / (1 - shrunk) / rounds, epsilon

    how = "½x² from 1, so many rounds that little is left to decrease: the quotient tends to 1 as μ, K, T/μ → ∞"
    return Tightness(measure, (100, 2 * 10**8, 500), how, attained=True)


FAR = "x²/2 + x from 0, solved exactly: the quotient tends to 1 as μ/L → ∞"
FAR_AND_MANY = f"{FAR} and K → ∞"
INSTANCES: Mapping[str, tuple[Instance, str, bool]] = {
    "theorem4": (MANY, FAR_AND_MANY, True),
    "theorem4sharper": (MANY, FAR, True),
    "theorem4byvariance": (MANY, FAR, True),
    "theorem4bycurvature": (MANY, FAR, True),
    "theorem4convex": (
        one_client(2, 2 * 10**8), "x²/2 + x from 0: the quotient tends to 1 as K → ∞, for every μ", True),
    "theorem11": (MANY, FAR_AND_MANY, True),
    "theorem11sharper": (MANY, FAR, True),
    "corollary7": (one_client(6), "x²/2 + x from 0, B = 1", False),
    "corollary7sharper": (one_client(1), "x²/2 + x from 0, B = 1", False),
    "corollary9corrected": (MANY, FAR_AND_MANY, True),
    "corollary10": (LINEAR, "any clients, where ‖∇f‖² = ε", True),
    "equation3": (answering(1), "any client, a residual of full size", True),
    "equation5": (answering(1), "x − L₋x²/2: the answer is γ/μ̄ from the solution", True),
    "equation6": (answering(-1), "x − L₋x²/2, with the residual along the step", True),
    "equation7": (answering(-1), "x − Lx²/2 with L₋ = L, the residual along the step", True),
    "equation8": (one_client(LARGE), FAR, True),
    "equation13": (
        CONCAVE_APART, "two clients a_k x − x²/2: (1 − 1/B²)/2, which tends to 1/2 as B → ∞; not more, as the factor 2 "
        "is not needed", False),
    "equation14": (LINEAR, "two linear clients, one drawn: √((1 − 1/B²)/2), which tends to 1/√2 as B → ∞", False),
    "equation15": (one_client(LARGE), "x²/2 + x from 0: the quotient tends to 1/2 as μ/L → ∞", False),
    "equation16": (one_client(6), "x²/2 + x from 0, μ = 6LB², B = 1", False),
}  # fmt: skip
OF_NUMBERS: Mapping[str, Callable[[Statement], Tightness]] = {
    "theorem4convexeveryone": attained_by_everyone,
    "theorem6": lambda statement: rounds_needed(statement, fedprox.theorem4),
    "remark8sharper": rounds_begun_above,
    "equation9": along_a_line,
    "equation10": around_a_kink,
    "equation11": with_growing_slope,
    "equation12": of_deviations,
}


def tightness(statement: Statement, key: str) -> Tightness | None:
    """The largest quotient found for the statement."""
    if key in OF_NUMBERS:
        return OF_NUMBERS[key](statement)
    if key not in INSTANCES:
        return None
    instance, how, attained = INSTANCES[key]
    return Tightness(of_claim(statement, round_on), instance, how, attained)
