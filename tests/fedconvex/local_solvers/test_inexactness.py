"""γ-inexact answers: within the bound, the first such step, scaling with the problem; the check rejects others."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from high_precision import client, fifty_digits, length, number, vector
from hypothesis import given
from hypothesis import strategies as st
from inexactness_makers import (
    FOUR,
    GAMMAS,
    HALF,
    RATES,
    X0,
    first_step_within,
    played,
    rationals,
    ratios,
    within,
)
from problem_makers import FLOATS, Draw, few, fractions, terms_of
from run_makers import instance

import fedconvex as fc
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.local_solvers import Answers, LocalSolver
from fedconvex.methods import METHODS
from fedconvex.participation import Draw as Drawn
from fedconvex.participation import Schedule, Uniform
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.runs.rounds import rounds_of


@cache
def dyadic(*shape: int) -> st.SearchStrategy[np.ndarray]:
    """Quarters, which floats hold exactly: so do they the gradient at the start, be it 0 or not."""
    size = int(np.prod(shape))
    quarters = st.integers(-12, 12).map(lambda n: Fraction(n, 4))
    return st.lists(quarters, min_size=size, max_size=size).map(lambda flat: fractions(flat).reshape(shape))


@st.composite
def tasks(draw: Draw) -> tuple[Problem, Fraction, np.ndarray, list[Fraction]]:
    """Singular and indefinite clients, a proximal weight that makes up for it, a start, and a γ for every client."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    if draw(st.booleans()):
        counts = [draw(st.integers(1, 3)) for _ in range(m)]
        problem: Any = fc.LeastSquares([draw(dyadic(n, d)) for n in counts], [draw(dyadic(n)) for n in counts])
    else:
        H = [draw(dyadic(d, d)) for _ in range(m)]
        problem = fc.Quadratic([part + part.T for part in H], [draw(dyadic(d)) for _ in range(m)])
    least = Fraction(min(0.0, problem.mu.min())).limit_denominator(100)
    weight = -least + draw(st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(7)]))
    gammas = draw(st.lists(st.sampled_from(GAMMAS), min_size=m, max_size=m))
    return problem, weight, draw(dyadic(d)), gammas


