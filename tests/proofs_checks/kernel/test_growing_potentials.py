"""Potentials that depend on the number of the rounds before, and parameters that are the kernel's own."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import after, mean, minimiser, number, parameter, server, square
from fedconvex.claims.terms import gradient as slope
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import (
    ROUND,
    Cases,
    Combine,
    Derivation,
    During,
    Earlier,
    Iterate,
    Lower,
    Nonnegative,
    Telescope,
    Upper,
    facts,
    squares,
)

from .attacks import ONE, ZERO, called, changed, drawing, refused
from .test_attacks_runs import DESCENT, FALLS, T, by_line, gap, run

before, w, moved, x = parameter(ROUND), server(0), server(1), minimiser
START = square(w - x) / 2
POTENTIAL = before * gap + START
STEP: dict[str, Any] = {
    "facts": facts((before + 1, Upper(moved, w)), (1, Lower(x, w))), "squares": squares((before / 2, mean(slope(w))))
}  # fmt: skip
AT_END = During("end", (), squares((Fraction(1, 2), w - x)))
SUBLINEAR = run(T * after(gap), START)


def using(line: Any, claim: Claim = SUBLINEAR, *more: Any) -> tuple[Claim, Derivation]:
    """The claim, from this line and what is known at the end."""
    used = facts((1, Earlier("all rounds")), (1, AT_END), *more)
    return claim, Derivation((line, Combine(claim.left, claim.right, used)))


def falling(potential: Any = POTENTIAL, **changes: Any) -> Telescope:
    return Telescope(potential, **{"gain": ZERO, **STEP, "name": "all rounds", **changes})


def test_gradient_descent_on_convex_functions() -> None:
    """T(f(x_T) − f_*) ≤ ½‖x₀ − x_*‖², by a sum over the rounds, and by a sequence that does not grow."""
    for line in (falling(), Iterate(POTENTIAL, ONE, **STEP, name="all rounds")):
        claim, proof = using(line)
        assert theorem(DESCENT, claim, proof).claim == SUBLINEAR


def test_the_potential_may_be_the_number_itself() -> None:
    """A round adds 1: T rounds add T, neither less nor more."""
    count = Iterate(before, ONE, ONE, name="all rounds")
    for most, true in ((T, True), (T - 1, False), (ZERO, False)):
        claim = run(T, most)
        proof = Derivation((count, Combine(claim.left, claim.right, facts((1, Earlier("all rounds"))))))
        if true:
            assert theorem(DESCENT, claim, proof).claim == claim
        else:
            refused(DESCENT, claim, proof, "not the claim")


NAMED = changed(DESCENT, signs={**DESCENT.signs, ROUND: "positive"}, example={**DESCENT.example, ROUND: Fraction(1)})
ATTACKS: dict[str, tuple[ClaimSetting, tuple[Claim, Derivation], str]] = {
    "faster than it is": (DESCENT, using(falling(before**2 * gap + START), run(T**2 * after(gap), START)),
                          "inequality of one round"),
    "one round more": (DESCENT, using(falling(), run((T + 1) * after(gap), START)), "not the claim"),
    "one round more, with what is left at the start": (
        DESCENT, using(falling((before + 1) * gap + START), run((T + 1) * after(gap), START)),
        "one round|not the claim"),
    "the potential of another round, after": (
        DESCENT, using(falling(POTENTIAL, facts=facts((before, Upper(moved, w)), (1, Lower(x, w))))), "one round"),
    "a multiplier that may be negative": (
        DESCENT, using(falling(facts=facts((1 - before, Upper(moved, w)), (1, Lower(x, w))))), "may be negative"),
    "gains that grow": (DESCENT, using(falling(POTENTIAL + before**2, gain=-(2 * before + 1))), "from round to round"),
    "errors that grow": (DESCENT, using(falling(POTENTIAL + before**2, error=2 * before + 1)), "from round to round"),
    "a ratio that grows": (DESCENT, using(falling(ratio=before + 1)), "from round to round"),
    "a factor that grows": (DESCENT, using(Iterate(POTENTIAL, 1 + before, **STEP, name="all rounds")),
                            "from round to round"),
    "errors that grow, iterated": (
        DESCENT, using(Iterate(POTENTIAL + before**2, ONE, 2 * before + 1, **STEP, name="all rounds")),
        "from round to round"),
    "a case of early rounds": (
        DESCENT, (SUBLINEAR, Derivation(cases=Cases(before, number(3), using(falling())[1], using(falling())[1]))),
        "cases of the rounds"),
    "a claim about the round's number": (DESCENT, using(falling(), run(before, before)), "does not know"),
    "a setting with its name": (NAMED, using(falling()), "is no name"),
    "a condition on it": (replace(DESCENT, conditions=((number(1), ">=", before),)), using(falling()),
                          "no parameter of the setting"),
    "in a claim about one round": (
        DESCENT, (at_most(ZERO, ONE), Derivation((Combine(ZERO, ONE, facts((1, Nonnegative(before + 1))),
                                                          squares((1, w))),))), "no parameter of the setting"),
}  # fmt: skip


@pytest.mark.parametrize(("setting", "tried", "reason"), ATTACKS.values(), ids=list(ATTACKS))
def test_a_false_claim_is_refused(setting: Any, tried: Any, reason: str) -> None:
    refused(setting, *tried, reason)


@pytest.mark.parametrize("name", ["Σ0", "Σ1", "√[0]", "exp[0]", "√T", "T′", "unknown"])
def test_no_proof_speaks_of_symbols_that_are_the_kernels_own(name: str) -> None:
    """What Σ0 stands for is the first ratio that a case uses: cases about it would leave numbers out."""
    symbol, claim = called(T, name), run(number(2) ** T * T.sqrt(), number(6) * T.sqrt() + parameter("r").exp())
    proof = by_line(claim, (1, Nonnegative(claim.right - claim.left)))[1]
    for setting in (replace(DESCENT), drawing(counts=frozenset("PmT"), signs=dict.fromkeys("aPmTr", "positive"),
                                                    example=dict.fromkeys("aPmTr", Fraction(3)))):  # fmt: skip
        refused(
            setting,
            claim,
            Derivation(cases=Cases(symbol, number(5), proof, proof)),
            r"no parameter of the setting|is no name",
        )
        refused(
            setting, *by_line(run(ZERO, ONE), (1, Nonnegative(symbol + 1))), r"no parameter of the setting|is no name"
        )
    refused(DESCENT, *by_line(run(symbol, symbol)), r"does not know|is no name")


def test_the_facts_of_a_true_proof_are_needed() -> None:
    """Each alone is not enough."""
    for k in range(2):
        left = tuple(f for j, f in enumerate(STEP["facts"]) if j != k)
        refused(DESCENT, *using(falling(facts=left)), "inequality of one round")
    refused(DESCENT, *using(falling(**FALLS)), "inequality of one round")
