"""Formulas with one place of their source changed, for arguments that are sequences or matrices."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

from fedconvex.statements.calculator import Calculator
from fedconvex.statements.statement import Statement

Formula = Callable[..., Any]
OPPOSITE = {ast.Add: ast.Sub, ast.Sub: ast.Add}


def mutated_sources(formula: Formula) -> Iterator[tuple[str, Formula]]:
    """The formula with one place changed, in it or in a function of the papers that it calls."""
    for function in [formula, *called(formula)]:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        tree.decorator_list = []
        for description, changed in changed_trees(tree):
            yield f"{description} in {function.__name__}", rebuilt(formula, function, compiled(changed, function))


def changed_trees(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    for number, node in enumerate(ast.walk(tree)):
        for description, change in changes(node):
            copy = deepcopy(tree)
            target = list(ast.walk(copy))[number]
            yield f"{description} ({ast.unparse(node)})", Replaced(target, change(target)).visit(copy)


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield f"{value} -> {value + 1}", lambda n: ast.Constant(n.value + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield "a sign", lambda n: ast.BinOp(n.left, OPPOSITE[type(n.op)](), n.right)
        case ast.BinOp(op=ast.Mult()):
            yield "without the first factor", lambda n: n.right
            yield "without the second factor", lambda n: n.left
        case ast.BinOp(op=ast.Div()):
            yield "without the divisor", lambda n: n.left
        case ast.UnaryOp(op=ast.USub()):
            yield "without the minus", lambda n: n.operand


class Replaced(ast.NodeTransformer):
    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self.target, self.new = target, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.target else self.generic_visit(node)


def compiled(tree: ast.FunctionDef, like: Formula) -> FunctionType:
    space: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([tree], []))
    exec(compile(module, like.__module__, "exec"), like.__globals__, space)  # type: ignore[attr-defined]  # noqa: S102
    found: FunctionType = space[tree.name]
    return found


def called(function: Formula) -> list[Formula]:
    """The papers' functions that it needs, directly or not."""
    found: list[Formula] = []
    for used in used_by(function).values():
        other = formula_of(used)
        if other is not None and other is not function:
            found += [f for f in (other, *called(other)) if f not in found]
    return found


def used_by(function: Formula) -> dict[str, Any]:
    names = names_in(function.__code__)  # type: ignore[attr-defined]
    return {n: function.__globals__[n] for n in names if n in function.__globals__}  # type: ignore[attr-defined]


def names_in(code: CodeType) -> set[str]:
    inside = (names_in(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inside)


def formula_of(used: Any) -> Formula | None:
    match used:
        case Statement():
            return used.calculator.formula
        case Calculator():
            return used.formula
        case FunctionType() if used.__module__.startswith("fedconvex.theory"):
            return used
    return None


def rebuilt(formula: Formula, target: Formula, new: Formula) -> Formula:
    """The formula where `target`, wherever it is called, is another function."""
    if formula is target:
        return new
    space = dict(formula.__globals__)  # type: ignore[attr-defined]
    for name, used in used_by(formula).items():
        other = formula_of(used)
        if other is not None and other is not formula and (other is target or target in called(other)):
            inner = rebuilt(other, target, new)
            match used:
                case Statement():
                    space[name] = replace(used, calculator=replace(used.calculator, formula=inner))
                case Calculator():
                    space[name] = replace(used, formula=inner)
                case _:
                    space[name] = inner
    made = FunctionType(formula.__code__, space, formula.__name__, None, formula.__closure__)  # type: ignore[attr-defined]
    made.__kwdefaults__ = formula.__kwdefaults__  # type: ignore[attr-defined]
    made.__annotations__ = formula.__annotations__
    made.__doc__ = formula.__doc__
    return made
