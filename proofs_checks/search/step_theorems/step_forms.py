"""Multipliers and costs to go of every step as closed forms in the number e of steps and the number i of those before.

At numbers, for e = 2 … 13, linear algebra finds the exponents. The coefficients follow from rounds of a few steps with
functions of the parameters as numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

from fedconvex.arithmetic.linear_systems import echelon
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound
from fedconvex.proofs_checks.search.step_theorems.step_multipliers import PATTERNS, SlowestClients, multipliers
from fedconvex.proofs_checks.search.step_theorems.step_rounds import StepRound
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Key

# Closed forms in the number e of local steps and the number i of those before: Σ c·q^{αe + βi}·e^a·i^b.
# The exponents are found at numbers, by linear algebra on more values than there are unknowns; the coefficients, which
# are rational functions of the parameters, then follow from few values that are such functions.

Exponents = tuple[int, int, int, int]  # α, β, a, b
Place = tuple[int, int]  # e, i
SPARE = 3  # values beyond those that determine the coefficients
POLYNOMIALS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((0, 0),),
    ((0, 0), (1, 0), (0, 1)),
    ((0, 0), (-1, 0), (-2, 0)),
    ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)),
    ((0, 0), (-1, 0), (-1, 1), (-2, 0), (-2, 1), (-2, 2)),
)  # powers of e and i
WITHOUT_STEP: tuple[tuple[tuple[int, int], ...], ...] = (
    tuple((a, 0) for a in (0,)), tuple((a, 0) for a in (-2, -1, 0, 1, 2)),
)  # fmt: skip
POWERS = ((0, 0), (1, -1), (2, -2)), tuple((alpha, beta) for alpha in range(3) for beta in range(-2, 3))


@final
@dataclass(frozen=True)
class SumOfPowers:
    """Coefficients by exponents; those of 0 are left out."""

    terms: Mapping[Exponents, Any]

    def at(self, count: Any, step: Any, whole: Any, part: Any) -> Any:
        """The value for e, i, q^e and q^i."""
        total = ZERO
        for (alpha, beta, a, b), c in self.terms.items():
            total = total + c * whole**alpha * part**beta * count**a * step**b
        return total

    def with_coefficients(self, values: Mapping[Place, Any], q: Any) -> "SumOfPowers | None":
        """The same exponents with coefficients that give these values; None where no coefficients do."""
        found = _solved(list(self.terms), values, q)
        return None if found is None else SumOfPowers({x: c for x, c in found.items() if c})

    @property
    def size(self) -> int:
        return len(self.terms)


def closed_form(values: Mapping[Place, Any], q: Any) -> SumOfPowers | None:
    """The closed form with these values, at numbers; None where none of the forms fits with values to spare."""
    if not any(values.values()):
        return SumOfPowers({})
    for exponents in _bases(values):
        if len(exponents) + SPARE > len(values):
            continue
        found = _solved(exponents, values, q)
        if found is not None:
            return SumOfPowers({x: c for x, c in found.items() if c})
    return None


def _bases(values: Mapping[Place, Any]) -> Iterable[list[Exponents]]:
    if all(i == 0 for _, i in values):
        for polynomial, most in product(WITHOUT_STEP, (0, 2)):
            yield [(alpha, 0, a, b) for alpha in range(most + 1) for a, b in polynomial]
        return
    for powers, polynomial in product(POWERS, POLYNOMIALS):
        yield [(alpha, beta, a, b) for alpha, beta in powers for a, b in polynomial]


def _solved(exponents: Sequence[Exponents], values: Mapping[Place, Any], q: Any) -> dict[Exponents, Any] | None:
    """The coefficients, if they are unique."""
    rows = [[*(_value(q, place, x) for x in exponents), c] for place, c in values.items()]
    reduced, pivots = echelon(rows, len(exponents) + 1)
    if pivots != list(range(len(exponents))):
        return None
    return {x: row[len(exponents)] for x, row in zip(exponents, reduced, strict=False)}


def _value(q: Any, place: Place, exponents: Exponents) -> Any:
    (e, i), (alpha, beta, a, b) = place, exponents
    return q ** (alpha * e + beta * i) * (ONE * e) ** a * (ONE * i) ** b


NUMBERS = range(2, 16)  # of local steps, at numbers
FEW = range(2, 6)  # with functions of the parameters
MOST_TERMS = 12  # of a closed form
LOCAL = ("y", "g")
Name = tuple[str, Any]  # what a closed form is of


@final
@dataclass(frozen=True)
class Way:
    """How a proof is tried: the pattern of its inequalities, and whether V⁺ is replaced by a larger form (`spread`).

    `weight`: V's entry for the deviations, c·e^a times the square of the factor with which they pull in a step, where
    they are not the last points' own; None where these points have one.
    """

    pattern: str
    spread: bool
    weight: tuple[Any, int] | None = None

    def entries(self, of: StepRound) -> dict[Pair, Any]:
        """V's entries. Raises NotFound."""
        measured, found = of.step.measured, dict[Pair, Any]()
        places = [[place for place in measured if place[0] == part] for part in (MEAN, DEVIATION)]
        if len(places[0]) != 1 or len(places[1]) > 1:
            raise NotFound("the state is more than the server's point and one memory of every client")
        ((mean,), deviations) = places
        found[mean, mean] = ONE
        for place in deviations:
            own, (key, *_) = measured[place][0], of.posed.before[place].parts
            if own:
                found[place, place] = (measured[mean][0] / own) ** 2
            else:
                number, power = self.weight or (ONE, 0)
                found[place, place] = (of.step.pull.parts.get(key, ZERO)) ** 2 * (number * to_fmpq(of.count) ** power)
        return found


