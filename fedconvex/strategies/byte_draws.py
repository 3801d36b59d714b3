"""Examples made from one string of bytes: every string is an example, and smaller bytes make a simpler one.

Hypothesis shrinks an example by changing, deleting and reordering draws. Where later draws depend on earlier ones, as
a matrix on its size, most such attempts fall apart: that costs time, and a counterexample stays larger than need be. A
string of bytes of a fixed length is a single draw, of which Hypothesis lowers one byte at a time. So each byte has its
own meaning whatever the others are: data are read for as many clients, samples and unknowns as there may be, and
further bytes select those that the example has, any of which can be dropped alone. These come first, since Hypothesis
lowers the first bytes first: an example loses clients and samples while its numbers still differ.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from hypothesis import strategies as st

MOST_BYTES = 1021  # of one example; a longer one reads its bytes again, at other places, since this is a prime number
EVEN = 8  # a number below n is read from enough bytes that none is more than 1 + 1/EVEN times as likely as another


@final
class ByteDraws:
    """Reads draws from bytes, from the first byte on; 0 is the simplest value of each."""

    def __init__(self, content: bytes) -> None:
        self.content, self.position = content, 0

    def below(self, count: int) -> int:
        """A number of 0, …, count − 1."""
        drawn, reached = 0, 1
        while reached < EVEN * count:
            drawn = 256 * drawn + self._byte()
            reached *= 256
        return drawn % count

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of the choices; the first is the simplest."""
        return choices[self.below(len(choices))]

    def some(self, least: int, most: int) -> list[int]:
        """Between `least` and `most` of the places 0, …, most − 1, in order; every count is about as likely.

        One byte says how many; each place has a byte besides, and is dropped where that is 0.
        """
        many = self._byte()
        wanted = [i for i in range(most) if self._byte() + many >= 256]
        spare = [i for i in range(most) if i not in wanted]
        return sorted(wanted + spare[: max(least - len(wanted), 0)])

    def _byte(self) -> int:
        byte = self.content[self.position % len(self.content)] if self.content else 0
        self.position += 1
        return byte


def from_bytes(build: Callable[[ByteDraws], Any]) -> st.SearchStrategy[Any]:
    """The strategy for what the function builds; it has to read equally many bytes whatever they are."""
    measured = ByteDraws(b"")
    build(measured)
    size = min(measured.position, MOST_BYTES)
    content = st.binary(min_size=size, max_size=size)

    @st.composite  # of a `map` Hypothesis would not print the result by the package's printers
    def example(draw: st.DrawFn) -> Any:
        return build(ByteDraws(draw(content)))

    return example()
