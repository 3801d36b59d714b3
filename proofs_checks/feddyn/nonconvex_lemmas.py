"""FedDyn, smooth devices that need not be convex: Lemmas 11 and 12 and equation (14), all about one round.

The proofs use the vectors of `notation`; their last steps are about the symbols ε_t, C_t, …, with the definitions
`is_epsilon`, `is_apart`, … (`facts.named`). C_t is here the mean of E‖θ_k^t − γ^t‖². In Lemma 12 γ^t and the θ_k^t
depend on the same draw. Each is therefore a vector of its own, and `facts.selected` states how the draw chooses
between the new and the old θ_k.
"""

from fedconvex.proofs_checks.builders import chained
from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.facts import called, lipschitz, named, selected, smooth
from fedconvex.proofs_checks.engines.hilbert import deviation, family, inner, mean, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SYMBOLS,
    L,
    P,
    alpha,
    average,
    gradient,
    gradients,
    h,
    loss,
    loss_next,
    m,
    models,
    new_gradients,
    next_average,
    old_gradients,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.feddyn.notation import epsilon as epsilon_meant
from fedconvex.proofs_checks.feddyn.notation import move as move_meant
from fedconvex.proofs_checks.feddyn.sums_of_squares import lemma6, total, young
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

epsilon, move, C, C_next, gradient_square = (
    SYMBOLS[name] for name in ("epsilon", "move", "C", "C_next", "gradient_square")
)
apart = models - average  # θ_k^{t−1} − γ^{t−1}
old_change = old_gradients - gradients  # ∇L_k(θ_k^{t−1}) − ∇L_k(γ^{t−1})
new_change = new_gradients - gradients  # ∇L_k(θ̃_k^t) − ∇L_k(γ^{t−1})

is_epsilon = named(epsilon, epsilon_meant)
is_move = named(move, move_meant)
is_apart = named(C, square(apart))
is_gradient_square = named(gradient_square, square(gradient))

weight_of_young = P / (2 * m - P)  # z in Young's inequality, in Lemma 12 and its sharper form


