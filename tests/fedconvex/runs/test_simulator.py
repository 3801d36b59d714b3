"""The loop over rounds: what it keeps, undoes and saves, and that the audit runs what `simulate` runs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.audit.measure import run as audited_run
from fedconvex.methods.base import State
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.runs.simulator import SaveSchedule, Stop, run_rounds


@dataclass
class Counting:
    """Rounds that add 1 to the server's number and remember what was undone."""

    undone: list[int] = field(default_factory=list)

    def simulate(self, state: State, t: int) -> Any:
        undone = self.undone

        @dataclass(frozen=True)
        class Round:
            state: State

            def undo(self) -> None:
                undone.append(t)

        return Round(State(state.server + 1))


START = State(np.zeros(1))


def test_all_rounds_are_run_and_recorded_in_order() -> None:
    seen: list[tuple[int, float]] = []
    state, stopped = run_rounds(
        Counting().simulate, START, range(2, 5), lambda t, done: seen.append((t, float(done.state.server[0])))
    )
    assert (seen, stopped, float(state.server[0])) == ([(2, 1.0), (3, 2.0), (4, 3.0)], None, 3.0)


@pytest.mark.parametrize(("undo", "kept"), [(True, 1.0), (False, 2.0)])
def test_a_stop_ends_the_run_with_the_round_or_without_it(undo: bool, kept: float) -> None:
    rounds, saved = Counting(), []
    schedule = SaveSchedule(lambda state: saved.append(float(state.server[0])), 10, 9)
    state, stopped = run_rounds(
        rounds.simulate, START, range(9), lambda t, done: Stop("enough", undo) if t == 1 else None, schedule
    )
    assert (float(state.server[0]), stopped, rounds.undone) == (kept, "enough", [1] if undo else [])
    assert saved == [kept]  # a run that ends is saved, whatever the schedule


@pytest.mark.parametrize(
    ("every", "last", "saved_after"), [(2, 5, [2, 4, 5]), (1, 3, [1, 2, 3]), (7, 3, [3]), (3, 6, [3, 6])]
)
def test_the_schedule_saves_every_so_often_and_after_the_last(every: int, last: int, saved_after: list[int]) -> None:
    saved: list[float] = []
    schedule = SaveSchedule(lambda state: saved.append(float(state.server[0])), every, last)
    run_rounds(Counting().simulate, START, range(last), lambda t, done: None, schedule)
    assert saved == saved_after


def test_no_rounds_leave_the_state_as_it_is() -> None:
    assert run_rounds(Counting().simulate, START, range(0), lambda t, done: Stop("never")) == (START, None)


PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[2, 0], [1, 1]], [[1, 0], [0, 3]]], b=[[1, 2], [3, 0], [1, 1]])


METHODS = [fc.FedGD(stepsize=0.05, local_steps=3), fc.FedSplit(stepsize=0.3), fc.FedPD(eta=1, skip=0.5)]


@pytest.mark.parametrize("method", METHODS)
def test_the_audit_runs_the_rounds_that_simulate_runs(method: Any) -> None:
    points = fc.simulate(method, PROBLEM, rounds=20).points
    target = np.array([1.0, -1.0])
    _, distances, state = audited_run(method, PROBLEM, fc.ground_truth(PROBLEM).point, target, 20, lambda t, gap: None)
    expected = [np.linalg.norm(point - target) for point in points]  # with axis=1 its last digit may differ
    np.testing.assert_array_equal(distances, expected[: len(distances)])
    np.testing.assert_array_equal(state.server, points[len(distances) - 1])


def test_a_local_round_of_fedpd_is_drawn_anew_in_each_round() -> None:
    """Not one draw for the whole run: of 20 rounds with skip = 1/2, some communicate and some do not."""
    points = fc.simulate(fc.FedPD(eta=1, skip=0.5), PROBLEM, rounds=20).points
    moved = (np.diff(points, axis=0) != 0).any(1)
    assert 0 < moved.sum() < 20


def test_a_run_killed_while_it_records_resumes_to_the_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of memory are overwritten by then: only what was saved before may count."""
    options = {"rounds": 7, "measure": "all", "checkpoint": tmp_path / "run.npz", "checkpoint_every": 2}
    record, calls = RoundMeasurements.record, iter(range(5))

    def killed(*arguments: Any) -> dict[str, Any]:
        if next(calls) == 4:
            raise KeyboardInterrupt
        return record(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(RoundMeasurements, "record", killed)
        with pytest.raises(KeyboardInterrupt):
            fc.simulate(fc.FedPD(eta=1), PROBLEM, **options)
    resumed = fc.simulate(fc.FedPD(eta=1), PROBLEM, **options)
    whole = fc.simulate(fc.FedPD(eta=1), PROBLEM, **options | {"checkpoint": None})
    np.testing.assert_array_equal(resumed.points, whole.points)
    for name, values in whole.recorded.items():
        np.testing.assert_array_equal(resumed.recorded[name], values)


def test_a_stop_in_the_middle_runs_no_further_round() -> None:
    played: list[int] = []
    rounds = Counting()

    def simulate(state: State, t: int) -> Any:
        played.append(t)
        return rounds.simulate(state, t)

    run_rounds(simulate, START, iter(range(10**9)), lambda t, done: Stop("enough") if t == 3 else None)
    assert played == [0, 1, 2, 3]
