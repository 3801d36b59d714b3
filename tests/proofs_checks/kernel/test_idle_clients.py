"""The mean square over the clients that are not drawn: nonnegative, and what it is in terms of all clients."""

from typing import Any

import pytest

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Vector, answers, drawn, expected, gradient, last_answers, mean, parameter, square
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Idle
from fedconvex.theory import feddyn, fedprox
from fedconvex.theory.feddyn.vectors import average

from .attacks import one_line, refused

m, P = parameter("num_clients"), parameter("num_active")
BEFORE, AFTER = last_answers(0), last_answers(1)
SETTING = feddyn.lemma12sharper.setting


def idle(u: Vector, right: Any) -> tuple[Claim, Derivation]:
    """That a number is at least 0, by the mean square over the idle clients."""
    claim = at_most(0, right)
    return claim, one_line(claim, ((1, Idle(u)),))


def test_of_vectors_that_do_not_depend_on_the_draw_it_is_their_share() -> None:
    assert theorem(SETTING, *idle(BEFORE, (1 - P / m) * square(BEFORE)))
    refused(SETTING, *idle(BEFORE, (1 - 2 * P / m) * square(BEFORE)))


def test_distances_to_the_drawn_average_add_up() -> None:
    """Idle and drawn clients' distances to the drawn average are all clients' distances."""
    moved = drawn(answers)
    of_the_drawn = expected(square(moved)) - square(answers)  # −avg‖θ̃_k − avg‖², expected
    all_after = expected(square(AFTER - moved))
    assert theorem(SETTING, *idle(BEFORE - moved, all_after + P / m * of_the_drawn))
    refused(SETTING, *idle(BEFORE - moved, all_after + 2 * P / m * of_the_drawn))


@pytest.mark.parametrize("u", [AFTER, gradient(average(1)), AFTER - mean(AFTER)], ids=["memory", "gradient", "both"])
def test_vectors_of_other_kinds_are_refused(u: Vector) -> None:
    refused(SETTING, *idle(u, expected(square(u))), "two draws")


def test_other_ways_to_draw_are_refused() -> None:
    refused(fedprox.theorem4.setting, *idle(BEFORE, square(BEFORE)), "without replacement")
