"""Adapter for NVIDIA FLARE's FedAvg, FedProx, FedOpt and SCAFFOLD: its controllers, and its helpers for clients."""

import copy
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, not_shipped, require
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.fedavgm import FedAvgM
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "2.9.0"


def wrap(method: Method, local_solver: LocalSolver | None = None) -> ImplementationFunctions:
    """FLARE's implementation of FedGD (its FedAvg), FedProx, FedAvgM (its FedOpt with SGD) or Scaffold (option 2).

    FLARE weights clients by a number that they report, of local steps: here that of their samples, as with mini-batches
    of one size; and equal numbers where the method averages plainly.

    Args:
        method: its parameters are passed to FLARE's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: FLARE is not installed.
        InvalidInput: a method that FLARE does not ship, or another local solver.
    """
    require("nvflare", TESTED)
    import torch
    from nvflare.apis.fl_context import FLContext
    from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
    from nvflare.app_common.workflows.fedavg import FedAvg
    from nvflare.app_common.workflows.scaffold import Scaffold as ScaffoldController
    from nvflare.app_opt.pt.fedopt_ctl import FedOpt
    from nvflare.app_opt.pt.fedproxloss import PTFedProxLoss
    from nvflare.app_opt.pt.scaffold import PTScaffoldHelper

    from fedconvex.conformance.adapters.linear_model import LinearModule, half_squares, samples

    steps, mu = Steps.of(method, local_solver), float(getattr(method, "mu", 0))
    classes = {FedGD: FedAvg, FedProx: FedAvg, FedAvgM: FedOpt, Scaffold: ScaffoldController}
    if type(method) not in classes or getattr(method, "option", 2) != 2 or getattr(method, "server_stepsize", 1) != 1:
        raise not_shipped(method, "FLARE", "FedGD, FedProx, FedAvgM or Scaffold (option 2), with server_stepsize=1")
    class_, settings = classes[type(method)], dict[str, Any]()
    if isinstance(method, FedAvgM):
        sgd = {"path": "torch.optim.SGD", "args": {"lr": 1.0, "momentum": float(method.momentum)}}
        steady = {"path": "torch.optim.lr_scheduler.ConstantLR", "args": {"factor": 1.0}}
        settings = {"optimizer_args": sgd, "lr_scheduler_args": steady, "device": "cpu"}
    if isinstance(method, FedProx):
        settings = {"fedprox_mu": mu}

    class InProcess(class_):  # type: ignore[misc, valid-type]
        """The controller without a network: clients train when the model is sent to them."""

        def sample_clients(self, num_clients: int | None = None) -> list[int]:
            return self.active  # type: ignore[no-any-return]

        def send_model(self, data: Any, callback: Any, **_: Any) -> None:
            for k in self.active:
                callback(self.clients[k](data))

        def send_model_and_wait(self, data: Any, **_: Any) -> list[Any]:
            return [self.clients[k](data) for k in self.active]

        def get_num_standing_tasks(self) -> int:
            return 0

        def load_model(self) -> Any:
            return FLModel(params={"weight": self.start})

        def save_model(self, model: Any) -> None:
            self.model = model

        def build_component(self, config: Any) -> Any:
            module, _, name = config["path"].rpartition(".")
            return getattr(__import__(module, fromlist=[name]), name)(**config["args"])

        def _nothing(self, *_: Any, **__: Any) -> None:
            pass

        info = event = fire_event_with_data = _nothing

    def client(k: int, x0: Any, A: Any, b: Any) -> Any:
        module, helper = LinearModule(x0), PTScaffoldHelper()
        helper.init(module)

        def train(sent: Any) -> Any:
            with torch.no_grad():
                module.weight.copy_(torch.as_tensor(sent.params["weight"]))
            start, optimiser = copy.deepcopy(module), torch.optim.SGD(module.parameters(), lr=steps.stepsize)
            if "scaffold_c_global" in sent.meta:
                helper.load_global_controls(sent.meta["scaffold_c_global"])
            controls = helper.get_params()
            for _ in range(steps.epochs):
                optimiser.zero_grad()
                loss = half_squares(module(A), b) + (PTFedProxLoss(mu)(module, start) if mu else 0)
                loss.backward()
                optimiser.step()
                if class_ is ScaffoldController:
                    helper.model_update(module, steps.stepsize, *controls)
            meta = {"NUM_STEPS_CURRENT_ROUND": 1 if method.plain else len(b), "client_name": str(k)}
            if class_ is ScaffoldController:
                helper.terms_update(module, steps.stepsize, *controls, start)
                meta["scaffold_c_diff"] = helper.get_delta_controls()
            change = module.weight - start.weight if class_ is FedOpt else module.weight
            kind = ParamsType.DIFF if class_ is FedOpt else ParamsType.FULL
            return FLModel(params_type=kind, params={"weight": change.detach().numpy().copy()}, meta=meta)

        return train

    def init(problem: LeastSquares, x0: Any) -> Any:
        start = LinearModule(x0)
        source = {"source_model": start} if class_ is FedOpt else {}
        server = InProcess(num_rounds=0, **source, **copy.deepcopy(settings))
        server.start, server.fl_ctx, server.persistor = start.weight.detach().numpy().copy(), FLContext(), None
        server.clients, server.active = [client(k, x0, *pair) for k, pair in enumerate(samples(problem))], []
        if class_ is ScaffoldController:
            server.model, server._global_ctrl_weights = server.load_model(), {"weight": 0 * server.start}
        server.run()
        server.num_rounds, server.model = 1, server.load_model()
        return server

    def round(problem: LeastSquares, server: Any, active: Any) -> Any:
        server.active = list(active)
        (FedAvg if class_ is FedOpt else class_).run(server)
        return server

    def server_model(server: Any) -> Array:
        return torch.as_tensor(server.model.params["weight"]).numpy().ravel().copy()

    return {"init": init, "round": round, "server_model": server_model}
