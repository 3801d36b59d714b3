"""The checks that derive claims: an identity, a combination of facts with multipliers, a sign, a special case.

A check never searches: the author of the proof gives the facts and the multipliers, and the check verifies that they
prove the claim. It answers UNKNOWN, with the reason, where they do not.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import sympy

from fedconvex.proofs_checks.certificates import certificate
from fedconvex.proofs_checks.engines.algebra import NotRational, factored, factors, fraction
from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, is_product, require, square
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, SignProof, prove_sign
from fedconvex.proofs_checks.proof import Check, CheckOutcome, Relation
from fedconvex.verdicts import Verdict

Roots = tuple[tuple[Any, Any], ...]
"""New symbols for square roots: (r, K/2) says r = √(K/2), and the check replaces K by 2r² everywhere.

The engines decide rational functions only; with this, a formula with √(K/2) is one in r.
"""


@final
@dataclass(frozen=True)
class Combination(Check):
    """Proves left ≤ right (or =) from right − left = Σ multiplier · fact + Σ weight · ‖vector‖².

    The multipliers of inequalities and the weights must be ≥ 0 on the claim's domain; the facts that are equations may
    have multipliers of any sign. With `squared` the identity is one for right² − left², and right ≥ 0 is proved too:
    use this for a bound on a norm.
    """

    facts: tuple[tuple[Any, Fact], ...] = ()
    squares: tuple[tuple[Any, HilbertVector], ...] = ()
    squared: bool = False
    roots: Roots = ()

    engine = "combination"

    def rests_on(self) -> tuple[Relation, ...]:
        return tuple(claim for _, fact in self.facts for claim in fact.claims)

    def assumes(self) -> tuple[tuple[tuple[str, ...], Any], ...]:
        return tuple((fact.assumes, fact.constant) for _, fact in self.facts if fact.assumes)

    def defines(self) -> tuple[tuple[Any, Any], ...]:
        return tuple(definition for _, fact in self.facts for definition in fact.defines)

    def joins_rounds(self) -> bool:
        return any(fact.joins_rounds for _, fact in self.facts)

    def chooses(self, claim: Relation) -> dict[Any, Any]:
        return {symbol: value for _, fact in self.facts if claim in fact.claims for symbol, value in fact.chosen}

    def run(self, claim: Relation) -> CheckOutcome:
        to_roots = _rewriting(self.roots)
        left, right = (to_roots(side) for side in (claim.left, claim.right))
        domain = _on_domain(claim.domain, to_roots)
        # Each used claim must hold on all of this claim's domain, or it would be used outside of where it was proved.
        for used in self.rests_on():
            outside = _not_implied(_on_domain(used.domain, to_roots), domain)
            if outside is not None:
                return CheckOutcome(Verdict.UNKNOWN, f"{used.name or used.source} is known for {outside} only")
        # What must be ≥ 0 for the conclusion: the right side if squares are compared, then multipliers and weights.
        needed: list[Any] = []
        difference_of_sides = right - left
        if self.squared:
            needed.append(right)
            difference_of_sides = right**2 - left**2
        for _, fact in self.facts:
            outside = _not_implied(_on_domain(Domain(fact.requires), to_roots), domain)
            if outside is not None:
                return CheckOutcome(Verdict.UNKNOWN, f"{fact.name}: known for {outside} only")
        # Without the facts' hypotheses: `verification` has compared those with the statement's before.
        facts = [(to_roots(m), Fact(to_roots(f.expression), f.name, f.equation)) for m, f in self.facts]
        squares = [(to_roots(w), _in_roots(v, to_roots)) for w, v in self.squares]
        if claim.relation == "=" and (self.squared or squares or not all(f.equation for _, f in facts)):
            return CheckOutcome(Verdict.UNKNOWN, "an equation does not follow from inequalities")
        if claim.relation == "<":
            return CheckOutcome(Verdict.UNKNOWN, "a strict inequality needs Inequality")
        rest = difference_of_sides - sum(m * f.expression for m, f in facts) - sum(w * square(v) for w, v in squares)
        try:
            difference = fraction(rest)
        except NotRational as error:
            return CheckOutcome(Verdict.UNKNOWN, str(error))
        if not difference.is_zero:
            return CheckOutcome(Verdict.UNKNOWN, f"right − left differs from the combination by {_short(rest)}")
        needed += [m for m, f in facts if not f.equation] + [w for w, _ in squares]
        multipliers = (*(m for m, _ in facts), *(w for w, _ in squares))
        undefined = [m for m in multipliers if not _is_defined(m, domain)]
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"the multiplier {undefined[0]} is not defined for all parameters")
        undefined = _zero_denominators(
            (left, right, *(f.expression for _, f in facts), *(square(v) for _, v in squares)), domain
        )
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        signs = []
        for multiplier in needed:
            found = prove_sign(multiplier, domain)
            if isinstance(found, NoSignProof):
                return CheckOutcome(Verdict.UNKNOWN, f"the multiplier {multiplier} may be negative: {found.reason}")
            signs.append(found)
        detail = f"{len(facts)} facts, {len(squares)} squares"
        detail += ", z3 for a sign" if any(s.method == "z3" for s in signs) else ""
        proof = certificate(left, right, claim.relation, domain, facts, squares, needed, self.squared)
        return CheckOutcome(Verdict.PROVED, detail, proof)


@final
@dataclass(frozen=True)
class Identity(Check):
    """Proves left = right where both are the same rational function, or the same linear combination of vectors."""

    roots: Roots = ()

    engine = "identity"

    def run(self, claim: Relation) -> CheckOutcome:
        if claim.relation != "=":
            return CheckOutcome(Verdict.UNKNOWN, "an identity shows an equation")
        difference = claim.right - claim.left
        parts = list(difference.parts.values()) if isinstance(difference, HilbertVector) else [difference]
        to_roots = _rewriting(self.roots)
        try:
            wrong = [part for part in map(to_roots, parts) if not fraction(part).is_zero]
        except NotRational as error:
            return CheckOutcome(Verdict.UNKNOWN, str(error))
        if wrong:
            # Different rational functions differ somewhere, unless the domain's equations make them equal there.
            restricted = any(isinstance(relation, sympy.Eq) for relation in claim.domain.relations)
            verdict = Verdict.UNKNOWN if restricted else Verdict.REFUTED
            return CheckOutcome(verdict, f"right − left = {_short(wrong[0])}")
        undefined = _zero_denominators(map(to_roots, _sides(claim)), _on_domain(claim.domain, to_roots))
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        domain = _on_domain(claim.domain, to_roots)
        proofs = [certificate(to_roots(left), to_roots(right), "=", domain) for left, right in _by_part(claim)]
        complete = {"kind": "all", "of": proofs} if None not in proofs else None
        return CheckOutcome(Verdict.PROVED, "the same rational function", complete)


@final
@dataclass(frozen=True)
class Inequality(Check):
    """Proves left ≤ right or left < right between functions of the parameters, on the claim's domain (`signs`)."""

    roots: Roots = ()

    engine = "signs"

    def run(self, claim: Relation) -> CheckOutcome:
        to_roots = _rewriting(self.roots)
        domain = _on_domain(claim.domain, to_roots)
        difference = to_roots(claim.right) - to_roots(claim.left)
        if claim.relation == "=":
            return CheckOutcome(Verdict.UNKNOWN, "an equation needs Identity")
        found = prove_sign(difference, domain, strictly=claim.relation == "<")
        if isinstance(found, NoSignProof):
            where = ", ".join(f"{k} = {v}" for k, v in found.counterexample.items())
            verdict = Verdict.REFUTED if where else Verdict.UNKNOWN
            return CheckOutcome(verdict, f"{found.reason}{': ' * bool(where)}{where}")
        undefined = _zero_denominators(map(to_roots, (claim.left, claim.right)), domain)
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        proof = certificate(to_roots(claim.left), to_roots(claim.right), claim.relation, domain)
        return CheckOutcome(Verdict.PROVED, f"by {found.method}", proof)


