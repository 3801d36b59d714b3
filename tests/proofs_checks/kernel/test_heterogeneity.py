"""Bounds of the clients' heterogeneity: Γ = f_* − mean_k inf F_k, δ-similar Hessians; and ∇f at the clients' points."""

from dataclasses import replace
from fractions import Fraction

import pytest
from attacks import Attack, accepted, one_line, parametrised, some

from fedconvex.claims.claim import at_most, equal
from fedconvex.claims.terms import (
    family,
    gradient,
    infimum,
    inner,
    last_answers,
    mean,
    minimiser,
    objective_gradient,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.dane import similar_clients
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Between, ClientInfima, Lower, Proved, Similar
from fedconvex.theory import dane, feddyn

from .attacks import refused

Gamma, delta, L, mu = map(parameter, ("Gamma", "delta", "L", "mu"))
v, w = family("v"), server(0)
GAP = some("Gamma", objective_gap=Gamma, minimiser=True)
LOW = some("Gamma", objective_gap=Gamma, bounded_below=True)
SIMILAR = some("delta", similarity=delta)
OBJECTIVE = some("L", "mu", objective=(mu, L), minimiser=True, conditions=((L, ">=", mu),))
NEAR = at_most(value(minimiser) - value(v), Gamma)
u = minimiser


def apart(at):
    return gradient(at) - objective_gradient(at)


def test_no_points_of_the_clients_are_far_below_the_minimiser() -> None:
    assert accepted(GAP, NEAR, ((1, ClientInfima(v)),))
    assert accepted(LOW, at_most(infimum - value(v), Gamma), ((1, ClientInfima(v)),))


def test_the_objectives_gradient_is_the_mean_where_all_clients_are_at_one_point() -> None:
    assert accepted(some(), equal(objective_gradient(w), mean(gradient(w))))
    assert accepted(some(single_client=True), equal(objective_gradient(v), gradient(v)))
    assert accepted(some(), equal(objective_gradient(v), objective_gradient(v)))


def test_similar_hessians() -> None:
    for a, b in ((w, minimiser), (v, w), (v, family("z"))):
        claim = at_most(square(apart(b) - apart(a)), delta**2 * square(b - a))
        assert accepted(replace(SIMILAR, minimiser=True), claim, ((1, Similar(b, a)),))


def test_the_objectives_class_holds_at_points_of_the_clients() -> None:
    g, d = objective_gradient(v), v - u
    claim = at_most(0, inner(g - mu * d, L * d - g))
    assert accepted(OBJECTIVE, claim, ((1, Between(v, u)),))
    # where the clients' class is known from one side alone, too
    mixed = replace(OBJECTIVE, objective=(mu, None), curvature=(None, L))
    assert accepted(mixed, claim, ((1, Between(v, u)),))


CITED = (GAP, NEAR, one_line(NEAR, ((1, ClientInfima(v)),)))
ALIKE = at_most(square(apart(v) - apart(w)), delta**2 * square(v - w))
DRAWN = feddyn.lemma12sharper.setting

ATTACKS = {
    "no gap": Attack("no gap", some("Gamma", minimiser=True), NEAR, ((1, ClientInfima(v)),)),
    "half the gap": Attack("is left", GAP, at_most(value(minimiser) - value(v), Gamma / 2), ((1, ClientInfima(v)),)),
    "the gap of one client": Attack(
        "no gap", LOW, at_most(infimum - value(v), Gamma, of_client=True), ((1, ClientInfima(v)),)
    ),
    "no infimum": Attack("infimum", some("Gamma", objective_gap=Gamma), at_most(0, value(v)), ((1, ClientInfima(v)),)),
    "a negative gap": Attack(
        "too small",
        replace(GAP, signs={"Gamma": "real"}, example={"Gamma": Fraction(-1)}),
        NEAR,
        ((1, ClientInfima(v)),),
    ),
    "a negative δ": Attack(
        "too small",
        replace(SIMILAR, signs={"delta": "real"}, example={"delta": Fraction(-1)}),
        ALIKE,
        ((1, Similar(v, w)),),
    ),
    "no δ": Attack("no similarity", some("delta"), ALIKE, ((1, Similar(v, w)),)),
    "a smaller δ": Attack(
        "is left", SIMILAR, at_most(square(apart(v) - apart(w)), delta**2 / 2 * square(v - w)), ((1, Similar(v, w)),)
    ),
    "the gradients themselves": Attack(
        "is left", SIMILAR, at_most(square(gradient(v) - gradient(w)), delta**2 * square(v - w)), ((1, Similar(v, w)),)
    ),
    "one client's δ": Attack("about one of them", SIMILAR, replace(ALIKE, of_client=True), ((1, Similar(v, w)),)),
    "∇f is no mean of the clients' gradients at points of their own": Attack(
        "differ", some(), equal(objective_gradient(v), mean(gradient(v)))
    ),
    "∇f at points that differ": Attack("differ", some(), equal(objective_gradient(v), objective_gradient(family("z")))),
    "∇f at points of a draw": Attack(
        "depend on the draw", DRAWN, equal(objective_gradient(last_answers(1)), gradient(last_answers(1)))
    ),
    "the objective's class, of clients": Attack(
        "is left",
        OBJECTIVE,
        at_most(0, inner(gradient(v) - mu * (v - u), L * (v - u) - gradient(v))),
        ((1, Between(v, u)),),
    ),
    "values at clients' points": Attack("clients' points", OBJECTIVE, at_most(value(u), value(v)), ((1, Lower(v, u)),)),
    "a statement that assumes a gap": Attack(
        "objective_gap", some("Gamma", minimiser=True), NEAR, ((1, Proved("other")),), known=lambda name: CITED
    ),
    "a statement with another gap": Attack(
        "objective_gap", replace(GAP, objective_gap=2 * Gamma), NEAR, ((1, Proved("other")),), known=lambda name: CITED
    ),
}


@parametrised(ATTACKS)
def test_attacks(attack: Attack) -> None:
    attack.is_refused()


def test_a_statement_with_the_same_gap_is_known() -> None:
    assert accepted(GAP, NEAR, ((1, Proved("other")),), known=lambda name: CITED)


@pytest.mark.parametrize("changed", [{"similarity": None}, {"objective": (None, None)}])
def test_danes_contraction_needs_all_that_it_assumes(changed) -> None:
    statement = dane.contraction
    proof = similar_clients(statement.claim)
    assert theorem(statement.setting, statement.claim, proof).claim == statement.claim
    refused(replace(statement.setting, **changed), statement.claim, proof)


def test_danes_proof_is_of_no_smaller_bound() -> None:
    smaller = at_most(dane.contraction.claim.left, dane.contraction.claim.right * Fraction(9, 10))
    refused(dane.contraction.setting, smaller, similar_clients(smaller), "is left")
