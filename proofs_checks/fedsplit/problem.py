"""FedSplit paper: the problem (1), (2), the inclusion (11), (12), constants (14), (15), experiments (20), (21).

Definitions are compared with the running code on exact instances; the text's conclusions from them are proved.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Identity, Inequality
from fedconvex.proofs_checks.engines.hilbert import family, inner, mean, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedsplit import exact_runs
from fedconvex.proofs_checks.fedsplit.notation import SYMBOLS
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

first, second, x = sympy.symbols("v_1 v_2 x", real=True)
pair = (first, second)


@proves(fedsplit.equation1)
def equation1(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    return Proof((
        Step(r"F(x) = \textstyle\sum_{j=1}^mf_j(x)", "with f_j = m w_j times a client's function, m times the weighted "
             "mean that runs", Relation(sympy.Symbol("F(x)"), "=", formula(values=pair)),
             Agreement(lambda n: exact_runs.objective(formula, n)), place="(1)"),
    ))  # fmt: skip


@proves(fedsplit.equation2)
def equation2(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    return Proof((
        Step(r"F(x) = \textstyle\sum_{j=1}^mf_j(x_j)", "the clients' values at a point for each",
             Relation(sympy.Symbol("F(x_1, …, x_m)"), "=", formula(values=pair)),
             Agreement(lambda n: exact_runs.consensus(formula, n)), place="(2)"),
        Step(r"\textstyle\sum_jf_j(x_j) = \sum_jf_j(x)\quad\text{for } x_1 = \dots = x_m = x",
             "where the constraint holds it is (1), whose formula has the same values",
             Relation(formula(values=pair), "=", fedsplit.objective.calculator.formula(values=pair)), Identity()),
    ))  # fmt: skip


@proves(fedsplit.equation11)
def equation11(statement: Statement) -> Proof:
    total = statement.calculator.formula(blocks=pair)
    blocks, here, there = family("v"), vector("x"), vector("y")
    return Proof((
        Step(r"\langle v,(2x-y)-x\rangle = -\langle v,y-x\rangle\quad(x,y\in E)",
             "E is a subspace, so the normal cone's ⟨v, y − x⟩ ≤ 0 for all y in E is ⟨v, y − x⟩ = 0: it is E^⊥",
             Relation(inner(blocks, 2 * here - there - here), "=", -inner(blocks, there - here)), Identity(),
             place="(11)"),
        Step(r"\tfrac1m\langle v,(x,\dots,x)\rangle = \langle\bar v,x\rangle",
             "of E^⊥ are the v with mean 0, for all m",
             Relation(inner(blocks, here), "=", inner(mean(blocks), here)), Identity()),
        Step(r"\langle v,(x,\dots,x)\rangle = \big\langle\textstyle\sum_jv_j,x\big\rangle",
             "if the blocks sum to 0, v is in E^⊥; m = 2, in one coordinate",
             Relation(first * x + second * x, "=", total * x), Identity()),
        Step(r"\langle v,(w,\dots,w)\rangle = \|w\|^2\quad\big(w = \textstyle\sum_jv_j\big)", "and only then",
             Relation(first * (first + second) + second * (first + second), "=", total**2), Identity()),
    ))  # fmt: skip


@proves(fedsplit.equation12)
def equation12(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    cone = fedsplit.normal_cone_residual.calculator.formula
    return Proof((
        Step(r"0 \in \nabla F(x)+\mathcal N_E(x) \iff \textstyle\sum_j\nabla f_j(x) = 0",
             "−∇F(x) is in E^⊥ exactly if its blocks sum to 0: (11)",
             Relation(formula(gradients=pair), "=", -cone(blocks=(-first, -second))), Identity(), place="(12)"),
        Step(r"\nabla F(x) = (\nabla f_1(x_1),\dots,\nabla f_m(x_m))", "the blocks sum to 0 at the exact minimisers",
             Relation(sympy.Symbol("Σ∇f_j(x*)"), "=", sympy.Integer(0)),
             Agreement(lambda n: exact_runs.stationary(formula, n), 10), place="after (12)"),
    ), ends="the first step is the formula's; the last says that it vanishes at minimisers")  # fmt: skip


@proves(fedsplit.equation14)
def equation14(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    mu, L, kappa = SYMBOLS["mu"], SYMBOLS["L"], SYMBOLS["kappa"]
    lower, upper = sympy.symbols("ℓ_j L_j", positive=True)
    ordered = Domain((sympy.Le(mu, lower, evaluate=False), sympy.Le(upper, L, evaluate=False)))
    return Proof((
        Step(r"\ell_* = \min_j\ell_j,\quad L^* = \max_jL_j,\quad \kappa = \tfrac{L^*}{\ell_*}",
             "the constants that the running code measures", Relation(kappa, "=", L / mu),
             Agreement(lambda n: exact_runs.conditioning(formula, n)), place="(14)"),
        Step(r"\tfrac{L_j}{\ell_j} \le \kappa", "no client's condition number is larger",
             Relation(upper / lower, "<=", L / mu, ordered), Inequality(), place="after (14)"),
    ), notes="κ may be larger than every client's condition number: it compares different clients.")  # fmt: skip


@proves(fedsplit.equation15)
def equation15(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    update, prox = sympy.symbols("update prox", real=True)
    return Proof((
        Step(r"\|\mathrm{prox\_update}_j(z)-\mathrm{prox}_{sf_j}(z)\|", "of two gradient steps, by the running code",
             Relation(sympy.Symbol("error"), "=", formula(update=update, prox=prox)),
             Agreement(lambda n: exact_runs.prox_error(formula, n)), place="(15)"),
    ))  # fmt: skip


@proves(fedsplit.equation20)
def equation20(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    return Proof((
        Step(r"\textstyle\sum_j\sum_i\log(1+e^{-b_{ij}a_{ij}^\top x})",
             "the running code, whose clients have means over samples, with weights n_j; in balls",
             Relation(sympy.Symbol("F(x)"), "=", formula(margins=pair)),
             Agreement(lambda n: exact_runs.logistic(formula, n)), place="(20)"),
    ))  # fmt: skip


@proves(fedsplit.equation21)
def equation21(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    given = {"squared_norm": SYMBOLS["squared_norm"], "regularizer": SYMBOLS["regularizer"]}
    return Proof((
        Step(r"\textstyle\sum_j\big\{\sum_i\sum_k\log(1+e^{-b_{ijk}a_{ij}^\top x_k})"
             r"+\tfrac\lambda2\sum_k\|x_k\|^2\big\}",
             "one logistic regression with a ridge for each class; in balls",
             Relation(sympy.Symbol("F(x)"), "=", formula(margins=pair, num_clients=SYMBOLS["num_clients"], **given)),
             Agreement(lambda n: exact_runs.one_against_all(formula, n)), place="(21)"),
    ), notes="The ridge stands inside the sum over the clients, and so counts m times.")  # fmt: skip
