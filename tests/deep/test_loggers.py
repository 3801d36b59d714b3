"""Loggers get every record, and one that fails does not end the run; metrics of the test set are columns."""

import importlib.util
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, SMALL
from torch import Tensor

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.loggers import Logger, MLflow, TensorBoard, WeightsAndBiases
from fedconvex.errors import InvalidInput, LoggerFailed, MissingLibrary

pytestmark = pytest.mark.beyond_core  # trains networks

SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)


def once(rounds: int = 3, **options: Any) -> Any:
    return run(fc.FedProx(mu=1), SMALL, CLIENTS, rounds=rounds, local_solver=SGD, **options)


class InMemory(Logger):
    """Keeps everything; `fails` in that round, or at the "start" or "end"."""

    def __init__(self, fails: Any = None) -> None:
        self.fails, self.records, self.settings, self.closed = fails, [], {}, 0

    def start(self, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        if self.fails == "start":
            raise OSError("no such server")

    def log(self, record: Mapping[str, float]) -> None:
        if record["round"] == self.fails:
            raise StopIteration("the server is away\nand more")
        self.records.append(dict(record))

    def close(self) -> None:
        self.closed += 1
        if self.fails == "end":
            raise OSError("disk full")


def test_a_logger_gets_all_records_and_the_settings(tmp_path: Path) -> None:
    one, other = InMemory(), InMemory()
    found = once(loggers=[one, other], measure="inexactness")
    rows = found.to_frame().to_dict("records")
    for logger in (one, other):
        np.testing.assert_equal(logger.records, rows)
        assert logger.closed == 1
        assert logger.settings["rounds"] == "3"
        assert logger.settings["method"].startswith("FedProx(mu=1")
    file, third = tmp_path / "run.safetensors", InMemory()
    once(rounds=1, checkpoint=file)
    once(checkpoint=file, loggers=[third])
    assert [record["round"] for record in third.records] == [0, 1, 2, 3]  # a resumed run begins with its first record


@pytest.mark.parametrize("fails", ["start", 0, 2, "end"])
def test_a_logger_that_fails_is_one_warning(fails: Any) -> None:
    bad, good = InMemory(fails), InMemory()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = once(loggers=[bad, good])
    told = [one for one in caught if one.category is LoggerFailed]
    assert len(told) == 1
    assert f"InMemory failed {f'at the {fails}' if isinstance(fails, str) else f'in round {fails}'}: " in str(
        told[0].message
    )
    assert "the run continues without it" in str(told[0].message)
    assert "and more" not in str(told[0].message)
    assert len(found.records) == len(good.records) == 4
    assert len(bad.records) == {"start": 0, "end": 4}.get(fails, fails)
    np.testing.assert_array_equal(found.state.server, once().state.server)


def test_loggers_are_closed_where_the_run_ends_with_an_error() -> None:
    one = InMemory()
    with pytest.raises(ZeroDivisionError):
        once(loggers=[one], watch=lambda record: 1 // (record["round"] - 2))
    assert one.closed == 1
    assert len(one.records) == 3


# ---- the three libraries, here as stand-ins that keep what they are told ----


def standing_in(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> None:
    module = ModuleType(name)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)


def test_weights_and_biases_as_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    session = SimpleNamespace(log=lambda row, step: told.append((step, row)), finish=lambda: told.append("finished"))
    standing_in(monkeypatch, "wandb", init=lambda **given: told.append(given) or session)
    found = once(loggers=[WeightsAndBiases("mine", tmp_path / "w")], every=2, rounds=2)
    begun, *rows, end = told
    assert (begun["project"], begun["mode"], begun["dir"]) == ("mine", "offline", str(tmp_path / "w"))
    assert begun["config"]["model"] == "Sequential"
    assert end == "finished"
    assert [step for step, _ in rows] == [0, 1, 2]
    assert "value" not in rows[1][1]  # NaN: not evaluated
    assert rows[2][1]["value"] == found.to_frame()["value"][2]


def test_mlflow_as_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    class MlflowClient:
        def __init__(self, tracking_uri: str) -> None:
            told.append(tracking_uri)

        def get_experiment_by_name(self, name: str) -> None:
            return None

        def create_experiment(self, name: str) -> str:
            return f"number of {name}"

        def create_run(self, number: str, run_name: Any) -> Any:
            return SimpleNamespace(info=SimpleNamespace(run_id=f"run of {number}"))

        def log_param(self, *given: Any) -> None:
            told.append(given)

        def log_metric(self, run: str, name: str, value: float, step: int) -> None:
            told.append((run, name, value, step))

        def set_terminated(self, run: str) -> None:
            told.append(f"end of {run}")

    standing_in(monkeypatch, "mlflow", MlflowClient=MlflowClient)
    found = once(loggers=[MLflow(tmp_path / "runs", "trial")])
    assert told[0] == f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}"
    assert (tmp_path / "runs").is_dir()
    assert told[-1] == "end of run of number of trial"
    values = [entry[2] for entry in told if len(entry) == 4 and entry[1] == "value"]
    assert values == found.to_frame()["value"].tolist()
    assert ("run of number of trial", "seed", "0") in told
    assert MLflow("sqlite:///runs.db").tracking == "sqlite:///runs.db"


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="needs tensorboard")
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_tensorboard_for_real(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = once(loggers=[TensorBoard(tmp_path)])
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    np.testing.assert_allclose([e.value for e in events.Scalars("value")], found.to_frame()["value"], rtol=1e-6)


@pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="needs mlflow")
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_mlflow_for_real(tmp_path: Path) -> None:
    from mlflow import MlflowClient

    logger = MLflow(tmp_path, "trial")
    found = once(loggers=[logger])
    client = MlflowClient(tracking_uri=logger.tracking)
    (session,) = client.search_runs([client.get_experiment_by_name("trial").experiment_id])
    assert session.info.status == "FINISHED"
    assert session.data.params["seed"] == "0"
    history = [point.value for point in client.get_metric_history(session.info.run_id, "value")]
    np.testing.assert_allclose(history, found.to_frame()["value"])


