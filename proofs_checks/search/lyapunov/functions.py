"""A Lyapunov function and the proof of its contraction, in rationals. Of the search, only this has to be trusted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, final

from fedconvex.arithmetic.definiteness import is_positive_definite
from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.search.lyapunov.posed_round import EACH, VALUE, WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import Proposed
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate, is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.certificates.search import balanced, nearest
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, Key

DENOMINATORS = (12, 1000, 10**6, 10**9)  # of the entries, simplest first
CLOSE = 1e-6  # relative distance of simple entries from the proposed ones
BITS = 60  # of multipliers
NOISE = (0.0, 1e-7, 1e-5)  # relative sizes below which multipliers may be meant to be 0


@final
@dataclass(frozen=True, eq=False)
class LyapunovFunction:
    """V and the proof of V⁺ <= rate·V, or of E V⁺ <= rate·V + prices · sizes.

    V is a quadratic form in the means, plus the mean over the clients of one in the deviations, plus mean function
    values: of the shifted functions F_k − ⟨∇F_k(x*), ·⟩, minus those at x*, which are nonnegative on convex clients.

    Args:
        posed: the round.
        entries: of V's two symmetric matrices, which must be positive definite, and the weights of values, >= 0. Where
            the round says what V measures, V must be at least its square. Where V has a function value, which is worth
            a multiple of that square, V >= 0 is what must hold.
        rate: of which `multipliers`, one for every inequality of the round, are a proof.
        positive_by: of a round in which inequalities between the points before may make V positive, one for each: V
            minus these is a positive definite form of all that is known of these points.
        prices: what V pays for what disturbs the round.

    Raises:
        ValueError: V is not positive, or the multipliers are no proof.
    """

    posed: PosedRound
    entries: Mapping[Pair, Fraction]
    rate: Fraction
    multipliers: tuple[Fraction, ...]
    positive_by: tuple[Fraction, ...] = ()
    prices: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if {*self.entries} != {*self.posed.pairs} or min(self.prices, default=0) < 0 or not self._is_positive:
            raise ValueError("this is no Lyapunov function")
        _ = self.certificate  # raises ValueError where it is none

    @property
    def _is_positive(self) -> bool:
        """Whether V is at least a multiple of the squares of the coordinates, or the square of what is measured."""
        measured = self.posed.measured
        if self.posed.positive_by is not None:
            return self._is_positive_by_inequalities
        if measured is not None:
            worth = self.posed.worth
            less = to_fraction(self.posed.least) - (0 if worth is None else to_fraction(worth) * self.entries[WEIGHT])
            error = [to_fraction(c) for c in measured]
            for part in self.posed.parts:
                rest = self.matrix(part)
                for i, j in product(range(len(error)), repeat=2) if part == MEAN else ():
                    rest[i][j] -= less * error[i] * error[j]
                if not is_positive_semidefinite([[*map(to_fmpq, row)] for row in rest]):
                    return False
            return True
        return all(map(_is_positive, self.matrices)) and min(self.weights) >= 0

    @property
    def _is_positive_by_inequalities(self) -> bool:
        assert self.posed.positive_by is not None
        if len(self.positive_by) != len(self.posed.positive_by) or min(self.positive_by, default=0) < 0:
            return False
        program = self.posed.positivity({pair: to_fmpq(c) for pair, c in self.entries.items()})
        blocks, values = program.remainder(to_fmpq(1), [to_fmpq(c) for c in self.positive_by])
        if any(values):
            return False
        if self.posed.measured is not None:
            return all(map(is_positive_semidefinite, blocks))
        known = {key for u in self.posed.coordinates.unknown.values() for key in u.parts}
        seen = {block[i] for block, these in zip(program.blocks, program.seen, strict=True) for i in these}
        exact = [[[to_fraction(x) for x in row] for row in matrix] for matrix in blocks]
        return known <= seen and all(map(_is_positive, exact))

    @cached_property
    def certificate(self) -> DualCertificate:
        """The multipliers as a proof of rate·V + prices · sizes − V⁺ >= 0, checked exactly."""
        V = {pair: to_fmpq(c) for pair, c in self.entries.items()}
        program = self.posed.program(V, [*map(to_fmpq, self.prices)])
        return DualCertificate(program, self.rate, self.multipliers)

    @property
    def matrices(self) -> tuple[list[list[Fraction]], ...]:
        """V's matrices, for the means and for the deviations; of size 0 where there is nothing to measure."""
        return tuple(self.matrix(part.part) for part in self.posed.coordinates.parts)

    def matrix(self, part: str) -> list[list[Fraction]]:
        """V's symmetric matrix for a part; of function values their weights, on its diagonal."""
        n = self.posed.parts.get(part, 0)
        pairs = [[((part, min(i, j)), (part, max(i, j))) for j in range(n)] for i in range(n)]
        return [[self.entries.get(pair, Fraction(0)) for pair in row] for row in pairs]

    @property
    def weights(self) -> list[Fraction]:
        """The weights of function values, after a 0."""
        return [Fraction(0), *(c for ((part, _), _), c in self.entries.items() if part == VALUE)]

    def __str__(self) -> str:
        return written(self.entries, self.posed.names)


