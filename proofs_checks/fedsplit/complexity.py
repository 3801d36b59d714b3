"""FedSplit: (22), the rounds to F − F* ≤ ε of FedSplit and of gradient descent, with explicit constants.

ε is relative: to ½L^*‖z^(1) − z*‖² for FedSplit, to ½mL^*‖x^(1) − x*‖² for gradient descent. These are the largest
values of F(x) − F* at such distances from the minimiser. Both constants are then ½.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import decayed, iterated, root_of, smooth, specialised
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, centred, length, square, vector
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.fedsplit import tightness
from fedconvex.proofs_checks.fedsplit.contraction import fixed_point, many_rounds, server
from fedconvex.proofs_checks.fedsplit.interpolation import difference, gradients, interpolation
from fedconvex.proofs_checks.fedsplit.notation import (
    BEST,
    IN_ROOTS,
    SYMBOLS,
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
    with_logarithm,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit, nesterov

epsilon = sympy.Symbol("ε", positive=True)  # relative
logarithm = sympy.Symbol("log(1/ε)", nonnegative=True)
optimum = sympy.Symbol("F(x*)/m", real=True)
point = vector("x_GD^(t+1)−x*")
after, now, last, start = (length(name) for name in ("x⁺−x*", "x−y", "x_GD^(t+1)−x*", "x_GD^(1)−x*"))
decay = sympy.Symbol("ρ_GD^t", nonnegative=True)
rho_descent = (q**2 - 1) / (q**2 + 1)


def value_from_distance(name: str, step: HilbertVector) -> Step:
    """The descent lemma at x*: (F(x) − F*)/m ≤ ½L^*‖x − x*‖²."""
    here = sympy.Symbol(name, real=True)
    bent = smooth(here, optimum, centred("∇f(x*)"), step, smooth_constant)
    return Step(r"F(x^{(t+1)})-F^* \le \tfrac{mL^*}2\|x^{(t+1)}-x^*\|^2", "the descent lemma at x*; divided by m",
                Relation(here - optimum, "<=", smooth_constant / 2 * square(step), BEST, f"the gap: {name}"),
                Combination(facts=((1, bent),)))  # fmt: skip


def enough_rounds(
    shown: str, number: Any, factor: Any, count: Any, needed: str, because: str, method: str, of: str = "", by: str = ""
) -> tuple[Step, Step, Step]:
    """log(1/ε)/(2(1 − factor)) ≤ count/2, where `number` is √κ or κ (`shown`), and `count` is number·log(1/ε).

    `needed` is the left side as displayed; `of` and `by` complete the names of the claims.
    """
    spare = Relation(0, "<=", (number - 1) / 4 * logarithm, BEST, f"half of it is more than is needed{by}")
    enough = Relation(logarithm / (2 * (1 - factor)) + spare.right, "=", count / 2, BEST, f"the count{of}")
    suffices = Relation(logarithm / (2 * (1 - factor)), "<=", count / 2, BEST, f"rounds of {method}")
    half = rf"\tfrac12{shown}\log\tfrac1\varepsilon"
    return (
        Step(rf"0 \le \tfrac14({shown}-1)\log\tfrac1\varepsilon", "κ ≥ 1, ε ≤ 1", spare, Inequality()),
        Step(rf"\tfrac14({shown}+1)\log\tfrac1\varepsilon+\tfrac14({shown}-1)\log\tfrac1\varepsilon = {half}", because,
             enough, Identity()),
        Step(rf"{needed} \le {half}", "both together", suffices,
             Combination(facts=((1, enough.fact), (1, spare.fact)))),
    )  # fmt: skip


def fedsplit_rounds(count: sympy.Expr) -> tuple[Step, ...]:
    """The gap after ½√κ log(1/ε) rounds of FedSplit with exact steps."""
    two_points = interpolation()
    rounds = many_rounds(two_points[-1].claim.fact)
    reach = shrunk * stacked / r
    near = Relation(server_distance**2, "<=", reach**2, BEST, "t rounds, squared")
    gap = value_from_distance("F(x^(t+1))/m", server)
    counted = enough_rounds(r"\sqrt\kappa", q, rho, count, r"\tfrac{\log(1/\varepsilon)}{2(1-\rho)}",
                            "1 − ρ = 2/(√κ + 1)", "FedSplit")  # fmt: skip
    small = decayed(counted[-1].claim.fact, count / 2, logarithm, epsilon, rho, shrunk, times=2)
    # The gap, divided by m, at distance ‖z^(1) − z*‖: what ε is relative to.
    scale = smooth_constant / 2 * stacked**2
    return (
        fixed_point(),
        *two_points,
        *rounds,
        Step(r"\|x^{(t+1)}-x^*\|^2 \le \rho^{2t}\tfrac{\|z^{(1)}-z^*\|^2}m", "Theorem 1 with b = 0", near,
             Combination(facts=((reach + server_distance, specialised(rounds[-1].claim.fact, {b: 0})),))),
        gap,
        *counted,
        Step(r"F(x^{(T+1)})-F^* \le \varepsilon\cdot\tfrac{L^*}2\|z^{(1)}-z^*\|^2\quad\text{for } "
             r"T \ge \tfrac12\sqrt\kappa\log\tfrac1\varepsilon", "ρ^{2T} ≤ exp(−2T(1 − ρ)): the constant is ½",
             Relation(r**2 * (gap.claim.left), "<=", epsilon * scale, BEST, "FedSplit's complexity"),
             Combination(facts=((r**2, gap.claim.fact), (r**2 * smooth_constant / 2, near.fact), (scale, small))),
             place="(22), FedSplit"),
    )  # fmt: skip


def descent_rounds(count: sympy.Expr) -> tuple[Step, ...]:
    """The gap after ½κ log(1/ε) rounds of FedGD with one local step of size 2/(ℓ_* + L^*)."""
    *_, two_points = interpolation()
    step = 2 * s * q / (q**2 + 1)
    chosen = nesterov.best_stepsize.formula(mu=strong, L=smooth_constant)
    moved = difference - step * gradients
    squared = Relation(square(moved), "<=", rho_descent**2 * square(difference), BEST, "a round of FedGD, squared")
    lengths = Relation(after, "<=", rho_descent * now, BEST, "a round of FedGD")
    positive = Relation(0, "<=", rho_descent, BEST, "the factor of FedGD is not negative")
    repeated = iterated(lengths.fact, positive.fact, after, now, start, last, decay)
    near = Relation(last, "<=", decay * start, BEST, "t rounds of FedGD")
    gap = value_from_distance("F(x_GD^(t+1))/m", point)
    counted = enough_rounds(r"\kappa", q**2, rho_descent, count, r"\tfrac14(\kappa+1)\log\tfrac1\varepsilon",
                            "1 − (κ − 1)/(κ + 1) = 2/(κ + 1)", "FedGD", " of FedGD", " by FedGD")  # fmt: skip
    small = decayed(counted[-1].claim.fact, count / 2, logarithm, epsilon, rho_descent, decay, times=2)
    growth = r**2 * smooth_constant / 2
    scale = growth * start**2
    return (
        Step(r"s = \tfrac2{\ell_*+L^*}", "the stepsize of FedGD; the mean of the clients is ℓ_*-strongly convex and "
             "L^*-smooth, and one local step of each is a gradient step on it",
             Relation(chosen, "=", step), Identity()),
        Step(r"\|x^+-x^*\|^2 \le \left(\tfrac{\kappa-1}{\kappa+1}\right)^2\|x-x^*\|^2",
             "the inequality at two points, for the mean of the clients", squared,
             Combination(facts=(((step / s) ** 2, two_points.claim.fact),))),
        Step(r"\|x^+-x^*\| \le \tfrac{\kappa-1}{\kappa+1}\|x-x^*\|", "the roots", lengths,
             Combination(facts=((1, squared.fact), (-1, root_of(after, square(moved)))), squared=True)),
        Step(r"0 \le \tfrac{\kappa-1}{\kappa+1}", "κ ≥ 1", positive, Inequality()),
        Step(r"\|x^{(t+1)}-x^*\| \le \left(\tfrac{\kappa-1}{\kappa+1}\right)^t\|x^{(1)}-x^*\|", "t rounds", near,
             Combination(facts=((1, repeated),))),
        gap,
        *counted,
        Step(r"F(x^{(T+1)})-F^* \le \varepsilon\cdot\tfrac{mL^*}2\|x^{(1)}-x^*\|^2\quad\text{for } "
             r"T \ge \tfrac12\kappa\log\tfrac1\varepsilon", "the same with FedGD's factor: the constant is ½",
             Relation(r**2 * gap.claim.left, "<=", epsilon * scale, BEST, "FedGD's complexity"),
             Combination(facts=((r**2, gap.claim.fact), (growth * (last + decay * start), near.fact), (scale, small))),
             place="(22), FedGD"),
    )  # fmt: skip


@proves(fedsplit.equation22)
def equation22(statement: Statement) -> Proof:
    formula = statement.calculator.formula(kappa=SYMBOLS["kappa"], epsilon=epsilon)
    counts = [with_logarithm(in_roots(part), 1 / epsilon, logarithm) for part in formula]
    c = sympy.Symbol("c", positive=True)
    # f(x) = c(x₁² + 4x₂²)/2 from (1, 0) has κ = 4, and after T = 1 round the gap c/18
    literal = Step(r"F(x^{(T)})-F^* \le \varepsilon\quad\text{for any problem with condition number at most }\kappa",
                   "f(x) = c(x₁² + 4x₂²)/2 from (1, 0): after a round the gap is c/18, as large as one likes",
                   Relation(c / 18, "<=", epsilon), Inequality(), role=Role.PRINTED)  # fmt: skip
    notes = (
        'Two readings of ε. Relative to the start, as above, (22) holds with both constants ½. Absolute, "for any '
        'problem with condition number at most κ", no number of rounds is enough: F and c·F have the same κ, and the '
        "gap is multiplied by c; see the refuted step. FedGD is taken with one local step of size 2/(ℓ_* + L^*)."
    )
    how = (
        "Rounds that FedSplit needs, against ½√κ log(1/ε) rounded up, on one client with curvature L along the start: "
        "one and one for κ = 4, ε = 2/5. For κ → ∞ the quotient tends to ½, as it does for FedGD."
    )
    return Proof((*fedsplit_rounds(counts[0]), *descent_rounds(counts[1]), literal), notes=notes,
                 vacuous="ε = 1: no round is promised to be enough",
                 reading=Reading("true for a relative, false for an absolute ε", "for ε relative to the initial gap"),
                 tightness=Tightness(tightness.rounds_to_gap, (2, 2, 5), how, attained=True),
                 written=(*IN_ROOTS, (SYMBOLS["mu"], strong), (SYMBOLS["L"], smooth_constant)))  # fmt: skip
