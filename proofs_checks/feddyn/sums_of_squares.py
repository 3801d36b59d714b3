"""Lemma 6 and Young's inequality as exact sums of squares, as FedDyn's proofs use them to split norms of sums.

Each function returns the squares ‖v‖², with their weights, that make up the difference of the inequality's two sides.
"""

from itertools import combinations
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.hilbert import HilbertVector, square

Squares = tuple[tuple[Any, HilbertVector], ...]


def total(*vectors: HilbertVector) -> Any:
    """Σ_j‖v_j‖²."""
    return sum((square(v) for v in vectors), start=sympy.Integer(0))


def lemma6(weight: Any, *vectors: HilbertVector) -> Squares:
    """weight · (n Σ_j‖v_j‖² − ‖Σ_j v_j‖²) for n vectors is the weighted sum of ‖v_i − v_j‖² over pairs."""
    return tuple((weight, u - v) for u, v in combinations(vectors, 2))


def young(z: Any, u: HilbertVector, v: HilbertVector) -> Squares:
    """(1 + z)‖u‖² + (1 + 1/z)‖v‖² − ‖u + v‖² is z‖u − v/z‖²."""
    return ((z, u - v / z),)
