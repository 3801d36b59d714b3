"""Methods and local solvers from text such as `FedDyn(alpha=0.1)`; nothing in the text is executed."""

from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.expressions import evaluate
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods import METHODS
from fedconvex.methods.base import Method

LONGEST_TEXT = 2000  # characters; Python's parser needs much memory for long nested texts
METHOD_EXAMPLE, SOLVER_EXAMPLE = "FedDyn(alpha=0.1)", "GradientDescent(steps=5, stepsize=0.1)"


def method_from_text(text: Any, argument: str = "method") -> Method:
    """The method that a text such as `Scaffold(stepsize=1/10, local_steps=5)` names.

    Use it for texts from the command line and from files: Python's parser reads them, and only the package's methods
    and local solvers are called, with numbers and words.

    Raises:
        InvalidInput: another expression, an unknown method, missing or wrong parameters.
    """
    found = _value(text, argument, METHOD_EXAMPLE)
    if not isinstance(found, Method):
        raise InvalidInput(argument, text, "is not a method with its parameters", f"write such as {METHOD_EXAMPLE}")
    return found


def solver_from_text(text: Any, argument: str = "local_solver") -> LocalSolver:
    """The local solver that a text such as `GradientDescent(steps=5, stepsize=0.1)` names; as `method_from_text`."""
    found = _value(text, argument, SOLVER_EXAMPLE)
    if not isinstance(found, LocalSolver):
        raise InvalidInput(argument, text, "is not a local solver", f"write such as {SOLVER_EXAMPLE}")
    return found


def _value(text: Any, argument: str, example: str) -> Any:
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise InvalidInput(argument, text, "is not a short text", f"write such as {example}")
    return evaluate(text.strip(), {**METHODS, **LOCAL_SOLVERS}, argument, example)
