"""HTML that is safe by construction: a tag escapes every child that is not `Html` already.

Text may come from files that somebody else wrote: what no reader could see, such as signs that turn the direction of a
line, is written out, and what XML forbids with it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import final
from xml.etree import ElementTree

from fedconvex.safe_text import printable

VOID = frozenset({"br", "img", "input", "meta", "wbr"})
MATHML = frozenset({
    "math", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
})  # fmt: skip
MATHML_ATTRIBUTES = re.compile(
    "accent|accentunder|columnalign|columnspacing|columnlines|depth|display|displaystyle|fence|form|height|"
    "largeop|linethickness|lspace|mathcolor|mathsize|mathvariant|maxsize|minsize|movablelimits|rowspacing|rowlines|rspace|"
    "scriptlevel|separator|stretchy|symmetric|voffset|width"
)

# Two things that the converter gets wrong: the size of a bracket that is itself a command (it prints the command's
# name), and \textstyle (it shrinks everything that follows). The papers use both only to save space.
SIZES = re.compile(r"\\[bB]igg?[lr]?(?=\\)|\\textstyle\s*")


@final
class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


Child = str | Html | None


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """`<name attribute="…">children</name>`, well-formed as XML too; text is escaped, None is left out.

    Underscores in attribute names become hyphens, a final one is dropped (`class_`). The value True writes the name
    alone; None and False write nothing.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """The concatenated children, text escaped."""
    return Html(
        "".join(c if isinstance(c, Html) else escape(printable(c), quote=False) for c in children if c is not None)
    )


def table(headings: Sequence[str], rows: Iterable[Html], numbers: Sequence[str] = (), class_: str = "scroll") -> Html:
    """A table with these headings, then headings of numeric columns, in a box that scrolls if it is too wide."""
    cells = [tag("th", words, scope="col") for words in headings]
    cells += [tag("th", words, scope="col", class_="number") for words in numbers]
    return tag("div", tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows)), class_=class_)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f' {key.rstrip("_").replace("_", "-")}="{"" if value is True else escape(printable(str(value)))}"'


def mixed(text: str) -> Html:
    """Text with formulas between dollar signs."""
    return joined(math(piece) if i % 2 else piece for i, piece in enumerate(text.split("$")))


@cache
def math(latex: str, block: bool = False) -> Html:
    """LaTeX as MathML, or as code if it cannot be converted, or latex2mathml is not installed."""
    latex = printable(latex)
    try:
        from latex2mathml.converter import convert

        known = SIZES.sub("", latex).replace(r"\tfrac", r"\frac").replace(r"\arg\min", r"\operatorname{arg}\,\min")
        made = str(convert(known, display="block" if block else "inline"))
        made = made.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
        if "\\" not in made and _is_mathml(made):  # a backslash is a command that the converter does not know
            return Html(made)
    except Exception:  # the converter raises errors of many kinds; the reader gets the source in any case
        pass
    return tag("code", latex)


def _is_mathml(made: str) -> bool:
    """Whether it is only MathML: the converter passes markup in a formula's text on unescaped."""
    return all(
        part.tag in MATHML and all(MATHML_ATTRIBUTES.fullmatch(name) for name in part.attrib)
        for part in ElementTree.fromstring(made).iter()
    )
