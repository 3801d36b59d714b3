"""Proofs of the statements on FedLin: the first two local steps are those of gradient descent on f."""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Vector,
    before_last_step,
    gradient,
    infimum,
    mean,
    minimiser,
    norm,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import (
    Between,
    Derivation,
    Hypothesis,
    Infimum,
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
    cited,
    concluding,
    gap_above_slope,
    jensen,
    lipschitz,
    rooted,
    squared,
    suboptimal,
)
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import fedlin

s, mu, L, T = map(parameter, ("stepsize", "mu", "L", "T"))
w, x = server(0), minimiser


def slope(at: Vector) -> Vector:
    """∇f at a point that all clients share."""
    return mean(gradient(at))


def stepped(at: Vector) -> Vector:
    """A step of gradient descent on f."""
    return at - s * slope(at)


# The method's own code makes these steps.
proved_by_sum(fedlin.two_steps)


def contracts(at: Vector, name: str) -> tuple[Line, ...]:
    """‖x' − x*‖ ≤ (1 − sμ)‖x − x*‖ for a step x' of gradient descent on f from x."""
    d, g = at - x, slope(at)
    apart = gradient(at) - gradient(x)
    room = s * (2 / (mu + L) - s)
    parts = 2 * s / (mu + L) * (by(Between(at, x)) + jensen(apart)) + room * squared(g - mu * d)
    parts += 2 * room * mu * (by(Lower(at, x)) + by(Lower(x, at)))
    return rooted(norm(stepped(at) - x), (1 - s * mu) * norm(d), parts, name)


@proof_of(fedlin.two_steps_distance)
def two_steps_distance(claim: Claim) -> Derivation:
    """Each of the two steps contracts."""
    lines = (*contracts(w, "first"), *contracts(stepped(w), "second"))
    return Derivation((*lines, concluding(claim, cited("second") + (1 - s * mu) * cited("first"))))


@proof_of(fedlin.two_steps_value)
def two_steps_value(claim: Claim) -> Derivation:
    """The descent lemma, twice."""
    first = stepped(w)
    return Derivation((concluding(claim, by(Upper(first, w)) + by(Upper(stepped(first), first))),))


def descent(at: Vector) -> Parts:
    """‖x' − x*‖² ≤ (1 − sμ)‖x − x*‖² − 2s(1 − sL)(f(x) − f(x*)) for a step of gradient descent."""
    return 2 * s * by(Lower(x, at)) + s**2 * gap_above_slope(at, L)


@proof_of(fedlin.three_steps)
def three_steps(claim: Claim) -> Derivation:
    """The third step starts at points y_k with mean x'' and V ≤ s²L²‖x' − x‖² ≤ 2s⁴L³(f(x) − f(x*))."""
    q, first, last = 1 - s * mu, stepped(w), before_last_step
    centre = mean(last)
    change, drift = gradient(last) - gradient(centre), gradient(first) - gradient(w)
    third = 2 * s * (by(Lower(x, last)) + by(Upper(centre, last))) + s * mu * squared(last - centre)
    third += 2 * s**2 * (lipschitz(centre, last, L) + jensen(change) + gap_above_slope(centre, L))
    third += s**2 * squared(mean(gradient(last)) - 2 * slope(centre)) + 2 * s * (1 - 2 * s * L) * suboptimal(centre)
    cost = s * L * (1 + 2 * s * L)  # of V
    spread = s**2 * (squared(mean(drift)) + lipschitz(first, w, L) + s**2 * L**2 * gap_above_slope(w, L))
    parts = third + q * (descent(first) + 2 * s * (1 - s * L) * suboptimal(first)) + q**2 * descent(w) + cost * spread
    parts += (2 * s * q**2 * (1 - s * L) - 2 * s**4 * L**3 * cost) * suboptimal(w)
    return Derivation((concluding(claim, parts),))


@proof_of(fedlin.rate)
def rate(claim: Claim) -> Derivation:
    """Round by round."""
    once = facts((1, Proved("fedlin.twolocalstepsdistance")))
    rounds = Iterate(norm(w - x), (1 - s * mu) ** 2, facts=once, name="all rounds")
    return Derivation((rounds, concluding(claim, cited("all rounds"))))


@proof_of(fedlin.nonconvex_rate)
def nonconvex_rate(claim: Claim) -> Derivation:
    """The first of the two steps in each round decreases f by s(1 − sL/2)‖∇f(x)‖², the second does not increase it."""
    gain, first = s * (1 - s * L / 2), stepped(w)
    once = by(Upper(first, w)) + by(Upper(stepped(first), first)) + gain * squared(slope(first))
    start, end = by(Hypothesis("initial gap")), by(Infimum(w))
    return added_up(claim, once, value(w) - infimum, gain * square(slope(w)), 1 / (gain * T), start=start, end=end)


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "twolocalstepsdistance": ((F(2, 3), F(2, 3)), (-1, 1), 1, (F(2, 3), F(2, 3), F(1, 8)), ()),
    "twolocalstepsvalue": ((F(1, 20),), (2,), 0, (F(1, 20), 1), ()),
    "threelocalsteps": ((F(1, 20), F(1, 20)), (2, -2), 2, (F(1, 8), F(1, 20), F(1, 20)), ()),
    "twolocalstepstrounds": ((F(2, 3), F(2, 3)), (-1, 1), 1, (F(2, 3), 2, F(2, 3), F(1, 8)), ()),
    "twolocalstepsnonconvex": ((1,), (1,), 2, (1, 1, F(1, 2), 1), ()),
}  # fmt: skip
remarks_of_instances(
    fedlin.PAPER,
    INSTANCES,
    frozenset({"twolocalstepsnonconvex", "twolocalstepsdistance", "twolocalstepsvalue", "twolocalstepstrounds"}),
)
