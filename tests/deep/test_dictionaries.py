"""Dictionaries of inputs, outputs with logits, tokens' targets, weights of samples, vectors: against plain loops."""

from collections import OrderedDict, UserDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import (
    CLASSES,
    CLIENTS,
    FEATURES,
    LINEAR,
    SMALL,
    Made,
    batches_of,
    continued,
    mixed,
    random,
    refused,
    samples,
    vector,
)
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.training_mode import step_seeds
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

TOKENS, LENGTH, WIDTH = 11, 5, 8
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)


@dataclass
class Output:
    """What such models return: logits, and what nobody asked for."""

    logits: Tensor
    hidden: Tensor | None = None


class Transformer(nn.Module):
    """A tiny encoder that is called as HuggingFace's are; `per_token` or one answer for a sample."""

    def __init__(self, classes: int = CLASSES, per_token: bool = False) -> None:
        super().__init__()
        self.vectors = nn.Embedding(TOKENS, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 12, 0.0, batch_first=True)
        self.output, self.per_token = nn.Linear(WIDTH, classes), per_token

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor | None = None) -> Output:
        hidden = self.layer(self.vectors(input_ids), src_key_padding_mask=attention_mask == 0)
        if not self.per_token:
            hidden = (hidden * attention_mask[..., None]).sum(1) / attention_mask.sum(1, keepdim=True)
        return Output(self.output(hidden), hidden)


def texts(seed: int = 0, sizes: tuple[int, ...] = (9, 12, 7), per_token: bool = False) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    found = []
    for n in sizes:
        mask = (np.arange(LENGTH) < rng.integers(2, LENGTH + 1, n)[:, None]).astype(int)
        labels = rng.integers(0, CLASSES, (n, LENGTH) if per_token else n)
        found.append({
            "input_ids": rng.integers(0, TOKENS, (n, LENGTH)), "attention_mask": mask,
            "labels": np.where(mask > 0, labels, -100) if per_token else labels,
        })  # fmt: skip
    return found


class Rows(Dataset[Any]):
    """One dictionary of lists for each sample, as a tokeniser gives them; `keys` renames them."""

    def __init__(self, table: dict[str, np.ndarray], **keys: str) -> None:
        self.table, self.keys = table, keys

    def __len__(self) -> int:
        return len(self.table["labels"])

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {self.keys.get(name, name): column[i].tolist() for name, column in self.table.items()}


class Duck:
    """The same, of no class that torch knows."""

    def __init__(self, table: dict[str, np.ndarray]) -> None:
        self.rows = Rows(table, labels="label")
        self.__len__, self.__getitem__ = self.rows.__len__, self.rows.__getitem__

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.rows[i]


Loss = Callable[[nn.Module, dict[str, Tensor]], Tensor]


def by_a_loop(
    model: nn.Module, clients: list[dict[str, Any]], loss: Loss, rounds: int = 2, transform: Any = None
) -> tuple[nn.Module, list[float]]:
    """FedAvg as people write it: the model, and the objective before each round and after the last."""
    clients = [{name: torch.as_tensor(part) for name, part in client.items()} for client in clients]

    def value() -> float:
        with torch.no_grad():
            return float(np.mean([float(loss(model, client)) for client in clients]))

    values = [value()]
    for t in range(rounds):
        models = []
        for k, client in enumerate(clients):
            local = mixed([model], [1.0])
            optimizer = torch.optim.SGD(local.parameters(), 0.1)
            counted = [(client["labels"], None) for client in clients]
            for step, rows in enumerate(batches_of(counted, k, SGD, 0, t, 1)):
                batch = {name: part[rows] for name, part in client.items()}
                if transform is not None:
                    inputs = {name: part for name, part in batch.items() if name != "labels"}
                    batch |= transform(inputs, torch.Generator().manual_seed(step_seeds(0, t, k, step)[1]))
                optimizer.zero_grad()
                loss(local, batch).backward()
                optimizer.step()
            models.append(local)
        model = mixed(models, [1.0] * len(models))
        values.append(value())
    return model, values


