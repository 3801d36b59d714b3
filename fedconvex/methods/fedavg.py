"""FedAvg: every client runs epochs of SGD from the server's point, the server averages."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging
from fedconvex.parameters import number


@final
@dataclass(frozen=True, kw_only=True)
class FedAvg(Averaging):
    """FedAvg: w ← average of the clients' points after E epochs of SGD on f_k, each started at w.

    The standard baseline; simple, cheap and often good on similar clients. On heterogeneous clients several epochs bias
    it towards a point other than the minimiser, even with full batches (see `FedGD`, which is the same with
    deterministic gradient steps and whose bias the package computes exactly). Needs a problem with samples.

    FedProx paper, Algorithm 1. That paper drops stragglers from FedAvg: `Stragglers(fraction, policy="drop")`. The
    server averages with the problem's weights.

    Args:
        epochs: E >= 1.
        batch_size: samples in a mini-batch, >= 1; None: all samples of the client.
        stepsize: > 0 or a `StepsizeSchedule`, multiplied by decay^t in round t.
        decay: > 0.
        weight_decay: >= 0, added to the gradient as weight_decay · θ.
        clip: > 0: longer gradients are scaled to this length; None: no limit.

    Raises:
        InvalidInput: values out of range.
    """

    epochs: int = 1
    batch_size: int | None = 10
    stepsize: Scalar = number()
    decay: Scalar = number(default=1)
    weight_decay: Scalar = number(default=0)
    clip: Any = None

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        solver = self.local_solver  # its constructor validates the parameters
        assert isinstance(solver, SGD)
        object.__setattr__(self, "stepsize", solver.stepsize)
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
