r"""The vectors that FedSplit's statements are about, as terms of the claim language.

z* is the fixed point of FedSplit: z_j^* = x^* - s∇f_j(x^*), with the minimiser x* as its mean. Norms of vectors of the
clients are root mean squares: ‖z − z*‖/√m in the paper's.
"""

from typing import Any

from fedconvex.claims.claim import Claim, equal
from fedconvex.claims.terms import Number, Vector, gradient, memory, minimiser, named, number, square

SYMBOLS = ("z_j^{(t)}", "z_j^{(t+1)}")


def fixed_point(stepsize: Any) -> Any:
    """z*, for proximal steps of this stepsize."""
    return named("z_j^*", minimiser - stepsize * gradient(minimiser))


def away(time: int, stepsize: Any) -> Any:
    """z − z*, before (0) or after (1) the round."""
    return named(SYMBOLS[time], memory("z", time)) - fixed_point(stepsize)


def vanishes(residual: Vector) -> Claim:
    """The residual is 0, as a relation of numbers: ‖residual‖² = 0."""
    nothing: Number = number(0)
    return equal(square(residual), nothing)
