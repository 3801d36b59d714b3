"""FedSplit's claims and lemmas: the kernel accepts each proof, and refuses it for claims that differ in one place."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import fedsplit_lemmas
import pytest
from claim_mutants import mutants, mutated_proofs, refused

from fedconvex.claims.claim import Claim, equal
from fedconvex.claims.terms import (
    Vector,
    answers,
    gradient,
    local_gradients,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    parts,
    server,
)
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.fedsplit import claimed_theorems, divergence, one_round
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Root
from fedconvex.proofs_checks.library import Lemma, Parts, concluding
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import vanishes

pytestmark = pytest.mark.beyond_core

PROVED = [s for s in fedsplit.PAPER.everything if builder_of(s) is not None]
RESTING = [s for s in PROVED if s.setting.rests]


def named_lemmas() -> Iterator[tuple[str, Lemma]]:
    for name, found in vars(fedsplit_lemmas).items():
        lemmas = found if type(found) is tuple else (found,)
        yield from ((f"{name}{k or ''}", lemma) for k, lemma in enumerate(lemmas) if type(lemma) is Lemma)


LEMMAS = dict(named_lemmas())
INEQUALITIES = {name: lemma for name, lemma in LEMMAS.items() if not lemma.setting.rests}


def at_once(claim: Claim) -> Derivation:
    """Both sides are the same on the board."""
    return Derivation((concluding(claim, Parts()),))


def about(claim: Claim, other: Claim, proof: Derivation) -> Derivation:
    """The proof of the claim, with its lines about the other one."""
    sides: dict[Any, Any] = {(claim.left, claim.right): (other.left, other.right)}
    if isinstance(proof.lines[-1], Root):
        sides[claim.left**2, claim.right**2] = (other.left**2, other.right**2)

    def changed(line: Any) -> Any:
        left, right = sides.get((line.left, line.right), (line.left, line.right))
        return replace(line, left=left, right=right)

    return replace(proof, lines=tuple(map(changed, proof.lines)))


# ---- accepted


@pytest.mark.parametrize("name", LEMMAS)
def test_the_kernel_proves_the_lemma(name: str) -> None:
    lemma = LEMMAS[name]
    assert lemma.theorem().claim == lemma.claim


# ---- refused: inequalities


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", INEQUALITIES)
def test_an_inequality_that_differs_in_one_place_is_refused(name: str) -> None:
    lemma, tried = LEMMAS[name], 0
    for claim in mutants(lemma.claim):
        tried += 1
        assert refused(lemma.setting, claim, about(lemma.claim, claim, lemma.proof)), claim
    assert tried


@pytest.mark.parametrize("name", INEQUALITIES)
def test_a_proof_that_differs_in_one_multiplier_is_refused(name: str) -> None:
    lemma = LEMMAS[name]
    proofs = list(mutated_proofs(lemma.proof))
    assert proofs
    assert all(refused(lemma.setting, lemma.claim, proof) for proof in proofs)


def test_a_round_needs_that_the_server_is_the_mean() -> None:
    lemma = fedsplit_lemmas.ROUND
    assert refused(lemma.setting, lemma.claim, replace(lemma.proof, invariants=()))
    for always in (2 * mean(memory("z", 0)), minimiser, mean(gradient(server(0)))):
        assert refused(lemma.setting, lemma.claim, replace(lemma.proof, invariants=(("server", always),)))


def test_a_round_contracts_only_with_the_matched_stepsize() -> None:
    lemma = fedsplit_lemmas.ROUND
    given = lemma.setting.method_parameters
    twice = {**given, "stepsize": 2 * given["stepsize"]}
    assert refused(replace(lemma.setting, method_parameters=twice), lemma.claim, lemma.proof)


def test_a_condition_number_below_one_has_no_factor() -> None:
    """√κ ≥ 1 is used, and follows from κ ≥ 1, not from κ ≥ 1/2."""
    lemma = fedsplit_lemmas.ROUND
    kappa = parameter("kappa")
    weaker = replace(lemma.setting, conditions=((kappa, ">=", number(Fraction(1, 2))),))
    assert refused(weaker, lemma.claim, lemma.proof)


# ---- refused: fixed points


@pytest.mark.parametrize("statement", RESTING, ids=lambda s: s.identifier)
def test_it_holds_at_fixed_points_only(statement) -> None:
    proof = builder_of(statement)(statement.claim)
    assert refused(replace(statement.setting, rests=False), statement.claim, proof)


@pytest.mark.parametrize("statement", RESTING, ids=lambda s: s.identifier)
def test_other_vectors_do_not_vanish_at_fixed_points(statement) -> None:
    others: list[Vector] = [server(0), gradient(server(0)), gradient(server(0)) - mean(gradient(server(0)))]
    # A fixed point of FedProx, or of FedGD with two steps, is no minimiser; clients stop apart, also FedGD's.
    if statement.setting.method != "FedSplit":
        others += [mean(gradient(server(0))), answers - server(0)]
    for vector in others:
        claim = vanishes(vector)
        assert refused(statement.setting, claim, Derivation((concluding(claim, Parts()),)))


def test_two_local_steps_of_fedgd_rest_elsewhere() -> None:
    lemma = fedsplit_lemmas.FEDGD_RESTS[1]
    for vector in (mean(gradient(server(0))), mean(gradient(server(0) - parameter("stepsize") * gradient(server(0))))):
        assert refused(lemma.setting, vanishes(vector), at_once(vanishes(vector)))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_sum_of_the_local_gradients_is_what_it_says(place: int) -> None:
    """For e = 1, 2, 3 the term equals Σ_i ∇f(G^{i−1}(x)), and for no other e."""
    setting = replace(fedsplit_lemmas.FEDGD_RESTS[place].setting, rests=False)
    for steps in (1, 2, 3):
        first, *others = fedsplit_lemmas.gradients_on_the_way(steps)
        claim = equal(local_gradients, sum(others, start=first))
        right = Derivation((Combine(claim.left, claim.right, relation="="),))
        assert refused(setting, claim, right) == (steps != place + 1)


def test_any_number_of_local_steps_is_not_one_step() -> None:
    setting = fedsplit.equation4.setting
    claim = equal(answers, server(0) - parameter("stepsize") * gradient(server(0)))
    assert refused(setting, claim, at_once(claim))
    summed = equal(answers, server(0) - parameter("stepsize") * local_gradients)
    theorem(setting, summed, Derivation((Combine(summed.left, summed.right, relation="="),)))


def test_a_resting_state_has_no_invariants_and_no_draws() -> None:
    statement = fedsplit.proposition3
    proof = builder_of(statement)(statement.claim)
    assert refused(statement.setting, statement.claim, replace(proof, invariants=one_round.INVARIANTS))
    assert refused(replace(statement.setting, large_gradient=number(1)), statement.claim, proof)


def test_a_mean_is_not_a_minimiser_of_functions_that_are_not_convex() -> None:
    lemma = fedsplit_lemmas.FEDSPLIT_IS_OPTIMAL
    assert refused(replace(lemma.setting, curvature=(number(-1), None)), lemma.claim, lemma.proof)


# ---- refused: bounds, and equations that hold everywhere


RUNS = {"fedgd": claimed_theorems.FEDGD_ROUNDS, "divergence": divergence.DIVERGES}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RUNS)
def test_another_claim_of_a_run_is_refused(name: str) -> None:
    lemma = RUNS[name]
    assert lemma.theorem().claim == lemma.claim
    changed = list(mutants(lemma.claim))
    assert len(changed) >= 10
    assert all(refused(lemma.setting, claim, lemma.proof) for claim in changed)


@pytest.mark.parametrize("factor", [Fraction(7, 8), Fraction(9, 8)])
def test_the_accuracy_after_other_rounds_is_refused(factor: Fraction) -> None:
    """The price of the regularisation and the accuracy each have the factor ½."""
    statement = fedsplit.theorem2corrected
    price, accuracy = statement.claim.right.args
    proof = builder_of(statement)(statement.claim)
    for right in (factor * price + accuracy, price + factor * accuracy, price, accuracy):
        assert refused(statement.setting, replace(statement.claim, right=right), proof)
    for exponential in (p for p in parts(statement.claim.right) if p.head == "exp"):
        other = statement.claim.right.put(exponential, (factor * exponential.args[0]).exp())
        assert refused(statement.setting, replace(statement.claim, right=other), proof)


def test_the_gap_after_other_rounds_is_refused() -> None:
    """Theorem 2 round by round has one power, of 2t: not of t, and not at another stepsize's fixed point."""
    statement = fedsplit.theorem2roundbyround
    proof = builder_of(statement)(statement.claim)
    t = parameter("t")
    fewer = replace(statement.claim, right=statement.claim.right.put(2 * t, t))
    assert fewer != statement.claim
    assert refused(statement.setting, fewer, proof)
    assert refused(statement.setting, statement.claim, proof.cases.above)
    assert refused(statement.setting, statement.claim, replace(proof.cases.below, of_round=()))
    convex_no_more = replace(statement.setting, curvature=(number(-1), statement.setting.curvature[1]))
    assert refused(convex_no_more, statement.claim, proof)


def test_both_cases_are_needed() -> None:
    statement = fedsplit.theorem1sharper
    proof = builder_of(statement)(statement.claim)
    cases = proof.cases
    wrong = (
        replace(cases, above=cases.below), replace(cases, below=cases.above), replace(cases, below=Derivation()),
        replace(cases, more=cases.less, less=cases.more), replace(cases, more=number(1), less=number(1)),
        replace(cases, less=number(0)),
    )  # fmt: skip
    for changed in wrong:
        assert refused(statement.setting, statement.claim, Derivation(cases=changed))
    assert refused(statement.setting, statement.claim, cases.above)
    assert refused(statement.setting, statement.claim, replace(proof, lines=cases.above.lines))
