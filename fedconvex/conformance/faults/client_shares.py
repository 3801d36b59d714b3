"""A weight that is one number in the method, scaled by each client's number of samples."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import PARAMETERS, PULL, Rule
from fedconvex.conformance.faults.building_blocks import (
    SubproblemRule,
    UpdateRule,
    both,
    is_proximal,
    of_method,
    original_method,
    takes_steps,
    with_memory,
    with_server,
    with_shared,
    with_term,
)
from fedconvex.conformance.history import SAMPLES
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import FedDyn

Factors = Callable[[State], Array]  # one for each active client, (K, 1)


def samples(state: State) -> Array:
    """n_k."""
    return state.memory[SAMPLES]


def relative_samples(state: State) -> Array:
    """m·n_k/Σn, which is 1 on average."""
    everyones = state.shared[SAMPLES]
    return len(everyones) * state.memory[SAMPLES] / everyones.sum(0)


SCALINGS: tuple[tuple[str, Factors], ...] = (
    ("divided by the client's number of samples", lambda state: 1 / samples(state)),
    ("multiplied by the client's number of samples", samples),
    ("divided by the client's relative number of samples, m·n_k/Σn", lambda state: 1 / relative_samples(state)),
    ("multiplied by the client's relative number of samples, m·n_k/Σn", relative_samples),
)


def with_weights(factors: Factors) -> SubproblemRule:
    """The subproblem with a proximal weight of its own for each client."""
    return with_term(lambda sub, state: replace(sub, weight=sub.weight * factors(state)))


def with_own_alpha(factors: Factors) -> UpdateRule:
    """The update with g_k ← g_k − α_k(θ_k − w), while the server divides by α."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        after, alpha = method.update(state, replace(cohort, everyone=False), answers), original_method(method).alpha
        more = alpha * (1 - factors(state)) * (answers.points - cohort.points)
        h, own = cohort.population_mean(more), after.memory["gradient"] + more
        grown = with_shared(with_memory(after, gradient=own), h=after.shared["h"] + h)
        return with_server(grown, after.server - h / alpha)

    return update


CURE = "pass one {} on to all clients: their numbers of samples count in the average, and in sums over samples"
WEIGHT = Rule(PULL, both(is_proximal, takes_steps(2)), CURE.format("weight"))
ALPHA = Rule(PARAMETERS, both(of_method(FedDyn), takes_steps(1)), CURE.format("alpha"))

FAULTS = (
    *(
        WEIGHT.broken(f"the proximal term's weight is {how}", subproblem=with_weights(factors))
        for how, factors in SCALINGS
    ),
    *(
        ALPHA.broken(f"alpha is {how}", subproblem=with_weights(factors), update=with_own_alpha(factors))
        for how, factors in SCALINGS
    ),
)
