r"""The vectors that FedSplit's statements are about, as terms of the claim language.

z* is the fixed point of FedSplit: z_j^* = x^* - s∇f_j(x^*), with the minimiser x* as its mean. Norms of vectors of the
clients are root mean squares: ‖z − z*‖/√m in the paper's.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    answers,
    family,
    free,
    gradient,
    inner,
    local_step,
    memory,
    minimiser,
    named,
    norm,
    number,
    parameter,
    parts,
    proximal,
    server,
    shared,
    solutions,
    square,
    value,
)

SYMBOLS = ("z_j^{(t)}", "z_j^{(t+1)}")


def fixed_point(stepsize: Any) -> Any:
    """z*, for proximal steps of this stepsize."""
    return named("z_j^*", minimiser - stepsize * gradient(minimiser))


def away(time: int, stepsize: Any) -> Any:
    """z − z*, before (0) or after (1) the round."""
    return named(SYMBOLS[time], memory("z", time)) - fixed_point(stepsize)


# Theorem 1 has s = 1/√(ℓ_*L^*), with L^* = κℓ_*.
matched_stepsize = 1 / (parameter("mu") * parameter("kappa").sqrt())


def first_distance(stepsize: Any) -> Any:
    """‖z^(1) − z*‖ over all clients: √m times the root mean square."""
    return named(r"\|z^{(1)}-z^*\|", parameter("num_clients").sqrt() * norm(away(0, stepsize)))


# x_j^(t), the point of the proximal step: 2x^(t) − z_j^(t) in Algorithm 1; any point that gradient steps come from
SUBPROBLEM_CENTER: Vector = named("x_j^{(t)}", 2 * server(0) - memory("z", 0))
ON_THE_WAY: Vector = named("u^{(t)}", family("u"))  # t counts the steps
STEP = named("u^{(t+1)}", local_step(ON_THE_WAY))
# ‖x_j^(t) − prox_{sf_j}(x_j^(t))‖ of each client
start_distance = norm(SUBPROBLEM_CENTER - solutions)


def error_of_each(bound: Any) -> Claim:
    """The computed proximal point is at most `bound` from the true one."""
    return at_most(norm(answers - solutions), bound, of_client=True)


# The regularised problem, with λ/2 in (19): x_λ^* minimises F/m + (λ/2)‖· − x^(1)‖², z_λ^* is FedSplit's fixed point.
_anchor, _weight = shared("anchor", 0), parameter("regularizer")
REGULARIZED_MINIMISER: Vector = named(r"x_\lambda^*", proximal(_weight, _anchor))
_slope = gradient(REGULARIZED_MINIMISER) + _weight * (REGULARIZED_MINIMISER - _anchor)
REGULARIZED_FIXED_POINT: Vector = named(r"z_{\lambda,j}^*", REGULARIZED_MINIMISER - parameter("stepsize") * _slope)
first_regularized_distance = named(
    r"\|z^{(1)}-z_\lambda^*\|",
    parameter("num_clients").sqrt() * norm(named(SYMBOLS[0], memory("z", 0)) - REGULARIZED_FIXED_POINT),
)
first_squared_distance = square(server(0) - minimiser)


def reaches_value(bound: Any) -> Claim:
    """F(x^(t+1)) − F* ≤ bound, where x^(1) is the start."""
    return at_most(parameter("num_clients") * (after(value(server(0))) - value(minimiser)), bound, rounds="t")


def within(times: int, count: Number) -> Claim:
    """F(x̂) − F* ≤ ε after more than `times` the count of rounds for ε, for every ε that λ < ε/(m‖x^(1) − x*‖²) admits.

    The count is c/√ε for some c, so that t rounds are enough for the ε of at least (times·c/t)². The claim is that the
    gap is at most the least ε with both.
    """
    t, at_one = parameter("t"), count.put(parameter("epsilon"), number(1))
    at_one = at_one.put(parameter("squared_distance"), first_squared_distance)
    admitted = parameter("num_clients") * parameter("regularizer") * first_squared_distance
    return reaches_value(admitted.max((times * at_one / t) ** 2))


def decay(times: Any, slope: Number) -> Number:
    """exp(−t/c), c = times·slope: the ε for which t is `times` the count slope·log(1/ε). As a power: (e^(−1/2c))^2t."""
    each: Number = (-(1 / (2 * times * slope))).exp()
    return each ** (2 * parameter("t"))


def slope_of(count: Number) -> Number:
    """The factor of the logarithm in the count: its value where that is 1."""
    logarithm = next(part for part in parts(count) if part.head == "log")
    return count.put(logarithm, number(1))


def within_relative(times: Any, count: Number) -> Claim:
    """F(x^(t+1)) − F* ≤ ε·½L^*‖z^(1) − z*‖² for the ε of which t is `times` the count; the count has log ε."""
    largest = parameter("kappa") * parameter("mu") / 2 * first_distance(matched_stepsize) ** 2
    return reaches_value(largest * decay(times, -slope_of(count)))


def within_both(count: Number) -> Claim:
    """F(x^(t+1)) − F* ≤ ½mλ‖x^(1) − x*‖² + ½ε for the ε of which t is the count.

    The count has log(L_λ‖z^(1) − z_λ*‖²/ε). For λ < ε/(m‖x^(1) − x*‖²) the right side is less than ε.
    """
    (inside,) = (part.args[0] for part in parts(count) if part.head == "log")
    epsilon = parameter("epsilon")
    scaled = inside.args[0] if (inside.head, *inside.args[1:]) == ("/", epsilon) else epsilon * inside
    accuracy = scaled * decay(1, slope_of(count))
    price = parameter("num_clients") * parameter("regularizer") * first_squared_distance
    return reaches_value(price / 2 + accuracy / 2)


def reaches(bound: Any) -> Claim:
    """‖x^(t+1) − x*‖ ≤ bound, where x^(1) is the start."""
    return at_most(after(norm(server(0) - minimiser)), bound, rounds="t")


def orthogonal_to_consensus(sum_of_blocks: Vector) -> Claim:
    """⟨v, (x, …, x)⟩ = ⟨Σ_j v_j, x⟩ for every x."""
    everywhere = free("x")
    return equal(parameter("num_clients") * inner(family("v"), everywhere), inner(sum_of_blocks, everywhere))


# Points of the product space, with one block for each client, and x^(1).
BLOCKS, OTHER_BLOCKS, START = family("z"), family("y"), free("x^{(1)}")


def strongly_convex(at_z: Number) -> Claim:
    """The function of the blocks z is λ-strongly convex: F(½(y + z)) ≤ ½F(y) + ½F(z) − (λ/8)‖y − z‖²."""
    middle, at_y = (at_z.put(BLOCKS, point) for point in ((OTHER_BLOCKS + BLOCKS) / 2, OTHER_BLOCKS))
    apart = parameter("num_clients") * square(OTHER_BLOCKS - BLOCKS)
    return at_most(middle, (at_y + at_z) / 2 - parameter("regularizer") / 8 * apart)


def vanishes(residual: Vector) -> Claim:
    """The residual is 0, as a relation of numbers: ‖residual‖² = 0."""
    nothing: Number = number(0)
    return equal(square(residual), nothing)
