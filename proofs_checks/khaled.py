"""Proofs of the statements on local gradient descent.

A local step from y_k contracts y_k − x* up to s∇F_k(x*), and these vectors have the mean 0. So the models' mean sees
them only through the models' distances from it.
"""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    before_last_step,
    family,
    gradient,
    local_step,
    mean,
    minimiser,
    norm,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import (
    STEP,
    AlongSteps,
    Between,
    Derivation,
    Earlier,
    Iterate,
    Line,
    Lower,
    Proved,
    Upper,
    facts,
)
from fedconvex.proofs_checks.library import (
    Parts,
    added_up,
    by,
    cauchy_schwarz,
    cited,
    concluding,
    gap_above_slope,
    interpolation,
    jensen,
    lipschitz,
    rooted,
    squared,
    suboptimal,
)
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import khaled

s, e, mu, L, T = map(parameter, ("stepsize", "local_steps", "mu", "L", "T"))
w, x = server(0), minimiser
u = family("y")
SIGMA = square(gradient(x))
GAP = value(w) - value(x)


def gradients_at(at: Vector) -> Parts:
    """mean‖∇F_k(at)‖² ≤ 4L(f(at) − f(x*)) + 2σ*², at a point that all clients share."""
    return 4 * L * interpolation(at, x, 0, L) + squared(gradient(at) - 2 * gradient(x))


def moved(at: Vector, least: Number | None = None) -> Parts:
    """What `khaled.one_local_step` says of a step from the clients' points `at`; `least` is μ, None for 0."""
    centre = mean(at)
    change = gradient(at) - gradient(centre)
    parts = 2 * s * (by(Lower(x, at)) + by(Upper(centre, at)))
    parts += 2 * s**2 * (lipschitz(centre, at, L) + jensen(change) + gap_above_slope(centre, L))
    parts += s**2 * squared(mean(gradient(at)) - 2 * mean(gradient(centre)))
    return parts if least is None else parts + s * least * squared(at - centre)


@proof_of(khaled.gradients)
def gradients(claim: Claim) -> Derivation:
    """‖a + b‖² ≤ 2‖a‖² + 2‖b‖², with b the gradients at x* and a the change from there."""
    return Derivation((concluding(claim, gradients_at(w)),))


@proof_of(khaled.one_local_step)
def one_local_step(claim: Claim) -> Derivation:
    """Each client's function between x*, y_k and ȳ; and ‖mean∇F_k(y_k)‖² ≤ 2L²V + 4L(f(ȳ) − f(x*))."""
    return Derivation((concluding(claim, moved(u, mu)),))


# The same with μ = 0.
proved_by_sum(khaled.PAPER.find("onelocalstepconvex"), moved(u))


@proof_of(khaled.PAPER.find("drift"))
def drift(claim: Claim) -> Derivation:
    """With one function in the place of all, a step from y_k and one from ȳ do not move apart."""
    centre = mean(u)
    d, g, h = u - centre, gradient(u) - gradient(centre), gradient(centre) - mean(gradient(centre))
    a = d - s * g
    still = 2 * s / L * by(Between(u, centre, number(0), L)) + s * (2 / L - s) * squared(g)
    parts = cited("not apart, squared") + 2 * s * norm(h) * cited("not apart") + 2 * s * cauchy_schwarz(a, h, -1)
    parts += squared(mean(a))
    return Derivation((
        *rooted(norm(a), norm(d), still, "not apart"), *rooted(claim.left, claim.right, parts, "drift"),
    ))  # fmt: skip


def one_step(at: Vector, name: str) -> tuple[Line, ...]:
    """‖y⁺ − x*‖ ≤ (1 − sμ)‖y − x*‖ + sσ* for a local step from the clients' points y."""
    d, g, q = at - x, gradient(at) - gradient(x), 1 - s * mu
    room = s * (2 / (mu + L) - s)
    parts = 2 * s / (mu + L) * by(Between(at, x)) + room * squared(g - mu * d)
    parts += 2 * room * mu * (by(Lower(at, x)) + by(Lower(x, at)))
    pulled, pull = f"{name}, without σ*", d - s * g
    sigma = norm(gradient(x))
    both = cited(f"{pulled}, squared") + 2 * s * sigma * cited(pulled) + 2 * s * cauchy_schwarz(pull, gradient(x), -1)
    return (
        *rooted(norm(pull), q * norm(d), parts, pulled),
        *rooted(norm(local_step(at) - x), q * norm(d) + s * sigma, both, name),
    )


