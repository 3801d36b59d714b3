"""FedDynOneGD: equation (17), about one round, and (18) and (20), about T rounds.

(17) and (18) assume strongly convex devices. The paper then sets μ = 0 in (18); `one_round` and `all_rounds` therefore
also make the proofs for μ = 0, where the devices are only convex (`theorem5`).
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import chained
from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import Fact, convex, named, smooth
from fedconvex.proofs_checks.engines.hilbert import family, inner, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    T,
    alpha,
    least,
    loss,
    loss_next,
    m,
    minimiser,
    mu,
    sides,
    symbolic,
)
from fedconvex.proofs_checks.feddyn.one_gradient_lemmas import lemma3_for_one_gradient
from fedconvex.proofs_checks.feddyn.one_gradient_notation import (
    A,
    A_next,
    B,
    B_next,
    average,
    distance,
    distance_next,
    gap,
    gradient_square,
    h,
    is_distance,
    is_distance_next,
    is_gap,
    is_move,
    move,
    new_gradients,
    next_average,
    server,
)
from fedconvex.proofs_checks.feddyn.run_sums import (
    B0,
    D0,
    Facts,
    G,
    Squares,
    delta,
    end_of_slopes,
    gaps_summed,
    slopes,
    slopes_summed,
    weighted_gaps,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

at_server = sympy.Symbol("ℓ(θ^{t-1})", real=True)
power = sympy.Symbol("r^T", positive=True)  # (1 + μ/(3α))^T
D_last, A_last, B_last = sympy.symbols("E‖γ^T−θ*‖² A_T B_T", nonnegative=True)
last_away, last_errors_at_minimiser = vector("γ^T−θ*"), family("h_k^T−∇L_k(θ*)")
last_errors = family("h_k^T−∇L_k(γ^T)")


def gap_errors_summed(one: Relation, growth: Any, power: Any) -> Fact:
    """A one-round inequality with the potential αE‖γ^t − θ_*‖² + κA_t, summed with the weights growth^(t−1)."""
    return gaps_summed(one, (A, A_next), (D_last, A_last), growth, power)


def end_of_gaps(weight: Any, kappa: Any) -> tuple[Facts, Squares]:
    """The facts and squares that drop weight·(αE‖γ^T − θ_*‖² + κA_T) from that sum."""
    facts = ((-weight * alpha, named(D_last, square(last_away))),
             (-weight * kappa, named(A_last, square(last_errors_at_minimiser))))  # fmt: skip
    return facts, ((weight * alpha, last_away), (weight * kappa, last_errors_at_minimiser))


def slope_errors_summed(one: Relation) -> Fact:
    """A one-round inequality with a multiple of ℓ(γ^t) plus κB_t as potential, summed over the rounds."""
    return slopes_summed(one.fact, (B, B_next), (B0, B_last))


def one_round(left: Any, right: Any, strong: Any, domain: Domain) -> tuple[Step, ...]:
    """The steps of (17), `left` ≤ `right`; `strong` is μ, or 0 for devices that are only convex."""
    moved, away, slope = next_average - average, average - minimiser, 2 / alpha
    third = lemma3_for_one_gradient(domain)
    expanded = Relation(distance_next, "=", distance + 2 * inner(away, moved) + move, domain, "(17), expanded")
    expected_move = Relation(expanded.right, "=", distance - slope * inner(away, new_gradients) + move, domain,
                          "(17), by Lemma 13")  # fmt: skip
    bent = L / 2 * square(server - average) - strong / 2 * square(server - minimiser)
    three_points = Relation(expected_move.right, "<=", slope * (least - loss + bent) + distance + move, domain,
                         "(17), by Eq. 11")  # fmt: skip
    line = distance - slope * gap + L / alpha**3 * square(h) - strong / alpha * square(server - minimiser) + move
    by_nine = Relation(three_points.right, "=", line, domain, "(17), by (9)")
    pulled = strong / (3 * alpha) * distance_next
    line = distance - slope * gap + (L + strong) / alpha**3 * A - pulled + (1 + strong / alpha) * move
    by_lemmas = Relation(by_nine.right, "<=", line, domain, "(17), by Lemmas 16 and 17")
    lines = chained(expanded, expected_move, three_points, by_nine, by_lemmas)
    place = "before (17)"
    return (
        Step(r"E\|\gamma^t-\theta_*\|^2 = E\|\gamma^{t-1}-\theta_*\|^2"
             r"+2E\langle\gamma^{t-1}-\theta_*,\gamma^t-\gamma^{t-1}\rangle+E\|\gamma^t-\gamma^{t-1}\|^2",
             "the square of a sum", expanded,
             Combination(facts=((1, is_distance_next), (-1, is_distance), (-1, is_move))), place=place),
        Step(r"= E\|\gamma^{t-1}-\theta_*\|^2+\tfrac2{\alpha m}\sum_k E\langle\gamma^{t-1}-\theta_*,"
             r"-\nabla L_k(\theta^{t-1})\rangle+E\|\gamma^t-\gamma^{t-1}\|^2", "Lemma 13", expected_move, Identity(),
             place=place),
        Step(r"\le \tfrac2{\alpha m}\sum_k E\Big[L_k(\theta_*)-L_k(\gamma^{t-1})+\tfrac L2\|\theta^{t-1}-\gamma^{t"
             r"-1}\|^2"
             r"-\tfrac\mu2\|\theta^{t-1}-\theta_*\|^2\Big]+E\|\gamma^{t-1}-\theta_*\|^2+E\|\gamma^t-\gamma^{t-1}\|^2",
             "Eq. 11 with x = θ^{t−1}, y = θ_*, z = γ^{t−1}", three_points,
             Combination(facts=((slope, convex(least, at_server, new_gradients, minimiser - server, strong)),
                                (slope, smooth(loss, at_server, new_gradients, average - server, L)))), place=place),
        Step(r"= E\|\gamma^{t-1}-\theta_*\|^2-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r"+\tfrac L{\alpha^3}E\|h^{t-1}\|^2-\tfrac\mu\alpha E\|\theta^{t-1}-\theta_*\|^2"
             r"+E\|\gamma^t-\gamma^{t-1}\|^2", "(9)", by_nine, Combination(facts=((slope, is_gap),)), place=place),
        Step(r"\le E\|\gamma^{t-1}-\theta_*\|^2-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r"+\tfrac{L+\mu}{\alpha^3}A_{t-1}-\tfrac\mu{3\alpha}E\|\gamma^t-\theta_*\|^2"
             r"+\left(1+\tfrac\mu\alpha\right)E\|\gamma^t-\gamma^{t-1}\|^2", "Lemmas 16 and 17", by_lemmas,
             Combination(facts=((strong / alpha, conclusion(feddyn.lemma16).fact),
                                (L / alpha**3, conclusion(feddyn.lemma17).fact))), place=place),
        *third,
        Step(r"\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le E\|\gamma^{t-1}-\theta_*\|^2"
             r"-\left(1+\tfrac\mu{3\alpha}\right)E\|\gamma^t-\theta_*\|^2+\tfrac{L+\mu}{\alpha^3}A_{t-1}"
             r"+\left(1+\tfrac\mu\alpha\right)\epsilon_t", "Lemma 3, and rearranged",
             Relation(left, "<=", right, domain, "equation (17)"),
             Combination(facts=(*lines, (1 + strong / alpha, third[-1].claim.fact))), place="(17)"),
    )  # fmt: skip


@proves(feddyn.equation17)
@measured
def equation17(statement: Statement) -> Proof:
    left, right = sides(statement)
    return Proof(one_round(left, right, mu, Domain.of(statement) & SCALE))


def all_rounds(round_: Relation, bound: Any, strong: Any, domain: Domain) -> tuple[Step, ...]:
    """The steps of (18) from `round_`, which is (17) or its form for μ = 0; `strong` is μ, or 0."""
    scales = symbolic(feddyn.one_gradient_scales, mu=strong)
    growth = 1 + strong / (3 * alpha)
    kappa = alpha * scales.scale15 / growth
    # α times (17) has 2 gaps on the left; Lemmas 14 and 15 use up some of them, but at most 1.
    gaps = 2 - alpha * (scales.scale14 * 8 * L / alpha**2 + scales.scale15 * 4 * L * P / m)
    parameters = Domain(tuple(r for r in domain.relations if r not in SCALE.relations))
    positive = Relation(0, "<", scales.scale15, parameters, "the multiplier of Lemma 15")
    enough = Relation(1, "<=", gaps, parameters, "gaps that are left")
    small = Relation(kappa, "<=", 10 * m / P / alpha, parameters, "κ of FedDynOneGD")
    falls = (alpha * distance + kappa * A) - growth * (alpha * distance_next + kappa * A_next)
    one = Relation(gap, "<=", falls, domain, "one round of FedDynOneGD")
    whole = power if strong else 1  # growth^T
    telescoped = gap_errors_summed(one, growth, whole)
    end, squares = end_of_gaps(whole, kappa)
    summed = Relation(weighted_gaps, "<=", alpha * D0 + kappa * G, domain, "all rounds of FedDynOneGD")
    return (
        Step(r"\text{the multipliers are positive}", "the condition on α", positive, Inequality(), place="after (17)"),
        Step(r"2-\alpha\left(c_{14}\tfrac{8L}{\alpha^2}+c_{15}4L\tfrac Pm\right) \ge 1", "the condition on α; c₁₄ and "
             "c₁₅ are the multipliers of Lemmas 14 and 15", enough, Inequality()),
        Step(r"E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le \left(\alpha E\|\gamma^{t-1}-\theta_*\|^2+\kappa A_{t-1}\right)"
             r"-\left(1+\tfrac\mu{3\alpha}\right)\left(\alpha E\|\gamma^t-\theta_*\|^2+\kappa A_t\right)",
             "α times (17) and the scaled Lemmas 14 and 15", one,
             Combination(facts=((alpha, round_.fact), (alpha * scales.scale14, conclusion(feddyn.lemma14).fact),
                                (alpha * scales.scale15, conclusion(feddyn.lemma15).fact),
                                (gap, enough.fact))), place="after (17)"),
        Step(r"\kappa \le 10\tfrac mP\tfrac1\alpha", "the condition on α", small, Inequality(), place="after (17)"),
        Step(r"\sum_{t=1}^T\left(1+\tfrac\mu{3\alpha}\right)^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r" \le \alpha E\|\gamma^0-\theta_*\|^2+\kappa A_0", "multiplied by (1 + μ/(3α))^{t−1} and summed; what is "
             "left at T is not negative; the memories start at 0, so A₀ is the mean of the ‖∇L_k(θ_*)‖²", summed,
             Combination(facts=((1, telescoped), *end), squares=squares), place="before (18)"),
        Step(r"\tfrac1T\sum_{t=1}^T\left(1+\tfrac\mu{3\alpha}\right)^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r" \le \tfrac1T\left(\alpha E\|\gamma^0-\theta_*\|^2+10\tfrac mP\tfrac1\alpha A_0\right)",
             "divided by T, κ rounded up", Relation(weighted_gaps / T, "<=", bound, domain, "equation (18)"),
             Combination(facts=((1 / T, summed.fact), (G / T, small.fact))), place="(18)"),
    )  # fmt: skip


@proves(feddyn.equation18)
@measured
def equation18(statement: Statement) -> Proof:
    return Proof(
        all_rounds(conclusion(feddyn.equation17), symbolic(statement.calculator), mu, Domain.of(statement) & SCALE),
        notes="The multiplier of Lemma 15 is read as (1 + μ/(3α))·[(L+μ)/α³ + (8/α² + 4L²/α⁴)(1 + μ/α)] over the "
              "printed denominator: with it A_{t−1} and A_t telescope exactly.",
    )  # fmt: skip


@proves(feddyn.equation20)
@measured
def equation20(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    parameters = Domain.of(statement)
    scales = symbolic(feddyn.one_gradient_nonconvex_scales)
    z, kappa = scales.scale20, 4 * alpha * scales.scale20
    slope = 1 / (2 * alpha) - L**2 / alpha**3 - scales.scale19 * (4 / alpha**2 + 8 * L**2 / alpha**4)
    slope = slope - z * L**2 / alpha**2 * 4 * P / (2 * m - P)
    positive = Relation(0, "<", z, parameters, "z of FedDynOneGD")
    slope = sympy.cancel(slope)
    enough = Relation(1, "<=", 4 * alpha * slope, parameters, "squared gradients that are left")
    # A case in which scaling with α, as the text says, leaves less than E‖∇ℓ‖²: m = P = L = 1.
    alone = slope.subs({m: 1, P: 1, L: 1})
    scaled_by_alpha = Relation(1, "<=", alpha * alone, Domain((sympy.Ge(alpha, 50, evaluate=False),)))
    small = Relation(kappa, "<=", 50 * m / P / alpha * L, parameters, "κ of FedDynOneGD without convexity")
    falls = (4 * alpha * loss + kappa * B) - (4 * alpha * loss_next + kappa * B_next)
    one = Relation(gradient_square, "<=", falls, domain, "one round of FedDynOneGD without convexity")
    end, squares = end_of_slopes(4 * alpha, kappa, (B_last, last_errors), least)
    summed = Relation(
        slopes, "<=", 4 * alpha * delta + kappa * B0, domain, "all rounds of FedDynOneGD without convexity"
    )
    bound = symbolic(statement.calculator)
    return Proof(
        (
            Step(r"z > 0", "the condition on α", positive, Inequality(), place="after (19)"),
            Step(r"\text{scaled by } \alpha: 1 \le \alpha\left(\tfrac1{2\alpha}-\dots\right)", "scaling by α, as the "
                 "paper says, leaves less than E‖∇ℓ‖² on the left", scaled_by_alpha, Inequality(), place="before (20)",
                 role=Role.PRINTED),
            Step(r"\text{scaled by } 4\alpha: 1 \le 4\alpha\left(\tfrac1{2\alpha}-\dots\right)", "scaling by 4α, as in "
                 "the display", enough, Inequality(), place="before (20)"),
            Step(r"E\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(4\alpha E[\ell(\gamma^{t-1})]+\kappa B_{t-1}\right)"
                 r"-\left(4\alpha E[\ell(\gamma^t)]+\kappa B_t\right)", "4α times (19) and the scaled Lemmas 19 and 20",
                 one, Combination(facts=((4 * alpha, conclusion(feddyn.equation19).fact),
                                         (4 * alpha * scales.scale19, conclusion(feddyn.lemma19).fact),
                                         (kappa, conclusion(feddyn.lemma20).fact),
                                         (gradient_square, enough.fact))), place="before (20)"),
            Step(r"\kappa \le 50\tfrac mP\tfrac1\alpha L", "the condition on α", small, Inequality(),
                 place="before (20)"),
            Step(r"\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le 4\alpha(\ell(\theta^0)-\ell_*)+\kappa B_0",
                 "summed over the rounds; γ⁰ = θ⁰; what is left at T is not negative", summed,
                 Combination(facts=((1, slope_errors_summed(one)), *end), squares=squares), place="before (20)"),
            Step(r"\tfrac1T\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le \tfrac1T\left(4\alpha(\ell(\theta^0)-\ell_*)"
                 r"+50\tfrac mP\tfrac1\alpha LB_0\right)", "divided by T, κ rounded up",
                 Relation(slopes / T, "<=", bound, domain, "equation (20)"),
                 Combination(facts=((1 / T, summed.fact), (B0 / T, small.fact))), place="(20)"),
        ),
        notes="Before (20) the paper says that both sides are scaled with α; what it displays is scaled with 4α. "
              "With α there is less than E‖∇ℓ(γ^{t−1})‖² on the left.",
    )  # fmt: skip
