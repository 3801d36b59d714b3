"""FedDynOneGD, smooth devices: Lemmas 19 to 21 and equation (19), all about one round."""

import sympy

from fedconvex.proofs_checks.builders import chained
from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import lipschitz, named, selected, smooth
from fedconvex.proofs_checks.engines.hilbert import deviation, family, inner, mean, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_lemmas import weight_of_young
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import SCALE, L, P, alpha, gradient, loss, loss_next, m, symbolic
from fedconvex.proofs_checks.feddyn.one_gradient_lemmas import lemma3_for_one_gradient, update_error
from fedconvex.proofs_checks.feddyn.one_gradient_notation import (
    B,
    B_next,
    average,
    change,
    epsilon,
    errors,
    gradient_square,
    h,
    is_error,
    is_gradient_square,
    is_move,
    memories,
    move,
    new_gradients,
    next_average,
    server,
)
from fedconvex.proofs_checks.feddyn.sums_of_squares import lemma6, total, young
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn


@proves(feddyn.lemma21)
@measured
def lemma21(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    ratio, lag = L**2 / alpha**2, h - gradient
    smoothed = Relation(square(change), "<=", L**2 * square(average - server), domain, "Lemma 21, smoothness")
    by_nine = Relation(smoothed.right, "=", ratio * square(h), domain, "Lemma 21, (9)")
    split = Relation(ratio * square(h), "<=", 2 * ratio * total(lag, gradient), domain, "Lemma 21, Jensen")
    jensen = Relation(split.right, "<=", 2 * ratio * total(errors, gradient), domain, "Lemma 21, Jensen again")
    bound = symbolic(statement.calculator, B_next=B, gradient_square_next=gradient_square)
    lemma = Relation(square(change), "<=", bound, domain, "Lemma 21")
    place = "proof of Lemma 21"
    return Proof((
        Step(r"\tfrac1m\sum_k E\|\nabla L_k(\gamma^t)-\nabla L_k(\theta^t)\|^2 \le L^2E\|\gamma^t-\theta^t\|^2",
             "smoothness", smoothed, Combination(facts=((1, lipschitz(change, average - server, L)),)), place=place),
        Step(r"= \tfrac{L^2}{\alpha^2}E\|h^t\|^2", "(9)", by_nine, Identity(), place=place),
        Step(r"= \tfrac{L^2}{\alpha^2}E\|h^t-\nabla\ell(\gamma^t)+\nabla\ell(\gamma^t)\|^2",
             "∇ℓ(γ) is added and subtracted", Relation(h, "=", lag + gradient, domain), Identity(), place=place),
        Step(r"\le \tfrac{2L^2}{\alpha^2}E\|h^t-\nabla\ell(\gamma^t)\|^2+"
             r"\tfrac{2L^2}{\alpha^2}E\|\nabla\ell(\gamma^t)\|^2",
             "Jensen's inequality for two vectors", split, Combination(squares=lemma6(ratio, lag, gradient)),
             place=place),
        Step(r"\le \tfrac{2L^2}{\alpha^2}\tfrac1m\sum_k E\|h_k^t-\nabla L_k(\gamma^t)\|^2"
             r"+\tfrac{2L^2}{\alpha^2}E\|\nabla\ell(\gamma^t)\|^2", "(16), and Jensen's inequality", jensen,
             Combination(squares=((2 * ratio, deviation(errors)),)), place=place),
        Step(r"= \tfrac{2L^2}{\alpha^2}B_t+\tfrac{2L^2}{\alpha^2}E\|\nabla\ell(\gamma^t)\|^2", "the definition of B_t",
             lemma, Combination(facts=(*chained(smoothed, by_nine, split, jensen), (-2 * ratio, is_error),
                                       (-2 * ratio, is_gradient_square))), place="Lemma 21"),
    ))  # fmt: skip


@proves(feddyn.lemma19)
@measured
def lemma19(statement: Statement) -> Proof:
    """The paper splits h_k − ∇L_k(θ) − h into four vectors, and its last line does not follow; this proof has three.

    The three are the deviations of the memories' errors from their mean, the change of gradients, and ∇ℓ. The mean of
    the errors is h^{t−1} − ∇ℓ(γ^{t−1}), the paper's fourth vector: subtracting it makes the errors only shorter.
    """
    domain = Domain.of(statement)
    scaled, whole = 4 / alpha**2, memories - new_gradients - h
    four = (errors, -change, -gradient, gradient - h)
    # deviation(errors) is the memories' errors minus their mean h^{t−1} − ∇ℓ(γ^{t−1}).
    three = (deviation(errors), -change, -gradient)
    lines = update_error("Lemma 19", domain)
    meaning, update = (line.claim for line in lines)
    split = Relation(square(whole) / alpha**2, "<=", scaled * total(*four), domain, "Lemma 19, Lemma 6")
    by_B = Relation(split.right, "=", scaled * (B + square(change) + gradient_square + square(gradient - h)), domain,
                 "Lemma 19, B")  # fmt: skip
    twice = Relation(by_B.right, "<=", 2 * scaled * B + scaled * (square(change) + gradient_square), domain,
                  "Lemma 19, Jensen")  # fmt: skip
    gain = 2 * L**2 / alpha**2
    eight = Relation(
        epsilon, "<=", scaled * ((2 + gain) * B + (1 + gain) * gradient_square), domain, "Lemma 19 with 8/α²"
    )
    bound = symbolic(statement.calculator)
    changed = sympy.Symbol("(1/m)Σ_k E‖∇L_k(θ^{t-1})−∇L_k(γ^{t-1})‖²", nonnegative=True)
    # The paper's last line as an inequality between numbers: false even if `changed` satisfies Lemma 21.
    small = domain & sympy.Le(changed, gain * (B + gradient_square), evaluate=False)
    printed = Relation(2 * scaled * B + scaled * changed + scaled * gradient_square, "<=", bound, small)
    thirds = Relation(square(whole) / alpha**2, "<=", 3 / alpha**2 * total(*three), domain, "Lemma 19, three parts")
    fewer = Relation(epsilon, "<=", 3 / alpha**2 * (1 + gain) * (B + gradient_square), domain, "Lemma 19 with 3/α²")
    lemma = Relation(epsilon, "<=", bound, domain, "Lemma 19")
    place, by_lemma21 = "proof of Lemma 19", conclusion(feddyn.lemma21).fact
    spare = 1 / alpha**2 * (1 + gain)
    return Proof(
        (
            *lines,
            Step(r"= \tfrac1{\alpha^2}\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\gamma^{t-1})+\nabla L_k(\gamma^{t-1})"
                 r"-\nabla L_k(\theta^{t-1})-\nabla\ell(\gamma^{t-1})+\nabla\ell(\gamma^{t-1})-h^{t-1}\|^2",
                 "∇L_k(γ) and ∇ℓ(γ) are added and subtracted", Relation(whole, "=", sum(four), domain), Identity(),
                 place=place),
            Step(r"\le \tfrac4{\alpha^2}\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\gamma^{t-1})\|^2"
                 r"+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta^{t-1})\|^2"
                 r"+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})\|^2"
                 r"+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})-h^{t-1}\|^2", "Lemma 6 for four vectors", split,
                 Combination(squares=lemma6(1 / alpha**2, *four)), place=place),
            Step(r"= \tfrac4{\alpha^2}B_{t-1}+\dots", "the definition of B_{t−1}", by_B,
                 Combination(facts=((-scaled, is_error), (-scaled, is_gradient_square))), place=place),
            Step(r"\le \tfrac8{\alpha^2}B_{t-1}"
                 r"+\tfrac4{\alpha^2}\tfrac1m\sum_k E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta^{t-1})\|^2"
                 r"+\tfrac4{\alpha^2}E\|\nabla\ell(\gamma^{t-1})\|^2", "(16), and Jensen's inequality", twice,
                 Combination(facts=((-scaled, is_error),), squares=((scaled, deviation(errors)),)), place=place),
            Step(r"\le \left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)B_{t-1}"
                 r"+\left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)E\|\nabla\ell(\gamma^{t-1})\|^2",
                 "Lemma 21: but from the line before there follows 8/α² in place of the first 4/α²", printed,
                 Inequality(), place="proof of Lemma 19, last line", role=Role.PRINTED),
            Step(r"\le \left(\tfrac8{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)B_{t-1}"
                 r"+\left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)E\|\nabla\ell(\gamma^{t-1})\|^2",
                 "Lemma 21: what the displayed lines give", eight,
                 Combination(facts=(*chained(meaning, update, split, by_B, twice), (scaled, by_lemma21)))),
            Step(r"\tfrac1{\alpha^2}\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\theta^{t-1})-h^{t-1}\|^2 \le "
                 r"\tfrac3{\alpha^2}\tfrac1m\sum_k\left(E\|h_k^{t-1}-\nabla L_k(\gamma^{t-1})-h^{t-1}"
                 r"+\nabla\ell(\gamma^{t-1})\|^2+E\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta^{t-1})\|^2"
                 r"+E\|\nabla\ell(\gamma^{t-1})\|^2\right)", "three vectors in place of four", thirds,
                 Combination(squares=lemma6(1 / alpha**2, *three))),
            Step(r"\epsilon_t \le \left(\tfrac3{\alpha^2}+\tfrac{6L^2}{\alpha^4}\right)"
                 r"(B_{t-1}+E\|\nabla\ell(\gamma^{t-1})\|^2)", "Lemma 21, and what is beyond a mean is less than all",
                 fewer, Combination(facts=(*chained(meaning, update, thirds), (3 / alpha**2, by_lemma21),
                                           (-3 / alpha**2, is_error), (-3 / alpha**2, is_gradient_square)),
                                    squares=((3 / alpha**2, mean(errors)),))),
            Step(r"\epsilon_t \le \left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)B_{t-1}"
                 r"+\left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)E\|\nabla\ell(\gamma^{t"
                 r"-1})\|^2", "3 ≤ 4", lemma,
                 Combination(facts=(*chained(fewer), (-spare, is_error), (-spare, is_gradient_square)),
                             squares=((spare, errors), (spare, gradient))), place="Lemma 19"),
        ),
        notes="The displayed proof gives 8/α² where the lemma has 4/α²: its last line does not follow from the line "
              "before. The lemma holds, by bringing three vectors apart in place of four.",
    )  # fmt: skip


@proves(feddyn.lemma20)
@measured
def lemma20(statement: Statement) -> Proof:
    """Young's inequality with z = P/(2m − P), as in Lemma 12."""
    domain = Domain.of(statement) & SCALE
    z, part = weight_of_young, P / m
    # h_k^t and γ^t depend on the same draw: both are vectors of their own.
    new_errors, shift = family("h_k^t−∇L_k(γ)"), family("∇L_k(γ^t)−∇L_k(γ)")
    third = lemma3_for_one_gradient(domain)
    meaning = Relation(B_next, "=", square(new_errors - shift), domain, "Lemma 20, the definition of B_t")
    split = Relation(meaning.right, "<=", (1 + z) * square(new_errors) + (1 + 1 / z) * square(shift), domain,
                  "Lemma 20, by Young's inequality")  # fmt: skip
    rest = 2 * m / P * L**2 * move
    smoothed = Relation(split.right, "<=", (1 + z) * square(new_errors) + rest, domain, "Lemma 20, by smoothness")
    drawn = Relation(smoothed.right, "=", (1 + z) * ((1 - part) * square(errors) + part * square(change)) + rest,
    domain,
                  "Lemma 20, who is drawn")  # fmt: skip
    gain = 2 * L**2 / alpha**2
    in_letters = (1 + z) * (((1 - part) + part * gain) * B + part * gain * gradient_square)
    by_lemma21 = Relation(drawn.right, "<=", in_letters + rest, domain, "Lemma 20, by Lemma 21")
    lemma = Relation(B_next, "<=", symbolic(statement.calculator), domain, "Lemma 20")
    place = "proof of Lemma 20"
    return Proof((
        Step(r"B_t = \tfrac1m\sum_k E\|h_k^t-\nabla L_k(\gamma^{t-1})+\nabla L_k(\gamma^{t-1})"
             r"-\nabla L_k(\gamma^t)\|^2",
             "the definition of B_t", meaning,
             Combination(facts=((1, named(B_next, square(new_errors - shift))),)), place=place),
        Step(r"\le \left(1+\tfrac P{2m-P}\right)\tfrac1m\sum_k E\|h_k^t-\nabla L_k(\gamma^{t-1})\|^2"
             r"+\left(1+\tfrac{2m-P}P\right)\tfrac1m\sum_k E\|\nabla L_k(\gamma^t)-\nabla L_k(\gamma^{t-1})\|^2",
             "Young's inequality with z = P/(2m − P)", split, Combination(squares=young(z, new_errors, -shift)),
             place=place),
        Step(r"\le \tfrac{2m}{2m-P}\tfrac1m\sum_k E\|h_k^t-\nabla L_k(\gamma^{t-1})\|^2"
             r"+\tfrac{2m}PL^2E\|\gamma^t-\gamma^{t-1}\|^2", "smoothness", smoothed,
             Combination(facts=((1 + 1 / z, lipschitz(shift, next_average - average, L)), (-rest / move, is_move))),
             place=place),
        Step(r"= \tfrac{2m}{2m-P}\Big(\left(1-\tfrac Pm\right)\tfrac1m\sum_k E\|h_k^{t-1}-\nabla L_k(\gamma^{t-1})\|^2"
             r"+\tfrac Pm\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t-1})\|^2\Big)"
             r"+\tfrac{2m}PL^2E\|\gamma^t-\gamma^{t-1}\|^2", "a drawn device, with probability P/m, has "
             "h_k^t = ∇L_k(θ^{t−1}); the others keep theirs", drawn,
             Combination(facts=((1 + z, selected(square(new_errors), square(change), square(errors), part)),)),
             place=place),
        Step(r"\le \tfrac{2m}{2m-P}\left(\left(1-\tfrac Pm\right)+2\tfrac Pm\tfrac{L^2}{\alpha^2}\right)B_{t-1}"
             r"+2\tfrac Pm\tfrac{L^2}{\alpha^2}\tfrac{2m}{2m-P}E\|\nabla\ell(\gamma^{t-1})\|^2"
             r"+\tfrac{2m}PL^2E\|\gamma^t-\gamma^{t-1}\|^2", "Lemma 21", by_lemma21,
             Combination(facts=(((1 + z) * part, conclusion(feddyn.lemma21).fact),
                                (-(1 + z) * (1 - part), is_error))), place=place),
        *third,
        Step(r"B_t \le \tfrac{2m}{2m-P}\left(1+\tfrac Pm\left(\tfrac{2L^2}{\alpha^2}-1\right)\right)B_{t-1}"
             r"+\tfrac{L^2}{\alpha^2}\tfrac{4P}{2m-P}E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac{2m}PL^2\epsilon_t",
             "Lemma 3", lemma,
             Combination(facts=(*chained(meaning, split, smoothed, drawn, by_lemma21),
                                (rest / move, third[-1].claim.fact))), place="Lemma 20"),
    ))  # fmt: skip


@proves(feddyn.equation19)
@measured
def equation19(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    third = lemma3_for_one_gradient(domain)
    moved, slope = next_average - average, L / 2 * move
    descent = Relation(loss_next - loss, "<=", inner(gradient, moved) + slope, domain, "(19), by Eq. 4")
    expected_move = Relation(descent.right, "=", inner(gradient, -mean(new_gradients)) / alpha + slope, domain,
                          "(19), by Lemma 13")  # fmt: skip
    half = 1 / (2 * alpha)
    completed = Relation(expected_move.right, "<=", half * (square(mean(change)) - square(gradient)) + slope, domain,
                      "(19), completed")  # fmt: skip
    jensen = Relation(completed.right, "<=", half * (square(change) - square(gradient)) + slope, domain, "(19), Jensen")
    ratio = L**2 / alpha**3
    line = ratio * B - (half - ratio) * gradient_square + slope
    by_lemma21 = Relation(jensen.right, "<=", line, domain, "(19), by Lemma 21")
    last = Relation(loss_next - loss, "<=", symbolic(statement.calculator), domain, "equation (19)")
    place = "before (19)"
    return Proof((
        Step(r"E[\ell(\gamma^t)]-E[\ell(\gamma^{t-1})] \le E\langle\nabla\ell(\gamma^{t-1}),\gamma^t-\gamma^{t"
             r"-1}\rangle"
             r"+\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2", "Eq. 4 for ℓ", descent,
             Combination(facts=((1, smooth(loss_next, loss, gradient, moved, L)), (-L / 2, is_move))), place=place),
        Step(r"= \tfrac1\alpha E\langle\nabla\ell(\gamma^{t-1}),\tfrac1m\sum_k-\nabla L_k(\theta^{t-1})\rangle"
             r"+\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2", "Lemma 13", expected_move, Identity(), place=place),
        Step(r"\le \tfrac1{2\alpha}E\big\|\tfrac1m\sum_k(\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t-1}))\big\|^2"
             r"-\tfrac1{2\alpha}E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2",
             "⟨a, b⟩ ≤ ½‖b + a‖² − ½‖a‖²", completed, Combination(squares=((half, mean(new_gradients)),)),
             place=place),
        Step(r"\le \tfrac1{2\alpha}\tfrac1m\sum_k E\|\nabla L_k(\theta^{t-1})-\nabla L_k(\gamma^{t-1})\|^2"
             r"-\tfrac1{2\alpha}E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2",
             "Jensen's inequality", jensen, Combination(squares=((half, deviation(change)),)), place=place),
        Step(r"\le \tfrac{L^2}{\alpha^3}B_{t-1}-\left(\tfrac1{2\alpha}-\tfrac{L^2}{\alpha^3}\right)"
             r"E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac L2E\|\gamma^t-\gamma^{t-1}\|^2", "Lemma 21", by_lemma21,
             Combination(facts=((half, conclusion(feddyn.lemma21).fact), (half, is_gradient_square))), place=place),
        *third,
        Step(r"\le \tfrac{L^2}{\alpha^3}B_{t-1}-\left(\tfrac1{2\alpha}-\tfrac{L^2}{\alpha^3}\right)"
             r"E\|\nabla\ell(\gamma^{t-1})\|^2+\tfrac L2\epsilon_t", "Lemma 3", last,
             Combination(facts=(*chained(descent, expected_move, completed, jensen, by_lemma21),
                                (L / 2, third[-1].claim.fact))), place="(19)"),
    ))  # fmt: skip
