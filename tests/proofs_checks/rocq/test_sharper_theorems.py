"""Our sharper forms of FedDyn's and FedProx's theorems, and Theorem 1 with its constant: long formulas, many cases."""

from dataclasses import replace

import pytest

from fedconvex.claims.terms import Number, Vector, inner, number, parameter
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.rocq import substitutions
from fedconvex.proofs_checks.rocq.cited_claims import InCase, pinned
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.steps import with_forms
from fedconvex.theory import statement

from .theorem_folders import theorem_of


@pytest.mark.slow
def test_a_case_with_one_client_cites_the_theorem_about_any_number() -> None:
    """Its number of clients is 1, and maxima are decided; the theorem itself has them, and each hypothesis once."""
    text, theorem = exported(statement("feddyn.theorem2sharper")).text, theorem_of("feddyn.theorem2sharper")
    assert "replace (Rmax (1 - 1) 1) with (1) in claimed" in text
    assert "replace (Rmax (num_clients - 1) 1) with (num_clients - 1) in claimed" in text
    assert "draw_without_replacement W C 1 1," in text
    assert "draw_without_replacement W C num_active num_clients," in theorem
    assert "((1 / 1) * mean_of_drawn" not in theorem
    assert theorem.count("(next w past) = ") == 1
    assert "(Rmax (num_clients - 1) 1)" in theorem


@pytest.mark.slow
def test_squares_with_a_long_divisor_are_a_form_without_it() -> None:
    text = exported(statement("feddyn.lemma8sharper")).text
    assert text.count("apply form_nonneg") == 4
    assert "From FedConvex Require Import Forms.\n" in text
    assert "Forms" not in exported(statement("feddyn.lemma8")).text


def test_two_squares_are_the_form_that_they_came_from() -> None:
    """a‖u + t·v‖² + e‖v‖² with t = b/a and e = d − b²/a, of which only a long divisor a is put away."""
    of = statement("feddyn.lemma8sharper")
    parameters = SettingParameters(of.setting, [])
    L, mu, alpha = map(parameter, ("L", "mu", "alpha"))
    u, v = (Vector("free", (name,)) for name in "uv")
    b, d = alpha * mu, L * alpha
    short, long = L + mu, (L + mu) ** 3 * (L**2 + alpha * mu) + alpha**4 * (alpha + L)
    for a, found in ((short, 0), (long, 1)):
        t = b / a
        squares: list[tuple[Number, Vector]] = [(mu, u), (a, u + t * v), (d - b**2 / a, v)]
        left, forms = with_forms(squares, parameters)
        assert len(forms) == found
        assert left == (squares[:1] if found else squares)
        for form in forms:
            value = parameters.value
            assert [value(x) for x in (form.a, form.b, form.d)] == [value(x) for x in (a, b, d)]
            assert value(form.signs[2]) == value(a * d - b**2)
            assert form.difference == form.a * inner(u, u) + number(2) * form.b * inner(u, v) + form.d * inner(v, v)
    twice = [(long, u + b / long * v), (long, u - b / long * v), (long, u + 2 * b / long * v), (d - b**2 / long, v)]
    left, forms = with_forms(twice, parameters)  # one square of v is a part of one form
    assert (left, len(forms)) == (twice[1:3], 1)
    # another vector v, or none
    assert with_forms([(long, u + b / long * v), (mu, u)], parameters)[1] == []


def test_integers_are_one_only_where_the_setting_says_so() -> None:
    cited = statement("feddyn.lemma1sharper").setting
    ones = replace(cited, draws=replace(cited.draws, active=number(1), clients=number(1)))
    assert pinned(cited, ones) == {"num_active", "num_clients"}
    assert pinned(cited, cited) == frozenset()
    assert pinned(cited, replace(cited, draws=replace(cited.draws, active=number(2)))) == frozenset()


def test_a_maximum_is_decided_only_where_it_is_known() -> None:
    m = parameter("num_clients")
    setting = statement("feddyn.lemma1sharper").setting
    more = replace(setting, conditions=(*setting.conditions, (m, ">=", number(2))))
    largest = number(1).max(m - 1)
    undecided = InCase(SettingParameters(setting, []), frozenset())
    assert (undecided.decided(largest), undecided.maxima) == (largest, {})
    above = InCase(SettingParameters(more, []), frozenset())
    assert (above.decided(2 * largest), above.maxima) == (2 * (m - 1), {largest: False})
    one = InCase(SettingParameters(setting, []), frozenset({"num_clients"}))
    assert one.decided(one.said(largest)) == number(1)


def test_an_order_of_too_many_terms_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the sign: another order may show it, and where none does it is not shown."""
    parameters = SettingParameters(statement("feddyn.lemma8").setting, [])
    positive = parameters.value(parameter("alpha") - parameter("L"))
    field = parameters.field

    def refused(value: object) -> bool:
        raise Refused("a power with too many terms")

    monkeypatch.setattr(type(field), "is_positive", lambda self, value: refused(value))
    assert substitutions.is_positive(field, positive)
    assert not substitutions.is_positive(field, -positive)
    assert not substitutions.is_positive(field, parameters.value(parameter("mu") - parameter("L")))


def test_the_roots_of_multipliers_are_those_of_the_proof() -> None:
    """Not the kernel's symbols for them."""
    assert "√" not in exported(statement("fedprox.remark8sharper")).text
