"""Protocols: the constants of a problem and a method that assumptions are checked against.

`instance.Instance` implements them with proofs.
"""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from fedconvex.errors import FedconvexError
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem


class Unmeasured(FedconvexError):
    """A constant cannot be measured, or has no value, for this problem, method and participation scheme."""


class CurvatureBounds(Protocol):
    """Bounds: attained_smoothness <= L <= smoothness and strong_convexity <= mu <= attained_convexity."""

    @property
    def smoothness(self) -> Any: ...
    @property
    def strong_convexity(self) -> Any: ...
    @property
    def attained_smoothness(self) -> Any: ...
    @property
    def attained_convexity(self) -> Any: ...


class ClientBounds(CurvatureBounds, Protocol):
    """Curvature bounds that hold for all clients' functions."""

    def lie_between(self, low: Any, high: Any) -> bool | None:
        """Whether all eigenvalues of all Hessians lie in [low, high]; None where that is not known."""


class MeasuredSetting(Protocol):
    """A problem, a method, a participation scheme, and their constants; reading a constant may raise `Unmeasured`."""

    @property
    def problem(self) -> Problem: ...
    @property
    def method(self) -> Method: ...
    @property
    def participation(self) -> Participation: ...
    @property
    def local_solver(self) -> LocalSolver: ...
    @property
    def everyone(self) -> bool: ...
    @property
    def curvatures(self) -> ClientBounds: ...
    @property
    def objective_curvatures(self) -> CurvatureBounds: ...
    @property
    def square(self) -> Any: ...
    @property
    def dissimilarity(self) -> Any: ...
    @property
    def gradient_variance(self) -> Any: ...
    @property
    def inexactness(self) -> Any: ...
    @property
    def prox_error(self) -> Any: ...
    @property
    def step_contraction(self) -> Any: ...
    @property
    def condition_number(self) -> Any: ...
    @property
    def least_condition_number(self) -> Any: ...
    @property
    def spread(self) -> Any: ...

    def measure(self, quantity: str) -> Any:
        """The constant of this name, as a bound on the side that theorems need."""

    def possible(self, quantity: str) -> Any:
        """A ball that contains the true constant; `measure` gives only one bound of it."""

    def number(self, value: Any) -> Any:
        """The value converted to the arithmetic of the constants."""

    def context(self) -> AbstractContextManager[Any]:
        """A context in which that arithmetic has the precision of the constants."""
