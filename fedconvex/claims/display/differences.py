r"""Two formulas with their differences marked, by a diff of their LaTeX's tokens.

The diff is one of trees, {…}, \frac, scripts and \left…\right being branches, so that what is marked compiles. In LaTeX
the differing parts are underlined. In plain text they stand between [- -] where only the first formula has them, and
between {+ +} where only the second has.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import NamedTuple

from fedconvex.claims.display.plain_text import from_latex
from fedconvex.errors import InvalidInput

TOKEN = re.compile(
    r"(\s*)(\\(?:text|mathrm|mathbb|mathcal|mathbf|operatorname)\{[^{}]*\}|\\[a-zA-Z]+|\\.|\S)", re.DOTALL
)
MARK = r"\underline"
ARGUMENTS = {r"\frac": 2, r"\tfrac": 2, r"\dfrac": 2, r"\sqrt": 1, "^": 1, "_": 1, MARK: 1}
ACCENTS = (r"\bar", r"\tilde", r"\hat", r"\mathbb", r"\mathrm", r"\mathcal", r"\mathbf")  # one token with what follows
SPACES = (r"\,", r"\!", r"\:", r"\;", r"\ ")
SCRIPTS = ("^", "_")  # they need what stands before them
OPEN, CLOSE = "⟦", "⟧"  # marks on the way to plain text, in which nothing else is written so
OPERATORS = (r"\sum", r"\max", r"\min", r"\inf")  # with limits above and below
REMOVED, ADDED = ("[-", "-]"), ("{+", "+}")
ALIKE = 0.4  # formulas with less in common than this are marked as a whole


@dataclass(frozen=True)
class LatexNode:
    """A token, with the parts that it governs: the arguments of a command, what is in braces or between delimiters.

    `space`: whether there is space before it, which is no difference.
    """

    head: str
    parts: tuple[tuple["LatexNode", ...], ...] = ()
    delimiters: tuple[str, str] = ("", "")
    space: bool = field(default=False, compare=False)

    @property
    def latex(self) -> str:
        """Its LaTeX, with braces around every argument."""
        if self.head == r"\left":
            opening, closing = self.delimiters
            inside = _latex(self.parts[0])
            return rf"\left{opening}{' ' if _run_together(opening, inside) else ''}{inside}\right{closing}"
        arguments = "".join("{" + _latex(part) + "}" for part in self.parts)
        return arguments if self.head == "{" else self.head + arguments


Nodes = tuple[LatexNode, ...]


def marked(first: str, second: str) -> tuple[str, str]:
    """Both LaTeX formulas, with what differs underlined; equal ones have no mark."""
    left, right = parsed(first), parsed(second)
    return _latex(_with_marks(left, right)), _latex(_with_marks(right, left))


def marked_plainly(first: str, second: str) -> tuple[str, str]:
    """Both LaTeX formulas as plain text, with what differs between [- -] in the first, {+ +} in the second."""
    left, right = parsed(first), parsed(second)
    return _plain(_with_marks(left, right), REMOVED), _plain(_with_marks(right, left), ADDED)


def unmarked(latex: str) -> str:
    """A marked formula without its marks, written as `normal` writes it."""
    return _latex(_without_marks(parsed(latex)))


def normal(latex: str) -> str:
    """The formula as this module writes it, with braces around every argument."""
    return _latex(parsed(latex))


def parsed(latex: str) -> Nodes:
    """The formula as a tree. Raises InvalidInput where braces or delimiters do not match."""
    tokens = [Token(bool(space), text) for space, text in TOKEN.findall(latex) if text not in SPACES]
    nodes, rest = _row(tokens, 0, latex)
    if rest != len(tokens):
        raise InvalidInput("latex", latex, f"closes {tokens[rest].text} that is not open", "balance it")
    return nodes


class Token(NamedTuple):
    """A token of LaTeX, and whether there is space before it."""

    space: bool
    text: str


def _row(tokens: Sequence[Token], at: int, latex: str) -> tuple[Nodes, int]:
    """The nodes from token number `at` up to what closes them, and where that is."""
    found: list[LatexNode] = []
    while at < len(tokens) and tokens[at].text not in ("}", r"\right"):
        node, at = _node(tokens, at, latex)
        if found and not node.space and (found[-1].head + node.head).isdecimal():  # digits of one number
            found[-1] = replace(found[-1], head=found[-1].head + node.head)
        else:
            found.append(node)
    return tuple(found), at


def _node(tokens: Sequence[Token], at: int, latex: str) -> tuple[LatexNode, int]:
    if at >= len(tokens) or tokens[at].text == "}":
        raise InvalidInput("latex", latex, "lacks an argument", "balance it")
    space, head = tokens[at]
    if head == "{":
        inside, end = _row(tokens, at + 1, latex)
        _require(tokens, end, "}", latex)
        return LatexNode(head, (inside,), space=space), end + 1
    if head == r"\left":
        inside, end = _row(tokens, at + 2, latex)
        _require(tokens, end, r"\right", latex)
        _require(tokens, end + 1, "", latex)
        return LatexNode(head, (inside,), (tokens[at + 1].text, tokens[end + 1].text), space), end + 2
    if head in ACCENTS:
        node, end = _node(tokens, at + 1, latex)
        over = _latex(node.parts[0]) if node.head == "{" else node.latex
        return LatexNode(f"{head}{{{over}}}", space=space), end
    parts, end = [], at + 1
    for _ in range(ARGUMENTS.get(head, 0)):
        node, end = _node(tokens, end, latex)
        parts.append(node.parts[0] if node.head == "{" else (node,))
    return LatexNode(head, tuple(parts), space=space), end


def _require(tokens: Sequence[Token], at: int, text: str, latex: str) -> None:
    if at >= len(tokens) or (text and tokens[at].text != text):
        raise InvalidInput("latex", latex, f"lacks {text or 'a delimiter'}", "balance it")


def _latex(nodes: Sequence[LatexNode]) -> str:
    text = ""
    for node in nodes:
        here = node.latex
        text += " " + here if text and (node.space or _run_together(text, here)) else here
    return text


def _run_together(before: str, after: str) -> bool:
    """Whether a command would take the letters after it for a part of its name."""
    return after[:1].isalpha() and re.search(r"\\[a-zA-Z]+$", before) is not None


def _with_marks(nodes: Nodes, others: Nodes) -> Nodes:
    """The nodes, with those marked that the others lack."""
    if _too_different(nodes, others):
        return _with_limits(_mark(nodes))
    found: list[LatexNode] = []
    for tag, a, b, c, d in _steps(nodes, others):
        found += nodes[a:b] if tag == "equal" else _within(nodes[a:b], others[c:d])
    return _with_limits(found)


def _within(nodes: Nodes, others: Nodes) -> Iterator[LatexNode]:
    """Branches of one kind are compared part by part; all else is marked."""
    kinds, other_kinds = ([_kind(node) for node in row] for row in (nodes, others))
    for tag, a, b, c, _ in _steps(kinds, other_kinds):
        if tag != "equal":
            yield from _mark(nodes[a:b])
            continue
        for node, other in zip(nodes[a:b], others[c:], strict=False):
            parts = tuple(_with_marks(*pair) for pair in zip(node.parts, other.parts, strict=True))
            yield replace(node, parts=parts)


def _kind(node: LatexNode) -> tuple[object, ...]:
    return node.head, len(node.parts), node.delimiters


def _mark(nodes: Nodes) -> Iterator[LatexNode]:
    """The nodes under a mark; scripts whose base is not among them keep their place, with the mark inside."""
    rest = list(nodes)
    while rest and rest[0].head in SCRIPTS:
        script = rest.pop(0)
        yield replace(script, parts=(tuple(_mark(script.parts[0])),))
    if rest:
        yield LatexNode(MARK, ((replace(rest[0], space=False), *rest[1:]),), space=rest[0].space)


def _with_limits(nodes: Iterable[LatexNode]) -> Nodes:
    """The nodes, with the scripts of a marked operator, or of a marked script's base, under the same mark."""
    found: list[LatexNode] = []
    for node in nodes:
        before = found[-1] if found else node
        last = before.parts[0][-1].head if before.head == MARK else ""
        if node.head in SCRIPTS and (last in SCRIPTS or last in OPERATORS):
            found[-1] = replace(before, parts=((*before.parts[0], *_without_marks((node,))),))
        elif node.head == before.head == MARK and before is not node:
            first, *rest = node.parts[0]
            found[-1] = replace(before, parts=((*before.parts[0], replace(first, space=node.space), *rest),))
        else:
            found.append(node)
    return tuple(found)


