"""Attacks through what a run's rounds do not share: the draws that an expectation is over, and what is assumed."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    Number,
    after,
    expected,
    gradient,
    inner,
    mean,
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
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import (
    BernoulliPower,
    Between,
    Combine,
    Derivation,
    During,
    Earlier,
    Hypothesis,
    Iterate,
    Nonnegative,
    Product,
    Proved,
    Telescope,
    facts,
)
from fedconvex.proofs_checks.library import by, squared, with_example

from .attacks import is_false, line, refused, run

w, ZERO, ONE = server(0), number(0), number(1)
P, m, T, G, B = map(parameter, ("P", "m", "T", "G", "B"))


def setting(*names: str, conditions: Any = (), **more: Any) -> ClaimSetting:
    """Gradient descent with stepsize 1/2 on convex clients of curvature at most 1."""
    return with_example(ClaimSetting(
        **running("FedSGD", stepsize=number(Fraction(1, 2))), curvature=(ZERO, ONE), minimiser=True,
        signs=dict.fromkeys((*names, "T"), "positive"), counts=frozenset({"P", "m", "T"} & {*names, "T"}),
        conditions=conditions, **more,
    ))  # fmt: skip


# ---- The mean of the next points is nearer to the minimiser than w; the drawn point need not be.
DRAWN = setting("P", "m", draws=DrawScheme("uniform", P, m), conditions=((m, ">=", P),))
DISTANCE, slope = square(w - minimiser), mean(gradient(w))
NEARER = (
    by(Between(w, minimiser))
    + squared(gradient(w) - gradient(minimiser) - slope)
    + Fraction(3, 4) * squared(slope)
)  # fmt: skip
STAYS = run(after(DISTANCE), DISTANCE)
OF_MEAN = {
    "squared": square(expected(w) - minimiser),
    "named": square(named(r"\bar w", expected(w)) - minimiser),
    "in one factor": inner(expected(w) - minimiser, expected(w) - minimiser) * 1,
    "added": DISTANCE + square(expected(w) - minimiser) - DISTANCE,
    "divided": -(-square(expected(w) - minimiser) / 1),
}


@pytest.mark.parametrize("potential", OF_MEAN.values(), ids=list(OF_MEAN))
def test_an_expectation_over_one_round_is_none_over_all(potential: Number) -> None:
    """‖E w⁺ − x*‖² ≤ ‖w − x*‖² in every round, but E‖w_T − x*‖² > ‖w_0 − x*‖² where the drawn gradients vary."""
    for made in (Iterate(potential, ONE, ZERO, NEARER.facts, NEARER.squares),
                 Telescope(potential, ZERO, ONE, ZERO, NEARER.facts, NEARER.squares)):  # fmt: skip
        refused(DRAWN, STAYS, Derivation((made,)), "an expectation inside")


@pytest.mark.beyond_core  # takes seconds
def test_it_would_prove_what_runs_refute() -> None:
    assert is_false(DRAWN, STAYS)
    everyone = setting()
    proof = Derivation((Iterate(DISTANCE, ONE, ZERO, NEARER.facts, NEARER.squares),))
    assert theorem(everyone, STAYS, proof)
    refused(DRAWN, STAYS, proof, "not the inequality of one round")
    once = at_most(square(expected(server(1)) - minimiser), DISTANCE)
    assert theorem(DRAWN, once, Derivation((Combine(once.left, once.right, NEARER.facts, NEARER.squares),)))


@pytest.mark.parametrize(
    "potential",
    [expected(value(w)) ** 2, expected(value(w)) * expected(value(w)), expected(DISTANCE).sqrt(),
     value(expected(w))],
    ids=["power", "product", "root", "value"],
)  # fmt: skip
def test_no_potential_squares_an_expectation(potential: Number) -> None:
    refused(DRAWN, run(after(ZERO), 1), Derivation((Iterate(potential, ONE),)), "an expectation inside")


def test_a_claim_about_rounds_has_no_such_expectation_either() -> None:
    moves = square(expected(server(1)) - w)
    for claim in (run(sum_of_rounds(moves), sum_of_rounds(moves)), run(after(DISTANCE), after(OF_MEAN["squared"]))):
        refused(DRAWN, claim, Derivation((line(claim),)), "an expectation inside")


def test_expectations_that_are_added_up_change_nothing() -> None:
    loss = named("F", -expected(value(w))) / 2 * 3 - 2 * (expected(norm(w)) + DISTANCE)
    same = -value(w) * Fraction(3, 2) - 2 * (norm(w) + DISTANCE)
    claim = run(after(loss), after(same))
    assert theorem(DRAWN, claim, Derivation((line(claim),)))


# ---- What is assumed at the server's point before a round is not assumed after the last one.
LARGE = setting("G", large_gradient=G)
ALIKE = setting("B", conditions=((B, ">=", ONE),), dissimilarity=B)
VARYING = setting("G", variance=G)
ASSUMED = {
    "large gradient": (LARGE, G, square(slope)),
    "dissimilarity": (ALIKE, square(gradient(w)), B**2 * square(slope)),
    "variance": (VARYING, square(gradient(w) - slope), G),
}


@pytest.mark.parametrize("what", ASSUMED)
def test_what_holds_before_each_round_need_not_hold_after_the_last(what: str) -> None:
    at, left, right = ASSUMED[what]
    held, once = (1, Hypothesis(what)), at_most(left, right)
    before = line(once, held, name="before")
    assert theorem(at, once, Derivation((before,)))
    always = run(sum_of_rounds(left), sum_of_rounds(right))
    assert theorem(at, always, Derivation((line(always, (1, During("rounds", facts(held)))),)))
    ended = run(after(left), after(right))
    refused(at, ended, Derivation((line(ended, (1, During("end", facts(held)))),)), f"{what} is not assumed")
    used = Derivation((line(ended, (1, During("end", facts((1, Earlier("before")))))),), of_round=(before,))
    refused(at, ended, used, "no earlier line before")
    cited = Derivation((line(ended, (1, During("end", facts((1, Proved("once")))))),))
    refused(at, ended, cited, f"once assumes something else: its {what.replace(' ', '_')}",
            lambda _: (at, once, Derivation((before,))))  # fmt: skip
    assert is_false(at, ended)


def test_what_is_always_so_is_so_at_the_end() -> None:
    claim = run(value(minimiser), after(value(w)))
    least = facts((1, Between(w, minimiser)))
    for at in (DRAWN, VARYING):
        nonnegative = run(0, after(inner(gradient(w) - gradient(minimiser), w - minimiser)))
        apart = squared(gradient(w) - gradient(minimiser)).squares
        assert theorem(at, nonnegative, Derivation((line(nonnegative, (1, During("end", least, apart))),)))
        refused(at, claim, Derivation((line(claim, (1, During("end", least))),)), "sum of the facts")


# ---- Bernoulli's inequality and products are facts about one round.


def test_facts_about_one_round_are_none_about_a_run() -> None:
    q = parameter("q")
    at = setting("q", conditions=((ONE, ">=", q),))
    claim = run(1 - T * (1 - q), q**T)
    assert theorem(at, claim, Derivation((line(claim, (1, During("start", facts((1, BernoulliPower(q, 1)))))),)))
    refused(at, claim, Derivation((line(claim, (1, BernoulliPower(q, 1))),)), "no fact about a run")
    summed = Derivation((line(claim, (1, During("rounds", facts((1, BernoulliPower(q, 1)))))),))
    refused(at, claim, summed, "sum of the facts")
    less, squares_ = run(q, 1), run(0, (1 - q) ** 2)
    lines = (line(less, (1, Nonnegative(1 - q)), name="less"), line(squares_, (1, Product("less", "less"))))
    refused(at, squares_, Derivation(lines), "no fact about a run")
    for false in (run(q**T, q**2), run(q ** (2 * T), 0), run((1 - q**T) / (1 - q), T)):
        proof = Derivation((line(false, (1, Nonnegative(1 * false.right - false.left))),))
        refused(at, false, proof, "may be negative|divided by")
