"""Runs that end at the highest threshold of their experiment give the same results as full runs."""

from pathlib import Path
from typing import Any

import pandas
import pytest
from experiment_texts import DEEP

from fedconvex.errors import InvalidInput
from fedconvex.reproduce import execution
from fedconvex.reproduce.metrics import ExperimentMetrics

pytestmark = pytest.mark.beyond_core  # trains networks

UNTIL = 'rounds = 8\nuntil = "test_accuracy"\nevaluate = "test"'
LEVELS = "\n[figure.levels]\ndigits = [0.2, LEVEL]\n"
PLACE = ("test_accuracy", "digits", "FedAvg")


@pytest.fixture
def ending(written: Any) -> Any:
    text = DEEP.replace("seeds = 2\n", "").replace('measure = ["heterogeneity"]\n', "")
    text = text.replace("rounds = 3", UNTIL) + LEVELS

    def at(level: float, change: tuple[str, str] = ("", "")) -> Any:
        return written(text.replace("LEVEL", str(level)).replace(*change))

    return at


@pytest.mark.slow
def test_what_it_took_is_what_the_whole_run_says(ending: Any, tmp_path: Path) -> None:
    experiment = ending(0.6)
    whole = execution.run(ending(0.6, ('until = "test_accuracy"\n', "")), tmp_path, None, jobs=1)
    found = execution.run(experiment, tmp_path, None, jobs=1)
    ended = ExperimentMetrics(experiment, found)
    assert set(found.columns).isdisjoint({"value", "accuracy"})
    for method in experiment.methods:
        rows, all_rows = (frame[frame["method"] == method].reset_index(drop=True) for frame in (found, whole))
        rounds = ended.rounds_to(0.6, "test_accuracy", "digits", method)
        assert 0 < rounds == len(rows) - 1 < 8
        assert rounds == ExperimentMetrics(experiment, whole).rounds_to(0.6, "test_accuracy", "digits", method)
        pandas.testing.assert_frame_equal(rows, all_rows[: len(rows)])


@pytest.mark.slow
def test_what_is_not_reached_has_all_its_rounds(ending: Any, tmp_path: Path) -> None:
    found = execution.run(ending(1.1), tmp_path, None, jobs=1)
    assert (found.groupby("method")["round"].max() == 8).all()


def test_other_levels_are_other_runs(ending: Any, tmp_path: Path, played: list[int]) -> None:
    for level in (0.2, 0.2, 0.6):
        execution.run(ending(level), tmp_path, None, jobs=1)
    longer = len(played)
    execution.run(ending(0.6), tmp_path, None, jobs=1)
    assert len(played) == longer > 3
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 2


def test_nothing_is_said_of_rounds_that_were_not_run(ending: Any, tmp_path: Path) -> None:
    experiment = ending(0.6)
    known = set(ExperimentMetrics(experiment, pandas.DataFrame()).names())
    assert {"models_to", "rounds_to", "first", "level"} <= known
    assert known.isdisjoint({"last", "tail", "at", "lowest", "highest", "roughness", "rises"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('until = "test_accuracy"', 'until = "value"'), "run.until = value: cannot end runs of runner deep"),
        (('runner = "deep"', 'runner = "sweep"'), "run.until = test_accuracy: cannot end runs of runner sweep"),
        (("digits = [0.2, 0.6]", "letters = [0.2]"), "figure.levels.digits = None: is missing: run.until ends runs"),
        (('evaluate = "test"', 'evaluate = "tests"'), "run.evaluate = tests: is unknown; give one of all, test"),
        (("test = 0.2", "every = 1"), "run.test = None: is missing: run.until"),
    ],
)
def test_ends_that_cannot_be_reached_are_refused(ending: Any, change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ending(0.6, change)
