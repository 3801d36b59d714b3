"""`fedconvex bounds STATEMENT … --worst-case`: the bound compared with the exact worst case, an interval with proof."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from fedconvex.commands.bounds.formulas import Computable, option
from fedconvex.commands.terminal import say
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.json_files import to_json
from fedconvex.validation import exact_number
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.proofs_checks.worst_cases.looseness.factor import Looseness


def show(entry: Computable, texts: Mapping[str, str], as_json: bool) -> None:
    """Print the comparison. Exit status 1 unless it proves that the bound holds at these values."""
    from fedconvex.proofs_checks import looseness
    from fedconvex.proofs_checks.worst_cases.looseness.asked import question_about, questions

    try:
        asked = question_about(entry.identifier)
    except InvalidInput:
        near = [identifier for identifier in questions() if identifier.startswith(f"{entry.paper.name}.")]
        cure = f"give one of {', '.join(near)}"
        raise InvalidInput(
            "--worst-case", entry.identifier, "is no bound whose worst case can be computed", cure
        ) from None
    if not texts:
        letters = entry.paper.notation
        names = [
            f"{option(name)}: {letters[name].meaning if name in letters else 'number of clients'}"
            + ", if the worst case is to be for such clients only" * (name not in asked.needed)
            for name in asked.taken
        ]
        say("\n  ".join([f"{entry.identifier} --worst-case takes", *names]))
        return
    try:
        found = looseness(entry.identifier, **{name: exact_number(text, option(name)) for name, text in texts.items()})
    except InvalidInput as error:
        if error.argument != entry.calculator.name:
            raise
        # the options are valid: the statement just guarantees nothing there, which is an answer, not wrong input
        needs = f"it needs {error.argument} > 0, and that is {float(error.value):.6g}"
        raise FedconvexError(f"{entry.identifier} guarantees nothing here: {needs}") from None
    if as_json:
        say(to_json(to_dictionary(found)))
    else:
        for line in lines(found):
            say(line)
    if found.verdict is not Verdict.PROVED:
        raise typer.Exit(1)


def lines(found: "Looseness") -> list[str]:
    """The comparison for a terminal."""
    from fedconvex.commands.worst_case_text import interval_lines, meaning
    from fedconvex.proofs_checks import WorstCase

    statement = found.statement
    written = [
        f"{statement.identifier}  ({statement.source}; {statement.claim_type.value})",
        f"  {statement.words}",
        f"  {statement.phrases}",
        "  " + ", ".join(f"{name} = {value}" for name, value in found.numbers.items()),
    ]
    if isinstance(found.worst, WorstCase):
        root = "√ of " * (found.power == 2)
        written += [f"{root}{meaning(found.worst.question.spec)}", f"bound: {float(found.bound):.12g}"]
    else:
        squares = "squares of " * (found.power == 2)
        written.append(f"quotient: {squares}left side / right side")
    return [*written, *interval_lines(found, found.metric), found.says]


def to_dictionary(found: "Looseness") -> dict[str, Any]:
    """The comparison for JSON: exact numbers as fractions, infinite and unknown ones as null."""
    return {
        "statement": found.statement.identifier,
        "as_printed": found.statement.phrases.as_printed,
        "holds": found.statement.phrases.holds,
        "arguments": {name: str(value) for name, value in found.numbers.items()},
        "metric": found.metric,
        "bound": None if found.bound is None else float(found.bound),
        "worst": {"lower": _exact(found.lower), "upper": _exact(found.upper)},
        "factor": {"lower": _exact(found.factor[0]), "upper": _exact(found.factor[1])},
        "verdict": found.verdict.value,
        "says": found.says,
        "multipliers": {name: str(value) for name, value in found.worst.multipliers.items()},
    }


def _exact(value: Any) -> str | None:
    return str(value) if isinstance(value, Fraction) else None
