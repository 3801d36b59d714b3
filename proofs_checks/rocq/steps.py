"""The lines of a proof with their terms in the variables of a round, and the lemma of the library for every fact."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, gradient, inner, mean, norm, number, parts, value, with_parts
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.along_steps import LemmasAlongSteps, has_potential
from fedconvex.proofs_checks.rocq.cases import Case, cases_in, same_invariants, split
from fedconvex.proofs_checks.rocq.cited_claims import InCase, pinned
from fedconvex.proofs_checks.rocq.objective import (
    class_of_objective,
    clients_infima,
    clients_similarity,
    curvature,
    objective_between,
    objective_quadratic,
)
from fedconvex.proofs_checks.rocq.terms import Missing, divided, has_nested_divisions, number_of
from fedconvex.proofs_checks.rocq.theorems import INFIMUM, TheoremText
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import statement

CANONICAL = "(*canonical*)"  # in a fact's proof: the tactic that writes every gradient by its name


PLAIN = "(*plain*)"  # in a fact's proof: the tactic that writes values and lengths by their names
ROOTED = "(*rooted*)"  # as a fact's proof: the sign of its difference, a formula with roots, which has a lemma


@final
@dataclass
class Fact:
    """difference >= 0, or = 0 where exact, and the tactic that proves it.

    `bounds` are formulas of parameters that have to be >= 0: that curvatures lie between other ones.
    """

    difference: Number
    proof: str
    exact: bool = False
    bounds: tuple[Number, ...] = ()
    signs: tuple[Number, ...] = ()  # formulas whose signs are shown before, as those of multipliers are


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
                made.squares, forms = with_forms(made.squares, self.board.parameters)
                made.facts += [(number(1), Fact(x.difference, "apply form_nonneg", signs=x.signs)) for x in forms]
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
                plain = self._with_roots_of(made, divided(self.board.parameters.value(made)))
                self.nested[plain] = made
                return plain
        return made

    def _with_roots_of(self, made: Number, plain: Number) -> Number:
        """The formula with the roots as they are written in `made`, and not as symbols of the kernel's."""
        roots = {number_of(self.board.parameters.value(p)): p for p in parts(made) if p.head == "root"}

        def written(of: Any) -> Any:
            return roots[of] if type(of) is Number and of in roots else with_parts(of, written)

        result: Number = written(plain)
        return result

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
            case proofs.Triangle(u, v, times):
                longer = Number("*", (norm(times), norm(u) + norm(v) - norm(u + v)))
                made = self.round.number(Number("expected", (longer,)))
                return Fact(made, f"apply triangle{'_in_draws' if made.head == 'expected' else ''}")
            case proofs.MeanLength(u):
                root = Number("root", (Number("expected", (inner(u, u),)),))
                return Fact(self.round.number(root - Number("expected", (norm(u),))), "apply mean_length")
            case proofs.Nonnegative(of):
                made = self.round.number(of)
                if any(p.head == "expected" for p in parts(made)):
                    return Fact(made, f"{PLAIN}; sign")
                rooted = any(p.head == "root" for p in parts(made)) or self.round.of_last_step
                rooted = is_of_parameters(made) and rooted
                return Fact(made, ROOTED if rooted and any(p.head in ("-", "neg") for p in parts(made)) else "sign")
            case proofs.Earlier(line):
                earlier = next(s for s in self.steps if s.name == self.names[line])
                if type(earlier.left) is Vector:
                    raise Missing("an earlier line about vectors")
                exact = earlier.relation == "="
                proof = f"exact ({'no_' if exact else ''}difference _ _ {earlier.name})"
                return Fact(earlier.right - earlier.left, proof, exact)
            case proofs.Product(one, other):
                first, second = (next(s for s in self.steps if s.name == self.names[x]) for x in (one, other))
                proof = " | ".join(f"exact (difference _ _ {s.name})" for s in (first, second))
                whole = (first.right - first.left) * (second.right - second.left)
                return Fact(whole, f"apply Rmult_le_pos; [{proof}]")
            case proofs.BernoulliPower(_, order) if order in self.theorem.bernoulli:
                return Fact(self.theorem.bernoulli[order], f"exact bernoulli_{order}")
            case proofs.Hypothesis(what):
                return self._assumed(what)
            case proofs.Proved(identifier):
                return self._cited(identifier)
            case proofs.Infimum(at):
                same = "random_same_vector" if self.theorem.drawn else "same_vector"
                difference = value(self.round.vector(at)) - Number("parameter", (INFIMUM,))
                return Fact(difference, f"apply difference, lowest; {CANONICAL}; {same}; identity")
            case proofs.Idle(u):
                return self._idle(self._without_nested(self.round.vector(u)))
            case proofs.ClientInfima(at):
                return Fact(*clients_infima(self.theorem, self.round.vector(at)))
            case proofs.Similar(b, a):
                u, v = self.round.vector(b), self.round.vector(a)
                return Fact(*clients_similarity(self.theorem, u, v, self._equal_vectors))
        raise Missing(type(fact).__name__)

    def _cited(self, identifier: str) -> Fact:
        """The claim of another statement, whose theorem is applied to the vectors of this round."""
        name = identifier.replace(".", "_")
        if identifier not in self.cited:
            other = theorem_of_statement(identifier)
            known = self.theorem.parameters.keys() | self.in_case(other).ones
            if other.claim.of_run or other.one != self.theorem.one or not other.parameters.keys() <= known:
                raise Missing(f"a citation of {identifier}")
            self.cited[identifier] = other
        other = self.cited[identifier]
        left, right = map(self.in_case(other).decided, self.cited_sides(other))
        if type(left) is Vector:
            raise Missing("a cited equation of vectors")
        for variable in other.round.variables:
            self.round.same_as(other.round, variable)
        exact = other.claim.relation == "="
        return Fact(right - left, f"exact ({'no_' if exact else ''}difference _ _ {name}_here)", exact)

    def in_case(self, other: TheoremText) -> InCase:
        """How terms of a cited theorem read here."""
        ones = pinned(other.setting, self.theorem.setting) - self.theorem.parameters.keys()
        return InCase(self.board.parameters, ones)

    def cited_sides(self, other: TheoremText) -> tuple[Any, Any]:
        """Both sides of a cited theorem's claim, as it has them."""
        said = self.in_case(other).said
        return self.term(said(other.claim.left)), self.term(said(other.claim.right))

    def _curvature(self, end: int, given: Number | None) -> tuple[Number, Number]:
        known = curvature(self.theorem.setting, end)
        return known, known if given is None else given

    def _quadratic(self, to: Vector, at: Vector, end: int, given: Number | None) -> Fact:
        b, a = self.round.vector(to), self.round.vector(at)
        known, c = self._curvature(end, given)
        tangent, square = inner(gradient(a), b - a), (c / 2) * inner(b - a, b - a)
        difference = value(b) - value(a) - tangent - square if end == 0 else value(a) + tangent + square - value(b)
        proof = f"apply ({('lower', 'upper')[end]} F _ _ _ _ F_{('least', 'most')[end]})"
        if class_of_objective(self.theorem.setting)[end]:
            proof = objective_quadratic(end, self._equal_vectors)
        if any(p.head == "/" for p in parts(c)):
            return Fact(difference, proof, bounds=(known - c if end == 0 else c - known,))
        return Fact(difference, f"{proof}; order")

    def _between(self, b: Vector, a: Vector, least: Number | None, most: Number | None) -> Fact:
        lowest, low = self._curvature(0, least)
        highest, high = self._curvature(1, most)
        g, d = gradient(b) - gradient(a), b - a
        proof = "apply (between F _ _ _ _ _ _ F_least F_most)"
        if any(class_of_objective(self.theorem.setting)):
            g, proof = objective_between(self.theorem, b, a, self._equal_vectors)
        difference = inner(g - low * d, high * d - g)
        if any(p.head == "/" for x in (low, high) for p in parts(x)):
            return Fact(difference, proof, bounds=(lowest - low, high - highest))
        return Fact(difference, f"{proof}; order")

    @property
    def _equal_vectors(self) -> str:
        """The tactic that shows that two vectors are equal, such as a mean and what all share."""
        return f"{CANONICAL}; {'random_' if self.theorem.drawn else ''}same_vector; identity"

    def _idle(self, u: Vector) -> Fact:
        """The mean of ‖u_k‖² over the clients that are not drawn, of u = E u + n with the rest n that all share."""
        draws = self.theorem.setting.draws
        if draws.scheme != "uniform":
            raise Missing("clients that are not drawn, of independent draws")
        assert draws.active is not None
        assert draws.clients is not None
        fixed = Vector("expected", (u,))
        rest, seen = u - fixed, Vector("selected", (fixed,))
        left = inner(u, u) - inner(u, seen) - inner(mean(seen) + draws.active / draws.clients * rest, rest)
        return Fact(left, f"apply (idle_square d P_one m_one); {self._equal_vectors}")

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


