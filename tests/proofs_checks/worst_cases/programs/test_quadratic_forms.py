"""Sums of vectors share what nothing changes; vectors that depend on the draw are refused wherever they hide."""

from dataclasses import FrozenInstanceError

import pytest
from flint import fmpq

import fedconvex as fc
from fedconvex.proofs_checks.symbolic.random_vectors import averaged, require_no_draw
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    Family,
    Form,
    Mixture,
    combination,
    family,
    inner,
    square,
)

u, v, nothing = family("u", 2), family("v", 2) * 3, Family()


def test_adding_nothing_changes_nothing() -> None:
    for total in (u + nothing, nothing + u, u - nothing):
        assert total == u
    assert (nothing - u).parts == {(MEAN, "u"): -1, (DEVIATION, "u"): -1}
    assert (u + v) - v == u
    assert (u - u).parts == {}
    mixed = Mixture((fmpq(1, 2), fmpq(1, 2)), (u, v))
    assert nothing + mixed == mixed + nothing == mixed
    assert u + v != u


def test_vectors_and_forms_stay_as_they_were_made() -> None:
    for one, name in ((u, "parts"), (square(u), "products")):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, {})
    before = dict(u.parts)
    assert (nothing + u) * 2 - v != u
    assert dict(u.parts) == before


def test_combinations_are_sums_of_multiples() -> None:
    one, other = inner(u, v), square(u + v)
    by_hand = one * 2 - other + square(v) * fmpq(-1, 3)
    assert combination((2, one), (-1, other), (fmpq(-1, 3), square(v))) == by_hand
    assert combination((fmpq(1), one), (-1, one)) == Form()
    assert combination((2, one), (1, other)) != by_hand


def test_a_draw_is_refused_in_every_group() -> None:
    shares = (fmpq(1, 2), fmpq(1, 2))
    require_no_draw(u)
    require_no_draw(Mixture(shares, (u, v)))
    random = averaged(u, Draws(1, 2))
    for one in (random, Mixture(shares, (u, random)), Mixture(shares, (random, v))):
        with pytest.raises(fc.InvalidInput, match="full participation"):
            require_no_draw(one)
