"""Gradients of several clients by torch's vmap are compared with plain ones; a run goes on by the route it took."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, Made, continued, random, refused, vector
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import fedconvex as fc
from fedconvex.deep import memory, run
from fedconvex.deep.memory import Budget
from fedconvex.deep.networks import FunctionalNetwork

pytestmark = pytest.mark.beyond_core  # trains networks

TOKENS = 11
SENTENCES = [
    (torch.as_tensor(rng.integers(0, TOKENS, (n, 5))), torch.as_tensor(rng.integers(0, CLASSES, n)))
    for rng in [np.random.default_rng(0)]
    for n in (7, 9, 20)
]
FULL = fc.SGD(steps=1, batch_size=None, stepsize=0.5)


def by_layer(self: Any, ids: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = self.last(self.words(ids).flatten(1)[:, :4])
    return found


def by_function(self: Any, ids: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = self.last(F.embedding(ids, self.words.weight, padding_idx=0).mean(1))
    return found


def tied(self: Any, ids: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = self.words(ids).mean(1) @ self.out.weight.T
    return found[:, :CLASSES]


def embedding(told: Any = by_layer, **given: Any) -> nn.Module:
    bag = given.pop("bag", False)
    words = (nn.EmbeddingBag if bag else nn.Embedding)(TOKENS, 4, **given)
    model = Made(told, words=words, last=nn.Linear(4, CLASSES))
    if told is tied:
        model.out = nn.Linear(4, TOKENS, bias=False)
        model.out.weight = model.words.weight
    return random(model)


EMBEDDINGS: dict[str, Any] = {
    "plain": lambda: embedding(),
    "padding": lambda: embedding(padding_idx=0),
    "the last token for padding": lambda: embedding(padding_idx=-1),
    "padding by a function": lambda: embedding(by_function),
    "padding in a shared matrix": lambda: embedding(tied, padding_idx=0),
    "sparse": lambda: embedding(sparse=True),
    "bag": lambda: embedding(bag=True, mode="mean", padding_idx=0),
    "bag, sparse": lambda: embedding(bag=True, sparse=True),
    "shortened": lambda: embedding(max_norm=0.5),
}


def plain_gradients(model: nn.Module, X: Any, y: Any) -> torch.Tensor:
    trial = random(model)  # its parameters are anew those of the run's start
    F.cross_entropy(trial(torch.as_tensor(X)), torch.as_tensor(y)).backward()
    slopes = [torch.zeros_like(p) if p.grad is None else p.grad.to_dense() for p in trial.parameters()]
    found = torch.cat([slope.reshape(-1) for slope in slopes])
    for p in trial.parameters():
        p.grad = None
    return found


@pytest.mark.parametrize("mode", ["evaluation", "training"])
@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.filterwarnings("ignore:.*cannot be vectorised:RuntimeWarning")
def test_embeddings(name: str, mode: str) -> None:
    """One full step of every client, and ∇f of all of them."""
    model = EMBEDDINGS[name]()
    options: dict[str, Any] = {"local_solver": FULL, "local_mode": mode, "rounds": 1}
    if name != "shortened":  # which a call changes
        options["measure"] = "heterogeneity"
    found = run(fc.FedProx(mu=0), model, SENTENCES, **options)
    assert [type(part) for part in found.model.modules()] == [type(part) for part in model.modules()]
    if name == "shortened":
        assert found.model.words.weight.norm(dim=1).max() < 0.8
        return
    slopes = torch.stack([plain_gradients(EMBEDDINGS[name](), X, y) for X, y in SENTENCES]).mean(0)
    start = random(EMBEDDINGS[name]())
    np.testing.assert_allclose(vector(found.model), vector(start) - 0.5 * slopes.numpy(), rtol=0, atol=1e-12)
    assert found.records[0]["gradient_norm"] == pytest.approx(float(slopes.norm()), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "told"), [("padding by a function", "another gradient of words.weight"), ("padding", "")]
)
def test_only_what_vmap_computes_wrongly_is_left_to_single_clients(name: str, told: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = run(fc.FedProx(mu=0), EMBEDDINGS[name](), SENTENCES, local_solver=FULL)
    assert [told in str(one.message) for one in seen] == [True] * bool(told)
    assert found.task.problem.network.takes_several is not bool(told)  # type: ignore[attr-defined]


def again(self: Any, x: torch.Tensor) -> torch.Tensor:
    h = checkpoint(lambda h: torch.tanh(self.second(torch.tanh(h))), self.first(x), use_reentrant=self.reentrant)
    found: torch.Tensor = self.last(h)
    return found


def broken_backward(self: Any, x: torch.Tensor) -> torch.Tensor:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, h: torch.Tensor) -> torch.Tensor:
            return h.clone()

        @staticmethod
        def backward(ctx: Any, slope: torch.Tensor) -> torch.Tensor:
            raise ValueError("nobody has written this")

    found: torch.Tensor = self.last(Broken.apply(self.first(x)))
    return found


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")  # torch's, of checkpoints
@pytest.mark.parametrize("mode", ["evaluation", "training"])
@pytest.mark.parametrize(
    ("told", "why"),
    [
        (by_layer, r"'words' divides gradients by how often.*scale_grad_by_freq to False"),
        (again, "first.weight where it is called with other parameters.*leave torch.utils.checkpoint out"),
        (broken_backward, "cannot be differentiated: nobody has written this"),
    ],
)
def test_gradients_that_are_not_the_samples_are_refused(told: Any, why: str, mode: str) -> None:
    if told is by_layer:
        refused(why, "model", model=embedding(scale_grad_by_freq=True), clients=SENTENCES, local_mode=mode)
        return
    parts = {"first": nn.Linear(FEATURES, 4), "second": nn.Linear(4, 4), "last": nn.Linear(4, CLASSES)}
    model = random(Made(told, **parts))
    for reentrant in (False, True) if told is again else (False,):
        model.reentrant = reentrant
        refused("checkpoint" if reentrant else why, "model", model=model, local_mode=mode)


def test_a_model_without_numbers_is_refused() -> None:
    refused("'meta'.*to_empty", "model", model=nn.Sequential(nn.Linear(FEATURES, CLASSES, device="meta"), nn.Tanh()))


class Fails(torch.autograd.Function):
    """A derivative that vmap has no rule for."""

    @staticmethod
    def forward(ctx: Any, h: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(h)
        return h.sin()

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> torch.Tensor:
        return slope * ctx.saved_tensors[0].cos()


def own_function(self: Any, x: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = self.last(Fails.apply(self.first(x)))
    return found


def branching(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Another branch once the weights have grown a little: not known before the first round."""
    h = self.first(x)
    far = (self.first.weight.detach() - self.last.weight.detach().T[:4, :1]).abs().max()
    found: torch.Tensor = self.last(torch.tanh(h) if float(far) < 1e9 else h)
    return found


