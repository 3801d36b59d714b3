"""Adapter for FedLab's FedAvg, FedProx, SCAFFOLD, FedDyn and FedNova: its server handlers, trainers and pipeline."""

import copy
from types import SimpleNamespace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance import adapters
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.averaging import FedGD, FedNova
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "1.3.0"


def wrap(
    method: Method, local_solver: LocalSolver | None = None, option: str = "weighted_scale"
) -> adapters.ImplementationFunctions:
    """FedLab's implementation of FedGD (its FedAvg), FedProx, Scaffold, FedDyn or FedNova.

    FedLab averages with float32 weights whatever the model's precision; so the adapter returns the server's point as
    float32.

    Args:
        method: its parameters are passed to FedLab's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.
        option: of FedLab's FedNova: "weighted_scale", its default, "uniform" or "weighted_com".

    Raises:
        MissingFramework: FedLab is not installed.
        InvalidInput: a method that FedLab does not ship, or another local solver.
    """
    adapters.require("fedlab", TESTED)
    from fedlab.core.standalone import StandalonePipeline
    from fedlab.utils import Logger

    handler, trainer_class, server_settings, client_settings = _classes(method, option)
    steps = adapters.Steps.of(method, local_solver)

    def init(problem: LeastSquares, x0: Any) -> Any:
        model, data, logger = adapters.LinearModule(x0), adapters.samples(problem), Logger("fedlab")
        server = handler(model, global_round=0, sample_ratio=1.0, logger=logger)
        trainer = trainer_class(model, num_clients=problem.num_clients, logger=logger)
        if server_settings:
            server.setup_optim(*server_settings)
        trainer.setup_dataset(SimpleNamespace(get_dataloader=lambda k, batch_size: [data[k]]))
        trainer.setup_optim(steps.epochs, None, steps.stepsize, *client_settings)
        trainer.criterion = adapters.half_squares
        return server, trainer

    def round(problem: LeastSquares, state: Any, active: Any) -> Any:
        server, trainer = copy.deepcopy(state)
        members = [int(k) for k in active]
        server.sample_clients = lambda: members
        server.sample_ratio = (
            len(members) + 0.5
        ) / problem.num_clients  # FedLab truncates ratio · m to an integer; + 0.5 makes it K
        server.global_round = server.round + 1
        pipeline = StandalonePipeline(server, trainer)
        pipeline.evaluate = lambda: None
        pipeline.main()
        return server, trainer

    def server_model(state: Any) -> Array:
        return adapters.point(state[0].model).astype("float32")

    return {"init": init, "round": round, "server_model": server_model}


def _classes(method: Method, option: str) -> tuple[Any, Any, tuple[Any, ...], tuple[float, ...]]:
    """FedLab's server and client classes, and the arguments of each beyond epochs and stepsize."""
    from fedlab.contrib.algorithm import fedavg, feddyn, fednova, fedprox, scaffold

    match method:
        case FedGD():
            return fedavg.FedAvgServerHandler, fedavg.FedAvgSerialClientTrainer, (), ()
        case FedProx(mu=mu):
            return fedprox.FedProxServerHandler, fedprox.FedProxSerialClientTrainer, (), (float(mu),)
        case Scaffold(server_stepsize=stepsize, option=2):
            return scaffold.ScaffoldServerHandler, scaffold.ScaffoldSerialClientTrainer, (float(stepsize),), ()
        case FedDyn(alpha=alpha):
            return feddyn.FedDynServerHandler, feddyn.FedDynSerialClientTrainer, (float(alpha),), (float(alpha),)
        case FedNova():
            return fednova.FedNovaServerHandler, fednova.FedNovaSerialClientTrainer, (option,), ()
    raise adapters.not_shipped(method, "FedLab", "FedGD, FedProx, Scaffold (option 2), FedDyn or FedNova")
