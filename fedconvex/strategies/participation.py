"""Strategies for participation schemes."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fedconvex.errors import InvalidInput
from fedconvex.participation import (
    Bernoulli,
    Full,
    Participation,
    Schedule,
    Uniform,
    UniformThenWeighted,
    Weighted,
)
from fedconvex.validation import instance_of, integer_at_least, members_of


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
