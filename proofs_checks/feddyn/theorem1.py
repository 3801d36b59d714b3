"""FedDyn, Theorem 1: its three rates with explicit constants, from Theorems 3, 2 and 4.

Each case has its own α (`chosen_alpha`) and its own assumptions; the steps of a case are marked with it. Theorem 5, the
same theorem for FedDynOneGD, uses the functions at the head of this module.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import named, root_of
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.notation import SCALE, SYMBOLS, L, P, T, alpha, least, m, mu, symbolic
from fedconvex.proofs_checks.feddyn.run_sums import D0, G, at_mean, at_random, delta, last, random_index, spread
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

Case = Callable[[Any, Any, Domain], tuple[Step, ...]]
"""The steps of a case, from the case's formula, its α, and the statement's domain."""


def without_mu(domain: Domain) -> Domain:
    """The domain without its conditions on μ, which the convex and the non-convex case do not have."""
    return Domain(tuple(r for r in domain.relations if mu not in r.free_symbols))


def chosen_alpha(case: tuple[Assumption, ...]) -> Any:
    """The α that the case sets, in symbols."""
    (choice,) = (condition for assumption in case for condition in assumption.conditions)
    assert (choice.argument, choice.relation) == ("alpha", "=")
    return choice.bound_at(SYMBOLS)


def steps_of_cases(statement: Statement, cases: Iterable[Case]) -> tuple[Step, ...]:
    """The steps of all cases in the order of the statement's parts, each marked with the case that it belongs to."""
    domain, formula = Domain.of(statement), symbolic(statement.calculator)
    return tuple(
        replace(step, case=assumed)
        for make, part, assumed in zip(cases, formula, statement.cases, strict=True)
        for step in make(part, chosen_alpha(assumed), domain)
    )


def not_negative(number: Any, shown: str, domain: Domain) -> Step:
    """The step that a mean of squares is not negative.

    The theorem has one constant for the sum of two terms. Its proof has two constants, and raises the smaller one.
    """
    return Step(rf"{shown} \ge 0", "a mean of squares", Relation(0, "<=", number, domain, f"{shown} ≥ 0"), Inequality())


def strongly_convex_case(formula: Any, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """Theorem 3 with α = β. The constant is 1240/3: its 400 times the largest r, which is 31/30."""
    r, constant = 1 + mu / alpha, sympy.Rational(1240, 3)
    domain = domain & sympy.Ge(alpha, chosen, evaluate=False) & SCALE & sympy.Ge(last, 1, evaluate=False)
    # Theorem 1 has 1/r^T where Theorem 3 has 1/r^{T−1}: r·r^{T−1} is written with the symbol `last`.
    bound = formula.subs(chosen, alpha).subs(r ** (-T), 1 / (r * last))
    growth = Relation(r, "<=", sympy.Rational(31, 30), domain, "r")
    theorem = Relation(at_mean - least, "<=", constant * bound, domain, "Theorem 1, strongly convex")
    start = not_negative(D0, r"\|\theta^0-\theta_*\|^2", domain)
    return (
        start,
        Step(r"r \le \tfrac{31}{30}", "β ≥ 30L ≥ 30μ", growth, Inequality()),
        Step(r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell_* = O\Big(\tfrac1{r^T}\Big(\beta\|\theta^0"
             r"-\theta_*\|^2+\tfrac mP\tfrac1\beta\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2\Big)\Big)",
             "Theorem 3 with α = β; 1/r^{T−1} = r/r^T. The constant is 1240/3", theorem,
             Combination(facts=((1, conclusion(feddyn.theorem3).fact),
                                (400 * (alpha * D0 + m / P * G / alpha) / (r * last), growth.fact),
                                (380 * alpha / last, start.claim.fact))),
             place="Theorem 1, first case"),
    )  # fmt: skip


def convex_case(formula: Any, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """Theorem 2 with α = 30L√(m/P); the constant is 300.

    The root √(m/P) is replaced by α/(30L), with α² = 900L²m/P as a fact: the engines decide rational functions only.
    """
    domain = without_mu(domain) & sympy.Ge(alpha, 25 * L, evaluate=False) & SCALE
    enough = Relation((25 * L) ** 2, "<=", chosen**2, domain, "α of the convex case")
    # √(m/P) = α/(30L) removes the root from the bound.
    bound = formula.subs(sympy.sqrt(m), alpha * sympy.sqrt(m) / chosen)
    theorem = Relation(at_mean - least, "<=", 300 * bound, domain, "Theorem 1, convex")
    start = not_negative(G, r"\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2", domain)
    return (
        start,
        Step(r"25L \le \alpha = 30L\sqrt{m/P}", "P ≤ m; both sides squared", enough, Inequality()),
        Step(r"E\,\ell\Big(\tfrac1T\sum_{t<T}\gamma^t\Big)-\ell_* = O\Big(\tfrac1T\sqrt{\tfrac mP}\Big("
             r"L\|\theta^0-\theta_*\|^2+\tfrac1L\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2\Big)\Big)",
             "Theorem 2 with α = 30L√(m/P). The constant is 300", theorem,
             Combination(facts=((1, conclusion(feddyn.theorem2).fact),
                                (G / (9 * alpha * L**2 * T), root_of(alpha, chosen**2)),
                                (sympy.Rational(89, 9) * alpha / L**2 / T, start.claim.fact))),
             place="Theorem 1, second case"),
    )  # fmt: skip


def nonconvex_case(formula: Any, chosen: Any, domain: Domain) -> tuple[Step, ...]:
    """Theorem 4 with α = 30L m/P; the constant is 90."""
    smallest = symbolic(feddyn.smallest_alpha_nonconvex)
    domain = without_mu(domain) & sympy.Ge(alpha, smallest, evaluate=False) & SCALE
    index = random_index(domain, "Theorem 1")
    theorem = Relation(at_random, "<=", 90 * formula, domain, "Theorem 1, non-convex")
    start = not_negative(spread, r"\tfrac1m\sum_k\|\theta_k^0-\theta^0\|^2", domain)
    return (
        start,
        index,
        Step(r"E\|\nabla\ell(\gamma_T)\|^2 = O\Big(\tfrac1T\Big(L\tfrac mP(\ell(\theta^0)-\ell_*)"
             r"+L^2\tfrac1m\sum_k\|\theta_k^0-\theta^0\|^2\Big)\Big)",
             "Theorem 4 with α = 30Lm/P. The constant is 90", theorem,
             Combination(facts=((1, index.claim.fact), (1, conclusion(feddyn.theorem4).fact),
                                ((3 * delta - L**2 * spread / alpha) / T, named(alpha, chosen)),
                                (89 * L**2 / T, start.claim.fact))),
             place="Theorem 1, third case"),
    )  # fmt: skip


CASES = (strongly_convex_case, convex_case, nonconvex_case)


@proves(feddyn.theorem1)
def rates(statement: Statement) -> Proof:
    return Proof(
        steps_of_cases(statement, CASES),
        notes="The constants: 1240/3 with α = β, 300 with α = 30L√(m/P), and 90 with α = 30Lm/P. r = 1 + μ/α is that "
              "of the α used: in the first case 1 + μ/β. γ_T with the index below is not the last average γ^T: the "
              "text says that it is one of γ⁰, …, γ^{T−1}, each with probability 1/T.",
    )  # fmt: skip
