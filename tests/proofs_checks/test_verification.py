"""A verdict is what the kernel, a program or the running code shows: nothing said beside them makes one better."""

from dataclasses import replace
from functools import wraps
from typing import Any

import pytest
from altered import altered, with_formula

from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Remarks, Result, claims, falsify, remarks_on, verify, verify_all
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Nonnegative, Proved, facts
from fedconvex.proofs_checks.readings import UNDECIDED, Reading
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.statements.assumptions import Given
from fedconvex.statements.conditions import Condition
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox
from fedconvex.verdicts import Verdict

load("fedprox")
OF = fedprox.equation3
AGREES = CodeComparison("a = a", "the code", "(3)", lambda n: (n, n))
DIFFERS = CodeComparison("a = b", "the code", "(3)", lambda n: (n, n + 1))
MISPRINT = FailingLine("2 ≤ 1", "printed", "(3)", number(2), "<=", number(1), {})
REFUTES = Witness("2 is more than 1", "left, right = 2, 1")
REFUTES_NOTHING = Witness("1 is more than 2", "left, right = 1, 2")
FROM_NOTHING = Derivation((Combine(number(0), number(1), facts((1, Nonnegative(number(1))))),))


def half(*, gamma: Any, client_gradient: Any) -> Any:
    return gamma * client_gradient / 2


def twice(*, gamma: Any, client_gradient: Any) -> Any:
    return 2 * gamma * client_gradient


def of_floats(*, gamma: Any, client_gradient: Any) -> Any:
    return float(gamma) * client_gradient


def verified(proof: Any = "its own", of: Statement = OF, **said: Any) -> Result:
    """The result for (3) of FedProx, with other remarks, and with its proof, another one or none."""
    made = replace(of)  # a statement that nobody has verified yet
    remarks_on(made)(lambda _: Remarks(**said))
    builder = claims.builder_of(of) if proof == "its own" else None if proof is None else lambda claim: proof
    if builder is not None:
        claims.proof_of(made)(builder)
    return verify(made)


# ---- what decides


def test_what_the_kernel_replays_is_proved() -> None:
    found = verified()
    assert found.verdict is Verdict.PROVED
    assert found.theorem is not None
    assert (found.theorem.claim, found.theorem.setting) == (OF.claim, OF.setting)
    assert found.evidence[-1].place == OF.number
    assert {(line.role, line.verdict, line.engine) for line in found.evidence} == {("proof", "proved", "kernel")}


@pytest.mark.parametrize(("said", "proof", "verdict", "reason"), [
    ({}, None, Verdict.UNKNOWN, "no proof yet"),
    ({"compared": (AGREES,)}, None, Verdict.COMPARED, "compared with the running code"),
    ({"compared": (AGREES, DIFFERS)}, None, Verdict.UNKNOWN, "the running code computes something else: instance 0"),
    ({"misprints": (MISPRINT,)}, None, Verdict.UNKNOWN, "no proof yet"),
    ({"reading": Reading("true", "as printed")}, None, Verdict.UNKNOWN, "no proof yet"),
    ({"compared": (AGREES,)}, "its own", Verdict.PROVED, "the kernel replayed"),
    ({"misprints": (MISPRINT,)}, "its own", Verdict.PROVED, "the kernel replayed"),
    ({"compared": (AGREES, DIFFERS)}, "its own", Verdict.UNKNOWN, "the running code computes something else"),
    ({}, FROM_NOTHING, Verdict.UNKNOWN, "the kernel refuses its proof"),
    ({}, Derivation(()), Verdict.UNKNOWN, "the kernel refuses its proof"),
    ({"compared": (AGREES,)}, FROM_NOTHING, Verdict.UNKNOWN, "the kernel refuses its proof"),
    ({"refutation": REFUTES}, None, Verdict.UNKNOWN, "a program alone says nothing of the statement"),
    ({"refutation": REFUTES, "compared": (AGREES,)}, None, Verdict.UNKNOWN, "a program alone says nothing"),
    ({"refutation": REFUTES}, FROM_NOTHING, Verdict.UNKNOWN, "a program alone says nothing"),
    ({"refutation": REFUTES}, "its own", Verdict.UNKNOWN, "it is proved, and a counterexample is given"),
    ({"refutation": REFUTES_NOTHING}, "its own", Verdict.UNKNOWN, "it is proved, and a counterexample is given"),
])  # fmt: skip
def test_the_verdict(said: Any, proof: Any, verdict: Verdict, reason: str) -> None:
    found = verified(proof, **said)
    assert found.verdict is verdict
    assert reason in found.reason
    assert (found.theorem is not None) is (proof == "its own")
    assert any(line.role == "proof" for line in found.evidence) is (proof == "its own")


@pytest.mark.parametrize("said", [{}, {"notes": "it holds"}, {"reading": Reading("true", "as printed")}])
def test_no_remark_makes_an_unproved_statement_hold(said: Any) -> None:
    found = verified(None, **said)
    assert (found.verdict, found.as_printed, found.holds) == (Verdict.UNKNOWN, UNDECIDED, UNDECIDED)


# ---- what refutes


