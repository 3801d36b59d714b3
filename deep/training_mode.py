"""Local steps in training mode: batch statistics, dropout and augmentation, as plain PyTorch computes them.

The measured objective stays that of evaluation mode, without augmentation. A local step is then no gradient step on it,
so that no statement of the papers is about such a run. Clients are computed one after the other, since a client's batch
must not be padded. All random numbers of a step come from `step_seeds`, so that a run can be resumed, and repeated.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.deep.local_mode import (
    FROZEN,
    KEPT,
    LocalMode,
    Transform,
    changing_buffers,
    frozen_in,
    own_generators,
    require_seeded,
    seed_torch,
    transformed,
)
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.networks import Batch, DescentStep, Layout, Network
from fedconvex.deep.networks.functional import gradients_alone, kernels_for, parameters_in, step_of_gradients
from fedconvex.deep.networks.layout import aliases_of, duplicate
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.adam import Adam
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Method, State
from fedconvex.problems.base import Problem
from fedconvex.problems.local_sgd import Descent
from fedconvex.randomness import Purpose

if TYPE_CHECKING:
    from fedconvex.deep.problem import NetworkClients
    from fedconvex.deep.processes import Processes
    from fedconvex.runs.simulator import SimulatedRound

BUFFERS = "buffers"  # their name in `State.shared` and `State.memory`
OFF_OBJECTIVE = "local steps on the measured objective"
WHY_OFF = "local steps are in training mode, the objective is that of evaluation mode"


def step_seeds(seed: int, round: int, client: int, step: int) -> tuple[int, int]:
    """The seeds of a local step, for `torch.manual_seed` before the model is called and for the transform's generator.

    round, client and step count from 0; seed is the run's.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(int(Purpose.LOCAL_STEPS), round, client, step))
    of_model, of_transform = sequence.generate_state(2, np.uint64).tolist()
    return of_model, of_transform


def training_mode_of(
    module: nn.Module, loss: TorchLoss, inputs: Tensor, local: LocalMode, lower: torch.dtype | None
) -> "TrainingMode":
    """The module's local steps in training mode; inputs: two samples, to try it on. Raises InvalidInput."""
    choices = local.choices(changing_buffers(module, inputs))
    if local.transform is not None:
        require_seeded(local.transform, inputs)
    own = duplicate(module).train()
    frozen_in(own, [name for name, choice in choices.items() if choice == FROZEN])
    return TrainingMode(own, loss, choices, local.transform, lower, inputs)


def require_local_steps(mode: "TrainingMode", method: Method, solver: LocalSolver, counts: list[int]) -> None:
    """Raise InvalidInput for methods and solvers whose local work has no steps in training mode.

    counts: the number of samples of every client.
    """
    if nearest_float(method.skip) > 0 or method.personal is not None:
        problem = f"is for methods with one local problem in every round, not {type(method).__name__}"
        raise InvalidInput("local_mode", "training", problem, "give local_mode='evaluation'")
    if not isinstance(solver, SGD | Adam):
        cure = "give SGD(…) or Adam(…), with batch_size=None for all samples"
        raise InvalidInput("local_solver", solver, "has no mini-batches for steps in training mode", cure)
    if mode.keeps and (method.gradients_from != "nobody" or getattr(method, "option", 2) == 1):
        problem = f"gives clients functions of their own, of which {type(method).__name__} needs gradients at one model"
        raise InvalidInput("buffers", KEPT, problem, "give buffers='averaged' or 'frozen'")
    size = solver.batch_size
    alone = [k for k, n in enumerate(counts) if n == 1 or (size is not None and (size == 1 or n % size == 1))]
    if alone:
        one = mode.sample[:1]
        try:
            with torch.no_grad(), own_generators(one.device):
                duplicate(mode.module)(one)
        except Exception as error:
            problem = f"leaves client {alone[0]} a batch of one sample: {str(error).splitlines()[0]}"
            raise InvalidInput("batch_size", size, problem, "take a size that leaves none alone") from error


