"""FedDyn, convex devices: the lemmas about one round that Theorems 2 and 3 rest on (Lemmas 2 to 5 and 7).

Equation (10) and Lemma 1, which add them up, are in `convex_round`.
"""

import sympy

from fedconvex.proofs_checks.builders import chained
from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import lipschitz, selected
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, deviation, drawn, expected, mean, square, vector
from fedconvex.proofs_checks.engines.sampling import Moments, second_moment
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.exact_runs import errors_of_the_start
from fedconvex.proofs_checks.feddyn.expectations import C_meant as C
from fedconvex.proofs_checks.feddyn.expectations import C_next, definitions
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    SCHEME,
    L,
    P,
    alpha,
    at_minimiser,
    average,
    epsilon,
    gap,
    gradients,
    h,
    m,
    move,
    new_gradients,
    next_average,
    next_h,
    next_server,
    old_gradients,
    scale,
    server,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn


def invariants() -> tuple[Step, ...]:
    """h^t is the mean of the stored gradients, by induction over the rounds, and γ^t = θ^t + h^t/α.

    Each lemma that uses one of the two facts repeats these steps: h is defined as that mean in `notation`, and here is
    why the algorithm keeps it so.
    """
    stored_next = mean(old_gradients) + P / m * drawn(new_gradients - old_gradients, scale)
    return (
        Step(r"h^0 = \tfrac1m\sum_k\nabla L_k(\theta_k^0) = 0",
             "the algorithm's input ∇L_k(θ_k⁰) = 0; it does not say h⁰, which is 0 in the running code",
             Relation(vector("h⁰"), "=", HilbertVector(), name="h⁰"), Agreement(errors_of_the_start),
             place="after (9)"),
        Step(r"h^t = h^{t-1}-\tfrac\alpha m\sum_{k\in P_t}(\theta_k^t-\theta^{t-1})"
             r" = \tfrac1m\sum_k\nabla L_k(\theta_k^t)",
             "induction: the drawn devices replace their gradients, and θ_k^t − θ^{t−1} is given by (8)",
             Relation(next_h, "=", stored_next, name="h^t"), Identity(), place="after (9)"),
        Step(r"\gamma^t = \theta^t+\tfrac1\alpha h^t", "how the algorithm sets θ^t",
             Relation(next_average, "=", next_server + next_h / alpha), Identity(), place="(9)"),
    )  # fmt: skip


@proves(feddyn.lemma2)
def expected_move(statement: Statement) -> Proof:
    # The same average in three forms: of models, of gradients, and over all devices.
    moved = drawn(virtual - server, scale) - h / alpha
    in_gradients = drawn(old_gradients - new_gradients - h, scale) / alpha
    over_all = mean(old_gradients - new_gradients - h) / alpha
    right = symbolic(statement.calculator, mean_gradient=mean(new_gradients))
    return Proof((
        *invariants(),
        Step(r"E[\gamma^t-\gamma^{t-1}] = E\Big[\tfrac1P\sum_{k\in P_t}\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}"
             r"\Big] = E\Big[\tfrac1P\sum_{k\in P_t}\big(\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}\big)\Big]",
             "(9), before and after the round", Relation(next_average - average, "=", moved), Identity(),
             place="proof of Lemma 2, first and second equation"),
        Step(r"\dots = E\Big[\tfrac1{\alpha P}\sum_{k\in P_t}(\nabla L_k(\theta_k^{t-1})-\nabla L_k(\tilde\theta_k^t)"
             r"-h^{t-1})\Big]", "(8), and θ̃_k^t = θ_k^t for the drawn devices", Relation(moved, "=", in_gradients),
             Identity(), place="proof of Lemma 2, third and fourth equation"),
        Step(r"\dots = E\Big[\tfrac1{\alpha m}\sum_{k\in[m]}(\nabla L_k(\theta_k^{t-1})-\nabla L_k(\tilde\theta_k^t)"
             r"-h^{t-1})\Big]", "every device is drawn with probability P/m",
             Relation(expected(in_gradients), "=", over_all), Identity(), place="proof of Lemma 2, fifth equation"),
        Step(r"\dots = \tfrac1{\alpha m}\sum_{k\in[m]}E[-\nabla L_k(\tilde\theta_k^t)]",
             "h^{t−1} is the mean of the stored gradients", Relation(expected(next_average - average), "=", right),
             Identity(), place="Lemma 2"),
    ))  # fmt: skip


