"""Images in uint8: divided by 255 batch by batch, kept as bytes on the device."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, SGD, Made, random, vector
from torch import nn

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.memory import TensorMemory
from fedconvex.deep.monitor import Monitor
from fedconvex.deep.shards import Shards

pytestmark = pytest.mark.beyond_core  # trains networks


def images(kind: Any = np.uint8, number: int = 3) -> list[Any]:
    rng = np.random.default_rng(0)
    sizes = (9, 9, 12)[:number]
    return [(rng.integers(0, 256, (n, 2, 4, 4)).astype(kind), rng.integers(0, CLASSES, n)) for n in sizes]


def image_models() -> list[nn.Module]:
    layered = nn.Sequential(nn.Flatten(), nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, CLASSES))
    by_autograd = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(12, CLASSES))
    return [layered, by_autograd, nn.Sequential(nn.Flatten(), nn.Linear(32, CLASSES))]


@pytest.mark.sample(3)
@pytest.mark.parametrize("place", range(3), ids=["layered", "autograd", "linear"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_images_in_bytes_are_scaled_and_stay_bytes(place: int, dtype: Any) -> None:
    model, kind = random(image_models()[place]), np.float64 if dtype == torch.float64 else np.float32
    options = {"rounds": 1, "local_solver": SGD, "measure": ("heterogeneity", "curvature", "inexactness")}
    scaled = [(X.astype(kind) / kind(255), y) for X, y in images()]
    expected = run(fc.FedProx(mu=1), model, scaled, dtype=dtype, test=scaled[0], **options)
    found = run(fc.FedProx(mu=1), model, images(), dtype=dtype, test=images()[0], **options)
    assert found.task.shards.inputs.dtype == torch.uint8
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    with pytest.warns(UserWarning, match="give them in uint8"):  # what is not bytes has its own scale
        whole = run(fc.FedProx(mu=1), model, images(np.int64), dtype=dtype, rounds=0, local_solver=SGD)
    assert abs(whole.to_frame()["value"][0] - expected.to_frame()["value"][0]) > 0.1


def test_vectors_of_bytes_are_counts_and_stay_what_they_are() -> None:
    counts = [(X.reshape(len(X), -1) // 64, y) for X, y in images()]
    model = random(nn.Sequential(nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, CLASSES)))
    found, expected = (run(fc.FedProx(mu=1), model, data, rounds=1, local_solver=SGD)
                       for data in (counts, [(X.astype(float), y) for X, y in counts]))  # fmt: skip
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))


def test_a_model_that_takes_bytes_itself_is_given_them() -> None:
    def own(self: Any, x: torch.Tensor) -> torch.Tensor:
        assert not x.is_floating_point()
        return self.last(x.flatten(1).double() / 255)

    model = Made(own, last=nn.Linear(32, CLASSES).double())
    found = run(fc.FedProx(mu=1), model, images(), rounds=1, local_solver=SGD)
    scaled = [(X / 255, y) for X, y in images()]
    expected = run(fc.FedProx(mu=1), nn.Sequential(nn.Flatten(), model.last, nn.Identity()), scaled, rounds=0)
    assert found.to_frame()["value"][0] == pytest.approx(expected.to_frame()["value"][0], rel=1e-12)
    assert found.task.shards.inputs.dtype == torch.uint8


def test_vectors_that_look_like_images_are_a_warning() -> None:
    flat = [(X.reshape(len(X), -1), y) for X, y in images()]
    model = random(nn.Sequential(nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, CLASSES)))
    with pytest.warns(UserWarning, match="bytes up to 255, which are not scaled: .* divide them by 255"):
        run(fc.FedProx(mu=1), model, flat, rounds=0, local_solver=SGD)


def test_the_memory_is_estimated_before_the_samples_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    original = Monitor.record
    monkeypatch.setattr(Monitor, "record", lambda *given: seen.append("evaluation") or original(*given))
    run(fc.FedProx(mu=1), random(image_models()[1]), images(), rounds=1, local_solver=SGD, before=seen.append)
    estimate, *rest = seen
    assert rest == ["evaluation"] * 2
    assert estimate.samples == 30 * 32 + 30 * 8  # a byte a pixel, and class numbers


@pytest.mark.sample(1)
@pytest.mark.parametrize("measure", [None, "heterogeneity"])
def test_the_memory_is_that_of_the_bytes_and_half_as_much_and_it_is_predicted(measure: str | None) -> None:
    """With 6 MB of images; evaluations and gradients of whole clients take them part by part."""
    generator = torch.Generator().manual_seed(0)
    clients = [
        (torch.randint(0, 256, (200, 3, 32, 32), dtype=torch.uint8, generator=generator),
         torch.randint(0, CLASSES, (200,), generator=generator)) for _ in range(10)
    ]  # fmt: skip
    stored = sum(X.numel() for X, _ in clients)
    model = nn.Sequential(nn.Conv2d(3, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(784, CLASSES))
    told: list[Any] = []
    options: dict[str, Any] = {
        "dtype": "float32", "participation": fc.participation.Uniform(2), "measure": measure, "rounds": 1,
        "local_solver": fc.SGD(steps=2, batch_size=10, stepsize=0.05), "before": told.append,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        # as the images are fewer than elsewhere
        patch.setattr("fedconvex.deep.memory.AT_ONCE", {"cpu": 400_000, "cuda": 0})
        run(fc.FedProx(mu=1), model, clients, **options)
        with TensorMemory() as counter:  # without the estimate, whose tensors have no content
            run(fc.FedProx(mu=1), model, clients, **(options | {"before": None}))
    assert counter.peak <= 1.5 * stored
    assert told[0].total == pytest.approx(counter.peak, rel=0.2)
    if measure is None:
        with TensorMemory() as counter:
            run(fc.FedProx(mu=1), model, clients, **(options | {"before": None}))
        assert counter.peak > 1.5 * stored  # at once, they take more


@pytest.mark.parametrize("layered", [True, False])
def test_whole_clients_part_by_part_are_the_same(layered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    clients = [(rng.normal(size=(n, 32)), rng.integers(0, CLASSES, n)) for n in (23, 23, 9, 41)]
    model = random(nn.Sequential(nn.Linear(32, 5), nn.Tanh(), nn.Linear(5, CLASSES)))
    if not layered:
        model = nn.Sequential(model, nn.Dropout(0.0))
    options: dict[str, Any] = {
        "rounds": 2, "local_solver": fc.GradientDescent(steps=2, stepsize=0.1), "lanczos_steps": 4, "ridge": 0.1,
        "measure": ("heterogeneity", "curvature", "inexactness"),
    }  # fmt: skip
    expected = run(fc.FedProx(mu=1), model, clients, **options).to_frame()
    monkeypatch.setattr("fedconvex.deep.memory.AT_ONCE", {"cpu": 500, "cuda": 0})
    batches: list[int] = []
    whole = Shards.whole
    monkeypatch.setattr(Shards, "whole", lambda self, *given: batches.append(1) or whole(self, *given))
    found = run(fc.FedProx(mu=1), model, clients, **options).to_frame()
    assert len(batches) > 100
    np.testing.assert_allclose(found.to_numpy(float), expected.to_numpy(float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_images_of_whole_numbers_that_are_not_in_bytes_are_a_warning(kind: Any) -> None:
    """Of the clients, and of a test set beside clients in bytes, which are scaled."""
    model, told = random(image_models()[0]), "images of whole numbers up to 2.*in uint8, or divide them by 255"

    def once(clients: Any, **options: Any) -> None:
        run(fc.FedProx(mu=1), model, clients, rounds=0, local_solver=SGD, **options)

    with pytest.warns(UserWarning, match=told):
        once(images(kind))
    with pytest.warns(UserWarning, match=told):
        once(images(), test=images(kind)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        once(images(), test=images()[0])
        for scale in (1 / 255, 1 / 16, 2, -1):  # colours, other numbers, numbers that bytes do not hold
            once([(scale * X.astype(float), y) for X, y in images()])
        once([(X.astype(kind) // 4, y) for X, y in images()])  # grey levels of a few bits
