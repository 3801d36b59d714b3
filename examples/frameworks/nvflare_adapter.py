"""Adapter for NVIDIA FLARE's FedAvg, FedProx, FedOpt and SCAFFOLD: its controllers, and its helpers for clients."""

from typing import Any

import fedconvex as fc
from fedconvex.conformance import adapters

TESTED = "2.9.0"


def wrap(method: adapters.Method, local_solver: adapters.LocalSolver | None = None) -> adapters.ImplementationFunctions:
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
    adapters.require("nvflare", TESTED)
    from nvflare.apis.fl_context import FLContext
    from nvflare.app_common.workflows import fedavg, scaffold
    from nvflare.app_opt.pt import fedopt_ctl, fedproxloss
    from nvflare.app_opt.pt.scaffold import PTScaffoldHelper

    names: dict[Any, Any] = {fc.FedGD: (fedavg.FedAvg, {}), fc.FedProx: (fedavg.FedAvg, {"fedprox_mu": "mu"})}
    names[fc.FedAvgM], names[fc.Scaffold] = (fedopt_ctl.FedOpt, {"momentum": "momentum"}), (scaffold.Scaffold, {})
    class_, own = adapters.names_of(method, "FLARE", names, option=2, server_stepsize=1)
    steps = adapters.Steps.of(method, local_solver)
    corrects, sends_changes = class_ is scaffold.Scaffold, "momentum" in own

    # the controller without a network: clients train when the model is sent to them
    without_network = {
        "sample_clients": lambda self, num_clients=None: self.active,
        "send_model": lambda self, data, callback, **_: [callback(self.clients[k](data)) for k in self.active],
        "send_model_and_wait": lambda self, data, **_: [self.clients[k](data) for k in self.active],
        "load_model": lambda self: fedavg.FLModel(params={"weight": self.start}),
        "save_model": lambda self, model: setattr(self, "model", model),
        "build_component": lambda self, config: config["path"](**config["args"]),
        **dict.fromkeys(("info", "event", "fire_event_with_data", "get_num_standing_tasks"), lambda *_, **__: None),
    }

    def client(k: int, x0: Any, A: Any, b: Any) -> Any:
        module, helper = adapters.LinearModule(x0), PTScaffoldHelper()
        helper.init(module)

        def train(sent: Any) -> Any:
            start, mu = adapters.LinearModule(sent.params["weight"][0]), own.get("fedprox_mu", 0)
            module.load_state_dict(start.state_dict())
            meta: dict[str, Any] = {"NUM_STEPS_CURRENT_ROUND": 1 if method.plain else len(b), "client_name": str(k)}
            pull = fedproxloss.PTFedProxLoss(mu) if mu else lambda *_: 0
            if corrects:
                helper.load_global_controls(sent.meta["scaffold_c_global"])
            controls = helper.get_params()
            after = (lambda: helper.model_update(module, steps.stepsize, *controls)) if corrects else lambda: None
            adapters.gradient_steps(
                module, lambda: adapters.half_squares(module(A), b) + pull(module, start), steps, after
            )
            if corrects:
                helper.terms_update(module, steps.stepsize, *controls, start)
                meta["scaffold_c_diff"] = helper.get_delta_controls()
            answer = (module.weight - start.weight if sends_changes else module.weight).detach().numpy().copy()
            return fedavg.FLModel(params_type="DIFF" if sends_changes else "FULL", params={"weight": answer}, meta=meta)

        return train

    def init(problem: Any, x0: Any) -> Any:
        model, torch = adapters.LinearModule(x0), fedopt_ctl.torch
        sgd = {"path": torch.optim.SGD, "args": {"lr": 1.0, **own}}
        steady = {"path": torch.optim.lr_scheduler.ConstantLR, "args": {"factor": 1.0}}
        fedopt = {"source_model": model, "optimizer_args": sgd, "lr_scheduler_args": steady, "device": "cpu"}
        server: Any = type("InProcess", (class_,), without_network)(num_rounds=0, **(fedopt if sends_changes else own))
        server.start, server.fl_ctx, server.persistor = adapters.point(model)[None], FLContext(), None
        server.clients = [client(k, x0, *pair) for k, pair in enumerate(adapters.samples(problem))]
        server.active, server.model, server._global_ctrl_weights = [], server.load_model(), {"weight": 0 * server.start}
        server.run()
        server.num_rounds, server.model = 1, server.load_model()
        return server

    def round(problem: Any, server: Any, active: Any) -> Any:
        server.active = list(active)
        (fedavg.FedAvg if sends_changes else class_).run(server)
        return server

    return {"init": init, "round": round, "server_model": lambda server: server.model.params["weight"][0]}