def written(entries: Mapping[Pair, Fraction], names: Mapping[Any, str]) -> str:
    """V in words, from its entries and the names of the coordinates."""
    shown = {place: f"({name})" if {*name} & {*"+−"} else name for place, name in names.items()}
    return " + ".join(_term(pair, c, shown) for pair, c in entries.items() if c).replace(" + -", " − ")


def certified(
    posed: PosedRound, rate: Fraction, proposed: Proposed, zeros: Sequence[Mapping[Key, Any]] = ()
) -> LyapunovFunction | None:
    """A Lyapunov function next to the proposed one, with a proof of just this rate; None where none is found."""
    first = max(proposed.entries[posed.pairs[0]], 0.0)
    if posed.positive_by is not None:
        first = max(map(abs, proposed.entries.values()))
    if not first:
        return None
    # V is divided by its first entry, that of the server's point; the multipliers too.
    rough = [float(c) / first for c in proposed.multipliers]
    simple = _simple({pair: c / first for pair, c in proposed.entries.items()})
    for entries, least in product(simple, NOISE if zeros else NOISE[:1]):
        program = posed.program(entries)
        multipliers = [to_fmpq(_short(c) if c > least * max(rough) else 0) for c in rough]
        found = balanced(program, to_fmpq(rate), multipliers, [program.coordinates(zero) for zero in zeros])
        if found is not None and all(c >= 0 for c in found):
            exact = {pair: to_fraction(c) for pair, c in entries.items()}
            shown: list[Any] | None = []
            if posed.positive_by is not None:
                sizes = [to_fmpq(_short(max(c, 0.0) / first)) for c in proposed.positive_by]
                shown = balanced(posed.positivity(entries), to_fmpq(1), sizes)
            try:
                if shown is not None:
                    numbers = (tuple(map(to_fraction, these)) for these in (found, shown))
                    return LyapunovFunction(posed, exact, rate, *numbers)
            except ValueError:
                continue
    return None


def _simple(entries: Mapping[Pair, float]) -> Iterator[dict[Pair, Any]]:
    """The entries as rationals, by growing denominators: relative to the diagonal, so that small ones are not lost."""
    for largest in DENOMINATORS:
        found = {pair: nearest(c, largest) for pair, c in entries.items()}
        size = {a: c for (a, b), c in entries.items() if a == b}
        if all(abs(float(found[a, b]) - c) <= CLOSE * abs(size[a] * size[b]) ** 0.5 for (a, b), c in entries.items()):
            yield found
    yield {pair: to_fmpq(_short(c)) for pair, c in entries.items()}


def _short(x: float) -> Fraction:
    return Fraction(round(x * 2**BITS), 2**BITS)


def _is_positive(matrix: list[list[Fraction]]) -> bool:
    import numpy as np

    return not matrix or is_positive_definite(np.array(matrix, dtype=object))


def _term(pair: Pair, c: Fraction, names: Mapping[Any, str]) -> str:
    (part, i), (_, j) = pair
    if part == VALUE:
        name = names[part, i]
        value = name if name[0] == "(" else f"({name})"
        return value if c == 1 else f"{c}·{value}"
    if i == j:
        body = f"‖{names[part, i]}‖²" if part == MEAN else f"mean‖{names[part, i]}{' − mean' * (part != EACH)}‖²"
        return body if c == 1 else f"{c}·{body}"
    inner = f"⟨{names[part, i]}, {names[part, j]}⟩"
    return f"{2 * c}·{inner if part == MEAN else f'mean of {inner} of deviations'}"
