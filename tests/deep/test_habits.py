"""What people write elsewhere: float32 models, losses with class weights, several inputs, streams, Ctrl-C."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, SGD, SMALL, Stream, mixed, plain_training, refused, small, vector
from torch import nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run, torch_data
from fedconvex.deep.runner import Interrupted
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

WEIGHTS = torch.tensor([0.5, 2.0, 1.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [None, "float32", torch.float64])
def test_the_model_is_trained_and_returned_in_its_type_or_the_one_that_is_given(dtype: Any, given: Any) -> None:
    expected = dtype if given is None else getattr(torch, str(given).removeprefix("torch."))
    model = small().to(dtype)
    start = vector(model)
    found = run(fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD, dtype=given, test=CLIENTS[0])
    assert {part.dtype for part in found.model.parameters()} == {expected}
    assert {part.dtype for part in (found.task.shards.inputs, found.state.server)} == {expected}
    np.testing.assert_array_equal(vector(model), start)
    assert next(model.parameters()).dtype == dtype


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (nn.Sequential(nn.Linear(FEATURES, 4), nn.Linear(4, CLASSES).double()), "has float32 and float64"),
        (small().half(), "has float16.*'float64' or 'float32'"),
        (nn.Tanh(), "has no numbers"),
    ],
)
def test_a_model_of_other_types_needs_one(model: nn.Module, told: str) -> None:
    refused(told, "dtype", model=model)


def weighted(outputs: torch.Tensor, targets: torch.Tensor, weight: Any = None) -> torch.Tensor:
    return F.cross_entropy(outputs, targets, weight=weight, reduction="none")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "loss",
    [
        nn.CrossEntropyLoss(weight=WEIGHTS, reduction="none"),
        partial(F.cross_entropy, weight=WEIGHTS, reduction="none"),
        partial(weighted, weight=WEIGHTS.double()),
    ],
)
def test_class_weights_come_in_the_models_type(loss: Any, dtype: str) -> None:
    found = run(fc.FedProx(mu=0), SMALL, CLIENTS, loss, rounds=1, local_solver=SGD, dtype=dtype)
    kind = getattr(torch, dtype)
    own = partial(weighted, weight=WEIGHTS.to(kind))
    expected = run(fc.FedProx(mu=0), SMALL, CLIENTS, lambda z, y: own(z, y), rounds=1, local_solver=SGD, dtype=dtype)
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    plain = run(fc.FedProx(mu=0), SMALL, CLIENTS, rounds=1, local_solver=SGD, dtype=dtype)
    assert abs(vector(found.model) - vector(plain.model)).max() > 1e-4


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inside = small()

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inside(torch.cat([left, 2 * right], 1))
        return result


def halves(X: Any, kind: Any = tuple) -> Any:
    return kind((X[:, :2], X[:, 2:] / 2))


@pytest.mark.parametrize("kind", [tuple, list, "data set"])
def test_several_inputs_are_given_in_the_order_of_forward(kind: Any) -> None:
    """The model is that of the whole inputs."""
    model = TwoInputs().double()
    model.inside.load_state_dict(SMALL.state_dict())
    if kind == "data set":
        clients: Any = [
            Stream([((x[:2], x[2:] / 2), int(label)) for x, label in zip(X, y, strict=True)]) for X, y in CLIENTS
        ]
    else:
        clients = [(halves(X, kind), y) for X, y in CLIENTS]
    found = run(fc.FedProx(mu=0), model, clients, rounds=2, local_solver=SGD)
    expected = SMALL
    for t in range(2):
        expected = mixed([plain_training(expected, CLIENTS, k, SGD, 0, t, 2) for k in range(4)], [1.0] * 4)
    np.testing.assert_allclose(vector(found.model), vector(expected), rtol=0, atol=1e-12)


def test_inputs_that_may_be_samples_are_refused() -> None:
    a = np.ones((2, FEATURES))
    refused("2 arrays with 2 rows, for 2 targets: inputs, or samples.*dictionary", "clients[0][0]",
            clients=[((a, a), np.array([0, 1]))], model=TwoInputs())  # fmt: skip


def test_a_stream_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_data, "STREAMED", 500)
    pairs = [(CLIENTS[0][0][0], 0)] * 3
    refused("did not end after 500 samples.*__len__", "clients[0]", clients=[Stream(pairs, endless=True)])

    class Sized(Stream):
        def __len__(self) -> int:
            return 600

    run(fc.FedProx(mu=0), SMALL, [Sized(pairs * 200)], rounds=0, local_solver=SGD)  # a length of its own may be larger


def test_buffers_of_their_own_leave_no_gradient_at_one_model() -> None:
    model = nn.Sequential(nn.Linear(FEATURES, 4), nn.BatchNorm1d(4), nn.Linear(4, CLASSES)).double()
    given: dict[str, Any] = {"local_mode": "training", "local_solver": fc.SGD(epochs=1, batch_size=5, stepsize=0.1)}
    for method in (fc.DANE(mu=1), fc.FedDANE(mu=1), fc.Scaffold(stepsize=0.1, option=1)):
        refused(f"of which {type(method).__name__} needs gradients.*'averaged' or 'frozen'", "buffers",
                method=method, model=model, buffers="kept", **given)  # fmt: skip
        run(method, model, CLIENTS, rounds=1, **given)
    run(fc.Scaffold(stepsize=0.1), model, CLIENTS, rounds=1, buffers="kept", **given)


def test_ctrl_c_leaves_what_was_computed() -> None:
    def stop(record: dict[str, Any]) -> None:
        if record["round"] == 2:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"local_solver": SGD, "seed": 1}
    with pytest.raises(Interrupted, match="after 2 rounds") as caught:
        run(fc.FedDyn(alpha=1), SMALL, CLIENTS, rounds=9, watch=stop, **options)
    expected = run(fc.FedDyn(alpha=1), SMALL, CLIENTS, rounds=2, **options)
    assert caught.value.run.stopped == "interrupted"
    assert caught.value.run.records == expected.records
    np.testing.assert_array_equal(vector(caught.value.run.model), vector(expected.model))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("mode", ["evaluation", "kept"])
def test_every_client_is_evaluated(named: bool, mode: str, tmp_path: Any) -> None:
    """Against the model of each round, called on each client's samples; the quantiles are of these numbers."""
    tests = [(X + 0.1, (y + 1) % CLASSES) for X, y in CLIENTS]
    names = ["a", "b", "c", "d"]
    clients, held = (dict(zip(names, given, strict=True)) if named else given for given in (CLIENTS, tests))
    options: dict[str, Any] = {"evaluate": "clients", "test": held, "local_solver": SGD, "rounds": 3, "every": 2}
    model: nn.Module = SMALL
    if mode == "kept":
        model = nn.Sequential(SMALL[0], nn.BatchNorm1d(4), SMALL[1], SMALL[2]).double()
        options |= {
            "local_mode": "training",
            "buffers": "kept",
            "local_solver": fc.SGD(epochs=1, batch_size=5, stepsize=0.1),
        }
    models: list[nn.Module] = []
    found = run(
        fc.FedProx(mu=0), model, clients, watch=lambda record, at: models.append(at),
        checkpoint=tmp_path / "run.safetensors", log=tmp_path / "run.csv", **options,
    )  # fmt: skip
    accuracy, values = found.of_clients(), found.of_clients("value")
    assert list(accuracy.columns) == (names if named else [0, 1, 2, 3])
    assert accuracy.loc[1].isna().all()
    plain = found.to_frame().set_index("round")
    for t in (0, 2, 3):
        for column, data in (("accuracy", CLIENTS), ("test_accuracy", tests)):
            if mode == "kept" and column == "accuracy":
                continue  # with buffers of their own, which `watch` has not
            right = [float((models[t].eval()(torch.as_tensor(X)).argmax(1).numpy() == y).mean()) for X, y in data]
            np.testing.assert_allclose(found.of_clients(column).loc[t], right, rtol=1e-12)
        assert values.loc[t].mean() == pytest.approx(plain.loc[t, "value"], rel=1e-12)  # equal weights
        pooled = np.average(accuracy.loc[t], weights=[len(y) for _, y in CLIENTS])
        assert pooled == pytest.approx(plain.loc[t, "accuracy"], rel=1e-12)
    assert not set(plain.columns) & {"client_accuracy", "client_value"}
    assert accuracy.quantile([0, 0.5], axis=1).loc[0].equals(accuracy.min(axis=1).rename(0))
    again = run(fc.FedProx(mu=0), model, clients, checkpoint=tmp_path / "run.safetensors", **options)
    pd.testing.assert_frame_equal(again.of_clients(), accuracy)


def test_what_was_not_evaluated_for_each_client_is_refused() -> None:
    found = run(fc.FedProx(mu=0), SMALL, CLIENTS, local_solver=SGD, test=CLIENTS[0], evaluate="clients")
    assert found.of_clients().shape == (2, 4)
    for one, column in (
        (found, "test_accuracy"),
        (run(fc.FedProx(mu=0), SMALL, CLIENTS, local_solver=SGD), "accuracy"),
    ):
        with pytest.raises(InvalidInput, match=r"not evaluated for each client.*evaluate='clients'"):
            one.of_clients(column)
