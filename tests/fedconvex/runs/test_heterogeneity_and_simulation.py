"""B and the gradients' variance against plain formulas; runs, their frames and their progress bar."""

import io
import math
import sys
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import progress
from fedconvex.arithmetic.rationals import float_array, fraction_array, to_fmpq

small = st.integers(-5, 5)
Vector = list[Fraction]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, list[Vector], list[Fraction]]:
    """A problem with linear gradients H_k x − c_k, the gradients at x = (1, …, 1), the normalised weights."""
    m, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    H = [[[draw(small) if i == j else 0 for j in range(d)] for i in range(d)] for _ in range(m)]
    c = [[draw(small) for _ in range(d)] for _ in range(m)]
    weights = [draw(st.integers(0, 3)) for _ in range(m)]
    assume(any(weights))
    gradients = [[Fraction(H[k][i][i] - c[k][i]) for i in range(d)] for k in range(m)]
    problem = fc.Quadratic(H=np.array(H), c=np.array(c), weights=weights)
    return problem, gradients, [Fraction(w, sum(weights)) for w in weights]


def square(v: Vector) -> Fraction:
    return sum((entry * entry for entry in v), Fraction(0))


def mean(gradients: list[Vector], weights: list[Fraction]) -> Vector:
    return [
        sum((w * g[i] for w, g in zip(weights, gradients, strict=True)), Fraction(0)) for i in range(len(gradients[0]))
    ]


def mean_square(gradients: list[Vector], weights: list[Fraction]) -> Fraction:
    return sum((w * square(g) for w, g in zip(weights, gradients, strict=True)), Fraction(0))


def given_as(name: str, size: int) -> Any:
    if name == "torch":
        return torch.ones(size, dtype=torch.float64)
    ones = {"float": np.ones(size), "exact": fraction_array(np.ones(size, dtype=int))}
    return ones[name] if name in ones else np.array([flint.arb(1)] * size, dtype=object)


def encloses(ball: Any, value: Fraction) -> bool:
    with flint.ctx.workprec(4000):
        return bool(ball.contains(to_fmpq(value)))


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_variance_against_its_definition(case: Any) -> None:
    problem, gradients, weights = case
    center = mean(gradients, weights)
    deviations = [[a - b for a, b in zip(g, center, strict=True)] for g in gradients]
    expected = mean_square(deviations, weights)
    assert fc.gradient_variance(problem, given_as("exact", problem.dim)) == expected
    assert type(fc.gradient_variance(problem, given_as("exact", problem.dim))) is Fraction
    for name in ("float", "torch"):
        assert float(fc.gradient_variance(problem, given_as(name, problem.dim))) == pytest.approx(
            float(expected), abs=1e-13
        )
    ball = fc.gradient_variance(problem, given_as("ball", problem.dim))
    assert encloses(ball, expected)
    assert ball.rad() < 1e-30
    assert not encloses(ball, expected + Fraction(1, 10**20))


@pytest.mark.parametrize("name", ["float", "exact", "ball", "torch"])
@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_dissimilarity_against_its_definition(name: str, case: Any) -> None:
    """Definition 3 of the FedProx paper, its footnote, and the identity B² = 1 + variance/‖∇f‖²."""
    problem, gradients, weights = case
    top, bottom = mean_square(gradients, weights), square(mean(gradients, weights))
    B = fc.dissimilarity(problem, given_as(name, problem.dim))
    if bottom == 0:
        if name == "ball":
            assert not B.is_finite() or B.contains(1)
        elif name == "exact" or top == 0:
            assert float(B) == (1.0 if top == 0 else math.inf)
        else:
            assert float(B) > 1e10  # floats may miss the 0
        return
    variance = fc.gradient_variance(problem, given_as("exact", problem.dim))
    assert top / bottom == 1 + variance / bottom
    if name == "ball":
        with flint.ctx.workprec(200):
            assert (B - flint.arb(to_fmpq(top / bottom)).sqrt()).contains(0)
        assert B.rad() < 1e-12
        assert not encloses(B, Fraction(math.sqrt(top / bottom)) + Fraction(1, 10**6))
    else:
        assert float(B) == pytest.approx(math.sqrt(top / bottom), rel=1e-12)
        assert float(B) >= 1 - 1e-15
    if name == "exact":  # rounded once: no float lies between it and the root
        below, above = ((Fraction(B) + Fraction(math.nextafter(B, end))) / 2 for end in (0, math.inf))
        assert below**2 <= top / bottom <= above**2


