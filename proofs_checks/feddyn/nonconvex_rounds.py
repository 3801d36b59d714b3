"""FedDyn, smooth devices: Lemma 10, from scaled lemmas, and Theorem 4, from its sum over the rounds."""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import minimal, named, over_rounds
from fedconvex.proofs_checks.engines.hilbert import family, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex import C as C_before
from fedconvex.proofs_checks.feddyn.nonconvex import (
    C_next,
    epsilon,
    gradient_square,
    is_epsilon,
    is_gradient_square,
    is_move,
    move,
)
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.setting import LETTERS, SCALE, L, P, T, alpha, gradient, loss, loss_next, m
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

DEVICES = {"num_clients": m, "num_active": P}
GIVEN = {"alpha": alpha, "L": L, **DEVICES}
constants = feddyn.nonconvex_constants.formula(**GIVEN)
delta, spread = LETTERS["delta"], LETTERS["spread"]

least = sympy.Symbol("ℓ_*", real=True)
loss_first, loss_last = sympy.symbols("Eℓ(γ^0) Eℓ(γ^T)", real=True)
C_first, C_last = sympy.symbols("C_0 C_T", nonnegative=True)
total = sympy.Symbol("Σ_t E‖∇ℓ(γ^{t-1})‖²", nonnegative=True)
"""Over t = 1, …, T."""


def lemma3_in_letters(domain: Domain) -> Step:
    """E‖γ^t − γ^{t−1}‖² ≤ ε_t."""
    facts = ((1, conclusion(feddyn.lemma3).fact), (1, is_move), (-1, is_epsilon))
    return Step(r"E\|\gamma^t-\gamma^{t-1}\|^2 \le \epsilon_t", "Lemma 3",
                Relation(move, "<=", epsilon, domain, "Lemma 3, in letters"), Combination(facts=facts))  # fmt: skip


@proves(feddyn.lemma10)
@measured
def lemma10(statement: Statement) -> Proof:
    """The sum has +16L²Pm in κ₀'s numerator; that the paper prints −16L²Pm leaves (16L²Pm/(αz))E‖∇ℓ‖² unused."""
    domain = Domain.of(statement) & SCALE
    third = lemma3_in_letters(domain)
    unused = 16 * L**2 * P * m / (alpha * constants.z)
    scaled = (
        (1, conclusion(feddyn.equation14).fact),
        (constants.z0, conclusion(feddyn.lemma12).fact),
        (constants.z1, third.claim.fact),
        (constants.z2, conclusion(feddyn.lemma11).fact),
        (-unused, is_gradient_square),
    )
    assert statement.left is not None
    left = statement.left.formula(loss_next=loss_next, C_next=C_next, **GIVEN)
    right = statement.calculator.formula(loss=loss, C=C_before, gradient_square=gradient_square, **GIVEN)
    claim = Relation(left, "<=", right, domain, "Lemma 10")
    positive = [
        Step(rf"{name} > 0", "the condition on α", Relation(0, "<", value, Domain.of(statement)), Inequality(),
             place="after (14)")
        for name, value in (("z_0", constants.z0), ("z_1", constants.z1), ("z_2", constants.z2))
    ]  # fmt: skip
    summed = -1 / (2 * alpha) + 4 / alpha**2 * constants.z2
    printed = Step(r"\kappa_0 = \tfrac1{2\alpha}"
                   r"\tfrac{\alpha^2P^2-4\alpha LP^2-32L^2m^2-16L^2Pm-24L^2P^2}z",
                   "the multiple of E‖∇ℓ(γ^{t−1})‖² that the sum of the scaled lemmas leaves: it has +16L²Pm",
                   Relation(-summed, "=", constants.kappa0), Identity(), place="Lemma 10",
                   role=Role.PRINTED)  # fmt: skip
    return Proof(
        (
            *positive,
            printed,
            third,
            Step(r"E\ell(\gamma^t)+\kappa C_t \le E\ell(\gamma^{t-1})+\kappa C_{t-1}"
                 r"-\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2",
                 "(14), and Lemmas 12, 3 and 11 scaled with z₀, z₁ and z₂", claim,
                 Combination(facts=scaled, squares=((unused, gradient),)), place="Lemma 10"),
        ),
        notes="The scaled lemmas add up to a larger κ₀, with +16L²Pm in its numerator where −16L²Pm is printed. So "
              "what is printed holds, and lemma10sharper says what the proof gives.",
    )  # fmt: skip