@final
@dataclass(frozen=True)
class Special(Check):
    """Proves a claim by substituting expressions (`values`) for symbols of a claim `of` that is already proved.

    Use it for a theorem with particular parameters. On the new claim's domain the expressions must have the symbols'
    signs and satisfy the old claim's conditions. `shown` are hypotheses of the old claim's statement, each with an
    earlier step of this proof that derives it: the new statement then need not assume them.
    """

    of: Relation
    values: tuple[tuple[Any, Any], ...]
    roots: Roots = ()
    shown: tuple[tuple[Fact, Relation], ...] = ()

    engine = "special case"

    def rests_on(self) -> tuple[Relation, ...]:
        return (self.of, *(claim for _, claim in self.shown))

    def discharges(self) -> tuple[tuple[str, Any], ...]:
        values = dict(self.values)
        constants = [(f, None if f.constant is None else sympy.sympify(f.constant).subs(values)) for f, _ in self.shown]
        return tuple((name, constant) for fact, constant in constants for name in fact.assumes)

    def chooses(self, claim: Relation) -> dict[Any, Any]:
        return dict(self.values) if claim == self.of else {}

    def run(self, claim: Relation) -> CheckOutcome:
        to_roots = _rewriting(self.roots)
        left, right = (to_roots(side) for side in (claim.left, claim.right))
        domain = _on_domain(claim.domain, to_roots)
        values = {symbol: to_roots(value) for symbol, value in self.values}

        def put_in(expression: Any) -> Any:
            return sympy.sympify(expression).subs(values, simultaneous=True)

        needed = _on_domain(self.of.domain, put_in)
        signs = [sympy.Gt(v, 0, evaluate=False) for s, v in values.items() if s.is_positive]
        # The symbols' own signs are hypotheses of the old claim, like its conditions.
        signs += [sympy.Ge(v, 0, evaluate=False) for s, v in values.items() if s.is_nonnegative]
        # A claim about integers, about K devices say, says nothing about other numbers.
        fractional = [s for s, value in values.items() if s.is_integer and not value.is_integer]
        if fractional or sympy.false in needed.relations or any(map(is_product, values)):
            return CheckOutcome(Verdict.UNKNOWN, f"{self.of.name or self.of.source} is not known for these parameters")
        for hypothesis, known in self.shown:
            if not fraction(to_roots(put_in(hypothesis.expression) - known.right + known.left)).is_zero:
                return CheckOutcome(Verdict.UNKNOWN, f"{known.name} is not the hypothesis that {hypothesis.name}")
            needed = needed & known.domain
        outside = _not_implied(_on_domain(needed & Domain(tuple(signs)), to_roots), domain)
        if outside is not None:
            return CheckOutcome(Verdict.UNKNOWN, f"{self.of.name or self.of.source} is known for {outside} only")
        undefined = _zero_denominators((left, right, *values.values()), domain)
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        if claim.relation != self.of.relation:
            return CheckOutcome(Verdict.UNKNOWN, "the claim has another relation")
        # The new claim must be the old one after the substitution, or follow from it by adding the same to both sides.
        one, here = sympy.Integer(1), (to_roots(put_in(self.of.left)), to_roots(put_in(self.of.right)))
        fact = Fact(here[1] - here[0], self.of.name or self.of.source, claim.relation == "=")
        try:
            same = fraction((right - here[1]) - (left - here[0])).is_zero  # side by side: mostly nothing is left
        except NotRational as error:
            return CheckOutcome(Verdict.UNKNOWN, str(error))
        if not same:
            return CheckOutcome(Verdict.UNKNOWN, f"right − left differs by {_short(right - left - fact.expression)}")
        proof = certificate(left, right, claim.relation, domain, [(one, fact)])
        return CheckOutcome(Verdict.PROVED, "a special case", proof)