def round_lines() -> tuple[tuple[Line, ...], Parts]:
    """‖x⁺ − x*‖ ≤ q^e‖x − x*‖ + (1 − q^e)σ*/μ: the lines, and the parts that conclude it.

    q^{e−i}(‖y_i − x*‖ − σ*/μ) does not grow along the steps; the mean is at most as far away as the models.
    """
    q, i, limit = 1 - s * mu, parameter(STEP), norm(gradient(x)) / mu
    potential = q**e / q**i * (norm(u - x) - limit)
    steps = AlongSteps(potential, "y", w, facts((q**e / q**i / q, Earlier("a step"))), name="all but the last step")
    last = rooted(norm(server(1) - x), norm(answers - x), jensen(answers - x), "their mean")
    lines = (*one_step(u, "a step"), steps, *one_step(before_last_step, "the last step"), *last)
    return lines, cited("all but the last step") + cited("the last step") + cited("their mean")


@proof_of(khaled.distance_after_round)
def any_number_of_steps(claim: Claim) -> Derivation:
    """Step by step."""
    lines, parts = round_lines()
    return Derivation((*lines, concluding(claim, parts)))


def of_two_steps(least: Number | None) -> tuple[Parts, Number]:
    """‖x⁺ − x*‖² ≤ q²‖x − x*‖² − c(f(x) − f(x*)) + 2s³L(1 + 2sL)σ*², and c; q = 1 − sμ."""
    first = local_step(w)
    centre, q = mean(first), 1 - s * (0 * s if least is None else least)
    descent = 2 * s * by(Lower(x, w)) + s**2 * gap_above_slope(w, L)
    spread = s**2 * (squared(mean(gradient(w))) + gradients_at(w))
    drifted = s * L * (1 + 2 * s * L)
    parts = moved(first, least) + 2 * s * (1 - 2 * s * L) * suboptimal(centre) + q * descent + drifted * spread
    return parts, 2 * s * q * (1 - s * L) - 4 * s**2 * L * drifted


@proof_of(khaled.two_steps)
def two_steps(claim: Claim) -> Derivation:
    """A gradient step of all clients from x, then `one_local_step` with V ≤ s²(4L(f(x) − f(x*)) + 2σ*²)."""
    parts, gain = of_two_steps(mu)
    parts += gain * suboptimal(w) + s**3 * L * (1 - 4 * s * L) * squared(gradient(x))
    return Derivation((concluding(claim, parts),))


@proof_of(khaled.strongly_convex_rate)
def strongly_convex_rate(claim: Claim) -> Derivation:
    """‖x − x*‖² less its limit shrinks by (1 − sμ)² in every round."""
    q = (1 - s * mu) ** 2
    limit = 3 * s**3 * L / (1 - q) * SIGMA
    rounds = Iterate(square(w - x) - limit, q, facts=facts((1, Proved("khaled.twolocalsteps"))), name="all rounds")
    return Derivation((rounds, concluding(claim, cited("all rounds"))))


@proof_of(khaled.two_steps_convex)
def two_steps_convex(claim: Claim) -> Derivation:
    """The gap has a factor of at least 9s/8."""
    parts, gain = of_two_steps(None)
    parts += (gain - 9 * s / 8) * suboptimal(w) + s**3 * L * (1 - 4 * s * L) * squared(gradient(x))
    return Derivation((concluding(claim, parts),))


@proof_of(khaled.convex_rate)
def convex_rate(claim: Claim) -> Derivation:
    """The decreases of ‖x − x*‖² in all rounds, added up."""
    gain, once = 9 * s / 8, by(Proved("khaled.twolocalstepsconvexoneround"))
    gained = gain * GAP - 3 * s**3 * L * SIGMA
    return added_up(claim, once, square(w - x), gained, 1 / (gain * T), end=squared(w - x))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "gradients": ((0, F(2, 3)), (1, -1), 2, (F(2, 3), 2, F(1, 2)), ()),
    "onelocalstep": ((F(1, 10),), (0,), 0, (F(1, 10), 1, F(1, 10), F(1, 20)), ((-1,),)),
    "onelocalstepconvex": ((F(1, 20), 0), (1, -1), 2, (F(1, 20), 3, F(1, 8)), ((1, 2),)),
    "drift": ((F(1, 2), F(1, 2)), (1, -1), 2, (F(1, 2), 2, F(1, 2)), ((2, 2),)),
    "anynumberoflocalsteps": ((F(1, 2), F(1, 2)), (0, 0), 1, (F(1, 2), 2, F(1, 2), F(1, 20)), ()),
    "twolocalsteps": ((F(1, 20),), (-1,), 1, (F(1, 10), F(1, 20), F(1, 20)), ()),
    "twolocalstepstrounds": ((F(1, 20),), (-1,), 2, (F(1, 10), 1, F(1, 20), F(1, 20)), ()),
    "twolocalstepsconvexoneround": ((F(1, 4),), (0,), 1, (F(1, 4), F(1, 2)), ()),
    "twolocalstepsconvex": ((F(1, 4),), (0,), 1, (F(1, 4), 2, 1), ()),
}  # fmt: skip
remarks_of_instances(khaled.PAPER, INSTANCES, {"drift", "anynumberoflocalsteps"})
