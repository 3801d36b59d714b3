"""Two groups of quadratic clients of which K of m are drawn: expected squares from one round to the next, exactly.

All clients of a group have one curvature and one variable. Of a state's expected products only these differ: of the
server's vectors, of one with a memory in either group, of two memories of one client, of two clients of a group, and of
two clients of different groups. They are linear in those before, whatever m is: a client is drawn with probability
K/m, two of them with K(K − 1)/(m(m − 1)).

A drawn client changes its memory by itself, and the server's vectors become the average of what each drawn client's
answer alone would make of them: rounds are linear in the sum of the drawn clients' answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates
from fedconvex.proofs_checks.search.lyapunov.linear_spans import Rows
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import QuadraticBoard
from fedconvex.proofs_checks.search.lyapunov.state_vectors import name_of_memory, state_of, vectors_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, own_start

Symbol = tuple[Any, ...]  # a server's vector ("", name), or a memory of a group's client: (group, client, name)
Vector = Mapping[Symbol, Any]  # as a combination of symbols
FIRST, SECOND = "1", "2"  # two clients of a group stand for all


@final
@dataclass(frozen=True, eq=False)
class GroupMoments:
    """The expected products of a federation's vectors in a round, of two groups or one."""

    found: Coordinates
    solver: LocalSolver
    draws: Draws
    federation: OnALine
    sign: int = 0

    @cached_property
    def matrix(self) -> Rows:
        """The products after the round, as combinations of those before."""
        keys = list(self.products)
        return [[row.get(key, ZERO) for key in keys] for row in self.products.values()]

    @cached_property
    def starts(self) -> Rows:
        """Products at the method's own starts, whose combinations are those of all starts: a row for each product."""
        first = vectors_of(own_start(self.found.method))
        begun = {name: first[name].parts.get((MEAN, "w"), ZERO) for name in first}
        rest = memories_at_rest(self.found)
        (one, p), (other, q) = self._counts[0], self._counts[-1]
        weights = {one: ONE / p, other: -ONE / q} if one != other else {}
        found = []
        for server, gradients in ((ONE, ZERO), (ZERO, ONE), (ONE, ONE)):
            values = {
                symbol: begun[symbol[-1]] * server
                - rest.get(symbol[-1], ZERO) * weights.get(symbol[0], ZERO) * gradients
                for symbol in self._symbols
            }
            found.append({_key(a, b): values[a] * values[b] for a in values for b in values})
        for group, count in self._counts:
            if count > 1:  # gradients at the minimiser with mean 0 in the group
                of_pair = {FIRST: ONE, SECOND: -ONE / (count - 1)}
                mine = [symbol for symbol in self._symbols if symbol[0] == group and symbol[1] == FIRST]
                found.append(
                    {_key(a, (group, client, b[-1])): c * rest.get(a[-1], ZERO) * rest.get(b[-1], ZERO)
                     for a in mine for b in mine for client, c in of_pair.items()}
                )  # fmt: skip
        return [[one.get(key, ZERO) for one in found] for key in self.products]

    @cached_property
    def products(self) -> dict[tuple[Symbol, Symbol], dict[tuple[Symbol, Symbol], Any]]:
        """Every kind of product, with what it is expected to be after the round."""
        m, K = self.draws.clients, self.draws.K
        one, two = to_fmpq(Fraction(K, m)), to_fmpq(Fraction(K * (K - 1), m * (m - 1)))
        rows: dict[Any, dict[Any, Any]] = {}
        for a, b in combinations_with_replacement(self._symbols, 2):
            key = _key(a, b)
            if key in rows:
                continue
            row: dict[Any, Any] = {}
            servers = [symbol for symbol in (a, b) if not symbol[0]]
            memory = b if not b[0] else a
            if len(servers) == 2:
                for group, client, count in self._summed():
                    u, v = (self._after((group, client, s[-1])) for s in servers)
                    _add(row, u, v, one * count / K**2)
                for first, second, count in self._pairs():
                    u, v = self._after((*first, a[-1])), self._after((*second, b[-1]))
                    _add(row, u, v, two * count / K**2)
            elif servers:
                name, memory = servers[0][-1], b if a is servers[0] else a
                new, old = self._after(memory), {memory: ONE}
                _add(row, self._after((*memory[:2], name)), new, one / K)
                for group, client, count in self._summed(memory):
                    sent = self._after((group, client, name))
                    _add(row, sent, new, two * count / K)
                    _add(row, sent, old, (one - two) * count / K)
            elif a[:2] == b[:2]:
                _add(row, self._after(a), self._after(b), one)
                _add(row, {a: ONE}, {b: ONE}, 1 - one)
            else:
                _add(row, self._after(a), self._after(b), two)
                _add(row, self._after(a), {b: ONE}, one - two)
                _add(row, {a: ONE}, self._after(b), one - two)
                _add(row, {a: ONE}, {b: ONE}, 1 - 2 * one + two)
            rows[key] = row
        return rows

    @cached_property
    def _counts(self) -> list[tuple[str, int]]:
        """The groups with the numbers of their clients."""
        share, m = self.federation.share, self.draws.clients
        counts = [("first", int(share * m)), ("second", m - int(share * m))]
        return [(group, count) for group, count in counts if count]

    @cached_property
    def _symbols(self) -> list[Symbol]:
        first = own_start(self.found.method)
        memories = [*map(name_of_memory, first.memory)]
        clients = [(group, client) for group, count in self._counts for client in (FIRST, SECOND)[:count]]
        servers = [name for name in vectors_of(first) if name not in memories]
        return [*(("", name) for name in servers), *((*client, name) for client in clients for name in memories)]

    def _summed(self, but: Symbol | None = None) -> list[tuple[str, str, int]]:
        """Clients that stand for all, but for one client, with the numbers of those that they stand for."""
        each = []
        for group, count in self._counts:
            left = count - (but is not None and but[0] == group)
            if left:
                each.append((group, SECOND if but is not None and but[:2] == (group, FIRST) else FIRST, left))
        return each

    def _pairs(self) -> list[tuple[Symbol, Symbol, int]]:
        """Ordered pairs of different clients that stand for all, with their numbers."""
        return [
            ((*one[:2],), (*other[:2],), one[2] * other[2])
            for one in self._summed()
            for other in self._summed((*one[:2], ""))
        ]

    def _after(self, symbol: Symbol) -> Vector:
        """A vector after the round, if this client is drawn: of the server, if all that are drawn were like it."""
        group, client, name = symbol
        return {
            (("", known) if ("", known) in self._symbols else (group, client, known)): c
            for known, c in self._alone[group][name].items()
        }

    @cached_property
    def _alone(self) -> dict[str, dict[str, dict[str, Any]]]:
        """For either curvature the vectors after a round of clients that are all alike."""
        a, b = self.federation.first, self.federation.second
        return {
            group: _alone(self.found.method, self.solver, self.draws, curvature, self.sign)
            for group, curvature in (("first", a), ("second", b))
        }


