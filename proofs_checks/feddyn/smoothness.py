"""FedDyn, equations (4) to (6), (11) and Lemma 6: inequalities for smooth (strongly) convex functions and vectors."""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import convex, smooth
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, deviation, family, inner, mean, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.notation import (
    SYMBOLS,
    L,
    at_minimiser,
    average,
    gap,
    gradients,
    least,
    loss,
    minimiser,
    mu,
    sides,
    symbolic,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

at_x, at_y, at_z, at_shifted = sympy.symbols("L_k(x) L_k(y) L_k(z) L_k(x−(g−g*)/L)", real=True)
gradient_x = vector("∇L_k(x)")
to_y, to_z = vector("y−x"), vector("z−x")


@proves(feddyn.equation4)
def below_the_quadratic(statement: Statement) -> Proof:
    bound = symbolic(statement.calculator, value=at_x, inner=inner(gradient_x, to_y), square=square(to_y))
    return Proof((
        Step(r"L_k(y) \le L_k(x) + \langle\nabla L_k(x),y-x\rangle + \tfrac L2\|y-x\|^2",
             "the descent lemma: the gradient is L-Lipschitz (Definition 1)",
             Relation(at_y, "<=", bound, Domain.of(statement)),
             Combination(facts=((1, smooth(at_y, at_x, gradient_x, to_y, L)),)), place="(4)"),
    ), tightness=tightness(statement))  # fmt: skip


def cocoercive(domain: Domain, place: str = "") -> Step:
    """(1/(2Lm))Σ‖∇L_k(γ) − ∇L_k(θ_*)‖² ≤ ℓ(γ) − ℓ(θ_*), from two quadratic bounds at one auxiliary point per device.

    The point is γ − (∇L_k(γ) − ∇L_k(θ_*))/L, where the upper bound at γ minus the tangent at θ_* is smallest.
    """
    # `least` and `loss` are means of the L_k(θ_*) and L_k(γ): every line is one for the mean over the devices.
    apart = gradients - at_minimiser
    down = -apart / L
    facts = (
        (1, convex(at_shifted, least, at_minimiser, average + down - minimiser)),
        (1, smooth(at_shifted, loss, gradients, down, L)),
    )
    return Step(r"\tfrac1{2Lm}\sum_k\|\nabla L_k(x)-\nabla L_k(x_*)\|^2 \le \ell(x)-\ell(x_*)",
                "every L_k at x − (∇L_k(x) − ∇L_k(x_*))/L, from below by its tangent at x_*, from above by its "
                "quadratic at x; the gradients at x_* have mean 0",
                Relation(square(apart) / (2 * L), "<=", gap, domain, "equation (5)"), Combination(facts=facts),
                place=place)  # fmt: skip


@proves(feddyn.equation5)
def gradients_differ_little(statement: Statement) -> Proof:
    derived = cocoercive(Domain.of(statement))
    left, right = sides(statement, mean_square=square(gradients - at_minimiser), gap=gap)
    return Proof((
        Step(derived.shown, derived.because,
        Relation(left, "<=", right, Domain.of(statement)), derived.by, place="(5)"),
    ), tightness=tightness(statement))  # fmt: skip


def through_three_points(
    gradient: HilbertVector,
    to_y: HilbertVector,
    to_z: HilbertVector,
    value_x: Any,
    value_y: Any,
    value_z: Any,
    strong: Any = 0,
) -> Combination:
    """(6), and (11) with `strong` = μ: L_k(y) is at least its tangent at x, L_k(z) at most its quadratic at x."""
    return Combination(
        facts=((1, convex(value_y, value_x, gradient, to_y, strong)), (1, smooth(value_z, value_x, gradient, to_z, L)))
    )


@proves(feddyn.equation6)
def three_points(statement: Statement) -> Proof:
    bound = symbolic(statement.calculator, value_z=at_z, value_y=at_y, square=square(to_z))
    return Proof((
        Step(r"-\langle\nabla L_k(x),z-y\rangle \le -L_k(z)+L_k(y)+\tfrac L2\|z-x\|^2",
             "convexity between x and y, (4) between x and z",
             Relation(-inner(gradient_x, to_z - to_y), "<=", bound, Domain.of(statement)),
             through_three_points(gradient_x, to_y, to_z, at_x, at_y, at_z), place="(6)"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.equation11)
def three_points_strongly(statement: Statement) -> Proof:
    bound = symbolic(
        statement.calculator, value_z=at_z, value_y=at_y, square=square(to_z), separation=square(to_y)
    )  # fmt: skip
    return Proof((
        Step(r"-\langle\nabla L_k(x),z-y\rangle \le -L_k(z)+L_k(y)+\tfrac L2\|z-x\|^2-\tfrac\mu2\|x-y\|^2",
             "strong convexity between x and y, (4) between x and z",
             Relation(-inner(gradient_x, to_z - to_y), "<=", bound, Domain.of(statement)),
             through_three_points(gradient_x, to_y, to_z, at_x, at_y, at_z, mu), place="(11)"),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.lemma6)
def sum_of_vectors(statement: Statement) -> Proof:
    """n vectors with equal weights are a family (`engines.hilbert`), whose mean is 1/n of their sum."""
    n = SYMBOLS["count"]
    v = family("v_j")
    jensen = Relation(square(mean(v)), "<=", square(v), Domain.of(statement), "Jensen")
    bound = symbolic(statement.calculator, total=n * square(v))
    return Proof((
        Step(r"\Big\|\tfrac1n\sum_{j=1}^n v_j\Big\|^2 \le \tfrac1n\sum_{j=1}^n\|v_j\|^2",
             "Jensen: the difference is the mean of the squared deviations", jensen,
             Combination(squares=((1, deviation(v)),)), place="proof of Lemma 6"),
        Step(r"\Big\|\sum_{j=1}^n v_j\Big\|^2 \le n\sum_{j=1}^n\|v_j\|^2", "multiplied by n²",
             Relation(square(n * mean(v)), "<=", bound, Domain.of(statement)),
             Combination(facts=((n**2, jensen.fact),)), place="Lemma 6"),
    ), tightness=tightness(statement))  # fmt: skip
