"""FedDynOneGD, Theorem 5: its three rates with explicit constants, from (18), from (18) with μ = 0, and from (20)."""

from dataclasses import replace
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import lipschitz, named, root_of
from fedconvex.proofs_checks.engines.hilbert import family, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.feddyn.notation import SCALE, L, P, T, alpha, at_minimiser, least, m, mu, symbolic
from fedconvex.proofs_checks.feddyn.one_gradient_notation import A, distance, distance_next, epsilon, gap
from fedconvex.proofs_checks.feddyn.one_gradient_rounds import all_rounds, one_round
from fedconvex.proofs_checks.feddyn.run_sums import (
    B0,
    D0,
    G,
    R,
    at_mean,
    at_random,
    delta,
    inverse_of_sum,
    jensen,
    last,
    random_index,
    spread,
    sum_of_powers,
    weighted_gaps,
)
from fedconvex.proofs_checks.feddyn.theorem1 import steps_of_cases, without_mu
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

first_models, first_changes = family("θ_k^0−θ^0"), family("∇L_k(θ_k^0)−∇L_k(θ^0)")
is_start = named(D0, square(vector("θ^0−θ*")))
is_spread_at_minimiser = named(G, square(at_minimiser))


def strongly_convex_case(formula: sympy.Expr, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """(18) with α = β. The constant is 151/15: its ten times the largest r, which is 151/150."""
    r, constant = 1 + mu / (3 * alpha), sympy.Rational(151, 15)
    domain = domain & sympy.Ge(alpha, chosen, evaluate=False) & SCALE & sympy.Ge(last, 1, evaluate=False)
    bound = formula.subs(chosen, alpha).subs(r**T, r * last).subs(r ** (-T), 1 / (r * last))
    start = alpha * D0 + 10 * m / P * G / alpha
    divided = Relation(weighted_gaps / R, "<=", start / R, domain, "(18), divided by R")
    mean = jensen(R, domain, r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell_* \le "
                  r"\tfrac1R\sum_{t=1}^Tr^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "after (18)")  # fmt: skip
    powers = sum_of_powers(r, domain)
    inverse = inverse_of_sum(r, powers[1].claim, domain, "R is at least its last term")
    growth = Relation(r, "<=", sympy.Rational(151, 150), domain, "r")
    theorem = Relation(at_mean - least, "<=", constant * bound, domain, "Theorem 5, strongly convex")
    return (
        Step(r"\tfrac1R\sum_{t=1}^Tr^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le "
             r"\tfrac1R\Big(\alpha\|\theta^0-\theta_*\|^2+10\tfrac mP\tfrac1\alpha A_0\Big)",
             "(18), divided by the sum of the r^{t−1}", divided,
             Combination(facts=((T / R, conclusion(feddyn.equation18).fact),)), place="after (18)"),
        mean,
        *(replace(step, place="") for step in powers),
        *inverse,
        Step(r"r \le \tfrac{151}{150}", "β ≥ 50(m/P)μ", growth, Inequality()),
        Step(r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell_* = O\Big(\tfrac1{r^T}\Big(\beta\|\theta^0"
             r"-\theta_*\|^2"
             r"+\tfrac mP\tfrac1\beta\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2\Big)\Big)", "with the constant 151/15",
             theorem,
             Combination(facts=((1, mean.claim.fact), (1, divided.fact), (start, inverse[-1].claim.fact),
                                (10 * (alpha * D0 + m / P * G / alpha) / (r * last), growth.fact),
                                (-9 * alpha / last, is_start)),
                         squares=((9 * alpha / last, vector("θ^0−θ*")),)),
             place="Theorem 5, first case"),
    )  # fmt: skip


def convex_case(formula: sympy.Expr, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """(17) and (18) are proved again for μ = 0, which they exclude; then α = 50L√(m/P), and the constant is 50."""
    domain = without_mu(domain) & sympy.Ge(alpha, 50 * L, evaluate=False) & SCALE
    right = distance - distance_next + L / alpha**3 * A + epsilon
    # (17) assumes μ > 0, so its conclusion cannot be specialised to μ = 0.
    round_ = one_round(2 / alpha * gap, right, sympy.Integer(0), domain)
    start = alpha * D0 + 10 * m / P / alpha * G
    rounds = all_rounds(round_[-1].claim, start / T, sympy.Integer(0), domain)
    mean = jensen(T, domain, r"E\,\ell\Big(\tfrac1T\sum_{t<T}\gamma^t\Big)-\ell_* \le "
                  r"\tfrac1T\sum_{t=1}^TE[\ell(\gamma^{t-1})-\ell(\theta_*)]", "C.2.2")  # fmt: skip
    enough = Relation((50 * L) ** 2, "<=", chosen**2, domain, "α of the convex case")
    bound = formula.subs(sympy.sqrt(m), alpha * sympy.sqrt(m) / chosen)
    theorem = Relation(at_mean - least, "<=", 50 * bound, domain, "Theorem 5, convex")
    rest = sympy.Rational(249, 250) * alpha / L**2 / T
    return (
        *(replace(step, place="") for step in (*round_, *rounds[:-1])),
        replace(rounds[-1], place="C.2.2", because="(18) with μ = 0: the steps above", shown=(
            r"\tfrac1T\sum_{t=1}^TE[\ell(\gamma^{t-1})-\ell(\theta_*)] \le "
            r"\tfrac1T\Big(\alpha E\|\gamma^0-\theta_*\|^2+10\tfrac mP\tfrac1\alpha A_0\Big)")),
        mean,
        Step(r"50L \le \alpha = 50L\sqrt{m/P}", "P ≤ m; both sides squared", enough, Inequality(), place="C.2.2"),
        Step(r"E\,\ell\Big(\tfrac1T\sum_{t<T}\gamma^t\Big)-\ell_* = O\Big(\tfrac1T\sqrt{\tfrac mP}\Big("
             r"L\|\theta^0-\theta_*\|^2+\tfrac1L\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2\Big)\Big)",
             "α = 50L√(m/P), with the constant 50", theorem,
             Combination(facts=((1, mean.claim.fact), (1, rounds[-1].claim.fact),
                                (G / (250 * alpha * L**2 * T), root_of(alpha, chosen**2)),
                                (-rest, is_spread_at_minimiser)),
                         squares=((rest, at_minimiser),)),
             place="Theorem 5, second case"),
    )  # fmt: skip


def nonconvex_case(formula: sympy.Expr, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """(20) with α = 50L m/P; the constant is 200."""
    smallest = symbolic(feddyn.smallest_alpha_one_gradient_nonconvex)
    domain = without_mu(domain) & sympy.Ge(alpha, smallest, evaluate=False) & SCALE
    errors = Relation(B0, "<=", L**2 * spread, domain, "B_0")
    index = random_index(domain, "Theorem 5")
    theorem = Relation(at_random, "<=", 200 * formula, domain, "Theorem 5, non-convex")
    rest = 199 * L**2 / T
    return (
        Step(r"B_0 \le L^2\tfrac1m\sum_k\|\theta_k^0-\theta^0\|^2", "the input ∇L_k(θ_k⁰) = 0 is the first memory, and "
             "γ⁰ = θ⁰: then smoothness", errors,
             Combination(facts=((1, lipschitz(first_changes, first_models, L)), (1, named(B0, square(first_changes))),
                                (-L**2, named(spread, square(first_models)))))),
        index,
        Step(r"E\|\nabla\ell(\gamma_T)\|^2 = O\Big(\tfrac1T\Big(L\tfrac mP(\ell(\theta^0)-\ell_*)"
             r"+L^2\tfrac1m\sum_k\|\theta_k^0-\theta^0\|^2\Big)\Big)", "(20) with α = 50L m/P, with the constant 200",
             theorem,
             Combination(facts=((1, index.claim.fact), (1, conclusion(feddyn.equation20).fact), (1 / T, errors.fact),
                                (4 * delta / T - B0 / (alpha * T), named(alpha, chosen)),
                                (-rest, named(spread, square(first_models)))),
                         squares=((rest, first_models),)),
             place="Theorem 5, third case"),
    )  # fmt: skip


CASES = (strongly_convex_case, convex_case, nonconvex_case)


ANY_MODEL = Witness(
    "θ_k⁰ = θ⁰ = 0 with h_k⁰ = 0, two devices, one of them drawn, T = 2",
    """
from fractions import Fraction
alpha, T, minima = 100, 2, (1, -1)  # L_k(θ) = ½(θ − minima[k])², so ∇ℓ(θ) = θ, and θ⁰ = 0 minimises ℓ
gammas = [Fraction(a, alpha) for a in minima]  # γ¹ for each drawn device: θ⁰ − (1/α)∇L_k(θ⁰)
left = sum(gamma**2 for gamma in gammas) / 2 / T  # ∇ℓ(γ⁰) = 0
right = Fraction(0)  # any constant times ℓ(θ⁰) − ℓ_* = 0 and times Σ‖θ_k⁰ − θ⁰‖² = 0
""",
)


@proves(feddyn.theorem5)
def theorem5(statement: Statement) -> Proof:
    return Proof(
        steps_of_cases(statement, CASES),
        notes="The constants: 151/15 with α = β, 50 with α = 50L√(m/P), and 200 with α = 50Lm/P. Algorithm 2 has the "
              "input ∇L_k(θ_k⁰) = 0: read as h_k⁰ = ∇L_k(θ_k⁰) = 0, so that θ_k⁰ is a stationary point of L_k. If θ_k⁰ "
              "were any model, say θ⁰ itself, and only h_k⁰ = 0, the third case would be false with any constant: for "
              "L_1(θ) = ½(θ−1)² and L_2(θ) = ½(θ+1)², P = 1 and θ⁰ = 0 it would promise 0, while "
              "E‖∇ℓ(γ_T)‖² = 1/(2α²) for T = 2.",
        reading=Reading("true with the algorithm's input, false for θ_k⁰ = θ⁰",
                        "where ∇L_k(θ_k⁰) = 0, as the input of Algorithm 2 says, up to constants", ANY_MODEL),
    )  # fmt: skip
