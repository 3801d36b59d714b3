"""FedProx, Remark 5: necessary conditions for ρ > 0, and a condition that is necessary and sufficient.

K is written as 2r² with r = √(K/2), so that ρ is a rational function.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.notation import B, L_minus, gamma, mu, mu_bar, r, symbolic
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox
from fedconvex.theory.fedprox import design

IN_ROOTS = 2 * r**2  # K
DOMAIN = Domain.of(fedprox.theorem4).substituted(K=IN_ROOTS)
sharp = 1 - gamma * B - B * (1 + gamma) / r
whole_root = sympy.Symbol("√K", positive=True)
SAME_K = sympy.Eq(whole_root**2, 2 * r**2, evaluate=False)


def rho_needs_slack() -> Step:
    """μρ ≤ 1 − γB − B(1+γ)√(2/K)."""
    rho = symbolic(fedprox.rho.calculator, K=IN_ROOTS)
    return Step(r"\mu\rho \le 1-\gamma B-B(1+\gamma)\sqrt{2/K}", "μ/μ̄ ≥ 1, and the other terms only lower ρ",
                Relation(mu * rho, "<=", sharp, DOMAIN, "ρ needs slack"),
                Inequality())  # fmt: skip


@proves(fedprox.remark5)
def remark5(statement: Statement) -> Proof:
    domain = DOMAIN
    margins = symbolic(statement.calculator, K=whole_root**2)
    few = Relation(0, "<=", B * (1 + gamma) / r, domain, "not negative")
    roots = Relation(r, "<=", whole_root, domain & SAME_K, "√(K/2) is at most √K")
    least = Relation(0, "<=", gamma * B * (1 + 1 / r), domain, "not negative, either")
    none = Domain((sympy.Lt(B**2, 2, evaluate=False),))  # B < √K for K = 2
    return Proof((
        rho_needs_slack(),
        Step(r"B(1+\gamma)\sqrt{2/K} \ge 0", "no factor is negative", few, Inequality()),
        Step(r"\rho > 0 \Rightarrow \gamma B < 1", "so μρ is at most 1 − γB",
             Relation(sharp, "<=", margins.inexactness, domain, "the first margin"),
             Combination(facts=((1, few.fact),)), place="Remark 5"),
        Step(r"\sqrt{K/2} \le \sqrt K", "of the squares", roots, Inequality()),
        Step(r"\gamma B + \gamma B\sqrt{2/K} \ge 0", "no factor is negative", least, Inequality()),
        Step(r"\rho > 0 \Rightarrow \tfrac B{\sqrt K} < 1", "so μρ is at most 1 − B/√K",
             Relation(sharp, "<=", margins.sampling, domain & SAME_K, "the second margin"),
             Combination(facts=((B / (r * whole_root), roots.fact), (1, least.fact))), place="Remark 5"),
        Step(r"\gamma B < 1,\ \tfrac B{\sqrt K} < 1 \Rightarrow \rho > 0 \text{ for some } \mu",
             "the text before announces sufficient conditions; for γ = 0 and K = 2 ρ is never positive",
             Relation(0, "<", 1 - B, none), Inequality(), place="before Remark 5", role=Role.PRINTED),
    ), notes="“We need” is read as: it is necessary. The text before the remark announces “sufficient (but not "
             "necessary)” conditions, which these are not: for γ = 0, B = 1, K = 2, L = L₋ = 0 both hold, and "
             "ρ = 1/μ − 1/μ = 0 for every μ; with L > 0 or L₋ > 0 it is negative. Necessary and sufficient is "
             "γB + B(1+γ)√(2/K) < 1 (`fedprox.remark5sharper`): K > 2B² for γ = 0, in place of K > B².",
       reading=Reading("true as necessary, false as sufficient conditions", "as necessary conditions"))  # fmt: skip


@proves(fedprox.PAPER.find("remark5sharper"))
def remark5_sharper(statement: Statement) -> Proof:
    domain = DOMAIN
    margin = symbolic(statement.calculator, K=IN_ROOTS)
    a, c1, c2, c3 = symbolic(design.coefficients, K=IN_ROOTS)
    rho = symbolic(fedprox.rho.calculator, K=IN_ROOTS)
    quadratic = a * mu_bar**2 - (c1 * L_minus + c2 + c3) * mu_bar - c3 * L_minus
    s, extra = sympy.symbols("a x₀", positive=True)
    C, c = sympy.symbols("c c₃", nonnegative=True)
    # Larger than the threshold for μ̄, so that the sign is visible in the coefficients.
    far = (C + c) / s + L_minus + extra  # μ̄, with C for c₁L₋ + c₂ + c₃
    return Proof((
        rho_needs_slack(),
        Step(r"\rho > 0 \Rightarrow 1-\gamma B-B(1+\gamma)\sqrt{2/K} > 0", "so ρ > 0 needs this",
             Relation(sharp, "=", margin, domain), Identity()),
        Step(r"\rho\mu\bar\mu^2 = a\bar\mu^2-(c_1L_{-}+c_2+c_3)\bar\mu-c_3L_{-}",
             "with c₁, c₂, c₃ >= 0 that do not depend on μ, and this number as a",
             Relation(rho * mu * mu_bar**2, "=", quadratic + (margin - a) * mu_bar**2, domain), Identity()),
        Step(r"a > 0 \Rightarrow \rho > 0 \text{ for some } \mu", "at μ̄ = (c₁L₋ + c₂ + 2c₃)/a + L₋ + x₀, any x₀ > 0",
             Relation(0, "<", s * far**2 - C * far - c * L_minus, Domain()), Inequality()),
    ), ends="an equivalence: the formula is that of the second step, called a in the last")  # fmt: skip
