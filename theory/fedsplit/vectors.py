r"""The vectors that FedSplit's statements are about, as terms of the claim language.

z* is the fixed point of FedSplit: z_j^* = x^* - s∇f_j(x^*), with the minimiser x* as its mean. Norms of vectors of the
clients are root mean squares: ‖z − z*‖/√m in the paper's.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.terms import (
    IllFormed,
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


def fixed_point(stepsize: Any) -> Any:
    """z*, for proximal steps of this stepsize."""
    return named("z_#^*", minimiser - stepsize * gradient(minimiser))


def away(time: int, stepsize: Any) -> Any:
    """z − z*, before (0) or after (1) the round."""
    return memory("z", time) - fixed_point(stepsize)


# Theorem 1 has s = 1/√(ℓ_*L^*), with L^* = κℓ_*.
matched_stepsize = 1 / (parameter("mu") * parameter("kappa").sqrt())


def first_distance(stepsize: Any) -> Any:
    """‖z^(1) − z*‖ over all clients: √m times the root mean square."""
    return parameter("num_clients").sqrt() * norm(away(0, stepsize))


# x_j^(t), the point of the proximal step: 2x^(t) − z_j^(t) in Algorithm 1; any point that gradient steps come from
SUBPROBLEM_CENTER: Vector = named("x_#^{(@)}", 2 * server(0) - memory("z", 0))
ON_THE_WAY = family("u")  # u^(t), where t counts the steps
STEP = local_step(ON_THE_WAY)
# ‖x_j^(t) − prox_{sf_j}(x_j^(t))‖ of each client
start_distance = norm(SUBPROBLEM_CENTER - solutions)


def error_of_each(bound: Any) -> Claim:
    """The computed proximal point is at most `bound` from the true one."""
    return at_most(norm(answers - solutions), bound, of_client=True)


# The regularised problem, with λ/2 in (19): x_λ^* minimises F/m + (λ/2)‖· − x^(1)‖², z_λ^* is FedSplit's fixed point.
_anchor, _weight = shared("anchor", 0), parameter("regularizer")
REGULARIZED_MINIMISER: Vector = named(r"x_\lambda^*", proximal(_weight, _anchor))
_slope = gradient(REGULARIZED_MINIMISER) + _weight * (REGULARIZED_MINIMISER - _anchor)
REGULARIZED_FIXED_POINT: Vector = named(r"z_{\lambda,#}^*", REGULARIZED_MINIMISER - parameter("stepsize") * _slope)
first_regularized_distance = parameter("num_clients").sqrt() * norm(memory("z", 0) - REGULARIZED_FIXED_POINT)
first_squared_distance = square(server(0) - minimiser)


def reaches_value(bound: Any) -> Claim:
    """F(x^(t+1)) − F* ≤ bound, where x^(1) is the start."""
    return at_most(parameter("num_clients") * (after(value(server(0))) - value(minimiser)), bound, rounds="t")


def within(times: int, count: Number) -> Claim:
    """F(x̂) − F* ≤ ε after more than `times` the count of rounds for ε, for every ε that λ < ε/(m‖x^(1) − x*‖²) admits.

    The count is √(a/ε), so that t rounds are enough for the ε of at least a(times/t)². The claim is that the gap is at
    most the least ε with both. Raises IllFormed for another count.
    """
    t, inside = parameter("t"), count.args[0] if count.head == "root" else count
    if count.head != "root" or (above := _over_epsilon(inside)) is None:
        raise IllFormed("count", count, "is not the root of a number divided by ε", "give √(a/ε)")
    at_one = above.sqrt().put(parameter("squared_distance"), first_squared_distance)
    admitted = parameter("num_clients") * parameter("regularizer") * first_squared_distance
    return reaches_value(admitted.max((times * at_one / t) ** 2))


def within_relative(times: Any, count: Number) -> Claim:
    """F(x^(t+1)) − F* ≤ ε·½L^*‖z^(1) − z*‖² for the ε of which t is `times` the count."""
    largest = parameter("kappa") * parameter("mu") / 2 * first_distance(matched_stepsize) ** 2
    return reaches_value(largest * accuracy_at(times, count))


def within_both(count: Number) -> Claim:
    """F(x^(t+1)) − F* ≤ ½mλ‖x^(1) − x*‖² + ½ε for the ε of which t is the count.

    For λ < ε/(m‖x^(1) − x*‖²) the right side is less than ε.
    """
    price = parameter("num_clients") * parameter("regularizer") * first_squared_distance
    return reaches_value(price / 2 + accuracy_at(1, count) / 2)


def accuracy_at(times: Any, count: Number) -> Number:
    """The ε of which t is `times` the count: exp(−t/c) for slope·log(1/ε), c = times·slope; a·exp(−t/c) for log(a/ε).

    As a power, (e^(−1/2c))^2t. Raises IllFormed for a count of which that ε is not the solution: one that is no product
    of a logarithm, −log ε or log(a/ε), and of a number without ε or t.
    """
    slope, inside = _logarithm(count)
    if inside == EPSILON:
        return _decay(times, -slope)
    if (above := _over_epsilon(inside)) is None:
        raise _no_logarithm(inside)
    return above * _decay(times, slope)


EPSILON: Number = parameter("epsilon")


def _decay(times: Any, slope: Any) -> Number:
    each: Number = (-(1 / number(2 * times * slope))).exp()
    return each ** (2 * parameter("t"))


def _logarithm(count: Number) -> tuple[Any, Number]:
    """The slope and x of slope·log x."""
    match count.head, count.args:
        case "log", (inside,):
            return 1, inside
        case "named", (_, of):
            return _logarithm(of)
        case "neg", (of,):
            slope, inside = _logarithm(of)
            return -slope, inside
        case "*", (x, y):
            first, other = (x, y) if _has("log", x) else (y, x)
            slope, inside = _logarithm(first)
            return _times(_of_neither(other), slope), inside
        case "/", (x, y):
            slope, inside = _logarithm(x)
            return slope / _of_neither(y), inside
    raise _no_logarithm(count)


def _times(factor: Number, slope: Any) -> Number:
    return factor if type(slope) is int and slope == 1 else factor * slope


def _over_epsilon(inside: Number) -> Number | None:
    """a of a/ε, in any order of its factors; else None."""
    match inside.head, inside.args:
        case "/", (Number() as above, below) if below in (EPSILON, EPSILON**1) and _is_of_neither(above):
            return above
        case "*", (x, y):
            for first, other in ((x, y), (y, x)):
                if _is_of_neither(other) and (rest := _over_epsilon(first)) is not None:
                    return rest * number(other)
    return None


def _of_neither(factor: Number) -> Number:
    if not _is_of_neither(factor):
        raise _no_logarithm(factor)
    return factor


def _is_of_neither(factor: Number) -> bool:
    """Whether it depends neither on the accuracy nor on the number of rounds."""
    return not any(part in (EPSILON, parameter("t")) for part in parts(factor)) and not _has("log", factor)


def _has(head: str, term: Number) -> bool:
    return any(part.head == head for part in parts(term))


def _no_logarithm(what: Number) -> IllFormed:
    return IllFormed("count", what, "is no multiple of −log ε or log(a/ε)", "give a slope without ε times one of them")


def reaches(bound: Any) -> Claim:
    """‖x^(t+1) − x*‖ ≤ bound, where x^(1) is the start."""
    return at_most(after(norm(server(0) - minimiser)), bound, rounds="t")


def orthogonal_to_consensus(sum_of_blocks: Vector) -> Claim:
    """⟨v, (x, …, x)⟩ = ⟨Σ_j v_j, x⟩ for every x."""
    everywhere = free("x")
    return equal(parameter("num_clients") * inner(family("v"), everywhere), inner(sum_of_blocks, everywhere))


# Points of the product space, with one block for each client, and x^(1).
BLOCKS, OTHER_BLOCKS, START = family("z"), family("y"), free("anchor")


def strongly_convex(at_z: Number) -> Claim:
    """The function of the blocks z is λ-strongly convex: F(½(y + z)) ≤ ½F(y) + ½F(z) − (λ/8)‖y − z‖²."""
    middle, at_y = (at_z.put(BLOCKS, point) for point in ((OTHER_BLOCKS + BLOCKS) / 2, OTHER_BLOCKS))
    apart = parameter("num_clients") * square(OTHER_BLOCKS - BLOCKS)
    return at_most(middle, (at_y + at_z) / 2 - parameter("regularizer") / 8 * apart)


def vanishes(residual: Vector) -> Claim:
    """The residual is 0, as a relation of numbers: ‖residual‖² = 0."""
    nothing: Number = number(0)
    return equal(square(residual), nothing)