@final
@dataclass(frozen=True)
class Agreement(Check):
    """Compares a formula with the running code on exact instances; use it for definitions.

    `compare` maps an instance's number to the two values. The check does not look at the claim's sides, so it proves
    nothing about them, and no other step may rest on it (`shows_claim` is False).
    """

    compare: Callable[[int], tuple[Any, Any]]
    instances: int = 20

    engine = "instances"
    shows_claim = False

    def run(self, claim: Relation) -> CheckOutcome:
        for number in range(self.instances):
            left, right = self.compare(number)
            if not _equal(left, right):
                return CheckOutcome(Verdict.REFUTED, f"instance {number}: {left} against {right}")
        return CheckOutcome(Verdict.PROVED, f"equal to the running code on {self.instances} exact instances")


@final
@dataclass(frozen=True)
class Assumed(Check):
    """A step that nobody has checked; `missing` says what its proof would need. The statement becomes ASSUMED."""

    missing: str

    engine = "none"

    def run(self, claim: Relation) -> CheckOutcome:
        return CheckOutcome(Verdict.ASSUMED, self.missing)


def _in_roots(vector: HilbertVector, to_roots: Callable[[Any], Any]) -> HilbertVector:
    return HilbertVector({replace(a, scale=to_roots(a.scale)): to_roots(c) for a, c in vector.parts.items()})


