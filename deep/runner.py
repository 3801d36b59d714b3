"""Running a method on a PyTorch model: the core's method objects, the clients of a round advancing together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch
from torch import nn

from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.losses import loss_of
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import Task, require_fit, task_of
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.measurements import recorded_names, round_columns
from fedconvex.methods.base import Method, State
from fedconvex.participation import Participation, Stragglers
from fedconvex.player import Player
from fedconvex.progress import track
from fedconvex.rationals import Array
from fedconvex.rounds import rounds_of
from fedconvex.validation import integer_at_least

if TYPE_CHECKING:
    import pandas

DTYPES = {"float64": torch.float64, "float32": torch.float32}


@final
@dataclass(frozen=True, eq=False)
class DeepRun:
    """A finished run: the trained model, the state after the last round, one record per point."""

    method: Method
    model: nn.Module
    state: State
    records: list[dict[str, Any]]

    def to_frame(self) -> "pandas.DataFrame":
        """One row per round 0, …, T.

        Columns: round; value f(θ) = Σ_k weights_k f_k(θ) and accuracy (of the clients' samples, pooled; NaN for losses
        that do not classify) of the server's model before round `round`, after the last one in row T; test_value and
        test_accuracy where a test set was given; participants, bytes_down, bytes_up and what `measure` asked for, of
        the round that led to the point (as in `fedconvex.simulate`).
        """
        import pandas

        return pandas.DataFrame(self.records)


def run(
    method: Method,
    model: nn.Module,
    clients: Sequence[Any],
    loss: Any = "cross_entropy",
    rounds: int = 1,
    participation: Participation | None = None,
    local_solver: LocalSolver | None = None,
    weights: Any = None,
    ridge: Any = 0.0,
    seed: int = 0,
    dtype: Any = torch.float64,
    device: str = "cpu",
    *,
    test: tuple[Any, Any] | None = None,
    stragglers: Stragglers | None = None,
    measure: "str | Sequence[str] | None" = None,
    progress: bool = True,
) -> DeepRun:
    """The method's first rounds on f_k(θ) = (1/n_k) Σ_i loss(model_θ(x_i), y_i) + (ridge/2)‖θ‖².

    θ are the model's trainable parameters, started at those that it has; the model itself is not changed. A linear
    layer under a convex loss is run as the core's own problem, with everything that it offers (`Exact` solutions, in
    float64 on the CPU its machine code).

    Args:
        model: a module that maps (batch, …) inputs to (batch, outputs), a function of its parameters alone.
        clients: one pair (inputs (n_k, …), targets (n_k,)) per client, tensors or arrays.
        loss: "cross_entropy" (targets 0, …, C − 1), "logistic" (targets −1, +1; one output), "half_square" (one
            output), or a function (outputs, targets) -> one loss per sample.
        rounds: T >= 0.
        participation, local_solver, stragglers, seed: as in `fedconvex.simulate`; the same seed gives the same
            clients, stragglers and mini-batches as there.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each; "samples": n_k/n.
        dtype: torch.float64 or torch.float32.
        device: "cpu", "cuda" or "auto" (a GPU if there is one).
        test: (inputs, targets) on which the server's model is tried as well.
        measure: "all" or some of inexactness, drift, control_error, recorded round by round.

    Raises:
        InvalidInput: for what does not fit, before any work; for "cuda" where there is none.
    """
    rounds, seed = integer_at_least(rounds, 0, "rounds"), integer_at_least(seed, 0, "seed")
    place, number = _device(device), _dtype(dtype)
    criterion, columns = loss_of(loss), round_columns(measure)
    task = task_of(model, clients, criterion, weights, ridge, place, number)
    held_out = None if test is None else Shards.of([test], criterion, place, number, "test")
    if held_out is not None:
        require_fit(task.module, criterion, held_out)
    running = rounds_of(method, task.problem, task.arithmetic, local_solver)
    player = Player.of(running, participation, stragglers, seed, columns, rounds)
    with _one_thread(), task.arithmetic.context():
        state = running.start(task.start())
        nothing = {name: np.nan for name in recorded_names(columns) if name != "client_inexactness"}
        nothing |= dict.fromkeys(("participants", "bytes_down", "bytes_up"), 0.0)
        records = [_record(0, task, state.server, held_out, nothing)]
        for t in track(range(rounds), f"{type(method).__name__}: {rounds} rounds", show=progress):
            state, of_round = player.next_round(state, t)
            records.append(_record(t + 1, task, state.server, held_out, of_round))
        return DeepRun(method, task.module_at(state.server), state, records)


def _record(t: int, task: Task, point: Array, test: Shards | None, of_round: dict[str, Any]) -> dict[str, Any]:
    module = task.module_at(point)
    found = evaluate(module, task.loss, task.shards.inputs, task.shards.targets)
    theta = task.parameters(point).double()
    means = torch.stack([part.mean() for part in found.losses.double().split(task.shards.count.tolist())])
    value = float(torch.tensor(task.problem.weights) @ means.cpu() + task.ridge / 2 * (theta @ theta).cpu())
    record = {"round": t, "value": value, "accuracy": found.accuracy}
    if test is not None:
        tested = evaluate(module, task.loss, test.inputs, test.targets)
        record |= {"test_value": float(tested.losses.double().mean()), "test_accuracy": tested.accuracy}
    return record | {name: value for name, value in of_round.items() if name != "client_inexactness"}


def _device(device: Any) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError):
        raise InvalidInput("device", device, "is unknown", "give 'cpu', 'cuda' or 'auto'") from None
    if place.type not in ("cpu", "cuda"):
        raise InvalidInput("device", device, "is not supported", "give 'cpu', 'cuda' or 'auto'")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("device", device, "was asked for, and torch sees no GPU", "give 'cpu', or 'auto' for either")
    return place


def _dtype(dtype: Any) -> torch.dtype:
    known = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if known not in DTYPES.values():
        raise InvalidInput("dtype", dtype, "is not supported", "give torch.float64 or torch.float32")
    assert isinstance(known, torch.dtype)
    return known


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small kernels on several threads were seen many times slower than on one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
