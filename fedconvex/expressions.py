"""A small expression language for formulas in text, as in `tail('value', data, 'a') < tail('value', data, 'b')`.

Numbers, strings, names, + − * / **, comparisons, `and`, `or`, `not`, and calls of the functions that the caller passes;
nothing else. Python's parser reads the text and this module walks the tree: the text is never executed.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion
from fedconvex.syntax_trees import expression_tree


def _product(left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):  # 'a' * 10000000000 is a text of 10 GB
        raise TypeError("text cannot be multiplied")
    return left * right


def _power(left: Any, right: Any) -> Any:
    return (1.0 * left) ** right  # 9**9**9 is an integer of 369 million digits


OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _product, ast.Div: operator.truediv,
    ast.Pow: _power, ast.USub: operator.neg,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
EXAMPLE = "tail('value') < 0.5"
SIGNS = {ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥"}


@final
@dataclass(frozen=True)
class Truth:
    """The result of a comparison, with the numbers that it compared."""

    holds: bool
    shown: str
    known: bool = True  # False for NaN, and for two infinite numbers, which cannot be compared

    def __bool__(self) -> bool:
        return self.holds


def evaluate(text: str, names: Mapping[str, Any], where: str = "expression", example: str = EXAMPLE) -> Any:
    """The value of the expression: a number, a string, or the `Truth` of a comparison.

    Args:
        names: the values and functions that it may use.
        where: the place of the expression, for errors.
        example: an expression that is right, for errors.

    Raises:
        InvalidInput: for any other Python expression, and where the value cannot be computed.
    """
    tree = parsed(text, names, where, example)
    try:
        return _value(tree, names)
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(where, text, f"cannot be computed: {error}", "correct the formula") from None


def parsed(text: Any, names: Mapping[str, Any], where: str, example: str = EXAMPLE) -> ast.expr:
    """The expression's syntax tree, after checking that every node is one that `evaluate` allows."""
    try:
        tree = expression_tree(text)
    except (SyntaxError, TypeError, ValueError, MemoryError, RecursionError) as error:  # the last two: nested deeply
        raise InvalidInput(where, text, f"is no formula: {error}", f"write such as {example}") from None
    for node in ast.walk(tree):
        known = (
            isinstance(node, ast.expr_context | ast.keyword | ast.And | ast.Or | ast.Not) or type(node) in OPERATIONS
        )
        known = known or isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.Call)
        # type(), not isinstance(): True and False are ints, and not part of the language
        known = known or (isinstance(node, ast.Constant) and type(node.value) in (int, float, str))
        if isinstance(node, ast.Name):
            known = node.id in names
        if isinstance(node, ast.Call):
            known = isinstance(node.func, ast.Name) and callable(names.get(node.func.id))
        if not known:
            part = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
            unknown = node.func if isinstance(node, ast.Call) else node
            near = suggestion(unknown.id, names) if isinstance(unknown, ast.Name) else ""
            raise InvalidInput(where, text, f"{part} is not known there", f"{near}known: {', '.join(sorted(names))}")
    return tree


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_value(left, names), _value(right, names))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _value(operand, names)
            return Truth(not inner, f"not ({_shown(inner)})", _known([inner]))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATIONS[type(op)](_value(operand, names))
        case ast.BoolOp(op=op, values=parts):
            found = [_value(part, names) for part in parts]
            word, all_or_any = ("and", all) if isinstance(op, ast.And) else ("or", any)
            return Truth(all_or_any(found), f" {word} ".join(map(_shown, found)), _known(found))
        case ast.Compare(left=left, ops=ops, comparators=others):
            numbers = [_value(part, names) for part in (left, *others)]
            pairs = zip(numbers, ops, numbers[1:], strict=False)
            holds = all(bool(OPERATIONS[type(op)](a, b)) for a, op, b in pairs)
            signs = [SIGNS[type(op)] for op in ops]
            shown = _shown(numbers[0]) + "".join(f" {s} {_shown(b)}" for s, b in zip(signs, numbers[1:], strict=True))
            # two diverged runs: neither is better, whatever floats say of inf <= inf
            endless = any(abs(a) == abs(b) == math.inf for a, b in pairwise(numbers))
            return Truth(holds, shown, _known(numbers) and not endless)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            options = {str(k.arg): _value(k.value, names) for k in keywords}
            return names[name](*(_value(argument, names) for argument in args), **options)
    raise AssertionError(node)


def _shown(value: Any) -> str:
    if isinstance(value, Truth):
        return value.shown
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _known(values: list[Any]) -> bool:
    return all(value.known if isinstance(value, Truth) else value == value for value in values)
