"""Documents as HTML, which is safe by construction: a tag escapes every child that is not `Html` already.

Text may come from files that somebody else wrote: what no reader could see, such as signs that turn the direction of a
line, is written out, and what XML forbids with it.
"""

import re
from collections.abc import Container, Iterable
from functools import cache
from html import escape
from typing import final
from xml.etree import ElementTree

from fedconvex.display.documents import (
    INLINE,
    CodeBlock,
    DocumentBlock,
    FormulaBlock,
    Heading,
    ItemList,
    Paragraph,
    TableBlock,
    Verbatim,
    lead_of,
)
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


def html(blocks: Iterable[DocumentBlock], on_page: Container[str] = ()) -> Html:
    """The blocks as HTML. `on_page`: the anchors of the page; a name of code that is one becomes a link."""
    return joined(part for block in blocks for part in _block(block, on_page))


def _block(block: DocumentBlock, on_page: Container[str]) -> Iterable[Html]:
    match block:
        case Heading():
            yield tag(f"h{block.level}", inline(block.text, on_page))
        case TableBlock():
            yield table(block, on_page)
        case Paragraph():
            before = [badge(block.verdict), " "] if block.verdict else []
            before += [tag("b", lead), " "] if (lead := lead_of(block)) else []
            remark = tag("span", f" {block.remark}", class_="small") if block.remark else None
            yield tag("p", *before, inline(block.text, on_page), remark)
        case FormulaBlock():
            if lead := lead_of(block) if block.lead is not None else "":
                yield tag("p", lead)
            yield formula(block.latex)
        case CodeBlock():
            yield tag("h3", lead_of(block).rstrip(":"))
            yield tag("pre", tag("code", block.text), tabindex=0)
        case ItemList():
            if lead := lead_of(block).rstrip(":"):
                yield tag("h3", lead)
            items = (
                tag("p", inline(one, on_page)) if isinstance(one, str) else html(one, on_page) for one in block.items
            )
            listed = [tag("li", item) for item in items]
            yield tag("ol", *listed, class_="proof") if block.numbered else tag("ul", *listed)


def inline(text: str, on_page: Container[str] = ()) -> Html:
    """Running text: formulas as MathML, names of code as such, or as links to what the page has of them."""
    if isinstance(text, Verbatim):
        return joined([text])
    parts: list[Child] = []
    end = 0
    for found in INLINE.finditer(text):
        parts.append(text[end : found.start()])
        latex, name = found.groups()
        parts.append(link(name) if name in on_page else math(latex) if name is None else tag("code", name))
        end = found.end()
    return joined([*parts, text[end:]])


def link(identifier: str) -> Html:
    """A link to a statement on the page; the line may break after the dot of its name."""
    paper, dot, number = identifier.partition(".")
    return tag("a", tag("code", paper + dot, tag("wbr"), number), href=f"#{identifier}")


def badge(verdict: str) -> Html:
    """The verdict as a coloured label."""
    return tag("span", verdict, class_=f"verdict {verdict}")


def formula(latex: str) -> Html:
    """A displayed formula."""
    return tag("div", math(latex, block=True), class_="formula")


def table(block: TableBlock, on_page: Container[str] = ()) -> Html:
    """A table: one with numbers scrolls where it is too wide, the rows of others become blocks on a phone."""

    def cells(name: str, row: Iterable[str], **options: object) -> Html:
        numbers = {i: "number" for i in range(len(block.headings)) if block.is_number(i)}
        return tag("tr", *(tag(name, inline(c, on_page), class_=numbers.get(i), **options) for i, c in enumerate(row)))

    head = cells("th", (" ".join(heading.split()) for heading in block.headings), scope="col")
    rows = (cells("td", row) for row in block.rows)
    class_ = "scroll" if block.numbers else "stacked"
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_=class_)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f' {key.rstrip("_").replace("_", "-")}="{"" if value is True else escape(printable(str(value)))}"'


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
