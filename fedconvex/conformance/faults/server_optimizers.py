"""Faults of the server's optimiser: FedAvgM's momentum, the moments of FedAdagrad, FedAdam and FedYogi."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    client_number,
    of_method,
    original_method,
    with_server,
    with_shared,
)
from fedconvex.conformance.faults.properties import SERVER_MEMORY, SERVER_STEP
from fedconvex.conformance.history import ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadam import FedAdam
from fedconvex.methods.fedavgm import FedAvgM
from fedconvex.methods.fedyogi import FedYogi
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer, ServerOptimizer

is_fedavgm = of_method(FedAvgM)
is_adaptive = of_method(AdaptiveServerOptimizer)
MOMENTUM = "m ← momentum·m + Δ; w ← w + server_stepsize·m, with Δ the average of θ_k − w"
MOMENTS = "m ← beta1·m + (1 − beta1)·Δ and v by the method's rule, with Δ the average of θ_k − w, Δ² entry by entry"
STEP = "w ← w + server_stepsize·m/(√v + tau), with the m and v of this round, without further factors"


def has_momentum(setup: Setup) -> bool:
    """Whether the server averages its progress over the rounds."""
    method = setup.method
    return (is_fedavgm(setup) and bool(method.momentum != 0)) or (is_adaptive(setup) and bool(method.beta1 != 0))  # type: ignore[attr-defined]


def with_momentum(rule: Callable[[FedAvgM, Array, Array], tuple[Array, Array]]) -> UpdateRule:
    """FedAvgM's update with (m⁺, step) = rule(method, m, Δ)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own = original_method(method)
        m, step = rule(own, state.shared["momentum"], own.progress(cohort, answers))
        after = method.update(state, cohort, answers)
        return with_shared(with_server(after, state.server + own.server_stepsize * step), momentum=m)

    return update


def with_moments(
    square: Callable[[Any, Cohort, Answers], Array] | None = None,
    step: Callable[[Any, Array, Array, Cohort], Array] = lambda own, m, v, cohort: (
        m / (cohort.square_root(v) + own.tau)
    ),
    second: Callable[[Any, Array, Array, Cohort], Array] = lambda own, v, square, cohort: own.second_moment(
        v, square, cohort
    ),
    first: Callable[[Any, Array, Array], Array] = lambda own, m, delta: own.beta1 * m + (1 - own.beta1) * delta,
) -> UpdateRule:
    """An adaptive server's update with one part replaced."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own = original_method(method)
        delta = own.progress(cohort, answers)
        squared = delta * delta if square is None else square(own, cohort, answers)
        m = first(own, state.shared["first_moment"], delta)
        v = second(own, state.shared["second_moment"], squared, cohort)
        after = method.update(state, cohort, answers)
        server = state.server + own.server_stepsize * step(own, m, v, cohort)
        return with_shared(with_server(after, server), first_moment=m, second_moment=v)

    return update


def corrected(in_the_stepsize: bool) -> UpdateRule:
    """Adam's correction of moments that start at 0: in the stepsize, so that τ is not divided, or of each moment."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own, t = original_method(method), client_number(state.shared[ROUND][0]) + 1
        after = method.update(state, cohort, answers)
        m, v = after.shared["first_moment"], after.shared["second_moment"]
        m = m / (1 - own.beta1**t)
        root = cohort.square_root(v / (1 - own.beta2**t))
        tau = own.tau / cohort.square_root(0 * v + (1 - own.beta2**t)) if in_the_stepsize else own.tau
        return with_server(after, state.server + own.server_stepsize * m / (root + tau))

    return update


def from_zero(setup: Setup) -> Setup:
    """The setup whose second moment starts at 0."""
    return Setup(replace(setup.method, initial=0), setup.given)  # type: ignore[type-var]


