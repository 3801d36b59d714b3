"""FedDynOneGD, convex devices: the lemmas about one round that Theorem 5 rests on (Lemmas 13 to 18)."""

import sympy

from fedconvex.proofs_checks.builders import chained
from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.facts import lipschitz, selected
from fedconvex.proofs_checks.engines.hilbert import deviation, drawn, expected, mean, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.convex_lemmas import moments_of_the_draw
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    alpha,
    at_minimiser,
    gradients,
    m,
    minimiser,
    scale,
    symbolic,
)
from fedconvex.proofs_checks.feddyn.one_gradient_notation import (
    A,
    A_next,
    average,
    change,
    distance_next,
    epsilon,
    errors_at_minimiser,
    gap,
    h,
    is_distance_next,
    is_epsilon,
    is_error_at_minimiser,
    is_gap,
    is_move,
    memories,
    move,
    new_gradients,
    next_average,
    server,
    virtual,
)
from fedconvex.proofs_checks.feddyn.sums_of_squares import lemma6, total
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

to_minimiser = gradients - at_minimiser  # ∇L_k(γ^{t−1}) − ∇L_k(θ_*)


def update_error(lemma: str, domain: Domain) -> tuple[Step, Step]:
    """ε_t written with (9), then with (15): the first two displayed lines of Lemmas 14 and 19."""
    place, moved = f"proof of {lemma}", virtual - server - h / alpha
    meaning = Relation(epsilon, "=", square(moved), domain, f"{lemma}, (9)")
    update = Relation(square(moved), "=", square(memories - new_gradients - h) / alpha**2, domain, f"{lemma}, (15)")
    return (
        Step(r"\epsilon_t = \tfrac1m\sum_k E\|\tilde\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}\|^2",
             "the definition of ε_t, and (9)", meaning, Combination(facts=((1, is_epsilon),)), place=place),
        Step(r"= \tfrac1{\alpha^2}\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\theta^{t-1})-h^{t-1}\|^2", "(15)", update,
             Identity(), place=place),
    )  # fmt: skip


@proves(feddyn.lemma13)
def lemma13(statement: Statement) -> Proof:
    first = drawn(virtual - server, scale) - h / alpha
    second = drawn(virtual - server - h / alpha, scale)
    third = drawn(memories - new_gradients - h, scale) / alpha
    fourth = mean(memories - new_gradients - h) / alpha
    place = "proof of Lemma 13"
    right = symbolic(statement.calculator, mean_gradient=mean(new_gradients))
    lemma = Relation(expected(next_average - average), "=", right, name="Lemma 13")
    return Proof((
        Step(r"E[\gamma^t-\gamma^{t-1}] = E\Big[\Big(\tfrac1P\sum_{k\in P_t}\theta_k^t\Big)-\theta^{t-1}"
             r"-\tfrac1\alpha h^{t-1}\Big]", "(9)",
             Relation(next_average - average, "=", first), Identity(), place=place),
        Step(r"= E\Big[\tfrac1P\sum_{k\in P_t}\Big(\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}\Big)\Big]",
             "the mean of what does not depend on k", Relation(first, "=", second), Identity(), place=place),
        Step(r"= E\Big[\tfrac1{\alpha P}\sum_{k\in P_t}(h_k^{t-1}-\nabla L_k(\theta^{t-1})-h^{t-1})\Big]",
             "the devices' update, (15)", Relation(second, "=", third), Identity(), place=place),
        Step(r"= E\Big[\tfrac1{\alpha m}\sum_k(h_k^{t-1}-\nabla L_k(\theta^{t-1})-h^{t-1})\Big]",
             "every device is drawn with the same probability", Relation(expected(third), "=", fourth), Identity(),
             place=place),
        Step(r"= \tfrac1{\alpha m}\sum_k E[-\nabla L_k(\theta^{t-1})]", "(16)", lemma, Identity(), place="Lemma 13"),
    ))  # fmt: skip


