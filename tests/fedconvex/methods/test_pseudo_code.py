"""Three exact rounds of every method against its paper's pseudo-code."""

from fractions import Fraction

import numpy as np
import pseudo_code as paper
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from problem_makers import POSITIVE, fractions, terms_of
from round_cases import (
    CASES,
    EVERYBODY,
    PARTIAL,
    PARTIAL_CASES,
    PROXIMAL,
    START,
    STEPPING,
    UNEQUAL,
    X0,
    M,
    fewer,
    problems,
    run,
    schedules,
    transcribed,
)

import fedconvex as fc


def assert_same(points: np.ndarray, expected: np.ndarray) -> None:
    assert points.shape == expected.shape
    assert np.array_equal(points, expected)
    assert all(type(entry) is Fraction for entry in points.ravel())


@pytest.mark.parametrize("name", [*CASES, *PROXIMAL])
@fewer
@given(problem=problems(), x0=X0, p=POSITIVE, e=st.integers(1, 3))
@example(problem=UNEQUAL, x0=START, p=Fraction(2, 5), e=2)
def test_everybody_takes_part(name, problem, x0, p, e) -> None:
    case, x0 = (CASES | PROXIMAL)[name], x0[: problem.dim]
    points = run(case.method(p, e), problem, x0, None)
    assert_same(points, transcribed(case, problem, x0, None, p, e))


@pytest.mark.parametrize("name", PARTIAL_CASES)
@fewer
@given(problem=problems(), x0=X0, p=POSITIVE, e=st.integers(1, 3), schedule=schedules(3))
@example(problem=UNEQUAL, x0=START, p=Fraction(2, 5), e=2, schedule=PARTIAL)
def test_some_take_part(name, problem, x0, p, e, schedule) -> None:
    case, x0 = (CASES | PROXIMAL)[name], x0[: problem.dim]
    points = run(case.method(p, e), problem, x0, schedule)
    assert_same(points, transcribed(case, problem, x0, schedule, p, e))


@pytest.mark.parametrize("name", PROXIMAL)
@fewer
@given(problem=problems(), x0=X0, p=POSITIVE, e=st.integers(1, 3), a=POSITIVE, schedule=schedules(3))
@example(problem=UNEQUAL, x0=START, p=Fraction(2, 5), e=2, a=Fraction(1, 7), schedule=PARTIAL)
def test_gradient_steps_on_the_subproblem(name, problem, x0, p, e, a, schedule) -> None:
    case, x0 = PROXIMAL[name], x0[: problem.dim]
    schedule = None if case.needs_everybody else schedule
    points = run(case.method(p, e), problem, x0, schedule, fc.GradientDescent(steps=e, stepsize=a))
    assert_same(points, transcribed(case, problem, x0, schedule, p, e, solve=paper.gradient_steps(e, a)))


@pytest.mark.parametrize("name", STEPPING)
@fewer
@given(
    problem=problems(),
    x0=X0,
    p=POSITIVE,
    work=st.lists(st.integers(1, 4), min_size=M, max_size=M),
    schedule=st.just([EVERYBODY] * 3) | schedules(3),
)
@example(problem=UNEQUAL, x0=START, p=Fraction(2, 5), work=[2, 1, 4], schedule=PARTIAL)
def test_unequal_work(name, problem, x0, p, work, schedule) -> None:
    case, x0 = CASES[name], x0[: problem.dim]
    points = run(case.method(p, 4), problem, x0, schedule, work=work)
    arguments = {**case.arguments(p, 4), STEPPING[name]: work}
    assert_same(points, case.pseudo_code(terms_of(problem), x0, schedule, **arguments))


@pytest.mark.parametrize("name", PROXIMAL)
def test_exact_local_work_is_the_default(name) -> None:
    method = PROXIMAL[name].method(Fraction(2, 5), 1)
    assert np.array_equal(run(method, UNEQUAL, START, None), run(method, UNEQUAL, START, None, fc.Exact()))


