"""Adapter for FL-bench's FedAvg, FedAvgM, FedProx, SCAFFOLD, FedDyn, FedADMM, FedAdam, FedYogi and FedAdagrad."""

from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import patch

import fedconvex as fc
from fedconvex.conformance import adapters
from fedconvex.conformance.adapters import LocalSolver, Method, Steps

TESTED = "06e658b"
OPTIMISER = {"beta1": "beta1", "beta2": "beta2", "server_lr": "server_stepsize", "tau": "tau"}
STATES = ("client_optimizer_states", "client_lr_scheduler_states", "client_metrics", "clients_personal_model_params")
# FL-bench's module and class of the server, and its names of the parameters
NAMES: dict[type, tuple[Any, ...]] = {
    fc.FedGD: ("fedavg", "FedAvgServer", {}),
    fc.FedProx: ("fedprox", "FedProxServer", {"mu": "mu"}),
    fc.FedAvgM: ("fedavgm", "FedAvgMServer", {"server_momentum": "momentum"}),
    fc.Scaffold: ("scaffold", "SCAFFOLDServer", {"global_lr": "server_stepsize"}),
    fc.FedDyn: ("feddyn", "FedDynServer", {"alpha": "alpha"}),
    fc.FedADMM: ("fedadmm", "FedADMMServer", {"rho": "rho", "eta": "server_stepsize"}),
    **dict.fromkeys((fc.FedAdam, fc.FedYogi, fc.FedAdagrad), ("fedopt", "FedOptServer", OPTIMISER)),
}


def wrap(method: Method, local_solver: LocalSolver | None = None) -> adapters.ImplementationFunctions:
    """FL-bench's implementation of one of these methods, with its serial trainer; FedDyn without its clipping.

    Args:
        method: its parameters are passed to FL-bench's classes; FedADMM needs its server_stepsize.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: FL-bench's folder is not on the Python path.
        InvalidInput: a method that FL-bench does not ship, or another local solver.
    """
    adapters.require_module("src.server.fedavg", "FL-bench", TESTED, "put its clone on PYTHONPATH")
    import torch
    from src.server.fedavg import FedAvgServer
    from src.utils import constants, trainer

    only = {"option": 2, **({"server_stepsize": 1} if isinstance(method, fc.FedAvgM) else {})}
    module, class_, own = adapters.names_of(method, "FL-bench", NAMES, **only)
    own |= {"type": type(method).__name__.removeprefix("Fed").lower(), "fixed": 1}
    own |= dict.fromkeys(("target_round", "max_grad_norm"), float("inf"))
    server_class, steps = getattr(import_module(f"src.server.{module}"), class_), Steps.of(method, local_solver)
    client = {"train": False, "val": False, "test": False, "finetune_epoch": 0}
    common = {"use_cuda": False, "buffers": "global", "batch_size": 1000, "local_epoch": steps.epochs}
    common |= {"reset_optimizer_on_global_epoch": True, "client_side_evaluation": False, "test": {"client": client}}
    arguments = adapters.nested({"common": common, "optimizer": {"lr": steps.stepsize}, module: own})
    # FL-bench's data sets have two modes, which make no difference here
    two_modes: Any = type("Samples", (list,), dict.fromkeys(("train", "eval"), lambda self: None))

    def init(problem: Any, x0: Any) -> Any:
        m, data, model = problem.num_clients, adapters.samples(problem), adapters.LinearModule(x0)
        # what FL-bench reads from its files
        read = {"args": arguments, "device": "cpu", "model": model, "verbose": False, "client_num": m}
        read |= {"train_clients": list(range(m)), "client_local_epoches": [steps.epochs] * m, "current_epoch": 0}
        read |= {"public_model_params": {name: p.data.clone() for name, p in model.named_parameters()}}
        read |= {name: {k: {} for k in range(m)} for name in STATES}
        with patch.object(FedAvgServer, "__init__", lambda server, *_, **__: server.__dict__.update(read)):
            server = server_class(arguments)
        pairs = two_modes((row, target) for A, b in data for row, target in zip(A, b, strict=True))
        ends = [sum(len(b) for _, b in data[:k]) for k in range(m + 1)]
        indices = [{"train": list(range(ends[k], ends[k + 1])), "val": [], "test": []} for k in range(m)]
        parts = {"model": adapters.LinearModule(x0), "args": arguments, "dataset": pairs, "data_indices": indices}
        parts |= {"optimizer_cls": partial(torch.optim.SGD, lr=steps.stepsize), "lr_scheduler_cls": None}
        parts |= {"device": "cpu", "return_diff": server.return_diff}
        server.trainer = trainer.FLbenchTrainer(server, server.client_cls, constants.MODE.SERIAL, 0, parts)
        server.trainer.worker.criterion = adapters.half_squares
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        server.selected_clients = list(active)
        server.train_one_round()
        return server

    def server_model(server: Any) -> Any:
        w = server.public_model_params["weight"].flatten()
        return (w.float() if isinstance(method, fc.FedDyn) else w).numpy().copy()  # FedDyn's memory is float32

    return {"init": init, "round": round, "server_model": server_model}