def memories_at_rest(found: Coordinates) -> dict[str, Any]:
    """What memories are where the method rests at the minimiser, in units of ∇F_k(x*)."""
    part = found.deviation
    return {
        name: -sum((c * row[place] for c, row in zip(part.start, part.written, strict=True)), ZERO)
        for place, name in enumerate(part.vectors)
    }


def _alone(
    method: Method, solver: LocalSolver, draws: Draws, curvature: Fraction, sign: int
) -> dict[str, dict[str, Any]]:
    begun = {name: Family({(MEAN, name): ONE}) for name in vectors_of(own_start(method))}
    board: Any = QuadraticBoard(OnALine(curvature, curvature, Fraction(1)), sign)
    after, _ = answered(method, solver, board, state_of(method, begun), draws)
    return {name: {known: c for (_, known), c in u.parts.items()} for name, u in vectors_of(after).items()}


def _key(a: Symbol, b: Symbol) -> tuple[Symbol, Symbol]:
    """Equal for products with equal expectations: clients of a group may be exchanged."""
    a, b = sorted((a, b), key=lambda symbol: (symbol[0], symbol[-1], symbol[1]))
    if not a[0] or a[0] != b[0]:
        return _one(a), _one(b)
    return _one(a), (b[0], FIRST if a[1] == b[1] else SECOND, b[-1])


def _one(symbol: Symbol) -> Symbol:
    return symbol if not symbol[0] else (symbol[0], FIRST, symbol[-1])


def _add(row: dict[Any, Any], u: Vector, v: Vector, times: Any) -> None:
    if times:
        for a, x in u.items():
            for b, y in v.items():
                key = _key(a, b)
                row[key] = row.get(key, ZERO) + times * x * y
