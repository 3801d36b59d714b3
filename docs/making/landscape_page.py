"""The guide's tables of what is known of each method."""

from collections.abc import Iterator
from itertools import groupby

from fedconvex.display.documents import DocumentBlock, Heading, Paragraph, TableBlock
from fedconvex.display.markdown import markdown
from fedconvex.proofs_checks.reporting.landscape import CLASSES, SOME, KnownResult

HEADINGS = ("result", "about", "clients", "takes part", "needs", "says", "verdict", "used")


def as_markdown(results: list[KnownResult]) -> str:
    """A table of what there is, then each method's results."""
    return markdown(_blocks(results))


def _blocks(results: list[KnownResult]) -> Iterator[DocumentBlock]:
    by_method = {method: list(some) for method, some in groupby(results, key=lambda r: r.method)}
    yield Paragraph("How many results there are, for everyone and (with +) for some of the clients in a round:")
    rows = [
        (f"[{method}](#{method.lower()})", *(_counted([r for r in some if r.clients == kind]) for kind in CLASSES))
        for method, some in by_method.items()
    ]
    yield TableBlock(("method", *CLASSES), rows)
    for method, some in by_method.items():
        yield Heading(method, 2)
        yield TableBlock(HEADINGS, [_cells(r) for r in some])


def _counted(results: list[KnownResult]) -> str:
    some = sum(r.participation == SOME for r in results)
    return f"{len(results) - some} + {some}" if results else "–"


def _cells(r: KnownResult) -> tuple[str, ...]:
    link = f"[`{r.identifier}`](statements.md#{r.identifier.replace('.', '')})"
    return link, r.about, r.clients, r.participation, r.needs, r.says, r.verdict, r.used
