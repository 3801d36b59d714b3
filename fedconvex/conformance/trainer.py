"""Check a PyTorch trainer's local training alone: the kit plays the server.

The author passes one function to `check`,

    local_update(model, data, global_model, state)

* `model`: a linear model of two parameters and a buffer (`fedconvex.conformance.kit_model`) with the server's
  parameters, a fresh one in every call; float64, or float32 with `check(…, precision="float32")`. Train it in place.
* `data`: (X, y), the client's samples: tensors (n_k, 2) and (n_k, 1). The local function is that of `check`'s `loss`;
  by default torch.nn.MSELoss() on model(X) and y.
* `global_model`: another module with the server's parameters, for a proximal term; do not change it.
* `state`: this client's own dict, empty in its first round and kept for the whole run, also through rounds in which the
  client is inactive. Before each call the kit stores in `state["server"]` what the server sends besides the model, as
  flat (2,) tensors by name: "c" for SCAFFOLD, "gradient" (g in the correction g − ∇f_k(w)) for DANE and FedDANE.
* It returns the local model: None for the trained `model`, a module, a state_dict, a tensor, or a list of tensors.
* If it has a fifth argument `local_steps`, the kit passes the number of steps (or epochs), fewer for stragglers.

The server's step is the method's own, computed from the local models alone: the weighted or plain average, FedDyn's h,
SCAFFOLD's c. An error in what a client keeps in its `state` therefore never reaches the server's memory.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import Implementation, takes
from fedconvex.conformance.reference import Reference, rounds_with
from fedconvex.conformance.setup import Setup
from fedconvex.errors import MissingLibrary
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State
from fedconvex.methods.dane import GradientCorrected
from fedconvex.participation import Draw
from fedconvex.runs.rounds import RoundResult, Rounds

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class Served:
    """The kit's server between two rounds, and the clients' own dicts."""

    rounds: Rounds
    state: State
    data: list[tuple[Any, Any]]
    own: list[dict[str, Any]]  # each client's `state`
    round: int = 0
    models: dict[int, Any] = field(default_factory=dict)  # local models of the last round
    dtype: Any = np.float64  # of the local models


def implementation_of(
    setup: Setup, references: Sequence[Reference], local_update: Callable[..., Any], precision: str | None
) -> Implementation:
    """The functions of `check` built around the trainer's one. Raises MissingLibrary without torch."""
    try:
        import torch
    except ImportError:
        raise MissingLibrary("torch", "checking a local_update", "deep") from None
    from fedconvex.conformance.kit_model import KitModel

    dtype = torch.float32 if precision == "float32" else torch.float64
    numbers = arithmetics.get("float")
    found: list[ConformanceFinding] = []
    takes_steps = takes(local_update, "local_steps")

    def init(problem: Any, x0: np.ndarray) -> Served:
        scenario = next(r.scenario for r in references if r.scenario.problem is problem)
        rounds = rounds_with(setup, scenario, numbers)
        data = [
            (torch.tensor(A, dtype=dtype), torch.tensor(b, dtype=dtype)[:, None])
            for A, b in zip(problem.A, problem.b, strict=True)
        ]
        return Served(rounds, rounds.start(x0), data, [{} for _ in data])

    def round(problem: Any, served: Served, active: Sequence[int], local_steps: Sequence[int] | None) -> Served:
        members = sorted(active)
        steps = None if local_steps is None else dict(zip(active, local_steps, strict=True))
        efforts = None if steps is None else np.array([steps[k] for k in members], dtype=np.int64)
        draw = Draw(np.array(members), efforts=efforts, round=served.round)
        # The correct round comes first: it has the gradients that the server sends and the clients' path lengths.
        correct = served.rounds.play(served.state, draw)
        assert correct is not None
        sent = _sent(served, correct, dtype)
        models = {k: _trained(served, k, sent, None if steps is None else steps[k]) for k in active}
        points = np.stack([models[k].double().numpy() for k in members])
        played = served.rounds.play(served.state, draw, answers=Answers(points, correct.answers.path_lengths))
        assert played is not None
        dtypes = {model.dtype for model in models.values()}
        returned = np.float32 if torch.float32 in dtypes else np.float64
        return replace(served, state=played.state, round=served.round + 1, models=models, dtype=returned)

    def _trained(served: Served, k: int, sent: dict[str, Any], steps: int | None) -> "torch.Tensor":
        """Client k's local model as a flat tensor."""
        model = KitModel(served.state.server, dtype)
        reference, before = deepcopy(model), [part.clone() for part in served.data[k]]
        served.own[k]["server"] = {name: vector.clone() for name, vector in sent.items()}
        extra = {"local_steps": steps} if takes_steps else {}
        returned = local_update(model, served.data[k], reference, served.own[k], **extra)
        if not torch.equal(_flat(reference), torch.as_tensor(served.state.server).to(dtype)):
            found.append(ConformanceFinding(findings.CHANGES_GLOBAL, "train `model`, and only read `global_model`"))
        if not all(torch.equal(old, new) for old, new in zip(before, served.data[k], strict=True)):
            found.append(ConformanceFinding(findings.CHANGES_DATA, "copy the data before you work on them"))
            for old, new in zip(before, served.data[k], strict=True):  # repaired: later rounds are checked for others
                new.detach().copy_(old)
        return _flat(model if returned is None else returned)

    # Two signatures: `check` looks at the argument's name to decide whether there is a scenario with stragglers.
    def round_with_steps(problem: Any, state: Served, active: Sequence[int], local_steps: Any = None) -> Served:
        return round(problem, state, active, local_steps)

    def round_without_steps(problem: Any, state: Served, active: Sequence[int]) -> Served:
        return round(problem, state, active, None)

    return Implementation(
        init=init,
        round=round_with_steps if takes_steps else round_without_steps,
        server_model=lambda served: served.state.server.astype(served.dtype),
        client_models=lambda served: served.models,
        found=found,
    )


def _sent(served: Served, correct: RoundResult, dtype: Any) -> dict[str, Any]:
    """The vectors that the server sends besides its model, by name."""
    import torch

    sent = dict(served.state.shared)
    if isinstance(served.rounds.method, GradientCorrected):
        # the subproblem's linear term is g − ∇F_k(w) in row k: g is the same in every row
        gradients = correct.clients.gradients(correct.points)
        assert correct.subproblem.linear is not None
        sent["gradient"] = (correct.subproblem.linear + gradients)[0]
    return {name: torch.as_tensor(np.asarray(vector, float)).to(dtype) for name, vector in sent.items()}


def _flat(returned: Any) -> "torch.Tensor":
    """The parameters of a module, state_dict, list of tensors or tensor, copied to one flat tensor.

    Entries of integers are buffers, not parameters.
    """
    import torch

    if isinstance(returned, torch.nn.Module):
        returned = list(returned.parameters())
    elif isinstance(returned, Mapping):
        returned = list(returned.values())
    parts = [returned] if isinstance(returned, torch.Tensor | np.ndarray) else list(returned)
    tensors = [torch.as_tensor(part).detach().cpu().reshape(-1) for part in parts]
    return torch.cat([tensor for tensor in tensors if tensor.is_floating_point()]).clone()
