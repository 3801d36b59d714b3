"""The lines of a proof with their terms in the variables of a round, and the lemma of the library for every fact."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, gradient, inner, norm, number, value
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.rocq.terms import Missing, divided, has_nested_divisions
from fedconvex.proofs_checks.rocq.theorems import INFIMUM, TheoremText, theorem_of_statement

CANONICAL = "(*canonical*)"  # in a fact's proof: the tactic that writes every gradient by its name


@final
@dataclass
class Fact:
    """difference >= 0, or = 0 where exact, and the tactic that proves it."""

    difference: Number
    proof: str
    exact: bool = False


@final
@dataclass
class Step:
    """A line of the proof with its terms in variables: what it says, and what it rests on."""

    name: str
    left: Any
    right: Any
    relation: str
    facts: list[tuple[Number, Fact]] = field(default_factory=list)
    squares: list[tuple[Number, Vector]] = field(default_factory=list)
    root_of: str = ""

    @property
    def numbers(self) -> Iterator[Number]:
        """All numbers in the step."""
        if type(self.left) is Number:
            yield from (self.left, self.right)
        for multiplier, fact in self.facts:
            yield from (multiplier, fact.difference)
        for weight, vector in self.squares:
            yield from (weight, inner(vector, vector))


@final
class TheoremSteps:
    """The lines of a theorem's proof, read in order; `cited` are the theorems that they rest on."""

    def __init__(self, theorem: TheoremText):
        self.theorem, self.round, self.board = theorem, theorem.round, theorem.board
        self.names: dict[str, str] = {}  # of lines, in Rocq
        self.cited: dict[str, TheoremText] = {}
        self.steps: list[Step] = []
        self.nested: dict[Number, Number] = {}  # multipliers as they are written in the proof, by what they became
        for line in theorem.derivation.lines:
            self.steps.append(self._step(line, len(self.steps) + 1))
        theorem.statement()  # makes the variables in the assumptions, too

    def _step(self, line: Any, place: int) -> Step:
        name = f"line_{place}"
        match line:
            case proofs.Combine(left, right, facts, squares, relation, called):
                made = Step(name, self.term(left), self.term(right), relation)
                made.facts = [(self._multiplier(m), self._fact(f)) for m, f in facts]
                made.squares = [(self._multiplier(c), self._without_nested(self.round.vector(u))) for c, u in squares]
            case proofs.Root(left, right, of, called):
                made = Step(name, self.term(left), self.term(right), "<=", root_of=self.names[of])
            case _:
                raise Missing(type(line).__name__)
        self.names[called or f"line {place}"] = name
        return made

    def _multiplier(self, of: Number) -> Number:
        """The multiplier, without divisions inside divisors."""
        made = self.round.number(of)
        if is_of_parameters(made) and has_nested_divisions(made):
            with suppress(Missing):
                plain = divided(self.board.parameters.value(made))
                self.nested[plain] = made
                return plain
        return made

    def _without_nested(self, of: Vector) -> Vector:
        """The vector with coefficients that have no divisions inside divisors."""
        arguments = (
            self._without_nested(a) if type(a) is Vector else self._multiplier(a) if type(a) is Number else a
            for a in of.args
        )
        return Vector(of.head, tuple(arguments)) if of.head in ("+", "-", "*", "/") else of

    def term(self, term: Any) -> Any:
        """The term in the variables of the round."""
        return self.round.vector(term) if type(term) is Vector else self.round.number(term)

    def _fact(self, fact: Any) -> Fact:
        match fact:
            case proofs.Lower(b, a, least):
                return self._quadratic(b, a, 0, least)
            case proofs.Upper(b, a, most):
                return self._quadratic(b, a, 1, most)
            case proofs.Between(b, a, least, most):
                return self._between(self.round.vector(b), self.round.vector(a), least, most)
            case proofs.CauchySchwarz(u, v, sign):
                x, y = self.round.vector(u), self.round.vector(v)
                which = "plus" if sign == 1 else "minus"
                return Fact(norm(x) * norm(y) - inner(x, y) * number(sign), f"apply cauchy_schwarz_{which}")
            case proofs.Nonnegative(of):
                return Fact(self.round.number(of), "sign")
            case proofs.Earlier(line):
                earlier = next(s for s in self.steps if s.name == self.names[line])
                if type(earlier.left) is Vector:
                    raise Missing("an earlier line about vectors")
                exact = earlier.relation == "="
                proof = f"exact ({'no_' if exact else ''}difference _ _ {earlier.name})"
                return Fact(earlier.right - earlier.left, proof, exact)
            case proofs.Hypothesis(what):
                return self._assumed(what)
            case proofs.Proved(identifier):
                return self._cited(identifier)
            case proofs.Infimum(at):
                same = "random_same_vector" if self.theorem.drawn else "same_vector"
                difference = value(self.round.vector(at)) - Number("parameter", (INFIMUM,))
                return Fact(difference, f"apply difference, lowest; {CANONICAL}; {same}; identity")
        raise Missing(type(fact).__name__)

    def _cited(self, identifier: str) -> Fact:
        """The claim of another statement, whose theorem is applied to the vectors of this round."""
        name = identifier.replace(".", "_")
        if identifier not in self.cited:
            other = theorem_of_statement(identifier)
            TheoremSteps(other)
            if (
                other.claim.of_run
                or other.one != self.theorem.one
                or not other.parameters.keys() <= self.theorem.parameters.keys()
            ):
                raise Missing(f"a citation of {identifier}")
            self.cited[identifier] = other
        other = self.cited[identifier]
        left, right = self.term(other.claim.left), self.term(other.claim.right)
        if type(left) is Vector:
            raise Missing("a cited equation of vectors")
        for variable in other.round.variables:
            self.round.same_as(other.round, variable)
        exact = other.claim.relation == "="
        return Fact(right - left, f"exact ({'no_' if exact else ''}difference _ _ {name}_here)", exact)

    def _curvature(self, end: int, given: Number | None) -> tuple[Number, Number]:
        known = self.theorem.setting.curvature[end]
        if known is None:
            raise Missing("a class of the objective alone")
        return known, known if given is None else given

    def _quadratic(self, to: Vector, at: Vector, end: int, given: Number | None) -> Fact:
        b, a = self.round.vector(to), self.round.vector(at)
        _, c = self._curvature(end, given)
        tangent, square = inner(gradient(a), b - a), (c / 2) * inner(b - a, b - a)
        if end == 0:
            return Fact(value(b) - value(a) - tangent - square, "apply (lower F _ _ _ _ F_least); order")
        return Fact(value(a) + tangent + square - value(b), "apply (upper F _ _ _ _ F_most); order")

    def _between(self, b: Vector, a: Vector, least: Number | None, most: Number | None) -> Fact:
        _, low = self._curvature(0, least)
        _, high = self._curvature(1, most)
        g, d = gradient(b) - gradient(a), b - a
        difference = inner(g - low * d, high * d - g)
        return Fact(difference, "apply (between F _ _ _ _ _ _ F_least F_most); order")

    def _scale(self) -> Fact:
        """The equation of the number that multiplies variances."""
        draws = self.theorem.setting.draws
        assert draws.active is not None
        assert draws.clients is not None
        sg, active, clients = Number("parameter", ("σ",)), draws.active, draws.clients
        value_of = self.board.parameters.value
        if self.board.field.is_nonnegative(1 - value_of(clients)):
            return Fact(sg * active - clients + active, "apply draw_scale_one; lra", exact=True)
        return Fact(sg * active * (clients - 1) - clients + active, "exact draw_scale", exact=True)

    def _assumed(self, what: str) -> Fact:
        if what == "scale":
            return self._scale()
        if what == "initial gap":
            most, server = self.theorem.setting.initial_gap, self.round.vector(Vector("server", (0,)))
            assert most is not None
            gap = value(server) - Number("parameter", (INFIMUM,))
            return Fact(most - gap, "exact (difference _ _ initial_gap)")
        u, v, bound = self.theorem.assumed(what)
        c = number(bound)
        one = self.theorem.one
        match what:
            case "inexactness":
                lemma = "length_bound" if one else "random_lengths" if self.theorem.drawn else "mean_of_lengths"
                return Fact(inner(v, v) * c**2 - inner(u, u), f"apply {lemma}; [sign | exact inexactness]")
            case "error":
                lemma = "error_bound" if one else "mean_of_errors"
                return Fact(c**2 - inner(u, u), f"apply {lemma}; [sign | exact error]")
            case "dissimilarity":
                return Fact(c**2 * inner(v, v) - inner(u, u), "exact (difference _ _ dissimilarity)")
            case "variance":
                return Fact(c - inner(u - v, u - v), "exact (difference _ _ variance)")
        return Fact(inner(u, u) - c, "exact (difference _ _ large_gradient)")
