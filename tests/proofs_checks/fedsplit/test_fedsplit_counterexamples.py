"""FedSplit's refuted claims are false on exact federations of their settings; the corrected ones hold there."""

from dataclasses import replace
from fractions import Fraction

import pytest

from fedconvex.claims.agreement import at_terms
from fedconvex.claims.claim import at_most
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.terms import after, minimiser, norm, number, server
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.proofs_checks.falsification import falsify, falsify_claim
from fedconvex.proofs_checks.fedsplit import counterexamples, divergence
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit import one_run
from fedconvex.theory.fedsplit.vectors import within

FEDERATIONS = counterexamples.of_statements()


@pytest.mark.parametrize("statement", FEDERATIONS, ids=lambda s: s.identifier)
def test_the_claim_is_false_in_its_setting(statement: Statement) -> None:
    federation = FEDERATIONS[statement]
    assert offences(statement.setting, federation) == []
    assert statement.claim.on(federation).holds is False


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", ["equation17", "equation19"])
def test_random_federations_break_it_and_not_the_corrected_one(name: str) -> None:
    printed, corrected = getattr(fedsplit, name), getattr(fedsplit, f"{name}corrected")
    assert falsify(printed, tries=100) is not None
    assert falsify(corrected, tries=100) is None
    assert corrected.claim.on(FEDERATIONS[printed]).holds is True


@pytest.mark.parametrize("times", [1, 10, 100])
def test_no_constant_saves_theorem_2(times: int) -> None:
    """The same ε, L and distance with more and more times the count of rounds: the gap stays above 0.4."""
    federation = counterexamples.weak_regularisation(times)
    found = within(times, at_terms(fedsplit.theorem2.calculator)).on(federation)
    assert found.holds is False
    assert found.left > Fraction(2, 5)
    assert found.right == Fraction(1, 9)


def test_what_holds_holds_there_too() -> None:
    found = fedsplit.theorem2roundbyround.claim.on(counterexamples.weak_regularisation(10))
    assert found.holds is True


# ---- Corollary 1 and Theorem 1 in one run


@pytest.mark.beyond_core  # takes seconds
def test_the_two_in_one_run_are_false() -> None:
    federation = counterexamples.diverging()
    assert offences(one_run.SETTING, federation) == []
    assert one_run.together().on(federation).holds is False
    assert falsify_claim(one_run.together(), one_run.SETTING, tries=400) is not None


def test_each_alone_is_true_in_that_run() -> None:
    """Corollary 1 in each of the rounds; Theorem 1 has no b for all of them."""
    federation = counterexamples.diverging()
    assert fedsplit.corollary1.claim.on(federation).holds is True
    fewer = replace(federation, rounds=1, parameters={**federation.parameters, "t": Fraction(1)})
    assert one_run.together().on(fewer).holds is True


@pytest.mark.parametrize("rounds", [1, 4, 40])
def test_the_distance_grows_by_a_quarter_in_every_round(rounds: int) -> None:
    federation = counterexamples.diverging()
    longer = replace(federation, rounds=rounds, parameters={**federation.parameters, "t": Fraction(rounds)})
    distance = after(norm(server(0) - minimiser))
    found = at_most(distance, number(Fraction(5, 4)) ** rounds, rounds="t").on(longer)
    assert found.holds is True
    assert found.left == found.right
    assert one_run.diverges(Fraction(9)) == Fraction(5, 4)
    assert divergence.AWAY.on(longer).holds is True


def test_the_kernel_proves_that_every_such_run_diverges() -> None:
    lemma = divergence.DIVERGES
    assert lemma.theorem().claim == divergence.AWAY
    flatter = replace(lemma.setting, conditions=lemma.setting.conditions[:-1])
    two_steps = replace(lemma.setting, gradient_steps={**lemma.setting.gradient_steps, "steps": number(2)})
    other_clients = replace(lemma.setting, curvature=(divergence.mu, divergence.L))
    for setting in (flatter, two_steps, other_clients):
        with pytest.raises(Refused):
            theorem(setting, lemma.claim, lemma.proof)


def test_more_local_steps_stay_near() -> None:
    """Where e = 1 diverges, e = 2 does not leave the first bound on this client."""
    federation = counterexamples.diverging()
    given = {**federation.parameters, "local_steps": Fraction(2), "t": Fraction(20)}
    solver = GradientDescent(steps=2, stepsize=Fraction(1, 8))
    longer = replace(federation, local_solver=solver, rounds=20, parameters=given)
    assert one_run.together().on(longer).holds is True
