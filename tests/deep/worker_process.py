"""What every process of test_processes.py runs: `python … worker_process.py FOLDER [PROCESS THAT ENDS]`."""

import atexit
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, NETWORK, SGD, random, vector
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import run
from fedconvex.deep.processes import Processes
from fedconvex.runs.simulator import Simulator

GD = fc.GradientDescent(steps=3, stepsize=0.1)
METHODS: dict[str, Any] = {
    "fedprox": (fc.FedProx(mu=1), SGD),
    "adaptive": (fc.AdaptiveFedProx(mu=1), SGD),
    "feddyn": (fc.FedDyn(alpha=0.5), SGD),
    "scaffold": (fc.Scaffold(stepsize=0.05, local_steps=3), SGD),
    "feddane": (fc.FedDANE(mu=1), GD),
    "fednova": (fc.FedNova(stepsize=0.05, local_steps=3), SGD),
    "fedsplit": (fc.FedSplit(stepsize=1), GD),
    "unequal": (fc.FedNova(stepsize=0.05, local_steps=(3, 1, 2, 4)), None),
    "personal": (fc.PFedMe(regularization=1, stepsize=0.5, local_steps=(2, 1, 3, 1)), GD),
}
SCHEMES: dict[str, Any] = {
    "full": participation.Full(),
    "weighted": participation.Weighted(3),
    # rounds in which one process, or the other, has nobody
    "schedule": participation.Schedule([[0, 2], [1, 3], [], [0, 1, 2], [3], [2]]),
}


def train(method: str, scheme: str, **options: Any) -> Any:
    algebra, solver = METHODS[method]
    given = {"rounds": 4, "seed": 3, "ridge": 0.01, "weights": [1, 2, 3, 4], "test": CLIENTS[0]}
    # Few steps, since most of the time goes into them: the processes have to agree, not to be accurate.
    given |= {"measure": "all", "lanczos_steps": 3, "draws": 5} | options
    return run(algebra, NETWORK, CLIENTS, participation=SCHEMES[scheme], local_solver=solver, **given)


def train_in_training_mode(scheme: str, buffers: str) -> np.ndarray:
    """Parameters, buffers and values of a run whose clients have batch statistics and dropout."""
    layers = [nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Dropout(0.2), nn.Linear(5, CLASSES)]
    found = run(
        fc.FedDyn(alpha=0.5), random(nn.Sequential(*layers)), CLIENTS, rounds=4, weights=[1, 2, 3, 4], test=CLIENTS[0],
        participation=SCHEMES[scheme], local_solver=fc.SGD(epochs=2, batch_size=5, stepsize=0.05),
        local_mode="training", buffers=buffers,
    )  # fmt: skip
    seen = found.to_frame()[["value", "test_value"]].to_numpy().ravel()
    held = [part.numpy().ravel().astype(float) for part in found.model.state_dict().values()]
    return np.concatenate([seen, *held])


def threads() -> list[str]:
    """The names of this process's threads, where the system lists them."""
    return [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]


def main() -> None:
    folder, rank = Path(sys.argv[1]), int(os.environ["RANK"])
    # Registered before `run` connects the processes, hence called after they have been disconnected.
    atexit.register(lambda: (folder / f"threads-{rank}").write_text("\n".join(threads())))
    if len(sys.argv) > 2:
        play = Simulator.next_round

        def ending(self: Simulator, state: Any, t: int) -> Any:
            # Not in the small known run in floats, with which a process proves what it computes.
            if t == 3 and rank == int(sys.argv[2]) and isinstance(state.server, torch.Tensor):
                os._exit(17)
            return play(self, state, t)

        Simulator.next_round = ending  # type: ignore[method-assign]
        train("feddyn", "full", rounds=6, checkpoint=folder / "run.safetensors", checkpoint_every=2)
        return
    for method in METHODS:
        for scheme in SCHEMES:
            found = train(method, scheme)
            frame = found.to_frame()
            np.savez(folder / f"{method}-{scheme}-{rank}.npz", vector(found.model), frame.to_numpy(float))
            np.save(folder / f"{method}-{scheme}-{rank}-inexactness.npy", found.client_inexactness)
    for scheme in SCHEMES:
        for buffers in ("averaged", "kept"):
            np.save(folder / f"training-{scheme}-{buffers}-{rank}.npy", train_in_training_mode(scheme, buffers))
    train("scaffold", "schedule", checkpoint=folder / "run.safetensors")
    ended = train("feddyn", "full", until=lambda record: record["round"] == 2 + rank)  # they would not agree
    (folder / f"until-{rank}").write_text(str(len(ended.records) - 1))
    Processes.total_numbers = lambda self, part: part  # type: ignore[method-assign] # every process for itself
    train("feddyn", "full", rounds=1).to_frame().to_csv(folder / f"alone-{rank}.csv")
    (folder / f"threads-connected-{rank}").write_text("\n".join(threads()))


if __name__ == "__main__":
    main()