@final
class TrainingMode:
    """The module in training mode, with every client's own buffers during its steps."""

    def __init__(
        self,
        module: nn.Module,
        loss: TorchLoss,
        choices: Mapping[str, str],
        transform: Transform | None,
        lower: torch.dtype | None,
        sample: Tensor,
    ) -> None:
        """module: in training mode, with layers of frozen buffers in evaluation mode; it is changed by every step."""
        self.sample = sample  # the input of a few samples, to try the module on
        self.module, self.loss, self.transform, self.lower = module, loss, transform, lower
        self.layout, self.choices = Layout.of(module), dict(choices)
        self.names = [name for name, choice in choices.items() if choice != FROZEN]
        sizes = [module.get_buffer(name).numel() for name in self.names]
        kept = [np.full(n, choices[name] == KEPT) for name, n in zip(self.names, sizes, strict=True)]
        places = np.flatnonzero(np.concatenate([np.zeros(0, bool), *kept]))  # of the numbers that clients keep
        self.kept = torch.as_tensor(places, device=next(module.parameters()).device)
        self._server = self._of_clients = torch.empty(0)  # of the state that `use` was given
        self._answers: dict[int, Tensor] = {}

    @property
    def keeps(self) -> bool:
        """Whether clients keep buffers of their own."""
        return len(self.kept) > 0

    # ---- the state ----

    def started(self, state: State, num_clients: int) -> State:
        """The first state with the buffers: the module's, for the server and for every client."""
        if not self.names:
            return state
        flat = self.flat(self.module)
        memory = {BUFFERS: flat.index_select(0, self.kept).repeat(num_clients, 1)} if self.keeps else {}
        return State(state.server, {**state.shared, BUFFERS: flat}, {**state.memory, **memory})

    def use(self, state: State) -> State:
        """Let local steps start from this state's buffers; returns the state without them, as the method knows it."""
        self._answers = {}
        if not self.names:
            return state
        self._server, self._of_clients = state.shared[BUFFERS], state.memory.get(BUFFERS, self._of_clients)
        shared, memory = (
            {name: part for name, part in parts.items() if name != BUFFERS} for parts in (state.shared, state.memory)
        )
        return State(state.server, shared, memory)

    def following(self, before: State, done: "SimulatedRound", problem: Problem, share: "Processes | None") -> State:
        """The state after a round with the participants' new buffers: averaged as their models are, or kept.

        The server's copy of kept buffers is their mean over all clients, by the objective's weights; the test set is
        evaluated with it.
        """
        if not self.names:
            return done.state
        server, rows = before.shared[BUFFERS], before.memory.get(BUFFERS)
        if done.average is not None:
            members = sorted(self._answers)
            stack = torch.stack([self._answers[k] for k in members]) if members else server.new_empty(0, len(server))
            server = torch.as_tensor(done.average(stack))
            if rows is not None:
                rows = rows.clone()  # the state before the round stays as it is, for its undoing
                rows[np.array(members, dtype=np.int64)] = stack.index_select(1, self.kept)
                weights = problem.weights if share is None else problem.weights[share.members]
                mean = torch.tensor(weights).to(rows) @ rows
                server.index_copy_(0, self.kept, mean if share is None else share.total(mean))
        memory = {} if rows is None else {BUFFERS: rows}
        return State(done.state.server, {**done.state.shared, BUFFERS: server}, {**done.state.memory, **memory})

    def flat(self, module: nn.Module) -> Tensor:
        """The buffers that change, as one vector in the parameters' type."""
        parts = [module.get_buffer(name).detach().reshape(-1) for name in self.names]
        like = next(module.parameters()).detach()
        return torch.cat([like.new_empty(0), *(part.to(like.dtype) for part in parts)])

    def load(self, module: nn.Module, state: State, client: int | None = None) -> None:
        """Set a module's buffers to those of the server in this state, or of one of this process's clients."""
        if self.names:
            self._put(module, state.shared[BUFFERS], state.memory.get(BUFFERS), client)

    def _put(self, module: nn.Module, server: Tensor, rows: Tensor | None, client: int | None) -> None:
        flat, begin = server.clone(), 0
        if client is not None and rows is not None and self.keeps:
            flat.index_copy_(0, self.kept, rows[client])
        for name in self.names:
            buffer = module.get_buffer(name)
            part = flat[begin : begin + buffer.numel()].view(buffer.shape)
            buffer.copy_(part if buffer.is_floating_point() else part.round())
            begin += buffer.numel()

    # ---- local work ----

    @contextmanager
    def of_client(self, clients: "NetworkClients", descent: Descent, place: int, theta: Tensor) -> Iterator[Network]:
        """The network of one of the clients for its steps, of which every call of `gradients` is the next one.

        theta: its parameters (d,), which the steps change in place. At the end its buffers are the client's answer.
        """
        member, owned = int(clients.members[place]), clients.problem.owned
        self._put(self.module, self._server, self._of_clients, member)
        number = member if owned is None else int(owned[member])
        yield _ClientInTraining(self, theta, (descent.seed, descent.round, number))
        self._answers[member] = self.flat(self.module)


@final
class _ClientInTraining(Network):
    """See `TrainingMode.of_client`."""

    def __init__(self, mode: TrainingMode, theta: Tensor, place: tuple[int, int, int]) -> None:
        self.mode, self.layout, self.loss, self.place, self.step = mode, mode.layout, mode.loss, place, 0
        self._bound = parameters_in(mode.module, mode.layout, theta) if theta.device.type == "cpu" else None
        self._views, self._kernels = mode.layout.views(theta), kernels_for(mode.module)
        self._aliases = aliases_of(mode.module)

    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        raise NotImplementedError("losses are those of evaluation mode")

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        return torch.cat([part.reshape(1, -1) for part in self._gradients(batch)], 1)

    def step_function(self, step: DescentStep) -> Callable[[Batch], None]:
        return step_of_gradients(self._gradients, self.layout, step)

    def _gradients(self, batch: Batch) -> tuple[Tensor, ...]:
        of_model, of_transform = step_seeds(*self.place, self.step)
        self.step += 1
        inputs, mode = batch.inputs[0], self.mode
        if mode.transform is not None:
            inputs = transformed(mode.transform, inputs, of_transform)
        seed_torch(inputs.device, of_model)
        batch = replace(batch, inputs=inputs[None])
        if self._bound is not None:  # as a plain loop calls it, without an exchange of parameters in every step
            return gradients_alone(mode.module, self._bound, self.loss, mode.lower, batch)
        leaves = {name: value.detach().requires_grad_() for name, value in self._views.items()}
        named = leaves | {alias: leaves[name] for alias, name in self._aliases.items()}

        def call(inputs: Tensor) -> Tensor:  # its buffers change as in any call
            with self._kernels():
                outputs: Tensor = functional_call(mode.module, named, (inputs,), tie_weights=False)
            return outputs

        return gradients_alone(call, tuple(leaves.values()), self.loss, mode.lower, batch)
