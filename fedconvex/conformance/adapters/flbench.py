"""Adapter for FL-bench's FedAvg, FedAvgM, FedProx, SCAFFOLD, FedDyn, FedADMM, FedAdam, FedYogi and FedAdagrad."""

from collections import OrderedDict
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, not_shipped, require_module
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.fedadagrad import FedAdagrad
from fedconvex.methods.fedadam import FedAdam
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.fedavgm import FedAvgM
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedyogi import FedYogi
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "06e658b"
SHIPPED = "FedGD, FedAvgM, FedProx, Scaffold (option 2), FedDyn, FedADMM, FedAdam, FedYogi or FedAdagrad"


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

    module, class_, own = _names(method)
    server_class, steps = getattr(import_module(f"src.server.{module}"), class_), Steps.of(method, local_solver)
    test = SimpleNamespace(client=SimpleNamespace(train=False, val=False, test=False, finetune_epoch=0))
    settings = {"use_cuda": False, "buffers": "global", "batch_size": 1000, "local_epoch": steps.epochs, "test": test}
    common = SimpleNamespace(**settings, reset_optimizer_on_global_epoch=True, client_side_evaluation=False)
    optimizer = SimpleNamespace(lr=steps.stepsize)
    arguments = SimpleNamespace(common=common, optimizer=optimizer, **{module: SimpleNamespace(**own)})

    def init(problem: LeastSquares, x0: Any) -> Any:
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

    def round(problem: LeastSquares, server: Any, active: Any) -> Any:
        server.selected_clients = list(active)
        server.train_one_round()
        return server

    def server_model(server: Any) -> Array:
        w = torch.cat([p.flatten() for p in server.public_model_params.values()])
        return (w.float() if isinstance(method, FedDyn) else w).numpy().copy()  # FedDyn's memory is float32

    return {"init": init, "round": round, "server_model": server_model}


class _Samples(list[Any]):
    """FL-bench's data sets have two modes."""

    def train(self) -> None:
        """The mode makes no difference here."""

    eval = train


def _names(method: Method) -> tuple[str, str, dict[str, Any]]:
    """FL-bench's module and class of the server, and the method's own parameters."""
    match method:
        case FedGD():
            return "fedavg", "FedAvgServer", {}
        case FedProx(mu=mu):
            return "fedprox", "FedProxServer", {"mu": float(mu)}
        case FedAvgM(momentum=momentum, server_stepsize=1):
            return "fedavgm", "FedAvgMServer", {"server_momentum": float(momentum)}
        case Scaffold(server_stepsize=stepsize, option=2):
            return "scaffold", "SCAFFOLDServer", {"global_lr": float(stepsize)}
        case FedDyn(alpha=alpha):
            return "feddyn", "FedDynServer", {"alpha": float(alpha), "max_grad_norm": float("inf")}
        case FedADMM(rho=rho, server_stepsize=float() | int() as stepsize):
            rest = {"eta": float(stepsize), "fixed": 1, "target_round": float("inf")}
            return "fedadmm", "FedADMMServer", {"rho": float(rho), **rest}
        case FedAdam() | FedYogi() | FedAdagrad():
            kind = type(method).__name__.removeprefix("Fed").lower()
            betas = {"beta1": float(method.beta1), "beta2": float(getattr(method, "beta2", 0))}
            rest = {"server_lr": float(method.server_stepsize), "tau": float(method.tau)}
            return "fedopt", "FedOptServer", {"type": kind, **betas, **rest}
    raise not_shipped(method, "FL-bench", SHIPPED)
