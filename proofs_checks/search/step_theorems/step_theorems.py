"""The theorem for every number of local steps, from closed forms: its claim, setting and proof by induction over steps.

The potential of a step is its cost to go. Squares that do not change in a round may have no closed form as sums over
the steps: then the potential pays the largest of what one step takes, in every step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting, at_most
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    before_last_step,
    family,
    gradient,
    inner,
    local_step,
    mean,
    minimiser,
    number,
    parameter,
    value,
)
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.proofs import (
    AlongSteps,
    Combine,
    Derivation,
    Line,
    Product,
)
from fedconvex.proofs_checks.library import Lemma, Parts, by, cited, concluding, interpolation, squared
from fedconvex.proofs_checks.search.rate_theorems.equations import gradients_first
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import RateTerms, of_any_round
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound
from fedconvex.proofs_checks.search.scalars import factors
from fedconvex.proofs_checks.search.step_theorems.step_forms import StepForms, Way
from fedconvex.proofs_checks.search.step_theorems.step_rounds import (
    FIRST,
    NEXT,
    PARTS,
    LocalStep,
    StepRound,
    every,
    inequalities,
    renamed,
)
from fedconvex.proofs_checks.search.step_theorems.step_signs import Room, StepSigns
from fedconvex.proofs_checks.search.step_theorems.step_symbols import Symbols
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import split
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Indefinite,
    combination,
    eliminated,
    squares,
)
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import inner as product
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parametric


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


NAME = "all but the last step"


@final
@dataclass(frozen=True, eq=False)
class StepTheorem:
    """From closed forms to a theorem.

    Args:
        symbols: of the functions.
        forms: closed forms.
        of: a round of two steps with functions of the parameters as numbers.
        way: of the proof.
        bounds: of the curvature, in the inequalities that the proof uses.
        points: of the domain, with e: what fails there is not tried.
    """

    symbols: Symbols
    forms: StepForms
    of: StepRound
    way: Way
    bounds: tuple[Any, Any]
    points: Sequence[tuple[Mapping[str, Any], int]] = ()

    # ---- functions

    def at(self, name: Any, step: Any = ZERO, part: Any = ONE) -> Any:
        """The closed form's value in the step i, with q^i."""
        known, s = self.forms.forms[name], self.symbols
        terms = {x: s.function(c) for x, c in known.terms.items()}
        return replace(known, terms=terms).at(s.e, step, s.whole, part)

    def vector(self, what: str) -> Family:
        return Family({name[1]: self.at(name) for name in self.forms.forms if name[0] == what})

    @cached_property
    def signs(self) -> StepSigns:
        return StepSigns(self.symbols, self.points)

    @cached_property
    def step(self) -> LocalStep:
        return LocalStep(self.symbols.function(self.of.size), self.vector("pull"), self.vector("start"), {})

    @cached_property
    def entries(self) -> dict[Any, Any]:
        return {name[1]: self.at(name) for name in self.forms.forms if name[0] == "entry"}

    @cached_property
    def rate(self) -> Any:
        return self.at(("root", "")) ** 2

    def moving(self, step: Any, part: Any) -> Form:
        """The cost to go of the step i, without the squares that have no closed form."""
        products: dict[Any, Any] = {}
        values: dict[str, Any] = {}
        for name in self.forms.forms:
            if name[0] == "cost" and (c := self.at(name, step, part)):
                (values if isinstance(name[1], str) else products)[name[1]] = c
        return Form(products, values)

    @property
    def last(self) -> tuple[Any, Any]:
        """i = e − 1, and q^i."""
        return self.symbols.e - 1, self.symbols.whole / self.symbols.q

    def changed(self, step: Any, part: Any) -> tuple[list[tuple[Any, Family]], Form]:
        """C_i − C_{i+1} − Σ λ·(inequalities), without those squares: as squares with the next gradient, and a rest."""
        later = renamed(
            self.moving(step + 1, part * self.symbols.q), {"y": self.step.after, "g": NEXT}, {"f": "f next"}
        )
        used = [(-c, self.inequalities[kind]) for kind, c in self.multipliers(step, part).items()]
        rest = combination((ONE, self.moving(step, part)), (-ONE, later), *used)
        if rest.values:
            raise NotFound("function values do not cancel in a step")
        try:
            return eliminated(rest, [(place, "g next") for place in PARTS])
        except Indefinite:
            raise NotFound("what is left of a step is no square") from None

    @cached_property
    def inequalities(self) -> dict[str, Form]:
        return inequalities(self.step, *map(self.symbols.function, self.bounds))

    def multipliers(self, step: Any, part: Any) -> dict[str, Any]:
        """Those of each step, by kind."""
        return {name[1]: self.at(name, step, part) for name in self.forms.forms if name[0] == "each"}

    @property
    def shown_multipliers(self) -> dict[str, Any]:
        """All of them as SymPy expressions in e and i, by inequalities between y_i, y_{i+1} and the minimiser."""
        s, found = self.symbols, {}
        points = {"here": "y_i", "next": "y_{i+1}", "rest": "x*"}
        for sort, what in self.forms.forms:
            if sort in ("each", "last"):
                name = " from ".join(points[p] for p in what.split(" from "))
                place = (s.i, s.part) if sort == "each" else (ZERO, ONE)
                found[name if sort == "each" else f"{name}, last step"] = s.shown(self.at((sort, what), *place))
        return found

    @cached_property
    def payments(self) -> dict[Any, Any]:
        """What the potential pays in every step for a square that has no closed form."""
        s, found = self.symbols, {}
        places = ((s.function(0), s.function(1)), (s.e - 2, s.whole / s.q**2))
        for pair in self.forms.open:
            found[pair] = max((-self.changed(*place)[1].products.get(pair, ZERO) for place in places),
                              key=lambda c: s.function(c).sampled)  # fmt: skip
        return found

    def potential(self, step: Any, part: Any) -> Form:
        """The cost to go of the step i, or a bound of it."""
        more = {}
        for pair, c in self.payments.items():
            more[pair] = self.at(("last cost", pair)) + (self.symbols.e - 1 - step) * c
        return self.moving(step, part) + Form(more)

    # ---- terms

    @cached_property
    def names(self) -> RateTerms:
        return RateTerms(self.of.spec, self.of.posed)

    @cached_property
    def start(self) -> PointTerms:
        return self.point(self.names.points[1])

    def point(self, u: Vector) -> PointTerms:
        return PointTerms.at(u, self.symbols, self.names)

    def between(self, kind: str, here: Vector) -> Parts:
        """An inequality of a step in facts."""
        low, high = map(self.symbols.term, self.bounds)
        b, a = (here if place == "here" else minimiser if place == "rest" else local_step(here)
                for place in kind.split(" from "))  # fmt: skip
        return interpolation(b, a, low, high)

    def squared(self, found: Iterable[tuple[Any, Family]], of: PointTerms) -> Parts:
        """Weighted squares; even powers of factors of the weight go into the vector, so that its sign is visible."""
        total = Parts()
        for weight, u in found:
            rest, inside = self._without_squares(weight)
            total += squared(of.vector(u * inside)) * self.symbols.term(rest)
        return total

    def _without_squares(self, weight: Any) -> tuple[Any, Any]:
        s = self.symbols
        inside = s.function(1)
        for factor, power in factors(s.function(weight).value):
            if abs(power) >= 2 and len(factor.above) > 1:
                base = Parametric(factor, s.parameters)
                inside = inside * base ** (power // 2 if power > 0 else -(-power // 2))
        return s.function(weight) / inside**2, inside

    @cached_property
    def along_steps(self) -> AlongSteps:
        """No step makes the potential larger."""
        s, u = self.symbols, family("u")
        of = self.point(u)
        facts = Parts()
        for kind, c in self.multipliers(s.i, s.part).items():
            facts += self.between(kind, u) * s.term(c)
        found, rest = self.changed(s.i, s.part)
        rest = rest + Form({pair: s.function(c) for pair, c in self.payments.items()})
        try:
            more = squares(rest, gradients_first)
        except Indefinite:
            raise NotFound("what is left of a step takes both signs") from None
        facts += self.squared([*found, *more], of)
        potential = of.number(self.potential(s.i, s.part))
        return AlongSteps(potential, "u", self.start.at_point, facts.facts, facts.squares, name=NAME)

    @cached_property
    def left_at_the_start(self) -> list[tuple[Any, Family]]:
        """rate·V − C_0 at the first point, as squares."""
        first = self.symbols.function(0), self.symbols.function(1)
        before = combination(*(
            (c if a == b else 2 * c, product(self.of.posed.before[a], self.of.posed.before[b]))
            for (a, b), c in self.entries.items()
        ))  # fmt: skip
        cost = renamed(self.potential(*first), {"y": self.step.start, "g": every(FIRST)}, {})
        rest = before * self.rate - cost
        try:
            # The first gradient's first, so that the state's show the condition on it.
            found = None if rest.values else squares(rest, lambda key: (key[1] != FIRST, key))
        except Indefinite:
            found = None
        if found is None:
            raise NotFound("what the first step leaves of V takes both signs")
        return found

    def lemma(self, conditions: tuple[Any, ...], example: Mapping[str, Fraction], rooms: Sequence[Room] = ()) -> Lemma:
        """V after a round ≤ rate·V, with a proof that the kernel has not replayed yet."""
        s, last = self.symbols, before_last_step
        before, after = (self.names.function(self.entries, time) for time in (0, 1))
        claim = at_most(after, s.term(self.rate) * before)
        parts = cited(NAME)
        for kind, c in self.multipliers(*self.last).items():
            if "next" not in kind:
                parts += self.between(kind, last) * s.term(c)
        for name in self.forms.forms:
            if name[0] == "last":
                parts += self.between(name[1], last) * s.term(self.at(name))
        shown = {room.place: room for room in rooms if room.lines}
        parts += self.squared([x for k, x in enumerate(self.left_at_the_start) if k not in shown], self.start)
        lines: list[Line] = []
        for place, room in shown.items():
            spread, u = f"square {place}", self.start.vector(room.vector)
            lines += [*room.lines, Combine(number(0), inner(u, u), (), ((number(1), u),), name=spread)]
            parts += by(Product(f"room {place}", spread))
        if self.way.spread:
            factor = next(c for place, (c, _) in self.of.step.measured.items() if place[0] == MEAN)
            parts += squared(answers - mean(answers)) * s.term(factor**2)
        proof = Derivation((*lines, self.along_steps, concluding(claim, parts)), self.names.invariants)
        return Lemma(self.setting(conditions, example), claim, proof)

    def setting(self, conditions: tuple[Any, ...], example: Mapping[str, Fraction]) -> ClaimSetting:
        """All that is assumed, with e as a parameter that counts."""
        known = of_any_round(self.of.spec, Domain(conditions, example))
        count = {"local_steps": parameter(self.symbols.count)}
        return replace(known, counts=frozenset({self.symbols.count}),
                       method_parameters={**known.method_parameters, **count})  # fmt: skip

    def contracting(self, conditions: tuple[Any, ...], example: Mapping[str, Fraction]) -> tuple[Any, ...]:
        """The conditions, and q > 0 where that does not follow from them."""
        board = SettingParameters(self.setting(conditions, example))
        known = board.field.is_positive(board.value(self.symbols.q.term))
        return conditions if known else (*conditions, (self.symbols.q.term, ">", number(0)))

    def rooms(self, conditions: tuple[Any, ...], example: Mapping[str, Fraction]) -> list[Room]:
        """The weights of squares at the start whose signs the conditions do not show at once, with lines that do."""
        setting = self.setting(conditions, example)
        board = SettingParameters(setting, [self.symbols.term(self.rate)])
        found = []
        for place, (weight, u) in enumerate(self.left_at_the_start):
            rest, inside = self._without_squares(weight)
            if not self.signs.is_shown(board, rest):
                lines = self.signs.by_bernoulli(board, rest, f"room {place}")
                found.append(Room(place, rest, u * inside, lines, None if lines else self.signs.decisive(board, rest)))
        return found