def of_samples(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch["input_ids"], batch["attention_mask"]).logits, batch["labels"])


def of_tokens(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """The mean over samples of each one's mean over its tokens that count."""
    logits = model(batch["input_ids"], batch["attention_mask"]).logits
    losses = F.cross_entropy(logits.transpose(1, 2), batch["labels"], ignore_index=-100, reduction="none")
    return (losses.sum(1) / (batch["labels"] != -100).sum(1)).mean()


@pytest.mark.sample(2)
@pytest.mark.parametrize("per_token", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        lambda table: table,
        UserDict,
        lambda table: ({n: c for n, c in table.items() if n != "labels"}, table["labels"]),
        Rows,
        Duck,
        lambda table: [Rows(table)[i] for i in range(len(table["labels"]))],
        lambda table: DataLoader(Rows(table), batch_size=3, collate_fn=together),
    ],
    ids=["tables", "other mappings", "pairs", "samples", "unknown", "lists", "loaders"],
)
@pytest.mark.filterwarnings("ignore:Transformer cannot be vectorised", "ignore:The PyTorch API of nested tensors")
def test_a_transformer_on_dictionaries_agrees_with_a_plain_loop(given: Any, per_token: bool) -> None:
    clients, model = texts(per_token=per_token), random(Transformer(per_token=per_token))
    seen: list[nn.Module] = []
    found = run(fc.FedProx(mu=0), model, [given(one) for one in clients], rounds=2, local_solver=SGD,
                test=given(clients[1]), watch=lambda record, model: seen.append(model))  # fmt: skip
    expected, values = by_a_loop(model, clients, of_tokens if per_token else of_samples)
    np.testing.assert_allclose(vector(found.model), vector(expected), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.to_frame()["value"], values, rtol=0, atol=1e-12)
    assert abs(vector(found.model) - vector(model)).max() > 0.01
    one = {name: torch.as_tensor(part) for name, part in clients[1].items()}
    logits = found.model(one["input_ids"], one["attention_mask"]).logits  # the user's model again
    right, counted = (logits.argmax(-1) == one["labels"]).double(), one["labels"] != -100
    accuracy = (right.sum(1) / counted.sum(1)).mean() if per_token else right.mean()
    assert found.to_frame()["test_accuracy"].iloc[-1] == pytest.approx(float(accuracy), abs=1e-12)
    assert [type(one) for one in (found.model, *seen)] == [Transformer] * 4


def together(rows: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}


def test_tokens_that_do_not_count_do_not_count() -> None:
    """The comparison above would notice: another number changes nothing where it is ignored, elsewhere it does."""
    clients, model = texts(per_token=True), random(Transformer(per_token=True))
    changed, padding = texts(per_token=True), texts(per_token=True)
    changed[0]["labels"][0, 0] = (changed[0]["labels"][0, 0] + 1) % CLASSES
    padding[0]["input_ids"][padding[0]["attention_mask"] == 0] = 3
    values = [
        run(fc.FedProx(mu=0), model, data, rounds=0, local_solver=SGD).to_frame()["value"][0]
        for data in (clients, changed, padding)
    ]
    assert abs(values[0] - values[1]) > 1e-4
    assert values[0] == pytest.approx(values[2], abs=1e-12)


