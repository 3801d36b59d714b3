"""FedProx(μ): every client minimises its function plus a proximal term, the server averages."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import SolvesExactly
from fedconvex.parameters import number
from fedconvex.validation import non_negative


@final
@dataclass(frozen=True, kw_only=True)
class FedProx(SolvesExactly, Averaging):
    """FedProx: w ← average of argmin_θ f_k(θ) + (μ/2)‖θ − w‖².

    Use it for heterogeneous clients with unequal or unreliable work: its theory allows inexact answers, and a large μ
    keeps it stable where several local epochs of FedAvg diverge. It converges in general to a point other than the
    minimiser (FedSplit paper, Proposition 2): a larger μ reduces this bias and slows the method. Methods without bias
    are `FedSplit`, `FedDyn` and `Scaffold`.

    Source: FedProx paper, Algorithm 2. For its γ-inexact clients (Definitions 1 and 2) use the local solver
    `ToInexactness(gamma)`, for its experiments `SGD`, and for partial work of stragglers
    `Stragglers(fraction, policy="use")`. The FedSplit paper (equations (6), (7)) writes s = 1/μ.

    Args:
        mu: μ >= 0; for nonconvex clients larger than −mu_k. With μ = 0 there is no proximal term, and for the
            exact solver every f_k must have a unique minimiser.

    Raises:
        InvalidInput: a negative or infinite μ; one that is too small for the clients (when a run starts).
    """

    mu: Scalar = number()

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    @property
    def is_proximal(self) -> bool:
        return bool(self.mu != 0)  # bool: mu may be a flint number
