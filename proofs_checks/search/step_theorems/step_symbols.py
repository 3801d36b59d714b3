"""Functions of the parameters, of the number e of local steps and the number i of those before, of q^e and of q^i."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims.terms import Number, parameter
from fedconvex.proofs_checks.kernel.proofs import STEP
from fedconvex.proofs_checks.search.scalars import by_powers
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, Parametric

WHOLE, PART, BEFORE = "power_of_all_steps", "power_of_steps_before", "steps_before"  # q^e, q^i and i


@final
class Symbols:
    """Functions in which e, i, q^e and q^i are symbols of their own; as terms of the claim language, and for display.

    Args:
        sample: values of the parameters, e among them.
        count: the name of e.
        ratio: q, as a function of the other parameters.
    """

    def __init__(self, sample: Mapping[str, Fraction], count: str, ratio: Parametric):
        self.count = count
        values = {sympy.Symbol(name, positive=True): x for name, x in sample.items()}
        e, q = int(sample[count]), to_fraction(ratio.sampled)
        more = {BEFORE: Fraction(0), WHOLE: q**e, PART: Fraction(1)}
        self.parameters = Parameters(values | {sympy.Symbol(name, positive=True): x for name, x in more.items()})
        known = self.parameters.numbers
        self.e, self.i, self.whole, self.part = (known[name] for name in (count, BEFORE, WHOLE, PART))
        self.q = self.function(ratio)
        e_term, i_term, q_term = parameter(count), parameter(STEP), self.q.term
        self._terms = (
            (parameter(WHOLE), q_term**e_term),
            (parameter(PART), q_term**i_term),
            (parameter(BEFORE), i_term),
        )

    def function(self, x: Any) -> Parametric:
        """The same function of the parameters among functions of all symbols."""
        return self.parameters.number(x)

    def term(self, x: Any) -> Number:
        """The function in the claim language."""
        found: Number = self.function(x).term
        for symbol, meaning in self._terms:
            found = found.put(symbol, meaning)
        return found

    @property
    def base(self) -> Any:
        """q as a SymPy expression."""
        return self.parameters.functions.quotient(self.q.value)

    def shown(self, x: Any) -> Any:
        """The function as a SymPy expression."""
        e, i = sympy.Symbol(self.count, positive=True), sympy.Symbol("i", integer=True, nonnegative=True)
        q = self.base
        meaning = {WHOLE: q**e, PART: q**i, BEFORE: i}
        return self.function(x).expression.subs({sympy.Symbol(n, positive=True): y for n, y in meaning.items()})

    def shown_in_powers(self, x: Any) -> Any:
        """The same, ordered by powers of q^e where it is a polynomial in it."""
        if (known := self.in_powers(x)) is None:
            return self.shown(x)
        e, q = sympy.Symbol(self.count, positive=True), self.base
        return sympy.Add(*(self.shown(c) * q ** (n * e) for n, c in enumerate(known)))

    def in_powers(self, x: Any) -> list[Any] | None:
        """The coefficients of 1, q^e and q^{2e}; None where it is no such polynomial."""
        value, place = self.function(x).value, [str(g) for g in self.parameters.sample].index(WHOLE)
        if value.below.degrees()[place] or value.above.degrees()[place] > 2:
            return None
        known = by_powers(value.above, place)
        found = (value.field.made(known[n], value.below) if n in known else value.field.scalar(0) for n in range(3))
        return [Parametric(x, self.parameters) for x in found]
