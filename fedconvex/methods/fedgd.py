"""FedGD(s, e): every client takes e gradient steps from the server's point, the server averages."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import TakesLocalSteps


@final
@dataclass(frozen=True, kw_only=True)
class FedGD(TakesLocalSteps, Averaging):
    """FedGD: w ← Σ_k weights_k G_k^e(w), e local gradient steps G_k(x) = x − s∇f_k(x), then averaging.

    The deterministic FedAvg: use it to study what several local steps do without the noise of SGD. One local step is
    gradient descent on the objective. With more, it converges in general to a point other than the minimiser
    (FedSplit paper, Proposition 1), unless the clients share a minimiser; methods without this bias are `FedSplit`,
    `FedDyn` and `Scaffold`.

    Source: FedSplit paper, equations (3), (4), there with equal weights.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`; on convex clients it converges for s < 2/L with L the largest
            smoothness constant.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.

    Raises:
        InvalidInput: values out of range.
    """

    no_prox: ClassVar[str] = ""
