"""K of m clients, drawn: expectations against every possible draw, played by the package's own rounds."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of, parts_of
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Draw, Schedule, Uniform, Weighted
from fedconvex.proofs_checks import SimilarClients, SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.search.lyapunov.coordinates import coordinates, memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.drawn_federations import counts_to_try
from fedconvex.proofs_checks.search.lyapunov.lyapunov import _best, specified
from fedconvex.proofs_checks.search.lyapunov.posed_round import pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.second_moments import second_moments
from fedconvex.proofs_checks.symbolic.randomness import draws_of
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

FEW = settings(max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip


def value(function, state, curvatures):
    """V at a state of clients a_k x²/2, where their gradients are those that they remember, and where the server is."""
    posed, total = function.posed, 0
    factors = memories_at_rest(posed.coordinates)
    points = [
        fractions_of(state.memory[name[:-2]]) / F(int(factors[name].p), int(factors[name].q))
        / np.array(curvatures, dtype=object)[:, None]
        for name in factors if any(f"({name}" in known for known in posed.names.values())
    ]  # fmt: skip
    parts = [part.part for part in posed.coordinates.parts]
    for part, matrix in zip(posed.coordinates.parts, function.matrices, strict=True):
        u = parts_of(function, part, state, points)
        assert len(u) == len(matrix) == sum(place[0] == part.part for place in posed.names)
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                total += entry * (u[i] * u[j]).sum() / (1 if u[i].ndim == 1 else len(u[i]))
    weights = [c for (place, _), c in function.entries.items() if place[0] not in parts]
    if "F(server) − F(minimiser)" in posed.names.values():
        points = [*points, np.array([fractions_of(state.server)] * len(curvatures))]
    for x, weight in zip(points, weights, strict=True):
        total += weight * sum(a * (row * row).sum() / 2 for a, row in zip(curvatures, x, strict=True)) / len(x)
    return total


METHODS = [
    fc.FedDyn(alpha=2), fc.FedDynOneGD(alpha=12), fc.FedSplit(stepsize=F(1, 2)), fc.DANE(mu=6),
    fc.Scaffold(stepsize=F(1, 8), local_steps=2), fc.Scaffold(stepsize=F(1, 12), local_steps=3, option=1),
    fc.Scaffnew(stepsize=F(1, 6), probability=F(2, 3)),
]  # fmt: skip


def every_round(method, scheme, m):
    """Every draw, with and without communication where that is random, and the probabilities."""
    tosses = [(1 - F(method.skip), True), (F(method.skip), False)]
    every = draws_of(scheme, m).every()
    return [(p * q, replace(draw, communicates=yes)) for (p, draw), (q, yes) in product(every, tosses) if q]


SCHEMES = [
    (2, Uniform(1)),
    (3, Uniform(1)),
    (3, Uniform(2)),
    (4, Uniform(2)),
    (3, Weighted(2)),
    (3, Bernoulli(F(1, 2))),
]


@cache  # many federations for each proof
def drawn(method, m, scheme):
    return lyapunov(method, SmoothStronglyConvex(1, 4), m, participation=scheme)


@FEW
@given(data=st.data(), method=st.sampled_from(METHODS), scheme=st.sampled_from(SCHEMES))
def test_no_expectation_over_all_draws_is_above_what_is_proved(data, method, scheme):
    m, participation = scheme
    found, every = drawn(method, m, participation), every_round(method, participation, m)
    assert found.lower <= found.upper
    if found.function is None:
        return
    curvatures = [data.draw(st.sampled_from([F(1), F(4), data.draw(rationals(1, 4))])) for _ in range(m)]
    hessians = [np.array([[a]], dtype=object) for a in curvatures]
    pulls = [np.array([data.draw(rationals(-3, 3))], dtype=object) for _ in range(m)]
    here = rounds_of(found.method, fc.Quadratic(hessians, pulls), "exact")
    start = here.start(here.arithmetic.array([data.draw(rationals(-3, 3))]))
    errors = here.advance(start, data.draw(st.sampled_from([draw for _, draw in every])))
    still = rounds_of(found.method, fc.Quadratic(hessians, [0 * pull for pull in pulls]), "exact")
    after = sum(p * value(found.function, still.advance(errors, draw), curvatures) for p, draw in every)
    assert after <= found.upper * value(found.function, errors, curvatures)


@pytest.mark.sample(4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("m", "participation"), [(2, Uniform(1)), (4, Uniform(1)), *SCHEMES[-2:]])
def test_expected_squares_decrease_as_the_lower_bound_says(method, m, participation):
    """The second moments of the state, over every draw, on the federation that is the slowest."""
    found = drawn(method, m, participation)
    problem = found.federation()
    still = rounds_of(method, fc.Quadratic([np.eye(1) * a for a in problem.L], [np.zeros(1)] * m), "float")
    here = rounds_of(method, fc.Quadratic([np.eye(1) * a for a in problem.L], [np.ones(1)] + [np.zeros(1)] * (m - 1)))
    fixed = here.start(np.zeros(1))
    for _ in range(4000):
        fixed = here.advance(fixed, Draw(communicates=True))
    begun = here.start(np.zeros(1) + 1)
    error = begun.flat() - fixed.flat()
    every = every_round(method, participation, m)
    maps = [
        np.array([still.advance(begun.with_values(unit), draw).flat() for unit in np.eye(len(error))]).T
        for _, draw in every
    ]
    basis = error[:, None] / np.linalg.norm(error)
    for _ in range(len(error)):  # only what the error reaches: rounding must not leave the invariants
        U, sizes, _ = np.linalg.svd(np.hstack([basis, *(M @ basis for M in maps)]))
        basis = U[:, : (sizes > 1e-9 * sizes[0]).sum()]
    maps = [basis.T @ M @ basis for M in maps]
    second, size = np.outer(basis.T @ error, basis.T @ error), 0.0
    for _ in range(3000):
        second = sum(float(p) * M @ second @ M.T for (p, _), M in zip(every, maps, strict=True))
        size = np.trace(second)
        second = second / size
    assert size == pytest.approx(float(found.lower), rel=1e-3)


def map_of_scaffold(a, s, e, drawn, option):
    """The map of (w, c, c_1, …, c_m) on clients a_k x²/2 when these are drawn, by NumPy alone."""
    m, columns = len(a), []
    for unit in np.eye(m + 2):
        w, c, memories = unit[0], unit[1], unit[2:]
        y = np.full(m, w)
        for _ in range(e):
            y = y - s * (a * y - memories + c)
        new = a * w if option == 1 else memories - c + (w - y) / (e * s)
        kept = memories.copy()
        kept[drawn] = new[drawn]
        columns.append([y[drawn].mean(), c + (new - memories)[drawn].sum() / m, *kept])
    return np.array(columns).T


def spectral_radius(matrix):
    return np.abs(np.linalg.eigvals(matrix)).max()


@pytest.mark.parametrize("option", [1, 2])
@pytest.mark.parametrize(("m", "K", "first"), [(2, 1, 1), (3, 1, 2), (3, 2, 1), (4, 2, 2), (5, 3, 4)])
def test_two_groups_have_the_moments_of_all_draws(m, K, first, option):
    """The second moments by enumeration of the draws, on the space of states in which c is the mean of the c_k."""
    low, high, s, e = 1.0, 6.0, 7 / 40, 2
    a = np.array([low] * first + [high] * (m - first))
    maps = [map_of_scaffold(a, s, e, list(drawn), option) for drawn in combinations(range(m), K)]
    inside = np.vstack([np.eye(m + 2)[[0, *range(2, m + 2)]]])
    inside[1:, 1] = 1 / m
    back = np.linalg.pinv(inside.T)
    maps = [back @ M @ inside.T for M in maps]
    enumerated = spectral_radius(sum(np.kron(M, M) for M in maps) / len(maps))
    method = fc.Scaffold(stepsize=F(7, 40), local_steps=e, option=option)
    spec = specified(method, SmoothStronglyConvex(1, 6), m, None, Uniform(K))
    found = coordinates(spec.method, spec.solver, spec.clients, 2, draws=spec.draws)

    def radius(share):
        groups = OnALine(F(1), F(6), share).groups(m)
        matrix = second_moments(method, spec.solver, spec.draws, groups, memories_at_rest(found)).reached[2]
        return spectral_radius(np.array([[float(x) for x in row] for row in matrix]))

    assert radius(F(first, m)) == pytest.approx(enumerated, rel=1e-9)
    if 2 * first != m:
        assert radius(F(m - first, m)) != pytest.approx(enumerated, rel=1e-3)  # other groups, other moments


def test_two_groups_are_slower_than_clients_of_one_curvature():
    """FedDynOneGD, one of two clients: on every single curvature errors grow by at most 1.0118 a round, squared."""
    found = lyapunov(fc.FedDynOneGD(alpha=F(200, 3)), SmoothStronglyConvex(1, 50), 2, participation=Uniform(1))
    at = found.slowest.federation
    assert {at.first, at.second} == {1, 50}
    assert 1.1343 < found.lower < 1.1344 < found.upper < 1.167
    assert len(found.federation().L) == 2
    with pytest.raises(ValueError, match="no proof"):  # no proof that the two groups refute
        replace(found.function, rate=found.lower)


def test_remembered_points_prove_more():
    """SCAFFOLD's memories are gradients: without the points where they are V proves no decrease here."""
    method = fc.Scaffold(stepsize=F(7, 40), local_steps=2)
    found = lyapunov(method, SmoothStronglyConvex(1, 6), 2, participation=Uniform(1))
    assert "∇F_k⁻¹(c_k)" in str(found.function)
    assert found.upper < 0.98
    spec = specified(method, SmoothStronglyConvex(1, 6), 2, None, Uniform(1))
    plain = _best(pose_round(spec.method, spec.solver, spec.clients, 2, draws=spec.draws), [found.slowest])
    assert plain.rate > 1.039