def theorem_of_case(case: Case) -> TheoremText:
    """The theorem of one case."""
    return TheoremText(case.name, case.setting, case.claim, case.derivation)


def theorem_of_cases(name: str, setting: ClaimSetting, claim: Claim, cases: list[Case]) -> TheoremText:
    """The theorem that holds in all cases, with the variables of all."""
    invariants = proofs.Derivation((), same_invariants(cases))
    made = TheoremText(name, setting, claim, invariants, under=cases[0].under)
    for case in cases:
        of_case = theorem_of_case(case)
        TheoremSteps(of_case)
        for variable in of_case.round.variables:
            made.round.same_as(of_case.round, variable)
    made.statement()  # makes the variables in the assumptions, too
    return made


def theorem_along_steps(name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation) -> TheoremText:
    """The theorem whose proof follows a potential along local steps, with the variables of its lemmas."""
    along = LemmasAlongSteps(setting, claim, derivation)
    made, lemmas = TheoremText(name, setting, claim, proofs.Derivation((), along.invariants)), along.lemmas(name)
    for lemma in lemmas:
        TheoremSteps(lemma)
    along.share_vectors(made, lemmas)
    made.statement()  # makes the variables in the assumptions, too
    return made


def theorem_of_statement(identifier: str) -> TheoremText:
    """The theorem of a statement about one round."""
    of = statement(identifier)
    load(of.paper.name)
    if of.claim is None:
        raise Missing(f"{identifier} has no claim")
    name, derivation = identifier.replace(".", "_"), derivation_of(of)
    if has_potential(derivation):
        return theorem_along_steps(name, of.setting, of.claim, derivation)
    if derivation.cases is None:
        made = TheoremText(name, of.setting, of.claim, derivation)
        TheoremSteps(made)
        return made
    return theorem_of_cases(name, of.setting, of.claim, cases_in(split(name, of.setting, of.claim, derivation)))


