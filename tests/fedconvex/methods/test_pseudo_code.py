"""Three exact rounds of every method against its paper's pseudo-code, and the mistakes that the comparison rejects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pseudo_code as paper
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from problem_makers import POSITIVE, Draw, entries, fractions, identity, terms_of

import fedconvex as fc

M = 3
EVERYBODY = list(range(M))
SETS = [[0], [1], [2], [0, 1], [0, 2], [1, 2], EVERYBODY]
PARTIAL = [[0, 2], [1], [0, 1]]
UNEQUAL = fc.Quadratic(
    H=[[[2, 1], [1, 3]], [[1, 0], [0, 0]], [[5, -1], [-1, 1]]],
    c=[[1, 2], [Fraction(1, 3), 0], [-1, 4]],
    weights=[1, 2, Fraction(1, 2)],
)
START = fractions([1, -2])
fewer = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class UnequalWork(fc.participation.Participation):
    """A schedule in which client k does work[k] of the local steps."""

    schedule: Sequence[Sequence[int]]
    work: Sequence[int]

    def draw(self, problem: Any, seed: int, round: int, purpose: Any = None) -> Any:
        members = sorted(self.schedule[round])
        efforts = np.array([self.work[k] for k in members])
        return fc.participation.Draw(np.array(members), efforts=efforts, round=round, seed=seed)


class Case(NamedTuple):
    """A method and its pseudo-code, both made from a positive number p and a count e."""

    method: Callable[[Fraction, int], Any]
    pseudo_code: Callable[..., np.ndarray]
    arguments: Callable[[Fraction, int], dict[str, Any]]
    needs_everybody: bool = False


# How each method's parameters are called in the papers.
CASES = {
    "FedGD": Case(lambda p, e: fc.FedGD(stepsize=p, local_steps=e), paper.fedavg, lambda p, e: {"s": p, "e": e}),
    "FedNova": Case(lambda p, e: fc.FedNova(stepsize=p, local_steps=e), paper.fednova, lambda p, e: {"s": p, "tau": e}),
    "FedDynOneGD": Case(lambda p, e: fc.FedDynOneGD(alpha=p), paper.feddyn_one_gd, lambda p, e: {"alpha": p}),
    "SCAFFOLD, option 1": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e, option=1),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "option": 1},
    ),
    "SCAFFOLD, option 2": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "option": 2},
    ),
    "SCAFFOLD, server stepsize": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e, server_stepsize=Fraction(3, 2), option=2),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "server_stepsize": Fraction(3, 2), "option": 2},
    ),
}
# These leave it open how a client solves its subproblem: exactly, or by gradient steps on all of it.
PROXIMAL = {
    "FedProx": Case(lambda p, e: fc.FedProx(mu=p), paper.fedprox, lambda p, e: {"mu": p}),
    "DANE": Case(lambda p, e: fc.DANE(mu=p), paper.dane, lambda p, e: {"mu": p}),
    "DANE, eta": Case(
        lambda p, e: fc.DANE(mu=p, eta=Fraction(2, 3)), paper.dane, lambda p, e: {"mu": p, "eta": Fraction(2, 3)}
    ),
    "FedDANE": Case(lambda p, e: fc.FedDANE(mu=p), paper.feddane, lambda p, e: {"mu": p}),
    "FedSplit": Case(lambda p, e: fc.FedSplit(stepsize=p), paper.fedsplit, lambda p, e: {"s": p}),
    "FedSplit Act": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="active"), paper.fedsplit, lambda p, e: {"s": p, "server": "active"}
    ),
    "FedSplit from the server's point": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="all", start="server"),
        paper.fedsplit,
        lambda p, e: {"s": p, "start": "server"},
    ),
    "FedSplit warm": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="active", start="warm"),
        paper.fedsplit,
        lambda p, e: {"s": p, "server": "active", "start": "warm"},
    ),
    "FedSplit, Theorem 2": Case(
        lambda p, e: fc.RegularizedFedSplit(stepsize=p, regularization=Fraction(2, 3)),
        paper.fedsplit_theorem_2,
        lambda p, e: {"s": p, "lam": Fraction(2, 3)},
        needs_everybody=True,
    ),
    "FedDyn": Case(lambda p, e: fc.FedDyn(alpha=p), paper.feddyn, lambda p, e: {"alpha": p}),
    "FedPD": Case(lambda p, e: fc.FedPD(eta=p), paper.fedpd, lambda p, e: {"eta": p}, needs_everybody=True),
}
# These count local steps, of which clients may do different numbers; the keyword is the papers' number of steps.
STEPPING = {"FedGD": "e", "FedNova": "tau", "SCAFFOLD, option 1": "steps", "SCAFFOLD, option 2": "steps"}
PARTIAL_CASES = [name for name, case in (CASES | PROXIMAL).items() if not case.needs_everybody]


@st.composite
def problems(draw: Draw, definite: bool = False) -> fc.Quadratic | fc.LeastSquares:
    """Three convex clients in one or two dimensions, at times rank-deficient, with positive weights."""
    d = draw(st.integers(1, 2))
    weights = draw(st.none() | st.lists(POSITIVE, min_size=M, max_size=M) | st.just([1, 2, Fraction(1, 2)]))
    A = [draw(entries(draw(st.integers(1, 2)), d)) for _ in range(M)]
    if definite:
        A = [np.concatenate([A_k, identity(d)]) for A_k in A]
    if draw(st.booleans()):
        return fc.LeastSquares(A, [draw(entries(len(A_k))) for A_k in A], weights)
    return fc.Quadratic([A_k.T @ A_k for A_k in A], [draw(entries(d)) for _ in A], weights)


def schedules(rounds: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.sampled_from(SETS), min_size=rounds, max_size=rounds)


def run(
    method: Any,
    problem: Any,
    x0: np.ndarray,
    schedule: Sequence[Sequence[int]] | None,
    solver: Any = None,
    work: Sequence[int] | None = None,
) -> np.ndarray:
    """The server's points of three rounds, or as many as are scheduled."""
    who = fc.participation.Full() if schedule is None else fc.participation.Schedule(schedule)
    return fc.simulate(
        method,
        problem,
        rounds=3 if schedule is None else len(schedule),
        participation=who if work is None else UnequalWork(schedule or [EVERYBODY] * 3, work),
        local_solver=solver,
        x0=x0,
        arithmetic="exact",
    ).points


