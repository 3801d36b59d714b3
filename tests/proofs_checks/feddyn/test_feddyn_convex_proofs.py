"""FedDyn on convex devices: every statement's verdict, proofs that must fail, and how tight the bounds are."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from mutations import survivors

from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.hilbert import deviation
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, prove_sign
from fedconvex.proofs_checks.feddyn.expectations import lemma3_in_symbols
from fedconvex.proofs_checks.feddyn.notation import SCALE, SYMBOLS, L, P, alpha, epsilon, m, move, scale, virtual
from fedconvex.proofs_checks.feddyn.sharper_lemmas import interpolated, rest_of_convex
from fedconvex.proofs_checks.proof import Relation, Role, builder_of, conclusion
from fedconvex.proofs_checks.verification import verify_all
from fedconvex.statements.assumptions import Convex, Smooth, StronglyConvex
from fedconvex.theory import feddyn
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # long polynomials: four seconds

EQUATIONS, LEMMAS = [f"equation{n}" for n in range(1, 14)], [f"lemma{n}" for n in range(1, 10)]
THEOREMS = ["theorem1", "theorem2", "theorem3"]
OURS = ["lemma1sharper", "lemma4sharper", "lemma8sharper", "theorem2sharper", "theorem3sharper"]
EVERY_MUTANT = [*EQUATIONS, *LEMMAS[1:7], "lemma9", "lemma4sharper", "theorem2"]
SOME_MUTANTS = {"lemma1": 12, "lemma8": 60, "theorem1": 9, "theorem3": 6, "lemma1sharper": 20, "lemma8sharper": 60}
SOME_MUTANTS |= {"theorem2sharper": 9, "theorem3sharper": 17}
"""Of these, where there are many and each takes long, one in so many is tried."""


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    names = [*EQUATIONS, *LEMMAS, *THEOREMS, *OURS]
    return {r.statement.identifier: r for r in verify_all([getattr(feddyn, name) for name in names])}


@pytest.mark.parametrize("name", [*EQUATIONS, *LEMMAS, *THEOREMS, *OURS])
def test_it_is_proved(results: dict[str, Any], name: str) -> None:
    result = results[f"feddyn.{name}"]
    assert result.verdict is Verdict.PROVED, result.reason
    refuted = [r.step.place for r in result.evidence if r.outcome.verdict is not Verdict.PROVED]
    assert refuted == (["(3)", "(3)"] if name == "equation3" else [])


def test_the_misprints_of_equation_3(results: dict[str, Any]) -> None:
    printed = [r for r in results["feddyn.equation3"].evidence if r.step.role is Role.PRINTED]
    assert [r.outcome.verdict for r in printed] == [Verdict.REFUTED] * 2


def test_theorem_3_holds_in_both_readings(results: dict[str, Any]) -> None:
    evidence = results["feddyn.theorem3"].evidence
    assert evidence[-1].step.role is Role.PRINTED
    assert r"\tfrac1{r^T-1}" in evidence[-1].step.shown
    assert evidence[-1].outcome.verdict is Verdict.PROVED


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", [*EVERY_MUTANT, *SOME_MUTANTS])
def test_a_changed_formula_is_not_proved(name: str) -> None:
    assert survivors(getattr(feddyn, name), SOME_MUTANTS.get(name, 1)) == []


@pytest.mark.parametrize("name", ["equation5", "equation6", "lemma4", "lemma5", "equation10", "lemma1", "theorem2"])
def test_convexity_is_needed(name: str) -> None:
    statement = getattr(feddyn, name)
    without = tuple(a for a in statement.assumptions if not isinstance(a, Convex))
    assert len(without) < len(statement.assumptions)
    assert verify(replace(statement, assumptions=without)).verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("name", "kind"), [("equation4", Smooth), ("equation11", StronglyConvex), ("theorem3", StronglyConvex)]
)
def test_what_else_is_needed(name: str, kind: Any) -> None:
    statement = getattr(feddyn, name)
    without = tuple(a for a in statement.assumptions if not isinstance(a, kind))
    assert verify(replace(statement, assumptions=without)).verdict is not Verdict.PROVED


# ---- what must be rejected ----


def last_check(name: str) -> tuple[Relation, Combination]:
    statement = getattr(feddyn, name)
    builder = builder_of(statement)
    assert builder is not None
    step = [s for s in builder(statement).steps if s.role is Role.PROOF][-1]
    assert isinstance(step.by, Combination)
    return step.claim, step.by


@pytest.mark.parametrize("name", ["lemma1", "lemma8", "lemma4", "lemma5", "equation10", "equation12", "lemma1sharper"])
def test_other_multipliers_do_not_add_up(name: str) -> None:
    claim, check = last_check(name)
    assert check.run(claim).verdict is Verdict.PROVED
    for number, (multiplier, fact) in enumerate(check.facts):
        if is_zero(fact.expression):
            continue  # a line that is an identity
        changed = [*check.facts[:number], (2 * multiplier, fact), *check.facts[number + 1 :]]
        assert replace(check, facts=tuple(changed)).run(claim).verdict is Verdict.UNKNOWN


def test_the_draw_must_not_spread_more_than_the_devices() -> None:
    """Lemma 3 needs σ ≤ 1."""
    check = Combination(squares=((1 - scale, deviation(virtual)),))
    assert check.run(Relation(move, "<=", epsilon, SCALE)).verdict is Verdict.PROVED
    assert check.run(Relation(move, "<=", epsilon)).verdict is Verdict.UNKNOWN
    assert Combination().run(Relation(move, "<=", epsilon, SCALE)).verdict is Verdict.UNKNOWN


def test_a_fact_is_not_used_where_it_is_not_known() -> None:
    """Lemma 1 is about α ≥ 25L, Lemma 3 about σ ≤ 1."""
    lemma = conclusion(feddyn.lemma1)
    check = Combination(facts=((1, lemma.fact),))
    assert check.run(replace(lemma, source="")).verdict is Verdict.PROVED
    smaller = Domain(tuple(r for r in lemma.domain.relations if alpha not in r.free_symbols)) & (alpha >= 24 * L)
    outcome = check.run(replace(lemma, domain=smaller))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "is known for" in outcome.detail
    third = Combination(facts=lemma3_in_symbols())
    letters = Relation(SYMBOLS["move"], "<=", SYMBOLS["epsilon"], SCALE)
    assert third.run(letters).verdict is Verdict.PROVED
    assert third.run(replace(letters, domain=Domain())).verdict is Verdict.UNKNOWN


def test_a_smaller_kappa_leaves_no_sum_of_squares() -> None:
    """κ a tenth smaller: the quadratic form that is left has a negative weight somewhere in the domain."""
    statement = feddyn.lemma1sharper
    domain = Domain.of(statement) & SCALE
    s = (scale + L / alpha) / alpha**2
    kappa = m / P * s / (1 - 2 * alpha * L * s)
    assert not any(isinstance(prove_sign(w, domain), NoSignProof) for w, _ in rest_of_convex(kappa))
    smaller = [prove_sign(w, domain) for w, _ in rest_of_convex(kappa * Fraction(9, 10))]
    assert any(isinstance(found, NoSignProof) for found in smaller)


def test_interpolation_without_its_factor_two_is_not_shown() -> None:
    step = interpolated(Domain())
    assert step.by.run(step.claim).verdict is Verdict.PROVED
    assert step.by.run(replace(step.claim, left=2 * step.claim.left)).verdict is Verdict.UNKNOWN


# ---- how much is used ----


@pytest.mark.parametrize("name", [*EQUATIONS, *LEMMAS, *THEOREMS, *OURS])
def test_tightness(results: dict[str, Any], name: str) -> None:
    found = results[f"feddyn.{name}"].tightness
    if found is None:
        assert name in {
            "equation1",
            "equation2",
            "equation3",
            "equation7",
            "equation8",
            "equation9",
            "lemma2",
            "theorem1",
        }
        return
    assert 0 < found.quotient <= 1
    assert not found.attained or found.quotient > Fraction(22, 25)
