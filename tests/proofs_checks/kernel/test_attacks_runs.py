"""Attacks through proofs about T rounds, and through roots of numbers."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    answers,
    expected,
    family,
    free,
    mean,
    mean_of_rounds,
    minimiser,
    named,
    norm,
    number,
    parameter,
    server,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.claims.terms import gradient as slope
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import (
    Combine,
    Derivation,
    During,
    Earlier,
    Iterate,
    Jensen,
    Lower,
    Nonnegative,
    Telescope,
    Upper,
    facts,
    squares,
)

from .attacks import ONE, ZERO, drawing, line, refused, run

w, moved, x, u = server(0), server(1), free("x"), family("u")
T, r = parameter("T"), parameter("r")
# Gradient descent with stepsize 1 on convex objectives with curvature at most 1, which decreases its objective.
DESCENT = ClaimSetting(
    **running("FedGD", stepsize=ONE), objective=(ZERO, ONE), minimiser=True,
    signs={"T": "positive", "r": "real"}, counts=frozenset("T"), example={"T": Fraction(3), "r": Fraction(1)},
)  # fmt: skip
DRAWN = drawing(
    "FedProx", signs=dict.fromkeys(("a", "P", "m", "T"), "positive"), counts=frozenset("PmT"), curvature=(ZERO, None),
    example={"a": Fraction(1), "P": Fraction(2), "m": Fraction(3), "T": Fraction(3)},
)  # fmt: skip
FALLS = {"facts": facts((1, Upper(moved, w))), "squares": squares((Fraction(1, 2), mean(slope(w))))}
gap = value(w) - value(minimiser)


def by_line(claim: Claim, *used: Any, of_round: tuple[Any, ...] = ()) -> tuple[Claim, Derivation]:
    return claim, Derivation((line(claim, *used),), of_round=of_round)


ROUND = Combine(value(moved), value(w), **FALLS, name="round")
FALL = run(after(value(w)), value(w))
TWO = number(2).sqrt()
ATTACKS: dict[str, tuple[ClaimSetting, tuple[Claim, Derivation], str]] = {
    "a line of any round, in the first": (
        DESCENT, by_line(run(value(w), value(moved)), (1, During("start", facts((1, Earlier("round"))))),
        of_round=(ROUND,)),
        "no earlier line round"),
    "a value at a mean, for every draw": (
        DRAWN, by_line(run(value(mean_of_rounds(w)), mean_of_rounds(value(w))),
        (1, Jensen(w))), "outside an expectation"),
    "Jensen for functions that are not convex": (
        replace(DESCENT, objective=(-ONE, ONE)), by_line(run(value(mean_of_rounds(w)), mean_of_rounds(value(w))),
        (1, Jensen(w))),
        "not convex"),
    "Jensen at clients' points for the objective": (
        DESCENT, by_line(run(value(mean_of_rounds(u)), mean_of_rounds(value(u))), (1, Jensen(u))), "points differ"),
    "Jensen after the round's draw": (
        DRAWN, by_line(run(expected(value(mean_of_rounds(moved))), mean_of_rounds(value(moved))), (1, Jensen(moved))),
        "depends on the draw"),
    "Jensen with weights that may be negative": (
        DESCENT, by_line(run(value(mean_of_rounds(w, r)), mean_of_rounds(value(w), r)),
        (1, Jensen(w, r))), "may be negative"),
    "another mean": (DESCENT, by_line(run(value(mean_of_rounds(w)), mean_of_rounds(value(moved))), (1, Jensen(w))),
        "is not the claim"),
    "the end is the start": (DESCENT, by_line(equal(after(value(w)), value(w), rounds="T")), "sum of facts"),
    "the mean is the end": (DESCENT, by_line(run(after(value(w)), mean_of_rounds(value(w)))), "is not the claim"),
    "a sum is T times the first": (DESCENT, by_line(run(sum_of_rounds(value(w)), T * value(w))), "is not the claim"),
    "one step more": (DESCENT, (run(after(value(w)), value(moved)), Derivation((Iterate(value(w), ONE, **FALLS),))),
        "not the claim"),
    "a factor that may be negative": (
        DESCENT, (FALL, Derivation((Iterate(value(w), r, **FALLS),))), "may be negative"),
    "a negative factor": (DESCENT, (FALL, Derivation((Iterate(value(w), -ONE, **FALLS),))), "may be negative"),
    "a factor that is not shown": (
        DESCENT, (run(after(gap), number(Fraction(1, 2)) ** T * gap),
        Derivation((Iterate(gap, number(Fraction(1, 2)), **FALLS),))),
        "inequality of one round"),
    "a telescope with a negative ratio": (
        DESCENT, (FALL, Derivation((Telescope(value(w), ZERO, -ONE, **FALLS),))), "may be negative|one round"),
    "a telescope with a gain that is not shown": (
        DESCENT, (run(after(value(w)) + sum_of_rounds(square(mean(slope(w)))), value(w)),
                  Derivation((Telescope(value(w), square(mean(slope(w))), **FALLS),))), "one round"),
    "a negative error": (DESCENT, (FALL, Derivation((Iterate(value(w), ONE, -ONE, **FALLS),))), "one round"),
    "a potential of the round": (DESCENT, (FALL, Derivation((Iterate(value(moved), ONE, **FALLS),))),
        "about the round"),
    "a potential of answers": (DESCENT, (FALL, Derivation((Iterate(value(answers), ONE),))), "about the round"),
    "a potential of local gradients": (
        DESCENT, (FALL, Derivation((Iterate(square(Vector("local gradients")), ONE),))), "about the round"),
    "a potential that depends on the draw": (
        DRAWN, (FALL, Derivation((Iterate(value(Vector("drawn", (u,))),
        ONE),))), "about the round|depends on the draw"),
    "an unknown time": (DESCENT, by_line(FALL, (1, During("later", facts((1, Nonnegative(ONE)))))),
        "no time of a run"),
    "rounds with weights that may be negative": (
        DESCENT, by_line(FALL, (1, During("rounds", facts((1, Nonnegative(ONE))), (), r))), "may be negative"),
    "a negative multiplier of rounds": (DESCENT, by_line(FALL, (-1, During("end", facts((1, Nonnegative(ONE)))))),
        "may be negative"),
    "a negative multiplier in rounds": (DESCENT, by_line(FALL, (1, During("end", facts((-1, Nonnegative(ONE)))))),
        "may be negative"),
    "a fact of one round": (DESCENT, by_line(FALL, (1, Upper(moved, w))), "no fact about a run"),
    "rounds inside rounds": (
        DESCENT, by_line(FALL, (1, During("end",
        facts((1, During("end", facts((1, Nonnegative(ONE))))))))), "no fact"),
    "Jensen in one round": (DESCENT, by_line(at_most(value(w), value(w)), (1, Jensen(w))), "no fact"),
    "a telescope in one round": (DESCENT, (at_most(ZERO, ONE), Derivation((Telescope(value(w), ZERO, **FALLS),))),
        "no line of this kind"),
    "squares in a run": (DESCENT, (FALL, Derivation((line(FALL, squares=squares((1, w))),))), "sum of facts"),
    "an equation of vectors in a run": (DESCENT, by_line(equal(w, w, rounds="T")), "sum of facts"),
    "a later line": (DESCENT, by_line(FALL, (1, Earlier("line 1"))), "no earlier line"),
    "rounds that are no count": (DESCENT, by_line(replace(FALL, rounds="r")), "no count of rounds|no count"),
    "rounds that are no parameter": (DESCENT, by_line(replace(FALL, rounds="K")), "no count of rounds|no parameter"),
    "a run of each client": (DESCENT, by_line(replace(FALL, of_client=True)), "each client|one of them"),
    "a run at a fixed point": (replace(DESCENT, rests=True), by_line(FALL), "at a fixed point"),
    "a product of sums": (DESCENT, by_line(run(after(value(w)) * after(value(w)), ONE)),
        "parameters only|no meaning"),
    "a square of a sum": (DESCENT, by_line(run(after(value(w)) ** 2, ONE)), "no meaning in a run"),
    "a length of the mean": (DESCENT, by_line(run(norm(mean_of_rounds(w)), mean_of_rounds(norm(w)))),
        "no meaning in a run"),
    "a power of a number that may be negative": (DESCENT, by_line(run(r**T, ONE)), "may be negative"),
    "a power of T squared": (DESCENT, by_line(run(number(2) ** (T * T), ONE)), "not T plus an integer"),
    "a power of T in one round": (DESCENT, by_line(at_most(number(2) ** T, ONE)), "exponent that is no constant"),
    "2^T ≤ 1": (DESCENT, by_line(run(number(2) ** T, ONE), (1, Nonnegative(1 - number(2) ** T))), "may be negative"),
    "√2 as a slack": (
        ClaimSetting(signs={"y": "positive", "z": "positive"}, example={"y": Fraction(2), "z": Fraction(1)},
                     conditions=((number(3), ">=", TWO), (parameter("y"), ">=", TWO * parameter("z")))),
        by_line(at_most(0, 1 - Fraction(7, 9) * TWO + parameter("y") ** 2),
                (1, Nonnegative(1 - Fraction(7, 9) * TWO + parameter("y") ** 2))), "may be negative"),
}  # fmt: skip


@pytest.mark.parametrize(("setting", "tried", "reason"), ATTACKS.values(), ids=list(ATTACKS))
def test_a_false_claim_about_a_run_is_refused(setting, tried, reason) -> None:
    refused(setting, *tried, reason)


def test_true_claims_about_runs_are_accepted() -> None:
    made = {
        "the value falls": (DESCENT, FALL, Derivation((Iterate(value(w), ONE, **FALLS),))),
        "Jensen": (DESCENT, *by_line(run(value(mean_of_rounds(w)), mean_of_rounds(value(w))), (1, Jensen(w)))),
        "Jensen, named": (DESCENT, *by_line(
            run(value(named(r"\bar w", mean_of_rounds(w))), mean_of_rounds(value(w))), (1, Jensen(w)))),
        "Jensen, expected": (
            DRAWN, *by_line(run(expected(value(mean_of_rounds(w))), mean_of_rounds(value(w))), (1, Jensen(w)))),
        "x* is least at the end": (DESCENT, *by_line(
            run(value(minimiser), after(value(w))), (1, During("end", facts((1, Lower(w, minimiser))))))),
        "the first round": (DESCENT, *by_line(
            run(value(moved), value(w)), (1, During("start", FALLS["facts"], FALLS["squares"])))),
        "the last round": (DESCENT, *by_line(
            run(after(value(moved)), after(value(w))), (1,
            During("end", facts((1, Earlier("round"))))), of_round=(ROUND,))),
    }  # fmt: skip
    for name, tried in made.items():
        assert theorem(*tried).claim == tried[1], name


GAIN = square(mean(slope(w))) / 2
TELESCOPE = Telescope(value(w), GAIN, facts=facts((1, Upper(moved, w))), name="fall")
SUM = sum_of_rounds(GAIN)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (SUM, value(w) - after(value(w))),
        (SUM * 2 / 2 + after(value(w)), named("F", value(w))),
        (named("G", SUM), -(after(value(w)) - value(w))),
        (expected(SUM), value(w) + -after(value(w))),
    ],
)
def test_squared_gradients_add_up_to_the_fall_however_it_is_written(left: Number, right: Number) -> None:
    assert theorem(DESCENT, run(left, right), Derivation((TELESCOPE,)))
    weaker = run(left, right + T)
    lines = (TELESCOPE, line(weaker, (1, Earlier("fall")), (1, Nonnegative(T))))
    assert theorem(DESCENT, weaker, Derivation(lines))


@pytest.mark.parametrize("factor", [2, Fraction(101, 100), -1])
def test_they_add_up_to_no_more(factor: Any) -> None:
    claim = run(factor * SUM, value(w) - after(value(w)))
    refused(DESCENT, claim, Derivation((TELESCOPE,)), "not the claim")


def test_everyone_takes_part_in_these_runs() -> None:
    assert DESCENT.draws == DrawScheme()
    assert x != w
