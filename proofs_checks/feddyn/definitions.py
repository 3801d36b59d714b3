"""FedDyn, equations (1) to (3) and (7) to (9): the paper's definitions, compared with the running code on instances."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Identity
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, vector
from fedconvex.proofs_checks.feddyn.convex_lemmas import invariants
from fedconvex.proofs_checks.feddyn.exact_runs import Draws, Federation, mean
from fedconvex.proofs_checks.feddyn.notation import (
    alpha,
    new_gradients,
    next_average,
    next_h,
    next_server,
    old_gradients,
    server,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

WHERE_LEAST = "where the formula is least is compared, and twice the formula is least there too"
Formula = Callable[..., Any]
ANSWER = Relation(sympy.Symbol("R_k(θ_k+1)"), "=", sympy.Symbol("R_k(θ_k−1)"), name="the answer minimises")


class BeforeARound(NamedTuple):
    """An instance before a round: the draws so far, θ^{t−1}, every device's model, and its answer θ̃_k^t."""

    federation: Federation
    draws: Draws
    point: Any
    models: list[Any]
    answers: list[Any]


def before_a_round(number: int) -> BeforeARound:
    """An instance after no round, or after one in which some of the devices took part."""
    federation = Federation.random(number)
    choices = [*federation.draws(0), *federation.draws(1)]
    draws = choices[number % len(choices)]
    point, models, answers = federation.state(draws)[0], federation.models(draws), federation.virtual(draws)
    return BeforeARound(federation, draws, point, models, answers)


def beside_the_answers(formula: Formula, number: int) -> tuple[Any, Any]:
    """R_k at each device's answer plus 1 and minus 1, which are equal exactly if the quadratic R_k is minimal there.

    As a last entry, the average of the drawn devices' answers, each drawn alone, and all of them drawn together.
    """
    federation, before, point, models, answers = before_a_round(number)
    stored = [federation.gradients(x)[k] for k, x in enumerate(models)]

    def objective(k: int, x: Any) -> Any:
        alpha, square = federation.alpha, (x - point) ** 2
        return formula(value=federation.value(k, x), linear=stored[k] * x, alpha=alpha, square=square)

    above, below = [[objective(k, x + e) for k, x in enumerate(answers)] for e in (1, -1)]
    chosen = federation.draws(1)[-1][0]
    return [*above, mean(answers[k] for k in chosen)], [*below, federation.average((*before, chosen))]


def objective_step(statement: Statement, shown: str, place: str) -> Step:
    return Step(shown, "for every device, drawn or not, the running code's answer is the minimiser of this quadratic; "
                "drawn devices' answers are the same whoever else is drawn", ANSWER,
                Agreement(partial(beside_the_answers, statement.calculator.formula)), place=place)  # fmt: skip


@proves(feddyn.equation1)
def device_objective(statement: Statement) -> Proof:
    return Proof((
        objective_step(statement, r"\theta_k^t = \arg\min_\theta\Big[L_k(\theta)-\langle\nabla L_k(\theta_k^{t-1}),"
                       r"\theta\rangle+\tfrac\alpha2\|\theta-\theta^{t-1}\|^2\Big]", "(1)"),
    ), notes="Algorithm 1's input misses h⁰, which its first round uses; with h⁰ = 0 everything is as the proofs say. "
             "It asks for ∇L_k(θ_k⁰) = 0: devices start at minimisers of their own (the code starts with the stored "
             "gradient 0, which is all that the rounds use).", ends=WHERE_LEAST)  # fmt: skip


@proves(feddyn.equation7)
def virtual_objective(statement: Statement) -> Proof:
    return Proof((
        objective_step(statement, r"\tilde\theta_k^t = \arg\min_\theta L_k(\theta)-\langle\nabla L_k(\theta_k^{t-1}),"
                       r"\theta\rangle+\tfrac\alpha2\|\theta-\theta^{t-1}\|^2\quad\forall k\in[m]", "(7)"),
    ), notes="That θ̃_k^t does not depend on who is drawn needs one minimiser: it is unique where α exceeds minus the "
             "least curvature of L_k, so for convex devices always.", ends=WHERE_LEAST)  # fmt: skip


