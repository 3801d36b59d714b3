"""`fedconvex bounds`: which formula is meant, and its parameters as typed, exactly."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from inspect import cleandoc, isfunction
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.statements import Calculator, Paper, Parameter, Statement
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import named_parts

LONGEST = 1000  # characters of a number on the command line
LARGEST_EXPONENT = 4000  # 1e1000000000 would fill the memory, being exact

Value = Fraction | tuple[Fraction, ...]


@final
@dataclass(frozen=True)
class Computable:
    """What the command can compute: a statement, or a calculator that belongs to one."""

    identifier: str
    source: str
    calculator: Calculator
    paper: Paper
    statement: Statement | None = None

    @property
    def claim(self) -> str:
        """What the number is worth: `upper bound`, …"""
        return self.statement.claim.value if self.statement is not None else "calculator"

    @property
    def words(self) -> str:
        """The first paragraph of the docstring."""
        return " ".join(cleandoc(self.calculator.__doc__ or "").partition("\n\n")[0].split())

    @property
    def left(self) -> Calculator | None:
        """The left-hand side, where it is a formula too."""
        return self.statement.left if self.statement is not None else None

    @property
    def positive(self) -> bool:
        """Whether it says something only where its value is positive."""
        return self.statement is not None and self.statement.positive

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """Those of both sides."""
        return {**self.calculator.parameters, **(self.left.parameters if self.left is not None else {})}

    @property
    def text(self) -> str:
        """The formula and its options."""
        from fedconvex.statements.rendering import expression

        if self.statement is not None:
            return str(self.statement)
        values = named_parts(self.calculator.name, expression(self.calculator))
        lines = [f"{self.identifier}  ({self.source}; {self.claim})", f"  {self.words}"]
        lines += [f"  {name} = {value}" for name, value in values.items()]
        lines += [f"  needs {c.text(self.calculator.parameters)}" for c in self.calculator.conditions]
        lines += [f"  {option(name)}: {p.meaning} ({p.range})" for name, p in self.parameters.items()]
        return "\n".join(lines)

    @property
    def latex(self) -> str:
        """The formula with the paper's letters."""
        from fedconvex.statements.rendering import expression, latex_of

        if self.statement is not None:
            return self.statement.latex
        value = expression(self.calculator)
        return r",\qquad ".join(latex_of(v, self.parameters) for v in (value if isinstance(value, tuple) else (value,)))

    def to_dictionary(self) -> dict[str, Any]:
        """What it is, ready for JSON."""
        return {
            "statement": self.identifier,
            "source": self.source,
            "claim": self.claim,
            "words": self.words,
            "latex": self.latex,
            "parameters": {n: {"meaning": p.meaning, "range": p.range} for n, p in self.parameters.items()},
        }


def option(name: str) -> str:
    """`--L-minus` of `L_minus`."""
    return f"--{name.replace('_', '-')}"


def entries(paper: Paper) -> list[Computable]:
    """A paper's statements, in its order, then its calculators without a number."""
    statements = [Computable(s.identifier, s.source, s.calculator, paper, s) for s in paper.everything]
    return statements + [entry for name, entry in _attributes(paper).items() if entry.statement is None]


def find(identifier: str) -> Computable:
    """`fedprox.theorem4` by number, or `fedprox.rho` by name; InvalidInput with what comes near."""
    from fedconvex.theory import papers

    by_paper = papers()
    name, _, own = identifier.strip().partition(".")
    paper = by_paper.get(name.lower())
    if paper is not None:
        attributes = _attributes(paper)
        if own in attributes:
            return attributes[own]
        statement = (paper.statements | paper.ours).get(own.lower())
        if statement is not None:
            return Computable(statement.identifier, statement.source, statement.calculator, paper, statement)
        function = vars(_module(paper)).get(own)
        if isfunction(function) and function.__module__.startswith("fedconvex.theory."):
            cure = f"call fedconvex.theory.{paper.name}.{own} in Python"
            raise InvalidInput("statement", identifier, "is a function and no formula", cure)
    known = [f"{p.name}.{key}" for p in by_paper.values() for key in (*p.statements, *p.ours, *_attributes(p))]
    near = get_close_matches(identifier, known, n=3, cutoff=0.5) or sorted(by_paper)
    raise InvalidInput("statement", identifier, "is unknown", f"did you mean {', '.join(near)}?")