def test_fedprox_without_a_proximal_term() -> None:
    definite = fc.LeastSquares([[[2, 1], [0, 3]], [[1, 0], [1, 1]], [[1, 4], [1, 0]]], [[1, 0], [2, 2], [0, 1]])
    points = run(fc.FedProx(mu=0), definite, START, PARTIAL)
    assert_same(points, paper.fedprox(terms_of(definite), START, PARTIAL, mu=Fraction(0)))


class TestAdaptiveFedProx:
    """Nine rounds: time for a rise and for five falls."""

    falling = fc.Quadratic(H=[[[1]]] * 3, c=[[0], [1], [-1]], weights=[1, 2, Fraction(1, 2)])
    rising = fc.Quadratic(H=[[[1]], [[9]], [[4]]], c=[[5], [-9], [1]], weights=[1, 2, Fraction(1, 2)])
    everybody = [EVERYBODY] * 9

    @fewer
    @given(
        problem=problems(definite=True),
        x0=X0,
        mu=st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1)]),
        schedule=st.just(everybody) | schedules(9),
    )
    def test_points(self, problem, x0, mu, schedule) -> None:
        x0 = x0[: problem.dim]
        points = run(fc.AdaptiveFedProx(mu=mu), problem, x0, schedule)
        assert_same(points, paper.adaptive_fedprox(terms_of(problem), x0, schedule, mu=mu))

    @fewer
    @given(problem=problems(), x0=X0, a=POSITIVE, schedule=schedules(7))
    def test_gradient_steps(self, problem, x0, a, schedule) -> None:
        x0, mu = x0[: problem.dim], Fraction(1, 10)
        points = run(fc.AdaptiveFedProx(mu=mu), problem, x0, schedule, fc.GradientDescent(steps=2, stepsize=a))
        solve = paper.gradient_steps(2, a)
        assert_same(points, paper.adaptive_fedprox(terms_of(problem), x0, schedule, mu=mu, solve=solve))

    @pytest.mark.parametrize("fault", ["wrong direction", "four falls"])
    def test_five_falls(self, fault) -> None:
        problem, x0, mu = self.falling, fractions([7]), Fraction(1, 4)
        points = run(fc.AdaptiveFedProx(mu=mu), problem, x0, self.everybody)
        losses = [paper.objective(terms_of(problem), x) for x in points]
        assert losses == sorted(losses, reverse=True)
        assert_same(points, paper.adaptive_fedprox(terms_of(problem), x0, self.everybody, mu=mu))
        constant = paper.fedprox(terms_of(problem), x0, self.everybody, mu=mu)
        assert [bool(same) for same in (points == constant).all(1)] == [True] * 6 + [False] * 4
        wrong = paper.adaptive_fedprox(terms_of(problem), x0, self.everybody, mu=mu, fault=fault)
        assert not np.array_equal(points, wrong)

    def test_rises(self) -> None:
        """From the minimiser every biased round rises."""
        terms, mu = terms_of(self.rising), Fraction(1)
        H, c = terms.summed()
        minimizer = c / H[0, 0]
        points = run(fc.AdaptiveFedProx(mu=mu), self.rising, minimizer, self.everybody)
        losses = [paper.objective(terms, x) for x in points[:3]]
        assert losses == sorted(losses)
        assert losses[0] < losses[1]
        assert_same(points, paper.adaptive_fedprox(terms, minimizer, self.everybody, mu=mu))
        constant = paper.fedprox(terms, minimizer, self.everybody, mu=mu)
        assert [bool(same) for same in (points == constant).all(1)][:4] == [True, True, False, False]
        wrong = paper.adaptive_fedprox(terms, minimizer, self.everybody, mu=mu, fault="wrong direction")
        assert not np.array_equal(points, wrong)

    def test_never_below_zero(self) -> None:
        """From 1/20, the first five falls lead to 0, not to −1/20."""
        x0, rounds = fractions([7]), [EVERYBODY] * 13
        points = run(fc.AdaptiveFedProx(mu=Fraction(1, 20)), self.falling, x0, rounds)
        assert_same(points, paper.adaptive_fedprox(terms_of(self.falling), x0, rounds, mu=Fraction(1, 20)))
        assert np.array_equal(
            points[6], paper.fedprox(terms_of(self.falling), points[5], [EVERYBODY], mu=Fraction(0))[1]
        )


