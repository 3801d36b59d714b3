"""One order of arguments in the whole package: the method, then the problem. The other order is understood."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem

P = ParamSpec("P")
R = TypeVar("R")
PROBLEMS = (Problem, CompositeProblem)


def method_then_problem(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function of (method, problem, …): called as (problem, method, …), it does the same."""

    known_order: Callable[..., R] = function

    @wraps(function)
    def call(*arguments: Any, **given: Any) -> R:
        if arguments and isinstance(arguments[0], PROBLEMS):
            if len(arguments) > 1 and not isinstance(arguments[1], PROBLEMS):
                arguments = (arguments[1], arguments[0], *arguments[2:])
            elif len(arguments) == 1 and "method" in given and "problem" not in given:
                return known_order(problem=arguments[0], **given)
        return known_order(*arguments, **given)

    return call