@pytest.mark.filterwarnings("ignore:Transformer cannot be vectorised")
def test_measurements_and_checkpoints_of_dictionaries(tmp_path: Path) -> None:
    """Also where the model takes the dictionary itself, and returns one; floats beside tokens."""

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors, self.output = nn.Embedding(TOKENS, 4), nn.Linear(4 + FEATURES, CLASSES)

        def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
            assert batch["tokens"].dtype == torch.int64
            assert batch["flags"].dtype == torch.bool
            both = torch.cat([self.vectors(batch["tokens"]).mean(1), batch["numbers"]], 1)
            return OrderedDict(loss=both.sum(), logits=self.output(both * batch["flags"][:, None]))

    rng, model = np.random.default_rng(1), random(Both())
    clients = [
        ({"tokens": rng.integers(0, TOKENS, (n, 3)), "numbers": rng.normal(size=(n, FEATURES)),
          "flags": rng.random(n) < 0.7}, rng.integers(0, CLASSES, n)) for n in (6, 9)
    ]  # fmt: skip
    options: dict[str, Any] = {"local_solver": SGD, "measure": "all", "lanczos_steps": 3, "test": clients[0]}
    file = tmp_path / "run.safetensors"
    _, found = continued(file, fc.FedProx(mu=1), model, clients, 1, rounds=3, **options)
    tensors = [{name: torch.as_tensor(part) for name, part in inputs.items()} for inputs, _ in clients]
    total = sum(
        F.cross_entropy(found.model(inputs)["logits"], torch.as_tensor(y))
        for inputs, (_, y) in zip(tensors, clients, strict=True)
    )
    gradients = torch.autograd.grad(total / 2, tuple(found.model.parameters()))
    frame = found.to_frame()
    norm = float(torch.cat([g.flatten() for g in gradients]).norm())
    assert frame["gradient_norm"].iloc[-1] == pytest.approx(norm, rel=1e-10)
    assert np.isfinite(frame["smoothness"]).all()
    changed = [clients[0], ({**clients[1][0], "flags": ~clients[1][0]["flags"]}, clients[1][1])]
    with pytest.raises(InvalidInput, match="another clients"):
        run(fc.FedProx(mu=1), model, changed, rounds=3, checkpoint=file, **options)


@pytest.mark.filterwarnings("ignore:Transformer cannot be vectorised")
def test_a_transform_gets_the_dictionary() -> None:
    def masked(batch: dict[str, Tensor], generator: torch.Generator) -> dict[str, Tensor]:
        hidden = torch.rand(batch["input_ids"].shape, generator=generator) < 0.3
        return {**batch, "input_ids": batch["input_ids"].masked_fill(hidden, 0)}

    clients, model = texts(), random(Transformer())
    found = run(fc.FedProx(mu=0), model, clients, rounds=2, local_solver=SGD, local_mode="training", transform=masked)
    expected, _ = by_a_loop(model, clients, of_samples, transform=masked)
    np.testing.assert_allclose(vector(found.model), vector(expected), rtol=0, atol=1e-12)
    with pytest.raises(InvalidInput, match="makes a list of a dictionary"):
        run(fc.FedProx(mu=0), model, clients, rounds=1, local_solver=SGD, local_mode="training",
            transform=lambda batch, generator: [])  # fmt: skip


# ---- weights of samples, vectors ----


@pytest.mark.parametrize("model", [LINEAR, SMALL])
def test_weights_of_samples_are_repeated_samples(model: nn.Module) -> None:
    """f_k with whole-numbered weights is f_k of the client whose samples are repeated so often."""
    rng = np.random.default_rng(3)
    clients = [(X, y, rng.integers(0, 4, len(y)) + (np.arange(len(y)) == 0)) for X, y in samples()]
    repeated = [(X.repeat(w, 0), y.repeat(w)) for X, y, w in clients]
    options: dict[str, Any] = {
        "rounds": 1, "local_solver": fc.GradientDescent(steps=3, stepsize=0.3), "ridge": 0.1,
        "measure": ("heterogeneity", "curvature"),
    }  # fmt: skip
    columns = ["value", "test_value", "gradient_norm", "dissimilarity", "smoothness"]
    found = run(fc.FedProx(mu=1), model, clients, test=clients[1], **options)
    expected = run(fc.FedProx(mu=1), model, repeated, test=repeated[1], **options)
    np.testing.assert_allclose(vector(found.model), vector(expected.model), rtol=0, atol=1e-12)
    frames = [one.to_frame()[columns] for one in (found, expected)]
    np.testing.assert_allclose(frames[0], frames[1], rtol=1e-8)
    without = run(fc.FedProx(mu=1), model, [one[:2] for one in clients], test=clients[1][:2], **options)
    assert abs(vector(without.model) - vector(found.model)).max() > 1e-3


