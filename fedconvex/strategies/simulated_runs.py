"""A strategy for simulated runs."""

from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.methods import METHODS
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.federated_methods import methods
from fedconvex.strategies.numbers import NumberRange, count_range
from fedconvex.strategies.participation import participation_schemes
from fedconvex.strategies.quadratic import quadratic_problems
from fedconvex.validation import is_choice

COORDINATES = 8  # that are drawn for an initial point, whatever the problem, so that both shrink by themselves
NEEDS_SAMPLES = {"FedAvg"}  # its local solver draws mini-batches, and `Quadratic` problems have no samples


def trajectories(
    min_value: int = 0,
    max_value: int = 3,
    *,
    problems: st.SearchStrategy[Any] | None = None,
    methods: st.SearchStrategy[Any] | None = None,
    everyone: bool = False,
    arithmetic: str = "exact",
) -> st.SearchStrategy[fc.Trajectory]:
    """A strategy for runs of `simulate`: a method, a problem, a starting point and a participation scheme.

    Use it for properties of iterates, such as bounds per round. Shrinks to no round, one client, d = 1.

    Args:
        min_value, max_value: the range of the number of rounds.
        problems: a strategy, default `quadratic_problems(mu=1, L=4)`.
        methods: a strategy, default all methods whose local solvers need no samples and, in exact arithmetic, whose
            servers take no square roots.
        everyone: full participation; False: draw a participation scheme if the method allows it.
        arithmetic: of the run; "exact" gives points with Fractions.

    Raises:
        InvalidInput: an empty range of rounds.
    """
    rounds = count_range(min_value, max_value, "value", smallest=0)
    chosen_problems = quadratic_problems(mu=1, L=4) if problems is None else problems
    chosen_methods = _methods_in(arithmetic) if methods is None else methods

    span = NumberRange(-3, 3, is_choice(arithmetic, ["exact"]))

    def vector(draws: ByteDraws) -> list[Any]:
        denominator = span.denominator(draws)
        return [span.number(draws, denominator) for _ in range(COORDINATES)]

    coordinates = from_bytes(vector)

    @st.composite
    def build(draw: st.DrawFn) -> fc.Trajectory:
        problem, method, T = draw(chosen_problems), draw(chosen_methods), draw(st.integers(*rounds))
        scheme: Any = fc.participation.Full()
        if not everyone and not method.needs_everyone:
            scheme = draw(participation_schemes(num_clients=problem.num_clients, rounds=max(T, 1)))
        drawn = draw(coordinates)
        x0 = [drawn[i % len(drawn)] for i in range(problem.dim)]
        seed = draw(st.integers(0, 10))
        return fc.simulate(method, problem, T, scheme, x0=x0, seed=seed, arithmetic=arithmetic, progress=False)

    return build()


def _methods_in(arithmetic: str) -> st.SearchStrategy[Any]:
    """The methods that run on quadratics in that arithmetic."""
    kinds = {name: kind for name, kind in METHODS.items() if name not in NEEDS_SAMPLES}
    exact = is_choice(arithmetic, ["exact"])  # anything else, an array among them, is refused where a run starts
    return methods(kinds=[kind for kind in kinds.values() if not (exact and kind.takes_square_roots)])
