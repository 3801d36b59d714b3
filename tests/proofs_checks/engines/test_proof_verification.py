"""What counts as proved: nothing on credit, no circle, no other statement's verdict."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy

from fedconvex.proofs_checks import proof as proofs
from fedconvex.proofs_checks.engines.checks import Agreement, Assumed, Combination, Inequality
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.proof import Claim, Proof, Role, Step, conclusion
from fedconvex.proofs_checks.verification import verify, verify_all
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox
from fedconvex.verdicts import Verdict

x = sympy.Symbol("x", nonnegative=True)
TRUE, FALSE = Claim(0, "<=", x, name="true"), Claim(x, "<=", 0, name="false")
FROM_1 = Domain((sympy.Ge(x, 1),))


@pytest.fixture
def provable() -> Iterator[dict[str, Any]]:
    """Builders by identifier, in the place of the real ones; each statement's proof is made anew."""
    verify("fedprox.equation3")  # loads the real ones
    known, made = dict(proofs._BUILDERS), dict(proofs._BUILT)
    proofs._BUILT.clear()
    yield proofs._BUILDERS
    proofs._BUILDERS.clear()
    proofs._BUILDERS.update(known)
    proofs._BUILT.clear()
    proofs._BUILT.update(made)


def step(claim: Claim, by: Any, **more: Any) -> Step:
    return Step("shown", "because", claim, by, **more)


def with_steps(*steps: Step, **more: Any) -> Any:
    return lambda statement: Proof(steps, **more)


def verdict_of(provable: dict[str, Any], builder: Any, statement: Statement = fedprox.equation3) -> Verdict:
    provable[statement.identifier] = builder
    return verify(replace(statement)).verdict


def test_one_proved_step_is_enough(provable) -> None:
    assert verdict_of(provable, with_steps(step(TRUE, Inequality()))) is Verdict.PROVED


@pytest.mark.parametrize("steps", [
    (),
    (step(TRUE, Inequality(), role=Role.PRINTED),),
    (step(TRUE, Inequality()), step(FALSE, Inequality())),
    (step(FALSE, Inequality()), step(TRUE, Inequality())),
    (step(TRUE, Inequality()), step(TRUE, Assumed("it"))),
    # resting on what is proved nowhere, later, by assumption, or by instances only
    (step(FALSE, Combination(facts=((1, FALSE.fact),))),),
    (step(FALSE, Combination(facts=((1, FALSE.fact),))), step(FALSE, Inequality())),
    (step(TRUE, Combination(facts=((1, TRUE.fact),))), step(TRUE, Inequality())),
    (step(FALSE, Assumed("it"), role=Role.PRINTED), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    (step(FALSE, Inequality(), role=Role.PRINTED), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    (step(FALSE, Agreement(lambda n: (n, n))), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    # a claim that is another one than what was proved: of another domain, relation, side
    (step(replace(TRUE, right=x + 1), Inequality()), step(TRUE, Combination(facts=((1, TRUE.fact),)))),
    (step(replace(TRUE, domain=FROM_1), Inequality()), step(TRUE, Combination(facts=((1, TRUE.fact),)))),
])  # fmt: skip
def test_not_proved(provable, steps) -> None:
    assert verdict_of(provable, with_steps(*steps)) is not Verdict.PROVED


def test_a_false_claim_in_the_name_of_another_statement(provable) -> None:
    forged = replace(FALSE, source="fedprox.equation9")  # which assumes nothing
    assert verdict_of(provable, with_steps(step(FALSE, Combination(facts=((1, forged.fact),))))) is Verdict.UNKNOWN
    real = conclusion(fedprox.equation5)
    scaled = replace(real, right=real.right / 2)
    by = Combination(facts=((1, scaled.fact),))
    assert verdict_of(provable, with_steps(step(replace(scaled, source=""), by))) is Verdict.UNKNOWN


def test_a_proof_that_rests_on_itself(provable) -> None:
    def circular(statement: Statement) -> Proof:
        claim = conclusion(fedprox.equation3)
        return Proof((step(replace(claim, source=""), Combination(facts=((1, claim.fact),))),))

    provable["fedprox.equation3"] = circular
    found = verify(fedprox.equation3)
    assert found.verdict is Verdict.UNKNOWN
    assert "rests on itself" in found.reason


def test_two_proofs_that_rest_on_each_other(provable) -> None:
    def resting_on(other: Statement) -> Any:
        def builder(statement: Statement) -> Proof:
            claim = conclusion(other)
            return Proof((step(replace(claim, source=""), Combination(facts=((1, claim.fact),))),))

        return builder

    provable["fedprox.equation3"] = resting_on(fedprox.equation5)
    provable["fedprox.equation5"] = resting_on(fedprox.equation3)
    for found in verify_all([fedprox.equation3, fedprox.equation5]):
        assert found.verdict is Verdict.UNKNOWN
        assert "rests on itself" in found.reason


def test_a_changed_statement_does_not_get_the_verdict_of_the_real_one() -> None:
    def formula(*, gamma: Any, client_gradient: Any) -> Any:
        return gamma * client_gradient / 2

    wrong = replace(fedprox.equation3, calculator=replace(fedprox.equation3.calculator, formula=formula))
    verdicts = [found.verdict for found in verify_all([fedprox.equation3, wrong, fedprox.equation3])]
    assert verdicts == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED]


def test_a_refutation_needs_its_witness(provable) -> None:
    refuted = with_steps(refutation=Witness("2 > 1", "left, right = 2, 1"))
    assert verdict_of(provable, refuted) is Verdict.REFUTED
    assert verdict_of(provable, with_steps(refutation=Witness("1 > 2", "left, right = 1, 2"))) is Verdict.UNKNOWN
    both = with_steps(step(TRUE, Inequality()), refutation=Witness("1 > 2", "left, right = 1, 2"))
    assert verdict_of(provable, both) is Verdict.UNKNOWN
