"""FedSplit: Theorem 1, which is (16), and its form for every stepsize.

A round maps z to (2prox − I)(2z̄ − z), z̄ being the mean: first the reflection z ↦ 2z̄ − z, an isometry of the space of
the clients' families, then each client's reflected proximal step, which contracts distances by ρ. All vectors are
differences to the fixed point z_j* = x* − s∇f_j(x*). Norms of families are root mean squares over the clients, that is
norms over all clients divided by √m.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import (
    Fact,
    averaged,
    decayed,
    iterated,
    prox_error,
    root_of,
    triangle,
)
from fedconvex.proofs_checks.engines.hilbert import (
    centred,
    deviation,
    family,
    inner,
    length,
    mean,
    norm,
    square,
    vector,
)
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.fedsplit import tightness
from fedconvex.proofs_checks.fedsplit.interpolation import AssumedCurvature, difference, gradients, interpolation
from fedconvex.proofs_checks.fedsplit.notation import (
    BEST,
    IN_ROOTS,
    SYMBOLS,
    accuracy,
    b,
    in_roots,
    q,
    r,
    rho,
    s,
    server_distance,
    shrunk,
    smooth_constant,
    stacked,
    strong,
    symbolic,
    t,
    with_largest,
    with_logarithm,
    with_power,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

now, after, exactly, last = (length(name) for name in ("z−z*", "z⁺−z*", "z_exact⁺−z*", "z^(t+1)−z*"))
errors = length("2(prox_update−prox)")
server = vector("x^(t+1)−x*")
apart, prox, missed = family("z_j−z_j*"), family("prox−x*"), family("prox_update−prox")
latest = centred("z^(t+1)−z*")


def fixed_point() -> Step:
    """x* − s∇f_j(x*) is a fixed point of a round, and its mean is the minimiser x*."""
    optimum = vector("x*")
    at_optimum = centred("∇f(x*)")
    resting = optimum - s * at_optimum
    return Step(r"2x^*-z_j^* = x^*+s\nabla f_j(x^*),\quad z_j^* := x^*-s\nabla f_j(x^*)",
                "z* is a fixed point with mean x*, since prox_{sf_j}(x* + s∇f_j(x*)) = x* and Σ∇f_j(x*) = 0",
                Relation(2 * mean(resting) - resting, "=", optimum + s * at_optimum), Identity())  # fmt: skip


def one_round(known: Fact, domain: Domain) -> tuple[Step, ...]:
    """‖z⁺ − z*‖ ≤ ρ‖z − z*‖ + 2b (root mean squares), from the inequality at two points (`interpolation`).

    With p = prox(v), g the gradient at p, and v = p + sg, the reflected proximal step 2p − v is p − sg.
    """
    reflected = Relation(square(difference - s * gradients), "<=", rho**2 * square(difference + s * gradients), domain,
                      "a reflected proximal step")  # fmt: skip
    about = 2 * mean(apart) - apart  # of which the proximal point is taken, minus the same of z*
    slopes = (about - prox) / s
    everyone = averaged(reflected.fact, {
        square(difference): square(prox), square(gradients): square(slopes),
        inner(difference, gradients): inner(prox, slopes),
    })  # fmt: skip
    exact = Relation(square(2 * prox - about), "<=", rho**2 * square(apart), domain, "an exact round, squared")
    lengths = Relation(exactly, "<=", rho * now, domain, "an exact round")
    doubled = Relation(errors, "<=", 2 * b, domain, "the errors")
    inexact = Relation(after, "<=", rho * now + 2 * b, domain, "a round")
    return (
        Step(r"\|p-p^*-s(g-g^*)\| \le \rho\|p-p^*+s(g-g^*)\|",
             "p and p* are the proximal points of p + sg and p* + sg*, and 2p − (p + sg) is p − sg", reflected,
             Combination(facts=((1 - rho**2, known),))),
        Step(r"\|2\bar z-z\| = \|z\|", "the mean is an orthogonal projection, so this is a reflection",
             Relation(square(about), "=", square(apart)), Identity()),
        Step(r"\textstyle\sum_j\|z_j^+-z_j^*\|^2 \le \rho^2\sum_j\|z_j-z_j^*\|^2",
             "with exact steps, z⁺ is the reflected proximal step at 2z̄ − z; averaged over the clients", exact,
             Combination(facts=((1, everyone),))),
        Step(r"\|z^+-z^*\| \le \rho\|z-z^*\|", "the roots", lengths,
             Combination(facts=((1, exact.fact), (rho**2, root_of(now, square(apart))),
                                (-1, root_of(exactly, square(2 * prox - about)))), squared=True)),
        Step(r"\textstyle(\sum_j\|2(\mathrm{prox\_update}_j-\mathrm{prox}_{sf_j})\|^2)^{1/2} \le 2\sqrt m\,b",
             "(15), for every client", doubled,
             Combination(facts=((4, prox_error(missed, b)), (-1, root_of(errors, square(2 * missed)))), squared=True)),
        Step(r"\|z^+-z^*\| \le \rho\|z-z^*\|+2\sqrt m\,b", "the errors are doubled in the centering step", inexact,
             Combination(facts=((1, triangle(
                 (after, 2 * prox - about + 2 * missed), (exactly, 2 * prox - about), (errors, 2 * missed))),
                                (1, lengths.fact), (1, doubled.fact)))),
    )  # fmt: skip


def many_rounds(known: Fact, domain: Domain = BEST) -> tuple[Step, ...]:
    """‖x^(t+1) − x*‖ ≤ ρ^t ‖z^(1) − z*‖/√m + (q + 1)(1 − ρ^t)b, by iterating `one_round`."""
    steps = one_round(known, domain)
    factor = Relation(0, "<=", rho, domain, "the factor is not negative")
    total = stacked / r * shrunk + (q + 1) * (1 - shrunk) * b
    summed = Relation(last, "<=", total, domain, "t rounds")
    mean_part = Relation(norm(server), "<=", last, domain, "the server's point")
    family_ = mean(server) + latest
    geometric = iterated(steps[-1].claim.fact, factor.fact, after, now, stacked / r, last, shrunk)
    return (
        *steps,
        Step(r"0 \le \rho", "κ ≥ 1", factor, Inequality()),
        Step(r"\tfrac1{\sqrt m}\|z^{(t+1)}-z^*\| \le \rho^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}"
             r"+\tfrac{2b(1-\rho^t)}{1-\rho}", "a geometric sum, 2/(1 − ρ) = √κ + 1", summed,
             Combination(facts=((1, geometric),))),
        Step(r"\|x^{(t+1)}-x^*\| \le \tfrac1{\sqrt m}\|z^{(t+1)}-z^*\|", "a mean is no longer than the family",
             mean_part, Combination(facts=((1, root_of(last, square(family_))),), squares=((1, deviation(family_)),),
                                    squared=True)),
        Step(r"\|x^{(t+1)}-x^*\| \le \rho^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}+(\sqrt\kappa+1)(1-\rho^t)b",
             "both together", Relation(server_distance, "<=", total, domain, "the server's point after t rounds"),
             Combination(facts=((1, mean_part.fact), (1, summed.fact)))),
    )  # fmt: skip


def distance(statement: Statement) -> tuple[Step, ...]:
    """All steps of Theorem 1; the last one is its bound."""
    bound = with_power(in_roots(symbolic(statement.calculator)), rho, t, shrunk)
    two_points = interpolation()
    rounds = many_rounds(two_points[-1].claim.fact)
    loss = Relation(0, "<=", (q + 1) * shrunk * b, BEST, "what the sum has not reached")
    stepsize = fedsplit.optimal_stepsize.formula(mu=strong, L=smooth_constant)
    return (
        Step(r"s = 1/\sqrt{\ell_*L^*},\quad \ell_* = \tfrac1{s\sqrt\kappa},\quad L^* = \tfrac{\sqrt\kappa}s",
             "what the stepsize makes of the constants", Relation(stepsize, "=", s), Identity()),
        fixed_point(),
        *two_points,
        *rounds,
        Step(r"0 \le (\sqrt\kappa+1)\rho^t b", "what the bound gives away before the floor is reached", loss,
             Inequality()),
        Step(r"\|x^{(t+1)}-x^*\| \le \left(1-\tfrac2{\sqrt\kappa+1}\right)^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}"
             r"+(\sqrt\kappa+1)b", "the sum, and what it has not reached",
             Relation(server_distance, "<=", bound, BEST, "equation (16)"),
             Combination(facts=((1, rounds[-1].claim.fact), (1, loss.fact))), place="(16)"),
    )  # fmt: skip


NOTES = (
    "‖z^(1) − z*‖ depends on the clients' gradients at x*: z_j* = x* − s∇f_j(x*). The bound holds for every stepsize "
    "with κ replaced by max(1/(sℓ_*), sL^*)² (Theorem 1, sharper)."
)
ATTAINED = (
    "b = 0: any number of equal clients, f(x) = (ℓx₁² + Lx₂²)/2, from (1, 0): every round multiplies the distance by "
    "1 − 2/(√κ + 1), for all κ and t. With b > 0 the bound is approached as t → ∞, by errors that all point away."
)


@proves(fedsplit.equation16)
def equation16(statement: Statement) -> Proof:
    return Proof(distance(statement), notes=NOTES, vacuous="none: for κ = 1 the first term vanishes",
                 tightness=Tightness(tightness.distance, (2, 4, 1, 3), ATTAINED, attained=True),
                 written=IN_ROOTS)  # fmt: skip


@proves(fedsplit.theorem1)
def theorem1(statement: Statement) -> Proof:
    """With the iterations to accuracy ε that the paper concludes from it, for b = 0."""
    steps = distance(statement)
    logarithm = sympy.Symbol("log(Z/(ε√m))", nonnegative=True)
    ratio = stacked / (accuracy * r)
    rounds = with_logarithm(in_roots(symbolic(fedsplit.approximate_iterations)), ratio, logarithm)
    enough = Relation(logarithm / (1 - rho), "<=", rounds, BEST, "rounds to an accuracy")
    away = BEST & sympy.Gt(stacked, 0, evaluate=False)
    reached = Relation(server_distance, "<=", accuracy + (q + 1) * b, away, "an accuracy is reached")
    small = decayed(enough.fact, rounds, logarithm, 1 / ratio, rho, shrunk)
    iterations = (
        Step(r"\tfrac{\sqrt\kappa+1}2\log\tfrac{\|z^{(1)}-z^*\|}{\varepsilon\sqrt m} \le "
             r"\sqrt\kappa\log\tfrac{\|z^{(1)}-z^*\|}{\varepsilon\sqrt m}",
             "κ ≥ 1; where the logarithm is negative the start is near enough", enough, Inequality(),
             role=Role.PRINTED),
        Step(r"\|x^{(T+1)}-x^*\| \le \varepsilon+(\sqrt\kappa+1)b\quad\text{for } T \ge 1\cdot\sqrt\kappa\,"
             r"\log\tfrac{\|z^{(1)}-z^*\|}{\varepsilon\sqrt m}", "ρ^T ≤ exp(−T(1 − ρ)): the constant in O(1) is "
             "1; the paper has b = 0", reached,
             Combination(facts=((1, steps[-1].claim.fact), (stacked / r, small))), place="after (16)",
             role=Role.PRINTED),
    )  # fmt: skip
    return Proof((*steps, *iterations), notes=NOTES, vacuous="none: for κ = 1 the first term vanishes",
                 tightness=Tightness(tightness.distance, (2, 4, 1, 3), ATTAINED, attained=True),
                 written=IN_ROOTS)  # fmt: skip


ORDERED = sympy.Le(SYMBOLS["mu"], SYMBOLS["L"], evaluate=False)
EXTREMAL = (  # s, ℓ_*, L^*, √m, t, b
    (1, 4, 9, 2, 3, 1), ("1/9", 1, 9, 1, 2, "1/2"), ("1/2", 1, 4, 3, 4, 0), (1, "1/9", 9, 2, 1, 2), (2, 3, 3, 1, 3, 1),
)  # fmt: skip


@proves(fedsplit.theorem1sharper)
def any_stepsize(statement: Statement) -> Proof:
    formula = in_roots(symbolic(statement.calculator))
    bound, above = with_largest(formula)
    bound = with_power(bound, rho, t, shrunk)
    curvature = AssumedCurvature(SYMBOLS["mu"], SYMBOLS["L"], conditions=above & ORDERED)
    two_points = interpolation(curvature)
    rounds = many_rounds(two_points[-1].claim.fact, curvature.domain)
    at_least_one = Relation(1, "<=", q, above & ORDERED, "q is at least 1")
    steps = (
        Step(r"1 \le q", "q² ≥ L^*/ℓ_*", at_least_one, Inequality()),
        fixed_point(),
        *two_points,
        *rounds,
        Step(r"\|x^{(t+1)}-x^*\| \le \delta^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}+(q+1)(1-\delta^t)b",
             "the geometric sum", Relation(server_distance, "<=", bound, curvature.domain, "Theorem 1, sharper"),
             Combination(facts=((1, rounds[-1].claim.fact),))),
        Step(r"\|x^{(t+1)}-x^*\| = \delta^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}+(q+1)(1-\delta^t)b",
             "attained: equal clients with the curvature that determines q, errors that point away from x*",
             Relation(server_distance, "=", bound, curvature.domain, "attained"),
             Agreement(lambda number: tightness.with_errors(statement.calculator.formula, EXTREMAL[number]),
                       instances=len(EXTREMAL))),
    )  # fmt: skip
    how = (
        "Equal clients with the curvature at the end that determines q, and errors b that all point away from x*: "
        "equality for all s, ℓ_*, L^*, m, t and b."
    )
    return Proof(steps, tightness=Tightness(tightness.distance_any_stepsize, (1, 4, 3, 2, 2, 1), how, attained=True))
