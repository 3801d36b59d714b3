"""From Lyapunov functions at many parameter values to a theorem for all of them: the search behind `discover`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from operator import mul
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.functions import written as in_words
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, linear_maps
from fedconvex.proofs_checks.search.rate_theorems.equations import Completed, Equations, Unknown
from fedconvex.proofs_checks.search.rate_theorems.round_terms import RoundTerms
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import (
    Extremes,
    SampledRound,
    posed,
    specification,
)
from fedconvex.proofs_checks.search.rate_theorems.simple_formulas import between
from fedconvex.proofs_checks.search.rate_theorems.units import units_of
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ZERO
from fedconvex.proofs_checks.worst_cases.theorems.parametric_theorem import needed_relations
from fedconvex.proofs_checks.worst_cases.theorems.points import Point, named
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import SPARE, fitted
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at, factored

Arguments = Callable[..., Mapping[str, Any]]  # from parameters to the arguments of `lyapunov`
BATCH = 10  # points after which the fit is tried again
TRIED = 12  # points of which the most frequent pattern is taken
SAMPLES = 10  # rounds that a support and V must suit
GUESSES = 12  # simple formulas that are tried for one unknown
COMPLETIONS = 16  # ways to settle all unknowns that are compared
ZERO_FOUND = 1e-9  # an end of an interval that may be 0


class NotFound(Exception):
    """The search ends here, and this is why."""


@final
@dataclass
class RateTheorem:
    """What was found: as far as the search came."""

    count: int = 0  # of points
    checked: int = 0  # of them, points with the formula's rate
    proved: int = 0  # of these, points at which V and the multipliers prove it
    rate: Any = None
    entries: Mapping[str, Any] = field(default_factory=dict)
    multipliers: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[Any, ...] = ()
    proof: Lemma | None = None


@final
class RateSearch:
    """The search for the rate, V and the multipliers as formulas.

    Args:
        arguments: from parameters to the arguments of `lyapunov`.
        relations: between the parameters, of the domain.
        points: of the domain.
        most: the number of points at which a round is analysed.
    """

    def __init__(self, arguments: Arguments, relations: tuple[Any, ...], points: Iterable[Point], most: int):
        self.arguments, self.relations = arguments, relations
        self.drawn = islice(points, most)
        self.found = RateTheorem(where=relations)
        self.seen: list[tuple[Point, SampledRound]] = []

    def run(self) -> None:
        """Fills in what is found. Raises NotFound, or what the kernel refuses."""
        roots = self._roots()
        point, sampled = self.seen[0]
        self.parameters = parameters = Parameters(point)
        spec = specification(self.arguments(**parameters.numbers))
        self.posed = round_ = posed(spec)
        rate = parameters.number(roots[0] * roots[0])
        self.found.rate = factored(rate.value)
        slow = [_slow(round_, spec, *one) for one in zip(sampled.pattern or (), roots, strict=True)]
        zeros = [zero for one in slow for zero in attained_vectors(round_, one)]
        names = [name for name, _ in round_.inequalities]
        alike = [(p, r) for p, r in self.seen if [name for name, _ in r.posed.inequalities] == names]
        self.rounds = alike[:SAMPLES]
        self.units = units_of(round_, parameters)
        support = _support([r for _, r in self.rounds])
        best = self._best(Equations(round_, rate, zeros, support))
        self._describe(best)
        signed = [*parameters.compared, *best.signed]
        functions = (parameters.functions(map(parameters.number, part)) for part in (signed, best.defined))
        self.found.where = (*self.relations, *needed_relations(parameters, self.relations, *functions))
        example = {str(symbol): value for symbol, value in point.items()}
        domain = Domain(parameters.conditions(self.found.where), example)
        self.found.proof = RoundTerms(spec, round_).lemma(rate, best.entries, best.multipliers, best.squares, domain)
        self.found.proof.theorem()

    def _describe(self, best: Completed) -> None:
        shown = lambda c: factored(self.parameters.number(c).value)
        self.found.entries = {
            in_words({x: Fraction(1)}, self.posed.names): shown(c) for x, c in best.entries.items() if c
        }
        self.found.multipliers = {name: shown(c) for name, c in best.multipliers.items()}

    def _best(self, equations: Equations) -> Completed:
        """Of some ways to settle all unknowns, the one that proves the rate at the most points."""
        best, most = None, 0
        for completed in islice(self._completed(equations), COMPLETIONS):
            proved = sum(completed.proves_at([to_fmpq(x) for x in p.values()]) for p, _ in self.seen)
            if proved > most:
                best, most = completed, proved
            if proved == len(self.seen):
                break
        self.found.proved = most
        if best is None:
            raise NotFound("V or its multipliers have no simple formulas")
        # The sample decides signs, and must be a point where it holds.
        return best

    # ---- the rate

    def _roots(self) -> list[Any]:
        """The factors of the slowest errors in a round, as functions; of the most frequent pattern of slowest clients."""
        rounds: list[tuple[Point, SampledRound]] = []
        pattern: Any = None
        for point in self.drawn:
            self.found.count += 1
            made = SampledRound.at(self.arguments(**named(point)))
            if made.pattern is None:
                continue
            rounds.append((point, made))
            if len(rounds) == TRIED:
                pattern = Counter(one.pattern for _, one in rounds).most_common(1)[0][0]
            if len(rounds) >= TRIED and len(rounds) % BATCH == 0:
                self.seen = [(p, one) for p, one in rounds if one.pattern == pattern]
                roots = self._fits()
                if roots is not None:
                    return roots
        self.seen = rounds
        raise NotFound("no rational function fits the rates" if rounds else "no rate is a square of a rational number")

    def _fits(self) -> list[Any] | None:
        point, first = self.seen[0]
        functions = sympy.QQ.frac_field(*point)
        points = [[to_fmpq(value) for value in p.values()] for p, _ in self.seen]
        found = []
        parameters = Parameters(point)
        for k in range(len(first.roots)):
            function = fitted(
                functions.field if hasattr(functions, "field") else functions,
                points,
                [one.roots[k] for _, one in self.seen],
            )
            if function is None:
                return None
            found.append(parameters.number(factored(function)))
        agreeing = [
            place
            for place, p in enumerate(points)
            if all(at(f.value, p) == r for f, r in zip(found, self.seen[place][1].roots, strict=True))
        ]
        self.seen = [self.seen[place] for place in agreeing]
        self.found.checked = len(self.seen)
        return found if self.seen and self.seen[0][0] == point else None

    # ---- V and the multipliers

    def _completed(self, equations: Equations) -> Iterator[Completed]:
        """Ways to settle all unknowns: by the equations, and by simple formulas between what the samples allow."""
        if not equations.settle():
            return
        if not equations.open:
            found = equations.completed()
            if found is not None:
                yield found
            return
        x = equations.open[0]
        for guess in islice(self._guesses(equations, x), GUESSES):
            yield from self._completed(replace(equations, known={**equations.known, x: guess}))

    def _guesses(self, equations: Equations, x: Unknown) -> Iterator[Any]:
        intervals = []
        for point, one in self.rounds:
            fixed = {y: _at(c, point) for y, c in equations.known.items()}
            low, high = (one.solve(equations.support, fixed, {x: sign}) for sign in (1.0, -1.0))
            if low is None or high is None:
                return
            intervals.append((low.get(x, 0.0), high.get(x, 0.0)))
        if not isinstance(x, str) and x[0] != x[1]:  # products of different coordinates
            if all(low <= ZERO_FOUND and high >= -ZERO_FOUND for low, high in intervals):
                yield ZERO
            return
        values = [[float(c) for c in point.values()] for point, _ in self.rounds]
        for number, powers in between([(max(low, 0.0), high) for low, high in intervals], values, self._fits_unit(x)):
            made = self.parameters.number(number)
            for symbol, power in zip(self.parameters.sample, powers, strict=True):
                factor = self.parameters.number(symbol)
                made = made * factor**power if power >= 0 else made / factor**-power
            yield made

    def _fits_unit(self, x: Unknown) -> Callable[[tuple[int, ...]], bool]:
        units = self.units
        if units is None or isinstance(x, str):
            return lambda powers: True
        of_entry = units.of_entry(x, self.posed)
        return lambda powers: sum(map(mul, powers, units.parameters)) == of_entry


def _support(rounds: Sequence[SampledRound]) -> list[str]:
    """Few inequalities that prove the rate at all samples."""
    first = rounds[0]
    one, *_ = first.posed.pairs
    fixed = {one: 1.0}
    names = [name for name, _ in first.posed.inequalities]
    for sampled in rounds:
        if sampled.solve(names, fixed) is None:
            raise NotFound("no Lyapunov function of the coordinates of the state has this rate at some point")
    kept = names
    for name in sorted(names, key=_turn):
        fewer = [other for other in kept if other != name]
        if all(sampled.solve(fewer, fixed) is not None for sampled in rounds):
            kept = fewer
    return kept


def _turn(name: str) -> Any:
    """Inequalities between points far apart are left out first, those with the minimiser last."""
    i, j = map(int, name.split(" from "))
    return (0 in (i, j), -abs(i - j), i < j)


def _slow(round_: PosedRound, spec: Any, pattern: Extremes, root: Any) -> Attained:
    """The slowest federation with functions of parameters as numbers."""
    ends = (spec.clients.highest, spec.clients.lowest)
    federation = OnALine(ends[pattern[0]], ends[pattern[1]], pattern[2])
    _, (matrix, *_) = linear_maps(round_.coordinates, spec.solver, federation)
    return Attained(federation, 0, matrix, Fraction(0), True, root)


def _at(x: Any, point: Point) -> float:
    return float(at(x.value, [to_fmpq(c) for c in point.values()])) if hasattr(x, "value") else float(x)
