"""`discover` for every number of local steps at once: which way a proof is tried, and the theorem that comes of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.lyapunov.functions import written
from fedconvex.proofs_checks.search.rate_theorems.discovered_rates import checked
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound, RateTheorem, concluded
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import specification
from fedconvex.proofs_checks.search.step_theorems.step_forms import StepForms, Way
from fedconvex.proofs_checks.search.step_theorems.step_multipliers import (
    PATTERNS,
    SlowestClients,
    multipliers,
    proves,
)
from fedconvex.proofs_checks.search.step_theorems.step_rounds import StepRound
from fedconvex.proofs_checks.search.step_theorems.step_signs import Room
from fedconvex.proofs_checks.search.step_theorems.step_symbols import Symbols
from fedconvex.proofs_checks.search.step_theorems.step_theorems import StepTheorem
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import NoLemma
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.points import ATTEMPTS
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, Region

Arguments = Callable[..., Mapping[str, Any]]
Point = Mapping[str, Fraction]  # values of the parameters but e, by name
COUNTS = (2, 3, 5)  # local steps at which ways are compared
POINTS = 16  # of the domain, for each of them
SIZES = (1, 2, 3, 5, 8, 20, 50, 125, 400, 1000)  # of numerators and denominators, so that points spread over scales
WEIGHTS = tuple((to_fmpq(c), power) for power in (2, 1, 0) for c in (1, 2, 4))
LIMITS = tuple(
    map(Fraction, ("4", "3", "2", "3/2", "4/3", "1", "9/10", "5/6", "3/4", "2/3", "1/2", "1/3", "1/4", "1/8"))
)
SLOW = to_fmpq(Fraction(1, 50))  # 1 − q
EACH = 12  # points, at most, with each of these numbers
MOST_REFUSED = 2  # proofs, after which the search ends
SEEN = (*range(1, 16), 32, 64)  # local steps, between which only their number may differ
CHECKED = (1, 2, 3, 5, 10, 30)  # local steps at which a simple condition is tried out


@final
class StepSearch:
    """The search; `found` is what it has found so far.

    Args:
        arguments: from parameters to the arguments of `lyapunov`.
        symbols: the parameters, in order.
        steps: the name of the one that is the number of local steps.
        relations: between the parameters, of the domain.
        seed: of the choice of points.
    """

    def __init__(
        self, arguments: Arguments, symbols: tuple[Any, ...], steps: str, relations: tuple[Any, ...], seed: int
    ):
        self.arguments, self.steps, self.relations, self.seed = arguments, steps, relations, seed
        self.symbols = symbols
        self.others = tuple(x for x in symbols if str(x) != steps)
        self.found = RateTheorem(where=relations)

    def run(self) -> None:
        """Completes `found`. Raises NotFound, or Refused by the kernel."""
        tried = [(self._proved_at(way, relaxed), way, relaxed) for way, relaxed in self._ways()]
        self.found.count = len(self.samples)
        problem: Exception = NotFound(
            f"at none of {self.found.count} points the inequalities of single steps prove the rate of the slowest "
            "quadratics"
        )
        refused = 0
        for proved, way, relaxed in sorted(tried, key=lambda one: -len(one[0])):
            if not proved or refused == MOST_REFUSED:
                break
            try:
                self._prove(way, relaxed, proved)
            except (NotFound, NoLemma, Refused) as error:
                refused += isinstance(error, Refused)
                problem = error if self.found.rate is None or not isinstance(error, NotFound) else problem
                continue
            return
        raise problem

    # ---- ways

    def _ways(self) -> Iterator[tuple[Way, bool]]:
        """The ways that are tried, and whether the class is relaxed to curvatures up to 1/s."""
        _, first = self.samples[0]
        step = first.step
        remembers = [own for place, (own, _) in step.measured.items() if place[0] != "mean"]
        for relaxed in (False, True) if self._may_relax else (False,):
            for pattern in PATTERNS:
                for spread in (False, True):
                    if remembers and not remembers[0]:
                        yield from ((Way(pattern, spread, weight), relaxed) for weight in WEIGHTS)
                    elif not (spread and remembers):
                        yield Way(pattern, spread), relaxed

    @cached_property
    def _may_relax(self) -> bool:
        """Whether stepsizes are at most 1/L at all points, and smaller at some."""
        sizes = [one.size * to_fmpq(one.spec.clients.highest) for _, one in self.samples]
        return all(x <= 1 for x in sizes) and any(x < 1 for x in sizes)

    @cached_property
    def samples(self) -> list[tuple[Point, StepRound]]:
        """Points of the domain with rounds there, with few steps."""
        random = Random(self.seed)
        found: list[tuple[Point, StepRound]] = []
        for e in COUNTS:
            region, own = self._region(e), 0
            for _ in range(ATTEMPTS if region is not None else 0):
                values = [Fraction(random.choice(SIZES), random.choice(SIZES)) for _ in self.others]
                if region is None or values not in region:
                    continue
                point = {str(x): value for x, value in zip(self.others, values, strict=True)}
                one = self._round(point, e)
                if one.spec.clients.lowest >= one.spec.clients.highest or one.ratio <= 0:
                    continue
                found.append((point, one))
                own += 1
                if own == POINTS:
                    break
        if not found:
            raise NotFound("no point of the domain has local steps that contract without changing directions")
        return found

    @cached_property
    def places(self) -> list[tuple[Point, int]]:
        """Points of the domain with many numbers of steps: what is wrong there is not tried."""
        found = []
        for e in CHECKED:
            region = self._region(e)
            known = [p for p, _ in self.samples if region is not None and [p[str(x)] for x in self.others] in region]
            found += [(p, e) for p in known[:: len(known) // EACH + 1]]
        return found

    def _region(self, e: int) -> Region | None:
        """The domain of the other parameters with so many steps; None where it is empty."""
        where = [r.subs(sympy.Symbol(self.steps, positive=True), e) for r in self.relations]
        return None if sympy.false in where else Region(self.others, [r for r in where if r != sympy.true])

    def _round(self, values: Mapping[str, Any], e: int, relaxed: bool = False) -> StepRound:
        arguments = dict(self.arguments(**{**values, self.steps: e}))
        one = StepRound.at(arguments)
        if not isinstance(one.spec.solver, GradientDescent) or one.spec.solver.steps != e:
            raise NotFound(f"{self.steps} is not the number of local gradient steps")
        if relaxed:
            low, most = one.spec.clients.lowest, 1 / one.size
            one = StepRound.at(arguments | {"clients": SmoothStronglyConvex(low, most)})
        return one

    def _proved_at(self, way: Way, relaxed: bool) -> list[tuple[Point, int]]:
        """The points, with their numbers of steps, at which the way is a proof."""
        found = []
        for point, one in self.samples:
            if relaxed:
                one = self._round(point, one.count, relaxed)
            try:
                slow = SlowestClients(one)
                numbers = multipliers(one, slow, way.pattern)
                if numbers is not None and proves(one, slow, way.entries(one), numbers, way.spread):
                    found.append((point, one.count))
            except (NotFound, ZeroDivisionError):
                continue
        return found

    # ---- the theorem

    def _prove(self, way: Way, relaxed: bool, proved: list[tuple[Point, int]]) -> None:
        """Raises NotFound, or Refused."""
        # Few steps and slow ones: what is true there, a simple condition does not exclude.
        example, steps = min(proved, key=lambda one: (one[1], 1 - self._round(*one).ratio > SLOW))
        parameters = Parameters({x: example[str(x)] for x in self.others})

        def at_numbers(e: int) -> StepRound:
            return self._round(example, e, relaxed)

        def at_functions(e: int) -> StepRound:
            return self._round(parameters.numbers, e, relaxed)

        few = at_functions(2)
        self._require_one_method(parameters, example)
        forms = StepForms.found(at_numbers, at_functions, at_numbers(2).ratio, few.ratio, way)
        values = {**example, self.steps: Fraction(steps)}
        symbols = Symbols(values, self.steps, few.ratio)
        of = self._round(parameters.numbers, 2)
        bounds = few.spec.clients.lowest, few.spec.clients.highest
        made = StepTheorem(symbols, forms, of, way, bounds, self.places)
        self._show(made, len(proved))
        # Comparisons in the arguments' code were decided at the example: where they turn out so, the theorem holds.
        shown = symbols.parameters.domain(self.relations)
        compared = [r for r in parameters.comparisons if not symbols.parameters.follows(r, shown)]
        given = (*self.relations, *compared)
        domain = symbols.parameters.conditions(given)
        rooms = made.rooms(made.contracting(domain, values), values)
        where = list(given)
        needed = [room for room in rooms if room.condition is not None]
        simple = self._simple(made, domain, values, needed) if needed else None
        if simple is not None:
            relation, condition, rooms = simple
            domain, where = (*domain, condition), [*where, relation]
        else:
            domain += tuple((symbols.term(room.condition), ">=", number(0)) for room in needed)
            where += [sympy.Ge(symbols.shown_in_powers(room.condition), 0) for room in needed]
        all_of_it = made.contracting(domain, values)
        if len(all_of_it) > len(domain):
            where.append(sympy.Gt(symbols.base, 0))
        proof = made.lemma(all_of_it, values, rooms)
        proof.theorem()
        self.found.where, self.found.proof = tuple(where), proof

    def _require_one_method(self, parameters: Parameters, example: Point) -> None:
        """Raises NotFound where something else depends on the number of steps, as far as many of them show."""
        for values, counts in ((parameters.numbers, (2, 3)), (example, SEEN)):
            specs = [_of_steps(specification(self.arguments(**{**values, self.steps: n}))) for n in counts]
            if any(one != specs[0] for one in specs):
                raise NotFound(f"something else than the number of local steps depends on {self.steps}")

    def _show(self, made: StepTheorem, proved: int) -> None:
        found, symbols = self.found, made.symbols
        found.rate, found.proved = symbols.shown(made.rate), proved
        names = made.of.posed.names
        found.multipliers = made.shown_multipliers
        found.function = {written({x: Fraction(1)}, names): symbols.shown(c) for x, c in made.entries.items()}

    def _simple(
        self, made: StepTheorem, domain: Any, values: Mapping[str, Fraction], needed: list[Room]
    ) -> tuple[Any, Any, Any] | None:
        """A simple condition, e²(1 − q) at most a number, that shows all signs; None without one."""
        symbols = made.symbols
        if any(self.steps in {str(x) for x in r.free_symbols} for r in self.relations):
            return None
        small = symbols.e**2 * (1 - symbols.q)
        for limit in LIMITS:
            relation = sympy.Le(symbols.shown(small), sympy.Rational(limit.numerator, limit.denominator))
            condition = (number(limit), ">=", symbols.term(small))
            near = [
                (p, e)
                for (p, e), q in zip(self.places, made.signs.ratios, strict=True)
                if e * e * (1 - q) <= to_fmpq(limit)
            ]
            inside = replace(made, points=near)
            if not near or any(inside.signs.lowest(room.weight) < 0 for room in needed):
                continue
            rooms = inside.rooms(inside.contracting((*domain, condition), values), values)
            if all(room.condition is None for room in rooms):
                return relation, condition, rooms
        return None


def _of_steps(spec: Specification) -> list[Any]:
    """What may not depend on the number of steps: the method's other parameters, the class, and the stepsize."""
    method, solver = spec.method, spec.solver
    own = [getattr(method, f.name) for f in fields(method) if f.name != "local_steps"]  # type: ignore[arg-type]
    size = solver.stepsize if isinstance(solver, GradientDescent) else None
    return [type(method), *own, spec.clients.lowest, spec.clients.highest, size]


def discovered_for_all_steps(
    arguments: Arguments, symbols: tuple[Any, ...], local_steps: str, relations: tuple[Any, ...], seed: int
) -> Discovered:
    """V(next state) ≤ bound · V(state) for every number of local steps, or how far the search came; see `discover`."""
    names = [str(x) for x in symbols]
    if local_steps not in names:
        raise InvalidInput("local_steps", local_steps, "is none of the parameters", f"give one of {', '.join(names)}")
    if len(names) == 1:
        raise InvalidInput("arguments", arguments, "has no parameter but the number of local steps",
                           "make a stepsize or a curvature one")  # fmt: skip

    def checked_arguments(**values: Any) -> Mapping[str, Any]:
        given = arguments(**values)
        if given.get("metric") != "lyapunov":
            raise InvalidInput("local_steps", local_steps, "is for linear rates", 'give metric="lyapunov"')
        return checked(given)

    search = StepSearch(checked_arguments, symbols, local_steps, relations, seed)
    done = "proved for all parameters and every number of local steps"
    return concluded(search, search.run, symbols, done, local_steps=local_steps)
