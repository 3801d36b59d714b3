"""`fedconvex landscape`: what is known of each method, under which assumptions, proved or not, and how tight."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from fedconvex.commands.terminal import say
from fedconvex.json_files import to_json

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.landscape import KnownResult

LANDSCAPE_HELP = """What is known of each method, under which assumptions, proved or not, and how tight.

[bold]fedconvex landscape[/bold]
[bold]fedconvex landscape FedProx[/bold]            one method
[bold]fedconvex landscape --strongly-convex --partial-participation --no-bounded-dissimilarity[/bold]

Options keep the results for that setting; several of --strongly-convex, --convex and --nonconvex keep those for any \
of these. Exit status: 0 there are results, 1 there are none, 2 wrong input."""


def landscape(
    method: Annotated[
        str | None,
        typer.Argument(metavar="[METHOD]", show_default=False, help="Such as FedProx; default: every method."),
    ] = None,
    strongly_convex: Annotated[
        bool, typer.Option("--strongly-convex", help="Results on strongly convex clients.")
    ] = False,
    convex: Annotated[bool, typer.Option("--convex", help="Results on convex clients.")] = False,
    nonconvex: Annotated[bool, typer.Option("--nonconvex", help="Results on clients that need not be convex.")] = False,
    partial_participation: Annotated[
        bool, typer.Option("--partial-participation", help="Results where some of the clients take part in a round.")
    ] = False,
    no_bounded_dissimilarity: Annotated[
        bool,
        typer.Option(
            "--no-bounded-dissimilarity", help="No results that bound the gradients' dissimilarity or variance."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Print the results that the options keep."""
    from fedconvex.proofs_checks.reporting import landscape as page

    wanted = _name_of(method)
    flags = zip(page.CLASSES, (strongly_convex, convex, nonconvex), strict=True)
    classes = {name for name, kept in flags if kept}

    def is_kept(result: "KnownResult") -> bool:
        return (
            (wanted is None or result.method == wanted)
            and (not classes or result.clients in classes)
            and (not partial_participation or result.participation == page.SOME)
            and (not no_bounded_dissimilarity or not result.heterogeneity)
        )

    found = page.landscape(is_kept)
    if as_json:
        say(to_json([asdict(result) for result in found]))
    else:
        say(page.as_text(found) if found else "No result of the catalogue is about that setting.")
    if not found:
        raise typer.Exit(1)


def _name_of(method: str | None) -> str | None:
    """The method's name, whatever the case. Raises InvalidInput for an unknown one."""
    if method is None:
        return None
    from fedconvex.errors import InvalidInput
    from fedconvex.methods import METHODS
    from fedconvex.names import one_of

    known = {name.lower(): name for name in METHODS}
    if method.strip().lower() not in known:
        raise InvalidInput("method", method, "is no method", one_of(method, METHODS))
    return known[method.strip().lower()]
