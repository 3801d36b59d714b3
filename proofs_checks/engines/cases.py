"""Claims that are proved in two cases: where a condition is strict, and where it holds with equality."""

from dataclasses import dataclass
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.proof import Check, CheckOutcome, Relation
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class AtOrAbove(Check):
    """The claim holds for variable >= bound: `above` is the same for variable > bound, `at` for variable = bound."""

    variable: Any
    bound: Any
    above: Relation
    at: Relation

    engine = "cases"

    def rests_on(self) -> tuple[Relation, ...]:
        return self.above, self.at

    def run(self, claim: Relation) -> CheckOutcome:
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
