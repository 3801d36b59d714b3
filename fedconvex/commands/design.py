"""The command `fedconvex design`: the parameters with which a method's proved rate is best, from mu and L alone."""

from dataclasses import MISSING, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.commands.terminal import say
from fedconvex.json_files import to_json

if TYPE_CHECKING:
    from fedconvex.methods.base import Method

DESIGN_HELP = """Which parameters give a method its best proved rate on all clients of a class?

[bold]fedconvex design fedsplit --mu 1 --L 4[/bold]
[bold]fedconvex design scaffold --mu 1 --L 100 --per gradient[/bold]
[bold]fedconvex design scaffold:local_steps=5 --mu 1 --L 100[/bold]               its stepsize alone
[bold]fedconvex design feddyn --mu 1 --L 4 --clients 100 --draw uniform:10[/bold]

The rate is the factor by which squared errors of the whole state decrease in a round: proved by a Lyapunov function, \
in rationals. Parameters that are given after the method's name are kept, unless --over names them. That no other \
parameters are better is not proved. Exit status: 0 done, 2 wrong input, or no parameters contract."""


class Per(StrEnum):
    """What to save."""

    round = "round"
    gradient = "gradient"
    byte = "byte"


def design(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="fedsplit, scaffold:local_steps=5, feddyn, …")],
    L: Annotated[str, typer.Option("--L", help="The clients' functions are L-smooth.")],
    mu: Annotated[str, typer.Option(help="They are mu-strongly convex.")],
    over: Annotated[
        str | None, typer.Option(help="The parameters to design, with commas between; default: those not given.")
    ] = None,
    per: Annotated[Per, typer.Option(help="What to save.")] = Per.round,
    clients: Annotated[str, typer.Option(help="Their number, or any.")] = "any",
    draw: Annotated[str | None, typer.Option(help="Sampled clients: uniform:K, weighted:K or bernoulli:p.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """Call `fedconvex.proofs_checks.design` and print its result."""
    from fedconvex.audit.methods import explanation
    from fedconvex.commands.worst_case import count_of, scheme_of
    from fedconvex.proofs_checks import SmoothStronglyConvex
    from fedconvex.proofs_checks import design as compute
    from fedconvex.validation import exact_number

    functions = SmoothStronglyConvex(exact_number(mu, "--mu"), exact_number(L, "--L"))
    chosen, names, complete = _method(method, over)
    found = compute(chosen, functions, names, per.value, count_of(clients), participation=scheme_of(draw))
    if note := explanation(method):
        say(note, err=as_json)
    if not complete:
        found = replace(found, before=None)
    say(to_json(found.to_dictionary()) if as_json else str(found))


def _method(text: str, over: str | None) -> "tuple[Method | type[Method], list[str] | None, bool]":
    """The method or its class, the parameters to design, and whether all of the method's were given."""
    from fedconvex.audit.methods import integer_or_same, read_parameters

    kind, numbers = read_parameters(text)
    given: dict[str, Any] = {name: integer_or_same(value) for name, value in numbers.items()}
    own = {f.name: f.default is MISSING for f in fields(kind)}  # type: ignore[arg-type]
    free = [name for name in own if (own[name] or name == "local_steps") and name not in given]
    names = free if over is None else [name.strip() for name in over.split(",")]
    missing = [name for name in own if own[name] and name not in given]
    if not given:
        return kind, names or None, False
    if not {*missing} <= {*names}:
        return kind, names, False  # refused, with the names that are missing
    return kind(**given, **dict.fromkeys(missing, 1)), names or None, not missing