@proves(feddyn.lemma17)
@measured
def lemma17(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    mean_error = Relation(h, "=", mean(errors_at_minimiser), domain)
    jensen = Relation(square(mean(errors_at_minimiser)), "<=", square(errors_at_minimiser), domain, "Lemma 17, Jensen")
    claim = Relation(square(h), "<=", symbolic(statement.calculator, A_next=A), domain, "Lemma 17")
    place = "proof of Lemma 17"
    return Proof((
        Step(r"E\|h^t\|^2 = E\Big\|\tfrac1m\sum_k h_k^t\Big\|^2 = E\Big\|\tfrac1m\sum_k(h_k^t"
             r"-\nabla L_k(\theta_*))\Big\|^2",
             "(16), and ∇ℓ(θ_*) = 0", mean_error, Identity(), place=place),
        Step(r"\le \tfrac1m\sum_k E\|h_k^t-\nabla L_k(\theta_*)\|^2", "Jensen's inequality", jensen,
             Combination(squares=((1, deviation(errors_at_minimiser)),)), place=place),
        Step(r"E\|h^t\|^2 \le A_t", "the definition of A_t", claim,
             Combination(facts=(*chained(jensen), (-1, is_error_at_minimiser))), place="Lemma 17"),
    ))  # fmt: skip


@proves(feddyn.lemma18)
@measured
def lemma18(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    equal = Relation(square(server - average), "=", square(h) / alpha**2, domain, "Lemma 18, (9)")
    claim = Relation(square(server - average), "<=", symbolic(statement.calculator, A_next=A), domain, "Lemma 18")
    return Proof((
        Step(r"E\|\theta^t-\gamma^t\|^2 = \tfrac1{\alpha^2}E\|h^t\|^2", "(9)", equal, Identity(),
             place="proof of Lemma 18"),
        Step(r"\le \tfrac1{\alpha^2}A_t", "Lemma 17", claim,
             Combination(facts=(*chained(equal), (1 / alpha**2, conclusion(feddyn.lemma17).fact))), place="Lemma 18"),
    ))  # fmt: skip


def gradients_near(domain: Domain) -> Step:
    """(5), that is (1/m)Σ E‖∇L_k(γ^{t−1}) − ∇L_k(θ_*)‖² ≤ 2L E[ℓ(γ^{t−1}) − ℓ(θ_*)], with the gap as a symbol."""
    claim = Relation(square(to_minimiser), "<=", 2 * L * gap, domain, "(5), in letters")
    return Step(r"\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2"
                r" \le 2L\,E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "(5)", claim,
                Combination(facts=((2 * L, conclusion(feddyn.equation5).fact), (-2 * L, is_gap))))  # fmt: skip


@proves(feddyn.lemma14)
@measured
def lemma14(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    near = gradients_near(domain)
    whole = memories - new_gradients - h
    four = (errors_at_minimiser, -to_minimiser, -change, -h)
    scaled = 4 / alpha**2
    lines = update_error("Lemma 14", domain)
    meaning, update = (line.claim for line in lines)
    split = Relation(square(whole) / alpha**2, "<=", scaled * total(*four), domain, "Lemma 14, Lemma 6")
    twice = 2 * scaled * A + scaled * total(to_minimiser, change)
    by_lemma17 = Relation(split.right, "<=", twice, domain, "Lemma 14, Lemma 17")
    smooth_part = (2 * scaled + 4 * L**2 / alpha**4) * A + scaled * square(to_minimiser)
    by_lemma18 = Relation(twice, "<=", smooth_part, domain, "Lemma 14, smoothness and Lemma 18")
    lemma = Relation(epsilon, "<=", symbolic(statement.calculator), domain, "Lemma 14")
    place = "proof of Lemma 14"
    return Proof((
        *lines,
        Step(r"= \tfrac1{\alpha^2}\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\theta_*)+\nabla L_k(\theta_*)"
             r"-\nabla L_k(\gamma^{t-1})+\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta^{t-1})-h^{t-1}\|^2",
             "∇L_k(θ_*) and ∇L_k(γ) are added and subtracted", Relation(whole, "=", sum(four), domain), Identity(),
             place=place),
        Step(r"\le \tfrac4{\alpha^2}\tfrac1m\sum_k\big(E\|h_k^{t-1}-\nabla L_k(\theta_*)\|^2"
             r"+E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2+E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t"
             r"-1})\|^2"
             r"\big)+\tfrac4{\alpha^2}E\|h^{t-1}\|^2", "Lemma 6 for four vectors", split,
             Combination(squares=lemma6(1 / alpha**2, *four)), place=place),
        Step(r"\le \tfrac8{\alpha^2}A_{t-1}+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})"
             r"-\nabla L_k(\theta_*)\|^2"
             r"+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t-1})\|^2",
             "the definition of A_{t−1}, and Lemma 17", by_lemma17,
             Combination(facts=((scaled, conclusion(feddyn.lemma17).fact), (-scaled, is_error_at_minimiser))),
             place=place),
        Step(r"\le \left(\tfrac8{\alpha^2}+\tfrac{4L^2}{\alpha^4}\right)A_{t-1}"
             r"+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2",
             "smoothness, and Lemma 18", by_lemma18,
             Combination(facts=((scaled, lipschitz(change, server - average, L)),
                                (scaled * L**2, conclusion(feddyn.lemma18).fact))), place=place),
        near,
        Step(r"\epsilon_t \le \left(\tfrac8{\alpha^2}+\tfrac{4L^2}{\alpha^4}\right)A_{t-1}"
             r"+\tfrac{8L}{\alpha^2}E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "(5)", lemma,
             Combination(facts=(*chained(meaning, update, split, by_lemma17, by_lemma18), (scaled, near.claim.fact))),
             place="Lemma 14"),
    ))  # fmt: skip


@proves(feddyn.lemma15)
@measured
def lemma15(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    near, part = gradients_near(domain), P / m
    fresh = new_gradients - at_minimiser
    chosen = Relation(A_next, "=", (1 - part) * square(errors_at_minimiser) + part * square(fresh), domain,
                   "Lemma 15, who is drawn")  # fmt: skip
    first = (1 - part) * square(errors_at_minimiser)
    split = Relation(chosen.right, "<=", first + 2 * part * total(change, to_minimiser), domain, "Lemma 15, Lemma 6")
    smooth_part = (1 - part + part * 2 * L**2 / alpha**2) * A + 2 * part * square(to_minimiser)
    by_lemma18 = Relation(split.right, "<=", smooth_part, domain, "Lemma 15, smoothness and Lemma 18")
    lemma = Relation(A_next, "<=", symbolic(statement.calculator), domain, "Lemma 15")
    place = "proof of Lemma 15"
    return Proof((
        Step(r"A_t = \left(1-\tfrac Pm\right)\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\theta_*)\|^2"
             r"+\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\theta_*)\|^2",
             "a drawn device, with probability P/m, has h_k^t = ∇L_k(θ^{t−1}); the others keep theirs", chosen,
             Combination(facts=((1, selected(A_next, square(fresh), square(errors_at_minimiser), part)),)),
             place=place),
        Step(r"= \dots+\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t-1})"
             r"+\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2", "∇L_k(γ) is added and subtracted",
             Relation(fresh, "=", change + to_minimiser, domain), Identity(), place=place),
        Step(r"\le \left(1-\tfrac Pm\right)A_{t-1}+2\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})"
             r"-\nabla L_k(\gamma^{t-1})\|^2"
             r"+2\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2",
             "Lemma 6 for two vectors", split, Combination(squares=lemma6(part, change, to_minimiser)), place=place),
        Step(r"\le \left(1-\tfrac Pm+\tfrac Pm\tfrac{2L^2}{\alpha^2}\right)A_{t-1}"
             r"+2\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2",
             "smoothness, and Lemma 18", by_lemma18,
             Combination(facts=((2 * part, lipschitz(change, server - average, L)),
                                (2 * part * L**2, conclusion(feddyn.lemma18).fact),
                                (-(1 - part), is_error_at_minimiser))), place=place),
        near,
        Step(r"A_t \le \left(1-\tfrac Pm+\tfrac Pm\tfrac{2L^2}{\alpha^2}\right)A_{t-1}"
             r"+4L\tfrac PmE[\ell(\gamma^{t-1})-\ell(\theta_*)]", "(5)", lemma,
             Combination(facts=(*chained(chosen, split, by_lemma18), (2 * part, near.claim.fact))), place="Lemma 15"),
    ))  # fmt: skip


@proves(feddyn.lemma16)
@measured
def lemma16(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    # γ^t − θ_* through γ^{t−1} and θ^{t−1}.
    three = (next_average - average, average - server, server - minimiser)
    whole = three[0] + three[1] + three[2]
    meaning = Relation(distance_next, "=", square(whole), domain, "Lemma 16, the distance")
    split = Relation(square(whole), "<=", 3 * total(*three), domain, "Lemma 16, Jensen")
    state = 3 * move + 3 / alpha**2 * square(h) + 3 * square(server - minimiser)
    by_nine = Relation(split.right, "=", state, domain, "Lemma 16, (9)")
    by_lemma17 = Relation(state, "<=", 3 * move + 3 / alpha**2 * A + 3 * square(server - minimiser), domain,
                       "Lemma 16, Lemma 17")  # fmt: skip
    lemma = Relation(-square(server - minimiser), "<=", symbolic(statement.calculator), domain, "Lemma 16")
    lines = (meaning, split, by_nine, by_lemma17)
    place = "proof of Lemma 16"
    return Proof((
        Step(r"E\|\gamma^t-\theta_*\|^2 = E\|\gamma^t-\gamma^{t-1}+\gamma^{t-1}-\theta^{t-1}+\theta^{t-1}-\theta_*\|^2",
             "γ^{t−1} and θ^{t−1} are added and subtracted", meaning, Combination(facts=((1, is_distance_next),)),
             place=place),
        Step(r"\le 3E\|\gamma^t-\gamma^{t-1}\|^2+3E\|\gamma^{t-1}-\theta^{t-1}\|^2+3E\|\theta^{t-1}-\theta_*\|^2",
             "Jensen's inequality for three vectors", split, Combination(squares=lemma6(1, *three)), place=place),
        Step(r"\le 3E\|\gamma^t-\gamma^{t-1}\|^2+\tfrac3{\alpha^2}E\|h^{t-1}\|^2+3E\|\theta^{t-1}-\theta_*\|^2", "(9)",
             by_nine, Combination(facts=((-3, is_move),)), place=place),
        Step(r"\le 3E\|\gamma^t-\gamma^{t-1}\|^2+\tfrac3{\alpha^2}A_{t-1}+3E\|\theta^{t-1}-\theta_*\|^2", "Lemma 17",
             by_lemma17, Combination(facts=((3 / alpha**2, conclusion(feddyn.lemma17).fact),)), place=place),
        Step(r"-E\|\theta^{t-1}-\theta_*\|^2 \le -\tfrac13E\|\gamma^t-\theta_*\|^2+E\|\gamma^t-\gamma^{t-1}\|^2"
             r"+\tfrac1{\alpha^2}A_{t-1}", "rearranged", lemma,
             Combination(facts=tuple((sympy.Rational(1, 3), line.fact) for line in lines)), place="Lemma 16"),
    ))  # fmt: skip


def lemma3_for_one_gradient(domain: Domain) -> tuple[Step, ...]:
    """E‖γ^t − γ^{t−1}‖² ≤ ε_t for FedDynOneGD.

    The paper takes this over from FedDyn's Lemma 3, which rests on (9) alone. That lemma assumes FedDyn, so the proof
    is repeated here with FedDynOneGD's θ̃_k^t.
    """
    moved = virtual - average
    claim = Relation(move, "<=", epsilon, domain & SCALE, "Lemma 3 for FedDynOneGD")
    return (
        *moments_of_the_draw(moved),
        Step(r"E\|\gamma^t-\gamma^{t-1}\|^2 \le \epsilon_t", "Lemma 3, which rests on (9) alone", claim,
             Combination(facts=((1, is_move), (-1, is_epsilon)), squares=((1 - scale, deviation(moved)),)),
             place="after Lemma 13"),
    )  # fmt: skip