def late(self: Any, x: torch.Tensor) -> torch.Tensor:
    """What vmap cannot take comes with the first large batch."""
    h = torch.tanh(self.first(x))
    found: torch.Tensor = self.last(h * (1.0 if len(x) < 9 else float(h.sum() > 1e9) + 1.0))
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("told", [own_function, branching, late])
@pytest.mark.filterwarnings("ignore:.*cannot be vectorised:RuntimeWarning")
def test_a_run_that_left_vmap_goes_on_bit_for_bit(told: Any, dtype: str, tmp_path: Path) -> None:
    model = random(Made(told, first=nn.Linear(FEATURES, 4), last=nn.Linear(4, CLASSES)))
    options = {
        "rounds": 3,
        "local_solver": fc.SGD(epochs=2, batch_size=12, stepsize=0.05, momentum=0.9),
        "dtype": dtype,
    }
    options |= {"measure": "heterogeneity"}
    _, found = continued(tmp_path / "run.safetensors", fc.FedProx(mu=0.3), model, CLIENTS, 1, **options)
    assert not found.task.problem.network.takes_several


def test_a_run_whose_memory_ran_out_goes_on_with_its_smaller_batches(tmp_path: Path, monkeypatch: Any) -> None:
    usual, failures = FunctionalNetwork.gradients, [True]

    def gradients(self: Any, theta: torch.Tensor, batch: Any) -> torch.Tensor:
        if len(batch.targets) > 2 and failures:
            failures.pop()
            raise torch.OutOfMemoryError("no room")
        return usual(self, theta, batch)

    monkeypatch.setattr(FunctionalNetwork, "gradients", gradients)
    for name, numbers in (("NUMBERS", 2000), ("AT_ONCE", {"cpu": 2000, "cuda": 2000})):
        monkeypatch.setattr(memory, name, numbers)
    monkeypatch.setattr(Budget.__init__, "__defaults__", (2000,))
    model = random(nn.Sequential(nn.Linear(FEATURES, 4), nn.GELU(), nn.Linear(4, CLASSES)))
    options = {"rounds": 3, "local_solver": fc.GradientDescent(steps=2, stepsize=0.1), "measure": "heterogeneity"}
    clients, file = [CLIENTS[0]] * 4, tmp_path / "run.safetensors"
    run(fc.FedProx(mu=0.3), model, clients, checkpoint=file, **(options | {"rounds": 1}))
    assert not failures
    found = run(fc.FedProx(mu=0.3), model, clients, checkpoint=file, **options)  # there is room again
    failures.append(True)
    whole = run(fc.FedProx(mu=0.3), model, clients, **options)
    assert found.task.problem.budget.numbers == whole.task.problem.budget.numbers == 1000  # type: ignore[attr-defined]
    np.testing.assert_array_equal(vector(found.model), vector(whole.model))
    assert found.records == whole.records
