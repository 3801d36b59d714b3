"""The printed formula beside the displayed one, where they differ, with the difference marked."""

from typing import TYPE_CHECKING

from fedconvex.claims.display.differences import marked, marked_plainly, parsed
from fedconvex.claims.display.statements import displayed

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement


def printed_beside(statement: "Statement", *, plain: bool = False) -> tuple[str, str] | None:
    """What the paper prints and what stands here in its place, with marks; None where they do not differ.

    A statement that corrects or sharpens one of the paper stands beside that one. As LaTeX the differing parts are
    underlined; as plain text they are between [- -] in what is printed, between {+ +} in what stands here.
    """
    both = printed_and_here(statement)
    if both is None or parsed(both[0]) == parsed(both[1]):
        return None
    return marked_plainly(*both) if plain else marked(*both)


def printed_and_here(statement: "Statement") -> tuple[str, str] | None:
    """Both formulas as LaTeX without marks; None where nothing else is printed."""
    if statement.printed is not None:
        return statement.printed.formula, statement.printed.here or displayed(statement).formula
    of = statement.corrects
    if of is None:
        return None
    other = "" if of.printed is None or of.printed.here else of.printed.formula
    return other or displayed(of).complete, displayed(statement).complete