@pytest.mark.parametrize("problem", [
    fc.LeastSquares(A=[[[1, 2], [0, 3]]] * 3, b=[[1, 1]] * 3),
    fc.Logistic(A=[[[1.0, 2.0], [0.5, 3.0]]] * 3, y=[[1, -1]] * 3, weights=[1, 5, 2]),
    fc.MultinomialLogistic(A=[[[1.0], [0.5]]] * 2, y=[[0, 1]] * 2, num_classes=2, ridge=0.3),
])  # fmt: skip
def test_identical_clients_have_dissimilarity_one(problem: Any) -> None:
    x = np.linspace(-1, 2, problem.dim)
    assert fc.dissimilarity(problem, x) == pytest.approx(1, abs=1e-14)
    assert fc.gradient_variance(problem, x) == pytest.approx(0, abs=1e-28)
    if isinstance(problem, fc.LeastSquares):
        assert fc.dissimilarity(problem, fraction_array(x)) == 1.0
        assert fc.gradient_variance(problem, fraction_array(x)) == 0
    ball = fc.dissimilarity(problem, np.array([flint.arb(v) for v in x], dtype=object))
    assert ball.contains(1)
    assert ball.rad() < 1e-12


def test_where_the_mean_gradient_may_be_0_nothing_is_said_of_dissimilarity() -> None:
    problem = fc.Quadratic(H=[[[1]], [[1]]], c=[[0], [0]], weights=[1, 2])
    B = fc.dissimilarity(problem, np.array([flint.arb(0, 1)], dtype=object))
    assert B.contains(1)
    assert B.contains(10**30)
    assert not B.is_finite()


@pytest.mark.parametrize("name", ["float", "exact", "torch"])
@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1e-200, 1], 1e100), ([Fraction(1, 10**400), 1], 1e200), ([1e-120, 1], 1e60), ([1e-90, 1], 1e45), ([1, 0], 1.0)],
)
def test_a_mean_gradient_that_is_tiny_is_not_0(name: str, weights: list[Any], expected: float) -> None:
    """Gradients 1 and 0: B² = p/p² = 1/p."""
    problem = fc.Quadratic(H=[[[1]], [[1]]], c=[[0], [1]], weights=weights)
    B = fc.dissimilarity(problem, given_as(name, 1))
    assert float(B) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["float", "exact", "torch"])
def test_gradients_that_cancel_are_told_from_such(name: str) -> None:
    problem = fc.Quadratic(H=[[[1]], [[1]]], c=[[0], [2]])
    assert fc.dissimilarity(problem, given_as(name, 1)) == math.inf
    assert fc.dissimilarity(fc.Quadratic(H=[[[1]], [[1]]], c=[[1], [1]]), given_as(name, 1)) == 1.0


def test_a_client_that_differs_is_noticed() -> None:
    problem = fc.LeastSquares(A=[[[1]], [[1]]], b=[[1], [-1]])
    assert fc.dissimilarity(problem, np.array([0.0])) == math.inf  # the mean vanishes, the clients' gradients do not
    assert fc.dissimilarity(problem, np.array([1.0])) == pytest.approx(math.sqrt(2))
    assert fc.dissimilarity(fc.LeastSquares(A=[[[1]]] * 2, b=[[1]] * 2), np.array([1.0])) == 1.0  # the footnote
    unsure = fc.dissimilarity(problem, np.array([flint.arb(0, 0.1)], dtype=object))
    assert not unsure.is_finite()


@pytest.mark.parametrize("x", [1e-200, 1e-3, 1e160])
def test_dissimilarity_does_not_depend_on_the_scale(x: float) -> None:
    problem = fc.LeastSquares(A=[[[1]], [[2]]], b=[[0], [0]])  # gradients x and 4x
    assert fc.dissimilarity(problem, np.array([x])) == pytest.approx(math.sqrt((1 + 16) / 2) / 2.5)


EASY = fc.LeastSquares(A=[[[1, 0], [1, 1]], [[2, 1]]], b=[[1, 3], [1]], weights=[2, 1])


@pytest.mark.parametrize("arithmetic", ["float", "exact", "ball", "torch"])
@pytest.mark.parametrize(
    "method", [fc.FedGD(stepsize=Fraction(1, 8), local_steps=2), fc.FedProx(mu=3), fc.FedSplit(stepsize=1)]
)
def test_trajectories(method: Any, arithmetic: str) -> None:
    x0 = [Fraction(1, 3), 2]
    run = fc.simulate(method, EASY, rounds=4, x0=x0, arithmetic=arithmetic)
    exact = fc.simulate(method, EASY, rounds=4, x0=x0, arithmetic="exact").points
    assert tuple(run.points.shape) == (5, 2)
    assert exact[0].tolist() == x0
    if arithmetic == "exact":
        assert {type(v) for v in run.points.ravel()} == {Fraction}
    elif arithmetic == "ball":
        assert all(encloses(b, v) for b, v in zip(run.points.ravel(), exact.ravel(), strict=True))
        assert max(float(b.rad()) for b in run.points.ravel()) < 1e-30
    else:
        assert isinstance(run.points, torch.Tensor if arithmetic == "torch" else np.ndarray)
        assert str(run.points.dtype).endswith("float64")
        assert abs(np.asarray(run.points) - float_array(exact)).max() < 1e-14
    longer = fc.simulate(method, EASY, rounds=6, x0=x0, arithmetic="exact").points
    assert longer[:5].tolist() == exact.tolist()  # and the first rounds do not depend on how many follow


