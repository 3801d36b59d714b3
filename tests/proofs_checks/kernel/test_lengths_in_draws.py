"""Lengths of vectors that depend on the draw: what the kernel knows of them, and what would confuse it."""

from fractions import Fraction

import pytest

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most
from fedconvex.claims.terms import (
    answers,
    drawn,
    expected,
    gradient,
    inner,
    mean,
    norm,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel.proofs import CauchySchwarz, MeanLength, Nonnegative, Triangle

from .attacks import accepted, one_line, refused

mu, K = parameter("mu"), parameter("K")
SETTING = ClaimSetting(
    method="FedProx", method_parameters={"mu": mu}, signs={"mu": "positive", "K": "positive"}, counts=frozenset(("K",)),
    draws=DrawScheme("independent", K), example={"mu": Fraction(1), "K": Fraction(2)},
)  # fmt: skip
fixed = mean(answers) - server(0)
step = server(1) - server(0)
off = server(1) - mean(answers)


E_OFF, E_STEP = expected(norm(off)), expected(norm(step))
TRIANGLE = Triangle(fixed, off, off)
JENSEN = MeanLength(off)
ROOT = expected(square(off)).sqrt()


def test_the_mean_length_and_the_triangle_inequality() -> None:
    assert accepted(SETTING, at_most(E_OFF, ROOT), ((1, JENSEN),))
    assert accepted(SETTING, at_most(2 * norm(fixed) * E_OFF, 2 * norm(fixed) * ROOT), ((2 * norm(fixed), JENSEN),))
    product = expected(norm(step) * norm(off))
    assert accepted(SETTING, at_most(product, norm(fixed) * E_OFF + expected(square(off))), ((1, TRIANGLE),))
    assert accepted(SETTING, at_most(number(0), product), ((1, Nonnegative(product)),))
    assert accepted(SETTING, at_most(expected(norm(off) * norm(off)), expected(square(off))))


WRONG = {
    "the mean length, above": (at_most(ROOT, E_OFF), (1, JENSEN)),
    "half the root": (at_most(E_OFF, ROOT / 2), (1, JENSEN)),
    "the product of means": (at_most(E_STEP * E_OFF, norm(fixed) * E_OFF + expected(square(off))), (1, TRIANGLE)),
    "the square of the mean": (at_most(expected(square(off)), E_OFF * E_OFF), (0, JENSEN)),
    "the square of the mean is that of the root": (at_most(E_OFF**2, expected(square(off))), (0, JENSEN)),
    "a mean and a length in the draw": (at_most(expected(E_OFF * norm(off)), expected(square(off))), (0, JENSEN)),
    "outside an expectation": (at_most(norm(off), norm(off)), (0, JENSEN)),
    "a product with an inner product": (
        at_most(expected(norm(off) * square(off)), expected(norm(off)) * expected(square(off))), (0, JENSEN)),
    "a product with a value": (at_most(expected(norm(off) * value(server(1))), number(0)), (0, JENSEN)),
    "a product with a sum": (
        at_most(expected((norm(off) + square(off)) * norm(off)), expected(square(off))), (0, JENSEN)),
    "a larger third side": (at_most(norm(fixed) * E_OFF + expected(square(off)), expected(norm(step) * norm(off))),
                            (1, TRIANGLE)),
    "another factor": (at_most(expected(norm(step) * norm(off)), norm(fixed) * E_OFF + expected(square(off))),
                       (1, Triangle(fixed, off, step))),
    "Cauchy and Schwarz of root mean squares": (
        at_most(expected(inner(step, off)), expected(norm(step) * norm(off))), (1, CauchySchwarz(step, off))),
    "the clients' vectors at a random point": (
        at_most(expected(norm(gradient(server(1)))), number(0)), (0, JENSEN)),
    "a negative multiplier": (at_most(-E_OFF, -ROOT), (-1, JENSEN)),
    "the length of a drawn average": (at_most(E_OFF, norm(drawn(answers))), (1, JENSEN)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_nothing_else_is_shown(name: str) -> None:
    claim, used = WRONG[name]
    refused(SETTING, claim, one_line(claim, (used,)))


def test_no_triangle_of_clients_vectors_that_depend_on_the_draw() -> None:
    apart = answers - server(1)
    claim = at_most(number(0), number(1))
    fact = Triangle(apart, off, off)
    refused(SETTING, claim, one_line(claim, ((0, fact),)))
