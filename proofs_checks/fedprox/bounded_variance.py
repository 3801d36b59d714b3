"""FedProx, Corollary 10 and Theorem 11: bounded variance in place of bounded dissimilarity.

σ² is written as (b² − 1)ε with b = √(1 + σ²/ε) ≥ 1, so that the root in the statements is the symbol b.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity, Special
from fedconvex.proofs_checks.engines.facts import bounded_variance, dissimilar, large_gradient, root_of
from fedconvex.proofs_checks.engines.hilbert import deviation, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.fedprox.notation import (
    NOT_STATIONARY,
    ROOTS,
    SYMBOLS,
    B,
    after,
    epsilon,
    gradient,
    gradient_norm,
    gradients,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.tightness import APART, FAR, FAR_AND_MANY, F, decreasing, of_round
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

b = sympy.Symbol("b", positive=True)
sigma2 = (b**2 - 1) * epsilon
AT_LEAST_ONE = Domain((sympy.Ge(b, 1, evaluate=False),))
WRITTEN = ((SYMBOLS["sigma2"], sigma2),)
at_w = sympy.Symbol("B(w)", nonnegative=True)


@proves(fedprox.corollary10)
def variance_bounds_dissimilarity(statement: Statement) -> Proof:
    domain = Domain.of(statement) & AT_LEAST_ONE & NOT_STATIONARY
    bound = symbolic(statement.calculator, sigma2=sigma2)
    spread = square(gradients) - gradient_norm**2
    split = Relation(square(deviation(gradients)), "=", spread, domain, "the variance")
    small = Relation(spread, "<=", sigma2, domain, "the bounded variance")
    mean_square = Relation(square(gradients), "<=", sigma2 + gradient_norm**2, domain, "the mean square")
    means = root_of(at_w * gradient_norm, square(gradients))
    return Proof((
        Step(r"E_k\|\nabla F_k(w)-\nabla f(w)\|^2 = E_k\|\nabla F_k(w)\|^2-\|\nabla f(w)\|^2", "∇f is the mean", split,
             Identity(), place="proof of Corollary 10, first line, ="),
        Step(r"\dots \le \sigma^2", "the bounded variance", small,
             Combination(facts=((1, bounded_variance(gradients, sigma2)), (-1, split.fact))),
             place="proof of Corollary 10, first line, ≤"),
        Step(r"E_k\|\nabla F_k(w)\|^2 \le \sigma^2+\|\nabla f(w)\|^2", "‖∇f‖² on the other side", mean_square,
             Combination(facts=((1, small.fact),)), place="proof of Corollary 10, second line"),
        Step(r"B_\epsilon = \sqrt{E_k\|\nabla F_k(w)\|^2/\|\nabla f(w)\|^2} \le \sqrt{1+\tfrac{\sigma^2}\epsilon}",
             "‖∇f(w)‖² ≥ ε", Relation(at_w, "<=", bound, domain, "Corollary 10"),
             Combination(facts=((1 / gradient_norm**2, mean_square.fact), (-1 / gradient_norm**2, means),
                                ((b**2 - 1) / gradient_norm**2, large_gradient(gradient, epsilon))), squared=True),
             place="proof of Corollary 10, third line"),
    ), notes="B_ε is the least bound that Assumption 1 admits; the paper's “B_ε =” is B(w) at a point, of which B_ε is "
             "the supremum over ‖∇f(w)‖² > ε.",
       tightness=Tightness(of_round(statement, lambda found: found.B), (1, 0, 0, 0, 1, tuple(
           (p, F(0), a, F(0)) for p, a in APART)), "any clients, where ‖∇f‖² = ε", attained=True),
       written=WRITTEN)  # fmt: skip


def dissimilar_by_variance(domain: Domain) -> Step:
    """E_k‖∇F_k‖² ≤ b²‖∇f‖²: the hypothesis Dissimilarity with B = b, derived from bounded variance."""
    return Step(r"E_k\|\nabla F_k(w^t)\|^2 \le (1+\tfrac{\sigma^2}\epsilon)\|\nabla f(w^t)\|^2",
                "as in Corollary 10", Relation(square(gradients), "<=", b**2 * gradient_norm**2, domain, "B ≤ b"),
                Combination(facts=((1, bounded_variance(gradients, sigma2)),
                                   (b**2 - 1, large_gradient(gradient, epsilon)))))  # fmt: skip


@proves(fedprox.theorem11)
def theorem11(statement: Statement) -> Proof:
    domain = Domain.of(statement).substituted(sigma2=sigma2) & AT_LEAST_ONE
    rho = symbolic(statement.calculator, sigma2=sigma2)
    alike = dissimilar_by_variance(domain)
    return Proof((
        alike,
        Step(r"E_{S_t}[f(w^{t+1})] \le f(w^t)-\rho\|\nabla f(w^t)\|^2", "Theorem 4 with B = √(1 + σ²/ε)",
             Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 11"),
             Special(conclusion(fedprox.theorem4), ((B, b),), roots=ROOTS,
                     shown=((dissimilar(gradients, B), alike.claim),)), place="Theorem 11"),
    ), vacuous="ρ ≤ 0 unless (γ + (1+γ)√(2/K))√(1 + σ²/ε) < 1: so for every K ≤ 2(1 + σ²/ε).",
       tightness=decreasing(statement, FAR_AND_MANY), written=WRITTEN)  # fmt: skip


@proves(fedprox.PAPER.find("theorem11sharper"))
def theorem11_sharper(statement: Statement) -> Proof:
    domain = Domain.of(statement).substituted(sigma2=sigma2) & AT_LEAST_ONE
    rho = symbolic(statement.calculator, sigma2=sigma2)
    alike = dissimilar_by_variance(domain)
    return Proof((
        alike,
        Step(r"E_{S_t}[f(w^{t+1})] \le f(w^t)-\rho\|\nabla f(w^t)\|^2", "Theorem 4, sharper, with B = √(1 + σ²/ε)",
             Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 11, sharper"),
             Special(conclusion(fedprox.theorem4sharper), ((B, b),), shown=((dissimilar(gradients, B), alike.claim),))),
    ), tightness=decreasing(statement, FAR), written=WRITTEN)  # fmt: skip
