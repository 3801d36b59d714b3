"""FedDyn, smooth devices: sharper forms of Lemmas 10 to 12 and Theorem 4, which are not in the paper."""

import sympy

from fedconvex.proofs_checks.builders import positive
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import called, lipschitz, named, selected
from fedconvex.proofs_checks.engines.hilbert import centred, deviation, family, mean, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.nonconvex_lemmas import (
    C,
    C_next,
    apart,
    epsilon,
    is_apart,
    is_epsilon,
    is_gradient_square,
    is_move,
    new_change,
    old_change,
    weight_of_young,
)
from fedconvex.proofs_checks.feddyn.nonconvex_rates import end_of_run, errors_summed, lemma3_in_symbols, scaled_lemmas
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import measured
from fedconvex.proofs_checks.feddyn.notation import (
    SCALE,
    L,
    P,
    T,
    alpha,
    average,
    gradient,
    m,
    next_average,
    sides,
    symbolic,
    virtual,
)
from fedconvex.proofs_checks.feddyn.run_sums import slopes
from fedconvex.proofs_checks.feddyn.sums_of_squares import young
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn


@proves(feddyn.lemma10assummed)
@measured
def lemma10_as_summed(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    left, right = sides(statement)
    third = lemma3_in_symbols(domain)
    return Proof((
        third,
        Step(r"E\ell(\gamma^t)+\kappa C_t \le E\ell(\gamma^{t-1})+\kappa C_{t-1}"
             r"-\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2", "(14), and Lemmas 12, 3 and 11 scaled with z₀, z₁ and z₂",
             Relation(left, "<=", right, domain, "Lemma 10, as summed"), Combination(facts=scaled_lemmas(third))),
    ))  # fmt: skip


@proves(feddyn.lemma11sharper)
@measured
def lemma11_sharper(statement: Statement) -> Proof:
    """Young's inequality with L/(α − L) between the stored gradients' errors and ∇ℓ, and the change of gradients."""
    domain = Domain.of(statement)
    left, right = sides(statement)
    errors, scale = deviation(old_change) - gradient, (alpha - L) / alpha
    squares = tuple((scale * weight, v) for weight, v in young(L / (alpha - L), errors, -new_change))
    return Proof((
        Step(r"(\alpha-L)^2\epsilon_t \le L^2C_{t-1}+E\|\nabla\ell(\gamma^{t-1})\|^2", "α(θ̃_k^t − γ^{t−1}) is the "
                                                                                       "stored "
             "gradients' error beyond its mean, less ∇ℓ, which is orthogonal to it, less a change of gradients that "
             "is at most L times θ̃_k^t − γ^{t−1}", Relation(left, "<=", right, domain, "Lemma 11, sharper"),
             Combination(facts=((1, lipschitz(old_change, apart, L)),
                                ((alpha - L) / L, lipschitz(new_change, virtual - average, L)),
                                (-L**2, is_apart), (-1, is_gradient_square), ((alpha - L) ** 2, is_epsilon)),
                         squares=(*squares, (1, mean(old_change))))),
    ))  # fmt: skip


@proves(feddyn.lemma12sharper)
@measured
def lemma12_sharper(statement: Statement) -> Proof:
    """The devices that take part are one family, with mean γ^t; those that do not are another.

    `selected` with share 1 states that the mean square of each family is the known one (ε_t, C_{t−1}).
    """
    domain = Domain.of(statement)
    z = weight_of_young
    moved = vector("γ^t−γ^{t−1}")
    on, off = moved + centred("θ̃_k^t−γ^t (k∈P_t)"), family("θ_k^{t−1}−γ^{t−1} (k∉P_t)")
    after = P / m * square(on - moved) + (1 - P / m) * square(off - moved)
    # The coefficient of −E‖γ^t − γ^{t−1}‖²: gained from the active devices, lost to Young's inequality for the others.
    moves = P / m - (1 - P / m) * (1 + 1 / z)
    right = symbolic(statement.calculator)
    facts = (
        (P / m, selected(square(on), epsilon, sympy.Integer(0), sympy.Integer(1))),
        ((1 - P / m) * (1 + z), selected(square(off), C, sympy.Integer(0), sympy.Integer(1))),
        (1, named(C_next, after)),
        (moves, is_move),
        (-moves, called(moved, next_average - average)),
    )
    squares = tuple(((1 - P / m) * weight, v) for weight, v in young(z, off, -moved))
    return Proof((
        Step(r"C_t \le \tfrac{2(m-P)}{2m-P}C_{t-1}+\tfrac Pm\epsilon_t"
             r"+\Big(\tfrac{2(m-P)}P-\tfrac Pm\Big)E\|\gamma^t-\gamma^{t-1}\|^2",
             "γ^t is the mean of the devices that take part: their squared distances to it are less by "
             "‖γ^t − γ^{t−1}‖². For the others, Young's inequality with P/(2m − P)",
             Relation(C_next, "<=", right, domain, "Lemma 12, sharper"), Combination(facts=facts, squares=squares)),
    ))  # fmt: skip


@proves(feddyn.lemma10sharper)
@measured
def lemma10_sharper(statement: Statement) -> Proof:
    domain, c = Domain.of(statement) & SCALE, symbolic(feddyn.sharper_nonconvex_constants)
    third = lemma3_in_symbols(domain)
    left, right = sides(statement)
    moves = sympy.cancel(L / 2 + c.kappa * (2 * (m - P) / P - P / m))
    # The multiplier of Lemma 11 for which ε_t cancels.
    excess = sympy.cancel((L / 2 + L**2 / (2 * alpha) + c.kappa * 2 * (m - P) / P) / (alpha - L) ** 2)
    return Proof((
        third,
        Step(r"E\ell(\gamma^t)+\kappa C_t \le E\ell(\gamma^{t-1})+\kappa C_{t-1}"
             r"-\kappa_0E\|\nabla\ell(\gamma^{t-1})\|^2", "(14), Lemma 3, and the sharper Lemmas 11 and 12, scaled",
             Relation(left, "<=", right, domain, "Lemma 10, sharper"),
             Combination(facts=((1, conclusion(feddyn.equation14).fact),
                                (c.kappa, conclusion(feddyn.lemma12sharper).fact), (moves, third.claim.fact),
                                (excess, conclusion(feddyn.lemma11sharper).fact)))),
    ))  # fmt: skip


@proves(feddyn.theorem4sharper)
@measured
def theorem4_sharper(statement: Statement) -> Proof:
    domain, c = Domain.of(statement) & SCALE, symbolic(feddyn.sharper_nonconvex_constants)
    telescoped = errors_summed(conclusion(feddyn.lemma10sharper).fact)
    weight = 1 / (c.kappa0 * T)
    end, squares = end_of_run(weight, c.kappa)
    bound = symbolic(statement.calculator)
    return Proof((
        positive(r"\kappa_0 > 0", "α ≥ 4L m/P", c.kappa0, Domain.of(statement), name="κ₀, sharper"),
        Step(r"E\Big[\tfrac1T\sum_{t=1}^T\|\nabla\ell(\gamma^{t-1})\|^2\Big] \le \tfrac1T\tfrac1{\kappa_0}"
             r"\Big(\ell(\theta^0)-\ell_*+\kappa\tfrac1m\sum_k\|\theta_k^0-\theta^0\|^2\Big)",
             "the sharper Lemma 10, summed; γ⁰ = θ⁰; what is left at T is not negative",
             Relation(slopes / T, "<=", bound, domain, "Theorem 4, sharper"),
             Combination(facts=((weight, telescoped), *end), squares=squares)),
    ))  # fmt: skip
