"""The checks that decide the steps of worst cases' proofs: a combination of facts with multipliers, and a sign.

A check never searches: it verifies that the given facts and multipliers prove the claim, or answers UNKNOWN with the
reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import sympy

from fedconvex.proofs_checks.certificates import certificate
from fedconvex.proofs_checks.engines.algebra import NotRational, factored, factors, fraction
from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, square
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, SignProof, prove_sign
from fedconvex.proofs_checks.proof import Check, CheckOutcome, Relation
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class Combination(Check):
    """Proves left ≤ right (or =) from right − left = Σ multiplier · fact + Σ weight · ‖vector‖².

    The multipliers of inequalities and the weights must be ≥ 0 on the claim's domain; the facts that are equations may
    have multipliers of any sign.
    """

    facts: tuple[tuple[Any, Fact], ...] = ()
    squares: tuple[tuple[Any, HilbertVector], ...] = ()

    engine = "combination"

    def run(self, claim: Relation) -> CheckOutcome:
        left, right, domain = claim.left, claim.right, claim.domain
        if claim.relation == "=" and (self.squares or not all(f.equation for _, f in self.facts)):
            return CheckOutcome(Verdict.UNKNOWN, "an equation does not follow from inequalities")
        if claim.relation == "<":
            return CheckOutcome(Verdict.UNKNOWN, "a strict inequality needs Inequality")
        rest = right - left - sum(m * f.expression for m, f in self.facts)
        rest -= sum(w * square(v) for w, v in self.squares)
        try:
            difference = fraction(rest)
        except NotRational as error:
            return CheckOutcome(Verdict.UNKNOWN, str(error))
        if not difference.is_zero:
            return CheckOutcome(Verdict.UNKNOWN, f"right − left differs from the combination by {_short(rest)}")
        multipliers = (*(m for m, _ in self.facts), *(w for w, _ in self.squares))
        undefined = [m for m in multipliers if not _is_defined(m, domain)]
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"the multiplier {undefined[0]} is not defined for all parameters")
        undefined = _zero_denominators(
            (left, right, *(f.expression for _, f in self.facts), *(square(v) for _, v in self.squares)), domain
        )
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        needed = [m for m, f in self.facts if not f.equation] + [w for w, _ in self.squares]
        signs = []
        for multiplier in needed:
            found = prove_sign(multiplier, domain)
            if isinstance(found, NoSignProof):
                return CheckOutcome(Verdict.UNKNOWN, f"the multiplier {multiplier} may be negative: {found.reason}")
            signs.append(found)
        detail = f"{len(self.facts)} facts, {len(self.squares)} squares"
        detail += ", z3 for a sign" if any(s.method == "z3" for s in signs) else ""
        proof = certificate(left, right, claim.relation, domain, self.facts, self.squares, needed)
        return CheckOutcome(Verdict.PROVED, detail, proof)


@final
@dataclass(frozen=True)
class Inequality(Check):
    """Proves left ≤ right or left < right between functions of the parameters, on the claim's domain (`signs`)."""

    engine = "signs"

    def run(self, claim: Relation) -> CheckOutcome:
        if claim.relation == "=":
            return CheckOutcome(Verdict.UNKNOWN, "an equation needs a combination")
        found = prove_sign(claim.right - claim.left, claim.domain, strictly=claim.relation == "<")
        if isinstance(found, NoSignProof):
            where = ", ".join(f"{k} = {v}" for k, v in found.counterexample.items())
            verdict = Verdict.REFUTED if where else Verdict.UNKNOWN
            return CheckOutcome(verdict, f"{found.reason}{': ' * bool(where)}{where}")
        undefined = _zero_denominators((claim.left, claim.right), claim.domain)
        if undefined:
            return CheckOutcome(Verdict.UNKNOWN, f"{undefined[0]}, in a denominator, may be 0")
        proof = certificate(claim.left, claim.right, claim.relation, claim.domain)
        return CheckOutcome(Verdict.PROVED, f"by {found.method}", proof)


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


def _short(expression: Any) -> str:
    try:
        text = str(factored(expression))
    except NotRational:
        text = str(expression)
    return text if len(text) < 300 else text[:297] + "…"
