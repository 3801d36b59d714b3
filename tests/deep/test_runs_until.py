"""A run that ends early is the beginning of the full run; evaluating less often changes no other number."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from deep_makers import CLIENTS, NETWORK, vector

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import run
from fedconvex.errors import InvalidInput
from fedconvex.runs.simulator import Simulator

pytestmark = pytest.mark.beyond_core  # trains networks

ROUNDS = 6


def once(**options: Any) -> Any:
    given = {"rounds": ROUNDS, "participation": participation.Uniform(2), "seed": 3, "test": CLIENTS[1]} | options
    return run(fc.FedDyn(alpha=0.5), NETWORK, CLIENTS, local_solver=fc.SGD(epochs=2, stepsize=0.05), **given)


def below(level: float) -> Any:
    return lambda record: record["test_value"] <= level


WHOLE = once()
LEVEL = float(np.sort(WHOLE.to_frame()["test_value"])[2])
REACHED = int(np.flatnonzero(WHOLE.to_frame()["test_value"] <= LEVEL)[0])


def test_it_ends_after_the_first_record_that_answers() -> None:
    assert 0 < REACHED < ROUNDS
    found = once(until=below(LEVEL))
    pd.testing.assert_frame_equal(found.to_frame(), WHOLE.to_frame()[: REACHED + 1])
    np.testing.assert_array_equal(vector(found.model), vector(once(rounds=REACHED).model))
    assert f"round {REACHED}: " in found.stopped


def test_what_is_never_reached_is_run_to_the_end() -> None:
    found = once(until=below(-inf))
    pd.testing.assert_frame_equal(found.to_frame(), WHOLE.to_frame())
    assert found.stopped is None


def test_a_first_model_that_answers_is_not_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Simulator, "next_round", None)
    assert len(once(until=below(inf)).records) == 1


def test_it_ends_at_a_model_that_was_looked_at() -> None:
    found = once(until=below(LEVEL), every=4)
    reached = next(t for t in (0, 4, 6) if WHOLE.to_frame()["test_value"][t] <= LEVEL)
    assert len(found.records) == reached + 1


def test_an_interrupted_run_ends_where_it_would_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": below(LEVEL), "checkpoint": tmp_path / "run.safetensors", "checkpoint_every": 100}
    once(**(options | {"rounds": 1}))
    found = once(**options)
    pd.testing.assert_frame_equal(found.to_frame(), WHOLE.to_frame()[: REACHED + 1])
    with monkeypatch.context() as patch:
        patch.setattr(Simulator, "next_round", None)  # what has ended is not played on
        again = once(**options)
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    assert again.stopped == found.stopped
    options["until"] = below(-inf)  # another question: on from there, to the whole run
    pd.testing.assert_frame_equal(once(**options).to_frame(), WHOLE.to_frame())


def test_the_test_set_alone() -> None:
    found = once(evaluate="test")
    ours, whole = found.to_frame(), WHOLE.to_frame()
    of_clients = ["value", "accuracy"]
    pd.testing.assert_frame_equal(ours.drop(columns=of_clients), whole.drop(columns=of_clients))
    assert ours[of_clients].isna().all(axis=None)
    assert whole[of_clients].notna().all(axis=None)
    np.testing.assert_array_equal(vector(found.model), vector(WHOLE.model))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evaluate": "tests"}, r"evaluate = tests: is unknown; did you mean test\? give one of all, test"),
        ({"evaluate": "test", "test": None}, "evaluate = test: needs a test set"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        once(**options)
