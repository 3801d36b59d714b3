"""Any method with any local solver on any problem, in any arithmetic: it runs, or is refused before any work."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from problem_makers import FLOATS, ball_contains
from run_makers import instance, no_rounds

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers import LocalSolver
from fedconvex.methods import METHODS
from fedconvex.participation import Full, Uniform

DESIGNS = [[[1, 2], [0, 1], [1, 1]], [[2, 1], [0, 1]], [[1, -1], [0, 1]]]
WEIGHTS, RIDGE = [1, 2, 3], Fraction(1, 2)
PROBLEMS = {
    "least squares": fc.LeastSquares(DESIGNS, [[1, 0, 2], [1, 1], [3, 1]], WEIGHTS),
    "quadratic": fc.Quadratic([[[2, 1], [1, 2]], [[1, 0], [0, 3]], [[3, -1], [-1, 1]]], [[1, 2], [0, 1], [1, -1]]),
    "logistic": fc.Logistic(DESIGNS, [[1, -1, 1], [1, -1], [-1, -1]], RIDGE, WEIGHTS),
    "multinomial": fc.MultinomialLogistic(
        [[[1], [0], [1]], [[2], [1]], [[1], [-1]]], [[0, 1, 2], [1, 0], [2, 0]], 3, RIDGE, WEIGHTS
    ),
}
SMALL, MANY = Fraction(1, 16), 2000
SOLVERS: dict[str, LocalSolver] = {
    "Exact": fc.Exact(),
    "GradientDescent": fc.GradientDescent(steps=3, stepsize=SMALL),
    "AcceleratedGradient": fc.AcceleratedGradient(tolerance=1e-12),
    "Newton": fc.Newton(tolerance=1e-12),
    "ToInexactness": fc.ToInexactness(Fraction(1, 4)),
    "SGD": fc.SGD(epochs=2, batch_size=2, stepsize=SMALL, decay=Fraction(1, 2)),
}
RATIONAL = [name for name in METHODS if not METHODS[name].takes_square_roots]
DIVIDE_BY_PATHS, HAVE_PATHS = {"FedNova", "Scaffold", "DIANA", "EF21"}, {"GradientDescent", "SGD"}
SCHEMES = [Full(), Uniform(2)]
EVERY_PAIR = [pytest.mark.parametrize("kind", PROBLEMS), pytest.mark.parametrize("name", METHODS)]


def every_pair(test: Any) -> Any:
    for mark in EVERY_PAIR:
        test = mark(test)
    return test


def points(name: str, kind: str, solver: Any, scheme: Any = None, arithmetic: str = "float", seed: int = 3) -> Any:
    """Two rounds from (1, 2, …), as floats or Fractions."""
    problem = PROBLEMS[kind]
    found = fc.simulate(
        instance(name), problem, 2, scheme, solver, np.arange(problem.dim) + 1, seed=seed, arithmetic=arithmetic
    ).points
    return np.asarray(found)


def refusal(name: str, kind: str, solver: str) -> tuple[str, ...] | None:
    """What the error says, where method, solver and problem do not fit together."""
    if name in DIVIDE_BY_PATHS and solver not in HAVE_PATHS:
        return solver, "no steps of known size", name, "GradientDescent"
    if solver == "SGD" and kind == "quadratic":
        return solver, "no samples", "GradientDescent"
    return None


def near(one: Any, other: Any, tolerance: float = 1e-10) -> bool:
    """Relative to the largest entry."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return bool(np.abs(one - other).max() <= tolerance * (1 + np.abs(other).max()))


