"""FedDyn, convex devices: sharper forms of Lemmas 1, 4 and 8, by the interpolation inequality between θ̃_k^t and θ_*.

With b_k = ∇L_k(θ_k^{t−1}) − ∇L_k(θ_*) and n_k = ∇L_k(θ̃_k^t) − ∇L_k(θ_*): θ̃_k^t − γ^{t−1} = (b_k − b̄ − n_k)/α. The
proofs add two inequalities about the devices' functions, `interpolated` and `descended`. The products ⟨b_k − b̄, n_k⟩
in the two cancel, and what remains is a quadratic form in the b_k and n_k, which `rest_of_convex` and
`rest_of_strongly_convex` write as a sum of squares.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import positive
from fedconvex.proofs_checks.engines.algebra import factored
from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.facts import convex, lipschitz, selected, smooth
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, deviation, inner, mean, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn import expectations
from fedconvex.proofs_checks.feddyn.convex_lemmas import moments_of_the_draw
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.expectations import C_meant, definitions
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    alpha,
    at_minimiser,
    average,
    gap,
    gradients,
    least,
    loss,
    m,
    minimiser,
    mu,
    new_gradients,
    old_gradients,
    scale,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.feddyn.smoothness import at_shifted, at_x
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

# b_k, n_k and θ̃_k^t − θ_*.
old, new, away = old_gradients - at_minimiser, new_gradients - at_minimiser, virtual - minimiser
here = average - minimiser
e = scale + L / alpha  # the paper's constants in the sharper statements are functions of this number


def with_scale(expression: Any) -> Any:
    """The expression with σ for (m − P)/(P max(m − 1, 1)), by solving that for max(m − 1, 1)."""
    return sympy.sympify(expression).subs(sympy.Max(1, m - 1), (m - P) / (P * scale))


def interpolated(domain: Domain, strong: Any = 0) -> Step:
    """L_k(θ_*) is at least the tangent of L_k at θ̃_k^t plus the squares that smoothness and strong convexity add.

    `strong` is μ, or 0 for devices that are only convex.
    """
    # The gradient of L_k − (μ/2)‖·‖² at θ̃_k^t minus that at θ_*: with μ = 0 it is n_k.
    beyond = new - strong * away
    # The auxiliary point is θ_* + shift, where the two quadratic bounds are furthest apart.
    shift = beyond / L
    right = least - at_x + inner(new_gradients, away)
    squares = (1 + strong / L) / (2 * L) * square(beyond) + strong / 2 * square(away)
    facts = (
        (1, convex(at_shifted, at_x, new_gradients, shift - away, strong)),
        (1, smooth(at_shifted, least, at_minimiser, shift, L)),
    )
    shown = r"\tfrac1{2L}\tfrac1m\sum_kE\|n_k\|^2"
    if strong:
        shown = (r"\tfrac{L+\mu}{2L^2}\tfrac1m\sum_kE\|n_k-\mu(\tilde\theta_k^t-\theta_*)\|^2"
                 r"+\tfrac\mu2\tfrac1m\sum_kE\|\tilde\theta_k^t-\theta_*\|^2")  # fmt: skip
    shown += (r" \le \tfrac1m\sum_kE[L_k(\theta_*)-L_k(\tilde\theta_k^t)"
              r"+\langle\nabla L_k(\tilde\theta_k^t),\tilde\theta_k^t-\theta_*\rangle]")  # fmt: skip
    because = "every L_k at a point beside θ_*, from below by its tangent at θ̃_k^t, from above by its quadratic at θ_*"
    return Step(shown, because, Relation(squares, "<=", right, domain, "interpolation"), Combination(facts=facts))


def descended(domain: Domain) -> Step:
    """The descent lemma: ℓ(γ^{t−1}) is at most the mean of the devices' quadratics around θ̃_k^t."""
    right = at_x + inner(new_gradients, average - virtual) + L / 2 * square(average - virtual)
    return Step(r"E\ell(\gamma^{t-1}) \le \tfrac1m\sum_kE[L_k(\tilde\theta_k^t)+\langle\nabla L_k(\tilde\theta_k^t),"
                r"\gamma^{t-1}-\tilde\theta_k^t\rangle+\tfrac L2\|\gamma^{t-1}-\tilde\theta_k^t\|^2]", "(4)",
                Relation(loss, "<=", right, domain, "descent"),
                Combination(facts=((1, smooth(loss, at_x, new_gradients, average - virtual, L)),)))  # fmt: skip


def two_squares(u: HilbertVector, v: HilbertVector, uu: Any, uv: Any, vv: Any) -> tuple[tuple[Any, HilbertVector], ...]:
    """uu‖u‖² + 2uv⟨u, v⟩ + vv‖v‖² as two squares, by completing the square in u."""
    # `factored` keeps the multipliers short; their signs are proved like any other.
    return ((factored(uu), u + factored(uv / uu) * v), (factored(vv - uv**2 / uu), v))


def rest_of_convex(kappa: Any) -> tuple[tuple[Any, HilbertVector], ...]:
    """q‖b̃‖² + (c − q)‖ñ‖² − s‖b̃ − ñ‖² of the deviations, and the squares of the means; q = κP/m."""
    q, s, c = factored(kappa * P / m), e / alpha**2, 1 / (alpha * L)
    means = ((q, mean(old)), (factored(c - q - 1 / alpha**2 - L / alpha**3), mean(new)))
    return (*two_squares(deviation(old), deviation(new), q - s, s, c - q - s), *means)


