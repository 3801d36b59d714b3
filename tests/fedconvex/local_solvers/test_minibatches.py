"""Mini-batches of local SGD: an epoch visits each sample once, gradients are unbiased, paths have the stated length."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from problem_makers import FLOATS, fractions
from sgd_loops import (
    COUNTS,
    EPOCHS,
    KINDS,
    MODES,
    PROBLEMS,
    THREE,
    A,
    B,
    S,
    dealt,
    expected,
    numbers,
    rounds_played,
    same,
)

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Stragglers


class TestBatches:
    @pytest.mark.parametrize(
        ("work", "argument"),
        [({"epochs": 10**40}, "epochs"), ({"epochs": 2**32}, "epochs"), ({"steps": 2**62, "batch_size": 2}, "steps")],
    )
    def test_more_work_than_memory_holds_the_order_of_is_refused(self, work: dict[str, int], argument: str) -> None:
        with pytest.raises(InvalidInput, match=rf"{argument} = .*would visit .* samples in a round.*give fewer"):
            dealt(fc.SGD(stepsize=S, **work), range(4), Draw(seed=1, round=0))

    def test_stragglers_of_more_work_than_can_be_drawn_from_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="is more work than can be drawn from"):
            Stragglers(fraction=Fraction(1, 2), policy="use").slow(Draw(seed=1, round=0), 4, 10**40)

    def test_an_epoch_visits_everything_once(self) -> None:
        for solver in (fc.SGD(epochs=3, batch_size=2, stepsize=S), fc.SGD(steps=3, batch_size=2, stepsize=S)):
            for k, batches in enumerate(dealt(solver, range(4), Draw(seed=1, round=6))):
                n, per_epoch = COUNTS[k], -(-COUNTS[k] // 2)
                assert len(batches) == (3 if solver.steps else 3 * per_epoch)
                for begin in range(0, len(batches) - per_epoch + 1, per_epoch):
                    epoch = batches[begin : begin + per_epoch]
                    assert sorted(i for batch in epoch for i in batch) == list(range(n))
                    assert [len(batch) for batch in epoch] == [min(2, n - 2 * i) for i in range(per_epoch)]
        orders = {str(batches) for t in range(30) for batches in dealt(EPOCHS, [0], Draw(seed=1, round=t))}
        assert len(orders) > 25

    @KINDS
    @pytest.mark.parametrize("scaled", [False, True])
    def test_batches_are_unbiased(self, kind, arithmetic, scaled) -> None:
        """The mean over an epoch, each batch counted with its size, is the full gradient; over all batches of a size,
        plainly so.
        """
        problem = PROBLEMS[kind]
        clients = problem.clients(arithmetic, [4 * w for w in problem.exact_weights] if scaled else None)
        array, samples = clients.arithmetic.array, clients.samples()
        X = array(fractions(np.arange(4 * problem.dim).reshape(4, -1) % 5 - 2))
        full = clients.gradients(X)

        def gradient(k: int, batch: Sequence[int], mean: bool = True) -> Any:
            share = Fraction(1, len(batch)) if mean else Fraction(1)
            rows, shares = samples.first[[k]][:, None] + np.array([batch]), array([[share] * len(batch)])
            return samples.gradients(np.array([k]), X[[k]], rows, shares)[0]

        def is_full(k: int, found: Any) -> bool:
            return same(found, numbers(full[k], arithmetic), arithmetic)

        for k, batches in enumerate(dealt(fc.SGD(epochs=1, batch_size=2, stepsize=S), range(4), Draw())):
            n, parts = COUNTS[k], [gradient(k, batch) for batch in batches]
            shares = array([Fraction(len(batch), n) for batch in batches])
            assert is_full(k, sum(w * part for w, part in zip(shares, parts, strict=True)))
            assert is_full(k, sum(parts) / len(parts)) == (n % 2 == 0 or n == 1)  # else sizes differ: biased
            if n > 1:
                assert not is_full(k, sum(gradient(k, batch, mean=False) for batch in batches))
            for size in range(1, n + 1):
                every = [gradient(k, batch) for batch in combinations(range(n), size)]
                assert is_full(k, sum(every) / len(every))

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_an_average_over_first_steps_is_a_gradient_step(self, arithmetic) -> None:
        """One batch of one sample from each of many seeds: shares of samples tell what the average must be."""
        solver, method, rounds = fc.SGD(steps=1, batch_size=1, stepsize=S), fc.FedGD(stepsize=1), 24
        answers, visits = [], np.zeros(5, dtype=int)
        for seed in range(rounds):
            draw = Draw(np.array([0]), seed=seed)
            answers.append(rounds_played(method, "squares", solver, arithmetic, [draw])[0].answers.points[0])
            visits[dealt(solver, [0], draw)[0][0][0]] += 1
        x0 = fractions([1, Fraction(-1, 2)])
        mean = sum(
            (Fraction(int(v), rounds) * 5 * a * (a @ x0 - b) for v, a, b in zip(visits, A[0], B[0], strict=True))
        )
        assert same(sum(answers) / rounds, numbers(x0 - S * mean, arithmetic), arithmetic)
        assert visits.min() > 0


def reach(steps: int, momentum: Any) -> Any:
    """How far unit steps go along a gradient of length 1 that stays as it is: FedNova paper, ‖a‖₁ in its section 4."""
    return Fraction(steps - momentum * (1 - momentum**steps) / (1 - momentum)) / (1 - momentum)


class TestLengthsOfPaths:
    @KINDS
    @pytest.mark.parametrize("mode", MODES)
    def test_are_stepsizes_times_steps(self, kind, arithmetic, mode) -> None:
        solver = MODES[mode]
        for draw, round in zip(
            THREE, rounds_played(fc.FedNova(stepsize=1), kind, solver, arithmetic, THREE), strict=True
        ):
            members = range(4) if draw.members is None else draw.members.tolist()
            per_epoch = [-(-COUNTS[k] // (solver.batch_size or COUNTS[k])) for k in members]
            steps = [solver.steps or solver.epochs * n for n in per_epoch]
            exact = [solver.stepsize * solver.decay**draw.round * reach(n, solver.momentum) for n in steps]
            assert same(round.answers.path_lengths.reshape(-1), exact, arithmetic)
            assert tuple(round.answers.path_lengths.shape) == (len(steps), 1)

    @KINDS
    @pytest.mark.parametrize("solver", [replace(EPOCHS, epochs=5), MODES["steps"]], ids=["epochs", "steps"])
    def test_of_late_clients(self, kind, arithmetic, solver) -> None:
        """Work and lengths of x of E epochs or steps; those on time do all."""
        late = Stragglers(Fraction(1, 2), "use")
        draws = [late.slow(Draw(round=t, seed=3), 4, solver.effort) for t in range(3)]
        assert any(set(draw.efforts.tolist()) - {5} for draw in draws)
        method = fc.FedProx(mu=1)
        found = rounds_played(method, kind, solver, arithmetic, draws)
        for draw, round in zip(draws, found, strict=True):
            assert same(round.answers.points, expected(method, kind, solver, arithmetic, draw, round), arithmetic)
            batches = [len(part) for part in dealt(solver, range(4), draw)]
            assert same(round.answers.path_lengths.reshape(-1), [S * n for n in batches], arithmetic)
        punctual = [replace(draw, efforts=None) for draw in draws]
        assert not all(
            same(round.answers.points, expected(method, kind, solver, arithmetic, draw, round), arithmetic)
            for draw, round in zip(punctual, found, strict=True)
        )  # rejected: everyone does everything

    def test_what_depends_on_them(self) -> None:
        """FedNova by hand: clients with more samples take more steps, and are divided by as many."""
        draw, solver = Draw(seed=8), replace(EPOCHS, stepsize=S)
        (round,) = rounds_played(fc.FedNova(stepsize=1), "squares", solver, "exact", [draw])
        steps = [len(part) for part in dealt(solver, range(4), draw)]
        assert len(set(steps)) > 1
        x0, w = fractions([1, Fraction(-1, 2)]), PROBLEMS["squares"].exact_weights
        answers = fractions(numbers(round.answers.points, "exact"))
        moved = sum(w[k] * (answers[k] - x0) / steps[k] for k in range(4)) * sum(w[k] * steps[k] for k in range(4))
        assert numbers(round.state.server, "exact") == (x0 + moved).tolist()
        assert numbers(round.state.server, "exact") != sum(w[k] * answers[k] for k in range(4)).tolist()
