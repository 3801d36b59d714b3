"""A state at rest need not be one that a run reaches: what is proved of runs says nothing of it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from fedconvex.claims.claim import ClaimSetting, equal
from fedconvex.claims.terms import mean, memory, number, parameter, shared, square
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Proved

from .attacks import one_line, refused

ALPHA = parameter("alpha")
REACHED = ClaimSetting(
    method="FedDyn", method_parameters={"alpha": ALPHA}, signs={"alpha": "positive"}, example={"alpha": Fraction(1)},
    curvature=(number(0), None),
)  # fmt: skip
# FedDyn keeps h the mean of the memories; at rest h is 0, and the memories are any gradients of one point.
BALANCED = equal(square(shared("h", 0)), square(mean(memory("gradient", 0))))
INVARIANT = (("shared h", mean(memory("gradient", 0))),)
OF_RUNS = one_line(BALANCED, invariants=INVARIANT)
CITED = one_line(BALANCED, ((1, Proved("balanced")),))


def known(identifier: str):
    assert identifier == "balanced"
    return REACHED, BALANCED, OF_RUNS


def test_the_invariant_of_runs_is_proved_and_cited_of_runs() -> None:
    assert theorem(REACHED, BALANCED, OF_RUNS)
    assert theorem(REACHED, BALANCED, CITED, known)


def test_it_is_refused_of_a_state_at_rest() -> None:
    refused(replace(REACHED, rests=True), BALANCED, CITED, "rests", known)


FORGETFUL = equal(square(memory("gradient", 0)), number(0))
EVIDENT = one_line(FORGETFUL)
FIRST = replace(REACHED, first_round=True)


def test_memories_are_0_before_the_first_round_alone() -> None:
    assert theorem(FIRST, FORGETFUL, EVIDENT)
    refused(REACHED, FORGETFUL, EVIDENT, "is left")


def test_what_is_proved_of_the_first_round_says_nothing_of_others() -> None:
    cited = one_line(FORGETFUL, ((1, Proved("first")),))
    assert theorem(FIRST, FORGETFUL, cited, lambda identifier: (FIRST, FORGETFUL, EVIDENT))
    refused(REACHED, FORGETFUL, cited, "first_round", lambda identifier: (FIRST, FORGETFUL, EVIDENT))


def test_what_is_proved_of_all_rounds_holds_in_the_first() -> None:
    assert theorem(FIRST, BALANCED, CITED, known)


def test_invariants_are_not_proved_of_the_first_round() -> None:
    refused(FIRST, BALANCED, OF_RUNS, "kept by every round")


@pytest.mark.parametrize("more", [{"setting": replace(FIRST, rests=True)}, {"claim": replace(FORGETFUL, rounds="T")}])
def test_a_round_is_of_one_kind(more) -> None:
    setting = more.get("setting", replace(FIRST, signs={"T": "positive"} | FIRST.signs, counts=frozenset({"T"}),
                                          example=FIRST.example | {"T": Fraction(2)}))  # fmt: skip
    refused(setting, more.get("claim", FORGETFUL), EVIDENT, "a first round of a run, or at a fixed point")
