"""A user's function that is called after each recorded round, with the record or with the model, too."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from fedconvex.deep.dictionaries import restored
from fedconvex.deep.tasks import Task
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State


def require_function(given: Any, argument: str, takes: str, example: str) -> None:
    """Raise InvalidInput for what cannot be called with the arguments that `takes` names, or the first of them."""
    if given is None:
        return
    if not callable(given):
        raise InvalidInput(argument, given, "is no function", f"give a function of {takes}, such as {example}")
    try:
        form = signature(given)
    except (TypeError, ValueError):  # built-in functions may have no signature
        return
    names = takes.split(", ")
    for count in range(1, len(names) + 1):
        try:
            form.bind(*names[:count])
        except TypeError:
            continue
        return
    problem = f"takes {form}"
    raise InvalidInput(
        argument, given, problem, f"give a function of {' or '.join(_growing(names))}, such as {example}"
    )


def _growing(names: list[str]) -> list[str]:
    return [f"({', '.join(names[: i + 1])})" for i in range(len(names))]


def watching_with(watch: Callable[..., None], task: Task) -> Callable[[dict[str, Any], State], None]:
    """Calls `watch` with the record, and with a copy of the model if it takes two arguments.

    Its StopIteration, which generators around a run would take for their own, becomes an InvalidInput.
    """
    with_model = _takes_two(watch)

    def call(record: dict[str, Any], state: State) -> None:
        try:
            if with_model:
                watch(record, restored(task.module_at(state)))
            else:
                watch(record)
        except StopIteration as error:
            problem = f"raised StopIteration in round {record['round']}, which does not end a run"
            raise InvalidInput("watch", watch, problem, "give until=…, a function of the record") from error

    return call


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether it requires two arguments; one like `print`, which takes any number, gets the record alone."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # built-in functions may have no signature
        return False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is Parameter.empty for p in parameters) == 2
