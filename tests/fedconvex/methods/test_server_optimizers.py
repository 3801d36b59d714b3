"""FedAvgM, FedAdagrad, FedAdam and FedYogi against their papers, their fixed points, and what they refuse."""

from fractions import Fraction
from typing import Any

import numpy as np
import pseudo_code_servers as servers
import pytest
from problem_makers import ball_contains, fractions, terms_of
from round_cases import EVERYBODY, PARTIAL, START, UNEQUAL

import fedconvex as fc
from fedconvex.audit.methods import read_method
from fedconvex.errors import InvalidInput

F = Fraction
ADAPTIVE: dict[str, Any] = {"FedAdagrad": fc.FedAdagrad, "FedAdam": fc.FedAdam, "FedYogi": fc.FedYogi}
ALL: dict[str, Any] = {"FedAvgM": fc.FedAvgM, **ADAPTIVE}
PARTS = {"eta": F(1, 3), "beta1": F(1, 2), "beta2": F(4, 5), "tau": F(1, 7)}


def made(kind: str, s: Fraction, e: int, **more: Any) -> Any:
    given = {"server_stepsize": PARTS["eta"], "beta1": PARTS["beta1"], "tau": PARTS["tau"], **more}
    if kind != "FedAdagrad":
        given["beta2"] = PARTS["beta2"]
    return ADAPTIVE[kind](stepsize=s, local_steps=e, **given)


def transcribed(kind: str, problem: Any, rounds: Any, s: Fraction, e: int, **more: Any) -> list[list[Fraction]]:
    terms, start = terms_of(problem), list(START[: problem.dim])
    return servers.adaptive(kind, terms.H, terms.c, terms.w, start, rounds, s=s, e=e, **PARTS, **more)


def run(method: Any, problem: Any, rounds: Any, arithmetic: str) -> Any:
    who = fc.participation.Schedule(rounds)
    return fc.simulate(method, problem, len(rounds), who, x0=START[: problem.dim], arithmetic=arithmetic).points


def encloses(balls: Any, points: list[list[Fraction]]) -> bool:
    return all(
        ball_contains(b, v) for ball, point in zip(balls, points, strict=True) for b, v in zip(ball, point, strict=True)
    )


def random_problem(seed: int) -> tuple[fc.Quadratic, list[list[int]], Fraction, int]:
    """Three clients in one or two dimensions with a schedule of four rounds, a stepsize and a number of local steps."""
    draw = np.random.default_rng(seed)
    d = int(draw.integers(1, 3))
    A = [fractions(draw.integers(-3, 4, (d, d))) for _ in range(3)]
    c = [fractions(draw.integers(-3, 4, d)) / F(int(draw.integers(1, 4))) for _ in range(3)]
    weights = [F(int(n)) for n in draw.integers(1, 5, 3)]
    rounds = [sorted(draw.choice(3, size=draw.integers(1, 4), replace=False).tolist()) for _ in range(4)]
    return (
        fc.Quadratic([a.T @ a for a in A], c, weights),
        rounds,
        F(1, int(draw.integers(5, 40))),
        int(draw.integers(1, 4)),
    )


class TestAgainstThePapers:
    @pytest.mark.parametrize("start", [None, 0, F(1, 9)])
    @pytest.mark.parametrize("rounds", [[EVERYBODY] * 4, PARTIAL], ids=["everyone", "some"])
    @pytest.mark.parametrize("kind", ADAPTIVE)
    def test_balls_enclose_the_algorithm_and_floats_are_near(self, kind, rounds, start) -> None:
        s, e = F(1, 9), 2
        expected = transcribed(kind, UNEQUAL, rounds, s, e, start=None if start is None else F(start))
        method = made(kind, s, e, initial=start)
        balls = run(method, UNEQUAL, rounds, "ball")
        assert encloses(balls, expected)
        assert max(float(b.rad()) for b in balls.ravel()) < 1e-25
        for arithmetic in ("float", "torch"):
            found = np.asarray(run(method, UNEQUAL, rounds, arithmetic))
            assert np.abs(found - np.array(expected, dtype=float)).max() < 1e-12
        wrong = transcribed(kind, UNEQUAL, rounds, s, e, start=start and F(start), fault="tau under the root")
        assert not encloses(balls, wrong)

    @pytest.mark.parametrize("kind", ADAPTIVE)
    def test_another_second_moment_is_rejected(self, kind) -> None:
        balls = run(made(kind, F(1, 9), 2), UNEQUAL, [EVERYBODY] * 4, "ball")
        for other in ADAPTIVE:
            assert encloses(balls, transcribed(other, UNEQUAL, [EVERYBODY] * 4, F(1, 9), 2)) == (other == kind)

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("kind", ADAPTIVE)
    def test_many_random_runs(self, kind) -> None:
        for seed in range(60):
            self.one_random_run(kind, seed)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ADAPTIVE)
    def test_a_thousand_random_runs(self, kind) -> None:
        for seed in range(60, 1060):
            self.one_random_run(kind, seed)

    def one_random_run(self, kind: str, seed: int) -> None:
        problem, rounds, s, e = random_problem(seed)
        expected = transcribed(kind, problem, rounds, s, e)
        method = made(kind, s, e)
        balls = run(method, problem, rounds, "ball")
        assert encloses(balls, expected), seed
        if max(float(b.rad()) for b in balls.ravel()) > 1e-12:
            return  # FedYogi takes the sign of a number that is nearly 0: floats may take the other
        size = 1 + max(abs(float(v)) for point in expected for v in point)
        floats = run(method, problem, rounds, "float")
        assert np.abs(floats - np.array(expected, dtype=float)).max() < 1e-9 * size, seed

    @pytest.mark.parametrize("fault", ["damped", "Nesterov", "weights ignored"])
    def test_fedavgm_rejects(self, fault) -> None:
        s, e, beta = F(1, 9), 2, F(2, 3)
        method = fc.FedAvgM(stepsize=s, local_steps=e, momentum=beta)
        points = run(method, UNEQUAL, PARTIAL, "exact")
        right, wrong = (
            servers.fedavgm(terms_of(UNEQUAL), START, PARTIAL, s=s, e=e, beta=beta, fault=f) for f in ("", fault)
        )
        assert np.array_equal(points, right)
        assert not np.array_equal(points, wrong)


