"""Lemmas about FedSplit that are no statement of its paper: for the kernel to prove, and to refuse where changed.

Inequalities of one client's step: reflected proximal steps, local gradient steps, Moreau envelopes; of one round; and
fixed points.

x and y are any two points of each client. The curvatures lie between ℓ_* and L^* = κℓ_*; s = 1/√(ℓ_*L^*).
"""

from collections.abc import Iterable
from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.methods import running
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import (
    Number,
    Vector,
    family,
    gradient,
    inner,
    mean,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.fedsplit.claimed_fixed_points import minimises, resting_fedgd
from fedconvex.proofs_checks.fedsplit.one_round import (
    FEDGD,
    INVARIANTS,
    L,
    b,
    best,
    factor,
    kappa,
    matched,
    mu,
    nearer_lines,
    one_round,
    round_lines,
    server_is_nearer,
)
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Line, Lower, Nonnegative, Upper
from fedconvex.proofs_checks.library import Lemma, Parts, by, cited, concluding, rooted, squared, with_example
from fedconvex.statements.assumptions import ProxError
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.convergence import FEDSPLIT
from fedconvex.theory.fedsplit.vectors import vanishes

CURVED = with_example(
    ClaimSetting(signs={"mu": "positive", "kappa": "positive"}, conditions=((kappa, ">=", number(1)),),
            curvature=(mu, kappa * mu))
)  # fmt: skip
s = parameter("stepsize")
CONVEX = with_example(ClaimSetting(signs={"stepsize": "positive"}, curvature=(number(0), None)))

x, y = family("x"), family("y")
points, slopes = x - y, gradient(x) - gradient(y)


def _each(left: Any, right: Any) -> Claim:
    return at_most(left, right, of_client=True)


def _of(setting: ClaimSetting, left: Any, right: Any, parts: Parts) -> Lemma:
    claim = _each(left, right)
    return Lemma(setting, claim, Derivation((concluding(claim, parts),)))


# ---- monotone gradients, as in (11) and (12)

BOTH_WAYS = by(Lower(x, y)) + by(Lower(y, x))
MONOTONE = _of(CONVEX, 0, inner(slopes, points), BOTH_WAYS)
STRONGLY_MONOTONE = _of(CURVED, mu * square(points), inner(slopes, points), BOTH_WAYS)


# ---- a reflected proximal step makes p − sg of p + sg

_from, _to = points + matched * slopes, points - matched * slopes
_claim = _each(norm(_to), factor * norm(_from))
REFLECTION = Lemma(
    CURVED,
    _claim,
    Derivation(rooted(_claim.left, _claim.right, (1 - factor**2) * matched**2 * by(Between(x, y)), "a step")),
)


# ---- local gradient steps on h(u) = sf(u) + ½‖u − c‖², where c = p + s∇f(p), so that p is the proximal point at c

alpha = fedsplit.local_stepsize.formula(mu=mu, L=kappa * mu)


def _stepped(u: Vector, p: Vector) -> Vector:
    """(17), corrected."""
    formula = fedsplit.corrected_prox_gradient_step.calculator.formula
    stepped: Vector = formula(
        u=u, x=p + matched * gradient(p), stepsize=matched, local_stepsize=alpha, gradient=gradient(u)
    )
    return stepped


def local_steps(number_of_steps: int, of_step: Number) -> Lemma:
    """‖u_e − p‖ ≤ of_step^e‖u_0 − p‖ for e gradient steps from any point, and of_step ≥ 1 − 2/(√κ + 1).

    Corollary 1 starts at c. Its e is a number here: claims have no induction over the local steps.
    """
    lines: list[Line] = []
    u, start = x, norm(points)
    for taken in range(1, number_of_steps + 1):
        before, after = norm(u - y), norm(_stepped(u, y) - y)
        contracts = (alpha * matched) ** 2 * by(Between(u, y))
        lines += rooted(after, factor * before, contracts, f"step {taken}")
        parts = cited(f"step {taken}")
        if of_step is not factor:
            parts += (of_step - factor) * by(Nonnegative(before))
        if taken > 1:
            parts += of_step * cited(f"{taken - 1} steps")
        lines.append(concluding(_each(after, of_step**taken * start), parts, f"{taken} steps"))
        u = _stepped(u, y)
    end = _each(norm(u - y), of_step**number_of_steps * start)
    return Lemma(CURVED, end, Derivation(tuple(lines)))


# Corollary 1, sharper, and as printed.
LOCAL_STEPS = tuple(local_steps(e, factor) for e in (1, 2, 3))
LOCAL_STEPS_AS_PRINTED = tuple(local_steps(e, 1 - 1 / (kappa.sqrt() + 1)) for e in (1, 2, 3))


# ---- the gradient of the Moreau envelope, before Proposition 2
# M(z) = f(p) + ‖z − p‖²/(2s) with p the proximal point at z, which is p + s∇f(p).


def _envelope(p: Vector) -> Any:
    return value(p) + s / 2 * square(gradient(p))


def _center(p: Vector) -> Any:
    return p + s * gradient(p)


# ⟨∇M(z), z' − z⟩, with ∇M(z) = (z − p)/s, which is ∇f(p); here p is y, and p' is x.
_tangent = _envelope(y) + inner(gradient(y), _center(x) - _center(y))
ENVELOPE_ABOVE_TANGENT = _of(CONVEX, _tangent, _envelope(x), by(Lower(x, y)) + s / 2 * squared(slopes))
ENVELOPE_BELOW_PARABOLA = _of(
    CONVEX, _envelope(x), _tangent + square(_center(x) - _center(y)) / (2 * s),
    by(Lower(y, x)) + 1 / (2 * s) * squared(points),
)  # fmt: skip


# ---- a round

MATCHED = setting_of((*FEDSPLIT, ProxError()), (), fedsplit.PAPER.notation, {}, frozenset({"minimiser"}))


def _round(setting: ClaimSetting, factor: Any, stepsize: Any, two_points: Parts) -> Lemma:
    claim = one_round(factor, stepsize)
    return Lemma(setting, claim, Derivation(round_lines(claim, factor, stepsize, two_points), INVARIANTS))


# Theorem 1.
ROUND = _round(MATCHED, factor, matched, by(Between(solutions, minimiser)))

# Theorem 1, sharper: any stepsize, and any q of at least 1, 1/(sℓ_*) and sL^*.
q = parameter("q")
ANY_STEPSIZE = with_example(ClaimSetting(
    **running("FedSplit", stepsize=s), curvature=(mu, L), answers="error", inexactness=b,
    signs={**dict.fromkeys(("mu", "L", "stepsize", "q"), "positive"), "b": "nonnegative"}, minimiser=True,
    conditions=((L, ">=", mu), (q, ">=", 1 / (s * mu)), (q, ">=", s * L), (q, ">=", number(1))),
))  # fmt: skip
ROUND_OF_ANY_STEPSIZE = _round(
    ANY_STEPSIZE, 1 - 2 / (q + 1), s, by(Between(solutions, minimiser, 1 / (s * q), q / s))
)  # fmt: skip


SERVER_IS_NEARER = Lemma(MATCHED, server_is_nearer(matched), Derivation(nearer_lines(matched), INVARIANTS))


def gap() -> Lemma:
    """(F(x) − F*)/m ≤ ½L^*‖x − x*‖²: the descent lemma at x*."""
    claim = at_most(value(server(0)) - value(minimiser), kappa * mu / 2 * square(server(0) - minimiser))
    return Lemma(MATCHED, claim, Derivation((concluding(claim, by(Upper(server(0), minimiser))),)))


GAP = gap()


def descent() -> Lemma:
    """‖x⁺ − x*‖ ≤ (κ − 1)/(κ + 1)‖x − x*‖, for the step 2/(ℓ_* + L^*)."""
    claim = at_most(norm(server(1) - minimiser), (kappa - 1) / (kappa + 1) * norm(server(0) - minimiser))
    change = gradient(server(0)) - gradient(minimiser)
    parts = best**2 * (by(Between(server(0), minimiser)) + squared(change - mean(change)))
    return Lemma(FEDGD, claim, Derivation(rooted(claim.left, claim.right, parts, "a round")))


DESCENT = descent()


# ---- fixed points

# Proposition 3: the average of a fixed point of FedSplit is optimal.
FEDSPLIT_IS_OPTIMAL = minimises(fedsplit.proposition3.setting, mean(memory("z", 0)))


def gradients_on_the_way(local_steps: int) -> Iterable[Vector]:
    """∇f_j(G_j^{i−1}(x)), i = 1, …, e."""
    point = server(0)
    for _ in range(local_steps):
        yield gradient(point)
        point = fedsplit.gradient_map.calculator.formula(x=point, stepsize=s, gradient=gradient(point))


def rests(local_steps: int) -> Lemma:
    """(5) for a number of local steps."""
    first, *others = gradients_on_the_way(local_steps)
    claim = vanishes(fedsplit.fedgd_residual.calculator.formula(gradients=sum(others, start=first)))
    return Lemma(resting_fedgd(local_steps), claim, Derivation((concluding(claim, Parts()),)))


FEDGD_RESTS = tuple(rests(e) for e in (1, 2, 3))
# After Proposition 1: with one local step a fixed point is a minimiser.
FEDGD_IS_OPTIMAL = minimises(resting_fedgd(1, convex=True), server(0))
