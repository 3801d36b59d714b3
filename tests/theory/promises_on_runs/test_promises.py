"""A statement that is asked for alone is answered as among all."""

import pytest
from promises import Asked

import fedconvex as fc
from fedconvex.theory import bounds_for
from fedconvex.theory.bounds import Applies

TWO = fc.LeastSquares([[[1, 2], [3, 1]], [[0, 1], [2, 2]]], [[1, 2], [3, 1]])
RUNS = [
    (fc.FedProx(mu=50), fc.participation.Weighted(2), {"gammas": [0, 0]}),
    (fc.FedDyn(alpha=900), fc.participation.Uniform(1), {}),
    (fc.FedSplit(stepsize=1), None, {"epsilon": 1}),
]


@pytest.mark.parametrize(("method", "scheme", "given"), RUNS, ids=lambda v: type(v).__name__)
def test_one_statement_is_answered_as_among_all(method, scheme, given) -> None:
    everything = bounds_for(method, TWO, scheme, x0=[1, -1], rounds=3, **given)
    alone = Asked(method, TWO, scheme, x0=[1, -1], rounds=3, **given)
    assert everything.applies
    assert everything.does_not
    for entry in everything:
        other = alone[entry.statement.identifier]
        assert type(other) is type(entry)
        if isinstance(entry, Applies):
            assert str(other.value) == str(entry.value)
        else:
            assert (other.verdict, other.assumption, other.reason) == (entry.verdict, entry.assumption, entry.reason)