def test_weights_in_batches_keep_the_expectation() -> None:
    """A step on a batch is minus the stepsize times (1/|B|) Σ v_i ∇loss_i, with v of mean 1 over the client."""
    X, y = samples()[1]
    w = np.random.default_rng(0).random(len(y)) * 7
    model, solver = SMALL, fc.SGD(steps=1, batch_size=5, stepsize=1)
    for mode in ("evaluation", "training"):
        found = run(fc.FedProx(mu=0), model, [(X, y, w)], rounds=1, local_solver=solver, local_mode=mode)
        (rows,) = batches_of([(X, y)], 0, solver, 0, 0, 1)
        losses = F.cross_entropy(model(torch.as_tensor(X[rows])), torch.as_tensor(y[rows]), reduction="none")
        total = (losses * torch.as_tensor(w[rows] / w.mean())).mean()
        step = torch.cat([g.flatten() for g in torch.autograd.grad(total, tuple(model.parameters()))])
        np.testing.assert_allclose(vector(found.model), vector(model) - step.numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("layered", [True, False])
def test_vector_targets(layered: bool) -> None:
    """½‖z − y‖², by hand and by autograd, and a user's mean square."""
    clients = [(X, np.random.default_rng(5).normal(size=(len(X), 2))) for X, _ in samples()]
    layers = [nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, 2)]
    model = random(nn.Sequential(*layers) if layered else nn.Sequential(*layers, nn.Dropout(0.0)))
    options: dict[str, Any] = {"rounds": 2, "local_solver": SGD, "measure": "heterogeneity", "test": clients[0]}
    found = run(fc.FedProx(mu=1), model, clients, "half_square", **options)
    mean = run(fc.FedProx(mu=1), model, clients, lambda z, y: ((z - y) ** 2).mean(-1), **options)
    np.testing.assert_allclose(vector(found.model), vector(mean.model), rtol=0, atol=1e-12)
    X, y = (torch.as_tensor(part) for part in clients[0])
    expected = float(((found.model(X) - y) ** 2).sum(1).mean().detach() / 2)
    assert found.to_frame()["test_value"].iloc[-1] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(found.to_frame()["accuracy"]).all()


# ---- what is refused ----

TABLE = texts()[0]
MIXED = (np.zeros((3, FEATURES)), np.zeros(3, int))


class Silent(Transformer):
    def forward(self, **batch: Tensor) -> Any:
        return {"hidden": super().forward(**batch).hidden}


