"""FedSplit: the number of rounds that Theorem 1 needs for an accuracy."""

from typing import Any

from fedconvex.names import checked_keywords
from fedconvex.statements.certified import enclosed, require_sign, smallest_integer
from fedconvex.statements.signs import Sign
from fedconvex.theory.fedsplit.convergence import floor_margin, margin
from fedconvex.types import Exact


@checked_keywords
def rounds(*, kappa: Exact, initial_distance: Exact, num_clients: Exact, epsilon: Exact, b: Exact = 0) -> int | None:
    """The least t ≥ 1 for which Theorem 1 guarantees ‖x^(t+1) − x*‖ ≤ epsilon, exactly; None where no t is enough.

    None means that the error floor (√κ + 1)b of inexact proximal steps is not below epsilon. Every comparison is
    certified. The stepsize is `optimal_stepsize`, or any other with the κ that the docstring of `distance_bound` gives.
    """
    given: dict[str, Any] = {"kappa": kappa, "b": b, "epsilon": epsilon}
    start: dict[str, Any] = {"initial_distance": initial_distance, "num_clients": num_clients}
    enclosed(margin, {"t": 1, **given, **start})  # raises InvalidInput for arguments outside their range
    if kappa == 1 or initial_distance == 0:  # only the error floor remains; without √m its comparison can be exact
        start = {"initial_distance": 0, "num_clients": 1}

    def enough(t: int) -> bool:
        return require_sign(margin.sign(t=t, **given, **start), given) is not Sign.NEGATIVE

    if not enough(1) and require_sign(floor_margin.sign(**given), given) is not Sign.POSITIVE:
        return None
    return smallest_integer(enough)
