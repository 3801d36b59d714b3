"""The frameworks' classes with one fault repaired each: if the check then passes, there was no other fault."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import Any
from unittest.mock import patch


@contextmanager
def pfl_sign() -> Iterator[None]:
    """pfl stores minus the gradients, so they are to be subtracted the other way round."""
    from pfl.internal.bridge.pytorch.scaffold import PyTorchSCAFFOLDBridge

    steps = PyTorchSCAFFOLDBridge.do_control_variate_sgd

    def exchanged(model: Any, user: Any, params: Any, local_c: Any, server_c: Any) -> None:
        steps(model, user, params, local_c=server_c, server_c=local_c)

    with patch.object(PyTorchSCAFFOLDBridge, "do_control_variate_sgd", staticmethod(exchanged)):
        yield


@contextmanager
def pfl_storage_copies() -> Iterator[None]:
    """pfl's storage in memory keeps what it is given; here it keeps a copy."""
    from pfl.data.user_state import InMemoryUserStateStorage

    save = InMemoryUserStateStorage.save_state

    def save_copy(self: Any, state: Any, user_id: str, key: Any = None) -> None:
        save(self, state.apply_elementwise(lambda tensor: tensor.clone()), user_id, key)

    with patch.object(InMemoryUserStateStorage, "save_state", save_copy):
        yield


@contextmanager
def fedlab_regulariser() -> Iterator[None]:
    """FedLab's regulariser is made of copies of the parameters; here of the parameters themselves."""
    import torch
    from fedlab.contrib.algorithm.feddyn import FedDynSerialClientTrainer as Trainer

    train = Trainer.train

    def parameters(self: Any) -> torch.Tensor:
        return torch.cat([parameter.view(-1) for parameter in self._model.parameters()])

    def train_and_detach(self: Any, id: int, model_parameters: Any, train_loader: Any) -> list[torch.Tensor]:
        (answer,) = train(self, id, model_parameters, train_loader)
        self.L[id] = self.L[id].detach()
        return [answer.detach().clone()]

    with (
        patch.object(Trainer, "model_parameters", property(parameters)),
        patch.object(Trainer, "train", train_and_detach),
    ):
        yield


@contextmanager
def fedlab_server_memory() -> Iterator[None]:
    """FedLab subtracts the server's model once from the sum of the clients'; here once from each."""
    from fedlab.contrib.algorithm.feddyn import FedDynServerHandler as Server

    update = Server.global_update

    def subtracted_from_each(self: Any, buffer: list[Any]) -> None:
        self.h = self.h + self.alpha / self.num_clients * (len(buffer) - 1) * self.model_parameters
        update(self, buffer)

    with patch.object(Server, "global_update", subtracted_from_each):
        yield


@contextmanager
def pfllib_norm() -> Iterator[None]:
    """PFLlib's FedDyn adds the norm to the loss; here its square."""
    import torch

    with patch.object(torch, "norm", lambda vector, order: vector.square().sum()):
        yield


@contextmanager
def nvflare_control_variate() -> Iterator[None]:
    """FLARE adds the mean of the participants' changes to c; here their sum over the number of all clients."""
    from nvflare.app_common.workflows.scaffold import Scaffold

    aggregate = Scaffold.aggregate

    def scaled(self: Any, results: Any, aggregate_fn: Any = None) -> Any:
        found = aggregate(self, results, aggregate_fn=aggregate_fn)
        changes = found.meta["scaffold_c_diff"]
        found.meta["scaffold_c_diff"] = {k: len(results) / len(self.clients) * value for k, value in changes.items()}
        return found

    with patch.object(Scaffold, "aggregate", scaled):
        yield


@contextmanager
def flbench_control_variates() -> Iterator[None]:
    """FL-bench's server sends c_local back as it was; here with the client's change."""
    from src.server.scaffold import SCAFFOLDServer

    aggregate = SCAFFOLDServer.aggregate_client_updates

    def stored(self: Any, packages: Any) -> None:
        aggregate(self, packages)
        for k, package in packages.items():
            self.c_local[k] = [c + change for c, change in zip(self.c_local[k], package["c_delta"], strict=True)]

    with patch.object(SCAFFOLDServer, "aggregate_client_updates", stored):
        yield


@contextmanager
def fedadmm_changes() -> Iterator[None]:
    """The authors' clients send their change from the server's model; here from their own last answer."""
    from update import LocalUpdate

    answer = LocalUpdate.update_weights

    def from_the_last(self: Any, global_round: int, theta: Any) -> Any:
        last = deepcopy(self.model.state_dict())
        loss, change = answer(self, global_round, theta)
        return loss, {name: part + theta[name] - last[name] for name, part in change.items()}

    with patch.object(LocalUpdate, "update_weights", from_the_last):
        yield


@contextmanager
def fedml_copies() -> Iterator[None]:
    """FedML's trainers return the live state_dict as the server's first model; here a copy."""
    from fedml.ml.trainer import feddyn_trainer, fedprox_trainer, my_model_trainer_classification, scaffold_trainer

    classes = (
        feddyn_trainer.FedDynModelTrainer,
        fedprox_trainer.FedProxModelTrainer,
        my_model_trainer_classification.ModelTrainerCLS,
        scaffold_trainer.ScaffoldModelTrainer,
    )
    with ExitStack() as stack:
        for one in classes:
            stack.enter_context(patch.object(one, "get_model_params", lambda self: deepcopy(self.model.state_dict())))
        yield