class TestTheBound:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    @few
    @given(task=tasks())
    def test_is_never_exceeded(self, arithmetic, task) -> None:
        problem, weight, x0, gammas = task
        method = fc.FedProx(mu=weight)
        together = played(method, problem, gammas, x0, arithmetic)
        assert within(ratios(problem, method, together), gammas)
        for gamma in set(gammas):
            alone = played(method, problem, gamma, x0, arithmetic)
            assert within(ratios(problem, method, alone), [gamma] * problem.num_clients)

    @few
    @given(task=tasks())
    def test_the_answer_is_the_first_step_that_meets_it(self, task) -> None:
        """In rationals: gradient steps of size 1/(L_k + weight), by hand."""
        problem, weight, x0, gammas = task
        terms = terms_of(problem)
        found = rationals(played(fc.FedProx(mu=weight), problem, gammas, x0, "exact").answers.points)
        for k, gamma in enumerate(gammas):
            expected, _ = first_step_within(terms, k, weight, Fraction(problem.L[k]), x0, gamma)
            assert np.array_equal(found[k], expected)

    @pytest.mark.sample(21)
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("name", sorted(set(METHODS) - {"FedNova", "Scaffold", "DIANA", "EF21"}))
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_whatever_the_method_asks(self, name, arithmetic) -> None:
        """The clients' subproblems have linear terms, other centres, other starts; twice, as memories begin at 0."""
        problem = fc.LeastSquares(
            [[[1, 2], [0, 1]], [[2, 1], [1, 0]], [[3, 1], [1, 1]]], [[1, 0], [1, 5], [2, 2]], RATES[:3]
        )
        method, gammas = instance(name, HALF), [Fraction(1, 5), Fraction(1, 50), Fraction(2, 3)]
        if method.takes_square_roots and arithmetic == "exact":
            with pytest.raises(InvalidInput, match="has no square roots"):
                rounds_of(method, problem, arithmetic, fc.ToInexactness(gammas))
            return
        rounds = rounds_of(method, problem, arithmetic, fc.ToInexactness(gammas))
        with rounds.arithmetic.context():
            state = rounds.start(rounds.arithmetic.array(X0))
            for t, members in enumerate([[0, 1, 2], [0, 2], [1, 2]]):
                round = rounds.play(state, Drawn(np.array(members), round=t))
                found = ratios(problem, method, round, members)
                assert within(found, [gammas[k] for k in members])
                assert max(found) > 0  # exact answers would be too much work
                state = round.state

    def test_scaffolds_first_option(self) -> None:
        problem, gammas = FOUR.H[:3], [HALF, Fraction(1, 10), Fraction(1, 100)]
        strongly = fc.Quadratic([H + np.eye(2, dtype=int) for H in problem], FOUR.c[:3])
        method = fc.Scaffold(stepsize=1, option=1)
        for arithmetic in [*FLOATS, "exact"]:
            round = played(method, strongly, gammas, X0, arithmetic)
            assert within(ratios(strongly, method, round), gammas)

    @pytest.mark.parametrize("kind", ["logistic", "multinomial"])
    def test_on_losses_without_closed_form(self, kind) -> None:
        """Gradients in 50 digits at the floats that were answered."""
        A, gammas = [[[1, 2], [0, 1], [-1, 1]], [[2, -1]]], [Fraction(1, 20), Fraction(1, 10**7)]
        problem = fc.Logistic(A, [[1, -1, 1], [1]], 0.25)
        if kind == "multinomial":
            problem = fc.MultinomialLogistic(A, [[0, 2, 1], [1]], 3, 0.25)
        x0 = np.linspace(-1, 2, problem.dim)
        for arithmetic in FLOATS:
            round = played(fc.FedProx(mu=HALF), problem, gammas, x0, arithmetic)
            with fifty_digits():
                for k, gamma in enumerate(gammas):
                    w, theta = vector(x0), vector(np.asarray(round.answers.points[k]))
                    first = number(gamma) ** 2 * length(client(problem, k, w)[1]) ** 2
                    left = length(client(problem, k, theta)[1] + (theta - w) / 2) ** 2
                    assert first / 100 < left <= first


@dataclass(frozen=True)
class ToBeRejected(LocalSolver):
    """Answers on the line from start to minimiser: on quadratics, of exactly that inexactness."""

    gamma: Any

    def require(self, problem: Problem, scale: Any, weight: Any) -> None:
        """Nothing."""

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Drawn | None = None) -> Answers:
        best = clients.minimise(subproblem)
        gamma = clients.arithmetic.scalar(self.gamma)
        return Answers(best + gamma * (subproblem.start - best))


class TestTheCheckRejects:
    @pytest.mark.parametrize("gamma", [g for g in GAMMAS if g < 1])
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_a_hundredth_too_much(self, gamma, arithmetic) -> None:
        method, problem = fc.FedProx(mu=2), FOUR
        for part, sound in [(Fraction(99, 100), True), (Fraction(101, 100), False)]:
            rounds = rounds_of(method, problem, arithmetic, ToBeRejected(part * gamma))
            with rounds.arithmetic.context():
                round = rounds.play(rounds.start(rounds.arithmetic.array(X0)))
            found = ratios(problem, method, round)
            assert within(found, [gamma] * 4) == sound
            assert [sqrt(ratio) for ratio in found] == pytest.approx([float(part * gamma)] * 4, rel=1e-9)

    def test_and_nothing_that_is_allowed(self) -> None:
        rounds = rounds_of(fc.FedProx(mu=2), FOUR, "exact", ToBeRejected(Fraction(1, 3)))
        round = rounds.play(rounds.start(rounds.arithmetic.array(X0)))
        assert ratios(FOUR, fc.FedProx(mu=2), round) == [Fraction(1, 9)] * 4

    @pytest.mark.parametrize("scheme", [Schedule([[1, 3]] * 2), Uniform(2), None], ids=repr)
    def test_the_recorded_column_shows_it(self, scheme) -> None:
        for solver in (ToBeRejected(0.202), ToBeRejected(0.2)):
            for arithmetic in [*FLOATS, "exact", "ball"]:
                found = fc.simulate(
                    fc.FedProx(mu=2), FOUR, 2, scheme, solver, X0, arithmetic=arithmetic, measure="all"
                ).recorded["inexactness"]
                assert found == pytest.approx([float(solver.gamma)] * 2, rel=1e-9)
                assert (max(found) <= 0.2 * (1 + 1e-9)) == (solver.gamma == 0.2)