def transcribed(case: Case, problem: Any, x0: np.ndarray, schedule: Any, p: Fraction, e: int, **extra) -> np.ndarray:
    return case.pseudo_code(terms_of(problem), x0, schedule or [EVERYBODY] * 3, **case.arguments(p, e), **extra)


def assert_same(points: np.ndarray, expected: np.ndarray) -> None:
    assert points.shape == expected.shape
    assert np.array_equal(points, expected)
    assert all(type(entry) is Fraction for entry in points.ravel())


X0 = entries(2)


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


# Each mistake, and whether it shows only where some clients are absent.
FAULTS = [
    ("FedGD", "weights ignored", False),
    ("FedGD", "weights not renormalised", True),
    ("FedProx", "weights ignored", False),
    ("FedProx", "weights not renormalised", True),
    ("DANE", "no correction", False),
    ("DANE", "wrong sign", False),
    ("DANE", "weights not renormalised", True),
    ("FedDANE", "no correction", False),
    ("FedDANE", "everybody's gradient", True),
    ("FedDANE", "weights not renormalised", True),
    ("FedNova", "weights ignored", False),
    ("FedNova", "weights not renormalised", True),
    ("FedSplit", "half the centering", False),
    ("FedSplit", "weights ignored", False),
    ("FedSplit, Theorem 2", "centred at the origin", False),
    ("FedDyn", "sign of the linear term", False),
    ("FedDyn", "sign of the memory", False),
    ("FedDyn", "divided by the active", True),
    ("FedDynOneGD", "sign of the memory", False),
    ("FedDynOneGD", "divided by the active", True),
    ("SCAFFOLD, option 1", "wrong sign", False),
    ("SCAFFOLD, option 1", "control variate updated first", False),
    ("SCAFFOLD, option 1", "c not scaled by |S|/N", True),
    ("SCAFFOLD, option 2", "wrong sign", False),
    ("SCAFFOLD, option 2", "control variate updated first", False),
    ("SCAFFOLD, option 2", "option 2 without −c", True),
    ("SCAFFOLD, option 2", "c not scaled by |S|/N", True),
    ("FedPD", "sign of the dual", False),
]


