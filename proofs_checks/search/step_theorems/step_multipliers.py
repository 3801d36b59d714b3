"""The inequalities that a proof uses in every step, and their multipliers: equalities where these must hold as such.

Clients that are one quadratic of least curvature attain the rate. Every proof of it is an equality there, and function
values cancel. Of a pattern with two inequalities a step, these equations determine all multipliers.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, final

from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound
from fedconvex.proofs_checks.search.rate_theorems.equations import Equations
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import slow_clients
from fedconvex.proofs_checks.search.step_theorems.step_rounds import Multipliers, StepRound, is_semidefinite
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, ONE, ZERO, Key

SLOWEST = (True, True, Fraction(1))  # clients of least curvature
HERE_FROM_NEXT, NEXT_FROM_HERE = "here from next", "next from here"
REST_FROM_HERE, HERE_FROM_REST = "rest from here", "here from rest"
# By name: the inequalities of a step, and those that its last one has besides. `next` is the next step's point, `rest`
# the minimiser.
PATTERNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "from step to step": ((HERE_FROM_NEXT, REST_FROM_HERE), (HERE_FROM_REST,)),
    "each step alone": ((REST_FROM_HERE, HERE_FROM_REST), ()),
    "from step to step, back": ((NEXT_FROM_HERE, HERE_FROM_REST), (REST_FROM_HERE,)),
}
NAMES = {
    HERE_FROM_NEXT: "{0} from {1}", NEXT_FROM_HERE: "{1} from {0}", REST_FROM_HERE: "0 from {0}",
    HERE_FROM_REST: "{0} from 0",
}  # fmt: skip


def used(pattern: str, count: int) -> list[tuple[str, int]]:
    """The inequalities, by kind and step."""
    each, last = PATTERNS[pattern]
    found = [(kind, i) for i in range(count) for kind in each if i < count - 1 or "next" not in kind]
    return [*found, *((kind, count - 1) for kind in last)]


def name_of(kind: str, i: int) -> str:
    """The inequality's name in a posed round, whose points are the minimiser, 0, and those of the steps, from 1 on."""
    return NAMES[kind].format(i + 1, i + 2)


@final
class SlowestClients:
    """Clients that are one quadratic of least curvature: the factor of errors in a round, and its vectors."""

    def __init__(self, of: StepRound):
        found = slow_clients(of.posed, of.spec, SLOWEST, None)
        place = next(k for k, key in enumerate(of.posed.before) if key[0] == MEAN)
        self.root = found.matrix[place][place]
        unit = [ONE if k == place else ZERO for k in range(len(found.matrix))]
        self.is_alone = not any(row[place] for k, row in enumerate(found.matrix) if k != place)
        vectors = attained_vectors(of.posed, replace(found, root=self.root, vectors=[unit]))
        self.zeros: list[Mapping[Key, Any]] = list(vectors)


def multipliers(of: StepRound, slow: SlowestClients, pattern: str) -> Multipliers | None:
    """Those of the pattern's inequalities, by kind and step; None where the equations do not determine them."""
    posed: PosedRound = of.posed
    places = used(pattern, of.count)
    names = [name_of(*place) for place in places]
    known: dict[Any, Any] = {pair: ZERO for pair in posed.pairs if pair[0][0] != MEAN}
    equations = Equations(posed, slow.root**2, slow.zeros, names, known)
    if not equations.settle() or equations.open:
        return None
    return {place: equations.known[name] for place, name in zip(places, names, strict=True)}


def proves(of: StepRound, slow: SlowestClients, entries: Mapping[Pair, Any], found: Multipliers, spread: bool) -> bool:
    """Whether V with these entries has the rate, exactly, at numbers."""
    if any(c < 0 for c in found.values()):
        return False
    costs = of.costs(entries, found, spread)
    if costs is None:
        return False
    left = of.posed.form(entries) * slow.root**2 - of.at_the_start(costs[0])
    return is_semidefinite(left)
