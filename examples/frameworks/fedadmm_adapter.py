"""Adapter for the program that the authors of FedADMM published (Gong, Li and Freris 2022): all of it runs."""

import io
import os
import runpy
from contextlib import ExitStack, redirect_stdout, suppress
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np

import fedconvex as fc
from fedconvex.conformance import adapters

TESTED = "1efef57"
NAMES: dict[type, tuple[Any, ...]] = {fc.FedADMM: ({"rho": "rho", "eta": "server_stepsize"},)}


class _LastRound(Exception):
    """Ends the program before it writes its results to a file."""


def wrap(method: adapters.Method, local_solver: adapters.LocalSolver | None = None) -> adapters.WholeRunFunctions:
    """The authors' FedADMM. The program's data, model, loss and draws are replaced, its GPU is the CPU.

    Args:
        method: FedADMM with a server_stepsize.
        local_solver: GradientDescent.

    Raises:
        MissingFramework: the folder FedADMM/src of the clone is not on the Python path.
        InvalidInput: another method, or another local solver.
    """
    cure = "put the folder FedADMM/src of its clone on PYTHONPATH"
    adapters.require_module("federated_main", "the authors' FedADMM", TESTED, cure)
    (own,), steps = adapters.names_of(method, "the authors' program", NAMES), adapters.Steps.of(method, local_solver)
    program: Any = find_spec("federated_main")

    own |= {"lr": steps.stepsize, "local_ep": steps.epochs, "fixed": 1, "local_bs": 1000, "momentum": 0, "verbose": 0}
    own |= {"model": "Model1", "frac": 1, "seed": 0, "target_round": float("inf")}

    def run(problem: Any, x0: Any, rounds: Any) -> Any:
        data = adapters.samples(problem)
        rows = [pair for A, b in data for pair in zip(A, b, strict=True)]
        ends = np.cumsum([0, *(len(b) for _, b in data)])
        indices = [range(*ends[k : k + 2]) for k in range(len(data))]
        arguments = SimpleNamespace(**own, num_users=len(data), epochs=len(rounds))
        drawn, points = iter(rounds), []

        def evaluated(args: Any, model: Any, data: Any) -> tuple[float, float]:
            points.append(adapters.point(model))
            if len(points) == len(rounds):
                raise _LastRound
            return 0.0, 0.0

        replaced = {
            "options.args_parser": lambda: arguments,
            "utils.get_dataset": lambda args: (rows, None, indices),
            **dict.fromkeys(("utils.exp_details", "utils.setup_seed"), lambda _: None),
            "models.Model1": lambda args: adapters.LinearModule(x0),
            "update.test_inference": evaluated,
            "torch.nn.CrossEntropyLoss": lambda: adapters.half_squares,
            "torch.Tensor.cuda": lambda tensor: tensor,
            "tensorboardX.SummaryWriter": MagicMock(),
            "tqdm.tqdm": iter,
            "numpy.random.choice": lambda *_, **__: next(drawn),
        }
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ))
            for name, value in replaced.items():
                stack.enter_context(patch(name, value))
            stack.enter_context(redirect_stdout(io.StringIO()))
            stack.enter_context(suppress(_LastRound))
            runpy.run_path(program.origin, run_name="__main__")
        return points

    return {"run": run, "loss": "half_sum"}
