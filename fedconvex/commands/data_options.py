"""The options that describe data and model, for every command that reads data: those of `fedconvex audit`."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fedconvex.commands.audit import COLUMNS, DATA, MODEL, audit, named

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem

MODEL_OPTIONS = ("model", "ridge", "weights")


def with_data_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the audit's data and model options after its own; it gets them in `**options`."""
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = [p for p in inspect.signature(audit).parameters.values() if _panel(p) in (DATA, COLUMNS, MODEL)]
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *shared)]

    def called(**given: Any) -> None:
        command(**given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters}  # typer reads both
    return called


def problem_from(data: list[str], options: dict[str, Any]) -> tuple[str, "Problem"]:
    """The data's name for people, and the problem with the model that the options choose."""
    from fedconvex.data import load

    given = {name: getattr(value, "value", value) for name, value in options.items()}
    given |= {name: given[name] or () for name in ("drop", "one_hot", "categories")} | {
        "standardize": given["standardize"] is True
    }
    chosen = {name: given.pop(name) for name in MODEL_OPTIONS}
    federated = load(data if data[1:] else data[0], **given)
    return named(data), federated.problem(**chosen)


def _panel(parameter: inspect.Parameter) -> str | None:
    return next((option.rich_help_panel for option in getattr(parameter.annotation, "__metadata__", ())), None)
