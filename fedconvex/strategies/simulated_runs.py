"""Runs."""

from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.methods import METHODS
from fedconvex.strategies.federated_methods import methods
from fedconvex.strategies.numbers import Draw, NumberRange, counts
from fedconvex.strategies.participation import participation_schemes
from fedconvex.strategies.quadratic import quadratic_problems

RANDOM = {"FedAvg"}  # their local solvers draw mini-batches, which quadratic problems have none of


def trajectories(
    min_value: int = 0,
    max_value: int = 3,
    *,
    problems: st.SearchStrategy[Any] | None = None,
    methods: st.SearchStrategy[Any] | None = None,
    everyone: bool = False,
    arithmetic: str = "exact",
) -> st.SearchStrategy[fc.Trajectory]:
    """Runs of any method on any problem from any start. Shrinks to no round, one client, d = 1.

    Args:
        min_value, max_value: of the number of rounds.
        problems: default `quadratic_problems(mu=1, L=4)`.
        methods: default all whose local solvers draw nothing at random.
        everyone: all clients take part in every round; False: a participation scheme is drawn, where the method
            allows for it.
        arithmetic: of the run; "exact" has Fractions as points.

    Raises:
        InvalidInput: for a range of rounds that contains nothing.
    """
    rounds = counts(min_value, max_value, "value", smallest=0)
    chosen_problems = quadratic_problems(mu=1, L=4) if problems is None else problems
    chosen_methods = _without_chance() if methods is None else methods

    @st.composite
    def build(draw: Draw) -> fc.Trajectory:
        problem, method, T = draw(chosen_problems), draw(chosen_methods), draw(st.integers(*rounds))
        scheme: Any = fc.participation.Full()
        if not everyone and not method.needs_everyone:
            scheme = draw(participation_schemes(num_clients=problem.num_clients, rounds=max(T, 1)))
        x0 = NumberRange(-3, 3, arithmetic == "exact").several(draw, problem.dim)
        seed = draw(st.integers(0, 10))
        return fc.simulate(method, problem, T, scheme, x0=x0, seed=seed, arithmetic=arithmetic, progress=False)

    return build()


def _without_chance() -> st.SearchStrategy[Any]:
    return methods(kinds=[kind for name, kind in METHODS.items() if name not in RANDOM])
