"""FedSplit with gradient steps in place of exact proximal steps: (17), and Corollary 1, which is (18).

The gradient steps minimise h(u) = sf_j(u) + ½‖u − x‖², whose gradient s∇f_j(u) + u − x vanishes at p = prox(x).
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import iterated, root_of
from fedconvex.proofs_checks.engines.hilbert import length, norm, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.fedsplit import tightness
from fedconvex.proofs_checks.fedsplit.interpolation import difference, gradients, interpolation
from fedconvex.proofs_checks.fedsplit.notation import (
    BEST,
    IN_ROOTS,
    SYMBOLS,
    in_roots,
    q,
    rho,
    s,
    smooth_constant,
    strong,
    symbolic,
    with_power,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

x, u, alpha, gradient = (SYMBOLS[name] for name in ("x", "u", "local_stepsize", "gradient"))
steps_taken, start = SYMBOLS["local_steps"], SYMBOLS["start_distance"]
factor = q / (q + 1)  # 1 − 1/(√κ + 1)
after, now, last = length("u⁺−p"), norm(difference), length("u^(e+1)−p")
decay = sympy.Symbol("factor^e", nonnegative=True)

AS_PRINTED = """
from fractions import Fraction
# f(u) = u²/2, s = 1, x = 0: the local subproblem is h(u) = u²/2 + u²/2; one gradient step from u = 1, α = 1/2
u, x, s, alpha = Fraction(1), Fraction(0), Fraction(1), Fraction(1, 2)
gradient_of_f = u
gradient_of_h = s * gradient_of_f + (u - x)
left = u - alpha * gradient_of_h
right = u - alpha * s * gradient_of_f + (u - x)
"""


def gradient_steps(statement: Statement, role: Role) -> tuple[Step, ...]:
    """Both equalities of (17), in one coordinate. Only f's gradient at u enters, so f is a linear function here."""
    slope = sympy.Symbol("v", real=True)
    subproblem = s * (gradient * (slope - u)) + (slope - x) ** 2 / 2
    at_u = sympy.diff(subproblem, slope).subs(slope, u)
    formula = symbolic(statement.calculator)
    scaled, proximal = s * gradient + u - x, gradient + (u - x) / s
    return (
        Step(r"\mathrm{prox}_{sf_j}(x) = \arg\min_u\{sf_j(u)+\tfrac12\|u-x\|^2\}",
             "the function is s times the one that defines the proximal point", Relation(scaled, "=", s * proximal),
             Identity(), place="before (17)"),
        Step(r"\nabla h_j(u) = s\nabla f_j(u)+(u-x)", "the derivative", Relation(at_u, "=", scaled), Identity()),
        Step(r"u-\alpha\nabla h_j(u) = u-\alpha s\nabla f_j(u)" + (r"+(u-x)" if role is Role.PRINTED else
             r"-\alpha(u-x)"), "α multiplies the whole gradient",
             Relation(u - alpha * scaled, "=", formula), Identity(),
             place="(17)" if role is Role.PRINTED else "", role=role),
    )  # fmt: skip


@proves(fedsplit.equation17)
def equation17(statement: Statement) -> Proof:
    shows = "f(u) = u²/2, s = 1, x = 0, u = 1, α = 1/2: the gradient step gives 0, the printed right side 3/2"
    notes = (
        "The last term of (17) is misprinted: + (u − x) for − α(u − x). The printed recursion diverges: on ½ℓu² its "
        "factor is 2 − αsℓ, at least 3/2 for the α of Corollary 1."
    )
    return Proof(gradient_steps(statement, Role.PRINTED), refutation=Witness(shows, AS_PRINTED, "="),
                 corrected="fedsplit.equation17corrected", notes=notes)  # fmt: skip


@proves(fedsplit.equation17corrected)
def equation17_corrected(statement: Statement) -> Proof:
    steps = gradient_steps(statement, Role.PROOF)
    return Proof((
        *steps,
        Step(r"\mathrm{prox\_update}_j(x) = u^{(3)}", "what FedSplit's client computes with two gradient steps",
             Relation(SYMBOLS["update"], "=", steps[-1].claim.right),
             Agreement(lambda n: tightness.two_local_steps(statement.calculator.formula, n))),
    ))  # fmt: skip


def one_step() -> tuple[Step, ...]:
    """‖u⁺ − p‖ ≤ ρ‖u − p‖; `difference` is u − p, `gradients` is ∇f_j(u) − ∇f_j(p)."""
    two_points = interpolation()
    stepsize = 2 * q / (q + 1) ** 2
    chosen = fedsplit.local_stepsize.formula(mu=strong, L=smooth_constant)
    moved = difference - stepsize * (s * gradients + difference)
    squared = Relation(square(moved), "<=", rho**2 * square(difference), BEST, "a gradient step, squared")
    lengths = Relation(after, "<=", rho * now, BEST, "a gradient step")
    return (
        *two_points,
        Step(r"\alpha = \left(1+s\tfrac{\ell_*+L^*}2\right)^{-1} = \tfrac{2\sqrt\kappa}{(\sqrt\kappa+1)^2}",
             "s = 1/√(ℓ_* L^*)", Relation(chosen, "=", stepsize), Identity(), place="Corollary 1"),
        Step(r"\|u^+-p\|^2 \le \left(1-\tfrac2{\sqrt\kappa+1}\right)^2\|u-p\|^2",
             "u⁺ − p is u − p − α(∇h(u) − ∇h(p)), and the inequality at the two points", squared,
             Combination(facts=((stepsize**2, two_points[-1].claim.fact),))),
        Step(r"\|u^+-p\| \le \left(1-\tfrac2{\sqrt\kappa+1}\right)\|u-p\|", "the roots", lengths,
             Combination(facts=((1, squared.fact), (-1, root_of(after, square(moved)))), squared=True)),
    )  # fmt: skip


