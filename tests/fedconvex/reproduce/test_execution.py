"""Experiments continue from finished runs, reuse their files, and report models that are no longer finite."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from experiment_texts import DEEP, SWEEP
from sweep_makers import killed_after

from fedconvex.errors import InvalidInput
from fedconvex.reproduce import execution
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.pipeline import run_experiment
from fedconvex.reproduce.specification import experiments
from fedconvex.runs.rounds import Rounds

pytestmark = pytest.mark.beyond_core  # trains networks

RUNS = """
from pathlib import Path
from fedconvex.reproduce import execution, specification
execution.run(specification.read(Path(sys.argv[2])), Path(sys.argv[3]), None, jobs=1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["sweep", "deep"])
def test_after_kill_9_it_goes_on(written: Any, runner: str, tmp_path: Path, played: list[int]) -> None:
    experiment = written(SWEEP if runner == "sweep" else DEEP)
    killed_after(2, RUNS, tmp_path / "paper" / "test.toml", tmp_path / "killed")
    after = execution.run(experiment, tmp_path / "killed", None, jobs=1)
    rounds = experiment.run["rounds"]
    assert len(played) == (6 - 2) * rounds  # three methods, two seeds, of which two runs were there
    assert [path.suffix for path in (tmp_path / "killed" / "runs").iterdir()] == [".parquet"] * (
        2 if runner == "sweep" else 1
    )
    whole = execution.run(experiment, tmp_path / "whole", None, jobs=1)
    pandas.testing.assert_frame_equal(after, whole, check_exact=True)
    played.clear()
    execution.run(experiment, tmp_path / "whole", None, jobs=1)
    assert played == []


@pytest.mark.slow
def test_a_long_run_goes_on_from_its_middle(
    written: Any, tmp_path: Path, played: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = written(DEEP)
    monkeypatch.setattr(execution, "ROUNDS_BETWEEN_CHECKPOINTS", 1)
    with monkeypatch.context() as stopped:
        play = Rounds.play

        def until_round_2(self: Any, state: Any, draw: Any, *rest: Any, **options: Any) -> Any:
            if draw.round == 2:
                raise KeyboardInterrupt
            return play(self, state, draw, *rest, **options)

        stopped.setattr(Rounds, "play", until_round_2)
        with pytest.raises(KeyboardInterrupt):
            execution.run(experiment, tmp_path / "stopped", None, jobs=1)
    assert played == [0, 1]
    played.clear()
    after = execution.run(experiment, tmp_path / "stopped", None, jobs=1)
    assert played == [2] + [0, 1, 2] * 5
    pandas.testing.assert_frame_equal(
        after, execution.run(experiment, tmp_path / "whole", None, jobs=1), check_exact=True
    )


@pytest.mark.slow
def test_two_processes_give_the_same_table(written: Any, tmp_path: Path) -> None:
    experiment = written(DEEP)
    one, two = (execution.run(experiment, tmp_path / str(jobs), None, jobs=jobs) for jobs in (1, 2))
    pandas.testing.assert_frame_equal(one, two, check_exact=True)
    assert set(one["method"]) == set(experiment.methods)
    assert {"value", "test_accuracy", "gradient_variance"} <= set(one.columns)


def test_a_run_that_is_no_longer_finite_is_the_worst_there_is(written: Any, tmp_path: Path) -> None:
    text = DEEP.replace("stepsize = 0.1", "stepsize = 1e300").replace("grid = { mu = [0.1, 1] }", "mu = 1")
    frame = execution.run(written(text), tmp_path, None, jobs=1)
    last = frame[frame["round"] == 3]
    assert len(last) == 4
    assert (last["value"] == np.inf).all()
    assert (frame["value"].notna()).all()


def test_rounds_are_counted_where_not_every_model_is_looked_at(written: Any, tmp_path: Path) -> None:
    all_of_them, every_third = written(DEEP), written(DEEP.replace("rounds = 3", "rounds = 3\nevery = 3"))
    whole, seen = (
        ExperimentMetrics(e, execution.run(e, tmp_path / str(i), None, jobs=1))
        for i, e in enumerate((all_of_them, every_third))
    )
    place = ("value", "digits", "FedAvg")
    assert seen.last(*place) == whole.last(*place)
    assert seen.at(2, *place) == whole.first(*place)
    assert seen.of_seed(0).rounds_to(whole.of_seed(0).last(*place), *place) == 3


def test_missing_files_are_named(written: Any, tmp_path: Path) -> None:
    text = DEEP.replace("quick_seconds = 1", 'quick_seconds = 1\nneeds = ["mnist"]')
    with pytest.raises(
        InvalidInput, match=r"needs mnist/train-images\*, .*download mnist.*no data directory was given"
    ):
        run_experiment(written(text), tmp_path)
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / "train-images-idx3-ubyte.gz").touch()
    with pytest.raises(InvalidInput, match=r"needs mnist/train-labels\*, mnist/t10k-images.*not in "):
        run_experiment(written(text), tmp_path, tmp_path)


def test_a_picture_and_a_summary_are_written(written: Any, tmp_path: Path) -> None:
    text = SWEEP + '\n[figure]\nkind = "curves"\ny = ["gap"]\nlog = true\nfloors = true\n'
    summary, files = run_experiment(written(text), tmp_path, jobs=1)
    assert [file.name for file in files] == ["summary.json", "figure.png", "figure.svg"]
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert b"closed form" in files[2].read_bytes() or b"<svg" in files[2].read_bytes()
    assert summary["seeds"] == 2


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "key", [k for k, e in experiments(quick=True).items() if e.runner == "partition" and not e.needs]
)
def test_partitions_are_counted(key: str, tmp_path: Path) -> None:
    summary, _ = run_experiment(experiments(quick=True)[key], tmp_path)
    assert summary["numbers"]
    assert all(row["ours"] > 0 for row in summary["numbers"])
