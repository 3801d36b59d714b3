"""The conformance check as a pytest test: `@conforms_to(fc.Scaffold(stepsize=0.1, local_steps=5))`."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from fedconvex.conformance.check import check
from fedconvex.conformance.shapes import FUNCTIONS
from fedconvex.errors import InvalidInput, short_text
from fedconvex.methods.base import Method

OPTIONS = ("local_solver", "loss", "weights", "precision", "shuffled", "time_limit")


class DoesNotConform(AssertionError):
    """The implementation differs from the method. The message is the report's text; `report` is the report itself."""

    def __init__(self, report: Any) -> None:
        super().__init__(report.report())
        self.report = report


def conforms_to(method: Method, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turn a function that returns an implementation into a test, which fails with the report as its message.

    Use it to keep an implementation right in a test suite; for the report as an object, call `check`.

        @conforms_to(fc.Scaffold(stepsize=0.1, local_steps=5))
        def test_our_scaffold():
            return {"init": init, "round": round, "server_model": server_model}

    The function may return a dict, or an object, class or module with such attributes, of any shape that `check` takes,
    or one function: a trainer's `local_update`. It may take pytest's fixtures.

    Args:
        method, options: as in `check`.

    Raises (when the test runs):
        DoesNotConform: an AssertionError with the report.
        InvalidInput: what `check` refuses, and an implementation without functions.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise InvalidInput(unknown[0], options[unknown[0]], "is no option of the check", "see fedconvex.conformance")

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        @wraps(test)
        def checked(*arguments: Any, **named: Any) -> None:
            __tracebackhide__ = True  # pytest then shows the report, not this wrapper
            report = check(method, **functions_of(test(*arguments, **named)), **options)
            if not report.passed:
                raise DoesNotConform(report)

        return checked

    return decorate


def functions_of(implementation: Any) -> dict[str, Any]:
    """The implementation's functions by the names of `check`'s arguments."""
    if isinstance(implementation, Mapping):
        found = {name: implementation[name] for name in FUNCTIONS if name in implementation}
    else:
        found = {name: getattr(implementation, name) for name in FUNCTIONS if hasattr(implementation, name)}
    if not found and callable(implementation) and not isinstance(implementation, type):
        found = {"local_update": implementation}
    if not found:
        cure = "return a dict of them, an object with them, or a local_update"
        raise InvalidInput("the implementation", short_text(implementation), "has none of the functions", cure)
    return found