def test_the_value_at_the_server_proves_more():
    """Its expectation after the round is bounded by smoothness, since w⁺ is random."""
    method = fc.Scaffold(stepsize=F(9, 40), local_steps=2, option=1)
    found = lyapunov(method, SmoothStronglyConvex(1, 4), 100, participation=Uniform(50))
    assert "(F(server) − F(minimiser))" in str(found.function)
    spec = specified(method, SmoothStronglyConvex(1, 4), 100, None, Uniform(50))
    larger = pose_round(spec.method, spec.solver, spec.clients, 2, draws=spec.draws, remembered=True, valued=True)
    *others, (pair, (here, there)) = larger.squares.items()
    found_without = _best(replace(larger, squares=dict(others)), [found.slowest])
    assert found.upper < found_without.rate * F(99, 100)
    # A bound that left out the spread would be no bound: V⁺ would be smaller than it is.
    wrong = replace(larger, squares={**larger.squares, pair: (here, replace(there, products={}))})
    function = replace(found.function, posed=larger)
    assert function.rate == found.upper
    assert _best(wrong, [found.slowest]).rate < found.upper


@FEW
@given(data=st.data(), method=st.sampled_from([fc.DANE(mu=2), METHODS[4]]))
def test_similar_clients_are_drawn(data, method):
    """They are strongly convex clients, so that no larger rate is proved; V decreases on those that are similar."""
    found = similar(method)
    assert found.lower <= found.upper <= drawn(method, 3, Uniform(2)).upper * F(100001, 100000)
    assert found.clients.contains(found.federation())
    middle = data.draw(rationals(F(5, 4), F(15, 4)))
    curvatures = [middle + data.draw(st.sampled_from([F(0), F(1, 6), F(-1, 6)])) for _ in range(3)]
    hessians = [np.array([[a]], dtype=object) for a in curvatures]
    assert found.clients.contains(fc.Quadratic(hessians, [np.array([F(0)], dtype=object)] * 3))
    still = rounds_of(found.method, fc.Quadratic(hessians, [np.array([F(0)], dtype=object)] * 3), "exact")
    every = list(draws_of(Uniform(2), 3).every())
    errors = still.start(still.arithmetic.array([data.draw(rationals(-3, 3))]))
    for _, draw in every[:2]:
        errors = still.advance(errors, draw)
    after = sum(p * value(found.function, still.advance(errors, draw), curvatures) for p, draw in every)
    assert after <= found.upper * value(found.function, errors, curvatures)


