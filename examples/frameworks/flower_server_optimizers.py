"""Flower's strategies with an optimiser on the server, for the kit: FedAvgM, FedAdagrad, FedAdam and FedYogi.

The strategy's own methods send, and aggregate, in rounds that are numbered as in a whole run: FedAdam's step depends on
the number. The clients are those of Flower's adapter.
"""

import copy
from typing import Any

import flower_adapter as adapter

from fedconvex.conformance.adapters import LinearModule, Steps, point, samples
from fedconvex.methods.server_optimizer import FedAvgM, ServerOptimizer

LATE = 10**6  # from this round on the correction of FedAdam's first rounds is 1


def wrap(method: ServerOptimizer, first_round: int = 1) -> dict[str, Any]:
    """Flower's strategy of the method's name, with its parameters, and its rounds numbered from `first_round`."""
    from flwr.app import ArrayRecord, ConfigRecord
    from flwr.serverapp import strategy as strategies

    steps, name = Steps.of(method, None), type(method).__name__
    parameters: dict[str, float] = {"min_train_nodes": 1, "min_available_nodes": 1}
    if isinstance(method, FedAvgM):
        parameters |= {"server_momentum": float(method.momentum), "server_learning_rate": float(method.server_stepsize)}
    else:
        parameters |= {"eta": float(method.server_stepsize), "tau": float(method.tau)}  # type: ignore[attr-defined]
        if name != "FedAdagrad":
            parameters |= {"beta_1": float(method.beta1), "beta_2": float(method.beta2)}  # type: ignore[attr-defined]

    def init(problem: Any, x0: Any) -> Any:
        return LinearModule(x0), samples(problem), getattr(strategies, name)(**parameters), first_round

    def round(problem: Any, state: Any, active: Any) -> Any:
        model, data, strategy, number = state
        strategy = copy.deepcopy(strategy)
        grid = adapter._InProcess(adapter._client_app(steps, "squared", data), sorted(int(k) for k in active))
        with adapter._server_process():
            sent = strategy.configure_train(number, ArrayRecord(model.state_dict()), ConfigRecord(), grid)
            arrays, _ = strategy.aggregate_train(number, grid.send_and_receive(sent))
        model = copy.deepcopy(model)
        model.load_state_dict(arrays.to_torch_state_dict())
        return model, data, strategy, number + 1

    return {"init": init, "round": round, "server_model": lambda state: point(state[0])}
