"""A verdict is what the kernel, a program or the running code shows: nothing said beside them makes one better."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Remarks, Result, claims, remarks, verify, verify_all
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Nonnegative, Proved, facts
from fedconvex.proofs_checks.readings import UNDECIDED, Reading
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox
from fedconvex.verdicts import Verdict

load("fedprox")
OF = fedprox.equation3
AGREES = CodeComparison("a = a", "the code", "(3)", lambda n: (n, n))
DIFFERS = CodeComparison("a = b", "the code", "(3)", lambda n: (n, n + 1))
MISPRINT = FailingLine("2 ≤ 1", "printed", "(3)", number(2), "<=", number(1), {})
REFUTES = Witness("2 is more than 1", "left, right = 2, 1")
REFUTES_NOTHING = Witness("1 is more than 2", "left, right = 1, 2")
FROM_NOTHING = Derivation((Combine(number(0), number(1), facts((1, Nonnegative(number(1))))),))
Verifying = Callable[..., Result]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Verifying:
    """The result for (3) of FedProx, with other remarks, and with its proof, another one or none."""

    def result(proof: Any = "its own", of: Statement = OF, **said: Any) -> Result:
        monkeypatch.setitem(remarks._REMARKS, of.identifier, lambda _: Remarks(**said))
        if proof is None:
            monkeypatch.delitem(claims._BUILDERS, of.identifier, raising=False)
        elif proof != "its own":
            monkeypatch.setitem(claims._BUILDERS, of.identifier, lambda claim: proof)
        return verify(replace(of))  # a statement that nobody has verified yet

    return result


# ---- what decides


def test_what_the_kernel_replays_is_proved(verified: Verifying) -> None:
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
    ({"refutation": REFUTES}, None, Verdict.REFUTED, "2 is more than 1: 2 > 1"),
    ({"refutation": REFUTES, "compared": (AGREES,)}, None, Verdict.REFUTED, "2 > 1"),
    ({"refutation": REFUTES}, FROM_NOTHING, Verdict.REFUTED, "2 > 1"),
    ({"refutation": REFUTES_NOTHING}, None, Verdict.UNKNOWN, "1 ≤ 2"),
    ({"refutation": REFUTES_NOTHING, "compared": (AGREES,)}, None, Verdict.UNKNOWN, "1 ≤ 2"),
    ({"refutation": Witness("", "left = 2.0")}, None, Verdict.UNKNOWN, "not exact"),
    ({"refutation": REFUTES}, "its own", Verdict.UNKNOWN, "it is proved, and a counterexample is given"),
    ({"refutation": REFUTES_NOTHING}, "its own", Verdict.UNKNOWN, "it is proved, and a counterexample is given"),
])  # fmt: skip
def test_the_verdict(verified: Verifying, said: Any, proof: Any, verdict: Verdict, reason: str) -> None:
    found = verified(proof, **said)
    assert found.verdict is verdict
    assert reason in found.reason
    assert (found.theorem is not None) is (proof == "its own")
    assert any(line.role == "proof" for line in found.evidence) is (proof == "its own")


@pytest.mark.parametrize("said", [{}, {"notes": "it holds"}, {"reading": Reading("true", "as printed")}])
def test_no_remark_makes_an_unproved_statement_hold(verified: Verifying, said: Any) -> None:
    found = verified(None, **said)
    assert (found.verdict, found.as_printed, found.holds) == (Verdict.UNKNOWN, UNDECIDED, UNDECIDED)


def test_an_undecided_correction_is_not_said_to_hold(verified: Verifying) -> None:
    corrected = {"refutation": REFUTES, "corrected": "fedprox.equation6"}
    assert verified(None, **corrected).holds == "the corrected statement fedprox.equation6"
    of_none = {"refutation": REFUTES, "corrected": "fedprox.definition1"}  # which is compared only
    assert verified(None, **of_none).holds == UNDECIDED


# ---- a proof is of the statement's own formula


def half(*, gamma: Any, client_gradient: Any) -> Any:
    return gamma * client_gradient / 2


def twice(*, gamma: Any, client_gradient: Any) -> Any:
    return 2 * gamma * client_gradient


def of_floats(*, gamma: Any, client_gradient: Any) -> Any:
    return float(gamma) * client_gradient


@pytest.mark.parametrize("formula", [half, twice, of_floats])
def test_another_formula_is_not_what_was_proved(formula: Any) -> None:
    wrong = replace(OF, calculator=replace(OF.calculator, formula=formula))
    results = list(verify_all([OF, wrong, OF]))
    assert [found.verdict for found in results] == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED]
    assert "the kernel refuses its proof" in results[1].reason
    assert results[1].theorem is None


def test_a_weaker_setting_is_not_what_was_proved() -> None:
    assert verify(replace(OF, assumptions=OF.assumptions[:0])).verdict is Verdict.UNKNOWN


def test_a_proof_that_cites_itself_is_refused(verified: Verifying) -> None:
    claim = OF.claim
    assert claim is not None
    line = Combine(claim.left, claim.right, facts((1, Proved(OF.identifier))), relation=claim.relation)
    found = verified(Derivation((line,)))
    assert found.verdict is Verdict.UNKNOWN
    assert "rests on itself" in found.reason


def test_a_proof_that_cites_a_statement_without_one_is_refused(verified: Verifying) -> None:
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