class TestScales:
    """H and γ stay, all lengths grow 2^e-fold: so do the answers, to the last bit."""

    @pytest.mark.parametrize("exponent", [-560, -40, 40, 560])
    @pytest.mark.parametrize("arithmetic", FLOATS)
    def test_lengths_do_not_matter(self, exponent, arithmetic) -> None:
        """Squares of lengths beyond 2^±512 are no floats."""
        unit, gammas = 2.0**exponent, [0.5, 0.01, 1.0, 1e-6]
        x0, c = np.array([2.0, -3.0]), np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, 4.0], [2.0, 2.0]])
        here, there = (fc.Quadratic(FOUR.H, list(length * c)) for length in (1.0, unit))
        expected = np.asarray(played(fc.FedProx(mu=2), here, gammas, x0, arithmetic).answers.points)
        with np.errstate(over="ignore", under="ignore"):
            round = played(fc.FedProx(mu=2), there, gammas, unit * x0, arithmetic)
        assert within(ratios(there, fc.FedProx(mu=2), round), gammas)
        assert np.array_equal(np.asarray(round.answers.points) / unit, expected)

    @pytest.mark.parametrize("arithmetic", FLOATS)
    def test_the_column_is_the_same(self, arithmetic) -> None:
        """And would show a start that is sent back."""
        for exponent in (-560, 0, 560):
            problem = fc.Quadratic(FOUR.H[:1], [[0, 0]])
            with np.errstate(over="ignore", under="ignore"):
                found = fc.simulate(
                    fc.FedProx(mu=2), problem, 1, local_solver=fc.ToInexactness(0.5), x0=2.0**exponent * np.ones(2),
                    arithmetic=arithmetic, measure="inexactness",
                )  # fmt: skip
            assert 0 < found.recorded["inexactness"][0] <= 0.5


class TestTooFewSteps:
    def test_say_who_is_left(self) -> None:
        """After n steps two of four are not there; the one with the largest gradient left is shown, with its bound."""
        gammas, n = [1, Fraction(1, 10**5), Fraction(9, 10), Fraction(1, 10**4)], 3
        terms, left, bounds = terms_of(FOUR), {}, {}
        for k in (1, 3):
            L, theta = Fraction(FOUR.L[k]), X0
            for _ in range(n):
                theta = theta - (terms.H[k] @ theta - terms.c[k] + 2 * (theta - X0)) / (L + 2)
            g, first = (terms.H[k] @ x - terms.c[k] + 2 * (x - X0) for x in (theta, X0))
            left[k], bounds[k] = sqrt(g @ g), float(gammas[k]) * sqrt(first @ first)
        worst = max(left, key=lambda k: left[k])
        with pytest.raises(NotConverged) as caught:
            played(fc.FedProx(mu=2), FOUR, gammas, X0, "float", max_steps=n)
        assert f"2 local problems were not solved in {n} steps" in str(caught.value)
        assert f"is {left[worst]:.3g}, required {bounds[worst]:.3g}" in str(caught.value)

    @pytest.mark.parametrize("arithmetic", ["float", "exact"])
    def test_as_many_as_are_needed(self, arithmetic) -> None:
        terms, gamma = terms_of(FOUR), Fraction(1, 1000)
        needed = max(first_step_within(terms, k, 2, Fraction(FOUR.L[k]), X0, gamma)[1] for k in range(4))
        played(fc.FedProx(mu=2), FOUR, gamma, X0, arithmetic, max_steps=needed)
        with pytest.raises(NotConverged, match=rf"in {needed - 1} steps"):
            played(fc.FedProx(mu=2), FOUR, gamma, X0, arithmetic, max_steps=needed - 1)
