"""FedDyn, strongly convex devices: Lemma 9, equations (12) and (13), and Lemma 8, all about one round."""

from fedconvex.proofs_checks.builders import chained, positive
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.hilbert import square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn import expectations
from fedconvex.proofs_checks.feddyn.convex_lemmas import average_over_the_drawn
from fedconvex.proofs_checks.feddyn.convex_round import bounded_product, expanded
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.expectations import definitions, lemma3_in_symbols
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    alpha,
    distance,
    distance_next,
    epsilon,
    gap,
    minimiser,
    move,
    mu,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

virtual_distance = square(virtual - minimiser)


@proves(feddyn.lemma9)
def average_is_no_further(statement: Statement) -> Proof:
    steps = average_over_the_drawn(minimiser, "θ*", r"\theta_*", "Lemma 9")
    bound = symbolic(statement.calculator, distance_next=distance_next)
    return Proof((
        *steps,
        Step(r"-\tfrac1m\sum_kE\|\tilde\theta_k^t-\theta_*\|^2 \le -E\|\gamma^t-\theta_*\|^2", "rearranged",
             Relation(-virtual_distance, "<=", bound, SCALE, "Lemma 9"),
             Combination(facts=chained(*(step.claim for step in steps[-2:]))), place="Lemma 9"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.equation12)
def distance_after_strongly(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    lines = expanded("12")
    product = bounded_product(domain, mu, minimiser - virtual)
    # The display's fifth line still has the mean of the ‖θ̃_k^t − θ_*‖², which Lemma 9 then bounds.
    fifth = distance - 2 / alpha * gap + L / alpha * epsilon - mu / alpha * virtual_distance + move
    virtual_line = Relation(distance_next, "<=", fifth, domain, "equation (12), fifth line")
    twelve = Relation(expectations.distance_next, "<=", symbolic(statement.calculator), domain, "equation (12)")
    return Proof((
        *lines,
        product,
        Step(r"\dots = E\|\gamma^{t-1}-\theta_*\|^2-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r"+\tfrac L\alpha\epsilon_t-\tfrac\mu\alpha\tfrac1m\sum_kE\|\tilde\theta_k^t-\theta_*\|^2"
             r"+E\|\gamma^t-\gamma^{t-1}\|^2", "the definitions of ℓ and ε_t", virtual_line,
             Combination(facts=((-1, lines[2].claim.fact), (1, product.claim.fact))), place="(12), fifth line"),
        Step(r"\dots \le E\|\gamma^{t-1}-\theta_*\|^2-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]"
             r"+\tfrac L\alpha\epsilon_t-\tfrac\mu\alpha E\|\gamma^t-\theta_*\|^2+E\|\gamma^t-\gamma^{t-1}\|^2",
             "Lemma 9", twelve,
             Combination(facts=((1, virtual_line.fact), (mu / alpha, conclusion(feddyn.lemma9).fact),
                                *definitions(twelve))),
             place="(12)"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.equation13)
def rearranged(statement: Statement) -> Proof:
    left, right = sides(statement)
    return Proof((
        Step(r"\big(1+\tfrac\mu\alpha\big)E\|\gamma^t-\theta_*\|^2 \le E\|\gamma^{t-1}-\theta_*\|^2"
             r"-\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)]+\tfrac L\alpha\epsilon_t"
             r"+E\|\gamma^t-\gamma^{t-1}\|^2", "(12) rearranged",
             Relation(left, "<=", right, conclusion(feddyn.equation12).domain, "equation (13)"),
             Combination(facts=((1, conclusion(feddyn.equation12).fact),)), place="(13)"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma8)
def potential_after_strongly(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    # As in Lemma 1: the multipliers for which ε_t and the multiples of C_{t−1} and C_t cancel.
    c = symbolic(feddyn.strongly_convex_constants)
    left, right = sides(statement)
    return Proof((
        positive("z > 0", "α ≥ 5(m/P)μ and α ≥ 30L", c.z, domain, "after (13)"),
        positive(r"\tfrac{\alpha(L+\alpha)(P\alpha+P\mu-m\mu)}z > 0", "the same", c.scale4, domain, "after (13)"),
        positive(r"\tfrac{8m(L+\alpha)(\alpha+\mu)}{\alpha z} > 0", "the same", c.scale5, domain, "after (13)"),
        Step(r"r\big(E\|\gamma^t-\theta_*\|^2+\kappa C_t\big) \le E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1}"
             r"-\kappa_0E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
             "(13) + Lemma 3 + Lemma 4 and Lemma 5, scaled: this is it exactly",
             Relation(left, "<=", right, domain, "Lemma 8"),
             Combination(facts=(
                 (1, conclusion(feddyn.equation13).fact),
                 *lemma3_in_symbols(),
                 (c.scale4, conclusion(feddyn.lemma4).fact),
                 (c.scale5, conclusion(feddyn.lemma5).fact),
             )), place="Lemma 8"),
    ), tightness=tightness(statement))  # fmt: skip