class TestWhereTheyRest:
    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])

    @pytest.mark.parametrize("e", [1, 3])
    @pytest.mark.parametrize("kind", ALL)
    def test_the_fixed_points_are_those_of_fedgd(self, kind, e) -> None:
        s = F(1, 32)
        found = fc.fixed_point(ALL[kind](stepsize=s, local_steps=e), self.problem, "exact")
        plain = fc.fixed_point(fc.FedGD(stepsize=s, local_steps=e), self.problem, "exact")
        assert list(found.point) == list(plain.point)
        assert found.bias_is_zero == (e == 1)
        assert found.unique

    @pytest.mark.parametrize("kind", ALL)
    def test_a_run_that_starts_there_stays(self, kind) -> None:
        """A second route: the rounds themselves."""
        method = ALL[kind](stepsize=F(1, 32), local_steps=3)
        stop = fc.fixed_point(method, self.problem, "exact").point
        balls = fc.simulate(method, self.problem, 5, x0=stop, arithmetic="ball").points
        assert all(ball_contains(b, v) for ball in balls for b, v in zip(ball, stop, strict=True))
        elsewhere = fc.simulate(method, self.problem, 5, x0=stop + F(1, 100), arithmetic="ball").points
        assert not ball_contains(elsewhere[-1][0], stop[0])

    def test_small_steps_lead_there(self) -> None:
        for kind in ADAPTIVE:
            method = ADAPTIVE[kind](stepsize=F(1, 32), local_steps=3, tau=F(1, 4), server_stepsize=F(1, 2))
            stop = fc.fixed_point(method, self.problem)
            assert abs(fc.simulate(method, self.problem, 500).points[-1] - stop.point).max() < 1e-6, kind

    def test_momentum_decides_whether_it_converges(self) -> None:
        """On one client with curvature 1, one local step: x⁺ = x − ηs·m is the heavy ball, stable for ηs < 2(1 + β)."""
        line = fc.Quadratic([[[1]]], [[1]])
        for beta in (F(0), F(1, 2), F(9, 10)):
            for eta, attracts in ((2 * (1 + beta) - F(1, 1000), True), (2 * (1 + beta), False)):
                method = fc.FedAvgM(stepsize=1, momentum=beta, server_stepsize=eta)
                assert fc.fixed_point(method, line, "exact").attracting is attracts

    def test_whether_adaptive_ones_attract_is_not_claimed(self) -> None:
        for kind in ADAPTIVE:
            assert fc.fixed_point(ALL[kind](stepsize=F(1, 32)), self.problem).attracting is None
        flat = fc.LeastSquares(A=[[[1, 0]], [[1, 0]]], b=[[1], [2]])
        assert fc.fixed_point(fc.FedAdam(stepsize=F(1, 32)), flat).attracting is False  # several fixed points


class TestBadInput:
    @pytest.mark.parametrize(
        ("kind", "argument", "value"),
        [
            ("FedAvgM", "momentum", 1),
            ("FedAvgM", "momentum", 1.0),
            ("FedAvgM", "nesterov", 1),
            ("FedAdagrad", "beta1", 1),
            ("FedAdam", "beta1", 1),
            ("FedAdam", "beta2", 1),
            ("FedAdam", "local_steps", 0),
            ("FedYogi", "beta2", 2),
        ],
    )
    def test_parameters_out_of_range(self, kind, argument, value) -> None:
        with pytest.raises(InvalidInput) as error:
            ALL[kind](**{"stepsize": 1, argument: value})
        assert error.value.argument == argument
        assert "give" in str(error.value)

    @pytest.mark.parametrize("kind", ADAPTIVE)
    def test_rationals_are_refused_before_any_round(self, kind) -> None:
        with pytest.raises(InvalidInput, match=r"has no square roots, which .* takes; use 'ball'"):
            fc.simulate(ADAPTIVE[kind](stepsize=1), UNEQUAL, rounds=0, arithmetic="exact")

    def test_the_command_line_knows_them(self) -> None:
        assert read_method("fedavgm:stepsize=1/8,momentum=1/2") == (
            "fedavgm",
            {"stepsize": F(1, 8), "momentum": F(1, 2)},
        )
        assert read_method("fedadam:tau=1/1000,beta1=0") == ("fedadam", {"tau": F(1, 1000), "beta1": F(0)})
        with pytest.raises(InvalidInput, match="beta1"):
            read_method("fedyogi:beta1=1")