@cache
def similar(method):
    return lyapunov(method, SimilarClients(1, 4, F(1, 4)), 3, participation=Uniform(2))


@pytest.mark.parametrize("clients", [2, 3, 5, 1000])
def test_groups_leave_no_one_out(clients):
    counts = counts_to_try(clients)
    assert min(counts) == 1
    assert max(counts) == clients - 1


def test_everyone_drawn_is_everyone():
    everyone = lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), 3)
    assert lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), 3, participation=Uniform(3)).upper == everyone.upper


@pytest.mark.parametrize(
    ("method", "participation", "most"),
    [(fc.FedDynOneGD(alpha=20), Bernoulli(F(1, 2)), F(90747, 10**5)),
     (fc.Scaffold(stepsize=F(1, 40)), Weighted(2), F(95064, 10**5))],
)  # fmt: skip
def test_other_draws_have_rates_that_are_nearly_attained(method, participation, most):
    found = lyapunov(method, SmoothStronglyConvex(1, 10), 4, participation=participation)
    assert most * F(9999, 10000) < found.lower <= found.upper <= most


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
    doubled = {pair: (before, after * 2) for pair, (before, after) in found.posed.squares.items()}
    with pytest.raises(ValueError, match="no proof"):
        replace(found, posed=replace(found.posed, squares=doubled))


@pytest.mark.parametrize(
    ("method", "m", "participation", "words"),
    [
        (fc.FedPD(eta=1), 2, Uniform(1), "has a biased fixed point"),
        (fc.FedDANE(mu=4), 2, Uniform(1), "drawn twice a round"),
        (fc.FedDyn(alpha=2), "any", Weighted(1), "who remember"),
        (fc.FedDyn(alpha=2), "any", Uniform(1), "needs"),
        (fc.FedDyn(alpha=2), 2, Schedule([[0]]), "all clients are alike"),
        (fc.FedGD(stepsize=F(1, 4)), 2, Uniform(1), "has a biased fixed point"),
    ],
)
def test_what_is_not_analysed_is_refused(method, m, participation, words):
    with pytest.raises(InvalidInput, match=words):
        lyapunov(method, SmoothStronglyConvex(1, 4), m, participation=participation)


def test_the_helper_reads_fractions():
    assert fractions_of([F(1, 2)])[0] == F(1, 2)
