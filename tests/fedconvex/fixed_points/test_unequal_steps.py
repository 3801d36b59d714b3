"""Fixed points where clients take different numbers of local steps, by hand in Fractions: FedNova's inconsistency."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problem_makers import identity, least_norm, terms_of

import fedconvex as fc
from fedconvex.errors import InvalidInput, NoFixedPoint
from fedconvex.local_solvers import UnequalSteps
from fedconvex.testing import assert_contracts

S = Fraction(1, 40)
A = [[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0], [2, 1]]]
WEIGHTED = fc.LeastSquares(A=A, b=[[1, 2], [0, 4], [1, 1]], weights=[1, 2, 3])
STEPS = (3, 1, 5)
LOGISTIC = fc.Logistic(A=A, y=[[1, -1], [1, 1], [-1, 1]], ridge=0.5, weights=[1, 2, 3])
# All clients are linear: their slopes cancel, but not after different numbers of steps.
LINEAR = fc.Quadratic(H=[[[0]], [[0]]], c=[[1], [-1]])


def resting(problem, steps, stepsize, normalised=False):
    """Solves Σ_k v_k (I − M_k^e_k)(x − x_k*) = 0, v_k = weights_k, or weights_k/e_k with normalised averages."""
    terms, total, right = terms_of(problem), 0, 0
    for H, c, weight, e in zip(terms.H, terms.c, problem.exact_weights, steps, strict=True):
        M = power = identity(problem.dim) - stepsize * H
        for _ in range(e - 1):
            power = power @ M
        share = weight / e if normalised else weight
        total = total + share * (identity(problem.dim) - power)
        right = right + share * (identity(problem.dim) - power) @ least_norm(H, c)
    return least_norm(total, right)


@st.composite
def federations(draw):
    m = draw(st.integers(1, 3))
    entries = st.integers(-2, 2)
    designs = [[[1 + draw(st.integers(0, 2)), draw(entries)], [0, 1 + draw(st.integers(0, 1))]] for _ in range(m)]
    targets = [[draw(entries), draw(entries)] for _ in range(m)]
    weights = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    steps = tuple(draw(st.lists(st.integers(1, 4), min_size=m, max_size=m)))
    return fc.LeastSquares(A=designs, b=targets, weights=weights), steps


@settings(max_examples=15)
@given(drawn=federations())
@example(drawn=(WEIGHTED, STEPS))
def test_by_hand(drawn):
    """FedGD, FedNova (the steps' numbers cancel, the bias of several steps does not), and FedLin (the minimiser)."""
    problem, steps = drawn
    options = {"stepsize": S, "local_steps": steps}
    found = {kind: fc.fixed_point(kind(**options), problem, "exact") for kind in (fc.FedGD, fc.FedNova, fc.FedLin)}
    assert (found[fc.FedGD].point == resting(problem, steps, S)).all()
    assert (found[fc.FedNova].point == resting(problem, steps, S, normalised=True)).all()
    H, c = terms_of(problem).summed()
    assert (found[fc.FedLin].point == least_norm(H, c)).all()
    assert all(stop.unique for stop in found.values())
    assert found[fc.FedLin].bias_is_zero


def test_short_steps():
    """FedGD's limit minimises Σ_k w_k e_k f_k, FedNova's f."""
    tiny = Fraction(1, 10**9)
    terms, limits = terms_of(WEIGHTED), {}
    for kind, factors in ((fc.FedGD, STEPS), (fc.FedNova, (1, 1, 1))):
        shares = [weight * factor for weight, factor in zip(WEIGHTED.exact_weights, factors, strict=True)]
        H, c = (sum(share * part for share, part in zip(shares, parts, strict=True)) for parts in (terms.H, terms.c))
        limits[kind] = least_norm(H, c)
    for kind, limit in limits.items():
        point = fc.fixed_point(kind(stepsize=tiny, local_steps=STEPS), WEIGHTED, "exact").point
        assert max(abs(point - limit)) < Fraction(1, 10**6)
    assert max(abs(limits[fc.FedGD] - limits[fc.FedNova])) > Fraction(1, 10)


def test_the_steps_of_another_client_lead_elsewhere():
    for kind, normalised in ((fc.FedGD, False), (fc.FedNova, True)):
        point = fc.fixed_point(kind(stepsize=S, local_steps=STEPS), WEIGHTED, "exact").point
        for wrong in ((1, 3, 5), (3, 3, 3), (5, 1, 3)):
            assert (point != resting(WEIGHTED, wrong, S, normalised)).any()
        assert (point != resting(WEIGHTED, STEPS, S, not normalised)).any()


@pytest.mark.parametrize(
    ("kind", "like", "options"),
    [
        (fc.FedAvgM, fc.FedGD, {"momentum": Fraction(1, 2)}),
        (fc.FedAdam, fc.FedGD, {}),
        (fc.FedYogi, fc.FedGD, {}),
        (fc.FedAdagrad, fc.FedGD, {}),
        (fc.Ditto, fc.FedGD, {"regularization": 1}),
        (fc.Scaffold, fc.FedLin, {}),
        (fc.Scaffold, fc.FedLin, {"option": 1}),
    ],
)
def test_others_rest_where_these_do(kind, like, options):
    point = fc.fixed_point(kind(stepsize=S, local_steps=STEPS, **options), WEIGHTED, "exact").point
    assert (point == fc.fixed_point(like(stepsize=S, local_steps=STEPS), WEIGHTED, "exact").point).all()


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("kind", [fc.FedGD, fc.FedNova, fc.FedLin, fc.Scaffold])
def test_on_logistic_losses(kind):
    """Newton's method needs the derivative of a round, the balls its enclosure: both against a long run."""
    method = kind(stepsize=Fraction(1, 8), local_steps=STEPS)
    arrived = fc.simulate(method, LOGISTIC, 1500).points[-1]
    assert np.allclose(fc.fixed_point(method, LOGISTIC).point, arrived, rtol=1e-9)
    for ball, value in zip(fc.fixed_point(method, LOGISTIC, "ball").point, arrived, strict=True):
        assert abs(float(ball.mid()) - value) < 1e-9
        assert float(ball.rad()) < 1e-9


def test_fednova_is_no_average_of_its_clients():
    """w moves by Σ_k w_k ℓ/ℓ_k (θ_k − w), shares that sum to more than 1: it may expand where FedGD contracts."""
    problem = fc.LeastSquares(A=[[[1]], [[Fraction(1, 100)]]], b=[[1], [1]])
    method = fc.FedNova(stepsize=Fraction(19, 10), local_steps=(1, 9))
    terms = terms_of(problem)
    shares = [Fraction(1, 2) * 5 / e for e in (1, 9)]  # of θ_k − w
    factor = 1 - sum(
        share * (1 - (1 - Fraction(19, 10) * H[0, 0]) ** e) for share, H, e in zip(shares, terms.H, (1, 9), strict=True)
    )
    assert factor < -1
    stop = fc.fixed_point(method, problem, "exact")
    assert stop.unique
    assert not stop.attracting
    assert (stop.point == resting(problem, (1, 9), Fraction(19, 10), normalised=True)).all()
    assert_contracts(method, problem, -factor)
    with pytest.raises(AssertionError):
        assert_contracts(method, problem, 1)
    assert fc.fixed_point(fc.FedGD(stepsize=Fraction(19, 10), local_steps=(1, 9)), problem, "exact").attracting


def test_linear_clients_drift_unless_they_take_equal_steps():
    """w moves by s Σ_k w_k e_k c_k: FedGD has no fixed point, FedNova's normalised steps cancel."""
    fc.fixed_point(fc.FedGD(stepsize=S, local_steps=2), LINEAR, "exact")
    for arithmetic in ("exact", "float", "ball"):
        with pytest.raises(NoFixedPoint):
            fc.fixed_point(fc.FedGD(stepsize=S, local_steps=(2, 1)), LINEAR, arithmetic)
    stop = fc.fixed_point(fc.FedNova(stepsize=S, local_steps=(2, 1)), LINEAR, "exact")
    assert not stop.unique
    moved = fc.simulate(fc.FedGD(stepsize=S, local_steps=(2, 1)), LINEAR, 1, arithmetic="exact").points
    assert moved[1] - moved[0] == S * Fraction(1, 2)
    still = fc.simulate(fc.FedNova(stepsize=S, local_steps=(2, 1)), LINEAR, 1, arithmetic="exact").points
    assert still[1] == still[0]


def test_with_proximal_terms():
    """FedProx with e_k steps on client k's subproblem: one exact round maps the fixed point to itself."""
    solver = UnequalSteps(steps=STEPS, stepsize=S)
    for method in (fc.FedProx(mu=1), fc.FedDyn(alpha=2), fc.FedSplit(stepsize=1), fc.FedNova(stepsize=1)):
        stop = fc.fixed_point(method, WEIGHTED, "exact", local_solver=solver)
        if not isinstance(method, fc.FedProx | fc.FedNova):
            continue  # with memories the start of a run is no fixed state
        after = fc.simulate(method, WEIGHTED, 1, x0=stop.point, local_solver=solver, arithmetic="exact").points[-1]
        assert (after == stop.point).all()
    assert fc.fixed_point(fc.FedDyn(alpha=2), WEIGHTED, "exact", local_solver=solver).bias_is_zero


def test_a_wrong_number_of_clients_is_refused():
    for steps in ((1, 2), (1, 2, 3, 4)):
        with pytest.raises(InvalidInput, match=r"^steps = .* numbers for 3 clients"):
            fc.fixed_point(fc.FedProx(mu=1), WEIGHTED, local_solver=UnequalSteps(steps=steps, stepsize=S))
