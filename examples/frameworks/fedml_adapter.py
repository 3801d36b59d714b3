"""Adapter for FedML's FedAvg, FedProx, SCAFFOLD, FedDyn and FedNova: the trainers of its simulation in one process."""

import logging
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

import fedconvex as fc
from fedconvex.conformance.adapters import LocalSolver, Method, Steps, WholeRunFunctions, names_of, require

TESTED = "0.9.6"
# FedML's module and class, its name of the optimiser, and its names of the parameters
NAMES: dict[type, tuple[Any, ...]] = {
    fc.FedGD: ("fedavg.fedavg_api", "FedAvgAPI", "FedAvg", {}),
    fc.FedProx: ("fedprox.fedprox_trainer", "FedProxTrainer", "FedProx", {"fedprox_mu": "mu"}),
    fc.Scaffold: ("scaffold.scaffold_trainer", "ScaffoldTrainer", "SCAFFOLD", {"server_lr": "server_stepsize"}),
    fc.FedDyn: ("feddyn.feddyn_trainer", "FedDynTrainer", "FedDyn", {"feddyn_alpha": "alpha"}),
    fc.FedNova: ("fednova.fednova_trainer", "FedNovaTrainer", "FedNova", {}),
}


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
    module_name, class_name, optimizer, own = names_of(method, "FedML", NAMES, option=2)
    module, steps = import_module(f"fedml.simulation.sp.{module_name}"), Steps.of(method, local_solver)
    work = {"epochs": steps.epochs, "learning_rate": steps.stepsize, "client_optimizer": "sgd", "weight_decay": 0.0}
    fixed = {"dataset": "", "ci": 1, "enable_wandb": False, "frequency_of_the_test": 1000}
    fixed |= {
        "initialize_all_clients": True,
        **dict.fromkeys(("gmf", "mu", "momentum", "dampening", "wd", "nesterov"), 0),
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
        four = (arguments, "cpu", data, model) if isinstance(method, fc.FedGD) else (data, model, "cpu", arguments)
        points: list[Any] = []

        def sampled(t: int, *_: Any) -> list[int]:
            """The round's clients; before a round the model is the one after the last."""
            points.append(torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone())
            arguments.client_num_per_round = len(rounds[t])
            if not isinstance(method, fc.Scaffold | fc.FedDyn):  # these find clients by number
                api.client_list = clients[: len(rounds[t])]
            return list(rounds[t])

        with patch.object(module, "mlops", MagicMock(), create=True):
            api = api_class(*four)
            clients, api._client_sampling, api.client_sampling = api.client_list, sampled, sampled
            api._local_test_on_all_clients = api.local_test_on_all_clients = api.test = lambda *_: None
            api.train()
        points = [*points[1:], torch.nn.utils.parameters_to_vector(model.parameters()).detach()]
        # FedNova's weights are float32, and so is FedDyn's server memory
        return [point.float() for point in points] if isinstance(method, fc.FedNova | fc.FedDyn) else points

    return {"run": run, "loss": "cross_entropy"}
