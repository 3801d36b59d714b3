"""Faults of the server's optimiser: FedAvgM's momentum, the moments of FedAdagrad, FedAdam and FedYogi."""

from collections.abc import Callable, Mapping
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import SERVER_MEMORY, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    client_number,
    of_method,
    original_method,
    other_than,
    server_to,
    with_parameters,
    with_server,
    with_shared,
)
from fedconvex.conformance.history import ROUND
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer, FedAdam, FedAvgM, FedYogi, ServerOptimizer

Shared = Mapping[str, Array]  # what the server keeps
Step = Callable[[Any, Shared, Shared, Cohort], Array]  # given the method, what the server kept before and keeps now

ADAM = " (Adam's correction is not in the paper's algorithm)"
MOMENTUM = Rule(
    SERVER_MEMORY, of_method(FedAvgM), "m ← momentum·m + Δ; w ← w + server_stepsize·m, with Δ the average of θ_k − w"
)
MOMENTUM_STEP = Rule(SERVER_STEP, of_method(FedAvgM), MOMENTUM.cure)
MOMENTS = Rule(
    SERVER_MEMORY,
    of_method(AdaptiveServerOptimizer),
    "m ← beta1·m + (1 − beta1)·Δ and v by the method's rule, with Δ the average of θ_k − w, Δ² entry by entry",
)
STEP = Rule(
    SERVER_STEP,
    of_method(AdaptiveServerOptimizer),
    "w ← w + server_stepsize·m/(√v + tau), with the m and v of this round, without further factors",
)


def right_step(own: Any, before: Shared, after: Shared, cohort: Cohort) -> Array:
    """The step of the method's rule, without its stepsize."""
    if isinstance(own, FedAvgM):
        return after["momentum"]
    return after["first_moment"] / (cohort.square_root(after["second_moment"]) + own.tau)


def with_optimizer(step: Step = right_step, **kept: Callable[..., Array]) -> UpdateRule:
    """The update with another step, and with kept entries that are rule(method, old, Δ, cohort, answers)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own, after = original_method(method), method.update(state, cohort, answers)
        given = (own.progress(cohort, answers), cohort, answers)
        after = with_shared(after, **{name: rule(own, state.shared[name], *given) for name, rule in kept.items()})
        return with_server(after, state.server + own.server_stepsize * step(own, state.shared, after.shared, cohort))

    return update


def corrected(in_the_stepsize: bool) -> Step:
    """Adam's correction of moments that start at 0: in the stepsize, so that τ is not divided, or of each moment."""

    def step(own: Any, before: Shared, after: Shared, cohort: Cohort) -> Array:
        t = client_number(before[ROUND][0]) + 1
        v = after["second_moment"] / (1 - own.beta2**t)
        tau = own.tau / cohort.square_root(0 * v + (1 - own.beta2**t)) if in_the_stepsize else own.tau
        return after["first_moment"] / (1 - own.beta1**t) / (cohort.square_root(v) + tau)

    return step


def of_clients_squares(own: Any, v: Array, delta: Array, cohort: Cohort, answers: Answers) -> Array:
    """The second moment of the average of (θ_k − w)²."""
    moved = answers.points - cohort.points
    second: Array = own.second_moment(v, cohort.average(moved * moved), cohort)
    return second


FAULTS = (
    Rule(SERVER_STEP, of_method(ServerOptimizer)).broken(
        "the server moves against the clients' progress",
        "add server_stepsize times the progress θ_k − w, or subtract w − θ_k",
        update=server_to(lambda method, before, after, *_: 2 * before.server - after.server),
    ),
    MOMENTUM.broken(
        "the server's momentum is left out",
        where=other_than(momentum=0),
        update=with_optimizer(momentum=lambda own, m, delta, *_: delta),
    ),
    MOMENTUM.broken(
        "the server's momentum is Nesterov's",
        where=other_than(momentum=0),
        update=with_optimizer(
            lambda own, before, after, cohort: (
                (1 + own.momentum) * after["momentum"] - own.momentum * before["momentum"]
            )
        ),
    ),
    MOMENTUM.broken(
        "the server's momentum multiplies new progress by 1 − momentum",
        MOMENTUM.cure + "; or divide server_stepsize by 1 − momentum",
        where=other_than(momentum=0),
        update=with_optimizer(momentum=lambda own, m, delta, *_: own.momentum * m + (1 - own.momentum) * delta),
    ),
    MOMENTUM_STEP.broken(
        "the server moves by the momentum of the round before",
        update=with_optimizer(lambda own, before, after, cohort: before["momentum"]),
    ),
    MOMENTUM_STEP.broken(
        "the server's stepsize is ignored",
        where=other_than(server_stepsize=1),
        parameters=with_parameters(server_stepsize=1),
    ),
    MOMENTS.broken(
        "the first moment is left out",
        where=other_than(beta1=0),
        update=with_optimizer(first_moment=lambda own, m, delta, *_: delta),
    ),
    MOMENTS.broken(
        "the first moment does not multiply new progress by 1 − beta1",
        where=other_than(beta1=0),
        update=with_optimizer(first_moment=lambda own, m, delta, *_: own.beta1 * m + delta),
    ),
    MOMENTS.broken(
        "the second moment starts at 0 instead of tau²",
        "start v at tau², the least that the paper allows; or check with initial=0",
        where=other_than(initial=0),
        parameters=with_parameters(initial=0),
    ),
    MOMENTS.broken(
        "the second moment averages the squares of the clients' steps, not the square of their average",
        update=with_optimizer(second_moment=of_clients_squares),
    ),
    *STEP.each(
        "update",
        with_optimizer,
        {
            "the second moment is that of the round before": lambda own, before, after, cohort: (
                after["first_moment"] / (cohort.square_root(before["second_moment"]) + own.tau)
            ),
            "the second moment's root is not taken": lambda own, before, after, cohort: (
                after["first_moment"] / (after["second_moment"] + own.tau)
            ),
            "tau is added under the root": lambda own, before, after, cohort: (
                after["first_moment"] / cohort.square_root(after["second_moment"] + own.tau)
            ),
        },
    ),
    *(
        STEP.broken(
            f"the moments are corrected for their start, {how}",
            STEP.cure + ADAM,
            where=of_method(FedAdam, FedYogi),
            update=with_optimizer(corrected(in_the_stepsize)),
        )
        for how, in_the_stepsize in (("each by itself", False), ("in the stepsize", True))
    ),
    MOMENTS.broken(
        "the second moment is FedYogi's",
        "v ← beta2·v + (1 − beta2)·Δ²",
        where=of_method(FedAdam),
        update=with_optimizer(second_moment=lambda own, v, d, cohort, _: FedYogi.second_moment(own, v, d * d, cohort)),
    ),
    MOMENTS.broken(
        "the second moment is FedAdam's",
        "v ← v − (1 − beta2)·Δ²·sign(v − Δ²)",
        where=of_method(FedYogi),
        update=with_optimizer(second_moment=lambda own, v, d, cohort, _: FedAdam.second_moment(own, v, d * d, cohort)),
    ),
)
