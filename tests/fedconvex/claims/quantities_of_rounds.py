"""What several tests of claims speak of, in plain terms: no symbol, name or formula of the papers' own modules.

`time` is 0 before the round and 1 after it.
"""

from typing import Any

from fedconvex.claims.claim import Claim, equal
from fedconvex.claims.terms import Number, Vector, gradient, memory, minimiser, number, server, shared, square, value


def distance(time: int) -> Number:
    """‖w − w*‖² of the server's point."""
    return square(server(time) - minimiser)


def gap(at: Vector) -> Number:
    """f − f* at a point."""
    return value(at) - value(minimiser)


def average(alpha: Any, time: int = 0) -> Vector:
    """FedDyn's γ = θ + h/α: the average of the drawn devices' models."""
    return server(time) + shared("h", time) / number(alpha)


def memory_error(time: int = 0) -> Vector:
    """∇L_k(θ_k) − ∇L_k(θ_*): how far FedDyn's stored gradients are from those at the minimiser."""
    return memory("gradient", time) - gradient(minimiser)


def lifted_distance(stepsize: Any, time: int = 0) -> Vector:
    """FedSplit's z_k − z_k*, with z_k* = x* − s∇f_k(x*)."""
    return memory("z", time) - (minimiser - stepsize * gradient(minimiser))


def vanishing(term: Number | Vector, **about: Any) -> Claim:
    """The claim term = 0, on a run of which the left side is the term's value."""
    zero = number(0) if isinstance(term, Number) else 0 * term
    return equal(term, zero, **about)