@pytest.mark.parametrize(("name", "fault", "only_partial"), FAULTS, ids=lambda value: str(value))
def test_the_comparison_rejects(name, fault, only_partial) -> None:
    case, p, e = (CASES | PROXIMAL)[name], Fraction(2, 5), 2
    for schedule in (None, PARTIAL):
        if schedule is PARTIAL and case.needs_everybody:
            continue
        points = run(case.method(p, e), UNEQUAL, START, schedule)
        assert np.array_equal(points, transcribed(case, UNEQUAL, START, schedule, p, e))
        wrong = transcribed(case, UNEQUAL, START, schedule, p, e, fault=fault)
        assert np.array_equal(points, wrong) == (only_partial and schedule is None)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("FedSplit", {"server": "active"}),
        ("FedSplit Act", {"server": "all"}),
        ("SCAFFOLD, option 2", {"option": 1}),
        ("SCAFFOLD, server stepsize", {"server_stepsize": Fraction(1)}),
        ("DANE, eta", {"eta": Fraction(1)}),
    ],
)
def test_the_comparison_rejects_another_variant(name, other) -> None:
    case, p, e = (CASES | PROXIMAL)[name], Fraction(2, 5), 2
    points = run(case.method(p, e), UNEQUAL, START, PARTIAL)
    wrong = case.pseudo_code(terms_of(UNEQUAL), START, PARTIAL, **{**case.arguments(p, e), **other})
    assert not np.array_equal(points, wrong)


@pytest.mark.parametrize("right", ["center", "server", "warm"])
def test_the_comparison_rejects_another_start_of_the_local_work(right) -> None:
    s, e, a = Fraction(2, 5), 2, Fraction(1, 7)
    points = run(fc.FedSplit(stepsize=s, start=right), UNEQUAL, START, PARTIAL, fc.GradientDescent(steps=e, stepsize=a))
    for start in ("center", "server", "warm"):
        expected = paper.fedsplit(terms_of(UNEQUAL), START, PARTIAL, s=s, solve=paper.gradient_steps(e, a), start=start)
        assert np.array_equal(points, expected) == (start == right)


def test_the_comparison_rejects_a_proximal_centre_that_follows_the_iterate() -> None:
    """The pull mu·(w − center) of a centre that is the iterate itself is always zero."""
    mu, a, terms = Fraction(2, 5), Fraction(1, 7), terms_of(UNEQUAL)
    solver, solve = fc.GradientDescent(steps=2, stepsize=a), paper.gradient_steps(2, a)
    points = run(fc.FedProx(mu=mu), UNEQUAL, START, PARTIAL, solver)
    assert np.array_equal(points, paper.fedprox(terms, START, PARTIAL, mu=mu, solve=solve))
    fault = "the centre follows the iterate"
    assert not np.array_equal(points, paper.fedprox(terms, START, PARTIAL, mu=mu, solve=solve, fault=fault))


@pytest.mark.parametrize("schedule", [[EVERYBODY] * 3, PARTIAL], ids=["full", "partial"])
def test_the_comparison_rejects_fednova_without_normalisation(schedule) -> None:
    """It is then FedAvg, which forgets how much work went into an answer."""
    s, work, terms = Fraction(1, 9), [2, 1, 4], terms_of(UNEQUAL)
    points = run(fc.FedNova(stepsize=s, local_steps=4), UNEQUAL, START, schedule, work=work)
    assert np.array_equal(points, paper.fednova(terms, START, schedule, s=s, tau=work))
    wrong = paper.fednova(terms, START, schedule, s=s, tau=work, fault="not normalised")
    assert np.array_equal(wrong, paper.fedavg(terms, START, schedule, s=s, e=work))
    assert not np.array_equal(points, wrong)


def test_the_comparison_rejects_scaffold_with_everybodys_number_of_steps() -> None:
    """Option 2 divides by what the client has done, not by what it was asked to do."""
    s, work, terms = Fraction(1, 9), [2, 1, 4], terms_of(UNEQUAL)
    points = run(fc.Scaffold(stepsize=s, local_steps=4), UNEQUAL, START, PARTIAL, work=work)
    assert np.array_equal(points, paper.scaffold(terms, START, PARTIAL, s=s, steps=work))
    assert not np.array_equal(points, paper.scaffold(terms, START, PARTIAL, s=s, steps=4))


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
