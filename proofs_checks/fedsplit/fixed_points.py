"""FedSplit paper: FedGD, FedProx and FedSplit, and their fixed points: (3) to (7), (13), Propositions 1 to 3.

Every f_j is convex and differentiable on R^d, so its gradient is continuous, and so are the maps G_j and prox_{sf_j}: a
limit of the iterates is a fixed point. The equations of fixed points are proved coordinate by coordinate for two
clients, for any number of clients in vectors, and compared with exact fixed points of the running code.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Identity, Inequality
from fedconvex.proofs_checks.engines.facts import convex, minimal
from fedconvex.proofs_checks.engines.hilbert import (
    HilbertVector,
    centred,
    deviation,
    family,
    inner,
    mean,
    square,
    vector,
)
from fedconvex.proofs_checks.fedsplit import exact_runs
from fedconvex.proofs_checks.fedsplit.notation import SYMBOLS, s
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

x = SYMBOLS["x"]
coordinates = sympy.symbols("p_1 p_2", real=True)
zero = sympy.Integer(0)


@proves(fedsplit.equation3)
def equation3(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    value, slope = formula(x=x, stepsize=s, gradient=SYMBOLS["gradient"]), SYMBOLS["gradient"]
    return Proof((
        Step(r"G_j(x) = x-s\nabla f_j(x)", "what a client of FedGD(s, 1) computes",
             Relation(sympy.Symbol("G_j(x)"), "=", value), Agreement(lambda n: exact_runs.gradient_step(formula, n)),
             place="(3)"),
        Step(r"x-G_j(x) = s\nabla f_j(x)", "rearranged", Relation(x - value, "=", s * slope), Identity()),
    ))  # fmt: skip


def averages(statement: Statement, clients: str, computed: str) -> Step:
    """The formula, a plain mean of the clients' points, gives a round of the running code."""
    formula = statement.calculator.formula
    play = exact_runs.fedgd_round if clients == "FedGD" else exact_runs.fedprox_round
    return Step(rf"x_j^{{(t+1)}} = \tfrac1m\textstyle\sum_j {computed}", f"a round of {clients}",
                Relation(sympy.Symbol("x^(t+1)"), "=", formula(points=coordinates)),
                Agreement(lambda n: play(formula, n)))  # fmt: skip


def plain_mean(statement: Statement) -> Step:
    value = statement.calculator.formula(points=coordinates)
    return Step(r"\bar x^{(t+1/2)} = \tfrac1m\textstyle\sum_jx_j^{(t+1/2)}", "the block average, m = 2",
                Relation(sum(coordinates) / 2, "=", value), Identity(), place="after (4)")  # fmt: skip


@proves(fedsplit.equation4)
def equation4(statement: Statement) -> Proof:
    return Proof((averages(statement, "FedGD", "G_j^e(x_j^{(t)})"), plain_mean(statement)),
                 notes="Displayed as (4a), the clients' e steps, and (4b), the average.")  # fmt: skip


@proves(fedsplit.equation6)
def equation6(statement: Statement) -> Proof:
    return Proof((averages(statement, "FedProx", r"\mathrm{prox}_{sf_j}(x_j^{(t)})"), plain_mean(statement)),
                 notes="Displayed as (6a), the clients' proximal steps, and (6b), the average.")  # fmt: skip


def any_number_of_clients(parts: str) -> Step:
    """x minus the mean of the clients' points x − sS_j is (s/m)ΣS_j, for any number of clients."""
    start, taken_off = vector("x"), family("S")
    return Step(rf"x-\tfrac1m\textstyle\sum_j(x-s{parts}) = \tfrac sm\sum_j{parts}", "the same for every m",
                Relation(start - mean(start - s * taken_off), "=", s * mean(taken_off)), Identity())  # fmt: skip


def common_limit(place: str) -> Step:
    """Part (a): from the second round on all clients start from the same point, so their limits agree."""
    return Step(r"x_j^{(t)} = \bar x^{(t-1/2)}\quad\text{for all } j,\ t \ge 2",
                "the server's average is the same for all, so its limit is",
                Relation(deviation(mean(family("x^(t+1/2)"))), "=", HilbertVector()), Identity(),
                place=place)  # fmt: skip


