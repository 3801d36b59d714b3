"""A state at rest need not be one that a run reaches: what is proved of runs says nothing of it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from fedconvex.claims.claim import ClaimSetting, equal
from fedconvex.claims.terms import mean, memory, number, parameter, shared, square
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Proved

ALPHA = parameter("alpha")
REACHED = ClaimSetting(
    method="FedDyn", method_parameters={"alpha": ALPHA}, signs={"alpha": "positive"}, example={"alpha": Fraction(1)},
    curvature=(number(0), None),
)  # fmt: skip
# FedDyn keeps h the mean of the memories; at rest h is 0, and the memories are any gradients of one point.
BALANCED = equal(square(shared("h", 0)), square(mean(memory("gradient", 0))))
INVARIANT = (("shared h", mean(memory("gradient", 0))),)
OF_RUNS = Derivation((Combine(BALANCED.left, BALANCED.right, relation="="),), INVARIANT)
CITED = Derivation((Combine(BALANCED.left, BALANCED.right, ((number(1), Proved("balanced")),), relation="="),))


def known(identifier: str):
    assert identifier == "balanced"
    return REACHED, BALANCED, OF_RUNS


def test_the_invariant_of_runs_is_proved_and_cited_of_runs() -> None:
    assert theorem(REACHED, BALANCED, OF_RUNS)
    assert theorem(REACHED, BALANCED, CITED, known)


def test_it_is_refused_of_a_state_at_rest() -> None:
    with pytest.raises(Refused, match="rests"):
        theorem(replace(REACHED, rests=True), BALANCED, CITED, known)


FORGETFUL = equal(square(memory("gradient", 0)), number(0))
EVIDENT = Derivation((Combine(FORGETFUL.left, FORGETFUL.right, relation="="),))
FIRST = replace(REACHED, first_round=True)


def test_memories_are_0_before_the_first_round_alone() -> None:
    assert theorem(FIRST, FORGETFUL, EVIDENT)
    with pytest.raises(Refused, match="is left"):
        theorem(REACHED, FORGETFUL, EVIDENT)


def test_what_is_proved_of_the_first_round_says_nothing_of_others() -> None:
    cited = Derivation((Combine(FORGETFUL.left, FORGETFUL.right, ((number(1), Proved("first")),), relation="="),))
    assert theorem(FIRST, FORGETFUL, cited, lambda identifier: (FIRST, FORGETFUL, EVIDENT))
    with pytest.raises(Refused, match="first_round"):
        theorem(REACHED, FORGETFUL, cited, lambda identifier: (FIRST, FORGETFUL, EVIDENT))


def test_what_is_proved_of_all_rounds_holds_in_the_first() -> None:
    assert theorem(FIRST, BALANCED, CITED, known)


def test_invariants_are_not_proved_of_the_first_round() -> None:
    with pytest.raises(Refused, match="kept by every round"):
        theorem(FIRST, BALANCED, OF_RUNS)


@pytest.mark.parametrize("more", [{"setting": replace(FIRST, rests=True)}, {"claim": replace(FORGETFUL, rounds="T")}])
def test_a_round_is_of_one_kind(more) -> None:
    setting = more.get("setting", replace(FIRST, signs={"T": "positive"} | FIRST.signs, counts=frozenset({"T"}),
                                          example=FIRST.example | {"T": Fraction(2)}))  # fmt: skip
    with pytest.raises(Refused, match="a first round of a run, or at a fixed point"):
        theorem(setting, more.get("claim", FORGETFUL), EVIDENT)
