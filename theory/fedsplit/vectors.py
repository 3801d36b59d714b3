r"""The vectors that FedSplit's statements are about, as terms of the claim language.

z* is the fixed point of FedSplit: z_j^* = x^* - s∇f_j(x^*), with the minimiser x* as its mean. Norms of vectors of the
clients are root mean squares: ‖z − z*‖/√m in the paper's.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    gradient,
    memory,
    minimiser,
    named,
    norm,
    number,
    parameter,
    server,
    square,
)

SYMBOLS = ("z_j^{(t)}", "z_j^{(t+1)}")


def fixed_point(stepsize: Any) -> Any:
    """z*, for proximal steps of this stepsize."""
    return named("z_j^*", minimiser - stepsize * gradient(minimiser))


def away(time: int, stepsize: Any) -> Any:
    """z − z*, before (0) or after (1) the round."""
    return named(SYMBOLS[time], memory("z", time)) - fixed_point(stepsize)


# Theorem 1 has s = 1/√(ℓ_*L^*), with L^* = κℓ_*.
matched_stepsize = 1 / (parameter("mu") * parameter("kappa").sqrt())


def first_distance(stepsize: Any) -> Any:
    """‖z^(1) − z*‖ over all clients: √m times the root mean square."""
    return named(r"\|z^{(1)}-z^*\|", parameter("num_clients").sqrt() * norm(away(0, stepsize)))


def reaches(bound: Any) -> Claim:
    """‖x^(t+1) − x*‖ ≤ bound, where x^(1) is the start."""
    return at_most(after(norm(server(0) - minimiser)), bound, rounds="t")


def vanishes(residual: Vector) -> Claim:
    """The residual is 0, as a relation of numbers: ‖residual‖² = 0."""
    nothing: Number = number(0)
    return equal(square(residual), nothing)
