"""Gradients at points that depend on the draw: unknown in every draw, so that only pointwise inequalities hold."""

from typing import Any

import pytest

from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.terms import (
    Vector,
    answers,
    drawn,
    expected,
    gradient,
    inner,
    mean,
    memory,
    parameter,
    server,
    shared,
    square,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import average

from .attacks import one_line, refused, same

L = parameter("L")
SETTING = feddyn.lemma11.setting
INVARIANTS = (("shared h", mean(memory("gradient", 0))),)
AFTER, BEFORE = average(1), average(0)
THERE = gradient(AFTER)


def proof(claim: Claim, *given: Any) -> Derivation:
    return one_line(claim, given, invariants=INVARIANTS)


def test_smoothness_holds_in_every_draw() -> None:
    moved = at_most(expected(square(THERE - gradient(BEFORE))), L**2 * expected(square(AFTER - BEFORE)))
    lipschitz = Between(AFTER, BEFORE, -L, L)
    assert theorem(SETTING, moved, proof(moved, (1, lipschitz)))
    half = at_most(moved.left, moved.right / 2)
    refused(SETTING, half, proof(half, (1, lipschitz)))


def test_shared_vectors_see_the_mean_over_the_clients() -> None:
    """Exact, since averages over the drawn clients and over the memories that they replace are shared, too."""
    change = memory("gradient", 1) - memory("gradient", 0)
    for u in (change, memory("gradient", 1), drawn(answers), server(1)):
        assert theorem(
            SETTING, *same(expected(inner(mean(THERE), u)), expected(inner(mean(THERE), mean(u))), INVARIANTS)
        )
    of_h = expected(inner(mean(THERE), shared("h", 1)))
    assert theorem(SETTING, *same(of_h, expected(inner(THERE, mean(memory("gradient", 1)))), INVARIANTS))


@pytest.mark.parametrize(
    "claim",
    [
        # each would hold if the gradient did not depend on the draw
        equal(expected(inner(THERE, AFTER - expected(AFTER))), expected(inner(THERE, BEFORE - BEFORE))),
        equal(expected(inner(THERE, memory("gradient", 1))), expected(inner(THERE, expected(memory("gradient", 1))))),
        # and these if all clients' gradients were the same
        equal(expected(square(THERE)), expected(square(mean(THERE)))),
        equal(expected(inner(THERE, answers)), expected(inner(mean(THERE), mean(answers)))),
    ],
    ids=["noise", "replaced", "square", "product"],
)
def test_nothing_else_is_known_of_them(claim: Claim) -> None:
    refused(SETTING, claim, proof(claim), "is left")


@pytest.mark.parametrize("of", [expected(THERE), drawn(THERE)], ids=["expectation", "average over the drawn"])
def test_a_vector_that_is_not_known_is_refused(of: Vector) -> None:
    refused(SETTING, *same(expected(inner(of, BEFORE)), expected(inner(of, BEFORE)), INVARIANTS))
