"""Gradient steps in the place of exact solutions: what the kernel shows of any number of them, and what it refuses."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    IllFormed,
    Vector,
    answers,
    family,
    gradient,
    local_step,
    mean,
    memory,
    norm,
    number,
    parameter,
    server,
    solutions,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, LocalSteps, Proved
from fedconvex.proofs_checks.library import by, cited, rooted, with_example

from .attacks import is_false, one_line, refused

e, half = parameter("e"), Fraction(1, 2)
# Curvatures in [1, 3] and s = 1: those of the subproblem lie in [2, 4], and steps of 1/3 contract by 1/3.
SETTING = with_example(ClaimSetting(
    **running("FedSplit", stepsize=number(1)), curvature=(number(1), number(3)),
    gradient_steps={"steps": e, "stepsize": number(Fraction(1, 3))}, signs={"e": "positive"}, counts=frozenset({"e"}),
))  # fmt: skip
CENTER = 2 * server(0) - memory("z", 0)
THIRD = number(Fraction(1, 3))
u = family("u")


def contracted(power: Any = e, ratio: Any = THIRD, to: Vector = solutions) -> Claim:
    return at_most(norm(answers - to), ratio**power * norm(CENTER - to), of_client=True)


def proof(ratio: Any = THIRD, to: Vector = solutions, weight: Any = Fraction(1, 9), name: str = "u") -> Derivation:
    step = rooted(norm(local_step(u) - to), THIRD * norm(u - to), weight * by(Between(u, to)), "a step")
    return Derivation((*step, LocalSteps(to, ratio, name, cited("a step").facts)))


def test_any_number_of_steps_contracts() -> None:
    assert theorem(SETTING, contracted(), proof()).claim == contracted()


def test_the_claim_holds_on_federations() -> None:
    assert not is_false(SETTING, contracted(), 50)


@pytest.mark.parametrize(
    "claim",
    [contracted(e + 1), contracted(2 * e), contracted(ratio=number(Fraction(1, 4))), contracted(-e)],
    ids=["a step more", "twice as many", "a smaller factor", "a negative power"],
)
def test_other_claims_are_refused(claim: Claim) -> None:
    refused(SETTING, claim, proof())


def test_other_proofs_are_refused() -> None:
    claim = contracted()
    refused(SETTING, claim, proof(ratio=number(Fraction(1, 4))), "not the inequality of one step")
    refused(SETTING, claim, proof(ratio=-THIRD), "a factor that may be negative")
    refused(SETTING, claim, proof(weight=Fraction(1, 8)), "sum of the facts is not the claim")
    refused(SETTING, claim, proof(name="v"), "not the inequality of one step")


@pytest.mark.parametrize("to", [local_step(u), u, gradient(u), solutions + 0 * gradient(u)])
def test_what_the_points_are_compared_with_does_not_move(to: Vector) -> None:
    """‖u⁺ − u⁺‖ ≤ 0·‖u − u⁺‖ is true of every step, and says nothing of several."""
    steps = Derivation((LocalSteps(to, number(0), "u"),))
    refused(SETTING, at_most(norm(answers - to), 0, of_client=True), steps, "moves with the steps")


def test_without_gradient_steps_there_are_none() -> None:
    exact = replace(SETTING, gradient_steps={})
    claim = contracted(1)
    refused(exact, claim, proof(), "no gradient steps")
    line = Derivation((LocalSteps(solutions, THIRD, "u"),))
    refused(exact, claim, line, "the setting has no gradient steps")
    descent = replace(SETTING, method="FedGD", method_parameters={"stepsize": number(1), "local_steps": number(1)})
    refused(descent, claim, proof(), "a solver that is not exact")


def test_one_step_and_two_are_what_they_say() -> None:
    for steps, point in ((1, local_step(CENTER)), (2, local_step(local_step(CENTER)))):
        setting = replace(SETTING, gradient_steps={**SETTING.gradient_steps, "steps": number(steps)})
        claim = equal(answers, point)
        at_once = one_line(claim)
        theorem(setting, claim, at_once)
        other = replace(setting, gradient_steps={**setting.gradient_steps, "steps": number(3 - steps)})
        refused(other, claim, at_once, "the two vectors differ")
        refused(SETTING, claim, at_once, "the two vectors differ")
        theorem(setting, contracted(steps), proof())
        refused(setting, contracted(steps + 1), proof(), "not the claim")


def test_a_step_is_the_gradient_step_of_the_subproblem() -> None:
    claim = equal(local_step(u), u - (gradient(u) + (u - CENTER)) / 3)
    theorem(SETTING, claim, one_line(claim))


@pytest.mark.parametrize("stepsize", [number(0), number(-1), parameter("e") - 2])
def test_a_stepsize_is_positive(stepsize: Any) -> None:
    setting = with_example(replace(SETTING, gradient_steps={"steps": e, "stepsize": stepsize}))
    refused(setting, contracted(), proof(), "may be 0 or negative")


@pytest.mark.parametrize("steps", [number(0), number(half), number(21)])
def test_a_number_of_steps_is_a_count(steps: Any) -> None:
    setting = replace(SETTING, gradient_steps={"steps": steps, "stepsize": THIRD})
    refused(setting, contracted(1), proof(), "local steps")


def test_a_setting_says_both() -> None:
    for wrong in ({"steps": e}, {"steps": e, "stepsize": THIRD, "more": THIRD}):
        with pytest.raises(IllFormed, match="do not define the clients' local solutions"):
            replace(SETTING, gradient_steps=wrong)
    with pytest.raises(IllFormed, match="do not define the clients' local solutions"):
        replace(SETTING, answers="error", inexactness=number(1))


def test_a_statement_about_other_steps_is_not_cited() -> None:
    other = replace(SETTING, gradient_steps={"steps": e, "stepsize": number(Fraction(1, 4))})
    citing, reason = one_line(contracted(), ((1, Proved("other")),)), "assumes something else: its gradient_steps"
    refused(other, contracted(), citing, reason, lambda _: (SETTING, contracted(), proof()))


s, K = parameter("s"), parameter("K")
GRADIENT_DESCENT = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": s, "local_steps": K}, signs={"s": "positive", "K": "positive"},
    counts=frozenset({"K"}),
))  # fmt: skip
local_gradients = Vector("local gradients")


def test_any_number_of_local_steps_moves_by_the_sum_of_their_gradients() -> None:
    claim = equal(server(1), server(0) - s * mean(local_gradients))
    assert theorem(GRADIENT_DESCENT, claim, one_line(claim))


@pytest.mark.parametrize(
    "moved", [server(0) - s * mean(gradient(server(0))), server(0) - K * s * mean(local_gradients), server(0)]
)
def test_it_moves_by_nothing_else(moved: Vector) -> None:
    claim = equal(server(1), moved)
    refused(GRADIENT_DESCENT, claim, one_line(claim), "differ")
