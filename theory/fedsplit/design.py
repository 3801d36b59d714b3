"""FedSplit: how many rounds, and with which stepsize."""

from typing import Any

from fedconvex.statements.certified import require_sign, smallest_integer
from fedconvex.statements.signs import Sign
from fedconvex.theory.fedsplit.convergence import floor_margin, margin


def rounds(*, kappa: Any, initial_distance: Any, num_clients: Any, accuracy: Any, b: Any = 0) -> int | None:
    """The least t ≥ 1 for which Theorem 1 promises ‖x^(t+1) − x*‖ ≤ accuracy, exactly; None where no t is enough.

    None: the floor (√κ + 1)b of inexact proximal steps is not below the accuracy. Every comparison is certified; the
    stepsize is `optimal_stepsize`, or any other with the κ that `distance_bound` says.
    """
    given = {"kappa": kappa, "b": b, "accuracy": accuracy}
    if require_sign(floor_margin.sign(**given), given) is not Sign.POSITIVE:
        return None
    given |= {"initial_distance": initial_distance, "num_clients": num_clients}
    return smallest_integer(lambda t: require_sign(margin.sign(t=t, **given), given) is not Sign.NEGATIVE)
