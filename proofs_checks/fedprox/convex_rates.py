"""FedProx for convex clients solved exactly: (15), (16), Corollary 7, Remark 8, and sharper forms of the last two.

Remark 8 is about the rounds before τ, the first t with ‖∇f(w^t)‖² < ε. `goes_on` is 1 for t < τ and 0 afterwards;
`share`, `stopped_value` and `stopped_next` are the means over t < T of the expectations of goes_on, goes_on·f(w^t) and
goes_on·f(w^{t+1}).
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality, Special
from fedconvex.proofs_checks.engines.facts import averaged, bounded_variance, dissimilar, minimal, named, telescoped
from fedconvex.proofs_checks.engines.hilbert import square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.fedprox.bounded_variance import AT_LEAST_ONE, WRITTEN, b, sigma2
from fedconvex.proofs_checks.fedprox.notation import (
    ROOTS,
    B,
    K,
    L,
    L_minus,
    after,
    epsilon,
    gamma,
    gradient_norm,
    gradients,
    mu,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.theorem6 import SQUARE, T, first, is_gap, last, least
from fedconvex.proofs_checks.fedprox.tightness import (
    LARGE,
    of_decrease,
    of_mean_answer,
    one_client,
    rounds_begun_above,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

ZERO = sympy.Integer(0)
CONVEX = ((L_minus, ZERO), (gamma, ZERO))  # convex clients, solved exactly

goes_on = sympy.Symbol("1{τ>t}", nonnegative=True)
share, rounds = (sympy.Symbol(name, nonnegative=True) for name in ("avgP(τ>t)", "E[min(τ,T)]"))
stopped_value, stopped_next = (sympy.Symbol(f"avgE1{{τ>t}}{name}", real=True) for name in ("f(w^t)", "f(w^{t+1})"))


@proves(fedprox.equation15)
def convex_decrease(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    own = symbolic(fedprox.rho_sharp.calculator, L_minus=ZERO, gamma=ZERO)
    sharper = Relation(after, "<=", value - own * SQUARE, domain, "Theorem 4, sharper, convex")
    rest = Relation(0, "<=", 1 / (2 * mu) + L * B * (B - 1) / mu**2, domain, "what is left over")
    bound = symbolic(statement.calculator)
    printed = symbolic(fedprox.rho.calculator, L_minus=ZERO, gamma=ZERO)
    few = Domain((sympy.Ge(B, 1, evaluate=False), sympy.Ge(K, 4 * B**2, evaluate=False)))
    return Proof((
        Step(r"\rho \ge \tfrac1{2\mu}-\tfrac{3LB^2}{2\mu^2} \text{ for Theorem 4's } \rho",
             "as the paper derives it; at B = √K/2 Theorem 4 leaves (1 − 1/√2)/μ", Relation(
                 1 / (2 * mu) - 3 * L * B**2 / (2 * mu**2), "<=", printed, few), Inequality(roots=ROOTS),
             place="A.3, before (15)", role=Role.PRINTED),
        Step(r"E f(w^{t+1}) \le f(w^t)"
             r"-\left(\tfrac1\mu-\tfrac{LB}{\mu^2}-\tfrac{LB^2}{2\mu^2}\right)\|\nabla f(w^t)\|^2",
             "Theorem 4 in its sharper form, with L₋ = γ = 0", sharper,
             Special(conclusion(fedprox.theorem4sharper), CONVEX)),
        Step(r"\tfrac1{2\mu}+\tfrac{LB(B-1)}{\mu^2} \ge 0", "B ≥ 1", rest, Inequality()),
        Step(r"E_{S_t}[f(w^{t+1})] \lesssim f(w^t)-\tfrac1{2\mu}\|\nabla f(w^t)\|^2"
             r"+\tfrac{3LB^2}{2\mu^2}\|\nabla f(w^t)\|^2", "holds with ≤, for all B ≥ 1 and K ≥ 1",
             Relation(after, "<=", bound, domain, "equation (15)"),
             Combination(facts=((1, sharper.fact), (SQUARE, rest.fact))), place="(15)"),
    ), notes="≲ is proved as ≤, not from Theorem 4 as in the paper but from its sharper form, without B ≤ √K/2. From "
             "Theorem 4 it does not follow: with K = 8, B = 7/5, L = 0 its ρ is 3/(10μ), and (15) says 1/(2μ). The "
             "paper asks for B < √K before; Theorem 4 decreases for B < √(K/2) only (Remark 5).",
       vacuous="For μ ≤ 3LB².",
       reading=Reading("true", "of the algorithm with ≤; it does not follow from Theorem 4's ρ"),
       tightness=Tightness(of_mean_answer(statement, expected=True), one_client(LARGE),
                           "x²/2 + x from 0: the quotient tends to 1/2 as μ/L → ∞"))  # fmt: skip


@proves(fedprox.equation16)
def convex_decrease_chosen(statement: Statement) -> Proof:
    bound = symbolic(statement.calculator)
    return Proof((
        Step(r"E_{S_t}[f(w^{t+1})] \lesssim f(w^t)-\tfrac1{24LB^2}\|\nabla f(w^t)\|^2", "(15) at μ = 6LB², with ≤",
             Relation(after, "<=", bound, Domain.of(statement), "equation (16)"),
             Special(conclusion(fedprox.equation15), ((mu, 6 * L * B**2),)), place="(16)"),
    ), notes="≲ is proved as ≤, for all B ≥ 1.", tightness=Tightness(
        of_mean_answer(statement, expected=True), one_client(6), "x²/2 + x from 0, μ = 6LB², B = 1"))  # fmt: skip


THEOREM4_AT_ITS_MU = Witness(
    "Theorem 4's ρ at L = 1, B = 2, K = 16 and μ = 6LB² = 24",
    """