# (15) asks for ‖prox_update_j(z) − prox_{sf_j}(z)‖ ≤ b for all z.
ONE_ROUND = Reading(
    "true in round t, false if (15)'s b is for all z", "for the error at the point x_j^(t) of round t",
    Witness("e = 1, ℓ_* = 1, L^* = 4 and f_j(u) = u²/2: x_j^(t) = 0 makes (18) 0, and z = 9 has an error", """
from fractions import Fraction
low, high, s = 1, 4, Fraction(1, 2)  # s = 1/√(ℓ_* L^*), so √κ = 2
alpha = 1 / (1 + s * Fraction(low + high, 2))
error = lambda z: abs((z - alpha * s * z) - z / (1 + s))  # one gradient step from z, and the proximal point of z
x, z = Fraction(0), Fraction(9)
left = error(z)
right = (1 - Fraction(1, 2 + 1)) * abs(x - x / (1 + s))
"""),
)  # fmt: skip


@proves(fedsplit.equation18)
@proves(fedsplit.corollary1)
def corollary1(statement: Statement) -> Proof:
    bound = with_power(in_roots(symbolic(statement.calculator)), factor, steps_taken, decay)
    steps = one_step()
    given_away = Relation(0, "<=", now / (q + 1), Domain(), "what the corollary gives away")
    step = Relation(after, "<=", factor * now, BEST, "a gradient step, with the corollary's factor")
    positive = Relation(0, "<=", factor, BEST, "the factor is not negative")
    repeated = iterated(step.fact, positive.fact, after, now, start, last, decay)
    notes = (
        "Two readings: (15) asks for one b for all z, while (18) bounds the error at the point x_j^(t) where the "
        "proximal step is taken, in Algorithm 1 2x^(t) − z_j^(t); so b in (18) is that round's error. And x_j^(t) is "
        "the start of the gradient steps. Each step contracts by 1 − 2/(√κ + 1): Corollary 1, sharper."
    )
    how = (
        "f(x) = (ℓx₁² + Lx₂²)/2, x along x₁: the error is (1 − 2/(√κ + 1))^e times the start's, so the quotient is "
        "((√κ − 1)/√κ)^e: it tends to 1 as κ → ∞, and is not reached."
    )
    return Proof((
        *steps,
        Step(r"0 \le \tfrac1{\sqrt\kappa+1}\|u-p\|", "the difference of the two factors", given_away, Inequality()),
        Step(r"\|u^+-p\| \le \left(1-\tfrac1{\sqrt\kappa+1}\right)\|u-p\|", "the larger factor", step,
             Combination(facts=((1, steps[-1].claim.fact), (1, given_away.fact)))),
        Step(r"0 \le 1-\tfrac1{\sqrt\kappa+1}", "it is √κ/(√κ + 1)", positive, Inequality()),
        Step(r"b \le \left(1-\tfrac1{\sqrt\kappa+1}\right)^e\|x_j^{(t)}-\mathrm{prox}_{sf_j}(x_j^{(t)})\|",
             "e steps from x_j", Relation(last, "<=", bound, BEST, "Corollary 1"),
             Combination(facts=((1, repeated),)), place="(18)"),
    ), notes=notes, reading=ONE_ROUND, tightness=Tightness(tightness.local_error, (1000, 1), how, attained=True),
       written=IN_ROOTS)  # fmt: skip


@proves(fedsplit.corollary1sharper)
def corollary1_sharper(statement: Statement) -> Proof:
    bound = with_power(in_roots(symbolic(statement.calculator)), rho, steps_taken, decay)
    steps = one_step()
    positive = Relation(0, "<=", rho, BEST, "the factor is not negative")
    repeated = iterated(steps[-1].claim.fact, positive.fact, after, now, start, last, decay)
    how = "f(x) = (ℓx₁² + Lx₂²)/2, x along x₁ or x₂: every step multiplies the error by 1 − 2/(√κ + 1)."
    return Proof((
        *steps,
        Step(r"0 \le 1-\tfrac2{\sqrt\kappa+1}", "κ ≥ 1", positive, Inequality()),
        Step(r"b \le \left(1-\tfrac2{\sqrt\kappa+1}\right)^e\|x_j^{(t)}-\mathrm{prox}_{sf_j}(x_j^{(t)})\|",
             "e steps from x_j", Relation(last, "<=", bound, BEST, "Corollary 1, sharper"),
             Combination(facts=((1, repeated),))),
    ), tightness=Tightness(tightness.local_error_sharp, (3, 2), how, attained=True), written=IN_ROOTS)  # fmt: skip
