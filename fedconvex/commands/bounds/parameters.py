"""Parameters on the command line: `--L-minus 1/3` read as exact numbers, checked against the formula."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedconvex.commands.bounds.formulas import Computable, option
from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion
from fedconvex.statements import Calculator
from fedconvex.statements.notation import Shape
from fedconvex.validation import exact_number

Value = Fraction | tuple[Fraction, ...]


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The positional words, and the value of each option by its parameter: `--L-minus=3` or `--L_minus 3`.

    The options depend on the formula, which is one of the words: so click passes all of them on unread.
    """
    alone: list[str] = []
    texts: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            alone.append(word)
            continue
        given, equals, text = word.partition("=")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise InvalidInput("option", given, "has no value", f"write {given} NUMBER")
            text = rest.pop(0)
        name = given[2:].replace("-", "_")
        if name in texts:
            raise InvalidInput(given, text, "is given twice", "give it once")
        texts[name] = text
    return alone, texts


def require_known(entry: Computable, names: Sequence[str], value: str = "") -> None:
    """Raises InvalidInput for a name that is no parameter of the formula."""
    for name in names:
        if name not in entry.parameters:
            known = [option(parameter) for parameter in entry.parameters]
            cure = f"{suggestion(option(name), known)}it has {', '.join(known)}"
            raise InvalidInput(option(name), value, f"{entry.identifier} has no such parameter", cure)


def parse(entry: Computable, texts: Mapping[str, str]) -> dict[str, Value]:
    """The exact values of the parameters that the user wrote."""
    values: dict[str, Value] = {}
    for name, text in texts.items():
        require_known(entry, [name], text)
        match entry.parameters[name].shape:
            case Shape.MATRICES | Shape.COLUMN:
                paper, own = entry.identifier.split(".")
                cure = f"call fedconvex.theory.{paper}.{own} in Python"
                raise InvalidInput(option(name), text, "is made of matrices, which no option can hold", cure)
            case Shape.SEQUENCE | Shape.VECTORS:
                values[name] = tuple(exact_number(part, option(name)) for part in text.split(","))
            case _:
                if "," in text:
                    raise InvalidInput(option(name), text, "is not one number", "give one, with a decimal point")
                values[name] = exact_number(text, option(name))
    return values


def missing(calculator: Calculator, values: Mapping[str, Any]) -> list[str]:
    """The parameters without a value and without a default."""
    return [name for name in calculator.names if name not in values and name not in calculator.defaults]


def require_complete(entry: Computable, values: Mapping[str, Any]) -> None:
    """Raises InvalidInput for missing parameters, with their meanings and ranges."""
    lacking = missing(entry.calculator, values)
    # a parameter that only the left-hand side has shows that the user wants that side, too
    if entry.left is not None and any(name not in entry.calculator.parameters for name in values):
        lacking += [name for name in missing(entry.left, values) if name not in lacking]
    if lacking:
        meanings = (f"{option(n)} ({entry.parameters[n].meaning}; {entry.parameters[n].range})" for n in lacking)
        names = ", ".join(map(option, lacking))
        raise InvalidInput("missing", names, f"{entry.identifier} needs a value of each", f"give {', '.join(meanings)}")


def defaults(entry: Computable, values: Mapping[str, Any]) -> dict[str, Value]:
    """The default values of the parameters that the user left out."""
    return {name: Fraction(value) for name, value in entry.calculator.defaults.items() if name not in values}


def written(value: Any) -> Any:
    """A value as a string, a sequence as a list of strings."""
    return [written(v) for v in value] if isinstance(value, tuple) else str(value)