from fractions import Fraction
L, B, K, root2 = 1, 2, 16, Fraction(1414, 1000)  # root2² < 2, and ρ decreases in √2: right is more than ρ
mu, root_K = 6 * L * B**2, 4
left = Fraction(1, 24 * L * B**2)
right = Fraction(1, mu) - B * root2 / (mu * root_K) - Fraction(L * B, mu**2) - Fraction(L * B**2, 2 * mu**2)
right -= Fraction(L * B**2, mu**2 * K) * (2 * root2 * root_K + 2)
""",
)


@proves(fedprox.corollary7)
def corollary7(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    chosen = symbolic(statement.calculator)
    fifteen = 1 / (2 * chosen.mu) - 3 * L * B**2 / (2 * chosen.mu**2)
    return Proof((
        Step(r"\tfrac1{2\mu}-\tfrac{3LB^2}{2\mu^2} = \tfrac1{24LB^2} \text{ for } \mu = 6LB^2", "by this choice",
             Relation(fifteen, "=", chosen.rho, domain), Identity(), place="Corollary 7"),
        Step(r"E_{S_t}[f(w^{t+1})] \le f(w^t)-\rho\|\nabla f(w^t)\|^2,\ \mu = 6LB^2,\ \rho = \tfrac1{24LB^2}", "(15)",
             Relation(after, "<=", value - chosen.rho * SQUARE, domain, "Corollary 7"),
             Special(conclusion(fedprox.equation15), ((mu, chosen.mu),)), place="Corollary 7"),
    ), notes="≈ is proved as: the decrease is at least ρ = 1/(24LB²). With the sharper Theorem 4 ρ is between 3 "
             "(B = 1) and 11/3 (B → ∞) times that. Theorem 4's own ρ at this μ and K = 4B² is 4(11/12 − 1/√2) − "
             "(2/3)(1 + √2)/B − 1/(3B²) of 1/(24LB²): negative for B ≤ 2, 0.50 for B = 5, less than 0.84 for every B. "
             "With μ = LB the decrease is 1/(4LB), for K ≥ 4B (`fedprox.corollary7sharper`).",
       reading=Reading("false for Theorem 4's ρ", "of the algorithm, not of Theorem 4's ρ", THEOREM4_AT_ITS_MU),
       tightness=Tightness(of_decrease(statement, lambda chosen: chosen.rho), one_client(6),
                           "x²/2 + x from 0, B = 1"))  # fmt: skip


@proves(fedprox.PAPER.find("corollary7sharper"))
def corollary7_sharper(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    chosen = symbolic(statement.calculator)
    own = symbolic(fedprox.rho_convex.calculator, mu=chosen.mu)
    convex = Relation(after, "<=", value - own * SQUARE, domain, "Theorem 4, convex, at this μ")
    rest = (1 / (4 * B) - 1 / (8 * B**2) - 1 / (2 * K) + 1 / (8 * K * B**2)) / L
    left_over = Relation(0, "<=", rest, domain, "what is left over")
    return Proof((
        Step(r"E f(w^{t+1}) \le f(w^t)-\rho\|\nabla f(w^t)\|^2", "Theorem 4 for convex clients, at μ = LB", convex,
             Special(conclusion(fedprox.PAPER.find("theorem4convex")), ((mu, chosen.mu),))),
        Step(r"\rho-\tfrac1{4LB} = \tfrac1{4LB}-\tfrac1{8LB^2}-\tfrac1{2LK}+\tfrac1{8LKB^2} \ge 0", "K ≥ 4B", left_over,
             Inequality()),
        Step(r"E f(w^{t+1}) \le f(w^t)-\tfrac1{4LB}\|\nabla f(w^t)\|^2", "both",
             Relation(after, "<=", value - chosen.rho * SQUARE, domain, "Corollary 7, sharper"),
             Combination(facts=((1, convex.fact), (SQUARE, left_over.fact)))),
    ), tightness=Tightness(of_decrease(statement, lambda chosen: chosen.rho), one_client(1),
                           "x²/2 + x from 0, B = 1"))  # fmt: skip


def rounds_above(
    of: Statement, decrease: Any, bound: Any, domain: Domain, shown: str, place: str = ""
) -> tuple[Step, ...]:
    """E[min(τ, T)] ≤ bound, if the statement `of` says that f decreases by decrease(B)·‖∇f‖² in a round.

    By Corollary 10, B ≤ b while ‖∇f‖² ≥ ε, so `of` applies to every round before τ.
    """
    above = domain & Domain((sympy.Gt(L, 0, evaluate=False), sympy.Ge(gradient_norm**2, epsilon, evaluate=False)))
    large = Relation(epsilon, "<=", SQUARE, above, "the run goes on")
    alike = Relation(square(gradients), "<=", b**2 * SQUARE, above, "B ≤ b")
    rho = decrease(b)
    once = Relation(after, "<=", value - rho * SQUARE, above, "one round")
    stopped = Relation(goes_on * after, "<=", goes_on * (value - rho * epsilon), above, "a round, if the run goes on")
    # The inequality is linear in these three products, so its mean over runs and rounds replaces them by their means.
    means = {goes_on * after: stopped_next, goes_on * value: stopped_value, goes_on: share}
    return (
        Step(r"\|\nabla f(w^t)\|^2 \ge \epsilon", "as long as the run goes on", large, Inequality()),
        Step(r"E_k\|\nabla F_k(w^t)\|^2 \le B^2\|\nabla f(w^t)\|^2,\quad B^2 = 1+\tfrac{\sigma^2}\epsilon",
             "Corollary 10", alike,
             Combination(facts=((1, bounded_variance(gradients, sigma2)), (b**2 - 1, large.fact)))),
        Step(r"E f(w^{t+1}) \le f(w^t)-\rho\|\nabla f(w^t)\|^2", f"{of.number} with this B", once,
             Special(conclusion(of), ((B, b),), shown=((dissimilar(gradients, B), alike),))),
        Step(r"1_{\tau>t}E f(w^{t+1}) \le 1_{\tau>t}(f(w^t)-\rho\epsilon)",
             "τ is the first t with ‖∇f(w^t)‖² < ε", stopped,
             Combination(facts=((goes_on, once.fact), (goes_on * rho, large.fact)))),
        Step(r"E\min(\tau,T) = \sum_{t<T}P(\tau>t) \le \tfrac\Delta{\rho\epsilon} = " + shown,
             "the sum of the decreases telescopes, up to min(τ, T)",
             Relation(rounds, "<=", bound, above, of.number), Combination(facts=(
                 (T / (rho * epsilon), averaged(stopped.fact, means, "runs and rounds")),
                 (T / (rho * epsilon), telescoped(stopped_next, stopped_value, last, first, T)),
                 (1 / (rho * epsilon), minimal(last, least)),
                 (-1 / (rho * epsilon), is_gap),
                 (1, named(rounds, T * share)),
             )), place=place),
    )  # fmt: skip


@proves(fedprox.remark8)
def remark8(statement: Statement) -> Proof:
    domain = Domain.of(statement).substituted(sigma2=sigma2) & AT_LEAST_ONE
    bound = 24 * symbolic(statement.calculator, sigma2=sigma2)
    steps = rounds_above(
        fedprox.equation16, lambda B: 1 / (24 * L * B**2), bound, domain,
        r"24\left(\tfrac{L\Delta}\epsilon+\tfrac{L\Delta\sigma^2}{\epsilon^2}\right)", "Remark 8",
    )  # fmt: skip
    return Proof(steps, notes="The constant is 24, with Corollary 7's μ and K ≥ 4B². The paper prints L_α for LΔ; the "
                       "text before it has LΔ. For L = 0 an f that is bounded below is constant. The root of 1 + σ²/ε "
                       "is enough: `fedprox.remark8sharper`.", written=WRITTEN, reading=Reading(
                           "undefined: L_α is printed for LΔ", "with LΔ for L_α, up to constants"))  # fmt: skip


@proves(fedprox.PAPER.find("remark8sharper"))
def remark8_sharper(statement: Statement) -> Proof:
    domain = Domain.of(statement).substituted(sigma2=sigma2) & AT_LEAST_ONE
    bound = symbolic(statement.calculator, sigma2=sigma2)
    sharper = fedprox.PAPER.find("corollary7sharper")
    text = r"\tfrac{4L\Delta}\epsilon\sqrt{1+\tfrac{\sigma^2}\epsilon}"
    return Proof(rounds_above(sharper, lambda B: 1 / (4 * L * B), bound, domain, text),
                 tightness=rounds_begun_above(statement), written=WRITTEN)  # fmt: skip
