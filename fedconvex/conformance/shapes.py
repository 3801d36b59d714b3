"""The shapes in which an implementation is given: which functions belong together, and what of it they cover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedconvex.conformance.implementation import BATCHES, WORK, Implementation, RoundFunctions, require_callable, takes
from fedconvex.conformance.reference import Part, Reference
from fedconvex.conformance.setup import Setup
from fedconvex.errors import InvalidInput


@dataclass(frozen=True)
class Shape:
    """The functions of one shape, named as `check`'s arguments, each with its contract; `main` plays or trains."""

    main: str
    part: Part
    needed: Mapping[str, str]
    optional: tuple[str, ...] = ()


INIT = "init(problem, x0) -> state"
MODEL = "server_model(state) -> (d,) array"
SHAPES = (
    Shape(
        "round",
        "both",
        {"init": INIT, "round": "round(problem, state, active) -> state", "server_model": MODEL},
        ("client_models",),
    ),
    Shape("run", "both", {"run": "run(problem, x0, rounds) -> the server's models"}),
    Shape("client", "clients", {"client": "client(problem, k, model, state) -> (d,) array"}),
    Shape("local_update", "clients", {"local_update": "local_update(model, data, global_model, state)"}),
    Shape(
        "server",
        "server",
        {"init": INIT, "server": "server(problem, state, replies) -> state", "server_model": MODEL},
        ("broadcast",),
    ),
)
FUNCTIONS = tuple(dict.fromkeys(name for shape in SHAPES for name in (*shape.needed, *shape.optional)))


def shape_of(functions: Mapping[str, Any]) -> Shape:
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


def varies_work(shape: Shape, functions: Mapping[str, Any]) -> bool:
    """Whether clients can be told to do less than their full local work."""
    return shape.part == "server" or takes(functions[shape.main], WORK)


def knows_batches(shape: Shape, functions: Mapping[str, Any]) -> bool:
    """Whether the kit determines which mini-batches clients visit."""
    return shape.part == "server" or takes(functions[shape.main], BATCHES)


def implementation_of(
    shape: Shape,
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
        from fedconvex.conformance.client_part import client_function

        return client_function(setup, references, functions["client"])
    if shape.main == "server":
        from fedconvex.conformance.server_part import server_functions

        return server_functions(setup, references, functions)
    if shape.main == "run":
        from fedconvex.conformance.whole_run import WholeRun

        return WholeRun(functions["run"])
    return RoundFunctions(functions["init"], functions["round"], functions["server_model"], functions["client_models"])
