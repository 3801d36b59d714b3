"""Local SGD against loops over samples in plain Python, on the same mini-batches, in all arithmetics."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import FLOATS, ball_contains, entries, few, fractions
from sgd_loops import (
    COUNTS,
    EPOCHS,
    EVERYWHERE,
    KINDS,
    MODES,
    PROBLEMS,
    THREE,
    A,
    B,
    S,
    agree,
    dealt,
    numbers,
    rounds_played,
    same,
)

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem

METHODS = [
    fc.FedGD(stepsize=1), fc.FedProx(mu=Fraction(3, 2)), fc.FedDyn(alpha=2), fc.FedDANE(mu=Fraction(1, 2)),
    fc.Scaffold(stepsize=1), fc.Scaffold(stepsize=1, option=1), fc.FedSplit(stepsize=Fraction(1, 2)),
]  # fmt: skip


class TestAgainstLoops:
    @KINDS
    @pytest.mark.parametrize("mode", MODES)
    def test_modes(self, kind, arithmetic, mode) -> None:
        assert agree(fc.FedProx(mu=Fraction(3, 2)), kind, MODES[mode], arithmetic, THREE)

    @KINDS
    @pytest.mark.parametrize("method", METHODS, ids=repr)
    def test_terms(self, kind, arithmetic, method) -> None:
        """Those of methods with and without memory, whose factors are 4·weights[k] or 1."""
        assert agree(method, kind, EPOCHS, arithmetic, THREE)

    @pytest.mark.sample(8)
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("arithmetic", FLOATS)
    @pytest.mark.parametrize("kind", PROBLEMS)
    @pytest.mark.parametrize("clip", [0.25, 2, Fraction(1, 3), 1e6])
    def test_clipping(self, kind, arithmetic, clip) -> None:
        """Some gradients are cut, some are not; weight decay is added afterwards."""
        solver = replace(EPOCHS, clip=clip, weight_decay=Fraction(3, 2))
        for method in (fc.FedProx(mu=1), fc.FedDyn(alpha=2), fc.Scaffold(stepsize=1)):
            assert agree(method, kind, solver, arithmetic, THREE)
            assert agree(method, kind, replace(solver, momentum=Fraction(1, 2)), arithmetic, THREE)
        if clip < 1:
            assert not agree(fc.FedProx(mu=1), kind, solver, arithmetic, THREE, decay_is_clipped=True)
            assert not agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE, only_loss_is_clipped=True)

    @pytest.mark.beyond_core  # takes seconds
    @KINDS
    @pytest.mark.parametrize(
        "fault",
        [
            {"sum_not_mean": True},
            {"last_batch": False},
            {"sign_of_linear": -1},
            {"reseeded": 1},
            {"decay": False},
            {"shared": True},
            {"kept": True},
            {"dampening": True},
            {"nesterov": True},
        ],
        ids=repr,
    )
    def test_faults_are_told_apart(self, kind, arithmetic, fault) -> None:
        solver = replace(MODES["momentum"], decay=Fraction(1, 2))
        assert agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE)
        assert not agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE, **fault)

    @few
    @given(
        size=st.none() | st.integers(1, 6),
        work=st.builds(lambda kind, number: {kind: number}, st.sampled_from(["epochs", "steps"]), st.integers(1, 4)),
        members=st.sets(st.integers(0, 3), min_size=1),
        seed=st.integers(0, 2**40),
        round=st.integers(0, 3),
        decay=st.sampled_from([Fraction(1), Fraction(1, 3)]),
        weight_decay=st.sampled_from([0, Fraction(2, 3)]),
        momentum=st.sampled_from([0, Fraction(2, 3)]),
        method=st.sampled_from(METHODS),
    )
    def test_any_batches(self, size, work, members, seed, round, decay, weight_decay, momentum, method) -> None:
        """Everything in rationals, and compiled."""
        solver = fc.SGD(**work, batch_size=size, stepsize=S, decay=decay, weight_decay=weight_decay, momentum=momentum)
        draws = [Draw(np.array(sorted(members)), round=round, seed=seed), Draw(round=round + 1, seed=seed)]
        assert agree(method, "squares", solver, "exact", draws)
        for kind in PROBLEMS:
            assert agree(method, kind, solver, "float", draws)

    def test_in_balls(self) -> None:
        """Which contain the rational answers."""
        for mode in MODES.values():
            balls, exact = (
                rounds_played(fc.FedDyn(alpha=2), "squares", mode, arithmetic, THREE)
                for arithmetic in ("ball", "exact")
            )
            for ball, round in zip(balls, exact, strict=True):
                for enclosure, value in zip(ball.answers.points.ravel(), round.answers.points.ravel(), strict=True):
                    assert ball_contains(enclosure, to_fraction(value))
                    assert not ball_contains(enclosure, to_fraction(value) + Fraction(1, 10**25))
                assert round.answers.path_lengths.ravel().tolist() == ball.answers.path_lengths.ravel().tolist()

    @pytest.mark.parametrize("arithmetic", ["exact", "ball"])
    def test_lengths_of_gradients_are_no_rationals(self, arithmetic) -> None:
        with pytest.raises(InvalidInput, match="clip"):
            fc.simulate(fc.FedAvg(stepsize=S, clip=Fraction(1, 4)), PROBLEMS["squares"], 1, arithmetic=arithmetic)

    @pytest.mark.parametrize("third", [[], [[[Fraction(1, 3)]]]], ids=["floats", "floats and Fractions"])
    def test_rationals_stay_as_they_were_given(self, third) -> None:
        """An integer that is no float, beside another client's floats."""
        large = 2**53 + 1
        problem = fc.LeastSquares([[[large]], [[0.5]], *third], [[1], [1.5], *([[2]] if third else [])])
        gradients = [large * (large - 1), (Fraction(1, 2) - Fraction(3, 2)) / 2]
        gradients += [(Fraction(1, 3) - 2) / 3] if third else []
        expected = 1 - S * sum(gradients) / Fraction(len(gradients))
        for size in (None, 1):
            method = fc.FedSGD(stepsize=S, batch_size=size)
            assert fc.simulate(method, problem, 1, x0=[1], arithmetic="exact").points[1][0] == expected