def test_fedpd_local_work_starts_where_the_client_stopped() -> None:
    terms, eta, rounds = terms_of(UNEQUAL), Fraction(2, 5), [EVERYBODY] * 3
    points = run(fc.FedPD(eta=eta), UNEQUAL, START, None, fc.GradientDescent(steps=2, stepsize=Fraction(1, 7)))
    solve = paper.gradient_steps(2, Fraction(1, 7))
    assert np.array_equal(points, paper.fedpd(terms, START, rounds, eta=eta, solve=solve))
    assert not np.array_equal(points, paper.fedpd(terms, START, rounds, eta=eta, solve=solve, start="server"))


def test_fedpd_with_local_rounds() -> None:
    """Which rounds are local is drawn: they are those in which the server's point stays where it was."""
    terms, eta, kinds = terms_of(UNEQUAL), Fraction(2, 5), set()
    for seed in range(6):
        points = fc.simulate(
            fc.FedPD(eta=eta, skip=Fraction(1, 2)), UNEQUAL, rounds=5, x0=START, seed=seed, arithmetic="exact"
        ).points
        local = [r for r in range(5) if np.array_equal(points[r], points[r + 1])]
        kinds.add(tuple(local))
        assert_same(points, paper.fedpd(terms, START, [EVERYBODY] * 5, eta=eta, local=local))
        forgetful = paper.fedpd(terms, START, [EVERYBODY] * 5, eta=eta, local=local, fault="local rounds forgotten")
        if any(r in local and r + 1 not in local for r in range(4)):
            assert not np.array_equal(points, forgetful)
    assert len(kinds) > 3


def test_fedpd_absent_clients_keep_their_memory() -> None:
    """The paper has everybody take part; this is the package's convention for the others."""
    points = run(fc.FedPD(eta=Fraction(2, 5)), UNEQUAL, START, PARTIAL)
    assert_same(points, paper.fedpd(terms_of(UNEQUAL), START, PARTIAL, eta=Fraction(2, 5)))


def test_a_schedule_in_another_order_is_the_same() -> None:
    for name in PARTIAL_CASES:
        method = (CASES | PROXIMAL)[name].method(Fraction(2, 5), 2)
        turned = [list(reversed(active)) for active in PARTIAL]
        assert np.array_equal(run(method, UNEQUAL, START, PARTIAL), run(method, UNEQUAL, START, turned)), name


@pytest.mark.parametrize("name", PARTIAL_CASES)
def test_a_round_with_nobody_changes_nothing(name) -> None:
    """The papers' means over nobody mean nothing; the package leaves the round out."""
    method = (CASES | PROXIMAL)[name].method(Fraction(2, 5), 2)
    first, second, third = PARTIAL
    points = run(method, UNEQUAL, START, [first, [], second, third, []])
    assert np.array_equal(points[[0, 1, 3, 4]], run(method, UNEQUAL, START, PARTIAL))
    assert np.array_equal(points[[1, 4]], points[[2, 5]])


@pytest.mark.parametrize("name", [*CASES, *PROXIMAL])
def test_a_client_without_weight(name) -> None:
    """F_k = 0 in the papers that sum: it takes part and pulls towards where it was."""
    idle = fc.Quadratic(UNEQUAL.H, UNEQUAL.c, [1, 0, 3])
    case, p, e = (CASES | PROXIMAL)[name], Fraction(2, 5), 2
    assert_same(run(case.method(p, e), idle, START, None), transcribed(case, idle, START, None, p, e))
