"""FedDynOneGD, smooth devices: Lemma 19 and equation (20), sharper."""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import lipschitz, minimal, named, over_rounds
from fedconvex.proofs_checks.engines.hilbert import deviation, family, mean, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.one_gradient_rounds import (
    B0,
    DEVICES,
    B_last,
    delta,
    loss_first,
    loss_last,
    slopes,
)
from fedconvex.proofs_checks.feddyn.one_gradient_setting import (
    B,
    B_next,
    average,
    change,
    epsilon,
    errors,
    gradient_square,
    is_epsilon,
    is_error,
    is_gradient_square,
    server,
)
from fedconvex.proofs_checks.feddyn.setting import SCALE, L, P, T, alpha, gradient, least, loss, loss_next, m
from fedconvex.proofs_checks.feddyn.splitting import young
from fedconvex.proofs_checks.proof import Claim, Proof, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn


@proves(feddyn.lemma19sharper)
@measured
def lemma19_sharper(statement: Statement) -> Proof:
    """With q = L/α: Young's inequality with q(1 + 2q)/(1 + q)."""
    domain, q = Domain.of(statement), L / alpha
    factor = 1 + 2 * q + 2 * q**2
    z = q * (1 + 2 * q) / (1 + q)
    beyond = deviation(errors) - gradient
    squares = tuple((weight / alpha**2, v) for weight, v in young(z, beyond, -change))
    bound = statement.calculator.formula(B=B, gradient_square=gradient_square, alpha=alpha, L=L)
    return Proof((
        Step(r"\epsilon_t \le \Big(\tfrac1{\alpha^2}+\tfrac{2L}{\alpha^3}+\tfrac{2L^2}{\alpha^4}\Big)"
             r"\left(B_{t-1}+E\|\nabla\ell(\gamma^{t-1})\|^2\right)", "α(θ̃_k^t − γ^{t−1}) is the memories' error "
                                                                      "beyond "
             "its mean, less ∇ℓ, which is orthogonal to it, less a change of gradients of at most (L/α)‖h^{t−1}‖",
             Claim(epsilon, "<=", bound, domain, "Lemma 19, sharper"),
             Combination(
                 facts=(((1 + 1 / z) / alpha**2, lipschitz(change, server - average, L)), (1, is_epsilon),
                        (-factor / alpha**2, is_error), (-factor / alpha**2, is_gradient_square)),
                 squares=(*squares, (factor * q / (1 + q) / alpha**2, deviation(errors)),
                          (factor * (1 + q) / (1 + 2 * q) / alpha**2, mean(errors) - q / (1 + q) * gradient)))),
    ))  # fmt: skip


@proves(feddyn.equation20sharper)
@measured
def equation20_sharper(statement: Statement) -> Proof:
    """As (20), with the sharper Lemma 19: both multipliers are chosen so that B_{t−1} and ε_t cancel."""
    parameters = Domain.of(statement)
    domain = parameters & SCALE
    factor = 1 / alpha**2 + 2 * L / alpha**3 + 2 * L**2 / alpha**4
    small = L**2 / alpha**3
    left = P / (2 * m - P) - 4 * P * L**2 / (alpha**2 * (2 * m - P)) - 2 * m / P * L**2 * factor
    z = sympy.cancel((small + L / 2 * factor) / left)
    excess = 2 * m / P * L**2 * z + L / 2
    slope = sympy.cancel(1 / (2 * alpha) - small - excess * factor - z * L**2 / alpha**2 * 4 * P / (2 * m - P))
    ten = sympy.Rational(21, 10) * alpha
    kappa = ten * z
    enough = Claim(1, "<=", sympy.cancel(ten * slope), parameters, "squared gradients that are left, sharper")
    rounded = Claim(kappa, "<=", sympy.Rational(5, 2) * m / P / alpha * L, parameters, "κ, sharper")
    falls = (ten * loss + kappa * B) - (ten * loss_next + kappa * B_next)
    one = Claim(gradient_square, "<=", falls, domain, "one round, sharper")
    telescoped = over_rounds(
        one.fact, {(loss, loss_next): (loss_first, loss_last), (B, B_next): (B0, B_last)}, {gradient_square: slopes}
    )
    last_errors = family("h_k^T−∇L_k(γ^T)")
    bound = statement.calculator.formula(delta=delta, B0=B0, alpha=alpha, L=L, T=T, **DEVICES)
    return Proof((
        Step(r"1 \le \tfrac{21}{10}\alpha\left(\tfrac1{2\alpha}-\dots\right)", "α ≥ 50L m/P", enough, Inequality()),
        Step(r"E\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(\tfrac{21}{10}\alpha E[\ell(\gamma^{t-1})]+\kappa B_{t"
             r"-1}\right)"
             r"-\left(\tfrac{21}{10}\alpha E[\ell(\gamma^t)]+\kappa B_t\right)",
             "(19), the sharper Lemma 19 and Lemma 20, scaled", one,
             Combination(facts=((ten, conclusion(feddyn.equation19).fact),
                                (ten * excess, conclusion(feddyn.lemma19sharper).fact),
                                (kappa, conclusion(feddyn.lemma20).fact), (gradient_square, enough.fact)))),
        Step(r"\kappa \le \tfrac52\tfrac mP\tfrac1\alpha L", "α ≥ 50L m/P", rounded, Inequality()),
        Step(r"\tfrac1T\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le \tfrac1T\left(\tfrac{21}{10}\alpha"
             r"(\ell(\theta^0)-\ell_*)+\tfrac52\tfrac mP\tfrac1\alpha LB_0\right)",
             "summed over the rounds; γ⁰ = θ⁰; what is left at T is not negative",
             Claim(slopes / T, "<=", bound, domain, "equation (20), sharper"),
             Combination(facts=((1 / T, telescoped), (ten / T, minimal(loss_last, least)),
                                (-ten / T, named(delta, loss_first - least)),
                                (-kappa / T, named(B_last, square(last_errors))), (B0 / T, rounded.fact)),
                         squares=((kappa / T, last_errors),))),
    ))  # fmt: skip
