"""Krawczyk's theorem in use: zeros that exist are enclosed, zeros that do not exist are not."""

import flint
import numpy as np
import pytest

from fedconvex import arithmetic
from fedconvex.arithmetic.krawczyk import _inside, enclose_zero


@pytest.fixture
def balls():
    numbers = arithmetic.get("ball")
    with numbers.context():
        yield numbers


def square_minus(target):
    """g(x, y) = (x² − target, x y − 1), with derivative [[2x, 0], [y, x]]."""

    def value(w):
        x, y = w
        return np.array([x * x - target, x * y - 1], dtype=object)

    def derivative(w):
        x, y = w
        return flint.arb_mat(2, 2, [2 * x, 0, y, x])

    return value, derivative


def test_a_zero_is_enclosed_to_the_working_precision(balls):
    value, derivative = square_minus(2)
    box = enclose_zero(value, derivative, np.array([1.414213562, 0.70710678]), balls)
    root = flint.arb(2).sqrt()
    assert box[0].overlaps(root)
    assert box[1].overlaps(1 / root)
    assert max(float(b.rad()) for b in box) < 1e-15
    assert not box[0].overlaps(root + flint.arb(1) / 1000)


def test_an_image_that_touches_the_end_of_its_box_proves_nothing():
    """Krawczyk's theorem needs the image in the interior: g = 0 maps every box to itself."""
    box = flint.arb(0, 2)
    assert not _inside(box, box)
    assert _inside(flint.arb(0, 1), box)


def test_no_zero_no_box(balls):
    value, derivative = square_minus(-1)  # x² = −1
    assert enclose_zero(value, derivative, np.array([0.1, 10.0]), balls) is None


@pytest.mark.parametrize("part", ["value", "derivative"])
@pytest.mark.parametrize("endless", [flint.arb("nan"), flint.arb("inf"), flint.arb(0, "inf")], ids=str)
def test_nothing_follows_from_what_is_not_finite(balls, part, endless):
    """g(x, y) = (x, y) has the zero 0; where a value or a derivative is not known, none is proved."""

    def value(w):
        return np.array([w[0], w[1] + endless if part == "value" else w[1]], dtype=object)

    def derivative(w):
        known = all(x.is_exact() for x in w)  # the midpoint's own derivative is only a guess
        return flint.arb_mat(2, 2, [1, 0, 0, 1 if part == "value" or known else endless])

    assert enclose_zero(value, derivative, np.array([0.1, 0.1]), balls) is None


def test_a_double_zero_is_not_proved(balls):
    def value(w):
        return np.array([w[0] * w[0]], dtype=object)

    def derivative(w):
        return flint.arb_mat(1, 1, [2 * w[0]])

    assert enclose_zero(value, derivative, np.array([0.0]), balls) is None
    assert enclose_zero(value, derivative, np.array([1e-3]), balls) is None
