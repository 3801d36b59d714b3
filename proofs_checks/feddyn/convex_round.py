"""FedDyn, convex devices: equation (10) and Lemma 1, by how much E‖γ^t − θ_*‖² + κC_t decreases in one round."""

from typing import Any

from fedconvex.proofs_checks.builders import positive
from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, inner, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn import expectations
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.expectations import definitions, lemma3_in_symbols
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    alpha,
    average,
    distance,
    distance_next,
    epsilon,
    gap,
    least,
    loss,
    minimiser,
    move,
    new_gradients,
    next_average,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.feddyn.smoothness import at_x, through_three_points
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

before, moved = average - minimiser, next_average - average
# Twice the expected inner product ⟨γ^{t−1} − θ_*, γ^t − γ^{t−1}⟩, by Lemma 2.
cross = 2 / alpha * inner(before, -new_gradients)


def expanded(number: str) -> tuple[Step, ...]:
    """The first three displayed lines of (10) or (12), which are the same in both."""
    return (
        Step(r"E\|\gamma^t-\theta_*\|^2 = E\|\gamma^{t-1}-\theta_*+\gamma^t-\gamma^{t-1}\|^2",
             "what is added is taken away", Relation(next_average - minimiser, "=", before + moved), Identity(),
             place=f"({number}), first line"),
        Step(r"\dots = E\|\gamma^{t-1}-\theta_*\|^2+2E[\langle\gamma^{t-1}-\theta_*,\gamma^t-\gamma^{t-1}\rangle]"
             r"+E\|\gamma^t-\gamma^{t-1}\|^2", "the square of a sum",
             Relation(distance_next, "=", distance + 2 * inner(before, moved) + move), Identity(),
             place=f"({number}), second line"),
        Step(r"\dots = E\|\gamma^{t-1}-\theta_*\|^2+\tfrac2{\alpha m}\sum_kE[\langle\gamma^{t-1}-\theta_*,"
             r"-\nabla L_k(\tilde\theta_k^t)\rangle]+E\|\gamma^t-\gamma^{t-1}\|^2",
             "Lemma 2: γ^{t−1} − θ_* does not depend on who is drawn now",
             Relation(2 * inner(before, moved), "=", cross, name="the expected step"), Identity(),
             place=f"({number}), third line"),
    )  # fmt: skip


def bounded_product(domain: Domain, strong: Any, to_minimiser: HilbertVector) -> Step:
    """(6), or (11) where `strong` is μ, with x = θ̃_k^t, y = θ_*, z = γ^{t−1}, averaged over the devices."""
    bound = 2 / alpha * (-gap + L / 2 * epsilon - strong / 2 * square(to_minimiser))
    extra = r"-\tfrac\mu2\|\tilde\theta_k^t-\theta_*\|^2" if strong else ""
    return Step(r"\tfrac2{\alpha m}\sum_kE[\langle\gamma^{t-1}-\theta_*,-\nabla L_k(\tilde\theta_k^t)\rangle] \le "
                r"\tfrac2{\alpha m}\sum_kE\big[L_k(\theta_*)-L_k(\gamma^{t-1})+\tfrac L2\|\tilde\theta_k^t-"
                rf"\gamma^{{t-1}}\|^2{extra}\big]",
                f"{'(11)' if strong else '(6)'} with x = θ̃_k^t, y = θ_*, z = γ^(t−1)",
                Relation(cross, "<=", bound, domain, "the product"),
                Combination(facts=tuple(
                    (2 / alpha, fact) for _, fact in through_three_points(
                        new_gradients, to_minimiser, average - virtual, at_x, least, loss, strong).facts)),
                place=f"({'12' if strong else '10'}), fourth line")  # fmt: skip


@proves(feddyn.equation10)
def distance_after(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    lines = expanded("10")
    product = bounded_product(domain, 0, minimiser - virtual)
    ten = Relation(expectations.distance_next, "<=", symbolic(statement.calculator), domain, "equation (10)")
    return Proof((
        *lines,
        product,
        Step(r"E\|\gamma^t-\theta_*\|^2 \le E\|\gamma^{t-1}-\theta_*\|^2-\tfrac2\alpha E[\ell(\gamma^{t-1})"
             r"-\ell(\theta_*)]+\tfrac L\alpha\epsilon_t+E\|\gamma^t-\gamma^{t-1}\|^2",
             "the definitions of ℓ and ε_t", ten,
             Combination(facts=((-1, lines[2].claim.fact), (1, product.claim.fact), *definitions(ten))), place="(10)"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma1)
def potential_after(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    # c.scale4 and c.scale5 are the multipliers for which ε_t and the multiples of C_{t−1} and C_t cancel.
    c = symbolic(feddyn.convex_constants)
    left, right = sides(statement)
    return Proof((
        positive(r"\alpha\tfrac{L+\alpha}{\alpha^2-20L^2} > 0", "α ≥ 25L", c.scale4, domain, "after (10)"),
        positive(r"8\tfrac mP\tfrac1\alpha\tfrac{L+\alpha}{\alpha^2-20L^2} > 0", "α ≥ 25L", c.scale5, domain,
                 "after (10)"),
        Step(r"E\|\gamma^t-\theta_*\|^2+\kappa C_t \le E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1}"
             r"-\kappa_0E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "(10) + Lemma 3 + Lemma 4 and Lemma 5, scaled: this is it exactly", Relation(left, "<=", right, domain,
             "Lemma 1"),
             Combination(facts=(
                 (1, conclusion(feddyn.equation10).fact),
                 *lemma3_in_symbols(),
                 (c.scale4, conclusion(feddyn.lemma4).fact),
                 (c.scale5, conclusion(feddyn.lemma5).fact),
             )), place="Lemma 1"),
    ), tightness=tightness(statement))  # fmt: skip