class TestThroughASimulation:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_fedavg_by_hand(self, arithmetic) -> None:
        """Four rounds from (1, −1/2), with everyone, stepsizes that halve and weight decay."""
        method = fc.FedAvg(epochs=2, batch_size=2, stepsize=S, decay=Fraction(1, 2), weight_decay=Fraction(1, 5))
        problem, x = PROBLEMS["squares"], fractions([1, Fraction(-1, 2)])
        found = fc.simulate(method, problem, 4, x0=x, seed=9, arithmetic=arithmetic).points
        for t in range(4):
            answers = []
            for k, batches in enumerate(dealt(method.local_solver, range(4), Draw(seed=9, round=t))):
                theta = x
                for batch in batches:
                    residual = A[k][batch] @ theta - B[k][batch]
                    g = Fraction(COUNTS[k], len(batch)) * A[k][batch].T @ residual
                    theta = theta - S / 2**t * (g + Fraction(1, 5) * theta)
                answers.append(theta)
            x = sum(w * answer for w, answer in zip(problem.exact_weights, answers, strict=True))
            assert same(found[t + 1], numbers(x, arithmetic), arithmetic)

    @few
    @given(x0=entries(2), seed=st.integers(0, 2**60))
    def test_compiled_tensors_and_rationals_are_one(self, x0, seed) -> None:
        method = fc.FedAvg(epochs=1, batch_size=2, stepsize=S)
        exact, *others = (
            np.asarray(fc.simulate(method, PROBLEMS["squares"], 2, x0=x0, seed=seed, arithmetic=arithmetic).points)
            for arithmetic in ["exact", *FLOATS]
        )
        for points in others:
            assert np.abs(points - exact.astype(float)).max() <= 1e-12 * (1 + np.abs(points).max())


def test_subproblems_are_left_as_they_were() -> None:
    """A solver steps on a copy."""
    for kind, arithmetic in EVERYWHERE:
        clients = PROBLEMS[kind].clients(arithmetic)
        points = clients.arithmetic.array(np.ones((4, clients.dim)))
        for clip in [None, 0.5] if arithmetic in FLOATS else [None]:
            solver = in_arithmetic(replace(EPOCHS, clip=clip), clients.arithmetic)
            answers = solver.solve(clients, Subproblem(points, linear=points, weight=points[0, 0], center=points))
            assert bool((points == 1).all())
            assert not bool((answers.points == 1).any())
