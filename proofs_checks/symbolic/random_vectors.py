"""Vectors that depend on who takes part in a round, and the expectations of their inner products, exactly.

Such a vector of client k is a sum of terms

    a_k^p · Π_i (Σ_j a_j^{n_i}) · u_k        or        a_k^p · Π_i (Σ_j a_j^{n_i}) · Σ_j a_j^q d_j

a_j is client j's share in the plain average over the participants, and a_j^0 says whether it takes part; u and d do not
depend on the draw, d has only deviations from a mean. A mean over the clients of an inner product is then a sum over
tuples of clients. These may coincide in some places; in every way in which they do, different clients are left. A kind
of randomness says the moments of their shares (`Draws.moment`), and on average ⟨d_i, e_j⟩ of two of them is −1/(m − 1)
times mean⟨d_k, e_k⟩, since deviations sum to 0. So all is said by forms in the means and deviations of vectors that do
not depend on the draw, for any number of clients.

Clients may be in groups of equal ones, each with a mean and deviations of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple, final

from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Mixture,
    combination,
    inner,
    mean,
    of_group,
)

Power = int | None  # of a client's share: 0 whether it takes part, None: no factor
Summed = tuple[int, int]  # a sum over the clients of a group: of this power of their shares


class Pattern(NamedTuple):
    """How a term depends on the draw: the client's own factor, the sum over bearers of d, and further sums."""

    own: Power = None
    bearer: Summed | None = None
    sums: tuple[Summed, ...] = ()


FIXED = Pattern()
TAKES_PART = Pattern(own=0)
AVERAGE = Pattern(bearer=(0, 1))  # of deviations, over the participants


