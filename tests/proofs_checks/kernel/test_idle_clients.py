"""The mean square over the clients that are not drawn: nonnegative, and what it is in terms of all clients."""

import pytest

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Vector, answers, drawn, expected, gradient, last_answers, mean, parameter, square
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Idle, facts
from fedconvex.theory import feddyn, fedprox
from fedconvex.theory.feddyn.vectors import average

m, P = parameter("num_clients"), parameter("num_active")
BEFORE, AFTER = last_answers(0), last_answers(1)
SETTING = feddyn.lemma12sharper.setting


def idle(u: Vector, claim: Claim, setting=SETTING) -> bool:
    line = Combine(claim.left, claim.right, facts((1, Idle(u))))
    return theorem(setting, claim, Derivation((line,))).claim == claim


def test_of_vectors_that_do_not_depend_on_the_draw_it_is_their_share() -> None:
    assert idle(BEFORE, at_most(0, (1 - P / m) * square(BEFORE)))
    with pytest.raises(Refused):
        idle(BEFORE, at_most(0, (1 - 2 * P / m) * square(BEFORE)))


def test_distances_to_the_drawn_average_add_up() -> None:
    """Idle and drawn clients' distances to the drawn average are all clients' distances."""
    moved = drawn(answers)
    of_the_drawn = expected(square(moved)) - square(answers)  # −avg‖θ̃_k − avg‖², expected
    all_after = expected(square(AFTER - moved))
    assert idle(BEFORE - moved, at_most(0, all_after + P / m * of_the_drawn))
    with pytest.raises(Refused):
        idle(BEFORE - moved, at_most(0, all_after + 2 * P / m * of_the_drawn))


@pytest.mark.parametrize("u", [AFTER, gradient(average(1)), AFTER - mean(AFTER)], ids=["memory", "gradient", "both"])
def test_vectors_of_other_kinds_are_refused(u: Vector) -> None:
    with pytest.raises(Refused, match="two draws"):
        idle(u, at_most(0, expected(square(u))))


def test_other_ways_to_draw_are_refused() -> None:
    with pytest.raises(Refused, match="without replacement"):
        idle(BEFORE, at_most(0, square(BEFORE)), fedprox.theorem4.setting)
