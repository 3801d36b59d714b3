"""Theorems about what depends on a draw: gradients at such points, lengths in its outcomes."""

import pytest

from fedconvex.claims.terms import Number, drawn, family, inner, norm, parameter, parts, server
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.terms import Missing, factored
from fedconvex.proofs_checks.rocq.theorems import TheoremText
from fedconvex.theory import statement

from .theorem_folders import theorem_of

THEOREMS = (
    "fedprox.equation9", "fedprox.equation10", "fedprox.equation11", "fedprox.equation12", "fedprox.equation14",
    "feddyn.lemma21",
)  # fmt: skip


def test_a_gradient_step_has_the_stepsize_of_the_method() -> None:
    """Also where a condition chooses the parameter: α = 50Lm/P."""
    theorem = theorem_of("feddyn.theorem5nonconvex")
    assert "(50 * L * num_clients / num_active = alpha) ->" in theorem
    assert "(now theta past) = ((now w past) - (1 / alpha) * (gradient EF (now w past) +" in theorem


def test_a_quotient_is_written_in_factors_of_known_sign() -> None:
    """One for every factor of numerator and denominator, and the value is the same."""
    of = statement("feddyn.theorem5nonconvex")
    parameters = SettingParameters(of.setting, [])
    P, m = parameter("num_active"), parameter("num_clients")
    value = parameters.value((P * P - m * m) / (m * (2 * m - P)))
    made = factored(value)
    assert parameters.value(made) == value
    assert made.head == "*"
    assert all(p.head != "^" for p in parts(made))


def test_only_theorems_that_need_them_load_the_files_about_draws() -> None:
    loaded = {n: exported(statement(n)).text.partition("Open Scope")[2] for n in (*THEOREMS, "fedprox.equation5")}
    assert {n for n, text in loaded.items() if "Require Import DrawnLengths." in text} == set(THEOREMS[:5])
    assert {n for n, text in loaded.items() if "Require Import DrawnPoints." in text} == {"feddyn.lemma21"}


def test_a_length_in_a_draw_outside_an_expectation_and_one_with_other_numbers_are_not_written() -> None:
    of = statement("fedprox.equation12")
    assert of.claim is not None
    round_ = TheoremText("a", of.setting, of.claim, derivation_of(of)).round
    moved = drawn(family("u")) - server(0)
    with pytest.raises(Missing, match="the length of a vector in a draw"):
        round_.number(norm(moved))
    with pytest.raises(Missing, match="an expectation of lengths with other numbers"):
        round_.number(Number("expected", (norm(moved) * inner(moved, moved),)))
    assert round_.number(Number("expected", (norm(server(0)),))).head == "norm"  # it is the same in every outcome
