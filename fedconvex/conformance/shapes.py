"""The shapes in which an implementation is given: which functions belong together, and what of it they cover."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import (
    BATCHES,
    WORK,
    Implementation,
    RoundFunctions,
    Turn,
    require_callable,
    takes,
)
from fedconvex.conformance.reference import Part, Reference
from fedconvex.conformance.setup import Setup
from fedconvex.conformance.vectors import Unusable, is_composed
from fedconvex.errors import InvalidInput


@dataclass(frozen=True)
class CodeShape:
    """The functions of one shape, named as `check`'s arguments, each with its contract; `main` plays or trains."""

    main: str
    part: Part
    needed: Mapping[str, str]
    optional: tuple[str, ...] = ()


INIT = "init(problem, x0) -> state"
MODEL = "server_model(state) -> (d,) array"
SHAPES = (
    CodeShape(
        "round",
        "both",
        {"init": INIT, "round": "round(problem, state, active) -> state", "server_model": MODEL},
        ("client_models",),
    ),
    CodeShape("run", "both", {"run": "run(problem, x0, rounds) -> the server's models"}),
    CodeShape("client", "clients", {"client": "client(problem, k, model, state) -> (d,) array"}),
    CodeShape("local_update", "clients", {"local_update": "local_update(model, data, global_model, state)"}),
    CodeShape(
        "server",
        "server",
        {"init": INIT, "server": "server(problem, state, replies) -> state", "server_model": MODEL},
        ("broadcast",),
    ),
)
FUNCTIONS = tuple(dict.fromkeys(name for shape in SHAPES for name in (*shape.needed, *shape.optional)))


def shape_of(functions: Mapping[str, Any]) -> CodeShape:
    """The shape of these functions, None where one is not given. Raises InvalidInput where they fit no shape."""
    given = {name: function for name, function in functions.items() if function is not None}
    shape = next((shape for shape in reversed(SHAPES) if shape.main in given), SHAPES[0])
    for name, contract in shape.needed.items():
        require_callable(functions[name], name, contract)
    for name in given:
        if name not in (*shape.needed, *shape.optional):
            allowed = ", ".join((*shape.needed, *shape.optional))
            problem = "comes with other functions" if len(shape.needed) == 1 else f"comes with {name}"
            raise InvalidInput(shape.main, given[shape.main], problem, f"give {allowed}, and no others")
    for name in shape.optional:
        if name in given:
            require_callable(given[name], name, f"{name}(state)")
    return shape


def varies_work(shape: CodeShape, functions: Mapping[str, Any]) -> bool:
    """Whether clients can be told to do less than their full local work."""
    return shape.part == "server" or takes(functions[shape.main], WORK)


def knows_batches(shape: CodeShape, functions: Mapping[str, Any]) -> bool:
    """Whether the kit determines which mini-batches clients visit."""
    return shape.part == "server" or takes(functions[shape.main], BATCHES)


def implementation_of(
    shape: CodeShape,
    functions: Mapping[str, Any],
    setup: Setup,
    references: Sequence[Reference],
    precision: str | None,
) -> Implementation:
    """The functions as something that `observe` can run."""
    if shape.main == "local_update":
        from fedconvex.conformance.trainer import trainer_function  # late: it loads torch

        return trainer_function(setup, references, functions["local_update"], precision)
    if shape.main == "client":
        from fedconvex.conformance.client_part import ClientFunction, optional_arguments

        return ClientFunction(setup, references, functions["client"], optional_arguments(functions["client"]))
    if shape.main == "server":
        from fedconvex.conformance.server_part import ServerFunctions

        own = (functions[name] for name in ("init", "server", "server_model", "broadcast"))
        return ServerFunctions(setup, references, *own)
    if shape.main == "run":
        return WholeRun(functions["run"])
    return RoundFunctions(functions["init"], functions["round"], functions["server_model"], functions["client_models"])


# Check code that runs all rounds by itself, such as a `train()` with its own loop.
#
# The author passes one function to `check`,
#
#     run(problem, x0, rounds)
#
# * `problem`, `x0`: as for `init` and `round`; `rounds`: a list with the list of active clients of every round.
# * It returns the server's models after every round: T vectors, or T + 1 with x0 first; or only the last one, and then
#   the kit runs the first round, the first two, and so on, each from the start.
# * If it has arguments `local_steps` or `batches`, these are lists with an entry for every round, as for `round`.


@dataclass(frozen=True, eq=False)
class Progress:
    """How far the kit has read a run's models."""

    turns: Sequence[Turn]
    x0: np.ndarray
    last: Any  # the model that was read last
    models: list[Any] | None = None  # after every round, where one call returned them all …
    final: Any = None  # … or else the model after the last round
    round: int = 0


@final
@dataclass(frozen=True, eq=False)
class WholeRun(Implementation):
    """A function that runs all rounds."""

    run: Callable[..., Any]
    found: list[ConformanceFinding] = field(default_factory=list)
    client_models: Callable[..., Any] | None = None

    def takes(self, name: str) -> bool:
        return takes(self.run, name)

    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Progress:
        progress = Progress(turns, x0.copy(), last=x0.copy())
        returned = self._run(problem, x0, turns)
        if _is_one_model(returned):
            return replace(progress, final=returned)
        models = list(islice(returned, len(turns) + 2))  # one more than there should be shows that there are more
        if len(models) == len(turns) + 1:
            progress, models = replace(progress, last=models[0]), models[1:]
        if len(models) != len(turns):
            cure = "return the server's model after every round, or only the last one"
            detail = f"{len(models)} models after {len(turns)} rounds"
            raise Unusable(ConformanceFinding(findings.MODELS_OF_RUN, cure, detail))
        return replace(progress, models=models)

    def advance(self, problem: Any, progress: Progress, turn: Turn) -> Progress:
        t = progress.round + 1
        if progress.models is not None:
            last = progress.models[progress.round]
        elif t == len(progress.turns):
            last = progress.final
        else:
            last = self._run(problem, progress.x0.copy(), progress.turns[:t])
        return replace(progress, last=last, round=t)

    def server_model(self, progress: Progress) -> Any:
        return progress.last

    def _run(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Any:
        names = turns[0].extra
        # copies: a run may work on these lists, and the next one is given them again
        extra = {name: deepcopy([turn.extra[name] for turn in turns]) for name in names}
        return self.run(problem, x0, [list(turn.active) for turn in turns], **extra)


def _is_one_model(returned: Any) -> bool:
    """Whether this is one model, not a sequence of them: a vector, a dict or a module."""
    if isinstance(returned, list | tuple):
        return all(np.ndim(part) == 0 and not is_composed(part) for part in returned)
    return is_composed(returned) or (np.ndim(returned) < 2 and not isinstance(returned, Iterator))
