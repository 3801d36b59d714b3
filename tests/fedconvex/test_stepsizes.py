"""Stepsizes that change from round to round, against rounds played one by one with numbers."""

import pickle
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_makers import assert_resumed, round_by_round

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.stepsizes import StepsizeSchedule
from fedconvex.testing import assert_contracts
from fedconvex.theory import bounds_for

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
RULE, CLIENTS = "1/(30 + t)", SmoothStronglyConvex(mu=Fraction(1, 4), L=1)
# Their stepsize is the reciprocal of a proximal weight, which stays the same in all rounds.
PROXIMAL = ("FedSplit", "RegularizedFedSplit")
OTHERS: dict[str, dict[str, Any]] = {
    "Ditto": {"regularization": 1},
    "RegularizedFedSplit": {"regularization": 1},
    "PFedMe": {"regularization": 1, "local_steps": 2},
}


def with_stepsizes() -> list[str]:
    """Those of which no other parameter is required, or `OTHERS` has it: a method of somebody's own may need more."""
    needed = {name: {f.name for f in fields(kind) if f.default is MISSING} for name, kind in METHODS.items()}  # type: ignore[arg-type]
    return [
        name for name, of in needed.items() if "stepsize" in of and of - {"stepsize"} <= OTHERS.get(name, {}).keys()
    ]


def made(name: str, size: Any) -> fc.methods.Method:
    given = dict(OTHERS.get(name, {}))
    if "server_stepsize" in {f.name for f in fields(METHODS[name])}:  # type: ignore[arg-type]
        given["server_stepsize"] = "1/2 + t" if isinstance(size, str) else None
    return METHODS[name](stepsize=size, **given)


@pytest.mark.parametrize("name", [name for name in with_stepsizes() if name not in PROXIMAL])
def test_every_method_takes_a_schedule_and_plays_each_round_with_its_number(name: str) -> None:
    method = made(name, RULE)
    arithmetic = "float" if method.takes_square_roots or name in ("FedAvg",) else "exact"
    run = fc.simulate(method, PROBLEM, 4, arithmetic=arithmetic, seed=3)
    numbers = [{"stepsize": Fraction(1, 30 + t), "server_stepsize": Fraction(1, 2) + t} for t in range(4)]
    alone = [replace(method, **{n: v for n, v in at.items() if hasattr(method, n)}) for at in numbers]  # type: ignore[type-var]
    assert (round_by_round(alone, PROBLEM, arithmetic, seed=3) == run.points[-1]).all()
    other = fc.simulate(alone[0], PROBLEM, 4, arithmetic=arithmetic, seed=3)
    assert (other.points[-1] != run.points[-1]).any()  # the schedule is not its first number


@pytest.mark.parametrize("name", PROXIMAL)
def test_stepsizes_that_are_proximal_weights_do_not_change(name: str) -> None:
    with pytest.raises(InvalidInput, match="stepsize"):
        made(name, RULE)


def test_the_same_rule_as_text_list_and_function() -> None:
    rules: list[Any] = ["1/(8 + t)", [Fraction(1, 8 + t) for t in range(5)], lambda t: Fraction(1, 8 + t)]
    runs = [fc.simulate(fc.FedGD(stepsize=rule), PROBLEM, 5, arithmetic="exact").points for rule in rules]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] == runs[2]).all()


def test_gradient_descent_by_hand() -> None:
    A, b = np.array([[1, 2], [0, 1], [3, 0], [1, 1]], dtype=object), np.array([1, 2, 0, 4], dtype=object)
    x = np.array([Fraction(0)] * 2, dtype=object)
    for t in range(3):
        x = x - Fraction(1, 10 + 2 * t) * (A.T @ (A @ x - b)) / 2  # the mean of two clients' ½‖A_k x − b_k‖²
    run = fc.simulate(fc.FedGD(stepsize="1/(10 + 2*t)"), PROBLEM, 3, arithmetic="exact")
    assert (run.points[-1] == x).all()


@pytest.mark.parametrize(
    ("rule", "t", "number"),
    [
        ("0.1 * 0.9**t", 2, Fraction(81, 1000)),  # decimals are what they denote
        ("0.30000000000000000001 + t", 0, Fraction("0.30000000000000000001")),
        ("2/(t + 2)**2 - -1", 1, Fraction(11, 9)),
        ("1e-3 + 0*t", 7, Fraction(1, 1000)),
        ("(1 + t)**-2", 1, Fraction(1, 4)),
    ],
)
def test_rules_are_exact(rule: str, t: int, number: Fraction) -> None:
    assert StepsizeSchedule(rule).at(t) == number


