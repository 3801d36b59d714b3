"""A calculator is its claim's formula: both are computed at random numbers when a statement is registered.

What is proved is the tree that the formula makes of terms; what a user gets is what it makes of numbers. A formula that
looks at the type of its arguments could be two.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import isclose
from random import Random
from typing import TYPE_CHECKING, Any

from fedconvex.claims.display.typesetting import outside_brackets
from fedconvex.claims.terms import parameter
from fedconvex.errors import InvalidInput
from fedconvex.statements import functions
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.functions import Irrational
from fedconvex.statements.notation import Parameter, Shape

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "neg": operator.neg,
    "^": functions.power, "root": functions.sqrt, "exp": functions.exp, "log": functions.log,
    "ceil": functions.ceil, "max": functions.maximum,
    "named": lambda symbol, inside: inside, "mean": lambda of: of,  # of clients who all have one number
}  # fmt: skip
TRIES, POINTS = 12, 2
SQUARES = tuple(Fraction(a * a, b * b) for a in range(1, 7) for b in range(1, 5))  # roots stay rational
COUNTS = (1, 4, 9, 16, 25)
CLIENTS = 4
RELATION = re.compile(r"\\(?:leq?|geq?|lt|gt|ne|approx|sim|text|q?quad|Rightarrow|iff)(?![A-Za-z])|[=<>]")
CLOSE = 1e-9
SEVERAL = (Shape.SEQUENCE, Shape.VECTORS)


def evaluated(term: Any, values: Mapping[Any, Any], operations: Mapping[str, Callable[..., Any]] = OPERATIONS) -> Any:
    """The term where these parameters, by name, and these terms have these values. Raises KeyError for others."""
    heads = {
        known.head for known in values if type(known) is not str
    }  # trees are hashed whole: others are not looked up

    def value(of: Any) -> Any:
        if not hasattr(of, "head"):  # a symbol, or a plain number
            return of
        if of.head in heads and of in values:
            return values[of]
        if of.head == "parameter":
            return values[of.args[0]]
        return of.args[0] if of.head == "constant" else operations[of.head](*map(value, of.args))

    return value(term)


def at_terms(calculator: CheckedFormula) -> Any:
    """The calculator's formula at terms: what each parameter means, or the parameter itself."""
    return _at_terms(calculator.formula, calculator.parameters)


def _at_terms(formula: Callable[..., Any], parameters: Mapping[str, Parameter]) -> Any:
    return formula(**{n: parameter(n) if p.means is None else p.means for n, p in parameters.items()})


def require_agreement(of: "Statement") -> None:
    """Raises InvalidInput where a side, or a bound in its conditions, is another formula at terms than at numbers.

    And for a symbol that says something itself: it stands beside the formula, and is not claimed.
    """
    for symbol in of.symbol:
        if RELATION.search(outside_brackets(symbol)):
            raise InvalidInput("symbol", symbol, f"of {of.identifier} is a relation, which nothing proves",
                               "give what the formula is equal to, or bounds")  # fmt: skip
    for side in (of.calculator, of.left):
        if side is None:
            continue
        _require("formula", of.identifier, side.formula, side.parameters)
        for condition in side.conditions:
            if callable(condition.bound):
                own = {name: side.parameters[name] for name in condition.names}
                _require(f"condition on {condition.argument}", of.identifier, condition.bound, own)


def _require(what: str, owner: str, formula: Callable[..., Any], parameters: Mapping[str, Parameter]) -> None:
    try:
        tree = _at_terms(formula, parameters)
    except (InvalidInput, NameError):
        raise
    except Exception as error:  # the formula is its author's code
        problem = f"cannot be called with terms ({type(error).__name__}: {error})"
        cure = "use arithmetic and the functions of fedconvex.statements.functions"
        raise InvalidInput(what, owner, problem, cure) from error
    for kind in (Fraction, float):
        compared = 0
        for numbers, values in _points(Random(owner), kind, parameters):
            try:
                found, wanted = formula(**numbers), [evaluated(x, values) for x in _parts(tree)]
            except (Irrational, ArithmeticError, ValueError):  # no number there
                continue
            except KeyError as error:
                problem = f"makes {error} of terms, which has no number"
                raise InvalidInput(what, owner, problem, "use its parameters alone") from None
            if not all(map(_equal, _parts(found), wanted)):
                where = ", ".join(f"{name} = {value}" for name, value in numbers.items())
                problem = f"is {found} at {where}, and {', '.join(map(str, wanted))} where it is displayed and proved"
                raise InvalidInput(what, owner, problem, "write one formula, whatever the type of its arguments")
            if (compared := compared + 1) == POINTS:
                break


def _parts(of: Any) -> tuple[Any, ...]:
    return of if isinstance(of, tuple) else (of,)


def _equal(found: Any, wanted: Any) -> bool:
    if isinstance(found, float) or isinstance(wanted, float):
        return isclose(found, wanted, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(found == wanted)


def _points(
    random: Random, kind: Callable[[Any], Any], parameters: Mapping[str, Parameter]
) -> Iterator[tuple[dict[str, Any], dict[Any, Any]]]:
    """Random numbers of one kind: as the formula takes them, and the same ones for its tree."""
    for _ in range(TRIES):
        numbers = {n: kind(random.choice(COUNTS if p.integer else SQUARES)) for n, p in parameters.items()}
        clients = numbers.get("num_clients", kind(CLIENTS))
        values: dict[Any, Any] = {"num_clients": clients, **numbers}
        for name, of in parameters.items():
            values |= {means: numbers[name] for means in _parts(of.means) if means is not None}
        yield {n: (x,) * int(clients) if parameters[n].shape in SEVERAL else x for n, x in numbers.items()}, values
