"""`fedconvex bounds`: which formula is meant, its parameters from the command line, and its value with proved digits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from inspect import cleandoc
from typing import Any, final

from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.statements import Calculator, Paper, Parameter, Sign, Statement
from fedconvex.statements.arguments import Arguments, to_ball
from fedconvex.statements.calculator import named_parts
from fedconvex.statements.functions import Irrational, Undecided
from fedconvex.statements.notation import Shape

DIGITS = 15
MAX_PRECISION = 1 << 14
LONGEST = 1000  # characters of a number on the command line
LARGEST_EXPONENT = 4000  # 1e1000000000 would fill the memory, being exact
LARGEST_POWER = 10_000  # beyond, formulas are not tried in rational numbers: (1 + 1/3)^T has as many digits
MOST_BITS = 10_000  # of an exact result that is written out
SHORT = 24  # characters

Value = Fraction | tuple[Fraction, ...]


@final
@dataclass(frozen=True)
class Entry:
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


def entries(paper: Paper) -> list[Entry]:
    """A paper's statements, in its order, then its calculators without a number."""
    statements = [Entry(s.identifier, s.source, s.calculator, paper, s) for s in paper]
    return statements + [entry for name, entry in _attributes(paper).items() if entry.statement is None]


def find(identifier: str) -> Entry:
    """`fedprox.theorem4` by number, or `fedprox.rho` by name; InvalidInput with what comes near."""
    from fedconvex.theory import papers

    by_paper = papers()
    name, _, own = identifier.strip().partition(".")
    paper = by_paper.get(name.lower())
    if paper is not None:
        attributes = _attributes(paper)
        if own in attributes:
            return attributes[own]
        statement = paper.statements.get(own.lower())
        if statement is not None:
            return Entry(statement.identifier, statement.source, statement.calculator, paper, statement)
        if own.isidentifier() and callable(vars(_module(paper)).get(own)):
            cure = f"call it in Python: fedconvex.theory.{paper.name}.{own}(…)"
            raise InvalidInput("statement", identifier, "is a program and no formula", cure)
    known = [f"{p.name}.{key}" for p in by_paper.values() for key in (*p.statements, *_attributes(p))]
    near = get_close_matches(identifier, known, n=3, cutoff=0.5) or sorted(by_paper)
    raise InvalidInput("statement", identifier, "is unknown", f"did you mean {', '.join(near)}?")


def _module(paper: Paper) -> Any:
    return import_module(f"fedconvex.theory.{paper.name}")


def _attributes(paper: Paper) -> dict[str, Entry]:
    """Statements and calculators by their names in the paper's module."""
    found = {}
    for name, value in vars(_module(paper)).items():
        if isinstance(value, Statement):
            found[name] = Entry(value.identifier, value.source, value.calculator, paper, value)
        elif isinstance(value, Calculator):
            source = f"{paper.short}, {value.owner.partition(': ')[2]}"
            found[name] = Entry(f"{paper.name}.{name}", source, value, paper)
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
                raise InvalidInput(given, "", "has no value", f"give {given} NUMBER")
            text = rest.pop(0)
        name = given[2:].replace("-", "_")
        if name in texts:
            raise InvalidInput(given, text, "is given twice", "give it once")
        texts[name] = text
    return alone, texts


def require_known(entry: Entry, names: Sequence[str], value: str = "") -> None:
    """Raises InvalidInput for the first name that is no parameter of the formula."""
    for name in names:
        if name not in entry.parameters:
            cure = f"it has {', '.join(map(option, entry.parameters))}"
            raise InvalidInput(option(name), value, f"{entry.identifier} has no such parameter", cure)


def parse(entry: Entry, texts: Mapping[str, str]) -> dict[str, Value]:
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


def require_complete(entry: Entry, values: Mapping[str, Any]) -> None:
    """Raises InvalidInput that says what is missing, with its meaning and its range."""
    lacking = missing(entry.calculator, values)
    if entry.left is not None and any(name not in entry.calculator.parameters for name in values):
        lacking += [name for name in missing(entry.left, values) if name not in lacking]
    if lacking:
        meanings = (f"{option(n)} ({entry.parameters[n].meaning}; {entry.parameters[n].range})" for n in lacking)
        names = ", ".join(map(option, lacking))
        raise InvalidInput("missing", names, f"{entry.identifier} needs a value of each", f"give {', '.join(meanings)}")


def written(value: Any) -> Any:
    """A parsed value as a string, a sequence as a list of them."""
    return [written(v) for v in value] if isinstance(value, tuple) else str(value)