@proves(fedsplit.equation5)
@proves(fedsplit.proposition1)
def proposition1(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    done, slope = sympy.symbols("S_i g", real=True)
    sums = sympy.symbols("S_1 S_2", real=True)
    step = fedsplit.gradient_map.calculator.formula
    points = [x - s * total for total in sums]
    average = fedsplit.fedgd_round.calculator.formula(points=points)
    one = fedsplit.gradient_map.calculator.formula(x=x, stepsize=s, gradient=zero)
    bias = exact_runs.bias_of_fedgd()
    return Proof((
        common_limit("Proposition 1 (a)"),
        Step(r"G_j^1(x) = x-s\nabla f_j(G_j^0(x))", "the start of an induction",
             Relation(step(x=x, stepsize=s, gradient=slope), "=", x - s * slope), Identity()),
        Step(r"G_j^{i+1}(x) = x-s\textstyle\sum_{k\le i+1}\nabla f_j(G_j^{k-1}(x))",
             "G_j^i(x) = x − sS_i, and one more step, with the gradient g there",
             Relation(step(x=x - s * done, stepsize=s, gradient=slope), "=", x - s * (done + slope)), Identity()),
        Step(r"x-\tfrac1m\textstyle\sum_jG_j^e(x) = \tfrac sm\sum_{i=1}^e\sum_{j=1}^m\nabla f_j(G_j^{i-1}(x))",
             "the mean; S_j is the sum of client j's gradients, m = 2",
             Relation(x - average, "=", s / 2 * formula(gradients=sums)), Identity()),
        any_number_of_clients("S_j"),
        Step(r"\textstyle\sum_{i=1}^e\sum_{j=1}^m\nabla f_j(G_j^{i-1}(x^*)) = 0",
             "at a fixed point the left side vanishes; on exact fixed points of the running code, e = 1 to 3",
             Relation(formula(gradients=sums), "=", zero), Agreement(lambda n: exact_runs.fedgd_rests(formula, n), 9),
             place="(5)"),
        Step(r"\textstyle\sum_{i=1}^e\nabla f_j(G_j^{i-1}(x^*)) = \nabla f_j(x^*)\quad(e=1)", "G_j^0(x) = x: with one "
             "step the relation is that of a minimiser, and the fixed points have no bias",
             Relation(sympy.Symbol("bias"), "=", zero), Agreement(exact_runs.no_bias_of_one_step, 5),
             place="after (5)"),
        Step(r"x^* \ne \arg\min F\quad\text{in general for } e>1",
             "two clients in one dimension, e = 2: the squared bias is positive", Relation(zero, "<", bias),
             Inequality(), place="after (5)"),
        Step(r"G_j(x^*) = x^*\quad\text{if } \nabla f_j(x^*) = 0", "a common minimiser is a fixed point",
             Relation(one, "=", x), Identity(), place="after (7)"),
    ), notes=LIMITS, ends=ZEROS)  # fmt: skip


ZEROS = "the formula is that of the steps before; the last step is about the points where it vanishes"
LIMITS = (
    "(a) holds because the clients are equal from the second round on; that a limit is a fixed point needs the "
    "gradients' continuity, which a convex differentiable function on R^d has."
)


def moreau() -> tuple[Step, ...]:
    """M_{sf} lies above an affine function and below a parabola that touch at x: ∇M_{sf}(x) = (x − prox_{sf}(x))/s."""
    at_p, at_w = sympy.symbols("f(prox(x)) f(prox(z))", real=True)
    pulled, between, moved = vector("x−prox(x)"), vector("prox(z)−prox(x)"), vector("z−x")
    envelope = at_p + square(pulled) / (2 * s)
    moved_envelope = at_w + square(pulled + moved - between) / (2 * s)
    tangent = envelope + inner(pulled, moved) / s
    return (
        Step(r"M_{sf}(z) \le M_{sf}(x)+\tfrac1s\langle x-\mathrm{prox}_{sf}(x),z-x\rangle+\tfrac1{2s}\|z-x\|^2",
             "prox(x) is a candidate for the minimum at z",
             Relation(moved_envelope, "<=", tangent + square(moved) / (2 * s)),
             Combination(facts=((1, minimal(at_p + square(pulled + moved) / (2 * s), moved_envelope)),))),
        Step(r"M_{sf}(z) \ge M_{sf}(x)+\tfrac1s\langle x-\mathrm{prox}_{sf}(x),z-x\rangle",
             "f is convex, with the gradient (x − prox(x))/s at prox(x); so ∇M_{sf}(x) = (x − prox_{sf}(x))/s",
             Relation(tangent, "<=", moved_envelope),
             Combination(facts=((1, convex(at_w, at_p, pulled / s, between)),),
                         squares=((1 / (2 * s), moved - between),)),
             place="before Proposition 2"),
    )  # fmt: skip


@proves(fedsplit.equation7)
@proves(fedsplit.proposition2)
def proposition2(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    residual = formula(x=x, points=coordinates, stepsize=s)
    prox, minimiser = exact_runs.fedprox_and_minimiser()
    average = fedsplit.fedprox_round.calculator.formula(points=coordinates)
    return Proof((
        common_limit("Proposition 2 (a)"),
        *moreau(),
        Step(r"x-\tfrac1m\textstyle\sum_j\mathrm{prox}_{sf_j}(x) = \tfrac sm\sum_j\nabla M_{sf_j}(x)",
             "the mean of the clients' steps, m = 2", Relation(x - average, "=", s / 2 * residual), Identity()),
        any_number_of_clients(r"\nabla M_{sf_j}(x)"),
        Step(r"\textstyle\sum_{j=1}^m\nabla M_{sf_j}(x^*) = 0",
             "at a fixed point the left side vanishes; on exact fixed points of the running code",
             Relation(residual, "=", zero), Agreement(lambda n: exact_runs.fedprox_rests(formula, n), 6), place="(7)"),
        Step(r"\textstyle\sum_j\nabla M_{sf_j}(x^*) = 0 \not\Rightarrow \sum_j\nabla f_j(x^*) = 0\quad(m>1)",
             "f_1(x) = ½(x − 1)², f_2(x) = ½(2x)², s = 1: it rests elsewhere than at the minimiser 1/5",
             Relation(minimiser, "<", prox), Inequality(), place="after (7)"),
    ), notes=LIMITS, ends=ZEROS)  # fmt: skip


@proves(fedsplit.equation13)
def equation13(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    z, half = sympy.symbols("z_j z_j^(t+1/2)", real=True)
    return Proof((
        Step(r"z_j^{(t+1)}-z_j^{(t)} = 2(z_j^{(t+1/2)}-x^{(t)})", "the local centering step of Algorithm 1",
             Relation((z + 2 * (half - x)) - z, "=", formula(x=x, point=half)), Identity(), place="Algorithm 1"),
        Step(r"z_j^* = z_j^*+2(\mathrm{prox}_{sf_j}(2\bar z^*-z_j^*)-\bar z^*)",
             "a fixed point is what a round leaves as it is; the round, by the running code",
             Relation(sympy.Symbol("z_j⁺ − z_j"), "=", formula(x=x, point=half)),
             Agreement(lambda n: exact_runs.fedsplit_moves(formula, n)), place="(13)"),
    ), notes=TUPLE, reading=AVERAGE)  # fmt: skip


TUPLE = (
    "Printed with the tuple z* = (z_1*, …, z_m*) in 2z* − z_j* and in … − z*, where vectors of R^d are needed: it must "
    "be the average x* of the z_j*, as in Algorithm 1. Read literally the formula subtracts a tuple of m vectors from "
    "one, which is not defined for m > 1."
)
AVERAGE = Reading("undefined: a tuple of m vectors is subtracted from one", "with the average x* for the tuple z*")


@proves(fedsplit.proposition3)
def proposition3(statement: Statement) -> Proof:
    z = sympy.symbols("z_1 z_2", real=True)
    average, rest = sum(z) / 2, family("z*")
    slopes = tuple((2 * average - part - average) / s for part in z)  # at prox(2x* − z_j) = x*
    value_there, value_here = sympy.symbols("F(x)/m F(x*)/m", real=True)
    return Proof((
        Step(r"\mathrm{prox}_{sf_j}(2x^*-z_j^*) = x^*", "(13)",
             Relation(fedsplit.fedsplit_residual.calculator.formula(x=x, point=x), "=", zero), Identity()),
        Step(r"\textstyle\sum_j\nabla f_j(x^*) = \tfrac1s\sum_j(x^*-z_j^*) = 0",
             "the gradient at a proximal point of v is (v − prox(v))/s, and x* is the mean of the z_j*; m = 2",
             Relation(statement.calculator.formula(gradients=slopes), "=", zero), Identity()),
        Step(r"\tfrac1m\textstyle\sum_j(x^*-z_j^*) = 0", "the same for every m",
             Relation(mean(mean(rest) - rest), "=", HilbertVector()), Identity()),
        Step(r"\textstyle\sum_j\nabla f_j(x^*) = 0", "on exact fixed points of the running code",
             Relation(sympy.Symbol("Σ∇f_j(x*)"), "=", zero),
             Agreement(lambda n: exact_runs.fedsplit_rests(statement.calculator.formula, n), 6)),
        Step(r"\textstyle\sum_jf_j(x^*) \le \sum_jf_j(x)\quad\text{for all } x",
             "the f_j are convex, and their gradients sum to 0", Relation(value_here, "<=", value_there),
             Combination(facts=((1, convex(value_there, value_here, centred("∇f(x*)"), vector("x−x*"))),)),
             place="Proposition 3"),
    ), notes=TUPLE, ends=ZEROS, reading=AVERAGE)  # fmt: skip
