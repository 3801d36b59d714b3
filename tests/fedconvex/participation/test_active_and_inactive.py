"""Rounds with all clients, with none, with clients of weight 0; inactive clients keep their memory."""

from collections.abc import Iterator, Sequence

import numpy as np
import pseudo_code as paper
import pytest
import run_makers as make
import torch
from problem_makers import terms_of
from run_makers import EQUAL, QUARTER, SILENT, START, UNEQUAL, M, entries_of, gradient_steps, instance, run, same_run

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS, State
from fedconvex.participation import Draw
from fedconvex.runs.rounds import Rounds, rounds_of


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, SILENT], ids=["equal", "unequal", "silent"])
def test_everyone_is_everyone(name, problem) -> None:
    method, full = instance(name), run(instance(name), problem, who.Full())
    assert len(set(map(tuple, full.points.tolist()))) > 1  # it moves
    same = [who.Bernoulli(1), who.Schedule([range(M)] * 3), who.UniformThenWeighted(M), None]
    same += [who.Uniform(M)] if problem is EQUAL or METHODS[name].plain else []
    for scheme in same:
        assert same_run(run(method, problem, scheme), full)
    if name != "FedLin":  # whose first local step is everybody's: that of gradient descent
        assert not same_run(run(method, problem, who.Schedule([[0, 1, 2]] * 3)), full)  # one is missing
    if problem is UNEQUAL and name in make.WEIGHTED:
        assert not same_run(run(method, problem, who.Uniform(M)), full)


@pytest.mark.parametrize("name", METHODS)
def test_rounds_with_nobody_change_nothing(name) -> None:
    method = instance(name)
    with_gaps = run(method, UNEQUAL, who.Schedule([[], [0, 2], [], [1], []]), rounds=5)
    without = run(method, UNEQUAL, who.Schedule([[0, 2], [1]]), rounds=2)
    assert np.array_equal(with_gaps.points, without.points[[0, 0, 1, 1, 2, 2]])
    assert entries_of(with_gaps.state) == entries_of(without.state)
    assert with_gaps.recorded["participants"].tolist() == [0, 2, 0, 1, 0]


@pytest.mark.parametrize("name", make.WEIGHTED)
def test_clients_of_weight_0_alone_change_nothing(name) -> None:
    method, alone = instance(name), run(instance(name), SILENT, who.Schedule([[0], [0, 1], [0]]))
    assert same_run(alone, run(method, SILENT, who.Schedule([[], [0, 1], []])))
    counted = run(method, SILENT, who.Schedule([[0, 1]]), rounds=1)  # beside others it counts nothing
    if name not in ("AdaptiveFedProx", "DANE"):  # whose objective and gradient are everyone's
        assert np.array_equal(counted.points, run(method, SILENT, who.Schedule([[1]]), rounds=1).points)


def test_a_plain_average_counts_clients_of_weight_0() -> None:
    rounds = rounds_of(fc.FedGD(stepsize=QUARTER), SILENT, "exact")
    state = rounds.start(rounds.arithmetic.array(START))
    moved = rounds.advance(state, Draw(np.array([0]), np.array([1])))
    assert np.array_equal(rounds.arithmetic.publish(moved.server), gradient_steps(SILENT, 0, START, 1, QUARTER))
    assert np.array_equal(rounds.advance(state, Draw(np.array([0]))).server, state.server)


def test_methods_with_the_weights_inside_the_functions_do_not() -> None:
    """Client 0's function is 0: its answer is where the linear and the proximal term alone send it."""
    schedule = [[0], [0, 1], [0, 2, 3], [0]]
    found = run(fc.FedDyn(alpha=QUARTER), SILENT, who.Schedule(schedule), rounds=4)
    assert np.array_equal(found.points, paper.feddyn(terms_of(SILENT), START, schedule, alpha=QUARTER))


def played(rounds: Rounds, draws: Sequence[Draw], in_place: bool = False) -> tuple[State, State]:
    """The state before and after the last of some rounds."""
    with rounds.arithmetic.context():
        before = after = rounds.start(rounds.arithmetic.array(START))
        for draw in draws:
            before, after = after, rounds.advance(after, draw, in_place=in_place)
    return before, after


HALF = Draw(np.array([1, 3]), round=2)
EVERYBODY = [Draw(round=t) for t in range(2)]


@pytest.mark.parametrize("name", make.REMEMBERING)
@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
def test_the_inactive_keep_their_memory(name, arithmetic) -> None:
    rounds = rounds_of(instance(name), UNEQUAL, arithmetic)
    before, after = played(rounds, [*EVERYBODY, HALF])
    changed = []
    for part in before.memory:
        same = (before.memory[part] == after.memory[part]).all(-1)
        assert np.asarray(same)[[0, 2]].all()
        changed.append(~np.asarray(same)[[1, 3]])
    assert np.any(changed, axis=0).all()  # of the active ones it is seen


def test_which_methods_remember() -> None:
    found = [name for name in METHODS if rounds_of(instance(name), EQUAL).start(np.zeros(2)).memory]
    assert found == make.REMEMBERING


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
def test_in_place_or_not(name, arithmetic) -> None:
    if name in make.IRRATIONAL and arithmetic == "exact":
        return  # its server takes square roots
    rounds = rounds_of(instance(name), UNEQUAL, arithmetic)
    before, _ = played(rounds, EVERYBODY)
    kept = entries_of(before)
    with rounds.arithmetic.context():
        copied = rounds.advance(before, HALF)
        assert entries_of(before) == kept
        overwritten = rounds.advance(before, HALF, in_place=True)
    assert entries_of(overwritten) == entries_of(copied)
    for part, rows in before.memory.items():
        assert rows is overwritten.memory[part]
        assert rows is not copied.memory[part]
    if name in make.REMEMBERING:
        assert entries_of(before) != kept  # overwriting is seen


SCHEMES = [
    who.Uniform(2),
    who.UniformThenWeighted(3),
    who.Weighted(3),
    who.Bernoulli(QUARTER),
    who.Schedule([[1, 2]] * 3),
]


@pytest.fixture
def torch_that_warns() -> Iterator[None]:
    """Every time, and not once in a process: a warning fails the test."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(always)


@pytest.mark.usefixtures("torch_that_warns")
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
class TestArithmetics:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("arithmetic", ["float", "torch"])
    def test_floats_do_what_rationals_do(self, scheme, arithmetic) -> None:
        for name in METHODS:
            if name in make.IRRATIONAL:  # compared with balls in methods/test_server_optimizers.py
                continue
            exact = run(instance(name), UNEQUAL, scheme)
            found = run(instance(name), UNEQUAL, scheme, arithmetic=arithmetic)
            assert np.asarray(found.points) == pytest.approx(exact.points.astype(float), rel=1e-9, abs=1e-9)
            expected = [float(entry) for entry in entries_of(exact.state)]
            assert entries_of(found.state) == pytest.approx(expected, rel=1e-9, abs=1e-9)

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.sample(3)
    def test_torch_does_what_floats_do(self, scheme) -> None:
        problem = fc.Logistic(make.A, [[1, -1], [1], [-1, 1], [-1]], ridge=QUARTER, weights=[1, 2, 3, 2])
        for name in METHODS:
            found, expected = (run(instance(name), problem, scheme, arithmetic=kind) for kind in ("torch", "float"))
            assert np.asarray(found.points) == pytest.approx(expected.points, rel=1e-9, abs=1e-9)
            assert entries_of(found.state) == pytest.approx(entries_of(expected.state), rel=1e-9, abs=1e-9)