def _without_marks(nodes: Nodes) -> Nodes:
    found: list[LatexNode] = []
    for node in nodes:
        parts = tuple(map(_without_marks, node.parts))
        if node.head == MARK:
            first, *rest = parts[0]
            found += [replace(first, space=node.space), *rest]
        else:
            found.append(replace(node, parts=parts))
    return tuple(found)


def _plain(nodes: Nodes, marks: tuple[str, str]) -> str:
    text = from_latex(_latex(_with_signs(nodes)))
    # a bracket of the formula beside one of the mark could be read as another mark
    text = re.sub(rf"{OPEN}(?=[\[\]{{}}])", f"{OPEN} ", re.sub(rf"(?<=[\[\]{{}}]){CLOSE}", f" {CLOSE}", text))
    return text.replace(OPEN, marks[0]).replace(CLOSE, marks[1])


def _with_signs(nodes: Nodes) -> Nodes:
    """The nodes with signs around what is marked, in the place of a command."""
    found: list[LatexNode] = []
    for node in nodes:
        parts = tuple(map(_with_signs, node.parts))
        if node.head == MARK:
            found += [LatexNode(OPEN, space=node.space), *parts[0], LatexNode(CLOSE)]
        else:
            found.append(replace(node, parts=parts))
    return tuple(found)


Steps = Sequence[tuple[str, int, int, int, int]]


def _steps(left: Sequence[object], right: Sequence[object]) -> Steps:
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def _too_different(nodes: Nodes, others: Nodes) -> bool:
    left, right = list(_tokens(nodes)), list(_tokens(others))
    return len(left) > 1 and SequenceMatcher(None, left, right, autojunk=False).ratio() < ALIKE


def _tokens(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        yield node.head
        for part in node.parts:
            yield from _tokens(part)