def test_nothing_is_run_in_no_rounds_and_the_default_start_is_zero() -> None:
    run = fc.simulate(fc.FedProx(mu=1), EASY, rounds=0)
    assert run.points.tolist() == [[0.0, 0.0]]
    assert len(run.to_frame()) == 1
    assert (
        fc.simulate(fc.FedProx(mu=1), EASY, rounds=3, x0=[0, 0]).points.tolist()
        == fc.simulate(fc.FedProx(mu=1), EASY, rounds=3, participation=fc.participation.Full(), seed=7).points.tolist()
    )


def test_one_local_step_is_gradient_descent_and_the_frame_says_so() -> None:
    """Every column by hand in Fractions: f = ⅓‖A₁x − b₁‖² + ⅙‖A₂x − b₂‖², gradients written out."""
    frame = fc.simulate(fc.FedGD(stepsize=0.125), EASY, rounds=3).to_frame()
    columns = ["round", "value", "gap", "distance", "gradient_norm", "dissimilarity", "gradient_variance"]
    columns += ["participants", "bytes_down", "bytes_up"]
    assert list(frame.columns) == columns
    # the normal equations ⅔(AᵀA)₁ + ⅓(AᵀA)₂ = [[8, 4], [4, 3]]/3, right-hand side [10, 7]/3
    u, v = Fraction(10 * 3 - 7 * 4, 8), Fraction(8 * 7 - 4 * 10, 8)
    x, y, h = Fraction(0), Fraction(0), Fraction(1, 8)

    def value(x: Fraction, y: Fraction) -> Fraction:
        return ((x - 1) ** 2 + (x + y - 3) ** 2) / 3 + (2 * x + y - 1) ** 2 / 6

    for t in range(4):
        clients = [[(x - 1) + (x + y - 3), x + y - 3], [2 * (2 * x + y - 1), 2 * x + y - 1]]
        g = [Fraction(2, 3) * a + Fraction(1, 3) * b for a, b in zip(*clients, strict=True)]
        spread = Fraction(2, 3) * square(clients[0]) + Fraction(1, 3) * square(clients[1])
        by_hand = [t, value(x, y), value(x, y) - value(u, v), math.hypot(x - u, y - v), math.sqrt(square(g))]
        by_hand += [math.sqrt(spread / square(g)), spread - square(g)]
        by_hand += [2 * (t > 0), 2 * 2 * 8 * (t > 0), 2 * 2 * 8 * (t > 0)]  # two clients, two numbers of 8 bytes each
        assert frame.iloc[t].tolist() == pytest.approx([float(entry) for entry in by_hand], rel=1e-13)
        x, y = x - h * g[0], y - h * g[1]
    assert frame["gap"].iloc[1] != pytest.approx(frame["gap"].iloc[0], rel=1e-3)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("seed", range(4))
def test_gaps_stay_positive_down_to_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, y = [rng.standard_normal((8, 3)) for _ in range(4)], [rng.choice([-1, 1], 8) for _ in range(4)]
    for problem in (
        fc.Logistic(A=A, y=y, ridge=0.1),
        fc.LeastSquares(A=A, b=[rng.standard_normal(8) for _ in range(4)]),
    ):
        frame = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=500).to_frame()
        assert (frame["gap"] >= -1e-28).all()
        assert frame["gap"].iloc[-1] < 1e-25 < frame["gap"].iloc[0]
        assert frame["distance"].iloc[-1] < 1e-12


@pytest.mark.parametrize("problem", [
    fc.Quadratic(H=[[[1, 0], [0, -3]], np.eye(2)], c=[[1, 1]] * 2),
    fc.Quadratic(H=[[[1, 0], [0, 0]]], c=[[1, 1]]),
    fc.Logistic(A=[[[1.0, 0.0]], [[0.0, 1.0]]], y=[[1], [-1]]),
])  # fmt: skip
def test_without_a_minimiser_gap_and_distance_are_nan(problem: Any) -> None:
    frame = fc.simulate(fc.FedGD(stepsize=0.1), problem, rounds=2).to_frame()
    assert frame[["gap", "distance"]].isna().all(axis=None)
    assert not frame.drop(columns=["gap", "distance"]).isna().any(axis=None)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.beyond_core  # the bar has a thread
def test_the_progress_bar_changes_nothing_but_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", -1.0)
    plain = fc.simulate(fc.FedProx(mu=1), EASY, rounds=5).points
    shown = {}
    for show in (True, False):
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert np.array_equal(fc.simulate(fc.FedProx(mu=1), EASY, rounds=5, progress=show).points, plain)
        shown[show] = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "FedProx: 5 rounds" in shown[True]
    assert shown[False] == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # no terminal
    fc.simulate(fc.FedProx(mu=1), EASY, rounds=5)
    assert sys.stderr.getvalue() == ""
