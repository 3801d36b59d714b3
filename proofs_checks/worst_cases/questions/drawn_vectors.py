"""Vectors of the clients that depend on the draw, and the expectation of their inner products.

With two moments of a draw everything is known of Family vectors with a part that is an average over the drawn clients
(`quadratic_forms.drawn`), and of what a client keeps unless it is drawn: `WhenDrawn`.
"""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    DRAWN,
    Family,
    Form,
    Vectors,
    drawn,
    expected,
    inner,
    mean,
    noise,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws


@final
@dataclass(frozen=True)
class WhenDrawn:
    """`kept` for every client, plus `change` for those that are drawn. `kept` may have a part that is drawn."""

    kept: Family
    change: Family

    @classmethod
    def between(cls, before: Vectors, after: Vectors) -> "WhenDrawn":
        """`before` for those that are not drawn, `after` for those that are."""
        assert isinstance(before, Family)
        assert isinstance(after, Family)
        if any(key[0] == DRAWN for key in after.parts):
            raise InvalidInput("method", "memory", "keeps averages over the drawn clients, whose moments beyond the "
                               "second would matter", "use full participation")  # fmt: skip
        return cls(before, after - before)

    def __add__(self, other: "WhenDrawn | Family") -> "WhenDrawn":
        u = _of(other)
        return WhenDrawn(self.kept + u.kept, self.change + u.change)

    def __sub__(self, other: "WhenDrawn | Family") -> "WhenDrawn":
        return self + other * -1

    def __mul__(self, factor: Any) -> "WhenDrawn":
        return WhenDrawn(self.kept * factor, self.change * factor)

    def __truediv__(self, divisor: Any) -> "WhenDrawn":
        return WhenDrawn(self.kept / divisor, self.change / divisor)

    def mean(self, draws: Draws) -> Family:
        """The mean over all clients: (1/m)Σ over the drawn is P/m times the average over the drawn."""
        kept = Family({key: c for key, c in self.kept.parts.items() if key[0] != DEVIATION})
        found: Family = kept + drawn(self.change) * draws.share_of_everyone
        return found

    def expected(self, draws: Draws) -> Family:
        """The expectation: every client is drawn with probability P/m."""
        found: Family = expected(self.kept) + self.change * draws.share_of_everyone
        return found


def _of(u: "WhenDrawn | Family") -> WhenDrawn:
    return u if isinstance(u, WhenDrawn) else WhenDrawn(u, Family())


def is_random(u: Any) -> bool:
    """Whether the vector depends on a draw of which two moments are known."""
    return isinstance(u, WhenDrawn) or (isinstance(u, Family) and any(key[0] == DRAWN for key in u.parts))


def moment(u: Any, v: Any, draws: Draws) -> Form:
    """The expectation of mean_k⟨u_k, v_k⟩.

    With a, b what all clients have for sure, n the deviations whose average over the drawn is added, I_k whether k is
    drawn: E I_k = P/m, and E⟨average of n over the drawn, I_k c_k⟩ is P/m times the covariance of the two averages.
    """
    if not (isinstance(u, Family | WhenDrawn) and isinstance(v, Family | WhenDrawn)) or draws.everyone:
        return square(u) if u is v else inner(u, v)
    first, second = _of(u), _of(v)
    a, b = expected(first.kept), expected(second.kept)
    found = (square(a) if u is v else inner(a, b)) + inner(noise(first.kept), noise(second.kept)) * draws.scale
    if first.change.parts or second.change.parts:
        c, d = first.change, second.change
        certain = inner(a, d) + inner(c, b) + inner(c, d)
        random = inner(noise(first.kept), d - mean(d)) + inner(c - mean(c), noise(second.kept))
        found = found + (certain + random * draws.scale) * draws.share_of_everyone
    return found
