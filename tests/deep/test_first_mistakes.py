"""What newcomers do first, and what a run says to it."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import images, write_pair
from deep_makers import CLASSES, CLIENTS, FEATURES, SMALL, random, refused, vector
from torch import nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.errors import InvalidInput, PlainAverage
from fedconvex.participation import Full, Uniform, UniformThenWeighted, Weighted

pytestmark = pytest.mark.beyond_core  # trains networks

AVERAGING = fc.FedAvg(epochs=1, batch_size=4, stepsize=0.05)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (nn.CrossEntropyLoss(), r'CrossEntropyLoss\(…, reduction="none"\)'),
        (nn.CrossEntropyLoss(reduction="sum"), r'CrossEntropyLoss\(…, reduction="none"\)'),
        (F.cross_entropy, r'cross_entropy\(…, reduction="none"\)'),
        (lambda z, y: F.cross_entropy(z, y), "give one loss per sample$"),
    ],
)
def test_a_loss_that_averages_is_told_how_not_to(loss: Any, told: str) -> None:
    refused(told, loss=loss)


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", [SMALL, random(nn.Linear(FEATURES, CLASSES))], ids=["network", "linear"])
@pytest.mark.parametrize("at", [0, 1])
def test_stop_iteration_does_not_end_a_run(at: int, model: nn.Module, tmp_path: Path) -> None:
    def watch(record: dict[str, Any]) -> None:
        if record["round"] == at:
            next(iter(()))

    told = f"StopIteration in round {at}.*until"
    refused(told, "watch", model=model, rounds=2, watch=watch, log=tmp_path / "run.csv")


@pytest.mark.parametrize("model", [SMALL, random(nn.Linear(FEATURES, CLASSES))], ids=["network", "linear"])
def test_watch_may_take_the_model(model: nn.Module, tmp_path: Path) -> None:
    seen: list[tuple[int, np.ndarray]] = []

    def watch(record: dict[str, Any], model: nn.Module) -> None:
        seen.append((record["round"], vector(model)))
        nn.init.zeros_(next(model.parameters()))  # a copy: the run goes on unchanged

    file = tmp_path / "run.safetensors"
    run(AVERAGING, model, CLIENTS, rounds=2, watch=watch, checkpoint=file)
    found = run(AVERAGING, model, CLIENTS, rounds=3, watch=watch, checkpoint=file)
    assert [t for t, _ in seen] == [0, 1, 2, 2, 3]
    np.testing.assert_array_equal(seen[2][1], seen[3][1])
    np.testing.assert_array_equal(seen[4][1], vector(found.model))
    several: list[tuple[Any, ...]] = []
    plain = run(AVERAGING, model, CLIENTS, rounds=3, watch=lambda *given: several.append(given))
    assert [len(given) for given in several] == [1] * 4  # a function of any number of arguments, such as print
    np.testing.assert_array_equal(vector(plain.model), vector(found.model))


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ({"watch": 3}, "watch = 3: is no function; give a function of record, model"),
        ({"watch": lambda a, b, c: None}, r"takes \(a, b, c\); give a function of \(record\) or \(record, model\)"),
        ({"watch": lambda: None}, r"takes \(\)"),
        ({"until": 0.9}, "until = 0.9: is no function"),
        ({"until": lambda: True}, r"takes \(\); give a function of \(record\)"),
        ({"before": "print"}, "before = print: is no function"),
    ],
)
def test_functions_that_cannot_be_called_are_refused_before_any_work(option: dict[str, Any], told: str) -> None:
    refused(told, model=None, **option)  # the model is looked at later


@pytest.mark.parametrize("weights", ["samples", [1, 2, 3, 4]])
def test_a_plain_average_under_a_weighted_objective_is_a_warning(weights: Any) -> None:
    with pytest.warns(PlainAverage, match=r"Uniform\(K=2\) averages the clients plainly.*take Weighted\(2\)"):
        run(AVERAGING, SMALL, CLIENTS, weights=weights, participation=Uniform(2))


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (AVERAGING, {"participation": Uniform(2)}),
        (AVERAGING, {"participation": UniformThenWeighted(2), "weights": "samples"}),
        (AVERAGING, {"participation": Weighted(2), "weights": "samples"}),
        (AVERAGING, {"participation": Full(), "weights": "samples"}),
        (fc.FedDyn(alpha=1), {"participation": Uniform(2), "weights": "samples"}),  # averages plainly what it weights
    ],
)
def test_averages_that_fit_the_objective_are_none(method: Any, options: dict[str, Any]) -> None:
    solver = fc.SGD(epochs=1, batch_size=4, stepsize=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(method, SMALL, CLIENTS, local_solver=solver, **options)


def test_a_data_set_is_found_in_its_folder_and_in_the_one_around_it(tmp_path: Path) -> None:
    from fedconvex.deep.datasets import load_dataset

    write_pair(tmp_path / "mnist", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", images(2), [4, 5])
    inner, outer = (load_dataset("mnist", place) for place in (tmp_path / "mnist", tmp_path))
    np.testing.assert_array_equal(inner.inputs, outer.inputs)
    with pytest.raises(InvalidInput, match="t10k-images"):
        load_dataset("mnist", tmp_path, split="test")


def test_reproduce_takes_either_folder(tmp_path: Path) -> None:
    from fedconvex.commands.reproduce import _holding

    (tmp_path / "mnist").mkdir()
    assert _holding(tmp_path / "mnist") == tmp_path.resolve()
    assert _holding(tmp_path) == tmp_path
    assert _holding(None) is None
