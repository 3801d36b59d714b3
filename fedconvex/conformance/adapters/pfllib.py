"""Adapter for PFLlib's FedAvg, FedProx, SCAFFOLD and FedDyn: its servers and clients, without its files."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, not_shipped, require_module
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "d832e76"


class _Arguments(SimpleNamespace):
    """PFLlib's command line, on which everything else is 0: no slow clients, no decay, no attack."""

    def __getattr__(self, name: str) -> int:
        return 0


def wrap(method: Method, local_solver: LocalSolver | None = None) -> ImplementationFunctions:
    """PFLlib's implementation of FedGD (its FedAvg), FedProx, Scaffold (option 2) or FedDyn.

    Args:
        method: its parameters are passed to PFLlib's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: PFLlib's folder `system` is not on the Python path.
        InvalidInput: a method that PFLlib does not ship, or another local solver.
    """
    require_module("flcore.servers.serverbase", "PFLlib", TESTED, "put the folder system of its clone on PYTHONPATH")
    from fedconvex.conformance.adapters.linear_model import LinearModule, half_squares, point, samples

    module, server_name, client_name, own = _names(method)
    server_class = getattr(import_module(f"flcore.servers.server{module}"), server_name)
    client_class = getattr(import_module(f"flcore.clients.client{module}"), client_name)
    steps = Steps.of(method, local_solver)
    training = {"local_epochs": steps.epochs, "local_learning_rate": steps.stepsize, "time_threthold": float("inf")}

    def init(problem: LeastSquares, x0: Any) -> Any:
        arguments = _Arguments(model=LinearModule(x0), device="cpu", **training, **own)
        server = server_class(arguments, 0)  # of no clients: PFLlib would read their data from its files
        for k, pair in enumerate(samples(problem)):
            client = client_class(arguments, k, len(pair[1]), 0, train_slow=False, send_slow=False)
            client.loss, client.load_train_data = half_squares, lambda pair=pair: [pair]
            server.clients.append(client)
        server.num_clients = problem.num_clients
        return server

    def round(problem: LeastSquares, server: Any, active: Any) -> Any:
        server.selected_clients = [server.clients[k] for k in active]
        server.num_join_clients = server.current_num_join_clients = len(active)
        server.send_models()
        for client in server.selected_clients:
            client.train()
        server.receive_models()
        if isinstance(method, FedDyn):
            server.update_server_state()
        server.aggregate_parameters()
        return server

    def server_model(server: Any) -> Array:
        return point(server.global_model)

    return {"init": init, "round": round, "server_model": server_model}


def _names(method: Method) -> tuple[str, str, str, dict[str, float]]:
    """The ending of PFLlib's modules, its classes of server and client, and the method's own parameters."""
    match method:
        case FedGD():
            return "avg", "FedAvg", "clientAVG", {}
        case FedProx(mu=mu):
            return "prox", "FedProx", "clientProx", {"mu": float(mu)}
        case Scaffold(server_stepsize=stepsize, option=2):
            return "scaffold", "SCAFFOLD", "clientSCAFFOLD", {"server_learning_rate": float(stepsize)}
        case FedDyn(alpha=alpha):
            return "dyn", "FedDyn", "clientDyn", {"alpha": float(alpha)}
    raise not_shipped(method, "PFLlib", "FedGD, FedProx, Scaffold (option 2) or FedDyn")