def _by_part(claim: Relation) -> list[tuple[Any, Any]]:
    """The two sides; for vectors, the two coefficients of each basic vector."""
    if not isinstance(claim.left, HilbertVector):
        return [(claim.left, claim.right)]
    zero = sympy.Integer(0)
    atoms = dict.fromkeys((*claim.left.parts, *claim.right.parts))
    return [(claim.left.parts.get(atom, zero), claim.right.parts.get(atom, zero)) for atom in atoms]


def _not_implied(needed: Domain, given: Domain) -> Any:
    """A condition of the first domain that is not proved to hold on the second; None where all are.

    A condition that divides by 0 somewhere on the second domain does not hold there.
    """
    for relation in needed.relations:
        if relation in given.relations:
            continue
        if not isinstance(relation, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt):
            return relation
        greater = isinstance(relation, sympy.Ge | sympy.Gt)
        difference = relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs
        strictly = isinstance(relation, sympy.Gt | sympy.Lt)
        if isinstance(prove_sign(difference, given, strictly), NoSignProof):
            return relation
        if _zero_denominators((relation.lhs, relation.rhs), given):
            return relation
    return None


def _is_defined(expression: Any, domain: Domain) -> bool:
    """Whether the denominator has no zero in the domain. At such a zero the proof would say nothing."""
    return _has_no_zero(fraction(expression).denominator, domain)


def _has_no_zero(polynomial: Any, domain: Domain) -> bool:
    """Whether each irreducible factor is positive, or each negative, on the domain: easier than the product's sign."""
    return not polynomial.is_zero and all(
        any(isinstance(prove_sign(sign * factor, domain, strictly=True), SignProof) for sign in (1, -1))
        for factor in factors(polynomial)
    )


def _zero_denominators(expressions: Iterable[Any], domain: Domain) -> list[Any]:
    """The denominators, as the expressions are written, that may vanish somewhere in the domain.

    As written: (x² + x)/x has the denominator x although it cancels, since x + 1 at x = 0 is not what was claimed.
    """
    powers = {p for e in expressions for p in sympy.sympify(e).atoms(sympy.Pow) if p.exp.could_extract_minus_sign()}
    bases = sorted({p.base for p in powers}, key=str)
    return [base for base in bases if not base.is_positive and not _is_nonzero(base, domain)]


def _is_nonzero(base: Any, domain: Domain) -> bool:
    try:
        return _has_no_zero(fraction(base).numerator, domain)
    except NotRational:
        return False


def _sides(claim: Relation) -> list[Any]:
    sides = (claim.left, claim.right)
    return [part for s in sides for part in (s.parts.values() if isinstance(s, HilbertVector) else (s,))]


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Iterable) and not isinstance(left, str):
        pairs = list(zip(left, right, strict=True))
        return all(_equal(a, b) for a, b in pairs)
    return bool(left == right)


def _rewriting(roots: Roots) -> Callable[[Any], Any]:
    """The substitution that replaces each variable by the square of its new root symbol: K by 2r² for r = √(K/2).

    No value of the variable may be lost: the radicand is nowhere negative and increasing in its one variable, and the
    root symbol is nonnegative, so that every value of the variable is the one for some r.
    """
    substitutions: dict[Any, Any] = {}
    for root, radicand in roots:
        require(len(radicand.free_symbols) == 1, f"{radicand} is no function of one symbol")
        (variable,) = radicand.free_symbols
        solutions = sympy.solve(sympy.Eq(radicand, root**2), variable)
        require(len(solutions) == 1, f"{radicand} = {root}² has not one solution")
        require(radicand.is_positive if root.is_positive else radicand.is_nonnegative, f"{radicand} may be negative")
        require(root.is_nonnegative, f"{root} may be negative")
        require(sympy.diff(radicand, variable).is_positive, f"{radicand} is not increasing")
        substitutions[variable] = solutions[0]
    new = {root for root, _ in roots}
    require(len(new) == len(substitutions) == len(roots), "one symbol for two roots, or two for one")

    require(all(str(root).startswith("√") for root in new), f"{new}: the name of a root begins with √")
    return lambda expression: sympy.sympify(expression).subs(substitutions)


def _on_domain(domain: Domain, change: Callable[[Any], Any]) -> Domain:
    changed = (change(relation) for relation in domain.relations)
    return Domain(tuple(r for r in changed if r not in (True, sympy.true)))


def _short(expression: Any) -> str:
    try:
        text = str(factored(expression))
    except NotRational:
        text = str(expression)
    return text if len(text) < 300 else text[:297] + "…"
