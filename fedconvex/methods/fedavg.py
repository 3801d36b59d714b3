"""FedAvg: FedGD's algebra with epochs of stochastic gradient steps."""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging
from fedconvex.parameters import number


@final
@dataclass(frozen=True, kw_only=True)
class FedAvg(Averaging):
    """w ← average of the clients' points after E epochs of SGD from w. FedProx paper, Algorithm 1.

    Its late clients are dropped: `Stragglers(fraction, policy="drop")`.

    Args:
        epochs: E >= 1.
        batch_size: samples in a mini-batch; None: all of a client's samples.
        stepsize: > 0, times decay^t in round t.
        decay: > 0.
        weight_decay: >= 0, added to the gradient as weight_decay · θ.
        clip: longest gradient that is taken as it is; None: no limit.
    """

    epochs: int = 1
    batch_size: int | None = 10
    stepsize: Scalar = number()
    decay: Scalar = number(default=1)
    weight_decay: Scalar = number(default=0)
    clip: Any = None

    def __post_init__(self) -> None:
        solver = self.local_solver  # checks them all
        assert isinstance(solver, SGD)
        object.__setattr__(self, "epochs", solver.epochs)
        object.__setattr__(self, "batch_size", solver.batch_size)

    @property
    def local_solver(self) -> LocalSolver:
        return SGD(
            epochs=self.epochs,
            batch_size=self.batch_size,
            stepsize=self.stepsize,
            decay=self.decay,
            weight_decay=self.weight_decay,
            clip=self.clip,
        )
