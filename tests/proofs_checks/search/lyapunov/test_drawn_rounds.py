"""K of m clients, drawn: expectations against every possible draw, played by the package's own rounds."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of, parts_of

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Uniform, Weighted
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

FEW = settings(max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip


def fractions(low, high):
    return st.fractions(low, high, max_denominator=20)


def every_draw(m, K):
    return [Draw(np.array(chosen), np.ones(K, dtype=np.int64)) for chosen in combinations(range(m), K)]


def value(function, state):
    """V at a state, which measures nothing but the state here."""
    total = 0
    for part, matrix in zip(function.posed.coordinates.parts, function.matrices, strict=True):
        u = parts_of(function, part, state, [])
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                total += entry * (u[i] * u[j]).sum() / (1 if u[i].ndim == 1 else len(u[i]))
    return total


METHODS = [
    fc.FedDyn(alpha=2), fc.FedDynOneGD(alpha=12), fc.FedSplit(stepsize=F(1, 2)), fc.DANE(mu=6),
    fc.Scaffold(stepsize=F(1, 8), local_steps=2), fc.Scaffold(stepsize=F(1, 12), local_steps=3, option=1),
]  # fmt: skip


@FEW
@given(data=st.data(), method=st.sampled_from(METHODS), count=st.sampled_from([(2, 1), (3, 1), (3, 2), (4, 2)]))
def test_no_expectation_over_all_draws_is_above_what_is_proved(data, method, count):
    m, K = count
    found = lyapunov(method, SmoothStronglyConvex(1, 4), m, participation=Uniform(K))
    assert found.lower <= found.upper
    if found.function is None:
        return
    curvatures = [data.draw(st.sampled_from([F(1), F(4), data.draw(fractions(1, 4))])) for _ in range(m)]
    hessians = [np.array([[a]], dtype=object) for a in curvatures]
    pulls = [np.array([data.draw(fractions(-3, 3))], dtype=object) for _ in range(m)]
    here = rounds_of(found.method, fc.Quadratic(hessians, pulls), "exact")
    start = here.start(here.arithmetic.array([data.draw(fractions(-3, 3))]))
    errors = here.advance(start, data.draw(st.sampled_from(every_draw(m, K))))
    still = rounds_of(found.method, fc.Quadratic(hessians, [0 * pull for pull in pulls]), "exact")
    after = [value(found.function, still.advance(errors, draw)) for draw in every_draw(m, K)]
    assert sum(after) / len(after) <= found.upper * value(found.function, errors)


@pytest.mark.sample(4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("m", "K"), [(2, 1), (4, 1)])
def test_expected_squares_decrease_as_the_lower_bound_says(method, m, K):
    """The second moments of the state, over every draw, on the federation that is the slowest."""
    found = lyapunov(method, SmoothStronglyConvex(1, 4), m, participation=Uniform(K))
    problem = found.federation()
    still = rounds_of(method, fc.Quadratic([np.eye(1) * a for a in problem.L], [np.zeros(1)] * m), "float")
    here = rounds_of(method, fc.Quadratic([np.eye(1) * a for a in problem.L], [np.ones(1)] + [np.zeros(1)] * (m - 1)))
    fixed = here.start(np.zeros(1))
    for _ in range(4000):
        fixed = here.advance(fixed)
    begun = here.start(np.zeros(1) + 1)
    error = begun.flat() - fixed.flat()
    maps = [
        np.array([still.advance(begun.with_values(unit), draw).flat() for unit in np.eye(len(error))]).T
        for draw in every_draw(m, K)
    ]
    basis = error[:, None] / np.linalg.norm(error)
    for _ in range(len(error)):  # only what the error reaches: rounding must not leave the invariants
        U, sizes, _ = np.linalg.svd(np.hstack([basis, *(M @ basis for M in maps)]))
        basis = U[:, : (sizes > 1e-9 * sizes[0]).sum()]
    maps = [basis.T @ M @ basis for M in maps]
    second, size = np.outer(basis.T @ error, basis.T @ error), 0.0
    for _ in range(3000):
        second = sum(M @ second @ M.T for M in maps) / len(maps)
        size = np.trace(second)
        second = second / size
    assert size == pytest.approx(float(found.lower), rel=1e-3)


def test_everyone_drawn_is_everyone():
    everyone = lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), 3)
    assert lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), 3, participation=Uniform(3)).upper == everyone.upper


def test_a_thousand_clients_take_no_longer_than_two():
    rates = [lyapunov(fc.FedSplit(stepsize=F(1, 2)), SmoothStronglyConvex(1, 4), 1000, participation=Uniform(K))
             for K in (1, 10, 500)]  # fmt: skip
    assert [found.tight for found in rates] == [True] * 3
    # every client's error shrinks by 1/9 in the rounds in which it is drawn: 1 − (8/9)·K/m
    assert [found.lower for found in rates] == [1 - F(8, 9) * F(K, 1000) for K in (1, 10, 500)]


def test_a_smaller_rate_is_rejected():
    found = lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), 10, participation=Uniform(5)).function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, rate=found.rate * F(99, 100))
    with pytest.raises(ValueError, match="no proof"):
        replace(
            found, posed=replace(found.posed, expected={pair: form * 2 for pair, form in found.posed.expected.items()})
        )


@pytest.mark.parametrize(
    ("method", "m", "participation", "words"),
    [
        (fc.FedPD(eta=1), 2, Uniform(1), "depend on which other clients are sampled"),
        (fc.FedDANE(mu=4), 2, Uniform(1), "is not analysed here"),
        (fc.FedDyn(alpha=2), 2, Weighted(1), "is not analysed here"),
        (fc.FedDyn(alpha=2), "any", Uniform(1), "needs"),
        (fc.FedGD(stepsize=F(1, 4)), 2, Uniform(1), "has a biased fixed point"),
    ],
)
def test_what_is_not_analysed_is_refused(method, m, participation, words):
    with pytest.raises(InvalidInput, match=words):
        lyapunov(method, SmoothStronglyConvex(1, 4), m, participation=participation)


def test_the_helper_reads_fractions():
    assert fractions_of([F(1, 2)])[0] == F(1, 2)
