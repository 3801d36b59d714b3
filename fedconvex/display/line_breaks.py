r"""Long formulas in lines that fit on a page: cut where a reader would, at the outermost comma, relation or sign.

TeX measures a formula only once it is set, so widths are estimated here, in points of a 10pt font. Brackets that grow
with what they hold must stand on one line: where one of these is too wide, it gets a fixed size and is cut inside; a
mark under a part that is cut goes on in the next line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fedconvex.claims.display.differences import MARK, SCRIPTS, LatexNode, parsed
from fedconvex.errors import InvalidInput

LINE = 430.0  # of the lines in a list, which are narrower than the text
SEPARATORS = (r"\quad", r"\qquad")
RELATIONS = ("=", r"\le", r"\ge", "<", ">", r"\lesssim", r"\approx", r"\Rightarrow", r"\in", r"\to")
SIGNS = ("+", "-")
OPENING, CLOSING = ("(", "[", r"\{", r"\langle", r"\lceil"), (")", "]", r"\}", r"\rangle", r"\rceil")
WIDTHS = {
    **dict.fromkeys(SEPARATORS, 10.0), r"\qquad": 20.0, **dict.fromkeys(RELATIONS, 13.4), **dict.fromkeys(SIGNS, 12.3),
    r"\sum": 14.4, r"\max": 19.5, r"\min": 17.5, r"\log": 14.0, r"\inf": 13.0, r"\arg": 15.0, "m": 8.8, "w": 7.2,
    r"\nabla": 8.4, r"\mathbb{E}": 6.7, ",": 4.5, "(": 3.9, ")": 3.9, "[": 2.8, "]": 2.8, r"\ell": 4.2, "^": 0.0,
    r"\displaystyle": 0.0, r"\textstyle": 0.0, r"\Big": 2.0, r"\Bigl": 2.0, r"\Bigr": 2.0, "i": 3.5, "j": 4.2, "t": 3.6,
    "F": 6.9, "L": 6.8, "T": 6.7, "P": 6.8, "B": 7.6, "K": 8.8, "E": 7.4, "G": 7.9, "H": 9.0, "A": 7.5, "X": 9.1,
}  # fmt: skip
PRODUCT = 25  # what it costs to cut a product
LETTER = 5.6
SCRIPT = 0.72  # scripts are smaller
LIMITS = (r"\sum", r"\max", r"\min", r"\inf")  # in displays, scripts stand above and below


@dataclass(frozen=True)
class Piece:
    """What stays together on a line, and how deep in brackets, or after what, a line may begin with it."""

    latex: str
    width: float
    cost: int | None = None  # of beginning a line here; None where it must not
    space: bool = False
    marked: bool = False

    @property
    def is_factor(self) -> bool:
        """Whether a line that begins here cuts a product, so that it needs a sign."""
        return self.cost is not None and self.cost % 10 == PRODUCT % 10


def in_lines(formula: str, line: float = LINE) -> list[str]:
    """The formula in lines of about this width; one that cannot be read stays whole."""
    try:
        nodes = parsed(formula)
    except InvalidInput:
        return [formula]
    if width(nodes) <= line:
        return [formula]
    first, *others = _rows(list(_pieces(nodes, 0.75 * line)), line)
    return [_joined(first), *(("{}\\cdot " if row[0].is_factor else "{}") + _joined(row) for row in others)]


def width(nodes: Iterable[LatexNode]) -> float:
    """An estimate, in points."""
    total, before = 0.0, ""
    for node in nodes:
        if node.head in SCRIPTS:
            inside = SCRIPT * width(node.parts[0])
            total += max(0.0, inside - WIDTHS.get(before, 0.0)) if before in LIMITS else inside
            continue
        total += _width(node)
        before = node.head
    return total


def _width(node: LatexNode) -> float:
    match node.head:
        case r"\frac" | r"\dfrac":
            return 3 + max(map(width, node.parts))
        case r"\tfrac":
            return 3 + SCRIPT * max(map(width, node.parts))
        case r"\sqrt":
            return 9 + width(node.parts[0])
        case r"\left":
            return 12 + width(node.parts[0])
        case head if head.startswith((r"\text{", r"\mathrm{", r"\operatorname{", r"\mathcal{")):
            return 5.0 * len(head.partition("{")[2][:-1])
        case head if node.parts:
            return sum(map(width, node.parts))
        case head:
            return WIDTHS.get(head, LETTER * (len(head) if head.isdecimal() else 1))


def _pieces(nodes: Sequence[LatexNode], widest: float, depth: int = 0, marked: bool = False) -> Iterator[Piece]:
    """The pieces of a row; brackets, marks and groups that are wider than `widest` are taken apart."""
    start, norm, before = True, False, ""
    for node in nodes:
        if node.head in CLOSING or (node.head == r"\|" and norm):
            depth -= 1
        norm ^= node.head == r"\|"
        cost = None if start else _cost(node, before, depth)
        if node.head in SCRIPTS:
            cost = None
        if node.head in (MARK, "{", r"\left") and _width(node) > widest:
            yield from _taken_apart(node, widest, depth, cost, marked)
        else:
            yield Piece(node.latex, width([node]), cost, node.space, marked)
        if node.head in OPENING or (node.head == r"\|" and norm):
            depth += 1
        start = node.head in OPENING or node.head in RELATIONS or node.head in ("{}",)
        before = node.head


def _taken_apart(node: LatexNode, widest: float, depth: int, cost: int | None, marked: bool) -> Iterator[Piece]:
    if node.head != r"\left":
        inside = list(_pieces(node.parts[0], widest, depth, marked or node.head == MARK))
        yield from [replace(inside[0], cost=cost, space=node.space), *inside[1:]]
        return
    opening, closing = node.delimiters
    yield Piece(rf"\Bigl{opening}", 6.0, cost, node.space, marked)
    yield from _pieces(node.parts[0], widest, depth + 1, marked)
    yield Piece(rf"\Bigr{closing}", 6.0, None, False, marked)


def _cost(node: LatexNode, before: str, depth: int) -> int | None:
    """What it costs to begin a line here: little outside brackets, less at a comma or relation than at a sign."""
    if node.head in SEPARATORS or node.head.startswith(r"\text{where"):
        return 10 * depth
    if before in SEPARATORS:
        return None  # the space belongs to the line before
    if node.head in RELATIONS:
        return 10 * depth + 1
    if node.head in SIGNS and before not in (*RELATIONS, *OPENING, *SIGNS, ","):
        return 10 * depth + 2
    if before == ",":
        return 10 * depth + 3
    is_factor = node.head in (r"\left", r"\frac", r"\sum", "(", r"\sqrt", MARK, r"\|", r"\langle")
    return (
        10 * depth + PRODUCT if is_factor and before not in (*OPENING, r"\log", r"\max", r"\min", r"\nabla") else None
    )


def _rows(pieces: list[Piece], line: float) -> Iterator[list[Piece]]:
    """Each line ends at the cheapest place of its last two thirds, at the last of these."""
    while sum(p.width for p in pieces) > line:
        places, so_far = list[tuple[float, int, float]](), 0.0
        for i, piece in enumerate(pieces):
            if piece.cost is not None and i > 0 and (so_far <= line or not places) and so_far > line / 4:
                places.append((piece.cost + 6 * (1 - so_far / line), i, so_far))
            so_far += piece.width
        if not places:
            break
        _, end, _ = min(places, key=lambda place: (place[0], -place[1]))
        yield pieces[:end]
        pieces = pieces[end:]
    yield pieces


def _joined(row: Sequence[Piece]) -> str:
    """The line; what is marked in a row stands under one mark."""
    text, mark = "", False
    for piece in row:
        if mark and not piece.marked:
            text += "}"
        needs_space = bool(text) and (piece.space or (piece.latex[:1].isalpha() and _ends_in_command(text)))
        text += " " if needs_space else ""
        text += MARK + "{" if piece.marked and not mark else ""
        text += piece.latex
        mark = piece.marked
    return text + ("}" if mark else "")


def _ends_in_command(text: str) -> bool:
    name = text.rpartition("\\")[2]
    return "\\" in text and name.isalpha()
