"""FedSplit paper: least squares, (8) to (10), and the display between (9) and (10).

The proofs compute small federations in symbols: for (8) and (9) a row A_1 and a diagonal A_2 with two unknowns, for
(10) numbers A_1 and A_2 with the footnote's condition |1 − sA_j²| < 1. Larger ones are compared with exact runs.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Identity, Inequality
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.fedsplit import exact_runs
from fedconvex.proofs_checks.fedsplit.notation import s
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

A = [sympy.Matrix([sympy.symbols("a_11 a_12", real=True)]), sympy.diag(*sympy.symbols("c_1 c_2", positive=True))]
b = [sympy.Matrix([sympy.Symbol(f"b_{j}", real=True)]) for j in (1, 2)]
responses = [sympy.Matrix([sympy.Symbol("b_11", real=True)]), sympy.Matrix(sympy.symbols("b_21 b_22", real=True))]
slopes = [sympy.Matrix([[sympy.Symbol(f"a_{j}", positive=True)]]) for j in (1, 2)]
# |1 − sA_j²| < 1, in one dimension.
SHORT_STEPS = Domain(tuple(sympy.Lt(s, 2 / slope[0] ** 2, evaluate=False) for slope in slopes))
y = sympy.Matrix(sympy.symbols("y_1 y_2", real=True))


def residuals(point: Any) -> list[Any]:
    """A_j x − b_j of each client."""
    return [design * point - response for design, response in zip(A, responses, strict=True)]


def square(column: Any) -> Any:
    """‖·‖²."""
    return sum(number**2 for number in column)


def in_symbols(formula: Any, unknowns: int, **given: Any) -> Any:
    """The formula's point; for a formula that is not defined for these clients, a vector of new symbols.

    The tests change formulas; a proof must then fail in a check and not with an error here.
    """
    try:
        return formula(**given)
    except (TypeError, ValueError):
        return sympy.Matrix([sympy.Symbol(f"undefined_{i}", real=True) for i in range(unknowns)])


def entry(value: Any) -> Any:
    """The number in a matrix of one entry."""
    return value[0] if isinstance(value, sympy.MatrixBase) else value


@proves(fedsplit.equation8)
def equation8(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    written = sum(map(square, residuals(y))) / 2
    return Proof((
        Step(r"F(x) = \tfrac12\textstyle\sum_j\|A_jx-b_j\|^2", "written out for clients with one and two samples",
             Relation(entry(formula(A=A, b=responses, x=y)), "=", written), Identity(), place="(8)"),
        Step(r"F(x) = \textstyle\sum_jf_j(x),\quad f_j(x) = \tfrac12\|A_jx-b_j\|^2", "(1), by the running code",
             Relation(sympy.Symbol("F(x)"), "=", written),
             Agreement(lambda n: exact_runs.least_squares_value(formula, n)), place="after (8)"),
    ))  # fmt: skip


WIDE = Witness(
    "one client with A = [1 0], of full rank, and b = 1: a second point minimises, too",
    """