def residuals(formula: Formula, number: int) -> tuple[Any, Any]:
    """The first-order condition at the running code's answers, and 0."""
    federation, _, point, models, answers = before_a_round(number)
    found = [
        formula(
            new_gradient=federation.gradients(x)[k], old_gradient=federation.gradients(models[k])[k],
            alpha=federation.alpha, theta=x, server=point,
        )
        for k, x in enumerate(answers)
    ]  # fmt: skip
    return found, [0] * len(found)


@proves(feddyn.equation2)
def first_order_condition(statement: Statement) -> Proof:
    theta, point, stored, new = sympy.symbols("θ θ^(t−1) ∇L_k(θ_k^(t−1)) ∇L_k(θ)", real=True)
    value = sympy.Function("L_k")(theta)
    objective = feddyn.equation1.calculator.formula(
        value=value, linear=stored * theta, alpha=alpha, square=(theta - point) ** 2
    )
    derivative = sympy.diff(objective, theta).subs(sympy.diff(value, theta), new)
    right = statement.calculator.formula(
        new_gradient=new, old_gradient=stored, alpha=alpha, theta=theta, server=point
    )  # fmt: skip
    return Proof((
        Step(r"\nabla R_k(\theta) = \nabla L_k(\theta)-\nabla L_k(\theta_k^{t-1})+\alpha(\theta-\theta^{t-1})",
             "(1), differentiated along a line", Relation(derivative, "=", right), Identity()),
        Step(r"\nabla L_k(\theta_k^t)-\nabla L_k(\theta_k^{t-1})+\alpha(\theta_k^t-\theta^{t-1}) = 0",
             "the gradient vanishes at the running code's answers", Relation(right, "=", 0),
             Agreement(partial(residuals, statement.calculator.formula)), place="(2)"),
    ))  # fmt: skip


def slopes(formula: Formula, number: int) -> tuple[Any, Any]:
    """The formula at θ⁰, and ℓ'(θ⁰), which for a quadratic is the difference quotient (ℓ(θ⁰ + 1) − ℓ(θ⁰ − 1))/2."""
    federation = Federation.random(number)
    above, below = federation.gap(federation.start + 1), federation.gap(federation.start - 1)
    return formula(gradients=federation.gradients(federation.start)), (above - below) / 2


def gradients_at(point: Callable[[Federation], Any], formula: Formula, number: int) -> tuple[Any, Any]:
    """The mean of the devices' gradients at a point, and 0."""
    federation = Federation.random(number)
    return formula(gradients=federation.gradients(point(federation))), 0


def sums_at_the_start(formula: Formula, number: int) -> tuple[Any, Any]:
    """The mean of the devices' gradients, and their plain sum, at θ⁰."""
    federation = Federation.random(number)
    gradients = federation.gradients(federation.start)
    return formula(gradients=gradients), sum(gradients)


def after_a_round(federation: Federation) -> Any:
    return federation.state(federation.draws(1)[0])[0]


