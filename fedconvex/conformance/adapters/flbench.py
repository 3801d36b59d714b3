"""Adapter for FL-bench's FedAvg, FedAvgM, FedProx, SCAFFOLD, FedDyn, FedADMM, FedAdam, FedYogi and FedAdagrad."""

from collections import OrderedDict
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import fedconvex as fc
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, names_of, require_module
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method

TESTED = "06e658b"
OPTIMISER = {"beta1": "beta1", "beta2": "beta2", "server_lr": "server_stepsize", "tau": "tau"}
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


def wrap(method: Method, local_solver: LocalSolver | None = None) -> ImplementationFunctions:
    """FL-bench's implementation of one of these methods, with its serial trainer; FedDyn without its clipping.

    Args:
        method: its parameters are passed to FL-bench's classes; FedADMM needs its server_stepsize.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: FL-bench's folder is not on the Python path.
        InvalidInput: a method that FL-bench does not ship, or another local solver.
    """
    require_module("src.server.fedavg", "FL-bench", TESTED, "put its clone on PYTHONPATH")
    import torch
    from src.server.fedavg import FedAvgServer
    from src.utils.constants import MODE
    from src.utils.trainer import FLbenchTrainer

    from fedconvex.conformance.adapters.linear_model import LinearModule, half_squares, samples

    only = {"option": 2, **({"server_stepsize": 1} if isinstance(method, fc.FedAvgM) else {})}
    module, class_, own = names_of(method, "FL-bench", NAMES, **only)
    kind, never = type(method).__name__.removeprefix("Fed").lower(), float("inf")
    own |= {"type": kind, "fixed": 1, "target_round": never, "max_grad_norm": never}
    server_class, steps = getattr(import_module(f"src.server.{module}"), class_), Steps.of(method, local_solver)
    test = SimpleNamespace(client=SimpleNamespace(train=False, val=False, test=False, finetune_epoch=0))
    settings = {"use_cuda": False, "buffers": "global", "batch_size": 1000, "local_epoch": steps.epochs, "test": test}
    common = SimpleNamespace(**settings, reset_optimizer_on_global_epoch=True, client_side_evaluation=False)
    optimizer = SimpleNamespace(lr=steps.stepsize)
    arguments = SimpleNamespace(common=common, optimizer=optimizer, **{module: SimpleNamespace(**own)})

    def init(problem: Any, x0: Any) -> Any:
        m, data, model, cpu = problem.num_clients, samples(problem), LinearModule(x0), torch.device("cpu")

        def prepare(server: Any, *_: Any) -> None:  # what FL-bench reads from its files
            server.args, server.device, server.model, server.verbose = arguments, cpu, model, False
            server.client_num, server.train_clients, server.current_epoch = m, list(range(m)), 0
            server.public_model_params = OrderedDict((k, p.data.clone()) for k, p in model.named_parameters())
            server.client_local_epoches = [steps.epochs] * m
            for name in ("client_optimizer_states", "client_lr_scheduler_states", "client_metrics"):
                setattr(server, name, {k: {} for k in range(m)})
            server.clients_personal_model_params = {k: {} for k in range(m)}

        with patch.object(FedAvgServer, "__init__", prepare):
            server = server_class(arguments)
        pairs = _Samples((row, target) for A, b in data for row, target in zip(A, b, strict=True))
        ends = [sum(len(b) for _, b in data[:k]) for k in range(m + 1)]
        indices = [{"train": list(range(ends[k], ends[k + 1])), "val": [], "test": []} for k in range(m)]
        sgd = partial(torch.optim.SGD, lr=steps.stepsize)
        parts = {"model": LinearModule(x0), "optimizer_cls": sgd, "lr_scheduler_cls": None, "args": arguments}
        parts |= {"dataset": pairs, "data_indices": indices, "device": cpu, "return_diff": server.return_diff}
        server.trainer = FLbenchTrainer(server, server.client_cls, MODE.SERIAL, 0, parts)
        server.trainer.worker.criterion = half_squares
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        server.selected_clients = list(active)
        server.train_one_round()
        return server

    def server_model(server: Any) -> Any:
        w = torch.cat([p.flatten() for p in server.public_model_params.values()])
        return (w.float() if isinstance(method, fc.FedDyn) else w).numpy().copy()  # FedDyn's memory is float32

    return {"init": init, "round": round, "server_model": server_model}


class _Samples(list[Any]):
    """FL-bench's data sets have two modes."""

    def train(self) -> None:
        """The mode makes no difference here."""

    eval = train
