"""Formulas in text, as in `w + value * (x - w)`, made into functions: the text is read as data, and never executed."""

import ast
import operator
from ast import expr
from collections.abc import Callable, Mapping
from typing import Any

from fedconvex.syntax_trees import expression_tree

Part = Callable[[Any, Any], Any]  # of what the names belong to, and of x
BINARY: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[..., Any]] = {ast.USub: operator.neg, ast.Not: operator.not_}


def function_of(text: str, names: Mapping[str, Any], value_of: Callable[[Any, str], Any] = getattr) -> Part:
    """The function (v, x) -> value of a formula.

    A name is x, v, one of `names`, or else value_of(v, name). Where the whole text is the name of a function, that is
    the function.
    """
    found = names.get(text)
    return found if callable(found) and not isinstance(found, type) else _part(expression_tree(text), names, value_of)


def _part(node: expr, names: Mapping[str, Any], value_of: Callable[[Any, str], Any]) -> Part:
    def part(inner: expr) -> Part:
        return _part(inner, names, value_of)

    match node:
        case ast.Constant(value=constant):
            return lambda v, x: constant
        case ast.Name(id="x"):
            return lambda v, x: x
        case ast.Name(id="v"):
            return lambda v, x: v
        case ast.Name(id=name) if name in names:
            known = names[name]
            return lambda v, x: known
        case ast.Name(id=name):
            return lambda v, x: value_of(v, name)
        case ast.BinOp(left=a, op=op, right=b):
            left, right, binary = part(a), part(b), BINARY[type(op)]
            return lambda v, x: binary(left(v, x), right(v, x))
        case ast.UnaryOp(op=op, operand=a):
            inner, unary = part(a), UNARY[type(op)]
            return lambda v, x: unary(inner(v, x))
        case ast.Compare(left=a, ops=ops, comparators=others):
            sides, signs = [part(a), *map(part, others)], [BINARY[type(op)] for op in ops]
            return lambda v, x: all(sign(sides[i](v, x), sides[i + 1](v, x)) for i, sign in enumerate(signs))
        case ast.BoolOp(op=op, values=values):
            parts, truth = list(map(part, values)), all if isinstance(op, ast.And) else any
            return lambda v, x: truth(one(v, x) for one in parts)
        case ast.IfExp(test=c, body=a, orelse=b):
            test, yes, no = part(c), part(a), part(b)
            return lambda v, x: yes(v, x) if test(v, x) else no(v, x)
        case ast.Attribute(value=a, attr=attribute):
            owner = part(a)
            return lambda v, x: getattr(owner(v, x), attribute)
        case ast.Subscript(value=a, slice=b):
            of, index = part(a), part(b)
            return lambda v, x: of(v, x)[index(v, x)]
        case ast.Call(func=a, args=given, keywords=[]):
            called, arguments = part(a), list(map(part, given))
            return lambda v, x: called(v, x)(*(argument(v, x) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)} is no part of a formula")
