"""The draw of P of m clients: σ = (m − P)/(P(m − 1)), which the kernel knows as a number in [0, 1] with an equation.

Inequalities are first shown with that number, `SPREAD`; then `WRITTEN` takes its place.
"""

from collections.abc import Iterable
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, number, parameter
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Hypothesis, Line
from fedconvex.proofs_checks.library import Parts, by, concluding

SPREAD = parameter("σ")  # of the variance of an average over the drawn clients
m, P = parameter("num_clients"), parameter("num_active")
OTHERS = number(1).max(m - 1)
WRITTEN = (m - P) / (P * OTHERS)


def as_written(slope: Any, of: Number) -> Parts:
    """(`WRITTEN` − `SPREAD`)·slope·of, which is 0."""
    nothing: Parts = slope / (P * OTHERS) * (-1 * of) * by(Hypothesis("scale"))
    return nothing


def by_number_of_clients(lines: Iterable[Line]) -> Derivation:
    """The same lines for m ≥ 2 and for m = 1: which of m − 1 and 1 is the larger one is known in each."""
    of_case = Derivation(tuple(lines))
    return Derivation(cases=Cases(m, number(2), of_case, of_case))


def in_one_line(claim: Claim, parts: Parts) -> Derivation:
    """A claim about one round, from its parts."""
    return by_number_of_clients((concluding(claim, parts),))