def moments_of_the_draw(u: HilbertVector) -> tuple[Step, ...]:
    """The mean square of the drawn devices' average, and that the factor σ in it is in [0, 1] for m ≥ 2."""
    several = Domain((sympy.Ge(m, 2, evaluate=False), sympy.Le(P, m, evaluate=False)))
    return (
        Step(r"E\big\|\tfrac1P\sum_{k\in P_t}u_k\big\|^2 = \|\bar u\|^2+\sigma\,\tfrac1m\sum_k\|u_k-\bar u\|^2,\quad"
             r"\sigma=\tfrac{m-P}{P(m-1)}", "all sets of P devices are equally likely",
             second_moment(u, u, SCHEME), Moments(SCHEME)),
        Step(r"0 \le \sigma", "P ≤ m", Relation(0, "<=", SCHEME.scale, several), Inequality()),
        Step(r"\sigma \le 1", "P ≥ 1", Relation(SCHEME.scale, "<=", 1, several), Inequality()),
    )  # fmt: skip


def average_over_the_drawn(point: HilbertVector, name: str, symbol: str, lemma: str) -> tuple[Step, ...]:
    """E‖γ^t − x‖² ≤ (1/m)Σ_k E‖θ̃_k^t − x‖², which Lemmas 3 and 9 state for x = γ^{t−1} and x = θ_*.

    The paper passes through Σ_{k∈P_t}‖θ_k^t − x‖², where the summands depend on the draw. `chosen` is the mean over
    the devices of 1[k ∈ P_t]‖θ_k^t − x‖², and the fact `selected` gives its expectation.
    """
    chosen = sympy.Symbol(f"(1/m)Σ_k E 1[k∈P_t]‖θ_k^t−{name}‖²", nonnegative=True)
    # The point is the same for all devices, so these vectors deviate from their mean as the θ̃_k^t do.
    away = virtual - point
    # A drawn device has its ‖θ_k^t − x‖² in the sum, any other 0.
    in_all = selected(chosen, square(away), 0, P / m)
    return (
        *moments_of_the_draw(away),
        Step(rf"E\|\gamma^t-{symbol}\|^2 = E\Big\|\tfrac1P\sum_{{k\in P_t}}(\theta_k^t-{symbol})\Big\|^2", "(9)",
             Relation(square(next_average - point), "=", square(drawn(away, scale)), SCALE), Identity(),
             place=f"proof of {lemma}, first equation"),
        Step(rf"\dots \le \tfrac1PE\Big[\sum_{{k\in P_t}}\|\theta_k^t-{symbol}\|^2\Big]"
             rf" = \tfrac1PE\Big[\sum_{{k\in P_t}}\|\tilde\theta_k^t-{symbol}\|^2\Big]",
             "Jensen; θ̃_k^t = θ_k^t for the drawn devices. The loss is exactly (1 − σ) times the squared deviations",
             Relation(square(next_average - point), "<=", m / P * chosen, SCALE, f"{lemma}, Jensen"),
             Combination(facts=((-m / P, in_all),), squares=((1 - scale, deviation(virtual)),)),
             place=f"proof of {lemma}, inequality and second equation"),
        Step(rf"\tfrac1PE\Big[\sum_{{k\in P_t}}\|\tilde\theta_k^t-{symbol}\|^2\Big]"
             rf" = \tfrac1P\tfrac Pm\sum_{{k\in[m]}}E\|\tilde\theta_k^t-{symbol}\|^2",
             "every device is drawn with probability P/m",
             Relation(m / P * chosen, "=", square(away), SCALE, f"{lemma}, expectation"),
             Combination(facts=((m / P, in_all),)),
             place=f"proof of {lemma}, third equation"),
    )  # fmt: skip


