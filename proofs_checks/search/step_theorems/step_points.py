"""Vectors and forms of a local step as terms of claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, gradient, inner, local_step, minimiser, number, value
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import RateTerms
from fedconvex.proofs_checks.search.step_theorems.step_rounds import FIRST, PARTS, every
from fedconvex.proofs_checks.search.step_theorems.step_symbols import Symbols
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import split
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family, Form


@final
@dataclass(frozen=True, eq=False)
class PointTerms:
    """A point of every client with its gradient and value, all less those at the minimiser."""

    symbols: Symbols
    names: RateTerms
    at_point: Vector
    vectors: Mapping[str, Vector]
    values: Mapping[str, Number]

    @classmethod
    def at(cls, u: Vector, symbols: Symbols, names: RateTerms) -> "PointTerms":
        after = local_step(u)
        vectors = {"y": u - minimiser, "g": gradient(u) - gradient(minimiser),
                   "g next": gradient(after) - gradient(minimiser),
                   FIRST: gradient(names.points[1]) - gradient(minimiser)}  # fmt: skip
        own = value(u) - value(minimiser) - inner(gradient(minimiser), u - minimiser)
        return cls(symbols, names, u, vectors, {"f": own})

    def vector(self, u: Family) -> Vector:
        """A vector of a step in terms."""
        found: list[tuple[Any, Vector]] = []
        for name in dict.fromkeys(name for _, name in u.parts):
            own = [u.parts.get((part, name), ZERO) for part in PARTS]
            known = self.vectors.get(name)
            if known is not None:
                found += split(known, *own)
            else:
                found += [(c, self.names.unknown[part, name]) for c, part in zip(own, PARTS, strict=True) if c]
        shown = [self.symbols.term(c) * v for c, v in found if c]
        return sum(shown[1:], start=shown[0]) if shown else 0 * minimiser

    def number(self, form: Form) -> Number:
        """A form of a step in terms."""
        found = number(0)
        seen = set[Any]()
        for (a, b), c in form.products.items():
            other = DEVIATION if a[0] == MEAN else MEAN
            twin = ((other, a[1]), (other, b[1]))
            if (a, b) in seen:
                continue
            if form.products.get(twin) == c:
                seen.add(twin)
                u, v = every(a[1]), every(b[1])
            else:
                u, v = Family({a: ONE}), Family({b: ONE})
            found = found + self.symbols.term(c) * inner(self.vector(u), self.vector(v))
        for name, c in form.values.items():
            found = found + self.symbols.term(c) * self.values[name]
        return found
