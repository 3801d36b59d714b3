"""Adapter for PFLlib's FedAvg, FedProx, SCAFFOLD and FedDyn: its servers and clients, without its files."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import fedconvex as fc
from fedconvex.conformance import adapters

TESTED = "d832e76"
# the ending of PFLlib's modules, its classes of server and client, and its names of the parameters
NAMES: dict[type, tuple[Any, ...]] = {
    fc.FedGD: ("avg", "FedAvg", "clientAVG", {}),
    fc.FedProx: ("prox", "FedProx", "clientProx", {"mu": "mu"}),
    fc.Scaffold: ("scaffold", "SCAFFOLD", "clientSCAFFOLD", {"server_learning_rate": "server_stepsize"}),
    fc.FedDyn: ("dyn", "FedDyn", "clientDyn", {"alpha": "alpha"}),
}


class _Arguments(SimpleNamespace):
    """PFLlib's command line, on which everything else is 0: no slow clients, no decay, no attack."""

    def __getattr__(self, name: str) -> int:
        return 0


def wrap(method: adapters.Method, local_solver: adapters.LocalSolver | None = None) -> adapters.ImplementationFunctions:
    """PFLlib's implementation of FedGD (its FedAvg), FedProx, Scaffold (option 2) or FedDyn.

    Args:
        method: its parameters are passed to PFLlib's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: PFLlib's folder `system` is not on the Python path.
        InvalidInput: a method that PFLlib does not ship, or another local solver.
    """
    cure = "put the folder system of its clone on PYTHONPATH"
    adapters.require_module("flcore.servers.serverbase", "PFLlib", TESTED, cure)
    module, server_name, client_name, own = adapters.names_of(method, "PFLlib", NAMES, option=2)
    server_class = getattr(import_module(f"flcore.servers.server{module}"), server_name)
    client_class = getattr(import_module(f"flcore.clients.client{module}"), client_name)
    steps = adapters.Steps.of(method, local_solver)
    training = {"local_epochs": steps.epochs, "local_learning_rate": steps.stepsize, "time_threthold": float("inf")}

    def init(problem: Any, x0: Any) -> Any:
        arguments = _Arguments(model=adapters.LinearModule(x0), device="cpu", **training, **own)
        server = server_class(arguments, 0)  # of no clients: PFLlib would read their data from its files
        for k, pair in enumerate(adapters.samples(problem)):
            client = client_class(arguments, k, len(pair[1]), 0, train_slow=False, send_slow=False)
            client.loss, client.load_train_data = adapters.half_squares, lambda pair=pair: [pair]
            server.clients.append(client)
        server.num_clients = problem.num_clients
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        server.selected_clients = [server.clients[k] for k in active]
        server.num_join_clients = server.current_num_join_clients = len(active)
        server.send_models()
        for client in server.selected_clients:
            client.train()
        server.receive_models()
        if isinstance(method, fc.FedDyn):
            server.update_server_state()
        server.aggregate_parameters()
        return server

    def server_model(server: Any) -> Any:
        return adapters.point(server.global_model)

    return {"init": init, "round": round, "server_model": server_model}
