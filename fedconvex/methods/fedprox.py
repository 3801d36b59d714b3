"""FedProx(μ): every client minimises its function plus a proximal term, the server averages."""

from dataclasses import dataclass
from typing import final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.averaging import Averaging
from fedconvex.parameters import number
from fedconvex.validation import non_negative


@final
@dataclass(frozen=True, kw_only=True)
class FedProx(Averaging):
    """w ← average of argmin_θ f_k(θ) + (μ/2)‖θ − w‖². FedProx paper, Algorithm 2.

    Its γ-inexact clients (Definitions 1 and 2) are the local solver `ToInexactness(gamma)`, its experiments' `SGD`; its
    late clients' partial work is used: `Stragglers(fraction, policy="use")`.

    The FedSplit paper (equations (6), (7)) writes the same with s = 1/μ. The fixed point is in general not the
    minimiser of the objective (its Proposition 2); the bias grows with 1/μ and the speed falls with μ.

    Args:
        mu: μ >= 0; for a client that is not convex, μ must exceed minus its least curvature. With 0 there is no
            proximal term: FedAvg's algebra.
    """

    mu: Scalar = number()

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    @property
    def is_proximal(self) -> bool:
        return bool(self.mu != 0)
