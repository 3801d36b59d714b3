"""Sentences: what a paper asserts in running text, footnotes and captions, without a number and without a proof."""

from dataclasses import dataclass
from typing import final

from fedconvex.errors import InvalidInput

LONGEST_QUOTATION = 25  # words


@final
@dataclass(frozen=True)
class Sentence:
    """An assertion that can be checked. Whether it holds is found by the check of the same identifier.

    Args:
        identifier: paper and name, such as "fedsplit.nearly_optimal".
        place: where it stands: section, page where known.
        quotation: the paper's words.
        means: what they assert, precisely.
        instead: what holds where they are false; "" where they are true.
    """

    identifier: str
    place: str
    quotation: str
    means: str
    instead: str = ""

    def __post_init__(self) -> None:
        if len(self.quotation.split()) > LONGEST_QUOTATION:
            raise InvalidInput("quotation", self.quotation, "is too long", f"quote at most {LONGEST_QUOTATION} words")

    @property
    def paper(self) -> str:
        """The module name of its paper."""
        return self.identifier.partition(".")[0]