@proves(feddyn.equation3)
def stationary_point(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    total, zero = sympy.Symbol("∇ℓ(θ*)"), sympy.Integer(0)
    own = [vector(f"∇L_{k}(θ)") for k in (1, 2, 3)]
    return Proof((
        Step(r"\nabla\ell(\theta) = \tfrac1m\sum_{k\in[m]}\nabla L_k(\theta)",
             "the gradient of a mean is the mean of the gradients", Relation(sympy.Symbol("∇ℓ(θ)"), "=", zero),
             Agreement(partial(slopes, formula))),
        Step(r"\nabla\ell(\theta_*) = \tfrac1m\sum_{k\in[m]}\nabla L_k(\theta_*) = 0",
             "it vanishes at the minimiser",
             Relation(total, "=", zero), Agreement(partial(gradients_at, lambda f: f.minimiser, formula)), place="(3)"),
        Step(r"\nabla\tfrac1m\sum_{k\in[m]}L_k = \tfrac1m\sum_{k\in[m]}\nabla L_k",
             "of any three devices; more in the same way: it is the objective's gradient, and a stationary point is "
             "where that is 0", Relation(sum(own, HilbertVector()) / len(own), "=", formula(gradients=own)),
             Identity()),
        Step(r"\nabla\ell(\theta^t) = \dots = 0", "as printed, with θ^t on the left", Relation(total, "=", zero),
             Agreement(partial(gradients_at, after_a_round, formula)), place="(3)", role=Role.PRINTED),
        Step(r"\tfrac1m\sum_{k\in[m]}\nabla L_k(\theta) = \sum_{k\in[m]}E_{(x,y)\sim D_k}\nabla\ell_k(\theta;(x,y))",
             "as printed, the second sum without 1/m: the two agree where both vanish, and else for m = 1 alone",
             Relation(total, "=", sympy.Symbol("Σ_k∇L_k(θ)")), Agreement(partial(sums_at_the_start, formula)),
             place="(3)", role=Role.PRINTED),
    ), notes="Two misprints: θ^t stands for θ_* on the left, and the second sum lacks 1/m.",
       reading=Reading("false: two misprints", "with θ_* for θ^t, and with 1/m before the second sum"))  # fmt: skip


def steps_of_the_devices(formula: Formula, number: int) -> tuple[Any, Any]:
    """θ̃_k^t − θ^{t−1} in the running code, and from gradients at the models before and after."""
    federation, _, point, models, answers = before_a_round(number)
    promised = [
        formula(
            old_gradient=federation.gradients(models[k])[k], new_gradient=federation.gradients(x)[k],
            alpha=federation.alpha,
        )
        for k, x in enumerate(answers)
    ]  # fmt: skip
    return [x - point for x in answers], promised


@proves(feddyn.equation8)
def virtual_step(statement: Statement) -> Proof:
    theta = vector("θ̃_k")
    condition = feddyn.equation2.calculator.formula(
        new_gradient=new_gradients, old_gradient=old_gradients, alpha=alpha, theta=theta, server=server
    )
    right = statement.calculator.formula(old_gradient=old_gradients, new_gradient=new_gradients, alpha=alpha)
    return Proof((
        Step(r"\tilde\theta_k^t-\theta^{t-1} = \tfrac1\alpha(\nabla L_k(\theta_k^{t-1})-\nabla L_k(\tilde\theta_k^t))",
             "(2), divided by α: the two sides differ by 1/α times what vanishes there",
             Relation(theta - server, "=", right + condition / alpha), Identity(), place="(8)"),
        Step(r"\theta_k^t-\theta^{t-1} = \tfrac1\alpha(\nabla L_k(\theta_k^{t-1})-\nabla L_k(\theta_k^t))\quad"
             r"\forall k\in P_t", "the same for the drawn devices: so the running code moves them",
             Relation(theta - server, "=", right), Agreement(partial(steps_of_the_devices,
             statement.calculator.formula)),
             place="(8), second part"),
    ))  # fmt: skip


def averages(formula: Formula, number: int) -> tuple[Any, Any]:
    """The drawn devices' average, and h as the mean of the gradients at the models, in the running code."""
    federation, before, _, _, new = before_a_round(number)
    chosen = federation.draws(1)[0][0]
    after = (*before, chosen)
    point, h, _ = federation.state(after)
    models = federation.models(after)
    stored = mean(federation.gradients(x)[k] for k, x in enumerate(models))
    return (mean(new[k] for k in chosen), stored), (formula(server=point, h=h, alpha=federation.alpha), h)


@proves(feddyn.equation9)
def active_average(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    claim = Relation(next_average, "=", formula(server=next_server, h=next_h, alpha=alpha))
    return Proof((
        *invariants()[:2],
        Step(r"\gamma^t = \tfrac1P\sum_{k\in P_t}\theta_k^t,\quad h^t = \tfrac1m\sum_k\nabla L_k(\theta_k^t)",
             "in the running code, with gradients at the models themselves", claim,
             Agreement(partial(averages, formula)), place="(9), first part"),
        Step(r"\gamma^t = \theta^t+\tfrac1\alpha h^t", "how the algorithm sets θ^t", claim, Identity(), place="(9)"),
    ), notes="γ⁰, of which the theorems speak, is not defined by the first part, as nobody is drawn before the first "
             "round; by the second it is θ⁰ + h⁰/α = θ⁰.")  # fmt: skip
