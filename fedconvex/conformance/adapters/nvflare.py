"""Adapter for NVIDIA FLARE's FedAvg, FedProx, FedOpt and SCAFFOLD: its controllers, and its helpers for clients."""

import copy
from functools import partial
from pydoc import locate
from typing import Any, cast

import fedconvex as fc
from fedconvex.conformance.adapters import ImplementationFunctions, Steps, names_of, require
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method

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

    from fedconvex.conformance.adapters.linear_model import LinearModule, gradient_steps, half_squares, samples

    names: dict[Any, Any] = {fc.FedGD: (FedAvg, {}), fc.FedProx: (FedAvg, {"fedprox_mu": "mu"})}
    names[fc.FedAvgM], names[fc.Scaffold] = (FedOpt, {"momentum": "momentum"}), (ScaffoldController, {})
    class_, own = names_of(method, "FLARE", names, option=2, server_stepsize=1)
    steps, mu = Steps.of(method, local_solver), own.get("fedprox_mu", 0)
    if class_ is FedOpt:
        sgd = {"path": "torch.optim.SGD", "args": {"lr": 1.0, **own}}
        steady = {"path": "torch.optim.lr_scheduler.ConstantLR", "args": {"factor": 1.0}}
        own = {"optimizer_args": sgd, "lr_scheduler_args": steady, "device": "cpu"}

    # the controller without a network: clients train when the model is sent to them
    without_network = {
        "sample_clients": lambda self, num_clients=None: self.active,
        "send_model": lambda self, data, callback, **_: [callback(self.clients[k](data)) for k in self.active],
        "send_model_and_wait": lambda self, data, **_: [self.clients[k](data) for k in self.active],
        "load_model": lambda self: FLModel(params={"weight": self.start}),
        "save_model": lambda self, model: setattr(self, "model", model),
        "build_component": lambda self, config: cast(Any, locate(config["path"]))(**config["args"]),
        **dict.fromkeys(("info", "event", "fire_event_with_data", "get_num_standing_tasks"), lambda *_, **__: None),
    }
    in_process: Any = type("InProcess", (class_,), without_network)

    def client(k: int, x0: Any, A: Any, b: Any) -> Any:
        module, helper = LinearModule(x0), PTScaffoldHelper()
        helper.init(module)

        def train(sent: Any) -> Any:
            module.load_state_dict({"weight": torch.as_tensor(sent.params["weight"])})
            start = copy.deepcopy(module)
            meta: dict[str, Any] = {"NUM_STEPS_CURRENT_ROUND": 1 if method.plain else len(b), "client_name": str(k)}
            if class_ is ScaffoldController:
                helper.load_global_controls(sent.meta["scaffold_c_global"])
                controls = helper.get_params()
                corrected = partial(helper.model_update, module, steps.stepsize, *controls)
                gradient_steps(module, lambda: half_squares(module(A), b), steps, corrected)
                helper.terms_update(module, steps.stepsize, *controls, start)
                meta["scaffold_c_diff"] = helper.get_delta_controls()
            else:
                pull = PTFedProxLoss(mu) if mu else lambda module, start: 0
                gradient_steps(module, lambda: half_squares(module(A), b) + pull(module, start), steps)
            full, change = (ParamsType.FULL, module.weight), (ParamsType.DIFF, module.weight - start.weight)
            kind, answer = change if class_ is FedOpt else full
            return FLModel(params_type=kind, params={"weight": answer.detach().numpy().copy()}, meta=meta)

        return train

    def init(problem: Any, x0: Any) -> Any:
        start = LinearModule(x0)
        source = {"source_model": start, **copy.deepcopy(own)} if class_ is FedOpt else own
        server = in_process(num_rounds=0, **source)
        server.start, server.fl_ctx, server.persistor = start.weight.detach().numpy().copy(), FLContext(), None
        server.clients, server.active = [client(k, x0, *pair) for k, pair in enumerate(samples(problem))], []
        if class_ is ScaffoldController:
            server.model, server._global_ctrl_weights = server.load_model(), {"weight": 0 * server.start}
        server.run()
        server.num_rounds, server.model = 1, server.load_model()
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        server.active = list(active)
        (FedAvg if class_ is FedOpt else class_).run(server)
        return server

    def server_model(server: Any) -> Any:
        return torch.as_tensor(server.model.params["weight"]).numpy().ravel().copy()

    return {"init": init, "round": round, "server_model": server_model}
