"""Rounds of which a Lyapunov function measures the objective's value at the server's point, too.

V = (a quadratic form of the state's errors) + c·(F(w) − F(x*)), c >= 0. As proofs of such a V are proofs for any number
of clients, F is the mean of their functions, and w the point that they all share.
"""

from collections.abc import Mapping
from typing import Any

from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, Form, combination


def normalised(posed: PosedRound) -> Pair:
    """The entry of V that is 1, since V is only determined up to a factor: c where there is one."""
    return posed.pairs[-1] if posed.values else posed.pairs[0]


def without_values(posed: PosedRound, entries: Mapping[Pair, Any]) -> Form:
    """What V is at least, without function values: strongly convex ones grow by a quadratic from the minimiser."""
    found = posed.form(entries)
    lowest = ((c, next(f for _, f in posed.inequalities if f.values == {name: 1})) for name, c in found.values.items())
    return combination((ONE, found), *((-c, form) for c, form in lowest))


def of_valued_point(posed: PosedRound) -> list[Pair]:
    """V's entries that are about nothing but the point whose value V measures; none where it measures none."""
    if not posed.values:
        return []
    point = posed.coordinates.state(dict(posed.before)).server.parts
    places = [place for place, u in posed.before.items() if u.parts.keys() <= point.keys()]
    return [pair for pair in posed.pairs if {*pair} <= {*places}]
