"""FedDynOneGD: sharper forms of equation (18), Lemma 19 and equation (20), which are not in the paper."""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import lipschitz, named, selected
from fedconvex.proofs_checks.engines.hilbert import deviation, mean, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    T,
    alpha,
    at_minimiser,
    gradient,
    gradients,
    least,
    loss,
    loss_next,
    m,
    mu,
    symbolic,
)
from fedconvex.proofs_checks.feddyn.one_gradient_notation import (
    A,
    A_next,
    B,
    B_next,
    average,
    change,
    distance,
    distance_next,
    epsilon,
    errors,
    errors_at_minimiser,
    gap,
    gradient_square,
    is_epsilon,
    is_error,
    is_error_at_minimiser,
    is_gap,
    is_gradient_square,
    new_gradients,
    server,
)
from fedconvex.proofs_checks.feddyn.one_gradient_rounds import (
    B_last,
    end_of_gaps,
    gap_errors_summed,
    last_errors,
    power,
    slope_errors_summed,
)
from fedconvex.proofs_checks.feddyn.run_sums import B0, G, end_of_slopes, slopes, weighted_gaps
from fedconvex.proofs_checks.feddyn.sums_of_squares import lemma6, young
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

V = sympy.Symbol("(1/m)Σ_k E‖∇L_k(θ^{t-1})−∇L_k(θ*)‖²", nonnegative=True)


@proves(feddyn.lemma19sharper)
@measured
def lemma19_sharper(statement: Statement) -> Proof:
    """One use of Young's inequality, with z = q(1 + 2q)/(1 + q) and q = L/α."""
    domain, q = Domain.of(statement), L / alpha
    factor = 1 + 2 * q + 2 * q**2
    z = q * (1 + 2 * q) / (1 + q)
    beyond = deviation(errors) - gradient
    squares = tuple((weight / alpha**2, v) for weight, v in young(z, beyond, -change))
    bound = symbolic(statement.calculator)
    return Proof((
        Step(r"\epsilon_t \le \Big(\tfrac1{\alpha^2}+\tfrac{2L}{\alpha^3}+\tfrac{2L^2}{\alpha^4}\Big)"
             r"\left(B_{t-1}+E\|\nabla\ell(\gamma^{t-1})\|^2\right)", "α(θ̃_k^t − γ^{t−1}) is the memories' error "
                                                                      "beyond "
             "its mean, less ∇ℓ, which is orthogonal to it, less a change of gradients of at most (L/α)‖h^{t−1}‖",
             Relation(epsilon, "<=", bound, domain, "Lemma 19, sharper"),
             Combination(
                 facts=(((1 + 1 / z) / alpha**2, lipschitz(change, server - average, L)), (1, is_epsilon),
                        (-factor / alpha**2, is_error), (-factor / alpha**2, is_gradient_square)),
                 squares=(*squares, (factor * q / (1 + q) / alpha**2, deviation(errors)),
                          (factor * (1 + q) / (1 + 2 * q) / alpha**2, mean(errors) - q / (1 + q) * gradient)))),
    ))  # fmt: skip