class TestAnyMethodWithAnySolver:
    @pytest.mark.parametrize("name", METHODS)
    def test_what_is_listed_is_a_method(self, name) -> None:
        assert isinstance(instance(name).local_solver, LocalSolver)
        assert getattr(METHODS[name], "__final__", False)

    @pytest.mark.sample(6)
    @pytest.mark.beyond_core  # takes seconds
    @every_pair
    def test_runs_or_says_why_not(self, name, kind) -> None:
        for solver, scheme in product(SOLVERS, SCHEMES):
            said = refusal(name, kind, solver)
            if said is None:
                found = [points(name, kind, SOLVERS[solver], scheme, arithmetic) for arithmetic in FLOATS]
                assert all(np.isfinite(path).all() and near(path, found[0]) for path in found)
                assert np.any(found[0][1] != found[0][0])
                continue
            for arithmetic in FLOATS:
                with no_rounds(), pytest.raises(InvalidInput) as caught:
                    points(name, kind, SOLVERS[solver], scheme, arithmetic)
                assert caught.value.argument == "local_solver"
                assert all(piece in str(caught.value) for piece in said)

    def test_a_small_difference_would_be_seen(self) -> None:
        """Of one step more, of another seed's mini-batches, of a stepsize that is off by 1e-8."""
        steps = [fc.GradientDescent(steps=e, stepsize=s) for e, s in [(3, SMALL), (4, SMALL), (3, 0.0625 + 1e-8)]]
        right, *wrong = [points("FedProx", "logistic", solver) for solver in steps]
        assert not any(near(path, right) for path in wrong)
        for name in ("FedAvg", "Scaffold"):
            one, other = (points(name, "least squares", SOLVERS["SGD"], seed=seed) for seed in (3, 4))
            assert not near(one, other)

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("kind", ["least squares", "quadratic"])
    @pytest.mark.parametrize("name", RATIONAL)
    def test_in_rationals_and_in_balls(self, name, kind) -> None:
        """Balls contain the rational points; solvers that must compare numbers are refused."""
        for solver, scheme in product(SOLVERS, SCHEMES):
            fits, exact = refusal(name, kind, solver) is None, None
            if fits and solver not in ("Newton", "AcceleratedGradient"):
                exact = points(name, kind, SOLVERS[solver], scheme, "exact")
                assert {type(entry) for entry in exact.ravel()} == {Fraction}
                assert near(points(name, kind, SOLVERS[solver], scheme), exact, 1e-12)
            else:
                with no_rounds(), pytest.raises(InvalidInput, match=solver):
                    points(name, kind, SOLVERS[solver], scheme, "exact")
            if fits and solver in ("Exact", "GradientDescent", "SGD"):
                balls, exact = points(name, kind, SOLVERS[solver], scheme, "ball").ravel(), exact.ravel()
                assert all(map(ball_contains, balls, exact))
                assert not any(map(ball_contains, balls, exact + Fraction(1, 10**20)))
            else:
                with no_rounds(), pytest.raises(InvalidInput):
                    points(name, kind, SOLVERS[solver], scheme, "ball")

    @pytest.mark.sample(4)
    @pytest.mark.beyond_core  # takes seconds
    @every_pair
    def test_accurate_solvers_agree(self, name, kind) -> None:
        """Six ways to the minimisers of the subproblems; for methods that divide by path lengths, two."""
        tight = 1e-11
        ways = [fc.Exact(), fc.Newton(tolerance=tight), fc.AcceleratedGradient(tolerance=tight), fc.ToInexactness(0)]
        ways += [fc.ToInexactness(Fraction(1, 10**11))]
        steps = [fc.GradientDescent(steps=e, stepsize=SMALL) for e in (MANY, 2)]
        if name in DIVIDE_BY_PATHS:
            ways = [fc.GradientDescent(steps=MANY, stepsize=SMALL)]
        if kind != "quadratic":
            ways.append(fc.SGD(steps=MANY, batch_size=None, stepsize=SMALL))
        for scheme in SCHEMES:
            right, wrong = (points(name, kind, solver, scheme) for solver in steps)
            assert all(near(points(name, kind, solver, scheme), right, 1e-8) for solver in ways)
            assert not near(wrong, right, 1e-8)  # two steps are not enough

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.sample(12)
    @pytest.mark.parametrize("arithmetic", ["exact", *FLOATS])
    @pytest.mark.parametrize("name", METHODS)
    def test_batches_of_everything_are_gradient_steps(self, name, arithmetic) -> None:
        if arithmetic == "exact" and name not in RATIONAL:
            return
        for kind in PROBLEMS if arithmetic != "exact" else ["least squares"]:
            if kind == "quadratic":
                continue
            for scheme, e in product(SCHEMES, (1, 3)):
                right, wrong = (
                    points(name, kind, fc.GradientDescent(steps=steps, stepsize=SMALL), scheme, arithmetic)
                    for steps in (e, e + 1)
                )
                for work in ({"steps": e}, {"epochs": e}):
                    solver = fc.SGD(**work, batch_size=None, stepsize=SMALL)
                    found = points(name, kind, solver, scheme, arithmetic)
                    assert np.array_equal(found, right) if arithmetic == "exact" else near(found, right, 1e-13)
                    assert not near(found, wrong, 1e-6)

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("name", [name for name in METHODS if name not in DIVIDE_BY_PATHS])
    def test_of_equal_clients_all_are_one(self, name) -> None:
        """Uniform(m) is everyone where weights are equal."""
        for solver in SOLVERS:
            if solver != "SGD":
                one, other = (points(name, "quadratic", SOLVERS[solver], scheme) for scheme in (Full(), Uniform(3)))
                assert near(one, other, 1e-13)
