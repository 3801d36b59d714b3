"""Fixed points: each equation that a round leaves the state as it is eliminates a basic vector of the proof."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from fedconvex.claims.terms import Vector
from fedconvex.proofs_checks.kernel.scalars import Field
from fedconvex.proofs_checks.kernel.vectors import APART, SAME, Key, Vec
from fedconvex.proofs_checks.rocq.terms import Writer, number_of


@final
@dataclass(frozen=True)
class Elimination:
    """`name` equals `instead`, by the hypothesis `rests_{place}`, whose sides are `new` and `old`.

    name = instead + factor · part, where part is the mean of new − old, or its deviation from the mean.
    """

    name: str
    instead: str
    factor: str
    of_mean: bool
    place: int
    new: Vector
    old: Vector

    def lines(self, within: Writer, canonical: str, identity: str) -> list[str]:
        """The tactics that show the equation, called `{name}_is`."""
        new, old = within.vector(self.new), within.vector(self.old)

        def part(first: str) -> str:
            whole = f"(({first}) - ({old}))"
            return f"mean {whole}" if self.of_mean else f"({whole} - mean {whole})"

        said = f"{self.name} = ({self.instead})%V"
        return [
            f"assert ({self.name}_is : {said}).",
            f"{{ transitivity (({self.instead}) + {self.factor} * {part(new)})%V.",
            f"  - {canonical} same_vector; {identity}.",
            f"  - rewrite rests_{self.place}. {canonical} same_vector; {identity}. }}",
        ]


def eliminations(moves: list[tuple[Vector, Vector, Vec]], field: Field, writer: Writer) -> Iterator[Elimination]:
    """The equations, as the kernel's `Round.rest` finds them, each without the vectors of those before it.

    moves: the part of the state after the round, before it, and their difference in the basis.
    """
    done: list[tuple[Key, Vec]] = []

    def text(u: Vec) -> str:
        return " + ".join(f"{writer.factor(number_of(c))} * {key[1]}" for key, c in u.parts.items()) or "zero"

    for place, (new, old, move) in enumerate(moves, 1):
        for kind in (SAME, APART):
            left = move
            for key, zero in done:
                left = left - zero * left.parts[key] if key in left.parts else left
            left = left.only(kind)
            for key in [k for k, c in left.parts.items() if field.is_nonzero(c)][:1]:
                c = left.parts[key]
                done.append((key, left / c))
                rest = Vec({k: -x / c for k, x in left.parts.items() if k != key})
                yield Elimination(key[1], text(rest), writer.factor(number_of(1 / c)), kind == SAME, place, new, old)
