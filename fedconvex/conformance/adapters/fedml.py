"""Adapter for FedML's FedAvg, FedProx, SCAFFOLD, FedDyn and FedNova: the trainers of its simulation in one process."""

import logging
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypedDict
from unittest.mock import MagicMock, patch

from fedconvex.conformance.adapters import Steps, not_shipped, require
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold

TESTED = "0.9.6"


class WholeRunFunctions(TypedDict):
    """An implementation that runs all rounds by itself, as keyword arguments of `check`."""

    run: Callable[..., Any]
    loss: str


def wrap(method: Method, local_solver: LocalSolver | None = None) -> WholeRunFunctions:
    """FedML's implementation of FedGD (its FedAvg), FedProx, Scaffold (option 2), FedDyn or FedNova.

    FedML's trainers have the cross-entropy built in, and a loop over all rounds: nothing of them is replaced.

    Args:
        method: its parameters are passed to FedML's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: FedML is not installed.
        InvalidInput: a method that FedML does not ship, or another local solver.
    """
    require("fedml", TESTED)
    import torch

    logging.getLogger().setLevel(logging.ERROR)
    module_name, class_name, optimizer, own = _names(method)
    module, steps = import_module(f"fedml.simulation.sp.{module_name}"), Steps.of(method, local_solver)
    work = {"epochs": steps.epochs, "learning_rate": steps.stepsize, "client_optimizer": "sgd", "weight_decay": 0.0}
    fixed = {
        "dataset": "",
        "ci": 1,
        "enable_wandb": False,
        "frequency_of_the_test": 1000,
        "initialize_all_clients": True,
    }

    def run(problem: Any, x0: Any, rounds: Any) -> Any:
        samples = [len(b) for b in problem.b]
        model = torch.nn.Linear(problem.A[0].shape[1], problem.num_classes, dtype=torch.float64)
        torch.nn.utils.vector_to_parameters(torch.tensor(x0), model.parameters())
        batches = [[(torch.as_tensor(A), torch.as_tensor(b))] for A, b in zip(problem.A, problem.b, strict=True)]
        numbers = {"client_num_in_total": len(samples), "client_num_per_round": len(samples), "comm_round": len(rounds)}
        arguments = SimpleNamespace(federated_optimizer=optimizer, **work, **fixed, **numbers, **own)
        data = [sum(samples), 0, None, None, samples, batches, [None] * len(samples), problem.num_classes]
        api_class = getattr(module, class_name)
        four = (arguments, "cpu", data, model) if isinstance(method, FedGD) else (data, model, "cpu", arguments)
        points: list[Any] = []

        def sampled(t: int, *_: Any) -> list[int]:
            """The round's clients; before a round the model is the one after the last."""
            points.append(torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone())
            arguments.client_num_per_round = len(rounds[t])
            if module_name not in (
                "scaffold.scaffold_trainer",
                "feddyn.feddyn_trainer",
            ):  # these find clients by number
                api.client_list = clients[: len(rounds[t])]
            return list(rounds[t])

        with patch.object(module, "mlops", MagicMock(), create=True):
            api = api_class(*four)
            clients, api._client_sampling, api.client_sampling = api.client_list, sampled, sampled
            api._local_test_on_all_clients = api.local_test_on_all_clients = api.test = lambda *_: None
            api.train()
        points = [*points[1:], torch.nn.utils.parameters_to_vector(model.parameters()).detach()]
        # FedNova's weights are float32, and so is FedDyn's server memory
        return [point.float() for point in points] if isinstance(method, FedNova | FedDyn) else points

    return {"run": run, "loss": "cross_entropy"}


def _names(method: Method) -> tuple[str, str, str, dict[str, Any]]:
    """FedML's module and class, its name of the optimiser, and the method's own parameters."""
    match method:
        case FedGD():
            return "fedavg.fedavg_api", "FedAvgAPI", "FedAvg", {}
        case FedProx(mu=mu):
            return "fedprox.fedprox_trainer", "FedProxTrainer", "FedProx", {"fedprox_mu": float(mu)}
        case Scaffold(server_stepsize=stepsize, option=2):
            return "scaffold.scaffold_trainer", "ScaffoldTrainer", "SCAFFOLD", {"server_lr": float(stepsize)}
        case FedDyn(alpha=alpha):
            return "feddyn.feddyn_trainer", "FedDynTrainer", "FedDyn", {"feddyn_alpha": float(alpha)}
        case FedNova():
            plain = {"gmf": 0, "mu": 0, "momentum": 0, "dampening": 0, "wd": 0, "nesterov": False}
            return "fednova.fednova_trainer", "FedNovaTrainer", "FedNova", plain
    raise not_shipped(method, "FedML", "FedGD, FedProx, Scaffold (option 2), FedDyn or FedNova")
