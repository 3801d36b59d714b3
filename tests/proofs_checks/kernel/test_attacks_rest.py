"""Attacks through the objective's infimum, and through rounds that leave the state as it is."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.terms import (
    after,
    answers,
    expected,
    family,
    free,
    gradient,
    infimum,
    last_answers,
    local_gradients,
    mean,
    mean_of_rounds,
    minimiser,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import (
    Derivation,
    During,
    Infimum,
    Iterate,
    Lower,
    Nonnegative,
    Proved,
    Telescope,
    Upper,
)

from .attacks import ONE, ZERO, Attack, a, accepted, changed, drawing, one_line, parametrised, refused, some

w, moved, x, u = server(0), server(1), free("x"), family("u")
L, T, s = parameter("L"), parameter("T"), parameter("stepsize")

# ---- the infimum

BELOW = some("L", curvature=(None, L), bounded_below=True)
ANY = some("L", curvature=(None, L))
DRAWN = drawing("FedProx", bounded_below=True)
FALL = at_most(infimum, value(x))
AT_X = ((1, Infimum(x)),)
INFIMUM = {
    "no infimum is assumed": Attack("may have no infimum", ANY, FALL, AT_X),
    "no infimum is assumed, in the claim": Attack("may have no infimum", ANY, at_most(infimum, infimum)),
    "no infimum is assumed, in a multiplier": Attack(
        "may have no infimum", ANY, at_most(ZERO, ONE), ((infimum - infimum + 1, Nonnegative(ONE)),)),
    "a minimiser is no infimum": Attack("may have no infimum", replace(ANY, minimiser=True), FALL, AT_X),
    "a minimiser is not assumed": Attack(
        "no minimiser", BELOW, at_most(infimum, value(minimiser)), ((1, Infimum(minimiser)),)),
    "points of the clients": Attack("points of the clients", BELOW, at_most(infimum, value(u)), ((1, Infimum(u)),)),
    "a step of every client": Attack(
        "points of the clients", BELOW, at_most(infimum, value(x - gradient(x))),
        ((1, Infimum(x - gradient(x))),)),
    "the answers of the clients": Attack(
        "points of the clients", DRAWN, at_most(infimum, value(answers)), ((1, Infimum(answers)),)),
    "last answers": Attack(
        "points of the clients", DRAWN, at_most(infimum, value(last_answers(0))), ((1, Infimum(last_answers(0))),)),
    "one client": Attack(
        "points of the clients", BELOW, replace(FALL, of_client=True), AT_X),
    "one client, without the fact": Attack(
        "is left", BELOW, replace(FALL, of_client=True)),
    "the infimum is not larger": Attack("is left", BELOW, at_most(value(x), infimum), AT_X),
    "a negative multiplier": Attack("may be negative", BELOW, at_most(value(x), infimum), ((-1, Infimum(x)),)),
    "an equation": Attack("rests on an inequality", BELOW, equal(infimum, value(x)), AT_X),
    "at another point": Attack("is left", BELOW, at_most(infimum, value(free("y"))), AT_X),
    "the infimum is not 0": Attack("is left|may be negative", BELOW, at_most(ZERO, value(x)), AT_X),
    "the infimum has no sign": Attack("may be negative", BELOW, at_most(ZERO, infimum), ((1, Nonnegative(infimum)),)),
    "the infimum as a multiplier": Attack(
        "may be negative", BELOW, at_most(infimum * infimum, infimum * value(x)), ((infimum, Infimum(x)),)),
    "the gap as a multiplier": Attack(
        "may be negative", BELOW, at_most(ZERO, (value(x) - infimum) ** 2), ((value(x) - infimum, Infimum(x)),)),
    "half of the gap": Attack("is left", BELOW, at_most(infimum, value(x) / 2), ((Fraction(1, 2), Infimum(x)),)),
    "some point attains it": Attack(
        "is left", BELOW, at_most(value(x), infimum + square(mean(gradient(x)))), AT_X),
    "a point that depends on the draw": Attack(
        "depends on the draw, outside", DRAWN, at_most(infimum, value(moved)), ((1, Infimum(moved)),)),
    "a number": Attack("in the place of", BELOW, FALL, ((1, Infimum(value(x))),)),  # type: ignore[arg-type]
    "a gradient of the clients": Attack(
        "points of the clients", BELOW, at_most(infimum, value(gradient(x))), ((1, Infimum(gradient(x))),)),
}  # fmt: skip


@parametrised(INFIMUM)
def test_false_claims_about_the_infimum_are_refused(attack: Attack) -> None:
    attack.is_refused()


def test_true_claims_about_the_infimum_are_accepted() -> None:
    assert accepted(BELOW, FALL, AT_X)
    assert accepted(BELOW, at_most(infimum, value(mean(u))), ((1, Infimum(mean(u))),))
    assert accepted(BELOW, at_most(infimum, (value(x) + value(w)) / 2),
                    ((Fraction(1, 2), Infimum(x)), (Fraction(1, 2), Infimum(w))))  # fmt: skip
    step = x - mean(gradient(x)) / L
    descent = at_most(square(mean(gradient(x))) / (2 * L), value(x) - infimum)
    assert accepted(BELOW, descent, ((1, Upper(step, x)), (1, Infimum(step))))
    assert accepted(DRAWN, at_most(infimum, expected(value(moved))), ((1, Infimum(moved)),))


# ---- rounds at rest


def fedgd(steps: int, **more: Any) -> ClaimSetting:
    """FedGD at a fixed point."""
    return some("stepsize", method="FedGD", method_parameters={"stepsize": s, "local_steps": number(steps)},
                **({"rests": True} | more))  # fmt: skip


FEDPROX = some("a", method="FedProx", method_parameters={"mu": a}, rests=True, curvature=(ZERO, None))
FEDDYN = some("a", method="FedDyn", method_parameters={"alpha": a}, rests=True, curvature=(ZERO, None))
AT_REST = fedgd(1)
slope = mean(gradient(w))
STATIONARY = equal(slope, 0 * w)
OPTIMAL = at_most(value(w), value(x))
INDEPENDENT = DrawScheme("independent", parameter("P"))
TWO = fedgd(2, curvature=(ZERO, None))
SECOND = w - s * gradient(w)  # where each client takes its second step
FIRST = {"facts": ((1, Lower(x, w)),)}
RESTS = {
    # only at rest
    "a gradient, not at rest": Attack("differ", replace(AT_REST, rests=False), STATIONARY),
    "the next point, not at rest": Attack("differ", replace(AT_REST, rests=False), equal(moved, w)),
    "a minimiser, not at rest": Attack("is left", fedgd(1, rests=False, curvature=(ZERO, None)), OPTIMAL, **FIRST),
    "FedProx's answers, not at rest": Attack("differ", replace(FEDPROX, rests=False), equal(mean(answers), w)),
    # not even at rest
    "every client's gradient": Attack("differ", AT_REST, equal(gradient(w), 0 * w)),
    "every client's answer": Attack("differ", AT_REST, equal(answers, w)),
    "a gradient elsewhere": Attack("differ", AT_REST, equal(mean(gradient(x)), 0 * x)),
    "two steps stop where the gradient vanishes": Attack("differ", TWO, STATIONARY),
    "two steps stop at the minimiser": Attack("is left", TWO, OPTIMAL, **FIRST),
    "two steps stop at a minimiser that there is": Attack("differ", replace(TWO, minimiser=True), equal(w, minimiser)),
    "two steps stop where the second gradient vanishes": Attack("differ", TWO, equal(mean(gradient(SECOND)), 0 * w)),
    "two steps leave every client where it is": Attack("differ", TWO, equal(local_gradients, 0 * w)),
    "one step stops at the minimiser, which may not be unique": Attack(
        "differ", replace(AT_REST, minimiser=True), equal(w, minimiser)),
    "FedProx stops where the gradient vanishes": Attack("differ", FEDPROX, STATIONARY),
    "FedProx stops at the minimiser": Attack("is left", FEDPROX, OPTIMAL, **FIRST),
    "FedProx's clients agree": Attack("differ", FEDPROX, equal(answers, w)),
    "functions that are not convex": Attack("is left|no least", AT_REST, OPTIMAL, **FIRST),
    "functions of negative curvature": Attack(
        "is left", fedgd(1, curvature=(number(-1), None)), OPTIMAL, **FIRST),
    "1 ≤ 0": Attack("is left", AT_REST, at_most(ONE, ZERO)),
    "x = 0": Attack("differ", AT_REST, equal(w, 0 * w)),
    # settings
    "a draw": Attack("depends on a draw", drawing("FedProx", rests=True), at_most(ZERO, ONE), ((1, Nonnegative(ONE)),)),
    "independent draws": Attack(
        "depends on a draw", drawing("FedDyn", draws=INDEPENDENT, rests=True), at_most(ZERO, ONE),
        ((1, Nonnegative(ONE)),)),
    "no method": Attack("no method", some("a", rests=True), at_most(ZERO, ONE), ((1, Nonnegative(ONE)),)),
    "a large gradient": Attack(
        "gradient is 0", replace(AT_REST, large_gradient=ONE), at_most(ONE, ZERO)),
    "an invariant": Attack("not by one at rest", FEDDYN, STATIONARY, (), (), (("shared h", 0 * w),)),
    "an invariant of the server": Attack("not by one at rest", AT_REST, STATIONARY, (), (), (("server", x),)),
    "rests that is 1": Attack("in the place of", changed(AT_REST, rests=1), STATIONARY),
}  # fmt: skip


@parametrised(RESTS)
def test_false_claims_about_rounds_at_rest_are_refused(attack: Attack) -> None:
    attack.is_refused()


def run_of(setting: ClaimSetting) -> ClaimSetting:
    return replace(setting, signs={**setting.signs, "T": "positive"}, counts=frozenset("T"),
                   example={**setting.example, "T": Fraction(2)})  # fmt: skip


def test_a_whole_run_does_not_rest() -> None:
    claim = at_most(after(value(w)), value(w), rounds="T")
    for line in (Iterate(value(w), ONE), Telescope(value(w), ZERO)):
        refused(run_of(AT_REST), claim, Derivation((line,)), "at a fixed point")
        refused(run_of(replace(AT_REST, rests=False)), claim, Derivation((line,)), "is not the inequality of one round")


def test_a_statement_at_rest_proves_nothing_about_other_rounds() -> None:
    """Its setting has to follow; the other way round it does."""
    resting = (AT_REST, at_most(square(slope), ZERO), one_line(at_most(square(slope), ZERO)))
    claim = resting[1]
    cites = one_line(claim, ((1, Proved("resting")),))
    assert theorem(AT_REST, claim, cites, lambda _: resting).claim == claim
    refused(replace(AT_REST, rests=False), claim, cites, "assumes something else: its rests", lambda _: resting)


def test_a_statement_with_an_infimum_proves_nothing_without() -> None:
    """Also where the infimum is not named: the claim 1 ≤ 1 of such a setting is not used."""
    claim = at_most(ONE, ONE)
    cites = one_line(claim, ((1, Proved("bounded")),))
    bounded = (BELOW, claim, one_line(claim))
    assert theorem(BELOW, claim, cites, lambda _: bounded).claim == claim
    refused(ANY, claim, cites, "assumes something else: its bounded_below", lambda _: bounded)


def test_true_claims_at_rest_are_accepted() -> None:
    assert accepted(AT_REST, STATIONARY)
    assert accepted(AT_REST, equal(moved, w))
    assert accepted(AT_REST, equal(mean(answers), w))
    assert accepted(fedgd(1, curvature=(ZERO, None)), OPTIMAL, FIRST["facts"])
    assert accepted(TWO, equal(mean(gradient(w)) + mean(gradient(SECOND)), 0 * w))
    assert accepted(TWO, equal(mean(local_gradients), 0 * w))
    assert accepted(FEDPROX, equal(mean(answers), w))
    assert accepted(FEDDYN, equal(moved, w))


def test_the_infimum_is_that_of_the_objective_in_a_run() -> None:
    """It is the same in all rounds, at the start and at the end."""
    setting = run_of(fedgd(1, rests=False, bounded_below=True))
    good = at_most(infimum, after(value(w)), rounds="T")
    end = one_line(good, ((1, During("end", ((ONE, Infimum(w)),))),))
    assert theorem(setting, good, end).claim == good
    for false in (at_most(after(value(w)), infimum, rounds="T"), at_most(2 * infimum, after(value(w)), rounds="T"),
                  at_most(infimum, value(mean_of_rounds(w)) - 1, rounds="T"),
                  at_most(T * infimum, after(value(w)), rounds="T")):  # fmt: skip
        for fact in (During("end", ((ONE, Infimum(w)),)), During("start", ((ONE, Infimum(w)),)),
                     During("rounds", ((ONE, Infimum(w)),))):  # fmt: skip
            refused(setting, false, one_line(false, ((1, fact),)))
    refused(replace(setting, bounded_below=False), good, end, "may have no infimum")