@proves(feddyn.theorem4)
@measured
def theorem4(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    kappa, kappa0 = constants.kappa, constants.kappa0
    lemma = conclusion(feddyn.lemma10).fact
    decrease = (loss - least + kappa * C_before) - (loss_next - least + kappa * C_next)
    one = Relation(kappa0 * gradient_square, "<=", decrease, domain, "one round")
    telescoped = over_rounds(
        one.fact, {(loss, loss_next): (loss_first, loss_last), (C_before, C_next): (C_first, C_last)},
        {gradient_square: total},
    )  # fmt: skip
    summed = Relation(kappa0 * total, "<=",
                   (loss_first - least + kappa * C_first) - (loss_last - least + kappa * C_last),
                   domain, "all rounds")  # fmt: skip
    start, at_start = named(delta, loss_first - least), named(spread, C_first)
    last_apart = family("θ_k^T−γ^T")
    bound = Relation(total / T, "<=", (delta + kappa * spread) / (kappa0 * T), domain, "before the constants")
    value = Relation(1, "<=", 3 * alpha * kappa0, Domain.of(statement), "1/κ₀")
    error = Relation(kappa, "<=", 30 * L**3 * m / P / alpha * kappa0, Domain.of(statement), "κ/κ₀")
    given = {**GIVEN, "T": T, "delta": delta, "spread": spread}
    theorem = Relation(total / T, "<=", statement.calculator.formula(**given), domain, "Theorem 4")
    weight = 1 / (kappa0 * T)
    return Proof((
        Step(r"\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(E[\ell(\gamma^{t-1})]-\ell_*+\kappa C_{t-1}\right)"
             r"-\left(E[\ell(\gamma^t)]-\ell_*+\kappa C_t\right)", "Lemma 10", one, Combination(facts=((1, lemma),)),
             place="after Lemma 10"),
        Step(r"\kappa_0\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2 \le \left(E[\ell(\gamma^0)]-\ell_*+\kappa C_0\right)"
             r"-\left(E[\ell(\gamma^T)]-\ell_*+\kappa C_T\right)", "summed over the rounds", summed,
             Combination(facts=((1, telescoped),)), place="after Lemma 10"),
        Step(r"\kappa_0 > 0", "the condition on α", Relation(0, "<", kappa0, Domain.of(statement)), Inequality(),
             place="after Lemma 10"),
        Step(r"\kappa > 0", "the condition on α", Relation(0, "<", kappa, Domain.of(statement)), Inequality(),
             place="after Lemma 10"),
        Step(r"E\Big[\tfrac1T\sum_{t=1}^T\|\nabla\ell(\gamma^{t-1})\|^2\Big] \le \tfrac1T\tfrac1{\kappa_0}"
             r"\Big(\ell(\theta^0)-\ell_*+\kappa\tfrac1m\sum_kE\|\theta_k^0-\theta^0\|^2\Big)",
             "γ⁰ = θ⁰ + h⁰/α = θ⁰, as h⁰ is the mean of the ∇L_k(θ_k⁰) = 0; what is left at T is not negative", bound,
             Combination(facts=((weight, summed.fact), (weight, minimal(loss_last, least)), (-weight, start),
                                (-weight * kappa, at_start), (-weight * kappa, named(C_last, square(last_apart)))),
                         squares=((weight * kappa, last_apart),)),
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
             "text before the proof of Lemma 10 says that this proves Theorem 2; Theorem 4 is meant.")  # fmt: skip