@pytest.mark.parametrize("said", [
    {"refutation": REFUTES}, {"refutation": REFUTES, "compared": (AGREES,)}, {"breaks": lambda: None},
])  # fmt: skip
@pytest.mark.parametrize("of", [OF, fedprox.definition1], ids=["a claim", "no claim"])
def test_a_program_alone_refutes_nothing(of: Statement, said: Any) -> None:
    """Its two numbers may be any."""
    if of.claim is not None and "breaks" in said:
        return
    found = verified(None, of, **said)
    assert found.verdict is Verdict.UNKNOWN
    assert "a program alone says nothing of the statement" in found.reason


@pytest.fixture(scope="module")
def federation() -> ExactFederation:
    """In which answers are more than half as inexact as (3) allows."""
    found = falsify(with_formula(OF, half), tries=200)
    assert found is not None
    return found.federation


def test_a_federation_refutes_the_claim_that_it_breaks(federation: ExactFederation) -> None:
    found = verified(None, with_formula(OF, half), breaks=lambda: federation)
    assert found.verdict is Verdict.REFUTED
    assert "a federation of its setting breaks its claim" in found.reason
    both = verified(None, with_formula(OF, half), breaks=lambda: federation, refutation=REFUTES)
    assert both.verdict is Verdict.REFUTED
    assert "2 > 1" in both.reason


def test_a_federation_refutes_nothing_else(federation: ExactFederation) -> None:
    """Not the right formula, nor another setting, nor beside a program that shows nothing, nor what is proved."""
    wrong = with_formula(OF, half)
    exact = altered(wrong, assumptions=(*wrong.assumptions, Given(Condition("gamma", "<=", 0))))
    for of, said, reason in (
        (OF, {}, "does not break the claim"),
        (exact, {}, "is not in the statement's setting"),
        (wrong, {"refutation": REFUTES_NOTHING}, "the program shows no counterexample"),
    ):
        found = verified(None, of, breaks=lambda: federation, **said)
        assert (found.verdict, reason in found.reason) == (Verdict.UNKNOWN, True), found.reason


def test_what_is_proved_is_not_refuted_at_once(federation: ExactFederation) -> None:
    found = verified(breaks=lambda: federation)
    assert found.verdict is Verdict.UNKNOWN
    assert "it is proved, and a counterexample is given" in found.reason


def test_an_undecided_correction_is_not_said_to_hold(federation: ExactFederation) -> None:
    said = {"breaks": lambda: federation, "of": with_formula(OF, half)}
    assert verified(None, corrected="fedprox.equation6", **said).holds == "the corrected statement fedprox.equation6"
    assert verified(None, corrected="fedprox.definition1", **said).holds == UNDECIDED  # which is compared only


# ---- a proof is of the statement's own formula


def test_a_formula_of_floats_is_another_one_than_that_of_terms() -> None:
    with pytest.raises(InvalidInput, match="cannot be called with terms"):
        verify(with_formula(OF, of_floats))


@pytest.mark.parametrize("formula", [half, twice])
def test_another_formula_is_not_what_was_proved(formula: Any) -> None:
    results = list(verify_all([OF, with_formula(OF, formula), OF]))
    assert [found.verdict for found in results] == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED]
    assert "the kernel refuses its proof" in results[1].reason
    assert results[1].theorem is None


def test_a_weaker_setting_is_not_what_was_proved() -> None:
    assert verify(altered(OF, assumptions=OF.assumptions[:0])).verdict is Verdict.UNKNOWN


def test_a_proof_that_cites_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = OF.claim
    assert claim is not None
    line = Combine(claim.left, claim.right, facts((1, Proved(OF.identifier))), relation=claim.relation)
    monkeypatch.setitem(claims._BUILDERS, OF, lambda claim: Derivation((line,)))
    found = verified()
    assert found.verdict is Verdict.UNKNOWN
    assert "rests on itself" in found.reason


def test_a_proof_that_cites_a_statement_without_one_is_refused() -> None:
    claim = OF.claim
    assert claim is not None
    line = Combine(claim.left, claim.right, facts((1, Proved("fedprox.definition1"))), relation=claim.relation)
    found = verified(Derivation((line,)))
    assert found.verdict is Verdict.UNKNOWN
    assert "fedprox.definition1 has no proof" in found.reason


def test_an_unknown_name_is_refused_with_the_nearest_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"fedprox\.equation3"):
        verify("fedprox.equatoin3")


def test_verify_all_is_lazy() -> None:
    found = verify_all([OF, None])  # type: ignore[list-item]
    assert next(found).verdict is Verdict.PROVED
    with pytest.raises(AttributeError):
        next(found)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("statement", [feddyn.theorem1, feddyn.theorem5], ids=lambda s: s.identifier)
def test_a_rate_is_proved_by_cases_with_its_own_formulas(statement: Statement) -> None:
    """Another formula, or fewer cases, and the cases prove something else."""
    assert verify(statement).verdict is Verdict.PROVED
    formula = statement.calculator.formula

    @wraps(formula)
    def faster(**values: Any) -> Any:
        rates = formula(**values)
        return type(rates)(rates[0] / values["T"], *rates[1:])

    changed = with_formula(statement, faster)
    assert verify(changed).verdict is Verdict.UNKNOWN
    assert "another formula" in verify(changed).reason
    assert verify(replace(statement, parts=statement.parts[:2])).verdict is Verdict.UNKNOWN