def test_enclosures_contain_the_exact_run() -> None:
    import flint

    method = fc.FedGD(stepsize="1/(30 + t)", local_steps=2)
    exact = fc.simulate(method, PROBLEM, 4, arithmetic="exact").points[-1]
    balls = fc.simulate(method, PROBLEM, 4, arithmetic="ball").points[-1]
    other = fc.simulate(fc.FedGD(stepsize="1/(31 + t)", local_steps=2), PROBLEM, 4, arithmetic="ball").points[-1]
    with flint.ctx.workprec(1000):
        points = [flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in exact]
        assert all(ball.overlaps(x) for ball, x in zip(balls, points, strict=True))
        assert not any(ball.overlaps(x) for ball, x in zip(other, points, strict=True))


def test_a_local_solver_has_a_schedule_of_its_own() -> None:
    solver = fc.GradientDescent(steps=2, stepsize="1/(30 + t)")
    run = fc.simulate(fc.FedProx(mu=1), PROBLEM, 2, local_solver=solver, arithmetic="exact")
    solvers = [fc.GradientDescent(steps=2, stepsize=Fraction(1, 30 + t)) for t in range(2)]
    assert (round_by_round([(fc.FedProx(mu=1), solver) for solver in solvers], PROBLEM) == run.points[-1]).all()


# ---- saved and resumed ----


@pytest.mark.parametrize("rule", [RULE, [Fraction(1, 30 + t) for t in range(9)]])
def test_runs_are_resumed(rule: Any, tmp_path: Path) -> None:
    method, other = (fc.Scaffold(stepsize=size, local_steps=2) for size in (rule, "1/(31 + t)"))
    assert_resumed(method, other, PROBLEM, tmp_path / "run.npz")


def test_a_function_is_no_record_of_a_rule(tmp_path: Path) -> None:
    method = fc.FedGD(stepsize=lambda t: Fraction(1, 30 + t))
    with pytest.raises(InvalidInput, match="give numbers, text"):
        fc.simulate(method, PROBLEM, 3, checkpoint=tmp_path / "run.npz")
    assert not list(tmp_path.iterdir())


def test_methods_with_schedules_are_values() -> None:
    method = fc.FedGD(stepsize=RULE)
    assert pickle.loads(pickle.dumps(method)) == method == fc.FedGD(stepsize=StepsizeSchedule(RULE))  # noqa: S301
    assert method != fc.FedGD(stepsize="1/(31 + t)")
    assert repr(method) == "FedGD(stepsize='1/(30 + t)', local_steps=1)"


# ---- worst cases ----


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_worst_case_of_gradient_descent_is_known(rounds: int) -> None:
    """∏(1 − s_t μ)² for s_t ≤ 1/L: f is contracted no less by any gradient step, and μ‖x‖²/2 no more."""
    found = worst_case(fc.FedGD(stepsize="1/(1 + t)"), CLIENTS, "any", rounds=rounds)
    known = np.prod([1 - Fraction(1, 4 * (1 + t)) for t in range(rounds)]) ** 2
    assert found.lower == found.upper == known
    constant = worst_case(fc.FedGD(stepsize=1), CLIENTS, "any", rounds=rounds)
    assert (constant.upper == known) is (rounds == 1)


@pytest.mark.beyond_core
@pytest.mark.parametrize(("scheme", "steps"), [(None, 2), (fc.participation.Uniform(1), 1)])
def test_no_federation_is_worse(scheme: Any, steps: int) -> None:
    method = fc.FedGD(stepsize="3/(2 + t)", local_steps=steps)
    found = worst_case(method, CLIENTS, 2, rounds=2, heterogeneity=3, participation=scheme)
    assert found.lower <= found.upper < np.inf
    rng = np.random.default_rng(0)
    for _ in range(20):
        curvatures, slopes = rng.uniform(0.25, 1, 2), rng.uniform(-1, 1)
        federation = fc.Quadratic([np.array([[a]]) for a in curvatures], [np.array([slopes]), np.array([-slopes])])
        start = rng.uniform(-1, 1, 1)
        schemes = [None] if scheme is None else [
            fc.participation.Schedule([[i], [j]]) for i in (0, 1) for j in (0, 1)
        ]  # fmt: skip
        ends = [fc.simulate(method, federation, 2, way, x0=start).points[-1][0] ** 2 for way in schemes]
        assert np.mean(ends) <= float(found.upper) * (start[0] ** 2 + 3 * slopes**2) * (1 + 1e-12)