@proves(feddyn.equation20sharper)
@measured
def equation20_sharper(statement: Statement) -> Proof:
    """As (20), with the sharper Lemma 19. The multipliers `excess` and z make B_{t−1} and ε_t cancel."""
    parameters = Domain.of(statement)
    domain = parameters & SCALE
    factor = 1 / alpha**2 + 2 * L / alpha**3 + 2 * L**2 / alpha**4
    small = L**2 / alpha**3
    left = P / (2 * m - P) - 4 * P * L**2 / (alpha**2 * (2 * m - P)) - 2 * m / P * L**2 * factor
    z = sympy.cancel((small + L / 2 * factor) / left)
    excess = 2 * m / P * L**2 * z + L / 2
    slope = sympy.cancel(1 / (2 * alpha) - small - excess * factor - z * L**2 / alpha**2 * 4 * P / (2 * m - P))
    weight = sympy.Rational(21, 10) * alpha
    kappa = weight * z
    enough = Relation(1, "<=", sympy.cancel(weight * slope), parameters, "squared gradients that are left, sharper")
    rounded = Relation(kappa, "<=", sympy.Rational(5, 2) * m / P / alpha * L, parameters, "κ, sharper")
    falls = (weight * loss + kappa * B) - (weight * loss_next + kappa * B_next)
    one = Relation(gradient_square, "<=", falls, domain, "one round, sharper")
    end, squares = end_of_slopes(weight / T, kappa / T, (B_last, last_errors), least)
    bound = symbolic(statement.calculator)
    return Proof((
        Step(r"1 \le \tfrac{21}{10}\alpha\left(\tfrac1{2\alpha}-\dots\right)", "α ≥ 50L m/P", enough, Inequality()),
        Step(r"E\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(\tfrac{21}{10}\alpha E[\ell(\gamma^{t-1})]+\kappa B_{t"
             r"-1}\right)"
             r"-\left(\tfrac{21}{10}\alpha E[\ell(\gamma^t)]+\kappa B_t\right)",
             "(19), the sharper Lemma 19 and Lemma 20, scaled", one,
             Combination(facts=((weight, conclusion(feddyn.equation19).fact),
                                (weight * excess, conclusion(feddyn.lemma19sharper).fact),
                                (kappa, conclusion(feddyn.lemma20).fact), (gradient_square, enough.fact)))),
        Step(r"\kappa \le \tfrac52\tfrac mP\tfrac1\alpha L", "α ≥ 50L m/P", rounded, Inequality()),
        Step(r"\tfrac1T\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le \tfrac1T\left(\tfrac{21}{10}\alpha"
             r"(\ell(\theta^0)-\ell_*)+\tfrac52\tfrac mP\tfrac1\alpha LB_0\right)",
             "summed over the rounds; γ⁰ = θ⁰; what is left at T is not negative",
             Relation(slopes / T, "<=", bound, domain, "equation (20), sharper"),
             Combination(facts=((1 / T, slope_errors_summed(one)), *end, (B0 / T, rounded.fact)), squares=squares)),
    ))  # fmt: skip


