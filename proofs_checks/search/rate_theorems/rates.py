"""The search for a rate, a Lyapunov function and multipliers as formulas in the parameters, and for the proof.

Everything here is a guess until the kernel replays the proof.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress, groupby, islice, product, zip_longest
from math import log, prod
from operator import itemgetter, mul
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.progress import track
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.functions import written
from fedconvex.proofs_checks.search.lyapunov.parameter_search import simplest
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, PosedRound
from fedconvex.proofs_checks.search.rate_theorems.eigenvectors import changed, eigenvectors, least_restrictive
from fedconvex.proofs_checks.search.rate_theorems.equations import Completed, Equations, Unknown
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import RateTerms
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import (
    SampledRound,
    posed,
    slow_clients,
    specification,
)
from fedconvex.proofs_checks.search.rate_theorems.supports import few_inequalities, suffice, superfluous_entries
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import Units, units_of
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.parametric_theorem import needed_relations
from fedconvex.proofs_checks.worst_cases.theorems.points import Point, coordinates, named
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import formulas
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at
from fedconvex.verdicts import Verdict

Arguments = Callable[..., Mapping[str, Any]]  # from parameters to the arguments of `lyapunov`
BATCH = 10  # points after which the fit is tried again
HOPELESS = 40  # points without any rational contraction, or with irrational ones, after which the search ends
TRIED = 12  # points of which the most frequent pattern is taken
SAMPLES = 10  # rounds that the inequalities and V must suit
GUESSES = 12  # simple formulas that are tried for one unknown
COMPLETIONS = 16  # ways to settle all unknowns that are compared
FRESH = 60  # further points of the domain at which they are compared
COMPARED = 4  # of these, how many are compared by the conditions that they need
NOTHING = 1e-9  # an end of an interval that may be 0


class NotFound(Exception):
    """The search ends here, and this is why."""


@final
@dataclass
class RateTheorem:
    """What was found, as far as the search came; formulas as SymPy expressions.

    `count` points were drawn; at `irrational` ones the rate is the square of no rational number; at `agreeing` ones
    quadratics attain just the formula's rate; at `proved` ones V and the multipliers prove it, exactly.
    """

    where: tuple[Any, ...]
    count: int = 0
    irrational: int = 0
    agreeing: int = 0
    proved: int = 0
    rate: Any = None
    entries: Mapping[Any, Any] = field(default_factory=dict)  # of V, by pairs of coordinates
    function: Mapping[str, Any] = field(default_factory=dict)  # those that are not 0, by what they multiply
    multipliers: Mapping[str, Any] = field(default_factory=dict)
    proof: Lemma | None = None

    @property
    def attained(self) -> str:
        """Where quadratics attain the rate, and V proves it."""
        if not self.agreeing:
            return f"quadratics attain this rate, and V proves it at {self.proved} of {self.count} points"
        proved = f", and V proves it at {self.proved} of these" if self.proved else ""
        return f"quadratics attain this rate at {self.agreeing} of {self.count} points{proved}"


def concluded(search: Any, run: Callable[[], None], symbols: tuple[Any, ...], done: str, **more: Any) -> Discovered:
    """What a search has found when it has run, as far as it came."""
    verdict, why = Verdict.PROVED, done
    try:
        run()
    except InvalidInput:
        raise
    except (NotFound, Refused, ValueError) as error:
        verdict, why = Verdict.UNKNOWN, str(error) if search.found.rate is None else f"a conjecture: {error}"
    found: RateTheorem = search.found
    if found.rate is not None:
        why = f"{found.attained}; {why}"
    return Discovered(
        symbols, "lyapunov", verdict, why, found.where, found.rate, found.multipliers, found.proof,
        sharp=found.rate is not None, function=found.function, **more,
    )  # fmt: skip


@final
class RateSearch:
    """The search; `found` is what it has found so far.

    Args:
        arguments: from parameters to the arguments of `lyapunov`.
        relations: between the parameters, of the domain.
        points: of the domain.
        most: the number of points at which a round is analysed.
        entries: of V, by pairs of coordinates, where they are known.
    """

    def __init__(
        self, arguments: Arguments, relations: tuple[Any, ...], points: Iterable[Point], most: int,
        entries: Mapping[Any, Any] | None = None,
    ):  # fmt: skip
        self.arguments, self.relations, self.points, self.most = arguments, relations, points, most
        self.entries = entries or {}
        self.found = RateTheorem(where=relations)
        self.seen: list[tuple[Point, SampledRound]] = []
        self.first_guesses: dict[Any, Any] = {}

    def run(self) -> None:
        """Completes `found`. Raises NotFound, or Refused by the kernel."""
        if not (self.samples or self.entries) or WEIGHT in self.entries:
            self._measure_values()
        if not self.entries and not self._has_diagonal_forms:
            self._diagonalise()
        zeros = [zero for one in self._slow for zero in attained_vectors(self.round, one)]
        if not self.samples:
            raise NotFound("no Lyapunov function of the state, quadratic or with F(server), was found for this rate")
        rounds = [one for _, one in self.samples]
        known: dict[Unknown, Any] = {pair: self.parameters.number(c) for pair, c in self.entries.items()}
        known = known or dict.fromkeys(superfluous_entries(rounds), ZERO)
        support = few_inequalities(rounds, [pair for pair, c in known.items() if not c])
        best = self._best(Equations(self.round, self.rate, zeros, support, known))
        self.found.entries = {pair: self._shown(c) for pair, c in best.entries.items()}
        self.found.function = {
            written({x: Fraction(1)}, self.round.names): self._shown(c) for x, c in best.entries.items() if c
        }
        self.found.multipliers = {name: self._shown(c) for name, c in best.multipliers.items()}
        self.found.where = (*self.relations, *self._needed(best))
        domain = Domain(self.parameters.conditions(self.found.where), self.parameters.example)
        signs = self.parameters.domain(self.found.where)
        if not all(self.parameters.shows(signs, x, strictly=True) for x in best.positive):
            raise NotFound("V may be 0 elsewhere than where the method rests")
        terms = RateTerms(self._specification, self.round)
        self.found.proof = terms.lemma(self.rate, best, domain)
        self.found.proof.theorem()

    def _measure_values(self) -> None:
        """From here on V has the objective's value, too, which it needs where no quadratic form has the rate."""
        valued = posed(self._specification, self.round.coordinates, valued=True)
        self._pose(valued, [(point, one.valued) for point, one in self.seen])

    @property
    def _has_diagonal_forms(self) -> bool:
        """Whether V can be without products of different coordinates at the samples."""
        names = [name for name, _ in self.round.inequalities]
        mixed = [pair for pair in self.round.pairs if pair[0] != pair[1]]
        return not mixed or suffice([one for _, one in self.samples], names, mixed)

    def _diagonalise(self) -> None:
        """From here on V is about coordinates in which the slowest clients' round is diagonal, where there are such."""
        first, *_ = self._slow
        found = eigenvectors(self.parameters, self.round.coordinates, first.matrix, first.root)
        if not found:
            return
        seen, valued = [], bool(self.round.values)
        for point, one in self.seen:
            here = coordinates(point)
            bases = {part: [[at(c, here) for c in row] for row in basis] for part, basis in found.items()}
            seen.append((point, one.in_coordinates(bases)))
        self._pose(posed(self._specification, changed(self.round.coordinates, found)), seen)
        if valued:
            self._measure_values()
        else:
            self.first_guesses = least_restrictive(self.round, found)

    def _pose(self, posed_round: PosedRound, seen: list[tuple[Point, SampledRound]]) -> None:
        """Goes on with this round and these at the same points."""
        self.round, self.seen = posed_round, seen
        for name in ("samples", "_units"):
            self.__dict__.pop(name, None)

    def _shown(self, x: Any) -> Any:
        return self.parameters.number(x).expression

    def _needed(self, of: Completed) -> tuple[Any, ...]:
        """The relations that a proof needs besides those of the domain."""
        parameters = self.parameters
        # The sample decides which signs are needed: a point where this proof holds.
        parameters.sample = next(p for p, _ in self.seen if of.proves_at(coordinates(p)))
        return needed_relations(parameters, self.relations, [*parameters.compared, *of.signed], of.defined)

    # ---- the rate

    @cached_property
    def roots(self) -> list[Any]:
        """By which factors the errors of the slowest clients are multiplied in a round, as functions of the parameters.

        Of clients of the most frequent pattern; the points with these rates remain.
        """
        rounds: list[tuple[Point, SampledRound]] = []
        for _, point in zip(track(range(self.most), "Rates"), self.points, strict=False):
            self.found.count += 1
            made = SampledRound.at(self.arguments(**named(point)))
            self.found.irrational += made.is_irrational
            if made.pattern:
                rounds.append((point, made))
            if made.pattern and len(rounds) >= TRIED and len(rounds) % BATCH == 0:
                pattern = Counter(one.pattern for _, one in rounds[:TRIED]).most_common(1)[0][0]
                self.seen = [(p, one) for p, one in rounds if one.pattern == pattern]
                if (roots := self._fitted()) is not None:
                    return roots
            if not rounds and self.found.count >= HOPELESS:
                break
            if self.found.irrational >= HOPELESS > 2 * len(rounds):
                break
        if not rounds:
            raise NotFound(f"at none of {self.found.count} points the slowest known clients are quadratics of extreme "
                           "curvatures with a rational contraction")  # fmt: skip
        raise NotFound(f"no rational functions fit {len(self.seen or rounds)} of {self.found.count} rates")

    def _fitted(self) -> list[Any] | None:
        """Rational functions through the factors; points elsewhere, where others are the slowest, are left out."""
        found = formulas([point for point, _ in self.seen], [one.factors for _, one in self.seen])
        if found is None:
            return None
        self.seen = list(compress(self.seen, found[1]))
        self.found.agreeing = len(self.seen)
        return found[0]

    # ---- the round with functions of parameters as numbers

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters, of which one point decides comparisons."""
        _ = self.roots
        return Parameters(self.seen[0][0])

    @cached_property
    def _specification(self) -> Specification:
        return specification(self.arguments(**self.parameters.numbers))

    @cached_property
    def round(self) -> PosedRound:
        """The round for all parameters."""
        return posed(self._specification)

    @cached_property
    def rate(self) -> Any:
        """By what V contracts."""
        rate = self.parameters.number(self.roots[0] ** 2)
        self.found.rate = rate.expression
        return rate

    @property
    def _slow(self) -> list[Any]:
        """The slowest clients."""
        roots = map(self.parameters.number, self.roots)
        pairs = zip(self.seen[0][1].pattern, roots, strict=True)
        return [slow_clients(self.round, self._specification, pattern, root) for pattern, root in pairs]

    @cached_property
    def samples(self) -> list[tuple[Point, SampledRound]]:
        """Rounds at numbers where the rate is proved; with the same inequalities as the one for all parameters."""
        _ = self.rate
        names = [name for name, _ in self.round.inequalities]
        alike = (one for one in self.seen if [name for name, _ in one[1].posed.inequalities] == names)
        return list(islice((one for one in alike if suffice([one[1]], names)), SAMPLES))

    # ---- V and the multipliers

    def _best(self, equations: Equations) -> Completed:
        """Of some ways to settle all unknowns, one that is a proof at most points, under the fewest conditions."""
        fresh = [coordinates(p) for p in islice(self.points, FRESH)]
        seen = [coordinates(p) for p, _ in self.seen]
        found: list[tuple[int, Completed]] = []  # with the number of points
        conditions: dict[int, int] = {}  # of those that hold at the most points, by place; to find them takes long
        for completed in islice(self._completed(equations), COMPLETIONS):
            if not any(map(completed.proves_at, seen)):
                continue
            found.append((sum(map(completed.proves_at, (*seen, *fresh))), completed))
            if found[-1][0] == len(seen) + len(fresh) and len(conditions) < COMPARED:
                conditions[len(found) - 1] = len(self._needed(completed))
                if conditions[len(found) - 1] == 0 or self.first_guesses:
                    break
        if not found:
            raise NotFound("V or its multipliers have no simple formulas that prove it")
        place = min(conditions, key=lambda k: conditions[k]) if conditions else _place_of_most([n for n, _ in found])
        best = found[place][1]
        self.found.proved = sum(map(best.proves_at, seen))
        return best

    def _completed(self, equations: Equations) -> Iterator[Completed]:
        """Ways to settle all unknowns: by the equations, and by simple formulas between what the samples allow."""
        if not equations.settle():
            return
        if equations.open:
            # Products of different coordinates last: they may have either sign, and often follow from the others.
            x = min(equations.open, key=lambda x: not isinstance(x, str) and x[0] != x[1])
            for guess in islice(self._guesses(equations, x), GUESSES):
                yield from self._completed(replace(equations, known={**equations.known, x: guess}))
        elif (found := equations.completed()) is not None:
            yield found

    def _guesses(self, equations: Equations, x: Unknown) -> Iterator[Any]:
        if x in self.first_guesses:
            yield self.first_guesses[x]
        bounds = []
        for point, one in self.samples:
            fixed = {y: float(at(c, coordinates(point))) for y, c in equations.known.items()}
            low, high = (one.program.solve(equations.support, fixed, {x: sign}) for sign in (1.0, -1.0))
            if low is not None and high is not None:  # else what is settled holds elsewhere
                bounds.append(((low.get(x, 0.0), high.get(x, 0.0)), [float(c) for c in point.values()]))
        if not isinstance(x, str) and x[0] != x[1]:  # products of different coordinates
            if all(low <= NOTHING and high >= -NOTHING for (low, high), _ in bounds):
                yield ZERO
            return
        own = list(map(self.parameters.number, self.parameters.sample))
        # Near the end of where a rate is proved the bounds are close; if nothing fits them all, something fits a part.
        bounds.sort(key=lambda one: max(one[0][0], 0.0) / max(one[0][1], NOTHING))
        known = set[Any]()
        for part in (1, 2, 4):
            intervals, values = zip(*bounds[: -(-len(bounds) // part)], strict=True) if bounds else ((), ())
            positive = [(max(low, 0.0), high) for low, high in intervals]
            for number, powers in between(positive, values, self._has_its_unit(x)):
                above, below = (prod((c ** max(sign * p, 0) for c, p in zip(own, powers, strict=True)), start=ONE)
                                for sign in (1, -1))  # fmt: skip
                if (number, powers) not in known:
                    known.add((number, powers))
                    yield self.parameters.number(number) * above / below

    @cached_property
    def _units(self) -> Units | None:
        return units_of(self.round, self.parameters)

    def _has_its_unit(self, x: Unknown) -> Callable[[tuple[int, ...]], bool]:
        units = self._units
        if units is None:
            return lambda powers: True
        own = units.of_multiplier(self.round) if isinstance(x, str) else units.of_entry(x, self.round)
        return lambda powers: sum(map(mul, powers, units.parameters)) == own


def _place_of_most(counts: list[int]) -> int:
    return counts.index(max(counts))


# Simple formulas between bounds that are known at samples: a rational number times powers of the parameters.

WHOLE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 25)
NUMBERS = sorted({Fraction(a, b) for a in WHOLE for b in WHOLE})
MOST_POWER = 2
MOST_POWERS = 4  # of all parameters together
LARGEST = 100  # numerator or denominator of a number that is simple
LEAST = 1e-9  # an upper bound below it is 0
ROUNDING = 1e-5  # relative distance that the solver's bounds may be off
PER_POWERS = 3  # numbers that are tried with the same powers

Interval = tuple[float, float]
Powers = tuple[int, ...]


def between(
    intervals: Sequence[Interval], parameters: Sequence[Sequence[float]], fits: Callable[[Powers], bool]
) -> Iterator[tuple[Fraction, Powers]]:
    """Numbers and powers whose product lies in the interval at every sample.

    The fewest powers first; of equally many those that leave the numbers the most room, and then numbers in the middle.

    Args:
        intervals: for every sample, between 0 and infinity.
        parameters: for every sample, their values, > 0.
        fits: whether the product of these powers has the right unit.
    """
    if not intervals:
        return
    powers = product(range(-MOST_POWER, MOST_POWER + 1), repeat=len(parameters[0]))
    found = []
    for p in powers:
        if sum(map(abs, p)) <= MOST_POWERS and fits(p):
            low, high = _quotients(intervals, parameters, p)
            if low * (1 - ROUNDING) <= high * (1 + ROUNDING) and high > LEAST:
                low, high = low * (1 - ROUNDING), high * (1 + ROUNDING)
                room = log(high / low) if low > 0 else float("inf")
                found.append((sum(map(abs, p)), -room, p, low, high))
    for _, alike in groupby(sorted(found), key=itemgetter(0)):
        each = [[(c, p) for c in _inside(low, high)] for _, _, p, low, high in alike]
        # The best number of each, then the second best ones: powers that leave more room need not be the right ones.
        yield from (one for these in zip_longest(*each) for one in these if one is not None)


def _inside(low: float, high: float) -> list[Fraction]:
    """Simple numbers in the interval, those in its middle first."""
    middle = (low * high) ** 0.5 if low > 0 else high
    inside = [c for c in NUMBERS if low <= c <= high]
    if not inside:
        found = simplest(Fraction(max(low, high / 2)), Fraction(high))
        inside = [found] if max(found.numerator, found.denominator) <= LARGEST else []
    return sorted(inside, key=lambda c: (abs(log(c / middle)) + _complexity(c), c))[:PER_POWERS]


def _complexity(c: Fraction) -> float:
    return 0.05 * log(c.numerator * c.denominator)


def _quotients(intervals: Sequence[Interval], parameters: Sequence[Sequence[float]], powers: Any) -> Interval:
    """Between which numbers a factor of the product of these powers must lie."""
    low, high = 0.0, float("inf")
    for (least, most), row in zip(intervals, parameters, strict=True):
        size = 1.0
        for x, power in zip(row, powers, strict=True):
            size *= x**power
        low, high = max(low, least / size), min(high, most / size)
    return low, high
