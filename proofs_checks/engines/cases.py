"""A claim for x ≥ bound from two claims, one for x > bound and one for x = bound.

Use it where a proof divides by x − bound.
"""

from dataclasses import dataclass
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.proof import Check, CheckOutcome, Relation
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class AtOrAbove(Check):
    """Proves a claim for variable ≥ bound from the same claim for variable > bound (`above`) and for = bound (`at`)."""

    variable: Any
    bound: Any
    above: Relation
    at: Relation

    engine = "cases"

    def rests_on(self) -> tuple[Relation, ...]:
        return self.above, self.at

    def run(self, claim: Relation) -> CheckOutcome:
        # The conditions of each case must be among those that hold in it, and its sides must be the claim's.
        at_bound = {self.variable: self.bound}
        boundary = {sympy.sympify(relation).subs(at_bound) for relation in claim.domain.relations} - {sympy.true}
        boundary |= {sympy.Eq(self.variable, self.bound, evaluate=False)}
        interior = {*claim.domain.relations, sympy.Gt(self.variable, self.bound, evaluate=False)}
        cover = sympy.Ge(self.variable, self.bound, evaluate=False) in claim.domain.relations
        if not cover or not interior >= {*self.above.domain.relations} or not boundary >= {*self.at.domain.relations}:
            return CheckOutcome(Verdict.UNKNOWN, "the cases have other conditions")
        pairs = ((claim.left, self.above.left, self.at.left), (claim.right, self.above.right, self.at.right))
        same = all(
            is_zero(side - above) and is_zero(sympy.sympify(side).subs(at_bound) - at) for side, above, at in pairs
        )
        if not same or {self.above.relation, self.at.relation} != {claim.relation}:
            return CheckOutcome(Verdict.UNKNOWN, "the cases say something else")
        return CheckOutcome(
            Verdict.PROVED, f"for {self.variable} > {self.bound} and for {self.variable} = {self.bound}"
        )
