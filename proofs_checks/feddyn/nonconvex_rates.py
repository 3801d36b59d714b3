"""FedDyn, smooth devices: Lemma 10, a sum of scaled lemmas, and Theorem 4, Lemma 10 summed over the rounds."""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import positive
from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import Fact, named
from fedconvex.proofs_checks.engines.hilbert import family
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.feddyn.nonconvex_lemmas import C as C_before
from fedconvex.proofs_checks.feddyn.nonconvex_lemmas import (
    C_next,
    epsilon,
    gradient_square,
    is_epsilon,
    is_gradient_square,
    is_move,
    move,
)
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    T,
    alpha,
    gradient,
    loss,
    loss_next,
    m,
    sides,
    symbolic,
)
from fedconvex.proofs_checks.feddyn.run_sums import (
    Facts,
    Squares,
    delta,
    end_of_slopes,
    loss_first,
    loss_last,
    slopes,
    slopes_summed,
    spread,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

constants = symbolic(feddyn.nonconvex_constants)
lowest = sympy.Symbol("ℓ_*", real=True)  # the infimum of ℓ, which may have no minimiser here
C_first, C_last = sympy.symbols("C_0 C_T", nonnegative=True)
last_apart = family("θ_k^T−γ^T")


def lemma3_in_symbols(domain: Domain) -> Step:
    """Lemma 3, E‖γ^t − γ^{t−1}‖² ≤ ε_t, as a step whose claim is about the two symbols."""
    facts = ((1, conclusion(feddyn.lemma3).fact), (1, is_move), (-1, is_epsilon))
    return Step(r"E\|\gamma^t-\gamma^{t-1}\|^2 \le \epsilon_t", "Lemma 3",
                Relation(move, "<=", epsilon, domain, "Lemma 3, in letters"), Combination(facts=facts))  # fmt: skip


def scaled_lemmas(third: Step) -> tuple[tuple[Any, Fact], ...]:
    """(14), and Lemmas 12, 3 and 11 times z₀, z₁ and z₂: their sum is Lemma 10. `third` is `lemma3_in_symbols`."""
    return (
        (1, conclusion(feddyn.equation14).fact),
        (constants.z0, conclusion(feddyn.lemma12).fact),
        (constants.z1, third.claim.fact),
        (constants.z2, conclusion(feddyn.lemma11).fact),
    )


def errors_summed(one: Fact) -> Fact:
    """A one-round inequality with the potential ℓ(γ^t) + κC_t, summed over the rounds."""
    return slopes_summed(one, (C_before, C_next), (C_first, C_last))


def end_of_run(weight: Any, kappa: Any) -> tuple[Facts, Squares]:
    """What drops weight·(ℓ(γ^T) + κC_T) from that sum, and writes the start as Δ and the spread."""
    start = ((-weight * kappa, named(spread, C_first)),)
    return end_of_slopes(weight, weight * kappa, (C_last, last_apart), lowest, start)


@proves(feddyn.lemma10)
@measured
def lemma10(statement: Statement) -> Proof:
    """The scaled lemmas add up to a κ₀ with +16L²Pm in its numerator, where the paper prints −16L²Pm.

    The difference, (16L²Pm/(αz))E‖∇ℓ‖² ≥ 0, is `unused`.
    """
    domain = Domain.of(statement) & SCALE
    third = lemma3_in_symbols(domain)
    unused = 16 * L**2 * P * m / (alpha * constants.z)
    scaled = (*scaled_lemmas(third), (-unused, is_gradient_square))
    left, right = sides(statement)
    claim = Relation(left, "<=", right, domain, "Lemma 10")
    scales = [
        positive(rf"{name} > 0", "the condition on α", value, Domain.of(statement), "after (14)")
        for name, value in (("z_0", constants.z0), ("z_1", constants.z1), ("z_2", constants.z2))
    ]
    # The coefficient of E‖∇ℓ(γ^{t−1})‖² in the sum of the scaled lemmas.
    summed = -1 / (2 * alpha) + 4 / alpha**2 * constants.z2
    printed = Step(r"\kappa_0 = \tfrac1{2\alpha}"
                   r"\tfrac{\alpha^2P^2-4\alpha LP^2-32L^2m^2-16L^2Pm-24L^2P^2}z",
                   "the multiple of E‖∇ℓ(γ^{t−1})‖² that the sum of the scaled lemmas leaves: it has +16L²Pm",
                   Relation(-summed, "=", constants.kappa0), Identity(), place="Lemma 10",
                   role=Role.PRINTED)  # fmt: skip
    return Proof(
        (
            *scales,
            printed,
            third,
            Step(r"E\ell(\gamma^t)+\kappa C_t \le E\ell(\gamma^{t-1})+\kappa C_{t-1}"
                 r"-\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2",
                 "(14), and Lemmas 12, 3 and 11 scaled with z₀, z₁ and z₂", claim,
                 Combination(facts=scaled, squares=((unused, gradient),)), place="Lemma 10"),
        ),
        notes="The scaled lemmas add up to a larger κ₀, with +16L²Pm in its numerator where −16L²Pm is printed. So "
              "what is printed holds, and lemma10sharper says what the proof gives.",
        reading=Reading("true", "as printed; what its proof gives has a larger κ₀"),
    )  # fmt: skip


ANY_MODEL = Witness(
    "θ_k⁰ = θ⁰ = 0 with stored gradients 0, two devices, one of them drawn, T = 2",
    """
from fractions import Fraction
alpha, T, minima = 40, 2, (1, -1)  # L_k(θ) = ½(θ − minima[k])², so ∇ℓ(θ) = θ, and θ⁰ = 0 minimises ℓ
gammas = [Fraction(a, 1 + alpha) for a in minima]  # γ¹ for each drawn device: argmin L_k(θ) + ½αθ²
left = sum(gamma**2 for gamma in gammas) / 2 / T  # ∇ℓ(γ⁰) = 0
right = Fraction(0)  # ℓ(θ⁰) = ℓ_*, and θ_k⁰ = θ⁰
""",
)


@proves(feddyn.theorem4)
@measured
def theorem4(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    kappa, kappa0 = constants.kappa, constants.kappa0
    lemma = conclusion(feddyn.lemma10).fact
    decrease = (loss - lowest + kappa * C_before) - (loss_next - lowest + kappa * C_next)
    one = Relation(kappa0 * gradient_square, "<=", decrease, domain, "one round")
    summed = Relation(kappa0 * slopes, "<=",
                   (loss_first - lowest + kappa * C_first) - (loss_last - lowest + kappa * C_last),
                   domain, "all rounds")  # fmt: skip
    bound = Relation(slopes / T, "<=", (delta + kappa * spread) / (kappa0 * T), domain, "before the constants")
    value = Relation(1, "<=", 3 * alpha * kappa0, Domain.of(statement), "1/κ₀")
    error = Relation(kappa, "<=", 30 * L**3 * m / P / alpha * kappa0, Domain.of(statement), "κ/κ₀")
    theorem = Relation(slopes / T, "<=", symbolic(statement.calculator), domain, "Theorem 4")
    weight = 1 / (kappa0 * T)
    end, squares = end_of_run(weight, kappa)
    return Proof((
        Step(r"\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(E[\ell(\gamma^{t-1})]-\ell_*+\kappa C_{t-1}\right)"
             r"-\left(E[\ell(\gamma^t)]-\ell_*+\kappa C_t\right)", "Lemma 10", one, Combination(facts=((1, lemma),)),
             place="after Lemma 10"),
        Step(r"\kappa_0\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(E[\ell(\gamma^0)]-\ell_*+\kappa C_0\right)"
             r"-\left(E[\ell(\gamma^T)]-\ell_*+\kappa C_T\right)", "summed over the rounds", summed,
             Combination(facts=((1, errors_summed(one.fact)),)), place="after Lemma 10"),
        positive(r"\kappa_0 > 0", "the condition on α", kappa0, Domain.of(statement), "after Lemma 10"),
        positive(r"\kappa > 0", "the condition on α", kappa, Domain.of(statement), "after Lemma 10"),
        Step(r"E\Big[\tfrac1T\sum_{t=1}^T\|\nabla\ell(\gamma^{t-1})\|^2\Big] \le \tfrac1T\tfrac1{\kappa_0}"
             r"\Big(\ell(\theta^0)-\ell_*+\kappa\tfrac1m\sum_kE\|\theta_k^0-\theta^0\|^2\Big)",
             "γ⁰ = θ⁰ + h⁰/α = θ⁰, as h⁰ is the mean of the ∇L_k(θ_k⁰) = 0; what is left at T is not negative", bound,
             Combination(facts=((weight, summed.fact), *end), squares=squares),
             place="after Lemma 10"),
        Step(r"\tfrac1{\kappa_0} \le 3\alpha", "the condition on α", value, Inequality()),
        Step(r"\tfrac\kappa{\kappa_0} \le 30L^3\tfrac mP\tfrac1\alpha", "the condition on α", error, Inequality()),
        Step(r"E\Big[\tfrac1T\sum_{t=1}^T\|\nabla\ell(\gamma^{t-1})\|^2\Big] \le \tfrac1T\Big("
             r"3\alpha(\ell(\theta^0)-\ell_*)+30L^3\tfrac mP\tfrac1\alpha\tfrac1m\sum_kE\|\theta_k^0-\theta^0\|^2\Big)",
             "the constants rounded up", theorem,
             Combination(facts=((1, bound.fact), (delta * weight, value.fact), (spread * weight, error.fact))),
             place="Theorem 4"),
    ), notes="θ_k⁰ is read as the algorithm's input has it, ∇L_k(θ_k⁰) = 0, and h⁰ as their mean, 0. If θ_k⁰ were any "
             "model, say θ⁰ itself, with stored gradients 0, the theorem would be false: for L_1(θ) = ½(θ−1)² and "
             "L_2(θ) = ½(θ+1)², P = 1, α = 40 and θ⁰ = 0 it would promise 0, while T = 2 rounds give 1/(2·41²). The "
             "text before the proof of Lemma 10 says that this proves Theorem 2; Theorem 4 is meant.",
       reading=Reading("true with the algorithm's input, false for θ_k⁰ = θ⁰",
                       "where ∇L_k(θ_k⁰) = 0, as the input of Algorithm 1 says", ANY_MODEL))  # fmt: skip
