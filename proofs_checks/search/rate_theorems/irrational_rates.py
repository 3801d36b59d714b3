"""Rates that are squares of roots of quadratics: r² − t·r + d = 0 with t and d rational in the parameters.

The search for V needs rational numbers. So r takes the place of one parameter, in which the equation is linear: that
parameter is then a rational function of the others and of r. The theorem has r by name, and the equation as a fact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import floor, prod
from random import Random
from typing import Any, final

import sympy
from flint import fmpq_mat

from fedconvex.claims.terms import parameter
from fedconvex.errors import InvalidInput
from fedconvex.progress import track
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import slowest
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import of_any_round
from fedconvex.proofs_checks.search.rate_theorems.rates import Arguments, NotFound, RateSearch
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import (
    Extremes,
    extremes_of,
    posed,
    specification,
)
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered, RootOfQuadratic
from fedconvex.proofs_checks.worst_cases.theorems.points import (
    Point,
    checked_relations,
    coordinates,
    named,
    random_points,
)
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import formulas
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters
from fedconvex.verdicts import Verdict

BATCH = 10  # points after which the fit is tried again
HOPELESS = 40  # points without a quadratic, after which the search ends
CLOSE = Fraction(1, 10**12)  # of two numbers for a squared root, one of which is rounded
GRID = 20  # bounds on the root are multiples of 1/GRID, where one is between


@final
@dataclass(frozen=True, eq=False)
class SubstitutedRoot:
    """r, and the parameter whose place it takes."""

    of: RootOfQuadratic
    replaced: Any
    formula: Any  # that parameter, from the others and r
    points: tuple[Point, ...]  # at which t and d were confirmed, and at which quadratics attain the rate
    count: int  # of all points

    def symbols(self, given: Iterable[Any]) -> tuple[Any, ...]:
        """The parameters with r in the place of that one."""
        return tuple(self.of.symbol if x == self.replaced else x for x in given)

    def arguments(self, given: Arguments) -> Arguments:
        """From the others and r to the arguments of `lyapunov`."""
        names = [str(x) for x in sorted(self.formula.free_symbols, key=str)]
        formula = sympy.lambdify(names, self.formula, modules=[])
        name, own = str(self.replaced), str(self.of.symbol)

        def made(**values: Any) -> Mapping[str, Any]:
            others = {k: x for k, x in values.items() if k != own}
            return given(**others, **{name: formula(**{k: values[k] for k in names})})

        return made

    def relations(self, given: Iterable[Any]) -> tuple[Any, ...]:
        """The domain's, of the others and r, with what r is: the larger root, below 1; the parameter is positive."""
        t = self.of.t.subs(self.replaced, self.formula)
        made = [r.func(*(side.subs(self.replaced, self.formula) for side in r.args)) for r in given]
        # First the sign of the formula's denominator, by which the others divide.
        return checked_relations((*self._own, sympy.Gt(sympy.factor(2 * self.of.symbol - t), 0), *made))

    @cached_property
    def _own(self) -> tuple[Any, ...]:
        """That errors shrink, and that the parameter is positive, as its denominator and its numerator."""
        above, below = sympy.fraction(sympy.factor(self.formula))
        sign = 1 if below.subs(self._sample) > 0 else -1
        return sympy.Lt(self.of.symbol, 1), sympy.Gt(sign * below, 0), sympy.Gt(sign * above, 0)

    def shown(self, where: Iterable[Any], given: tuple[Any, ...]) -> tuple[Any, ...]:
        """The relations of a theorem about r, with the given ones as they were, without those that these imply."""
        known = self.relations(given)
        # A numerator has the sign of its denominator, where the quotient is a parameter.
        own = [one for one in checked_relations(self._own[:2]) if not self._follows(one, given)]
        return (*given, *own, *(one for one in where if one not in known))

    def _follows(self, relation: Any, given: tuple[Any, ...]) -> bool:
        """Whether a relation follows from r's being the larger root, everywhere in the domain."""
        parameters = Parameters(self.points[0])
        domain, r = parameters.domain(given), self.of.symbol

        def is_positive(x: Any) -> bool:
            return parameters.shows(domain, x, strictly=True)

        def sign_of(factor: Any) -> int:
            if sympy.degree(factor, r) > 1:
                return 0
            slope, rest = sympy.Poly(factor, r).coeff_monomial(r), factor.subs(r, 0)
            of_slope = is_positive(slope) - is_positive(-slope)
            if not factor.has(r) or not rest:
                return is_positive(rest) - is_positive(-rest) if rest else of_slope
            # The larger root is above c where the quadratic is negative, and below where it is positive from t/2 on.
            c = -rest / slope
            at_c = c**2 - self.of.t * c + self.of.d
            return of_slope * (is_positive(-at_c) - (is_positive(at_c) and is_positive(c - self.of.t / 2)))

        parts = sympy.factor(relation.gts - relation.lts).as_numer_denom()
        return prod(sign_of(factor) for part in parts for factor in sympy.Mul.make_args(part)) > 0

    @property
    def _sample(self) -> Mapping[Any, Any]:
        point = self.points[0]
        rest = {x: sympy.Rational(c.numerator, c.denominator) for x, c in point.items()}
        return {**rest, self.of.symbol: self.of.expression.subs(rest)}

    @property
    def bounds(self) -> tuple[Any, ...]:
        """That r is not smaller than at the points, up to a simple number: signs may follow from this alone."""
        least = min(float(self.of.at(coordinates(p)).above) for p in self.points)
        bound = sympy.Rational(floor(least * GRID), GRID)
        return (sympy.Ge(self.of.symbol, bound),) if 0 < bound < 1 else ()

    def named(self, proved: Lemma, arguments: Arguments, symbols: tuple[Any, ...]) -> Lemma:
        """The theorem about the given parameters and r: of one of them it says what it equals."""
        example = {str(x): c for x, c in proved.setting.example.items()}
        values = {x: example[str(x)] for x in self.formula.free_symbols}
        there = {**example, str(self.replaced): _exact(self.formula.subs(values))}
        parameters = Parameters({x: there[str(x)] for x in (*symbols, self.of.symbol)})
        spec = specification(arguments(**{str(x): parameters.number(x) for x in symbols}))
        own = parameters.number(self.formula).term
        domain = Domain((*proved.setting.conditions, (parameter(str(self.replaced)), "=", own)), there)
        return replace(proved, setting=of_any_round(spec, domain))


