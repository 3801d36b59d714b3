"""Python's syntax trees, from any thread.

CPython 3.11 counts the depth of a conversion to a tree once for all threads: where one interrupts another, `ast.parse`
raises SystemError. Workers with several threads meet that when they import the package.
"""

import ast
from threading import RLock

_ONE_AT_A_TIME = RLock()


def syntax_tree(source: str) -> ast.Module:
    """The tree of a module's source."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def expression_tree(text: str) -> ast.expr:
    """The tree of one expression."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode="eval").body
