"""What assumptions are checked on: by proof on an `Instance`, by measurement on the rounds of a run."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem


class CurvatureBounds(Protocol):
    """Curvatures: attained_smoothness <= L <= smoothness, strong_convexity <= mu <= attained_convexity."""

    @property
    def smoothness(self) -> Any: ...
    @property
    def strong_convexity(self) -> Any: ...
    @property
    def attained_smoothness(self) -> Any: ...
    @property
    def attained_convexity(self) -> Any: ...


class ClientBounds(CurvatureBounds, Protocol):
    """Those of all clients' functions."""

    def lie_between(self, low: Any, high: Any) -> bool | None:
        """Whether all curvatures lie between the two; None where that is not known."""


class MeasuredSetting(Protocol):
    """A problem, a method, who takes part, and the constants that they have; a constant may raise `Unmeasured`."""

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
        """The constant of that name."""

    def possible(self, quantity: str) -> Any:
        """What contains the true constant, of which `measure` gives a bound on the safe side."""

    def number(self, value: Any) -> Any:
        """The value in the arithmetic of the constants."""

    def context(self) -> AbstractContextManager[Any]:
        """That arithmetic's precision."""