def _module(paper: Paper) -> Any:
    return import_module(f"fedconvex.theory.{paper.name}")


def _attributes(paper: Paper) -> dict[str, Computable]:
    """Statements and calculators by their names in the paper's module."""
    found = {}
    for name, value in vars(_module(paper)).items():
        if isinstance(value, Statement):
            found[name] = Computable(value.identifier, value.source, value.calculator, paper, value)
        elif isinstance(value, Calculator):
            source = f"{paper.short}, {value.owner.partition(': ')[2]}"
            found[name] = Computable(f"{paper.name}.{name}", source, value, paper)
    return found


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words that stand alone, and the texts of the options, by parameter: `--L-minus=3` or `--L_minus 3`."""
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
    """Raises InvalidInput for the first name that is no parameter of the formula."""
    for name in names:
        if name not in entry.parameters:
            cure = f"it has {', '.join(map(option, entry.parameters))}"
            raise InvalidInput(option(name), value, f"{entry.identifier} has no such parameter", cure)


def parse(entry: Computable, texts: Mapping[str, str]) -> dict[str, Value]:
    """The exact values of the parameters given."""
    values: dict[str, Value] = {}
    for name, text in texts.items():
        require_known(entry, [name], text)
        match entry.parameters[name].shape:
            case Shape.MATRICES | Shape.COLUMN:
                paper, own = entry.identifier.split(".")
                cure = f"call fedconvex.theory.{paper}.{own} in Python"
                raise InvalidInput(option(name), text, "is made of matrices, which no option can hold", cure)
            case Shape.SEQUENCE | Shape.VECTORS:
                values[name] = tuple(number(option(name), part) for part in text.split(","))
            case _:
                if "," in text:
                    raise InvalidInput(option(name), text, "is not one number", "give one, with a decimal point")
                values[name] = number(option(name), text)
    return values


def number(argument: str, text: str) -> Fraction:
    """The rational number that is written there, exactly."""
    exponent = re.search(r"[eE]([+-]?\d+)\s*$", text)
    if len(text) > LONGEST or (exponent and abs(int(exponent[1])) > LARGEST_EXPONENT):
        raise InvalidInput(argument, text, "is too long to be computed with", "give a number of fewer digits")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        cure = "give one such as 50, -3, 1/3, 0.1 or 1e-20"
        raise InvalidInput(argument, text, "is not a number", cure) from None


def missing(calculator: Calculator, values: Mapping[str, Any]) -> list[str]:
    """The parameters without a value and without a default."""
    return [name for name in calculator.names if name not in values and name not in calculator.defaults]


def require_complete(entry: Computable, values: Mapping[str, Any]) -> None:
    """Raises InvalidInput that says what is missing, with its meaning and its range."""
    lacking = missing(entry.calculator, values)
    if entry.left is not None and any(name not in entry.calculator.parameters for name in values):
        lacking += [name for name in missing(entry.left, values) if name not in lacking]
    if lacking:
        meanings = (f"{option(n)} ({entry.parameters[n].meaning}; {entry.parameters[n].range})" for n in lacking)
        names = ", ".join(map(option, lacking))
        raise InvalidInput("missing", names, f"{entry.identifier} needs a value of each", f"give {', '.join(meanings)}")


def defaults(entry: Computable, values: Mapping[str, Any]) -> dict[str, Value]:
    """The values of the parameters that were left out and need not be given."""
    return {name: Fraction(value) for name, value in entry.calculator.defaults.items() if name not in values}


def written(value: Any) -> Any:
    """A parsed value as a string, a sequence as a list of them."""
    return [written(v) for v in value] if isinstance(value, tuple) else str(value)
