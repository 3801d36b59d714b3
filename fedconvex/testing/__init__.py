"""Assertions for test suites, each decided by a certificate: exact rationals, or balls that contain the truth.

    from fedconvex.testing import assert_contracts, assert_minimizer

Each passes only where it is proved to hold. It raises AssertionError, with the numbers, where it is proved not to, and
its subclass `NotDecided` where neither could be proved.
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