# Two squares a‖u + t·v‖² + e‖v‖² with a long divisor, as the quadratic form a‖u‖² + 2b⟨u, v⟩ + d‖v‖² that they are.
# By completing the square, t = b/a and e = d − b²/a have the divisor a. What makes the form ≥ 0 has not: a, d and
# a·d − b² are. Rocq then needs no identity with the divisor in it, which takes `field` seconds.

LONG = 10  # terms of a divisor, with which `field` takes seconds


@final
@dataclass(frozen=True)
class TwoSquares:
    """a‖u‖² + 2b⟨u, v⟩ + d‖v‖²."""

    u: Vector
    v: Vector
    a: Number
    b: Number
    d: Number

    @property
    def difference(self) -> Number:
        """The form itself, which is ≥ 0."""
        return (
            self.a * inner(self.u, self.u) + number(2) * self.b * inner(self.u, self.v) + self.d * inner(self.v, self.v)
        )

    @property
    def signs(self) -> tuple[Number, Number, Number]:
        """What has to be ≥ 0."""
        return self.a, self.d, self.a * self.d - self.b**2


Squares = list[tuple[Number, Vector]]


def with_forms(squares: Squares, parameters: SettingParameters) -> tuple[Squares, list[TwoSquares]]:
    """The other squares, and a form for every two that have a long divisor. Raises Missing."""
    left, forms = list(squares), []
    for first, second, t, u in _pairs(squares, parameters):
        if second not in left:  # a part of another form
            continue
        a, v, e = first[0], second[1], second[0]
        b = parameters.value(a) * parameters.value(t)
        d = b * parameters.value(t) + parameters.value(e)
        forms.append(TwoSquares(u, v, a, divided(b), divided(d)))
        left.remove(first)
        left.remove(second)
    return left, forms


def _pairs(
    squares: Squares, parameters: SettingParameters
) -> Iterator[tuple[tuple[Number, Vector], tuple[Number, Vector], Number, Vector]]:
    """The squares of u + t·v and of v, t, and u, where t has a long divisor."""
    for first in squares:
        match first[1].head, first[1].args:
            case "+", (u, Vector("*", (Number() as t, v))) if is_of_parameters(t):
                second = next((s for s in squares if s[1] == v), None)
                if second is None or not all(map(is_of_parameters, (first[0], second[0]))):
                    continue
                if len(parameters.value(t).below) >= LONG:
                    yield first, second, t, u
