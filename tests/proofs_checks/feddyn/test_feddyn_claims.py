"""FedDyn's claims: the kernel accepts each proof, and refuses it for every claim that differs in one place."""

from dataclasses import replace
from fractions import Fraction
from operator import attrgetter

import pytest
from claim_mutants import refused

import fedconvex as fc
from fedconvex.claims.claim import Claim, equal
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import answers, drawn, gradient, last_answers, mean, memory, server
from fedconvex.methods import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import feddyn as _proofs  # noqa: F401 # registers the proofs
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

pytestmark = pytest.mark.beyond_core

IDS = attrgetter("identifier")


CONSTANTS = {feddyn.theorem1: (Fraction(1240, 3), 300, 90), feddyn.theorem5: (Fraction(151, 15), 50, 200)}


@pytest.mark.parametrize("statement", CONSTANTS, ids=IDS)
@pytest.mark.parametrize("mu", [Fraction(1, 50), Fraction(9, 10)])
def test_the_cases_of_a_rate_are_multiples_of_it(statement: Statement, mu: Fraction) -> None:
    """Under its assumptions, those of the case, and no others."""
    given = {"L": Fraction(1), "mu": mu, "num_clients": Fraction(9), "num_active": Fraction(1), "T": 3,
             "D0": Fraction(2), "G": Fraction(5), "delta": Fraction(3), "spread": Fraction(7)}  # fmt: skip
    for rate, case, constant, part in zip(
        statement(**given), statement.cases, CONSTANTS[statement], statement.stated_by, strict=True
    ):
        taken = {name: given[name] for name in part.calculator.parameters}
        assert part(**taken) == constant * rate
        assert {*case} <= {*part.assumptions} <= {*statement.assumptions, *case}


def test_only_the_minimisers_gradients_have_mean_zero() -> None:
    statement = feddyn.equation3
    for claim in (
        equal(statement.claim.left, mean(gradient(server(0)))),
        equal(statement.claim.left, gradient(server(0))),
    ):
        assert refused(statement.setting, claim, Derivation((Combine(claim.left, claim.right, relation="="),)))


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        # (8) is about what every device would answer, (9) about the point after the round.
        (feddyn.equation8, equal(last_answers(1) - server(0), feddyn.equation8.claim.right)),
        (feddyn.equation8, equal(feddyn.equation8.claim.left, memory("gradient", 0) - memory("gradient", 1))),
        (feddyn.equation9, equal(mean(answers), feddyn.equation9.claim.right)),
        (feddyn.equation9, equal(drawn(answers), server(0) + feddyn.equation9.claim.right - server(1))),
        # the move itself is not its expectation
        (feddyn.lemma2, equal(feddyn.lemma2.claim.left.args[0], feddyn.lemma2.claim.right)),
    ],
    ids=["last answers", "memories", "mean of all", "before", "not expected"],
)  # fmt: skip
def test_equations_about_other_vectors_are_refused(statement: Statement, wrong: Claim) -> None:
    assert refused(statement.setting, wrong, builder_of(statement)(wrong))


@pytest.mark.parametrize("statement", [feddyn.lemma11, feddyn.lemma11sharper], ids=IDS)
def test_without_stationary_first_models_the_stored_gradients_are_not_the_models(statement: Statement) -> None:
    setting = replace(statement.setting, starts_at_own_minima=False)
    with pytest.raises(Refused, match="memory gradient differs from its invariant at the start"):
        theorem(setting, statement.claim, builder_of(statement)(statement.claim))


@pytest.mark.parametrize(
    ("statement", "method"),
    [
        (feddyn.theorem1nonconvex, fc.FedDyn(alpha=Fraction(60))),
        (feddyn.theorem4, fc.FedDyn(alpha=Fraction(60))),
        (feddyn.theorem5nonconvex, fc.FedDynOneGD(alpha=Fraction(100))),
    ],
    ids=lambda x: getattr(x, "identifier", ""),
)
def test_from_first_models_at_the_server_the_rates_without_convexity_are_false(
    statement: Statement, method: Method
) -> None:
    """θ⁰ = 0 minimises the mean of ½(θ − 1)² and ½(θ + 1)²: with θ_k⁰ = θ⁰ the bounds are 0. One device is drawn."""
    problem = fc.Quadratic([[[1]], [[1]]], [[1], [-1]])
    parameters = {"L": 1, "num_clients": 2, "num_active": 1, "T": 2, "alpha": method.alpha}
    given = {name: Fraction(x) for name, x in parameters.items()}
    run = ExactFederation(problem, method, [0], Uniform(1), given, rounds=2, first_models=[[0], [0]])
    with pytest.raises(NotOnThisRun, match="starts_at_own_minima"):
        statement.claim.on(run)
    assert replace(statement.claim, within=None).on(run).holds is False
    assert statement.claim.on(replace(run, first_models=[[1], [-1]])).holds is True
