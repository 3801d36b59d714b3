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
