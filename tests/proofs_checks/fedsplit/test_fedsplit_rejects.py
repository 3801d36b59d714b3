"""The FedSplit proofs fail with a wrong formula, multiplier, sign, factor or case."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy
from mutations import survivors

from fedconvex.proofs_checks import proof_of
from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.engines.cases import AtOrAbove
from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import decayed, iterated
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedsplit.interpolation import interpolation
from fedconvex.proofs_checks.fedsplit.notation import BEST, q, rho, with_logarithm, with_power
from fedconvex.proofs_checks.proof import Relation, Step
from fedconvex.theory import fedsplit
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

REFUTED = ("equation17", "equation19", "theorem2")  # a formula that is wrong otherwise is refuted, too
MANY = ("equation16", "theorem1sharper", "theorem2corrected", "theorem2roundbyround")
STATEMENTS = {s.identifier.split(".")[1]: s for s in (*fedsplit.PAPER, *fedsplit.PAPER.ours.values())}


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name not in REFUTED])
def test_no_wrong_formula_is_proved(name: str) -> None:
    assert not survivors(STATEMENTS[name], every=5 if name in MANY else 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MANY)
def test_no_wrong_formula_is_proved_of_all(name: str) -> None:
    assert not survivors(STATEMENTS[name])


@pytest.mark.parametrize("name", ["equation17", "equation19"])
def test_what_is_right_is_not_refuted_by_the_steps(name: str) -> None:
    """The corrected formula in place of the printed one: then no step is refuted."""
    corrected = STATEMENTS[f"{name}corrected"]
    printed = replace(STATEMENTS[name], calculator=replace(STATEMENTS[name].calculator, formula=corrected.__wrapped__))  # type: ignore[attr-defined]
    steps = proof_of(printed)
    assert steps is not None
    assert all(step.by.run(step.claim).verdict is Verdict.PROVED for step in steps.steps)


def broken(step: Step) -> Iterator[tuple[str, Any, Relation]]:
    """The step with one multiplier or weight doubled, one fact's sign changed, or the sides exchanged."""
    by: Any = step.by
    for n, (multiplier, fact) in enumerate(by.facts):
        if sympy.simplify(multiplier * fact.expression) != 0:
            for factor in (2, -1):
                wrong = (*by.facts[:n], (factor * multiplier, fact), *by.facts[n + 1 :])
                yield f"{factor} times {fact.name}", replace(by, facts=wrong), step.claim
    for n, (weight, square) in enumerate(by.squares):
        if weight != 0:
            yield (
                "a square",
                replace(by, squares=(*by.squares[:n], (2 * weight, square), *by.squares[n + 1 :])),
                step.claim,
            )
    if step.claim.relation == "<=":
        yield "turned", by, replace(step.claim, left=step.claim.right, right=step.claim.left)


@pytest.mark.parametrize(
    "name", ["theorem1", "theorem1sharper", "corollary1", "theorem2roundbyround", "theorem2corrected", "equation22",
             "equation19corrected", "proposition2", "proposition3"],
)  # fmt: skip
def test_no_broken_step_is_proved(name: str) -> None:
    proof = proof_of(STATEMENTS[name])
    assert proof is not None
    tried = 0
    for step in proof.steps:
        if isinstance(step.by, Combination):
            for what, by, claim in broken(step):
                tried += 1
                assert by.run(claim).verdict is not Verdict.PROVED, f"{step.shown}: {what}"
    assert tried > 2


def test_both_cases_are_needed() -> None:
    """Where q = 1 is not covered, or the claim in one case is another one, nothing follows for q ≥ 1."""
    apart, equal, both = interpolation()
    check = both.by
    assert isinstance(check, AtOrAbove)
    assert check.run(both.claim).verdict is Verdict.PROVED
    assert replace(check, at=apart.claim).run(both.claim).verdict is Verdict.UNKNOWN
    assert replace(check, above=equal.claim).run(both.claim).verdict is Verdict.UNKNOWN
    assert check.run(replace(both.claim, domain=Domain())).verdict is Verdict.UNKNOWN
    assert check.run(replace(both.claim, right=both.claim.right + 1)).verdict is Verdict.UNKNOWN
    narrow = replace(apart.claim, domain=Domain((sympy.Gt(q, 2, evaluate=False),)))
    assert replace(check, above=narrow).run(both.claim).verdict is Verdict.UNKNOWN
    strict = replace(both.claim, relation="<")
    assert check.run(strict).verdict is Verdict.UNKNOWN


def test_a_larger_factor_between_two_points_fails() -> None:
    """Without 1/q: ⟨sg − d, qd − sg⟩ may be negative."""
    apart, *_ = interpolation()
    wrong = replace(apart.claim, right=apart.claim.right - 1)
    assert apart.by.run(wrong).verdict is Verdict.UNKNOWN


def test_recurrences_are_read_from_the_step() -> None:
    now, after, last, first, P = sympy.symbols("now after last first P", nonnegative=True)
    step = Relation(after, "<=", rho * now + 3, BEST, "a step").fact
    positive = Relation(0, "<=", rho, BEST, "not negative").fact
    found = iterated(step, positive, after, now, first, last, P)
    assert is_zero(found.expression - (P * first + 3 * (q + 1) / 2 * (1 - P) - last))
    assert len(found.claims) == 2
    with pytest.raises(AssertionError, match="another factor"):
        iterated(step, Relation(0, "<=", q, BEST, "of another").fact, after, now, first, last, P)
    with pytest.raises(AssertionError, match="no recurrence"):
        iterated(Relation(2 * after, "<=", rho * now, BEST).fact, positive, after, now, first, last, P)


def test_too_few_rounds() -> None:
    P, small = sympy.symbols("P small", nonnegative=True)
    logarithm = sympy.Symbol("log", nonnegative=True)
    needed, half = logarithm / (1 - rho), logarithm / (1 - rho) / 2
    assert Inequality().run(Relation(needed, "<=", half, BEST)).verdict is Verdict.REFUTED
    with pytest.raises(AssertionError, match="another number of rounds"):
        decayed(Relation(half, "<=", half, BEST).fact, half, logarithm, small, rho, P)


def test_only_the_right_power_is_replaced() -> None:
    t, P, kappa = fedsplit.PAPER.notation["t"].symbol("t"), sympy.Symbol("P"), sympy.Symbol("k", positive=True)
    assert with_power(rho ** (2 * t) + 1, rho, t, P) == P**2 + 1
    assert with_power((1 - 3 / (q + 1)) ** t, rho, t, P).has(t)
    assert with_power(rho ** (t + 1), rho, t, P).has(t)
    assert with_logarithm(sympy.log(1 / kappa), kappa, P) == -P
    assert with_logarithm(sympy.log(kappa**2), kappa, P).has(sympy.log)
