"""HTML that is safe by construction: what is not markup already is escaped when a tag is put around it."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import final
from xml.etree import ElementTree

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

# The size of a bracket that is a command: the converter would print its name. And text style, which shrinks sums with
# all that stands after them, and fractions: it saves lines of print.
SIZES = re.compile(r"\\[bB]igg?[lr]?(?=\\)|\\textstyle\s*")


@final
class Html(str):
    """Markup: it is not escaped again."""

    __slots__ = ()


Child = str | Html | None


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """`<name attribute="…">children</name>`, well-formed as XML too; text is escaped, None is left out.

    An attribute's underscore is a hyphen, one at its end is dropped (`class_`); True has no value, None and False are
    left out.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """The children one after the other, text escaped."""
    return Html("".join(c if isinstance(c, Html) else escape(c, quote=False) for c in children if c is not None))


def table(headings: Sequence[str], rows: Iterable[Html], numbers: Sequence[str] = (), class_: str = "scroll") -> Html:
    """A table with these headings, then those of columns of numbers, in a box that scrolls where it is too wide."""
    cells = [tag("th", words, scope="col") for words in headings]
    cells += [tag("th", words, scope="col", class_="number") for words in numbers]
    return tag("div", tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows)), class_=class_)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f' {key.rstrip("_").replace("_", "-")}="{"" if value is True else escape(str(value))}"'


def mixed(text: str) -> Html:
    """A text with formulas between dollars."""
    return joined(math(piece) if i % 2 else piece for i, piece in enumerate(text.split("$")))


@cache
def math(latex: str, block: bool = False) -> Html:
    """LaTeX as MathML; as it is where that does not succeed."""
    from latex2mathml.converter import convert

    try:
        known = SIZES.sub("", latex).replace(r"\tfrac", r"\frac").replace(r"\arg\min", r"\operatorname{arg}\,\min")
        made = str(convert(known, display="block" if block else "inline"))
        made = made.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
        if "\\" not in made and _is_mathml(made):  # no command was left as it is
            return Html(made)
    except Exception:  # whatever a converter raises, the reader gets the formula
        pass
    return tag("code", latex)


def _is_mathml(made: str) -> bool:
    """Whether it is formulas and nothing else: a converter may pass on what stands in the text of a formula."""
    return all(
        part.tag in MATHML and all(MATHML_ATTRIBUTES.fullmatch(name) for name in part.attrib)
        for part in ElementTree.fromstring(made).iter()
    )