@proves(feddyn.equation18sharper)
@measured
def equation18_sharper(statement: Statement) -> Proof:
    """As (18), with ε_t split into two parts: the deviations of the memories' errors from their mean, and the change
    of gradients, whose mean square V = (1/m)ΣE‖∇L_k(θ^{t−1}) − ∇L_k(θ_*)‖² replaces Lemmas 14 and 15.
    """
    parameters = Domain.of(statement)
    domain, part, growth = parameters & SCALE, P / m, 1 + mu / (3 * alpha)
    fresh = new_gradients - at_minimiser
    spent = (1 + mu / alpha) * 2 / alpha  # α times (17) contains this multiple of A and of V, from ε_t
    V_meant, V_of_A, V_of_gap = named(V, square(fresh)), 5 * L**2 / alpha**2, sympy.Rational(5, 2) * L
    two = Relation(epsilon, "<=", 2 / alpha**2 * (A + V), domain, "ε in two parts")
    drawn = Relation(A_next, "=", (1 - part) * A + part * V, domain, "who is drawn, with V")
    near = Relation(V, "<=", V_of_A * A + V_of_gap * gap, domain, "V")
    kappa = ((L + mu) / alpha**2 + spent * (1 + V_of_A)) / (1 - growth * (1 - part) - growth * part * V_of_A)
    kappa = sympy.cancel(kappa)
    of_V = spent + growth * kappa * part
    # The condition on α leaves 7/4 of the gaps; the theorem's constants are 4/7 and 5/4.
    larger, smaller = sympy.Rational(7, 4), sympy.Rational(4, 7)
    positive = Relation(0, "<", kappa, parameters, "κ, sharper")
    enough = Relation(larger, "<=", sympy.cancel(2 - V_of_gap * of_V), parameters, "gaps that are left, sharper")
    small = Relation(smaller * kappa, "<=", sympy.Rational(5, 4) * m / P / alpha, parameters, "κ rounded, sharper")
    falls = (alpha * distance + kappa * A) - growth * (alpha * distance_next + kappa * A_next)
    one = Relation(larger * gap, "<=", falls, domain, "one round of (18), sharper")
    telescoped = gap_errors_summed(one, growth, power)
    end, squares = end_of_gaps(smaller * power / T, kappa)
    bound = symbolic(statement.calculator)
    parts = (deviation(errors_at_minimiser), -fresh)
    return Proof((
        Step(r"\epsilon_t \le \tfrac2{\alpha^2}(A_{t-1}+V)", "α(θ̃_k^t − γ^{t−1}) is the memories' error beyond its "
                                                             "mean, "
             "less ∇L_k(θ^{t−1}) − ∇L_k(θ_*)", two,
             Combination(facts=((1, is_epsilon), (-2 / alpha**2, is_error_at_minimiser), (-2 / alpha**2, V_meant)),
                         squares=(*lemma6(1 / alpha**2, *parts), (2 / alpha**2, mean(errors_at_minimiser))))),
        Step(r"A_t = \left(1-\tfrac Pm\right)A_{t-1}+\tfrac PmV", "who is drawn", drawn,
             Combination(facts=((1, selected(A_next, square(fresh), square(errors_at_minimiser), part)),
                                (-(1 - part), is_error_at_minimiser), (-part, V_meant)))),
        Step(r"V \le \tfrac{5L^2}{\alpha^2}A_{t-1}+\tfrac{5L}2E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "Young's inequality with 1/4, smoothness, Lemma 18, and (5)", near,
             Combination(facts=((5, lipschitz(change, server - average, L)),
                                (5 * L**2, conclusion(feddyn.lemma18).fact),
                                (V_of_gap, conclusion(feddyn.equation5).fact), (-V_of_gap, is_gap),
                                (1, V_meant)),
                         squares=young(sympy.Rational(1, 4), gradients - at_minimiser, change))),
        Step(r"\kappa > 0", "the condition on α", positive, Inequality()),
        Step(r"\tfrac74 \le 2-\tfrac{5L}2\left(\tfrac2\alpha\left(1+\tfrac\mu\alpha\right)"
             r"+\left(1+\tfrac\mu{3\alpha}\right)\kappa\tfrac Pm\right)", "the condition on α", enough, Inequality()),
        Step(r"\tfrac74E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le \left(\alpha E\|\gamma^{t-1}-\theta_*\|^2"
             r"+\kappa A_{t-1}\right)-\left(1+\tfrac\mu{3\alpha}\right)\left(\alpha E\|\gamma^t-\theta_*\|^2"
             r"+\kappa A_t\right)", "α times (17), and the three lines before, scaled", one,
             Combination(facts=((alpha, conclusion(feddyn.equation17).fact),
                                (alpha * (1 + mu / alpha), two.fact), (growth * kappa, drawn.fact),
                                (of_V, near.fact), (gap, enough.fact)))),
        Step(r"\tfrac47\kappa \le \tfrac54\tfrac mP\tfrac1\alpha", "the condition on α", small, Inequality()),
        Step(r"\tfrac1T\sum_{t=1}^T\left(1+\tfrac\mu{3\alpha}\right)^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le "
             r"\tfrac1T\left(\tfrac47\alpha\|\gamma^0-\theta_*\|^2+\tfrac54\tfrac mP\tfrac1\alpha A_0\right)",
             "summed over the rounds; what is left at T is not negative",
             Relation(weighted_gaps / T, "<=", bound, domain, "equation (18), sharper"),
             Combination(facts=((smaller / T, telescoped), *end, (G / T, small.fact)), squares=squares)),
    ))  # fmt: skip
