"""Adapter for Flower's FedAvg and FedProx: its strategies, messages and client app, in one process."""

import copy
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance import adapters
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.methods.fedprox import FedProx
from fedconvex.problems.quadratics import LeastSquares

TESTED = "1.41.0"

ProximalTerm = Literal["documented", "norms", "squared"]


def wrap(
    method: Method,
    local_solver: LocalSolver | None = None,
    proximal_term: ProximalTerm = "documented",
) -> adapters.ImplementationFunctions:
    """Flower's implementation of FedGD (its FedAvg) or FedProx.

    Flower leaves the proximal term to the client's code, and documents how to write it.

    Args:
        method: its parameters are passed to Flower's strategy.
        local_solver: GradientDescent; needed if the method has no local steps of its own.
        proximal_term: "documented", the PyTorch code in the docstring of `flwr.serverapp.strategy.FedProx`; "norms",
            the same with the server's parameters in a list; "squared", the formula in that docstring.

    Raises:
        MissingFramework: Flower is not installed.
        InvalidInput: a method that Flower does not ship, or another local solver.
    """
    adapters.require("flwr", TESTED)
    from flwr.app import ArrayRecord
    from flwr.serverapp import strategy as strategies

    steps = adapters.Steps.of(method, local_solver)
    settings = {"fraction_evaluate": 0.0, "min_train_nodes": 1, "min_available_nodes": 1}
    with _server_process():
        match method:
            case FedGD():
                strategy = strategies.FedAvg(**settings)
            case FedProx(mu=mu):
                strategy = strategies.FedProx(**settings, proximal_mu=float(mu))
            case _:
                raise adapters.not_shipped(method, "Flower", "FedGD or FedProx")

    def init(problem: LeastSquares, x0: Any) -> Any:
        return adapters.LinearModule(x0), adapters.samples(problem)

    def round(problem: LeastSquares, state: Any, active: Any) -> Any:
        model, data = state
        app = _client_app(steps, proximal_term, data)
        with _server_process():
            result = strategy.start(_InProcess(app, sorted(int(k) for k in active)), ArrayRecord(model.state_dict()), 1)
        model = copy.deepcopy(model)
        model.load_state_dict(result.arrays.to_torch_state_dict())
        return model, data

    def server_model(state: Any) -> Array:
        return adapters.point(state[0])

    return {"init": init, "round": round, "server_model": server_model}


@dataclass(frozen=True)
class _InProcess:
    """Stands in for Flower's grid: the active clients are the nodes online, and each answers at once."""

    app: Any
    nodes: list[int]

    def get_node_ids(self) -> list[int]:
        return self.nodes

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float | None = None) -> list[Any]:
        # Flower orders the nodes at random and sums in the order of the replies: sorted, a run can be repeated
        ordered = sorted(messages, key=lambda message: message.metadata.dst_node_id)
        return [self.app(message, _context(message.metadata.dst_node_id)) for message in ordered]


def _context(node: int) -> Any:
    from flwr.app import Context, RecordDict

    return Context(run_id=0, node_id=node, node_config={"partition-id": node}, state=RecordDict(), run_config={})


def _client_app(steps: adapters.Steps, proximal_term: str, data: list[Any]) -> Any:
    """Local training as in Flower's PyTorch quickstart, plus the proximal term if the server sends its weight."""
    import torch
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp

    app = ClientApp()

    def train(message: Any, context: Any) -> Any:
        A, b = data[context.node_config["partition-id"]]
        model = adapters.LinearModule([0.0] * A.shape[1])
        model.load_state_dict(message.content["arrays"].to_torch_state_dict())
        optimizer = torch.optim.SGD(model.parameters(), lr=steps.stepsize)
        term = _PROXIMAL_TERMS[proximal_term](model)
        mu = float(message.content["config"].get("proximal-mu", 0.0))
        for _ in range(steps.epochs):
            optimizer.zero_grad()
            loss = adapters.half_squares(model(A), b)
            if mu:
                loss = loss + mu / 2 * term()
            loss.backward()
            optimizer.step()
        content = {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord({"num-examples": len(b)})}
        return Message(content=RecordDict(content), reply_to=message)

    app.train()(train)
    return app


def _documented(net: Any) -> Callable[[], Any]:
    """Flower's docstring: an iterator over a copy's parameters, made once, before training."""
    # From the second step on the iterator is exhausted, zip yields nothing, and the term is 0: the fault to be found.
    global_params = copy.deepcopy(net).parameters()
    return lambda: sum((ours - theirs).norm(2) for ours, theirs in zip(net.parameters(), global_params, strict=False))


def _norms(net: Any) -> Callable[[], Any]:
    """The same with the copy's parameters in a list, which every step can read."""
    global_params = list(copy.deepcopy(net).parameters())
    return lambda: sum((ours - theirs).norm(2) for ours, theirs in zip(net.parameters(), global_params, strict=True))


def _squared(net: Any) -> Callable[[], Any]:
    """‖w − w^t‖²: the docstring's formula."""
    start = list(copy.deepcopy(net).parameters())
    return lambda: sum((ours - theirs).square().sum() for ours, theirs in zip(net.parameters(), start, strict=True))


_PROXIMAL_TERMS = {"documented": _documented, "norms": _norms, "squared": _squared}


@contextmanager
def _server_process() -> Iterator[None]:
    """Runs the block with the identity that Flower sets in a server process, and without its log of every round."""
    from flwr.supercore.task_identity import TaskIdentity

    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1
    logger = logging.getLogger("flwr")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
