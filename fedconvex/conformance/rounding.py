"""How rounding errors grow on cross-entropies: by simulating them.

Balls overestimate by a factor in every step how errors grow through a softmax, and after a few rounds say nothing. Runs
whose every gradient is disturbed at random, by about what rounding a step and its gradient would change, show how far
errors carry. The disturbance is much larger than float64's own rounding and much smaller than any nonlinearity.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import Array, nearest_float
from fedconvex.conformance.classification import SoftmaxClients
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.setup import Setup
from fedconvex.participation import Draw
from fedconvex.runs.rounds import Rounds

UNIT = 2.0**-30  # the relative size of a disturbance
RUNS = 8


def error_growth(setup: Setup, scenario: Scenario, rounds: Rounds, draws: list[Draw]) -> np.ndarray:
    """The largest change of any model after every round, (T + 1,), in units of the relative size of the disturbance."""
    stepsize = nearest_float(setup.solver.stepsize)  # type: ignore[attr-defined] # gradient steps, as was required
    largest_feature = max(1.0, *(float(np.abs(A).max()) for A in scenario.problem.A))  # type: ignore[attr-defined]
    undisturbed = list(_models(rounds, scenario, draws))
    growth = np.zeros(len(draws) + 1)
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)

        def disturb(X: Array, gradients: Array, generator: np.random.Generator = generator) -> Array:
            # rounding θ by one unit is as much as changing the gradient by that unit over the stepsize
            size = largest_feature + np.abs(X).max(1, keepdims=True) / stepsize
            return gradients + UNIT * size * generator.uniform(-1, 1, gradients.shape)

        assert isinstance(rounds.clients, SoftmaxClients)
        disturbed = replace(rounds, clients=rounds.clients.disturbed(disturb))
        for t, (models, others) in enumerate(zip(undisturbed, _models(disturbed, scenario, draws), strict=True)):
            growth[t + 1] = max(growth[t + 1], float(np.abs(models - others).max()) / UNIT)
    return np.maximum.accumulate(growth)


def _models(rounds: Rounds, scenario: Scenario, draws: list[Draw]) -> Iterator[np.ndarray]:
    """The server's and the active clients' models after every round, (1 + K, d)."""
    with arithmetics.get("float").context(), np.errstate(all="ignore"):
        state = rounds.start(scenario.first_point)
        for draw in draws:
            played = rounds.play(state, draw)
            assert played is not None
            state = played.state
            yield np.vstack([state.server[None], played.answers.points])
