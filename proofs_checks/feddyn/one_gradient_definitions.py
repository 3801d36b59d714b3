"""FedDynOneGD, equations (15) and (16): the paper's definitions, compared with the running code on instances."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Identity
from fedconvex.proofs_checks.engines.hilbert import drawn, mean, vector
from fedconvex.proofs_checks.feddyn.exact_runs import Draws, Federation
from fedconvex.proofs_checks.feddyn.notation import P, alpha, m, scale
from fedconvex.proofs_checks.feddyn.one_gradient_notation import (
    memories,
    new_gradients,
    next_h,
    server,
    virtual,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

Formula = Callable[..., Any]


def federation(number: int) -> tuple[Federation, Draws]:
    """An instance, and the draws so far: none, or one round's."""
    made = replace(Federation.random(number), one_gradient=True)
    choices = [*made.draws(0), *made.draws(1)]
    return made, choices[number % len(choices)]


def answers(formula: Formula, number: int) -> tuple[Any, Any]:
    """The answers of all devices, in the running code (each drawn alone) and by the formula."""
    made, before = federation(number)
    point, _, memory = made.state(before)
    rows = zip(made.gradients(point), memory, strict=True)
    return made.virtual(before), [formula(server=point, gradient=g, memory=h, alpha=made.alpha) for g, h in rows]


def memories_by(number: int, everyone: bool) -> tuple[Any, Any]:
    """∇L_k(θ^{t−1}), and h_k^{t−1} − α(θ_k^t − θ^{t−1}): with θ̃_k^t, or as printed with θ_k^t of all devices."""
    made, before = federation(number)
    point, _, memory = made.state(before)
    chosen, new = made.draws(1)[0][0], made.virtual(before)
    old = made.virtual(before[:-1]) if before else [made.start] * made.devices
    models = [new[k] if everyone or k in chosen else old[k] for k in range(made.devices)]
    return made.gradients(point), [h - made.alpha * (x - point) for h, x in zip(memory, models, strict=True)]


def states(formula: Formula, number: int) -> tuple[Any, Any]:
    """h^t of the running code, and the formula of its memories; the memories, and the gradients that they should be."""
    made, before = federation(number)
    _, h, memory = made.state(before)
    point = made.start
    fresh = [made.gradients(point)[k] if before and k in before[0] else 0 for k in range(made.devices)]
    return (h, memory), (formula(memories=memory), fresh)


@proves(feddyn.equation15)
def equation15(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    right = formula(server=server, gradient=new_gradients, memory=memories, alpha=alpha)
    memory = sympy.Symbol("h̃_k^t")
    meant = Relation(memory, "=", sympy.Symbol("h_k^{t-1}−α(θ̃_k^t−θ^{t-1})"))
    printed = Relation(memory, "=", sympy.Symbol("h_k^{t-1}−α(θ_k^t−θ^{t-1})"))
    return Proof(
        (
            Step(r"\tilde\theta_k^t = \theta^{t-1}-\tfrac1\alpha(\nabla L_k(\theta^{t-1})-h_k^{t-1})",
                 "what the running code gives a device that takes part", Relation(virtual, "=", right),
                 Agreement(partial(answers, formula)), place="(15)"),
            Step(r"\tilde h_k^t = h_k^{t-1}-\alpha(\theta_k^t-\theta^{t-1})", "as printed: for a device that is not "
                 "drawn θ_k^t is an old model, and this is not ∇L_k(θ^{t−1})", printed,
                 Agreement(partial(memories_by, everyone=False)), place="(15)", role=Role.PRINTED),
            Step(r"\tilde h_k^t = h_k^{t-1}-\alpha(\tilde\theta_k^t-\theta^{t-1})", "with θ̃_k^t", meant,
                 Agreement(partial(memories_by, everyone=True)), place="(15)"),
            Step(r"\tilde\theta_k^t = \theta^{t-1}-\tfrac1\alpha(\nabla L_k(\theta^{t-1})-h_k^{t-1})",
                 "the vectors of the proofs", Relation(virtual, "=", right), Identity(), place="(15)"),
        ),
        notes="A misprint: in the second part of (15) θ_k^t stands for θ̃_k^t. Algorithm 2 has two more: its input "
              "∇L_k(θ_k⁰) = 0 stands for h_k⁰ = 0 (and h⁰ is missing), and what devices that are not drawn keep is "
              "h_k, not ∇L_k(θ_k).",
        reading=Reading("false: θ_k^t is printed for θ̃_k^t", "with θ̃_k^t for θ_k^t in the second part"),
    )  # fmt: skip


@proves(feddyn.equation16)
def equation16(statement: Statement) -> Proof:
    formula = statement.calculator.formula
    replaced = memories - alpha * (virtual - server)
    kept = mean(memories) + P / m * drawn(replaced - memories, scale)
    state = sympy.Symbol("h^t")
    return Proof((
        Step(r"\tilde h_k^t = h_k^{t-1}-\alpha(\tilde\theta_k^t-\theta^{t-1}) = \nabla L_k(\theta^{t-1})", "(15)",
             Relation(replaced, "=", new_gradients), Identity(), place="(16), second part"),
        Step(r"h^0 = \tfrac1m\sum_k h_k^0 = 0", "where the memories and the state start at 0",
             Relation(mean(0 * memories), "=", 0 * vector("h^0")), Identity()),
        Step(r"h^t = h^{t-1}-\tfrac\alpha m\sum_{k\in P_t}(\theta_k^t-\theta^{t-1}) = \tfrac1m\sum_k h_k^t",
             "induction: the drawn devices' memories change by what the state is changed by",
             Relation(next_h, "=", kept), Identity()),
        Step(r"h^t = \tfrac1m\sum_k h_k^t", "in the running code, where the drawn devices' memories are ∇L_k(θ^{t−1})",
             Relation(state, "=", sympy.Symbol("(1/m)Σ_k h_k^t")), Agreement(partial(states, formula)),
             place="(16), first part"),
    ))  # fmt: skip
