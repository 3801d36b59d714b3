"""Adapter for fluke's FedAvg, FedProx, SCAFFOLD, FedNova and FedDyn: its servers, clients and channel."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import fedconvex as fc
from fedconvex.conformance import adapters

TESTED = "0.8.1"
# fluke's module and class of the algorithm, and its names of the parameters
NAMES: dict[type, tuple[Any, ...]] = {
    fc.FedGD: ("fedavg", "FedAVG", {}),
    fc.FedProx: ("fedprox", "FedProx", {"mu": "mu"}),
    fc.Scaffold: ("scaffold", "SCAFFOLD", {"global_step": "server_stepsize"}),
    fc.FedNova: ("fednova", "FedNova", {}),
    fc.FedDyn: ("feddyn", "FedDyn", {"alpha": "alpha"}),
}


def wrap(method: adapters.Method, local_solver: adapters.LocalSolver | None = None) -> adapters.ImplementationFunctions:
    """fluke's implementation of FedGD (its FedAvg), FedProx, Scaffold (option 2), FedNova or FedDyn.

    Clients keep fluke's default clipping: none, but for FedDyn, where it is switched off.

    Args:
        method: its parameters are passed to fluke's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: fluke is not installed.
        InvalidInput: a method that fluke does not ship, or another local solver.
    """
    adapters.require("fluke-fl", TESTED)
    from fluke import FlukeENV
    from fluke.comm import Channel
    from fluke.config import OptimizerConfigurator
    from fluke.data import FastDataLoader
    from fluke.evaluation import ClassificationEval

    module, name, own = adapters.names_of(method, "fluke", NAMES, option=2)
    algorithm = getattr(import_module(f"fluke.algorithms.{module}"), name)
    client_class, server_class = algorithm.get_client_class(None), algorithm.get_server_class(None)
    of_clients = {name: value for name, value in own.items() if name in ("mu", "alpha")}
    of_server = {name: value for name, value in own.items() if name in ("global_step", "alpha")}
    steps = adapters.Steps.of(method, local_solver)
    FlukeENV().set_evaluator(ClassificationEval(1, 2))
    FlukeENV().set_eval_cfg(pre_fit=False, post_fit=False, locals=False, server=False)

    def init(problem: Any, x0: Any) -> Any:
        clients = []
        for k, (A, b) in enumerate(adapters.samples(problem)):
            data = FastDataLoader(A, b, num_labels=1, batch_size=len(b), shuffle=False)
            optimiser = OptimizerConfigurator({"name": "SGD", "lr": steps.stepsize})
            work = (optimiser, adapters.half_squares, steps.epochs)
            clients.append(client_class(k, data, None, *work, clipping=0, **of_clients))
        server = server_class(adapters.LinearModule(x0), None, clients, weighted=not method.plain, **of_server)
        channel = Channel()
        server._channel = channel
        for client in clients:
            client.set_channel(channel)
        if isinstance(method, fc.FedDyn):
            algorithm._round_zero(SimpleNamespace(clients=clients, server=server))
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        chosen = [server.clients[k] for k in active]
        server.broadcast_model(chosen)
        for client in chosen:
            client.local_update(1)
        server.aggregate(chosen, server.receive_client_models(chosen, state_dict=False))
        return server

    def server_model(server: Any) -> Any:
        # FedDyn's clients start at another model than the one that fluke evaluates; FedNova averages in float32
        model = adapters.point(server.cld_mdl if isinstance(method, fc.FedDyn) else server.model)
        return model.astype("float32") if isinstance(method, fc.FedNova) else model

    return {"init": init, "round": round, "server_model": server_model}