def wrong_way(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with w ← w − step."""
    after = method.update(state, cohort, answers)
    return with_server(after, 2 * state.server - after.server)


def with_earlier_second_moment(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update that divides by √v + τ with the v before this round."""
    own, after = original_method(method), method.update(state, cohort, answers)
    divisor = cohort.square_root(state.shared["second_moment"]) + own.tau
    return with_server(after, state.server + own.server_stepsize * after.shared["first_moment"] / divisor)


def clients_squares(own: Any, cohort: Cohort, answers: Answers) -> Array:
    """The average of (θ_k − w)²."""
    moved = answers.points - cohort.points
    return cohort.average(moved * moved)


FAULTS = (
    Fault(
        name="the server moves against the clients' progress",
        cure="add server_stepsize times the progress θ_k − w, or subtract w − θ_k",
        breaks=SERVER_STEP,
        applies=of_method(ServerOptimizer),
        update=wrong_way,
    ),
    Fault(
        name="the server's momentum is left out",
        cure=MOMENTUM,
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_fedavgm(setup) and has_momentum(setup),
        update=with_momentum(lambda own, m, delta: (m, delta)),
    ),
    Fault(
        name="the server's momentum multiplies new progress by 1 − momentum",
        cure=MOMENTUM + "; or divide server_stepsize by 1 − momentum",
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_fedavgm(setup) and has_momentum(setup),
        update=with_momentum(lambda own, m, delta: (own.momentum * m + (1 - own.momentum) * delta,) * 2),
    ),
    Fault(
        name="the server's momentum is Nesterov's",
        cure=MOMENTUM,
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_fedavgm(setup) and has_momentum(setup),
        update=with_momentum(
            lambda own, m, delta: (own.momentum * m + delta, own.momentum * (own.momentum * m + delta) + delta)
        ),
    ),
    Fault(
        name="the server moves by the momentum of the round before",
        cure=MOMENTUM,
        breaks=SERVER_STEP,
        applies=is_fedavgm,
        update=with_momentum(lambda own, m, delta: (own.momentum * m + delta, m)),
    ),
    Fault(
        name="the server's stepsize is ignored",
        cure=MOMENTUM,
        breaks=SERVER_STEP,
        applies=lambda setup: is_fedavgm(setup) and setup.method.server_stepsize != 1,  # type: ignore[attr-defined]
        parameters=lambda setup: Setup(replace(setup.method, server_stepsize=1), setup.given),  # type: ignore[type-var]
    ),
    Fault(
        name="the first moment is left out",
        cure=MOMENTS,
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_adaptive(setup) and has_momentum(setup),
        update=with_moments(first=lambda own, m, delta: delta),
    ),
    Fault(
        name="the first moment does not multiply new progress by 1 − beta1",
        cure=MOMENTS,
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_adaptive(setup) and has_momentum(setup),
        update=with_moments(first=lambda own, m, delta: own.beta1 * m + delta),
    ),
    Fault(
        name="the second moment starts at 0 instead of tau²",
        cure="start v at tau², the least that the paper allows; or check with initial=0",
        breaks=SERVER_MEMORY,
        applies=lambda setup: is_adaptive(setup) and bool(setup.method.initial != 0),  # type: ignore[attr-defined]
        parameters=from_zero,
    ),
    Fault(
        name="the second moment averages the squares of the clients' steps, not the square of their average",
        cure=MOMENTS,
        breaks=SERVER_MEMORY,
        applies=is_adaptive,
        update=with_moments(square=clients_squares),
    ),
    Fault(
        name="the second moment is that of the round before",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_adaptive,
        update=with_earlier_second_moment,
    ),
    Fault(
        name="the second moment's root is not taken",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_adaptive,
        update=with_moments(step=lambda own, m, v, cohort: m / (v + own.tau)),
    ),
    Fault(
        name="tau is added under the root",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_adaptive,
        update=with_moments(step=lambda own, m, v, cohort: m / cohort.square_root(v + own.tau)),
    ),
    Fault(
        name="the moments are corrected for their start, each by itself",
        cure=STEP + " (Adam's correction is not in the paper's algorithm)",
        breaks=SERVER_STEP,
        applies=of_method(FedAdam, FedYogi),
        update=corrected(in_the_stepsize=False),
    ),
    Fault(
        name="the moments are corrected for their start, in the stepsize",
        cure=STEP + " (Adam's correction is not in the paper's algorithm)",
        breaks=SERVER_STEP,
        applies=of_method(FedAdam, FedYogi),
        update=corrected(in_the_stepsize=True),
    ),
    Fault(
        name="the second moment is FedYogi's",
        cure="v ← beta2·v + (1 − beta2)·Δ²",
        breaks=SERVER_MEMORY,
        applies=of_method(FedAdam),
        update=with_moments(
            second=lambda own, v, square, cohort: v - (1 - own.beta2) * square * cohort.sign(v - square)
        ),
    ),
    Fault(
        name="the second moment is FedAdam's",
        cure="v ← v − (1 − beta2)·Δ²·sign(v − Δ²)",
        breaks=SERVER_MEMORY,
        applies=of_method(FedYogi),
        update=with_moments(second=lambda own, v, square, cohort: own.beta2 * v + (1 - own.beta2) * square),
    ),
)