# ---- what needs one number ----

ANALYSES: dict[str, Callable[[fc.methods.Method], Any]] = {
    "fixed point": lambda method: fc.fixed_point(method, PROBLEM),
    "fixed point of steps": lambda method: fc.fixed_point(
        fc.FedProx(mu=1), PROBLEM, local_solver=fc.GradientDescent(steps=1, stepsize=RULE)
    ),
    "rate": lambda method: lyapunov(method, CLIENTS),
    "rate of steps": lambda method: lyapunov(
        fc.FedProx(mu=1), CLIENTS, local_solver=fc.GradientDescent(steps=1, stepsize=RULE)
    ),
    "contraction": lambda method: assert_contracts(method, PROBLEM, Fraction(1, 2)),
    "contraction of steps": lambda method: assert_contracts(
        fc.FedProx(mu=1), PROBLEM, Fraction(1, 2), local_solver=fc.GradientDescent(steps=1, stepsize=RULE)
    ),
    "diagnosis": lambda method: fc.diagnose(fc.simulate(method, PROBLEM, 3)),
}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_what_is_computed_for_a_round_that_repeats_refuses_schedules(analysis: str) -> None:
    with pytest.raises(InvalidInput, match=r"chang|other steps in every round"):
        ANALYSES[analysis](fc.FedGD(stepsize=RULE))


def test_no_statement_about_one_stepsize_applies() -> None:
    def applying(size: Any) -> set[str]:
        method = fc.FedGD(stepsize=size)
        return {a.statement.identifier for a in bounds_for(method, PROBLEM, rounds=3).applies}

    scheduled, constant = applying(RULE), applying(Fraction(1, 30))
    assert scheduled < constant
    assert "fedgd" not in " ".join(scheduled)


def test_a_schedule_is_never_taken_for_a_number() -> None:
    schedule: Any = StepsizeSchedule(RULE)
    uses: list[Callable[[], Any]] = [
        lambda: schedule * 2, lambda: 2 * schedule, lambda: schedule + 1, lambda: 1 - schedule, lambda: 1 / schedule,
        lambda: schedule**2, lambda: -schedule, lambda: abs(schedule), lambda: schedule < 1, lambda: schedule >= 0,
        lambda: float(schedule), lambda: np.ones(3) * schedule, lambda: schedule * np.ones(3),
        lambda: Fraction(1, 2) * schedule, lambda: np.float64(1) * schedule, lambda: int(schedule),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(InvalidInput, match="changes from round to round"):
            use()


# ---- bad input ----


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("0.1", "not a number"),
        ("1/(1 - t)", "divides by 0"),
        ("t**-1", "divides by 0"),
        ("1 - t", "is 0 in round 1"),
        ("3/2 - t", "is -1/2 in round 2"),
        ("t", "is 0 in round 0"),
        ("1/t +", "no formula"),
        ("'a' * t", "no formula of t"),
        ("t < 1", "no formula of t"),
        ("not t", "no formula of t"),
        ("__import__('t') + t", "not known"),
        ("t.real", "not known"),
        ("9**9**9 + t", "too many digits"),
        ("1e100000 * t", "too long"),
        ("2**(1/(t + 2))", "no integer"),
        ([], "is empty"),
        ([1, 0], r"stepsize\[1\]"),
        ([1, float("nan")], r"stepsize\[1\]"),
        ([1, 1], "ends before round 2"),
        (np.ones(3), "ends before round 3"),
        (lambda t: "x", "no value in round 0"),
        (lambda t: 1 - t, "is 0 in round 1"),
        (lambda: 1, "no value in round 0"),
        (None, "not a number"),
        ([[1, 2], [3]], r"stepsize\[0\]"),
        (True, "truth value"),
        (np.ones((2, 2)), "not a number"),
    ],
)
def test_bad_rules_are_refused_before_any_round(rule: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        fc.simulate(fc.FedGD(stepsize=rule), PROBLEM, 4)
    assert caught.value.argument.startswith("stepsize")


def test_the_servers_schedule_is_named() -> None:
    method = fc.Scaffold(stepsize=RULE, server_stepsize=[1, 1])
    with pytest.raises(InvalidInput, match="ends before round 2") as caught:
        fc.simulate(method, PROBLEM, 4)
    assert caught.value.argument == "server_stepsize"
    assert len(fc.simulate(method, PROBLEM, 2).points) == 3
