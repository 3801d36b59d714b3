"""Proofs of the statements on local GD as a fixed-point method."""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    family,
    free,
    gradient,
    local_step,
    mean,
    minimiser,
    norm,
    parameter,
    server,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Line, Lower
from fedconvex.proofs_checks.khaled import round_lines
from fedconvex.proofs_checks.library import by, cited, concluding, jensen, lipschitz, rooted, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import malinovskiy

s, e, mu, L = map(parameter, ("stepsize", "local_steps", "mu", "L"))
w, x = server(0), minimiser


def nearer(b: Vector, a: Vector, name: str) -> tuple[Line, ...]:
    """‖G(b) − G(a)‖ ≤ (1 − sμ)‖b − a‖ for the clients' steps from these points."""
    d, g = b - a, gradient(b) - gradient(a)
    room = s * (2 / (mu + L) - s)
    parts = 2 * s / (mu + L) * by(Between(b, a)) + room * squared(g - mu * d)
    parts += 2 * room * mu * (by(Lower(b, a)) + by(Lower(a, b)))
    return rooted(norm(local_step(b) - local_step(a)), (1 - s * mu) * norm(d), parts, name)


@proof_of(malinovskiy.step_contraction)
def step_contraction(claim: Claim) -> Derivation:
    """One inequality between the two points."""
    return Derivation(nearer(family("y"), family("z"), "a step"))


@proof_of(malinovskiy.round_contraction)
def round_contraction(claim: Claim) -> Derivation:
    """Two steps, and the mean."""
    z = free("z")
    first, second = local_step(w), local_step(z)
    apart = local_step(first) - local_step(second)
    averaged = rooted(claim.left, norm(apart), jensen(apart), "the mean")
    parts = cited("the mean") + cited("second") + (1 - s * mu) * cited("first")
    return Derivation((*nearer(w, z, "first"), *nearer(first, second, "second"), *averaged, concluding(claim, parts)))


@proof_of(malinovskiy.fixed_point)
def fixed_point(claim: Claim) -> Derivation:
    """A round leaves the point where it is, and `khaled.distance_after_round` says how near it leads."""
    lines, parts = round_lines()
    q: Number = (1 - s * mu) ** e
    return Derivation((*lines, concluding(claim, 1 / (1 - q) * parts)))


def slope_at_rest() -> tuple[Line, ...]:
    """‖∇f(x)‖ ≤ (sL/2)(mean‖∇F_k(x)‖²)^{1/2} at a fixed point of two local steps."""
    change = gradient(local_step(w)) - gradient(w)
    parts = (lipschitz(local_step(w), w, L) + squared(change - mean(change))) * F(1, 4)
    return rooted(norm(mean(gradient(w))), s * L / 2 * norm(gradient(w)), parts, "slope")


@proof_of(malinovskiy.fixed_point_of_two_steps)
def fixed_point_of_two_steps(claim: Claim) -> Derivation:
    """The two gradients of a client differ by at most sL‖∇F_k(x)‖, and their mean over the clients is 0."""
    return Derivation(slope_at_rest())


@proof_of(malinovskiy.distance_of_two_steps)
def distance_of_two_steps(claim: Claim) -> Derivation:
    """‖∇f(x)‖ ≥ μ‖x − x*‖."""
    d, slope = w - x, mean(gradient(w))
    parts = 2 / mu * (by(Lower(w, x)) + by(Lower(x, w))) + 1 / mu**2 * squared(slope - mu * d)
    far = rooted(norm(d), norm(slope) / mu, parts, "far")
    return Derivation((*slope_at_rest(), *far, concluding(claim, cited("far") + 1 / mu * cited("slope"))))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "localstep": ((3,), (-1,), 0, (3, 1, 3, F(1, 10)), ((2,), (-1,))),
    "roundoftwolocalsteps": ((F(1, 20), F(1, 20)), (2, -2), 1, (F(1, 2), F(1, 20), F(2, 3)), (0,)),
    "fixedpoint": ((2, F(2, 3)), (2, -2), 0, (2, 2, F(2, 3), F(2, 3)), ()),
    "fixedpointoftwolocalsteps": ((3,), (2,), 2, (3, F(2, 3)), ()),
    "fixedpointoftwolocalstepsdistance": ((2, 1), (1, -1), 0, (2, 1, F(1, 2)), ()),
}  # fmt: skip
remarks_of_instances(malinovskiy.PAPER, INSTANCES, {"localstep", "roundoftwolocalsteps", "fixedpointoftwolocalsteps"})