class ByBatch(Transformer):
    """Mixes samples."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor | None = None) -> Output:
        found = super().forward(input_ids, attention_mask)
        return Output(found.logits - found.logits.mean(0))


def without(name: str) -> dict[str, Any]:
    return {n: c for n, c in TABLE.items() if n != name}


@pytest.mark.parametrize(
    ("change", "argument", "told"),
    [
        ({"clients": [without("labels")]}, "clients[0]", "has no 'labels' among its columns"),
        ({"clients": [TABLE | {"label": TABLE["labels"]}]}, "clients[0]", "both 'labels' and 'label'"),
        ({"clients": [{"labels": TABLE["labels"]}]}, "clients[0]", "has no inputs beside the targets"),
        ({"clients": [TABLE, without("attention_mask")]}, "clients[1]", "other inputs than 'input_ids', 'attention"),
        ({"clients": [TABLE, MIXED]}, "clients[1]", "has no dictionary of inputs, as others have"),
        ({"clients": [TABLE], "test": MIXED}, "test", "has no dictionary of inputs"),
        ({"clients": [TABLE | {"text": ["a"] * 9}]}, "clients[0]['text']", "is text; leave it out"),
        ({"clients": [TABLE | {"input_ids": TABLE["input_ids"][:, :3]}, TABLE]}, "clients[1]['input_ids']",
         r"another shape; give \(12, 3\)|another shape; give \(9, 3\).*padding='max_length'"),
        ({"clients": [TABLE | {"extra": TABLE["labels"]}]}, "model", "does not take the input 'extra'; its forward t"),
        ({"clients": [TABLE | {"input_ids": TABLE["input_ids"] + TOKENS}]}, "model", "as many vectors as there are t"),
        ({"model": Silent()}, "model", "Silent: returns a dict with hidden, which has no logits; return the logits"),
        ({"model": Transformer(classes=2)}, "model", "has 2 outputs, the targets go up to class 2"),
        ({"model": Transformer(per_token=True)}, "model", r"gives \(2, 5, 3\) for 2 samples; give \(batch, outputs\)"),
        ({"clients": texts(per_token=True)}, "model", r"\(2, 3\) for 2 samples with targets \(2, 5\); give \(2, 5, cl"),
        ({"clients": [TABLE | {"labels": np.full((9, LENGTH), -100)}], "model": Transformer(per_token=True)},
         "clients[0][1]", "has -100 for all tokens.*leave the sample out"),
        ({"clients": [TABLE | {"labels": np.full((9, LENGTH), -1)}], "model": Transformer(per_token=True)},
         "clients[0][1]", "not class numbers"),
        ({"clients": [TABLE | {"labels": np.full(9, -100)}]}, "clients[0][1]", "not class numbers"),
        ({"model": ByBatch()}, "model", "ByBatch: it mixes samples"),
        ({"clients": [TABLE | {"sample_weight": np.zeros(9)}]}, "clients[0][2]", "are not weights >= 0"),
        ({"clients": [TABLE | {"sample_weight": np.full(9, np.nan)}]}, "clients[0][2]", "not finite"),
        ({"clients": [TABLE | {"sample_weight": np.ones((9, 2))}]}, "clients[0][2]", r"give shape \(9,\)"),
        ({"clients": [TABLE | {"sample_weight": np.ones(9)}, TABLE]}, "clients[1]", "has no weights of its samples"),
        ({"clients": [TABLE, TABLE | {"sample_weight": np.ones(9)}]}, "clients[1]", "has weights of its samples, as o"),
        ({"loss": "logistic", "clients": texts(per_token=True)}, "clients[0][1]", r"give shape \(9,\)"),
        ({"loss": "half_square"}, "model", "has 3 outputs, half_square takes 1"),
        ({"clients": [TABLE | {"image": np.zeros((9, 3, 3), np.uint8)}]}, "clients[0]['image']", "images in bytes"),
        ({"clients": [TABLE | {"id": np.arange(9) + 2**25, "x": np.zeros(9)}]}, "clients[0]['id']", "above 2.24"),
    ],
)  # fmt: skip
def test_what_is_refused(change: dict[str, Any], argument: str, told: str) -> None:
    given = {"model": Transformer(), "clients": texts()} | change
    refused(told, argument, **(given | {"model": random(given["model"])}))


def test_equal_samples_with_tokens_and_numbers_are_no_error() -> None:
    """No sample is made up for the check of independence, which could lie outside the vocabulary."""

    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors, self.output = nn.Embedding(TOKENS, 4), nn.Linear(4, CLASSES)

        def forward(self, ids: Tensor, scale: Tensor) -> Any:
            return SimpleNamespace(logits=self.output(self.vectors(ids).mean(1) * scale[:, None]))

    equal = {"ids": np.full((4, 2), TOKENS - 1), "scale": np.ones(4), "labels": np.zeros(4, int)}
    found = run(fc.FedProx(mu=1), random(Small()), [equal], rounds=1, local_solver=SGD)
    assert np.isfinite(found.to_frame()["value"]).all()


def test_logits_of_a_model_of_tensors() -> None:
    """No dictionary goes in, but an object comes out: the run is that of the logits."""

    returns = Made(lambda self, x: SimpleNamespace(logits=self.inside(x)), inside=SMALL)
    found, expected = (run(fc.FedProx(mu=1), m, CLIENTS, rounds=2, local_solver=SGD) for m in (returns, SMALL))
    np.testing.assert_allclose(vector(found.model), vector(expected.model), rtol=0, atol=1e-12)
    assert found.model(torch.zeros(2, FEATURES).double()).logits.shape == (2, CLASSES)
