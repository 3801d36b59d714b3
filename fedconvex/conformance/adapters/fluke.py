"""Adapter for fluke's FedAvg, FedProx, SCAFFOLD, FedNova and FedDyn: its servers, clients and channel."""

from importlib import import_module
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, not_shipped, require
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "0.8.1"


def wrap(method: Method, local_solver: LocalSolver | None = None) -> ImplementationFunctions:
    """fluke's implementation of FedGD (its FedAvg), FedProx, Scaffold (option 2), FedNova or FedDyn.

    Clients keep fluke's default clipping: none, but for FedDyn, where it is switched off.

    Args:
        method: its parameters are passed to fluke's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: fluke is not installed.
        InvalidInput: a method that fluke does not ship, or another local solver.
    """
    require("fluke-fl", TESTED)
    from fluke import FlukeENV
    from fluke.comm import Channel
    from fluke.config import OptimizerConfigurator
    from fluke.data import FastDataLoader
    from fluke.evaluation import ClassificationEval

    from fedconvex.conformance.adapters.linear_model import LinearModule, half_squares, point, samples

    module, algorithm, of_clients, of_server = _names(method)
    classes = getattr(import_module(f"fluke.algorithms.{module}"), algorithm)
    client_class, server_class = classes.get_client_class(None), classes.get_server_class(None)
    steps = Steps.of(method, local_solver)
    FlukeENV().set_evaluator(ClassificationEval(1, 2))
    FlukeENV().set_eval_cfg(pre_fit=False, post_fit=False, locals=False, server=False)

    def init(problem: LeastSquares, x0: Any) -> Any:
        clients = []
        for k, (A, b) in enumerate(samples(problem)):
            data = FastDataLoader(A, b, num_labels=1, batch_size=len(b), shuffle=False)
            optimiser = OptimizerConfigurator({"name": "SGD", "lr": steps.stepsize})
            clients.append(client_class(k, data, None, optimiser, half_squares, steps.epochs, clipping=0, **of_clients))
        server = server_class(LinearModule(x0), None, clients, weighted=not method.plain, **of_server)
        channel = Channel()
        server._channel = channel
        for client in clients:
            client.set_channel(channel)
        if isinstance(method, FedDyn):  # what its round zero does
            for client in clients:
                client._send_weight()
            server._send_weights(server._receive_weights())
            for client in clients:
                client._receive_weights()
        return server

    def round(problem: LeastSquares, server: Any, active: Any) -> Any:
        chosen = [server.clients[k] for k in active]
        server.broadcast_model(chosen)
        for client in chosen:
            client.local_update(1)
        server.aggregate(chosen, server.receive_client_models(chosen, state_dict=False))
        return server

    def server_model(server: Any) -> Array:
        # FedDyn's clients start at another model than the one that fluke evaluates; FedNova averages in float32
        model = point(server.cld_mdl if isinstance(method, FedDyn) else server.model)
        return model.astype("float32") if isinstance(method, FedNova) else model

    return {"init": init, "round": round, "server_model": server_model}


def _names(method: Method) -> tuple[str, str, dict[str, float], dict[str, float]]:
    """fluke's module and class of the algorithm, and the parameters of clients and of the server."""
    match method:
        case FedGD():
            return "fedavg", "FedAVG", {}, {}
        case FedProx(mu=mu):
            return "fedprox", "FedProx", {"mu": float(mu)}, {}
        case Scaffold(server_stepsize=stepsize, option=2):
            return "scaffold", "SCAFFOLD", {}, {"global_step": float(stepsize)}
        case FedNova():
            return "fednova", "FedNova", {}, {}
        case FedDyn(alpha=alpha):
            return "feddyn", "FedDyn", {"alpha": float(alpha)}, {"alpha": float(alpha)}
    raise not_shipped(method, "fluke", "FedGD, FedProx, Scaffold (option 2), FedNova or FedDyn")
