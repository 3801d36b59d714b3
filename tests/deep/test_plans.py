"""The memory of a run, estimated before anything is copied, is what it takes; what cannot fit is refused."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, Made, Wrapped
from slow_layer import meeting
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, run, runner
from fedconvex.deep.memory import TensorMemory
from fedconvex.deep.shards import Shards
from fedconvex.errors import TooLarge

pytestmark = pytest.mark.beyond_core  # trains networks

GENERATOR = torch.Generator().manual_seed(0)
TABLES = [(torch.rand(60, 100, generator=GENERATOR), torch.arange(60) % CLASSES) for _ in range(20)]
IMAGES = [
    (torch.randint(0, 256, (60, 3, 16, 16), dtype=torch.uint8, generator=GENERATOR), torch.arange(60) % CLASSES)
    for _ in range(20)
]
TOKENS = [
    {"words": torch.randint(0, 50, (60, 12), generator=GENERATOR), "labels": torch.arange(60) % CLASSES}
    for _ in range(10)
]
SGD = fc.SGD(epochs=1, batch_size=20, stepsize=0.05)
DENSE = models.fully_connected([100, 50, CLASSES])
CONVOLUTIONS = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, CLASSES))
NORMALISED = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(8 * 196, CLASSES)
)


class Classifier(nn.Module):
    """Makes a tensor on the host by itself, and returns an object with logits."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(12, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.last = nn.Linear(16, CLASSES)

    def forward(self, words: torch.Tensor) -> Any:
        hidden = self.words(words) + self.places(torch.arange(words.shape[1]))
        return SimpleNamespace(logits=self.last(self.layer(hidden).mean(1)))


def flipped(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return batch.flip(-1) if torch.rand((), generator=generator) < 0.5 else batch


CASES: dict[str, tuple[nn.Module, Any, dict[str, Any]]] = {
    "dense": (DENSE, TABLES, {}),
    "dense, momentum": (DENSE, TABLES, {"local_solver": fc.SGD(epochs=1, batch_size=20, stepsize=0.05, momentum=0.9)}),
    "large": (models.fully_connected([100, 300, 300, CLASSES]), [(X[:10], y[:10]) for X, y in TABLES], {}),
    "hidden": (Wrapped(DENSE), TABLES, {"ridge": 0.1}),
    "bytes": (CONVOLUTIONS, IMAGES, {}),
    "bytes, gradients": (CONVOLUTIONS, IMAGES, {"measure": "heterogeneity"}),
    "bytes on disk": (CONVOLUTIONS, IMAGES, {"storage": "disk"}),
    "training": (NORMALISED, IMAGES, {"local_mode": "training", "transform": flipped}),
    "Adam": (Wrapped(DENSE), TABLES, {"local_solver": fc.Adam(epochs=1, batch_size=20, stepsize=0.01)}),
    "transformer": (Classifier(), TOKENS, {}),
    "double": (Wrapped(DENSE), TABLES, {"dtype": "float64"}),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "K", "method"), meeting(list(CASES), [2, 10], [fc.FedProx(mu=1), fc.FedDyn(alpha=1)]))
def test_the_estimate_is_what_the_run_takes(name: str, K: int, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedconvex.deep.memory.AT_ONCE", {"cpu": 400_000, "cuda": 0})  # the data are few
    model, clients, more = CASES[name]
    options: dict[str, Any] = {
        "rounds": 2, "participation": participation.Uniform(K), "local_solver": SGD, "dtype": "float32",
        "test": clients[0], "measure": None, **more,
    }  # fmt: skip
    told: list[Any] = []
    run(method, model, clients, before=told.append, **options)
    with TensorMemory() as counter:
        run(method, model, clients, **options)
    # the user's own tensors are not counted, nor on disk what is on the way there
    assert told[0].total == pytest.approx(counter.peak, rel=0.2)
    if name.startswith("bytes") and K == 2 and isinstance(method, fc.FedProx):
        stored = sum(X.numel() for X, _ in [*IMAGES, IMAGES[0]])
        assert counter.peak <= 1.5 * stored + 1_600_000  # the batches of 400,000 numbers


def test_nothing_is_copied_before_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    of = Shards.of
    monkeypatch.setattr(Shards, "of", lambda *given, **more: seen.append("copied") or of(*given, **more))
    told: list[Any] = []
    options: dict[str, Any] = {"rounds": 1, "local_solver": SGD, "dtype": "float32"}
    with pytest.raises(KeyError):
        run(fc.FedDyn(alpha=1), DENSE, TABLES, before=lambda found: told.append(found) or {}["stop"], **options)
    assert not seen
    run(fc.FedDyn(alpha=1), DENSE, TABLES, before=lambda found: seen.append("estimated"), **options)
    assert seen[0] == "estimated"
    dim = sum(p.numel() for p in DENSE.parameters())
    assert told[0].state == 4 * dim * (1 + 20 + 1)  # the server's, every client's memory, and FedDyn's h


@pytest.mark.slow
def test_what_cannot_fit_is_refused_with_what_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any sample is copied; what the error proposes runs in the memory that there is."""
    options: dict[str, Any] = {
        "rounds": 1,
        "local_solver": SGD,
        "participation": participation.Uniform(2),
        "dtype": "float64",
    }
    monkeypatch.setattr("fedconvex.deep.memory.AT_ONCE", {"cpu": 1_000, "cuda": 0})
    copied: list[Any] = []
    of = Shards.of
    monkeypatch.setattr(Shards, "of", lambda *given, **more: copied.append(1) or of(*given, **more))

    def limited(available: int, **more: Any) -> Any:
        monkeypatch.setattr(runner, "available_on", lambda place: available)
        return run(fc.FedProx(mu=1), Wrapped(DENSE), TABLES, **(options | more))

    with pytest.raises(TooLarge, match=r"20 clients.*takes .* samples.*are left in memory; give dtype='float32'"):
        limited(900_000)
    with pytest.raises(TooLarge, match="give storage='disk'"):
        limited(600_000)
    with pytest.raises(TooLarge, match="fewer samples or clients, or a smaller model"):
        limited(10_000)
    assert not copied
    limited(900_000, dtype="float32")
    limited(600_000, storage="disk")
    assert copied
    limited(2_000_000)
    limited(10**9)


def test_estimates_that_cannot_be_made_do_not_stop_a_run() -> None:
    def odd(self: Any, x: torch.Tensor) -> torch.Tensor:
        assert np.isfinite(x.detach().numpy()).all()  # takes the samples' numbers out of torch
        return self.last(x)

    told: list[Any] = []
    options: dict[str, Any] = {"rounds": 1, "local_solver": SGD, "dtype": "float32"}
    with pytest.warns(RuntimeWarning, match="vectorised"):
        run(fc.FedProx(mu=1), Made(odd, last=nn.Linear(100, CLASSES)), TABLES[:3], before=told.append, **options)
    assert told[0].samples == 3 * 60 * (100 * 4 + 8)  # from a trial round, after the samples were copied