@proves(feddyn.lemma3)
def average_moves_little(statement: Statement) -> Proof:
    steps = average_over_the_drawn(average, "γ^{t−1}", r"\gamma^{t-1}", "Lemma 3")
    lemma = Relation(move, "<=", symbolic(statement.calculator, epsilon=epsilon), SCALE, "Lemma 3")
    return Proof((
        *steps,
        Step(r"E\|\gamma^t-\gamma^{t-1}\|^2 \le \epsilon_t", "the two together, and the definition of ε_t", lemma,
             Combination(facts=chained(*(step.claim for step in steps[-2:]))), place="Lemma 3"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma7)
def state_is_small(statement: Statement) -> Proof:
    """The lemma is about time t; the proof states it for the time t − 1 of `notation`, which is any time."""
    errors = old_gradients - at_minimiser
    bound = symbolic(statement.calculator, C_next=C)
    return Proof((
        *invariants(),
        Step(r"E\|h^t\|^2 = E\Big\|\tfrac1m\sum_k\nabla L_k(\theta_k^t)\Big\|^2"
             r" = E\Big\|\tfrac1m\sum_k(\nabla L_k(\theta_k^t)-\nabla L_k(\theta_*))\Big\|^2",
             "h^t is the mean of the stored gradients; ∇ℓ(θ_*) = 0", Relation(h, "=", mean(errors)), Identity(),
             place="proof of Lemma 7, first and second equation"),
        Step(r"\dots \le \tfrac1m\sum_kE\|\nabla L_k(\theta_k^t)-\nabla L_k(\theta_*)\|^2 = C_t",
             "Jensen: the difference is the mean of the squared deviations",
             Relation(square(h), "<=", bound, Domain.of(statement), "Lemma 7"),
             Combination(squares=((1, deviation(errors)),)), place="Lemma 7"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma4)
def devices_move_little(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    moved = virtual - server - h / alpha
    # Consecutive differences, which add up to ∇L_k(θ_k^{t−1}) − ∇L_k(θ̃_k^t) − h^{t−1}.
    parts = (old_gradients - at_minimiser, at_minimiser - gradients, gradients - new_gradients, -h)
    four, three = [4 / alpha**2 * sum(map(square, some)) for some in (parts, parts[:3])]
    apart = [(1 / alpha**2, u - v) for i, u in enumerate(parts) for v in parts[:i]]
    whole = sum(parts[1:], parts[0])
    split = Relation(epsilon, "<=", four, domain, "Lemma 4, four parts")
    with_C = Relation(epsilon, "<=", three + 4 / alpha**2 * C, domain, "Lemma 4, with C")
    # The lemma's right side before 4L²/α² · ε_t is moved to its left side.
    last = 8 / alpha**2 * C + 4 * L**2 / alpha**2 * epsilon + 8 * L / alpha**2 * gap
    bounded = Relation(epsilon, "<=", last, domain, "Lemma 4, before it is rearranged")
    left, right = sides(statement)
    lemma = Relation(left, "<=", right, domain, "Lemma 4")
    return Proof((
        Step(r"\epsilon_t = \tfrac1m\sum_kE\|\tilde\theta_k^t-\theta^{t-1}-\tfrac1\alpha h^{t-1}\|^2", "(9)",
             Relation(epsilon, "=", square(moved)), Identity(), place="proof of Lemma 4, second equation"),
        Step(r"\dots = \tfrac1{\alpha^2}\tfrac1m\sum_kE\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\tilde\theta_k^t)"
             r"-h^{t-1}\|^2", "(8)",
             Relation(square(moved), "=", square(old_gradients - new_gradients - h) / alpha**2), Identity(),
             place="proof of Lemma 4, third equation"),
        Step(r"\dots = \tfrac1{\alpha^2}\tfrac1m\sum_kE\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\theta_*)"
             r"+\nabla L_k(\theta_*)-\nabla L_k(\gamma^{t-1})+\nabla L_k(\gamma^{t-1})-\nabla L_k(\tilde\theta_k^t)"
             r"-h^{t-1}\|^2", "what is added is taken away",
             Relation(old_gradients - new_gradients - h, "=", whole), Identity(),
             place="proof of Lemma 4, fourth equation"),
        Step(r"\dots \le \tfrac4{\alpha^2}\tfrac1m\sum_kE\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\theta_*)\|^2"
             r"+\tfrac4{\alpha^2}\tfrac1m\sum_kE\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2"
             r"+\tfrac4{\alpha^2}\tfrac1m\sum_kE\|\nabla L_k(\tilde\theta_k^t)-\nabla L_k(\gamma^{t-1})\|^2"
             r"+\tfrac4{\alpha^2}E\|h^{t-1}\|^2", "Lemma 6 for four vectors: what is lost are the squared distances "
             "between every two of them", split, Combination(squares=tuple(apart)),
             place="proof of Lemma 4, first inequality"),
        Step(r"\dots \le \dots+\tfrac4{\alpha^2}C_{t-1}", "Lemma 7", with_C,
             Combination(facts=((1, split.fact), (4 / alpha**2, conclusion(feddyn.lemma7).fact))),
             place="proof of Lemma 4, second inequality"),
        Step(r"\dots \le \tfrac8{\alpha^2}C_{t-1}+\tfrac{4L^2}{\alpha^2}\epsilon_t"
             r"+\tfrac{8L}{\alpha^2}E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "smoothness and (5)", bounded,
             Combination(facts=(
                 (1, with_C.fact),
                 (4 / alpha**2, lipschitz(new_gradients - gradients, virtual - average, L)),
                 (8 * L / alpha**2, conclusion(feddyn.equation5).fact),
             )), place="proof of Lemma 4, third inequality"),
        Step(r"\Big(1-\tfrac{4L^2}{\alpha^2}\Big)\epsilon_t \le \tfrac8{\alpha^2}C_{t-1}"
             r"+\tfrac{8L}{\alpha^2}E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "rearranged", lemma,
             Combination(facts=((1, bounded.fact), *definitions(lemma))), place="Lemma 4"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma5)
def errors_shrink(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    part = P / m
    errors = new_gradients - at_minimiser
    on, off = new_gradients - gradients, gradients - at_minimiser
    in_round = Relation(C_next, "=", (1 - part) * C + part * square(errors), domain, "Lemma 5, who is drawn")
    split = Relation(C_next, "<=", (1 - part) * C + 2 * part * (square(on) + square(off)), domain, "Lemma 5, two parts")
    smoothed = Relation(C_next, "<=", (1 - part) * C + 2 * L**2 * part * epsilon + 2 * part * square(off), domain,
                     "Lemma 5, smoothness")  # fmt: skip
    lemma = Relation(C_next, "<=", symbolic(statement.calculator), domain, "Lemma 5")
    return Proof((
        Step(r"C_t = \big(1-\tfrac Pm\big)\tfrac1m\sum_kE\|\nabla L_k(\theta_k^{t-1})-\nabla L_k(\theta_*)\|^2"
             r"+\tfrac Pm\tfrac1m\sum_kE\|\nabla L_k(\tilde\theta_k^t)-\nabla L_k(\theta_*)\|^2",
             "every device is drawn with probability P/m, and else keeps its gradient", in_round,
             Combination(facts=((1, selected(C_next, square(errors), C, part)),)),
             place="proof of Lemma 5, first equation"),
        Step(r"\dots = \big(1-\tfrac Pm\big)C_{t-1}+\tfrac Pm\tfrac1m\sum_kE\|\nabla L_k(\tilde\theta_k^t)"
             r"-\nabla L_k(\gamma^{t-1})+\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2",
             "the definition of C_{t−1}; what is added is taken away", Relation(errors, "=", on + off), Identity(),
             place="proof of Lemma 5, second equation"),
        Step(r"\dots \le \big(1-\tfrac Pm\big)C_{t-1}+\tfrac{2P}m\tfrac1m\sum_kE\|\nabla L_k(\tilde\theta_k^t)"
             r"-\nabla L_k(\gamma^{t-1})\|^2+\tfrac{2P}m\tfrac1m\sum_kE\|\nabla L_k(\gamma^{t-1})"
             r"-\nabla L_k(\theta_*)\|^2", "Lemma 6 for two vectors", split,
             Combination(facts=((1, in_round.fact),), squares=((part, on - off),)),
             place="proof of Lemma 5, first inequality"),
        Step(r"\dots \le \big(1-\tfrac Pm\big)C_{t-1}+\tfrac{2L^2P}m\epsilon_t"
             r"+\tfrac{2P}m\tfrac1m\sum_kE\|\nabla L_k(\gamma^{t-1})-\nabla L_k(\theta_*)\|^2", "smoothness", smoothed,
             Combination(facts=((1, split.fact), (2 * part, lipschitz(on, virtual - average, L)))),
             place="proof of Lemma 5, second inequality"),
        Step(r"\dots \le \big(1-\tfrac Pm\big)C_{t-1}+\tfrac{2L^2P}m\epsilon_t"
             r"+\tfrac{4LP}mE[\ell(\gamma^{t-1})-\ell(\theta_*)]", "(5)", lemma,
             Combination(facts=((1, smoothed.fact), (4 * L * part, conclusion(feddyn.equation5).fact),
                                *definitions(lemma))),
             place="Lemma 5"),
    ), tightness=tightness(statement))  # fmt: skip
