"""The spectral radius of a round against NumPy's eigenvalues, against long runs, and below the paper's Theorem 1."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    few,
    floats,
    inverse,
    least_squares,
    lifted_matrix,
    terms_of,
)

import fedconvex as fc
from fedconvex.fixed_points.convergence_rates import slowest, spectral_radius
from fedconvex.runs.rounds import rounds_of

CURVATURES = st.floats(min_value=1, max_value=100)


def radius_of(method, problem, local_solver=None) -> float:
    rounds = rounds_of(method, problem, "float", local_solver)
    found = spectral_radius(rounds, rounds.start(np.zeros(problem.dim)))
    assert found.settled
    return found.value


def eigenvalue_radius(M: np.ndarray) -> float:
    return float(max(abs(np.linalg.eigvals(floats(M)))))


@few
@given(problem=least_squares(full_rank=True), s=POSITIVE)
def test_fedsplit_is_below_the_whole_map(problem, s) -> None:
    """Only what a start excites counts, so the radius can be smaller than that of the lifted map, never larger."""
    assume(min(problem.weights) > 0)
    whole = eigenvalue_radius(lifted_matrix(terms_of(problem), s))
    found = radius_of(fc.FedSplit(stepsize=s), problem)
    assert found <= whole + 1e-6  # square roots of rounding errors where eigenvalues meet
    assert found < 1


def test_fedsplit_excites_everything_where_clients_are_generic() -> None:
    problem = fc.Quadratic([[[2, 1], [1, 3]], [[5, -1], [-1, 1]], [[1, 0], [0, 7]]], [[1, 2], [0, 3], [1, 1]])
    for s in (Fraction(1, 10), Fraction(1, 2), Fraction(3)):
        whole = eigenvalue_radius(lifted_matrix(terms_of(problem), s))
        assert radius_of(fc.FedSplit(stepsize=s), problem) == pytest.approx(whole, abs=1e-10)
    assert radius_of(fc.FedSplit(stepsize=Fraction(1, 2)), problem) != pytest.approx(
        whole, abs=1e-3
    )  # another stepsize


def test_a_mode_that_the_server_never_sees_does_not_count() -> None:
    """Clients 0 and 1 agree in every start: their disagreement (eigenvalue −1 on their kernel) is never excited."""
    problem = fc.Quadratic([np.diag([1, 0]), np.diag([1, 0]), np.eye(2, dtype=int)], [[1, 0], [1, 0], [2, 3]])
    assert eigenvalue_radius(lifted_matrix(terms_of(problem), Fraction(1))) == pytest.approx(1)
    assert radius_of(fc.FedSplit(stepsize=1), problem) < 0.8


METHODS = [fc.FedGD(stepsize=0.2, local_steps=1), fc.FedGD(stepsize=0.1, local_steps=4), fc.FedProx(mu=3.0)]


@pytest.mark.sample(1)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("method", [*METHODS, fc.FedSplit(stepsize=0.5)], ids=repr)
@pytest.mark.parametrize("kind", ["quadratic", "logistic"])
def test_long_runs_shrink_at_that_rate(method, kind) -> None:
    """‖x_{t+50} − x*‖/‖x_t − x*‖ over rounds where the slowest mode is all that is left."""
    if kind == "quadratic":
        problem = fc.Quadratic([[[2, 1], [1, 3]], [[1, 0], [0, 4]]], [[1, 2], [-3, 1]], weights=[1, 2])
    else:
        A = [[[1, 2], [3, -1], [0, 1]], [[1, 1], [2, -1], [-1, 0.5]]]
        problem = fc.Logistic(A, [[1, -1, 1], [1, -1, 1]], ridge=0.25)
    limit = fc.fixed_point(method, problem).point
    rounds = rounds_of(method, problem, "float")
    state = rounds.start(limit)
    for _ in range(3000):  # to the memories that belong to the limit
        state = rounds.advance(state)
    rate = spectral_radius(rounds, state).value
    assert 0.05 < rate < 0.99
    errors = np.linalg.norm(fc.simulate(method, problem, rounds=2000, x0=limit + [1.0, -0.5]).points - limit, axis=1)
    start = int(np.argmax(errors < 1e-5))
    stop = int(np.argmax(errors < 1e-11))
    assert stop > start + 3
    measured = (errors[stop] / errors[start]) ** (1 / (stop - start))
    assert measured == pytest.approx(rate, rel=0.1)
    assert measured != pytest.approx(rate**2, rel=0.02)


@st.composite
def strongly_convex(draw) -> tuple[fc.Quadratic, float, float]:
    """Up to four clients in three dimensions with curvatures in [ℓ, L], both attained."""
    low, high = sorted((draw(CURVATURES), draw(CURVATURES)))
    assume(high > 1.01 * low)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    H = []
    for _ in range(draw(st.integers(1, 4))):
        Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        matrix = Q @ np.diag([low, rng.uniform(low, high), high]) @ Q.T
        H.append((matrix + matrix.T) / 2)
    return fc.Quadratic(H, rng.standard_normal((len(H), 3))), low, high


@settings(few, max_examples=60)
@given(case=strongly_convex())
def test_theorem_1_bounds_fedsplit(case) -> None:
    """At s = 1/√(ℓL), the rate is at most 1 − 2/(√κ + 1); one client attains it."""
    problem, low, high = case
    promised = 1 - 2 / ((high / low) ** 0.5 + 1)
    found = radius_of(fc.FedSplit(stepsize=1 / (low * high) ** 0.5), problem)
    assert found <= promised + 1e-9
    if problem.num_clients == 1:
        assert found == pytest.approx(promised, rel=1e-12, abs=1e-9)
        assert radius_of(fc.FedSplit(stepsize=2 / (low * high) ** 0.5), problem) > promised + 1e-3  # not for other s


@settings(few, max_examples=20)
@given(case=strongly_convex(), seed=st.integers(0, 1000))
def test_theorem_1_bounds_the_distances(case, seed) -> None:
    """‖x⁽ᵗ⁺¹⁾ − x*‖ ≤ (1 − 2/(√κ + 1))ᵗ ‖z⁽¹⁾ − z*‖/√m, (16) with b = 0; z*_j = x* − s∇f_j(x*)."""
    problem, low, high = case
    s, m = 1 / (low * high) ** 0.5, problem.num_clients
    x0 = np.random.default_rng(seed).standard_normal(3)
    terms = terms_of(problem)
    H, c = terms.summed()
    optimum = floats(inverse(H) @ c)
    z = optimum - s * (floats(np.stack(terms.H)) @ optimum - floats(np.stack(terms.c)))
    distances = np.linalg.norm(fc.simulate(fc.FedSplit(stepsize=s), problem, 40, x0=x0).points - optimum, axis=1)
    bound = (1 - 2 / ((high / low) ** 0.5 + 1)) ** np.arange(40) * np.linalg.norm(x0 - z) / m**0.5
    assert (distances[1:] <= bound + 1e-12).all()


def test_flat_directions_are_left_out_of_the_slowest() -> None:
    """FedProx multiplies the error along an eigenvector of curvature h by mu/(h + mu); a third direction is flat."""
    B = np.array([[1.0, 2, 3], [3, -1, 2]])
    problem = fc.LeastSquares(A=[B, B], b=[[1, 2], [3, 4]])
    rounds = rounds_of(fc.FedProx(mu=2), problem, "float")
    start = rounds.start(np.zeros(3))
    assert spectral_radius(rounds, start).value == pytest.approx(1, abs=1e-12)
    least = np.linalg.eigvalsh(B @ B.T)[0]
    assert slowest(rounds, start).value == pytest.approx(2 / (least + 2), rel=1e-12)
    full = fc.LeastSquares(A=[np.eye(3) / 1e5, np.eye(3) / 1e5], b=[[1, 2, 3], [3, 4, 5]])
    slow = rounds_of(fc.FedProx(mu=2), full, "float")  # near 1, and not because anything is flat
    assert slowest(slow, start) == spectral_radius(slow, start)