def _exact(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def root_of_quadratic(arguments: Arguments, points: Iterable[Point], most: int) -> SubstitutedRoot:
    """The root that is the rate, from exact quadratics at points. Raises NotFound."""
    seen: list[tuple[Point, Extremes, Any, Any]] = []
    count = 0
    for count, point in zip(track(range(1, most + 1), "Rates"), points, strict=False):
        found = quadratic_at(arguments(**named(point)))
        if found is not None:
            seen.append((point, *found))
            if len(seen) % BATCH == 0 and (root := _fitted(seen, count)) is not None:
                return root
        if not seen and count >= HOPELESS:
            break
    raise NotFound("no rational functions fit the rates, nor the quadratics of which they are roots")


def _fitted(seen: list[tuple[Point, Extremes, Any, Any]], count: int) -> SubstitutedRoot | None:
    pattern = Counter(one for _, one, _, _ in seen).most_common(1)[0][0]
    alike = [(point, t, d) for point, one, t, d in seen if one == pattern]
    symbols = tuple(alike[0][0])
    found = formulas([point for point, _, _ in alike], [values for _, *values in alike])
    if found is None:
        return None
    (t, d), right = found
    agreeing = compress((point for point, _, _ in alike), right)
    names = {*map(str, symbols)}
    r = sympy.Symbol(
        next(name for name in ("r", *(f"r{i}" for i in range(len(names)))) if name not in names), positive=True
    )
    equation = sympy.numer(sympy.together(r**2 - t * r + d))
    linear = [x for x in symbols if sympy.degree(equation, x) == 1]
    if not linear:
        return None
    solved = {x: sympy.factor(sympy.solve(equation, x)[0]) for x in linear}
    replaced = min(linear, key=lambda x: sympy.count_ops(solved[x]))
    return SubstitutedRoot(RootOfQuadratic(r, symbols, t, d), replaced, solved[replaced], tuple(agreeing), count)


def quadratic_at(arguments: Mapping[str, Any]) -> tuple[Extremes, Any, Any] | None:
    """The slowest quadratics' pattern, and t and d of their factor's equation, where that has a positive real root."""
    spec = specification(arguments)
    found = slowest(posed(spec).coordinates, spec.solver, spec.clients, "any", inexact=False)[0]
    pattern = extremes_of(found, spec)
    if found.is_exact or pattern is None:
        return None
    n = len(found.matrix)
    matrix: Any = fmpq_mat(n, n, [x for row in found.matrix for x in row])
    for factor, _ in matrix.charpoly().factor()[1]:
        c = factor.coeffs()
        if len(c) == 3 and c[1] < 0 and c[1] * c[1] > 4 * c[0] * c[2]:
            t, d = -c[1] / c[2], c[0] / c[2]
            root = float(t) / 2 + (float(t) ** 2 / 4 - float(d)) ** 0.5
            if abs(root**2 - float(found.squared)) < CLOSE:
                return pattern, t, d
    return None


def irrational_rate(
    arguments: Arguments, symbols: tuple[Any, ...], relations: tuple[Any, ...], samples: int, seed: int
) -> Discovered:
    """V(next state) ≤ r²·V(state) for all parameters, with r's formula, or how far the search came."""
    begun = Discovered(symbols, "lyapunov", Verdict.UNKNOWN, "", relations)
    try:
        root = root_of_quadratic(arguments, random_points(symbols, relations, Random(seed)), samples)
    except NotFound as error:
        return replace(begun, says=str(error))
    attained = f"quadratics attain this rate at {len(root.points)} of {root.count} points"
    begun = replace(begun, bound=root.of.symbol**2, root=root.of, sharp=True)
    for bounds in ((), root.bounds):
        own = (*root.relations(relations), *bounds)
        points = random_points(root.symbols(symbols), own, Random(seed))
        search = RateSearch(root.arguments(arguments), own, points, samples)
        try:
            search.run()
            found, proof = search.found, search.found.proof
            assert proof is not None
            proof = root.named(proof, arguments, symbols)
            proof.theorem()
        except InvalidInput:
            raise
        except (NotFound, Refused, ValueError) as error:
            begun = replace(begun, says=f"{attained}; a conjecture: {error}")
            continue
        where = root.shown(found.where, relations)
        says = f"{attained}, and V proves it at {found.proved} others of {found.count}; proved for all parameters"
        return replace(begun, verdict=Verdict.PROVED, says=says, where=where, multipliers=found.multipliers,
                       function=found.function, proof=proof)  # fmt: skip
    return begun