@proves(feddyn.lemma11)
@measured
def lemma11(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    step, difference = virtual - average + h / alpha, old_gradients - new_gradients - h
    # They add up to α(θ̃_k^t − γ^{t−1}); the last one is minus the mean of the first.
    four = (old_change, -new_change, -gradient, gradient - h)
    split = 4 / alpha**2 * total(*four)
    jensen = 4 / alpha**2 * total(old_change, new_change, gradient, old_change)
    last = 8 * L**2 / alpha**2 * C + 4 * L**2 / alpha**2 * epsilon + 4 / alpha**2 * gradient_square
    by_lemma6 = Relation(square(difference) / alpha**2, "<=", split, domain, "Lemma 11, by Lemma 6")
    by_jensen = Relation(split, "<=", jensen, domain, "Lemma 11, by Jensen's inequality")
    by_smoothness = Relation(jensen, "<=", last, domain, "Lemma 11, by smoothness")
    meaning = Relation(epsilon, "=", square(step - h / alpha), domain, "Lemma 11, first line")
    eighth = Relation(square(step - h / alpha), "=", square(difference) / alpha**2, domain, "Lemma 11, by (8)")
    left, right = sides(statement)
    lemma = Relation(left, "<=", right, domain, "Lemma 11")
    place = "proof of Lemma 11"
    return Proof((
        Step(r"\epsilon_t = \tfrac1m\sum_k E\|\tilde\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}\|^2",
             "the definition of ε_t, and (9)", meaning, Combination(facts=((1, is_epsilon),)), place=place),
        Step(r"= \tfrac1{\alpha^2}\tfrac1m\sum_k "
             r"E\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\tilde\theta_k^t)-h^{t-1}\|^2", "(8)", eighth, Identity(),
             place=place),
        Step(r"= \tfrac1{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\gamma^{t-1})"
             r"+\nabla L_k(\gamma^{t-1})-\nabla L_k(\tilde\theta_k^t)-\nabla\ell(\gamma^{t-1})"
             r"+\nabla\ell(\gamma^{t-1})-h^{t-1}\|^2",
             "∇L_k(γ) and ∇ℓ(γ) are added and subtracted", Relation(difference, "=", sum(four), domain), Identity(),
             place=place),
        Step(r"\le \tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\gamma^{t-1})\|^2"
             r"+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\tilde\theta_k^t)\|^2"
             r"+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})-h^{t-1}\|^2",
             "Lemma 6 for four vectors", by_lemma6,
             Combination(squares=lemma6(1 / alpha**2, *four)), place=place),
        Step(r"\le \dots + \tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_k^{t-1})\|^2",
             "h is the mean of the stored gradients: Jensen's inequality", by_jensen,
             Combination(squares=((4 / alpha**2, deviation(old_change)),)), place=place),
        Step(r"\le \tfrac{8L^2}{\alpha^2}C_{t-1}+\tfrac{4L^2}{\alpha^2}\epsilon_t"
             r"+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})\|^2",
             "smoothness", by_smoothness,
             Combination(facts=((8 / alpha**2, lipschitz(old_change, apart, L)),
                                (4 / alpha**2, lipschitz(new_change, virtual - average, L)),
                                (-8 * L**2 / alpha**2, is_apart), (-4 * L**2 / alpha**2, is_epsilon),
                                (-4 / alpha**2, is_gradient_square))), place=place),
        Step(r"\left(1-4L^2\tfrac1{\alpha^2}\right)\epsilon_t \le 8L^2\tfrac1{\alpha^2}C_{t-1}"
             r"+4\tfrac1{\alpha^2}E\|\nabla\ell(\gamma^{t-1})\|^2", "rearranged", lemma,
             Combination(facts=chained(meaning, eighth, by_lemma6, by_jensen, by_smoothness)), place="Lemma 11"),
    ), vacuous="α ≤ 2L: the left side is not positive.")  # fmt: skip


@proves(feddyn.lemma12)
@measured
def lemma12(statement: Statement) -> Proof:
    """Young's inequality with z = P/(2m − P): its coefficients 1 + z and 1 + 1/z are 2m/(2m − P) and 2m/P."""
    domain = Domain.of(statement)
    z = weight_of_young
    # θ_k^t − γ^{t−1} and γ^t − γ^{t−1} depend on the same draw, so both are vectors of their own.
    after, moved = family("θ_k^t−γ^{t−1}"), vector("γ^t−γ^{t−1}")
    is_next = named(C_next, square(after - moved))
    meaning = Relation(C_next, "=", square(after - moved), domain, "Lemma 12, the definition of C_t")
    split = Relation(square(after - moved), "<=", (1 + z) * square(after) + (1 + 1 / z) * square(moved), domain,
                  "Lemma 12, by Young's inequality")  # fmt: skip
    drawn = Relation(
        (1 + z) * square(after) + (1 + 1 / z) * square(moved), "=",
        P / m * (1 + z) * square(virtual - average) + (1 - P / m) * (1 + z) * square(apart)
        + (1 + 1 / z) * square(moved), domain, "Lemma 12, who is drawn",
    )  # fmt: skip
    chance = selected(square(after), square(virtual - average), square(apart), P / m)
    in_letters = P / m * (1 + z) * epsilon + (1 - P / m) * (1 + z) * C + (1 + 1 / z) * move
    last = Relation(drawn.right, "=", in_letters, domain, "Lemma 12, last line")
    lemma = Relation(C_next, "<=", symbolic(statement.calculator), domain, "Lemma 12")
    place = "proof of Lemma 12"
    return Proof((
        Step(r"C_t = \tfrac1m\sum_k E\|\theta_k^t-\gamma^{t-1}+\gamma^{t-1}-\gamma^t\|^2", "the definition of C_t",
             meaning, Combination(facts=((1, is_next),)), place=place),
        Step(r"\le \left(1+\tfrac P{2m-P}\right)\tfrac1m\sum_k E\|\theta_k^t-\gamma^{t-1}\|^2"
             r"+\left(1+\tfrac{2m-P}P\right)\tfrac1m\sum_k E\|\gamma^t-\gamma^{t-1}\|^2",
             "Young's inequality with z = P/(2m − P)", split,
             Combination(squares=young(z, after, -moved)), place=place),
        Step(r"= \tfrac Pm\left(1+\tfrac P{2m-P}\right)\tfrac1m\sum_k E\|\tilde\theta_k^t-\gamma^{t-1}\|^2"
             r"+\left(1-\tfrac Pm\right)\left(1+\tfrac P{2m-P}\right)\tfrac1m\sum_k E\|\theta_k^{t-1}-\gamma^{t-1}\|^2"
             r"+\left(1+\tfrac{2m-P}P\right)E\|\gamma^t-\gamma^{t-1}\|^2",
             "θ_k^t is θ̃_k^t with probability P/m, and else θ_k^{t−1}; γ^{t−1} does not depend on the draw", drawn,
             Combination(facts=((1 + z, chance),)), place=place),
        Step(r"= \tfrac Pm\left(1+\tfrac P{2m-P}\right)\epsilon_t"
             r"+\left(1-\tfrac Pm\right)\left(1+\tfrac P{2m-P}\right)C_{t-1}"
             r"+\left(1+\tfrac{2m-P}P\right)E\|\gamma^t-\gamma^{t-1}\|^2", "the definitions of ε_t and C_{t−1}", last,
             Combination(facts=((-P / m * (1 + z), is_epsilon), (-(1 - P / m) * (1 + z), is_apart),
                                (-(1 + 1 / z), is_move), (1 + 1 / z, called(moved, next_average - average)))),
             place=place),
        Step(r"C_t \le \tfrac{2(m-P)}{2m-P}C_{t-1}+\tfrac{2P}{2m-P}\epsilon_t"
             r"+\tfrac{2m}PE\|\gamma^t-\gamma^{t-1}\|^2", "the fractions put together", lemma,
             Combination(facts=chained(meaning, split, drawn, last)), place="Lemma 12"),
    ), notes="The devices' functions do not enter: smoothness, which the lemma assumes, is not needed.")  # fmt: skip


@proves(feddyn.equation14)
@measured
def equation14(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    moved = next_average - average
    descent = Relation(loss_next - loss - L / 2 * move_meant, "<=", inner(gradient, moved), domain, "(14), by Eq. 4")
    expected_move = Relation(inner(gradient, moved), "=", inner(gradient, -mean(new_gradients)) / alpha, domain,
                          "(14), by Lemma 2")  # fmt: skip
    change = mean(new_change)
    completed = Relation(inner(gradient, -mean(new_gradients)) / alpha, "<=",
                      (square(change) - square(gradient)) / (2 * alpha), domain, "(14), completed")  # fmt: skip
    jensen = Relation(completed.right, "<=", square(new_change) / (2 * alpha) - square(gradient) / (2 * alpha), domain,
                   "(14), by Jensen's inequality")  # fmt: skip
    left, right = sides(statement)
    last = Relation(left, "<=", right, domain, "equation (14)")
    facts = chained(descent, expected_move, completed, jensen)
    smoothness = (1 / (2 * alpha), lipschitz(new_change, virtual - average, L))
    definitions = (-(L**2) / (2 * alpha), is_epsilon), (1 / (2 * alpha), is_gradient_square), (-L / 2, is_move)
    return Proof((
        Step(r"E\ell(\gamma^t)-E\ell(\gamma^{t-1})-\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2"
             r" \le E\langle\nabla\ell(\gamma^{t-1}),\gamma^t-\gamma^{t-1}\rangle", "Eq. 4 for ℓ", descent,
             Combination(facts=((1, smooth(loss_next, loss, gradient, moved, L)),)), place="before (14)"),
        Step(r"= \tfrac1\alpha E\langle\nabla\ell(\gamma^{t-1}),"
             r"\tfrac1m\sum_k-\nabla L_k(\tilde\theta_k^t)\rangle",
             "Lemma 2: the average over who is drawn is the mean, and h the mean of the stored gradients",
             expected_move, Identity(), place="before (14)"),
        Step(r"\le \tfrac1{2\alpha}E\big\|\tfrac1m\sum_k(\nabla L_k(\tilde\theta_k^t)-\nabla L_k(\gamma^{t-1}))\big\|^2"
             r"-\tfrac1{2\alpha}E\|\nabla\ell(\gamma^{t-1})\|^2", "⟨a, b⟩ ≤ ½‖b + a‖² − ½‖a‖²", completed,
             Combination(squares=((1 / (2 * alpha), mean(new_gradients)),)), place="before (14)"),
        Step(r"\le \tfrac1{2\alpha}\tfrac1m\sum_k E\|\nabla L_k(\tilde\theta_k^t)-\nabla L_k(\gamma^{t-1})\|^2"
             r"-\tfrac1{2\alpha}E\|\nabla\ell(\gamma^{t-1})\|^2", "Jensen's inequality", jensen,
             Combination(squares=((1 / (2 * alpha), deviation(new_change)),)), place="before (14)"),
        Step(r"\le \tfrac{L^2}{2\alpha}\epsilon_t-\tfrac1{2\alpha}E\|\nabla\ell(\gamma^{t-1})\|^2", "smoothness", last,
             Combination(facts=(*facts, smoothness, *definitions)), place="(14)"),
    ))  # fmt: skip