@final
@dataclass(frozen=True, eq=False)
class Analysed:
    """A round of e steps, with a way's multipliers and costs to go, at numbers or at functions of parameters."""

    of: StepRound
    slow: SlowestClients
    entries: Mapping[Pair, Any]
    multipliers: Mapping[tuple[str, int], Any]
    costs: list[Any]

    @classmethod
    def made(cls, of: StepRound, way: Way) -> "Analysed":
        """Raises NotFound where the way leads nowhere."""
        slow, entries = SlowestClients(of), way.entries(of)
        found = multipliers(of, slow, way.pattern)
        if found is None or not slow.is_alone:
            raise NotFound("the equations of a step do not determine its multipliers")
        costs = of.costs(entries, found, way.spread)
        if costs is None:
            raise NotFound("the cost to go is infinite")
        return cls(of, slow, entries, found, costs)

    def quantities(self, last_kinds: Iterable[str]) -> Iterable[tuple[Name, Place, Any]]:
        """What has a closed form: its name, the place (e, i), i = 0 where it depends on e alone, and the value."""
        e, step, last = self.of.count, self.of.step, set(last_kinds)
        yield ("root", ""), (e, 0), self.slow.root
        for pair, c in self.entries.items():
            yield ("entry", pair), (e, 0), c
        for what, u in (("pull", step.pull), ("start", step.start)):
            for key, c in u.parts.items():
                yield (what, key), (e, 0), c
        for (kind, i), c in self.multipliers.items():
            yield (("last", kind), (e, 0), c) if kind in last else (("each", kind), (e, i), c)
        for i, cost in enumerate(self.costs):
            for pair, c in cost.products.items():
                yield ("cost", pair), (e, i), c
                if i == e - 1 and is_fixed(pair):
                    yield ("last cost", pair), (e, 0), c
            for name, c in cost.values.items():
                yield ("cost", name), (e, i), c


def is_fixed(pair: tuple[Key, Key]) -> bool:
    """Whether both vectors do not change within a round."""
    return not any(name in LOCAL for _, name in pair)


def collected(rounds: Iterable[Analysed], way: Way) -> dict[Name, dict[Place, Any]]:
    """The values by name; where one is missing it is 0."""
    found: dict[Name, dict[Place, Any]] = {}
    places: dict[str, set[Place]] = {}
    for one in rounds:
        for name, place, c in one.quantities(PATTERNS[way.pattern][1]):
            found.setdefault(name, {})[place] = c
        e = one.of.count
        places.setdefault("cost", set()).update((e, i) for i in range(e))
        places.setdefault("last cost", set()).add((e, 0))
    for (sort, _), values in found.items():
        for place in places.get(sort, set()) - values.keys():
            values[place] = ZERO
    return found


@final
@dataclass(frozen=True, eq=False)
class StepForms:
    """Closed forms by what they are of; `open`: the squares that do not change in a round, and have none."""

    forms: Mapping[Name, SumOfPowers]
    open: tuple[Any, ...]

    @classmethod
    def found(cls, at_numbers: Callable[[int], StepRound], at_functions: Callable[[int], StepRound], q: Any, r: Any,
              way: Way) -> "StepForms":  # fmt: skip
        """Those of a way; q: the ratio, at the numbers, r: as a function. Raises NotFound."""
        values = collected((Analysed.made(at_numbers(e), way) for e in NUMBERS), way)
        shapes, without = {}, []
        for name, of_name in values.items():
            shape = closed_form(of_name, q)
            if shape is not None and shape.size <= MOST_TERMS:
                shapes[name] = shape
            elif name[0] == "cost" and name[1][0] == name[1][1] and is_fixed(name[1]):
                without.append(name[1])
            else:
                raise NotFound(f"the {name[0]} of {name[1]} has no closed form in the number of steps")
        few = collected((Analysed.made(at_functions(e), way) for e in FEW), way)
        forms = {}
        for name, shape in shapes.items():
            exact = shape.with_coefficients(few[name], r)
            if exact is None:
                raise NotFound(f"the {name[0]} of {name[1]} has no closed form in the parameters")
            forms[name] = exact
        return cls(forms, tuple(without))