A, b = (1, 0), 1
value = lambda x: (A[0] * x[0] + A[1] * x[1] - b) ** 2
left = value((1, 1))  # a unique minimiser (1, 0) would make this larger
right = value((1, 0))
""",
    ">",
)


@proves(fedsplit.equation9)
def equation9(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    solution = in_symbols(formula, 2, A=A, b=responses)
    normal = sum((design.T * r for design, r in zip(A, residuals(solution), strict=True)), sympy.zeros(2, 1))
    apart = sum(square(design * (y - solution)) for design in A) / 2
    value = fedsplit.least_squares_objective.calculator.formula
    values = [entry(value(A=A, b=responses, x=point)) for point in (y, solution)]
    return Proof((
        *(Step(r"\textstyle\sum_jA_j^\top(A_jx_{\mathrm{ls}}^*-b_j) = 0", f"the gradient vanishes, coordinate {i + 1}",
               Relation(normal[i], "=", sympy.Integer(0)), Identity()) for i in range(2)),
        Step(r"F(y)-F(x_{\mathrm{ls}}^*) = \tfrac12\textstyle\sum_j\|A_j(y-x_{\mathrm{ls}}^*)\|^2",
             "so it is a minimiser, and the only one if ΣA_jᵀA_j is invertible",
             Relation(values[0] - values[1], "=", apart), Identity()),
        Step(r"x_{\mathrm{ls}}^* = \left(\textstyle\sum_jA_j^\top A_j\right)^{-1}\sum_jA_j^\top b_j",
             "the exact minimiser of the running code", Relation(sympy.Symbol("x_ls"), "=", solution[0]),
             Agreement(lambda n: exact_runs.least_squares_minimiser(formula, n), 10), place="(9)"),
    ), notes="\"A_j full rank\" is read as full column rank of one A_j, or of all of them below one another. With "
             "full rank of a wide A_j it fails: for m = 1, A = [1 0], b = 1 the rank is full, ΣAᵀA = [[1, 0], [0, 0]] "
             "is not invertible, and (1, 0) and (1, 1) both minimise.",
       reading=Reading("true for full column rank, false for full row rank",
                       "where all A_j together have full column rank", WIDE))  # fmt: skip


@proves(fedsplit.equation10)
def equation10(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    h, c, X, P, x = sympy.symbols("h c X P x", real=True)  # X = (1 − sh)^e, P = Σ_{k<e}(1 − sh)^k
    factor = 1 - s * h
    two = in_symbols(formula, 1, A=slopes, b=b, stepsize=s, local_steps=2)
    steps = X * x + s * P * c  # G_j^e(x)
    example = exact_runs.three_solutions()
    return Proof((
        Step(r"I-(I-sH)^{e+1} = sH\textstyle\sum_{k\le e}(I-sH)^k", "if it holds with e; all are polynomials in one "
             "matrix H = A_jᵀA_j, and commute",
             Relation((1 - factor * X).subs(X, 1 - s * h * P), "=", s * h * (1 + factor * P)), Identity()),
        Step(r"G_j^{e+1}(x) = (I-sH)^{e+1}x+s\textstyle\sum_{k\le e}(I-sH)^kc",
             "if it holds with e, c = A_jᵀb_j: one more gradient step",
             Relation(steps - s * (h * steps - c), "=", factor * X * x + s * (1 + factor * P) * c), Identity()),
        Step(r"x-G_j^e(x) = s\textstyle\sum_{k<e}(I-sH)^k(Hx-c)", "both; the mean over j vanishes at a fixed point",
             Relation(x - steps.subs(X, 1 - s * h * P), "=", s * (h * P * x - P * c)), Identity()),
        *(fixed_in_one_dimension(formula, e) for e in (1, 2, 3)),
        Step(r"x_{\mathrm{FedGD}}^* = \Big(\textstyle\sum_jA_j^\top A_j\{\sum_{k<e}(I-sA_j^\top A_j)^k\}\Big)^{-1}"
             r"\Big(\sum_j\{\sum_{k<e}(I-sA_j^\top A_j)^k\}A_j^\top b_j\Big)",
             "exact fixed points of the running code", Relation(sympy.Symbol("x_FedGD"), "=", two[0]),
             Agreement(lambda n: exact_runs.least_squares_fedgd(formula, n), 12), place="(10)"),
        Step(r"\Big(\textstyle\sum_j\{I-(I+sA_j^\top A_j)^{-1}\}\Big)^{-1}\Big(\sum_j(A_j^\top A_j+\tfrac1sI)^{-1}"
             r"A_j^\top b_j\Big)", "exact fixed points of FedProx",
             Relation(sympy.Symbol("x_FedProx"), "=", proximal()[0]), Agreement(exact_runs.least_squares_fedprox, 10),
             place="between (9) and (10)"),
        fedprox_in_one_dimension(),
        *(Step(rf"x_{{\mathrm{{{name}}}}}^* \ne x_{{\mathrm{{ls}}}}^*", "A_1 = 1, A_2 = 2, b_1 = 1, b_2 = 0, e = 2",
               Relation(example.minimiser, "<", point), Inequality(), place="after (10)")
          for name, point in (("FedGD", example.fedgd), ("FedProx", example.fedprox))),
    ), notes=FOOTNOTE,
       ends="the formula is that of the fixed points; the last step is that they are no minimisers")  # fmt: skip


FOOTNOTE = (
    "The footnote asks for ‖I − sA_jᵀA_j‖ < 1, which no s satisfies for an A_j without full column rank: with v in its "
    "kernel (I − sA_jᵀA_j)v = v. The formula needs only that the matrix in it is invertible; the norm is asked for so "
    "that the iterates converge, for which less is enough."
)


def fixed_in_one_dimension(formula: Any, e: int) -> Step:
    """In one dimension, e gradient steps of each client from the formula's point, averaged, lead back to it."""
    x = in_symbols(formula, 1, A=slopes, b=b, stepsize=s, local_steps=e)[0]
    points = []
    for design, response in zip(slopes, b, strict=True):
        point = x
        for _ in range(e):
            point = point - s * (design.T * (design * sympy.Matrix([point]) - response))[0]
        points.append(point)
    return Step(rf"\tfrac1m\textstyle\sum_jG_j^{e}(x_{{\mathrm{{FedGD}}}}^*) = x_{{\mathrm{{FedGD}}}}^*",
                f"two clients in one dimension, e = {e}", Relation(sum(points) / 2, "=", x, SHORT_STEPS),
                Identity())  # fmt: skip


def proximal() -> Any:
    """FedProx's closed form for two clients in one dimension."""
    return fedsplit.fedprox_fixed_point.formula(A=slopes, b=b, stepsize=s)


def fedprox_in_one_dimension() -> Step:
    """The mean of the proximal points there is the point itself."""
    x = proximal()[0]
    proxes = [(s * a[0] * r[0] + x) / (s * a[0] ** 2 + 1) for a, r in zip(slopes, b, strict=True)]
    return Step(r"\tfrac1m\textstyle\sum_j\mathrm{prox}_{sf_j}(x_{\mathrm{FedProx}}^*) = x_{\mathrm{FedProx}}^*",
                "two clients in one dimension", Relation(sum(proxes) / 2, "=", x), Identity())  # fmt: skip
