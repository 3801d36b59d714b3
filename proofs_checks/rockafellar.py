"""Proofs of the rates of proximal steps on one function."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import minimiser, norm, number, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import ROUND, Derivation, Lower
from fedconvex.proofs_checks.library import added_up, by, rooted, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import rockafellar

w, after, x = server(0), server(1), minimiser
s, mu, t = map(parameter, ("stepsize", "mu", "t"))


@proof_of(rockafellar.proximalstep)
def contraction(claim: Claim) -> Derivation:
    """‖(1 + sμ)(x⁺ − x_*)‖ ≤ ‖x − x_*‖: with e = ∇f(x⁺) − μ(x⁺ − x_*) it is x − x_* less se, and ⟨e, x⁺ − x_*⟩ ≥ 0."""
    q = 1 / (1 + s * mu)
    rest = w - x - (1 + s * mu) * (after - x)
    parts = q**2 * squared(rest) + 2 * s * q * (by(Lower(after, x)) + by(Lower(x, after)))
    return Derivation(rooted(norm(after - x), q * norm(w - x), parts, "a step"))


@proof_of(rockafellar.convexfunctions)
def convex_gap(claim: Claim) -> Derivation:
    """2sτ(f(x_τ) − f_*) + ‖x_τ − x_*‖² never grows."""
    before, gap = parameter(ROUND), value(w) - value(x)
    potential = 2 * s * before * gap + square(w - x)
    step = 2 * s * before * by(Lower(w, after)) + 2 * s * by(Lower(x, after)) + (1 + 2 * before) * squared(after - w)
    return added_up(claim, step, potential, number(0), 1 / (2 * s * t), end=squared(w - x), name="all steps")


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "proximalstep": ((1,), (0,), 1, (1, 1), ()),
}  # fmt: skip
remarks_of_instances(rockafellar.PAPER, INSTANCES, frozenset(INSTANCES))
