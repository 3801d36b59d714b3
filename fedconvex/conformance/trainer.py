"""Check a PyTorch trainer's local training alone: the kit plays the server.

The author passes one function to `check`,

    local_update(model, data, global_model, state)

* `model`: a linear model of two parameters and a buffer (`fedconvex.conformance.kit_model`) with the server's
  parameters, a fresh one in every call; float64, or float32 with `check(…, precision="float32")`. Train it in place.
* `data`: (X, y), the client's samples: tensors (n_k, 2) and (n_k, 1). The local function is that of `check`'s `loss`;
  by default torch.nn.MSELoss() on model(X) and y. With `loss="cross_entropy"` the model is torch.nn.Linear(2, 3) with a
  bias, y holds the labels, (n_k,) int64, and the function is torch.nn.CrossEntropyLoss().
* `global_model`: another module with the server's parameters, for a proximal term; do not change it.
* `state`: this client's own dict, empty in its first round and kept for the whole run, also through rounds in which the
  client is inactive. Before each call the kit stores in `state["server"]` what the server sends besides the model, as
  flat (d,) tensors by name: "c" for SCAFFOLD, "gradient" (g in the correction g − ∇f_k(w)) for DANE and FedDANE.
* It returns the local model: None for the trained `model`, a module, a state_dict, a tensor, or a list of tensors.
* If it has a fifth argument `local_steps`, the kit passes the number of steps (or epochs), fewer for stragglers.

The server's step is the method's own: see `fedconvex.conformance.client_part`.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.classification import CrossEntropy
from fedconvex.conformance.client_part import ClientFunction, optional_arguments
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.reference import Reference
from fedconvex.conformance.setup import Setup
from fedconvex.errors import MissingLibrary

if TYPE_CHECKING:
    import torch


def trainer_function(
    setup: Setup, references: Sequence[Reference], local_update: Callable[..., Any], precision: str | None
) -> ClientFunction:
    """The clients' part built around the trainer's function. Raises MissingLibrary without torch."""
    try:
        import torch
    except ImportError:
        raise MissingLibrary("torch", "checking a local_update", "deep") from None
    dtype = torch.float32 if precision == "float32" else torch.float64
    found: list[ConformanceFinding] = []

    def train(problem: Any, k: int, point: np.ndarray, own: dict[str, Any], **extra: Any) -> Any:
        """Client k's local model."""
        model, data = _model(problem, point, dtype), _data(problem, k, dtype)
        reference, before = deepcopy(model), [part.clone() for part in data]
        own["server"] = {name: torch.as_tensor(row).to(dtype) for name, row in own["server"].items()}
        returned = local_update(model, data, reference, own, **extra)
        sent = torch.nn.utils.parameters_to_vector(reference.parameters()).detach()
        if not torch.equal(sent, torch.as_tensor(point).to(dtype)):
            found.append(ConformanceFinding(findings.CHANGES_GLOBAL, "train `model`, and only read `global_model`"))
        if not all(torch.equal(old, new) for old, new in zip(before, data, strict=True)):
            found.append(ConformanceFinding(findings.CHANGES_DATA, "copy the data before you work on them"))
        return model if returned is None else returned

    return ClientFunction(setup, references, train, optional_arguments(local_update), found)


def _model(problem: Any, point: np.ndarray, dtype: Any) -> "torch.nn.Module":
    """A fresh linear module with these parameters."""
    import torch

    from fedconvex.conformance.kit_model import KitModel  # late: it loads torch

    if not isinstance(problem, CrossEntropy):
        return KitModel(point, dtype)
    model = torch.nn.Linear(problem.A[0].shape[1], problem.num_classes, dtype=dtype)
    torch.nn.utils.vector_to_parameters(torch.tensor(point, dtype=dtype), model.parameters())
    return model


def _data(problem: Any, k: int, dtype: Any) -> "tuple[torch.Tensor, torch.Tensor]":
    import torch

    targets = torch.tensor(problem.b[k])
    if not isinstance(problem, CrossEntropy):
        targets = targets.to(dtype)[:, None]
    return torch.tensor(problem.A[k], dtype=dtype), targets
