"""Adapter for pfl-research's FedAvg, FedProx and SCAFFOLD: its algorithms, PyTorch model and simulated backend."""

import copy
from dataclasses import dataclass
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance import adapters
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.quadratics import LeastSquares

TESTED = "0.6.0"


@dataclass
class _State:
    """The objects that pfl changes in a round."""

    model: Any
    algorithm: Any
    parameters: dict[str, Any]  # of the algorithm; they hold SCAFFOLD's client memory
    rounds: int = 0


def wrap(method: Method, local_solver: LocalSolver | None = None) -> adapters.ImplementationFunctions:
    """pfl's implementation of FedGD (its FederatedAveraging), FedProx or Scaffold.

    The average of FedGD and FedProx is weighted by `WeightByDatapoints`; that of SCAFFOLD, whose paper has no weights,
    by `WeightByUser`. pfl stores the clients' differences in float32 whatever the model's precision; so the adapter
    returns the server's point as float32.

    Args:
        method: its parameters are passed to pfl's classes.
        local_solver: GradientDescent; needed if the method has no local steps of its own.

    Raises:
        MissingFramework: pfl is not installed.
        InvalidInput: a method that pfl does not ship, or another local solver.
    """
    adapters.require("pfl", TESTED)
    import torch
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.aggregate.weighting import WeightByDatapoints, WeightByUser
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.pytorch import PyTorchTensorDataset
    from pfl.hyperparam.base import NNTrainHyperParams
    from pfl.model.pytorch import PyTorchModel

    steps = adapters.Steps.of(method, local_solver)
    training = NNTrainHyperParams(
        local_num_epochs=steps.epochs, local_learning_rate=steps.stepsize, local_batch_size=None
    )
    algorithm_class, parameters_class, own_parameters = _classes(method)
    server_stepsize = float(method.server_stepsize) if isinstance(method, Scaffold) else 1.0
    weighting = WeightByUser() if method.plain else WeightByDatapoints()

    def init(problem: LeastSquares, x0: Any) -> _State:
        module = adapters.LinearModule(x0)
        optimizer = torch.optim.SGD(module.parameters(), lr=server_stepsize)
        model = PyTorchModel(module, torch.optim.SGD, optimizer)
        return _State(model, algorithm_class(), own_parameters(problem.num_clients))

    def round(problem: LeastSquares, state: _State, active: Any) -> _State:
        state = copy.deepcopy(state)
        state.rounds += 1
        members = [int(k) for k in active]
        clients = [PyTorchTensorDataset(data, user_id=str(k)) for k, data in enumerate(adapters.samples(problem))]
        feed = FederatedDataset(clients.__getitem__, iter(members).__next__)
        parameters = parameters_class(
            central_num_iterations=state.rounds,  # pfl counts from the run's start: one round more
            evaluation_frequency=1,
            train_cohort_size=len(members),
            val_cohort_size=0,
            **state.parameters,
        )
        backend = SimulatedBackend(training_data=feed, val_data=feed, postprocessors=[weighting])
        state.algorithm.run(parameters, backend, state.model, training, send_metrics_to_platform=False)
        return state

    def server_model(state: _State) -> Array:
        return adapters.point(state.model.pytorch_model).astype("float32")

    return {"init": init, "round": round, "server_model": server_model}


def _classes(method: Method) -> tuple[Any, Any, Any]:
    """pfl's classes of the algorithm and of its parameters; and the algorithm's own parameters as a function of m."""
    from pfl.algorithm import base, federated_averaging, fedprox, scaffold
    from pfl.data.user_state import InMemoryUserStateStorage

    match method:
        case FedGD():
            return federated_averaging.FederatedAveraging, base.NNAlgorithmParams, lambda m: {}
        case FedProx(mu=mu):
            return fedprox.FedProx, fedprox.FedProxParams, lambda m: {"mu": float(mu)}
        case Scaffold(option=option):
            return (
                scaffold.SCAFFOLD,
                scaffold.SCAFFOLDParams,
                lambda m: {
                    "population": m,
                    "use_gradient_as_control_variate": option == 1,
                    "user_state_storage": InMemoryUserStateStorage(),
                },
            )
    raise adapters.not_shipped(method, "pfl", "FedGD, FedProx or Scaffold")