@proves(feddyn.lemma4sharper)
def devices_move_little(statement: Statement) -> Proof:
    """The paper bounds the b_k and h separately. Here they stay together: h is the mean of the b_k, and the deviations
    b_k − h are no longer in mean square than the b_k.
    """
    domain = Domain.of(statement)
    parts = (deviation(old), at_minimiser - gradients, gradients - new_gradients)
    apart = [(1 / alpha**2, u - v) for i, u in enumerate(parts) for v in parts[:i]]
    left, right = sides(statement)
    lemma = Relation(left, "<=", right, domain, "Lemma 4, sharper")
    return Proof((
        Step(r"\tilde\theta_k^t-\gamma^{t-1} = \tfrac1\alpha\big((b_k-h^{t-1})+(\nabla L_k(\theta_*)"
             r"-\nabla L_k(\gamma^{t-1}))+(\nabla L_k(\gamma^{t-1})-\nabla L_k(\tilde\theta_k^t))\big)",
             "(8) and (9); h is the mean of the b_k",
             Relation(virtual - average, "=", sum(parts[1:], parts[0]) / alpha),
             Identity()),
        Step(r"\Big(1-\tfrac{3L^2}{\alpha^2}\Big)\epsilon_t \le \tfrac3{\alpha^2}C_{t-1}"
             r"+\tfrac{6L}{\alpha^2}E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "Lemma 6 for three vectors, smoothness and (5); the b_k − h are no longer than the b_k in mean square",
             lemma,
             Combination(facts=(
                 (3 / alpha**2, lipschitz(new_gradients - gradients, virtual - average, L)),
                 (6 * L / alpha**2, conclusion(feddyn.equation5).fact),
                 *definitions(lemma),
             ), squares=(*apart, (3 / alpha**2, mean(old))))),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma1sharper)
def potential_after(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    kappa = factored(with_scale(symbolic(feddyn.sharper_constants).kappa))
    left, right = map(with_scale, sides(statement))
    lemma = Relation(left, "<=", right, domain, "Lemma 1, sharper")
    below, above = interpolated(domain), descended(domain)
    draw = selected(expectations.C_next, square(new), C_meant, P / m)
    return Proof((
        *moments_of_the_draw(virtual - average),
        positive(r"\alpha-2Le > 0", "α ≥ 5L and e ≤ 6/5", alpha - 2 * L * e, domain, ""),
        below,
        above,
        Step(r"E\|\gamma^t-\theta_*\|^2+\kappa C_t \le E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1}"
             r"-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "2/α times both; every device is drawn with probability P/m. A sum of squares is left", lemma,
             Combination(facts=((2 / alpha, below.claim.fact), (2 / alpha, above.claim.fact), (kappa, draw),
                                *definitions(lemma)), squares=rest_of_convex(kappa))),
    ), tightness=tightness(statement))  # fmt: skip


def rest_of_strongly_convex(kappa: Any) -> tuple[tuple[Any, HilbertVector], ...]:
    """The form as squares: what is left of C beyond 4/5 of the κP/m of the convex case, the deviations, the means."""
    rho, q, c = mu / alpha, factored(kappa * P / m), (L + mu) / (alpha * L**2)
    r = 1 + rho
    kept = sympy.Rational(4, 5) * q
    draw = (rho - L / alpha - r * scale) / alpha**2
    deviations = two_squares(
        deviation(new), deviation(old),
        draw + c * r**2 - r * q, -draw - c * r * rho, draw + c * rho**2 + kept,
    )  # fmt: skip
    gained = 4 * rho * rho  # the multiple of ‖γ^{t−1} − θ_*‖² that the step "growth" of Lemma 8 contributes
    means = two_squares(
        mean(new), here, c * r**2 - 1 / alpha**2 - L / alpha**3 - r * q, -c * r * mu, gained + c * mu**2
    )
    return ((factored(kappa * (1 - r * (1 - P / m)) - kept), old), (kept, mean(old)), *deviations, *means)


@proves(feddyn.lemma8sharper)
def potential_after_strongly(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    r = 1 + mu / alpha
    kappa = factored(with_scale(symbolic(feddyn.sharper_strongly_convex_constants).kappa))
    left, right = map(with_scale, sides(statement))
    lemma = Relation(left, "<=", right, domain, "Lemma 8, sharper")
    below, above = interpolated(domain, mu), descended(domain)
    grown = Relation(mu / 2 * square(here), "<=", gap, domain, "growth")
    draw = selected(expectations.C_next, square(new), C_meant, P / m)
    return Proof((
        *moments_of_the_draw(virtual - minimiser),
        below,
        above,
        Step(r"\tfrac\mu2E\|\gamma^{t-1}-\theta_*\|^2 \le E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "strong convexity; the gradients at θ_* have mean 0", grown,
             Combination(facts=((1, convex(loss, least, at_minimiser, here, mu)),))),
        Step(r"r(E\|\gamma^t-\theta_*\|^2+\kappa C_t) \le E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1}"
             r"-\tfrac2\alpha\big(1-\tfrac{4\mu}\alpha\big)E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "2/α times the first two, 8μ/α² times the third; every device is drawn with probability P/m. A sum of "
             "squares is left", lemma,
             Combination(facts=((2 / alpha, below.claim.fact), (2 / alpha, above.claim.fact),
                                (8 * mu / alpha**2, grown.fact), (r * kappa, draw), *definitions(lemma)),
                         squares=rest_of_strongly_convex(kappa))),
    ), tightness=tightness(statement))  # fmt: skip