@final
@dataclass(frozen=True, eq=False)
class Random:
    """One vector for every client that depends on the draw; `groups`: how many clients each has."""

    draws: Draws
    groups: tuple[int, ...]
    terms: Mapping[Pattern, Family]

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Mixture):
            return NotImplemented
        terms = dict(self.terms)
        for pattern, u in terms_of(other).items():
            terms[pattern] = terms[pattern] + u if pattern in terms else u
        return self.of(terms)

    __radd__ = __add__

    def __neg__(self) -> "Random":
        return self.__mul__(-1)

    def __sub__(self, other: Any) -> Any:
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, factor: Any) -> "Random":
        return self.of({pattern: u * factor for pattern, u in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Random":
        return self.__mul__(1 / to_fmpq(divisor))

    def of(self, terms: Mapping[Pattern, Family]) -> "Random":
        """Of the same draw, with these terms."""
        return Random(self.draws, self.groups, {pattern: u for pattern, u in terms.items() if u.parts})

    @property
    def key(self) -> frozenset[Any]:
        """Equal for equal vectors."""
        return frozenset((pattern, u.key) for pattern, u in self.terms.items())

    def mean(self, group: int = 0) -> "Random":
        """The mean over all clients, or over those of its group."""
        # Of any number of clients nothing has a factor, and nothing is divided.
        return self.of(_sum(self, group, None, 1 / fmpq(self.groups[group] or 1)))

    def inner(self, other: Any, group: int = 0) -> Form:
        """The expected mean over the clients of ⟨u_k, v_k⟩."""
        found = []
        for (s, a), (t, b) in product(self.terms.items(), terms_of(other).items()):
            whole = inner(a, b).products
            for deviates in (False, True):
                part = {pair: c for pair, c in whole.items() if (pair[0][0] != MEAN) == deviates}
                if part:
                    found.append((_weight(s, t, deviates, group, self.groups, self.draws), Form(part)))
        return combination(*found)

    def expected(self, group: int = 0) -> Family:
        """The expectation over the draw."""
        found = Family()
        for pattern, u in self.terms.items():
            weights = [_weight(pattern, FIXED, deviates, group, self.groups, self.draws) for deviates in (False, True)]
            found = found + Family({k: c * weights[k[0] != MEAN] for k, c in u.parts.items() if weights[k[0] != MEAN]})
        return found


def terms_of(u: Any) -> Mapping[Pattern, Family]:
    """The terms of a vector; one that does not depend on the draw is one."""
    return u.terms if isinstance(u, Random) else {FIXED: u}


def is_random(u: Any) -> bool:
    """Whether the vectors depend on the draw."""
    return any(map(is_random, u.groups)) if isinstance(u, Mixture) else isinstance(u, Random)


def require_no_draw(u: Any) -> None:
    """Refuses vectors that depend on the draw, at which functions would have to be evaluated."""
    if is_random(u):
        raise InvalidInput(
            "participation", "drawn clients", "determine where functions are evaluated",
            "use full participation, or take a method and metric without that",
        )  # fmt: skip


# ---- sums over the clients, and what they remember


def averaged(u: Any, draws: Draws) -> Any:
    """The plain average over the participants."""
    return mean(u) if draws.everyone else _sum_over_drawn(u, draws, 1)


def total(u: Any, draws: Draws) -> Any:
    """The sum over the participants."""
    _require_number(draws)
    return mean(u) * draws.clients if draws.everyone else _sum_over_drawn(u, draws, 0)


def replaced(old: Any, new: Any, draws: Draws) -> Any:
    """What clients have after the round: the new vector if they take part, else the old one."""
    if draws.everyone:
        return new
    if isinstance(new, Mixture) or isinstance(old, Mixture):
        shares = (new if isinstance(new, Mixture) else old).shares
        rows = (_replaced(of_group(old, k), of_group(new, k), draws, shares) for k in range(len(shares)))
        return Mixture(shares, tuple(rows))
    return _replaced(old, new, draws, (ONE,))


def _replaced(old: Any, new: Any, draws: Draws, shares: tuple[Any, ...]) -> Any:
    _require_number(draws)
    changed = terms_of(new - old)
    return Random(draws, _sizes(draws, shares), {p._replace(own=_times(p.own, 0)): v for p, v in changed.items()}) + old


def _require_number(draws: Draws) -> None:
    if not draws.clients:
        problem = "is no number, and the method needs the share of clients who take part"
        raise InvalidInput("num_clients", "any", problem, "give m")


def is_clients_own(u: Any) -> bool:
    """Whether what a client has does not depend on who else takes part."""
    return {*terms_of(u)} <= {FIXED, TAKES_PART}


def if_drawn(u: Any) -> Family:
    """The vector of a client that takes part. Raises ValueError unless it `is_clients_own`."""
    if not is_clients_own(u):
        raise ValueError("it depends on who else takes part")
    return sum(terms_of(u).values(), start=Family())


def _sizes(draws: Draws, shares: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = tuple(int(share * draws.clients) for share in shares)
    assert sum(sizes) == draws.clients, "groups have whole numbers of clients"
    return sizes


def _sum_over_drawn(u: Any, draws: Draws, power: int) -> Any:
    shares, rows = (u.shares, u.groups) if isinstance(u, Mixture) else ((ONE,), (u,))
    found = nothing = Random(draws, _sizes(draws, shares), {})
    for group, v in enumerate(rows):
        found = found + found.of(_sum(nothing + v, group, power, ONE))
    return found


def _sum(u: Random, group: int, power: Power, weight: Any) -> dict[Pattern, Family]:
    """Σ weight · a_k^power u_k over the clients of a group, by terms; of what has no factor a_k, the mean."""
    terms: dict[Pattern, Family] = {}

    def add(pattern: Pattern, v: Family, by: Any) -> None:
        if v.parts:
            terms[pattern] = (terms[pattern] + v * by) if pattern in terms else v * by

    for pattern, v in u.terms.items():
        factor = _times(pattern.own, power)
        shared = v if pattern.bearer else v.only(MEAN)
        if factor is None:  # deviations sum to 0
            add(pattern, shared, ONE)
            continue
        by = weight
        if u.draws.fixed_size:  # a_k^p of K participants is 1/K^(p − 1) times a_k
            by, factor = weight * fmpq(u.draws.K) ** (1 - factor), 1
        if factor == 1 and len(u.groups) == 1:  # the shares sum to 1
            add(pattern._replace(own=None), shared, by)
        else:
            add(pattern._replace(own=None, sums=tuple(sorted((*pattern.sums, (group, factor))))), shared, by)
        if not pattern.bearer:
            add(Pattern(None, (group, factor), pattern.sums), v - v.only(MEAN), by)
    return terms


def _times(a: Power, b: Power) -> Power:
    return b if a is None else a if b is None else a + b


# ---- expectations over the draw


def expected(u: Any) -> Any:
    """The expectation over the draw of vectors."""
    if isinstance(u, Mixture):
        rows: tuple[Any, ...] = u.groups
        return Mixture(u.shares, tuple(v.expected(k) if isinstance(v, Random) else v for k, v in enumerate(rows)))
    return u.expected() if isinstance(u, Random) else u


@lru_cache(10**5)
def _weight(s: Pattern, t: Pattern, deviates: bool, group: int, groups: tuple[int, ...], draws: Draws) -> Any:
    """The factor of the means' inner product, or of that of the deviations, in the expected one of two terms."""
    if not draws.clients:  # of any number only averages are known, whose variance is the same for all numbers
        return to_fmpq(draws.scale) if s == t == AVERAGE else fmpq(s == t)
    own = _times(s.own, t.own)
    carried = deviates and s.bearer is None, deviates and t.bearer is None
    indices = [(group, own, *carried)] if own is not None or any(carried) else []
    averaged = bool(indices)
    indices += [(*one, left, not left) for one, left in ((s.bearer, True), (t.bearer, False)) if one is not None]
    indices += [(*one, False, False) for one in (*s.sums, *t.sums)]
    found = ZERO
    for blocks in _coincidences(indices):
        of_groups = [block[0][0] for block in blocks]
        count = prod((fmpq(size - i) for k, size in enumerate(groups) for i in range(of_groups.count(k))), start=ONE)
        same = not deviates or any(any(one[2] for one in block) and any(one[3] for one in block) for block in blocks)
        if not same:
            carriers = {one[0] for block in blocks for one in block if one[2] or one[3]}
            alone = len(carriers) > 1 or groups[min(carriers)] == 1  # others have no part in these deviations
            count = ZERO if alone else count / (1 - groups[min(carriers)])
        if count != 0:
            powers = [reduce(_times, (one[1] for one in block)) for block in blocks]
            found += count * draws.moment(tuple(p for p in powers if p is not None))
    return found / groups[group] if averaged else found


def _coincidences(indices: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """All ways in which some of these sums' clients are the same ones, which are then of one group."""
    if not indices:
        yield []
        return
    first, *others = indices
    for blocks in _coincidences(others):
        yield [[first], *blocks]
        for place, block in enumerate(blocks):
            if block[0][0] == first[0]:
                yield [*blocks[:place], [first, *block], *blocks[place + 1 :]]