@pytest.mark.skipif(importlib.util.find_spec("wandb") is None, reason="needs wandb")
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_weights_and_biases_for_real(tmp_path: Path) -> None:
    once(loggers=[WeightsAndBiases("trial", tmp_path)])
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


@pytest.mark.parametrize(
    ("logger", "library"),
    [(TensorBoard("x"), "torch.utils.tensorboard"), (MLflow("x"), "mlflow"), (WeightsAndBiases("x", "y"), "wandb")],
)
def test_a_library_that_is_lacking_is_said_before_the_run(
    logger: Logger, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    seen: list[Any] = []
    with pytest.raises(MissingLibrary, match="which is not installed; pip install"):
        once(loggers=[logger], watch=seen.append)
    assert not seen


# ---- metrics ----


def f1(outputs: Tensor, targets: Tensor) -> Any:
    """The mean over the classes of 2·TP/(2·TP + FP + FN)."""
    chosen, scores = outputs.argmax(-1), []
    for c in range(CLASSES):
        right = ((chosen == c) & (targets == c)).sum()
        scores.append(2 * right / ((chosen == c).sum() + (targets == c).sum()))
    return torch.stack(scores).mean()


def test_metrics_of_the_test_set_are_columns(tmp_path: Path) -> None:
    from sklearn.metrics import f1_score

    file = tmp_path / "run.safetensors"
    given: dict[str, Any] = {
        "test": CLIENTS[3],
        "metrics": {"f1": f1, "by_scikit": lambda z, y: f1_score(y, z.argmax(1), average="macro")},
    }
    found = once(every=2, **given)
    frame = found.to_frame()
    X, y = (torch.as_tensor(part) for part in CLIENTS[3])
    for row, trained in ((0, SMALL), (3, found.model)):
        assert frame["test_f1"][row] == pytest.approx(float(f1(trained(X), y)), abs=1e-12)
    np.testing.assert_allclose(frame["test_f1"], frame["test_by_scikit"])
    assert frame["test_f1"].isna().tolist() == [False, True, False, False]
    seen = once(until=lambda record: record["test_f1"] > -1, evaluate="test", **given)
    assert len(seen.records) == 1
    once(rounds=1, evaluate="test", checkpoint=file, **given)
    with pytest.raises(InvalidInput, match="another measure"):
        once(evaluate="test", checkpoint=file, test=CLIENTS[3])


@pytest.mark.parametrize(
    ("options", "argument", "told"),
    [
        ({"metrics": f1}, "metrics", "is no mapping"),
        ({"metrics": {}}, "metrics", "is no mapping"),
        ({"metrics": {"f 1": f1}}, "metrics", "no name for a column"),
        ({"metrics": {"accuracy": f1}}, "metrics", "another column, test_accuracy"),
        ({"metrics": {"f1": 3}}, "metrics['f1']", "is no function"),
        ({"metrics": {"f1": f1}, "test": None}, "metrics", "need a test set.*give test="),
        (
            {"metrics": {"f1": lambda z: 0}},
            "metrics['f1']",
            r"failed: TypeError.*outputs \(30, 3\) and targets \(30,\)",
        ),
        ({"metrics": {"f1": lambda z, y: z}}, "metrics['f1']", "returns a Tensor; return one number"),
        ({"metrics": {"f1": lambda z, y: None}}, "metrics['f1']", "returns a NoneType; return one number"),
        ({"loggers": print}, "loggers", "is no list"),
        ({"loggers": [print]}, "loggers[0]", "is no logger.*derived from its Logger"),
    ],
)
def test_what_is_refused(options: dict[str, Any], argument: str, told: str) -> None:
    seen: list[Any] = []
    with pytest.raises(InvalidInput, match=told) as caught:
        once(**({"test": CLIENTS[3], "watch": seen.append} | options))
    assert caught.value.argument == argument
    assert not seen


def test_places_and_modes_of_loggers() -> None:
    for make in (TensorBoard, MLflow, lambda path: WeightsAndBiases("mine", path)):
        with pytest.raises(InvalidInput, match="not the path of a folder"):
            make(3)
    with pytest.raises(InvalidInput, match="offline"):
        WeightsAndBiases("mine", "w", mode="dry")
