"""Strategies for federated methods with their parameters, for participation schemes, and for simulated runs."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.methods import METHODS, Method
from fedconvex.participation import (
    Bernoulli,
    Full,
    Participation,
    Schedule,
    Uniform,
    UniformThenWeighted,
    Weighted,
)
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.numbers import NumberRange, count_range, numbers_in_interval
from fedconvex.strategies.quadratic import quadratic_problems
from fedconvex.validation import instance_of, integer_at_least, is_choice, members_of, positive, truth_value


def participation_schemes(
    min_value: int = 1,
    max_value: int | None = None,
    *,
    num_clients: int = 1,
    rounds: int = 3,
    kinds: type[Participation] | Sequence[type[Participation]] = Participation,
) -> st.SearchStrategy[Participation]:
    """A strategy for participation schemes that fit problems with `num_clients` clients or more.

    Use it for properties that hold for every scheme; `Full()` is what examples shrink to.

    Args:
        min_value, max_value: the range of the number K of clients in a round, for `Uniform`, `UniformThenWeighted`,
            `Weighted` and `Schedule`; between 1 and num_clients, which is the default maximum.
        num_clients: m >= 1.
        rounds: the number of rounds of a `Schedule`, >= 1.
        kinds: one or several classes, such as fc.participation.Uniform; default all.

    Raises:
        InvalidInput: numbers that do not fit; kinds that are not participation schemes.
    """
    m = integer_at_least(num_clients, 1, "num_clients")
    rounds = integer_at_least(rounds, 1, "rounds")
    low = integer_at_least(min_value, 1, "min_value")
    high = integer_at_least(m if max_value is None else max_value, low, "max_value")
    if high > m:
        raise InvalidInput("max_value", high, f"is more than the {m} clients", "give max_value <= num_clients")
    K = st.integers(low, high)
    # K clients of a random order: sets of the right size without rejected draws
    one_round = st.tuples(st.permutations(range(m)), K).map(lambda drawn: sorted(drawn[0][: drawn[1]]))
    schemes: dict[type[Participation], st.SearchStrategy[Any]] = {
        Full: st.builds(Full),
        Uniform: st.builds(Uniform, K),
        UniformThenWeighted: st.builds(UniformThenWeighted, K),
        Weighted: st.builds(Weighted, K),
        Bernoulli: st.builds(Bernoulli, st.sampled_from([1, Fraction(1, 2), Fraction(1, 4)])),
        Schedule: st.builds(Schedule, st.lists(one_round, min_size=rounds, max_size=rounds)),
    }
    bases = (kinds,) if isinstance(kinds, type) else tuple(members_of(kinds, "kinds", "give classes"))
    for kind in bases:
        instance_of(kind, type, "kinds", "a class", "give such as fedconvex.participation.Uniform")
    chosen = [strategy for scheme, strategy in schemes.items() if issubclass(scheme, bases)]
    if not chosen:
        raise InvalidInput("kinds", kinds, "is no participation scheme", "give such as fedconvex.participation.Uniform")
    return st.one_of(chosen)


MOST_LOCAL_STEPS = 3
SIMPLEST = "FedProx"  # what examples shrink to


def methods(
    min_value: Any = Fraction(1, 8),
    max_value: Any = 4,
    *,
    kinds: type[Method] | Sequence[type[Method]] | None = None,
    exact: bool = True,
) -> st.SearchStrategy[Method]:
    """A strategy for methods of all classes, with drawn parameters and options (`option`, `start`).

    Use it for properties that hold for every method. The drawn parameters need not make the method converge on a given
    problem: for that see `stepsizes_for`. Shrinks to the first class (FedProx), with parameters 1.

    Args:
        min_value, max_value: the range of stepsizes, mu, alpha, eta and so on, 0 < min_value <= max_value.
        kinds: one or several method classes, such as fc.FedProx, or base classes of them; default all.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: kinds that are not method classes; an empty range.
    """
    positive(min_value, "min_value")
    low, high = to_fraction(min_value, "min_value"), to_fraction(max_value, "max_value")
    if high < low:
        raise InvalidInput(
            "max_value", max_value, f"is smaller than min_value = {short_text(min_value)}", "exchange them"
        )
    numbers = numbers_in_interval(low, high, open_low=False, open_high=False, integer=False)
    numbers = numbers if truth_value(exact, "exact") else st.floats(float(low), float(high))
    return st.sampled_from(classes(kinds)).flatmap(lambda kind: of_kind(kind, numbers))


def classes(kinds: Any) -> list[type[Method]]:
    """The final method classes among `kinds` and their subclasses, FedProx first, to which examples shrink."""
    chosen = (
        [Method]
        if kinds is None
        else [kinds]
        if isinstance(kinds, type)
        else members_of(kinds, "kinds", "give method classes")
    )
    for kind in chosen:
        if not (isinstance(kind, type) and issubclass(kind, Method)):
            raise InvalidInput("kinds", kind, "is no method class", "give for example fedconvex.FedProx")
    if not chosen:
        raise InvalidInput("kinds", kinds, "names no method", "name one, or leave it out")
    found = [method for kind in chosen for method in METHODS.values() if issubclass(method, kind)]
    # FedProx first: sampled_from shrinks to its first element
    return sorted(dict.fromkeys(found), key=lambda kind: kind.__name__ != SIMPLEST)


def of_kind(kind: type[Method], numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Method]:
    """A strategy for one class: draws numbers without a default, a small local_steps, and Literal options."""
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        # `number()` fields are the numerical parameters; those with a default keep it
        if field.metadata.get("number") and field.default is MISSING:
            given[field.name] = numbers
        elif get_origin(hints[field.name]) is Literal:
            given[field.name] = st.sampled_from(get_args(hints[field.name]))
        elif field.name == "local_steps":
            given[field.name] = st.integers(1, MOST_LOCAL_STEPS)
    return st.builds(kind, **given)


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
