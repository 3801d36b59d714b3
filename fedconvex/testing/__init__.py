"""Assertions for test suites, each decided by a proof in rational numbers or in balls that contain the exact value.

    from fedconvex.testing import assert_contracts, assert_minimizer

An assertion passes only if it is proved. If its negation is proved it raises AssertionError with the numbers, and if
neither could be proved, the subclass `NotDecided`.
"""

from fedconvex.testing.bounds import assert_bound_holds, observable
from fedconvex.testing.contraction import assert_contracts
from fedconvex.testing.failures import NotDecided
from fedconvex.testing.points import assert_fixed_point, assert_minimizer

__all__ = [
    "NotDecided",
    "assert_bound_holds",
    "assert_contracts",
    "assert_fixed_point",
    "assert_minimizer",
    "observable",
]