@final
@dataclass(frozen=True)
class Number:
    """A result: a ball that contains it, and the rational number that it is, where that is known."""

    ball: Any
    exact: Fraction | None = None

    @property
    def sign(self) -> Sign:
        """Proved, or UNKNOWN."""
        if self.exact is not None:
            return Sign.POSITIVE if self.exact > 0 else Sign.NEGATIVE if self.exact < 0 else Sign.ZERO
        return Sign.POSITIVE if self.ball > 0 else Sign.NEGATIVE if self.ball < 0 else Sign.UNKNOWN

    @cached_property
    def ends(self) -> tuple[Decimal, Decimal]:
        """Two decimals between which it lies; equal where it is one of `DIGITS` digits."""
        middle, _, radius = self.ball.str(2 * DIGITS).strip("[]").partition("+/-")
        m, r = Decimal(middle.strip() or 0), Decimal(radius.strip() or 0)
        return _context(4 * DIGITS).subtract(m, r), _context(4 * DIGITS).add(m, r)

    @cached_property
    def decimal(self) -> Decimal | None:
        """Rounded to nearest, to as many digits (at most `DIGITS`) as are proved; None where not even one is."""
        if self.exact is not None:
            return _context(DIGITS).divide(Decimal(self.exact.numerator), Decimal(self.exact.denominator))
        for digits in range(DIGITS, 0, -1):
            low, high = (_context(digits).plus(end) for end in self.ends)
            if low == high:
                return low
        return None

    @property
    def is_accurate(self) -> bool:
        """Whether `DIGITS` digits are proved."""
        return self.exact is not None or (self.decimal is not None and len(self.decimal.as_tuple().digits) == DIGITS)

    @property
    def text(self) -> str:
        """`= 7/3 ≈ 2.33333333333333`, `≈ 0.00786848364598506`; every digit is proved."""
        if self.decimal is None:
            low, high = (f"{_context(3).plus(end):e}" for end in self.ends)
            return f"between {low} and {high}"
        if self.exact is None:
            return f"≈ {_plain(self.decimal)}"
        whole = f"{self.exact}" if self.fits else ""
        rounded = _plain(self.decimal.normalize(_context(DIGITS)))
        relation = "=" if Fraction(self.decimal) == self.exact else "≈"
        if whole and len(whole) <= SHORT:
            return f"= {whole}" if whole == rounded else f"= {whole} {relation} {rounded}"
        return f"{relation} {rounded}"

    @property
    def fits(self) -> bool:
        """Whether the exact number is known and can be written out."""
        e = self.exact
        return e is not None and max(e.numerator.bit_length(), e.denominator.bit_length()) <= MOST_BITS

    def to_dictionary(self) -> dict[str, Any]:
        """Ready for JSON: the nearest float and bounds rounded outwards, null beyond the range of floats."""
        from math import isfinite

        from fedconvex.balls import lower_float, upper_float
        from fedconvex.rationals import nearest_float

        value = nearest_float(self.ball if self.exact is None else self.exact)
        floats = {"value": value, "lower": lower_float(self.ball), "upper": upper_float(self.ball)}
        return {
            **{name: v if isfinite(v) else None for name, v in floats.items()},
            "exact": str(self.exact) if self.fits else None,
            "sign": self.sign.name.lower(),
        }


def evaluate(calculator: Calculator, values: Mapping[str, Any]) -> dict[str, Number]:
    """The value, or each part of it, by name; raises InvalidInput for what the statement refuses."""
    given = {name: value for name, value in values.items() if name in calculator.parameters}
    try:
        arguments = calculator.arguments(given)
        calculator.check(arguments.values)
    except InvalidInput as error:
        raise InvalidInput(error.argument, written(error.value), error.problem, error.cure) from None
    try:
        result = _exactly(calculator, arguments)
        return _numbers(calculator, result) if result is not None else _in_balls(calculator, arguments)
    except (ArithmeticError, ValueError):
        names = ", ".join(f"{name} = {written(value)}" for name, value in given.items())
        problem = f"{calculator.owner} is not defined there"
        raise InvalidInput("parameters", names, problem, "give others") from None


def _exactly(calculator: Calculator, arguments: Arguments) -> Any:
    """The value in rational numbers, None where it is irrational or would be too long."""
    counts = (
        v for name, v in arguments.values.items() if name in calculator.parameters and _is_count(calculator, name)
    )
    if not calculator.integer and any(v > LARGEST_POWER for v in counts):
        return None
    try:
        return calculator.exactly(arguments)
    except Irrational:
        return None


def _is_count(calculator: Calculator, name: str) -> bool:
    return calculator.parameters[name].integer


def _in_balls(calculator: Calculator, arguments: Arguments) -> dict[str, Number]:
    precision, found = 128, None
    while precision <= MAX_PRECISION:
        try:
            found = _numbers(calculator, calculator.in_balls(arguments, precision))
            if all(number.is_accurate for number in found.values()):
                return found
        except Undecided:
            pass
        precision *= 2
    if found is None:
        raise NotConverged(f"{calculator.owner}: {MAX_PRECISION} bits do not decide between two integers")
    if not all(number.ball.is_finite() for number in found.values()):
        raise ZeroDivisionError
    return found


def _numbers(calculator: Calculator, result: Any) -> dict[str, Number]:
    return {name: _number(value) for name, value in named_parts(calculator.name, result).items()}


def _number(value: Any) -> Number:
    """Of an arb, an int, a Fraction or an fmpq."""
    from flint import ctx

    from fedconvex.rationals import to_fraction

    if type(value).__name__ != "arb":
        with ctx.workprec(2 * MAX_PRECISION if isinstance(value, int) else 256):
            return Number(to_ball(value), to_fraction(value))
    if value == 0:
        return Number(value, Fraction(0))  # no other ball is equal to 0
    return Number(value)


def _context(digits: int) -> Context:
    return Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _plain(decimal: Decimal) -> str:
    """0.001 and 123000, but 1e-20 and 1.5e+30."""
    if -7 < decimal.adjusted() <= DIGITS or decimal == 0:
        return f"{decimal:f}"
    return f"{decimal:e}"
