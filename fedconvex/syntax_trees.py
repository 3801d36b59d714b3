"""Python's syntax trees, from any thread.

CPython 3.11 counts the depth of a conversion to a tree once for all threads: where one interrupts another, `ast.parse`
raises SystemError. Workers with several threads meet that when they import the package, also beside a thread that
formats a traceback, which parses, too.
"""

import ast
from contextlib import suppress
from threading import RLock
from typing import Any

_ONE_AT_A_TIME = RLock()
TRIES = 1000


def syntax_tree(source: str) -> ast.Module:
    """The tree of a module's source."""
    tree: ast.Module = _parsed(source, "exec")
    return tree


def expression_tree(text: str) -> ast.expr:
    """The tree of one expression."""
    tree: ast.Expression = _parsed(text, "eval")
    return tree.body


def _parsed(text: str, mode: str) -> Any:
    with _ONE_AT_A_TIME:
        for _ in range(TRIES):
            with suppress(SystemError):  # code that takes no lock has parsed at the same time
                return ast.parse(text, mode=mode)
        return ast.parse(text, mode=mode)
