"""Attacks through proofs by cases: each case may use its own condition, and both are needed."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most, equal
from fedconvex.claims.terms import (
    Number,
    after,
    drawn,
    expected,
    family,
    free,
    infimum,
    mean,
    named,
    norm,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Hypothesis, Iterate, Nonnegative

from .attacks import ONE, ZERO, a, changed, drawing, one_line, refused, some

b, c, x = parameter("b"), parameter("c"), free("x")
AB = some("a", "b", "c")
LARGER = at_most((a + b) / 2, a.max(b))
ABOVE = one_line(LARGER, ((Fraction(1, 2), Nonnegative(a - b)),))  # the maximum is a
BELOW = one_line(LARGER, ((Fraction(1, 2), Nonnegative(b - a)),))
GOOD = Cases(a, b, ABOVE, BELOW)
FALSE = at_most(a.max(b), (a + b) / 2)


def of(more: Any, less: Any, above: Any, below: Any) -> Derivation:
    return Derivation(cases=Cases(more, less, above, below))


def shows(claim: Claim, of_number: Any) -> Derivation:
    return one_line(claim, ((1, Nonnegative(of_number)),))


NEITHER = Derivation(cases=GOOD)
TRUE = at_most(ZERO, (a - b) ** 2)
ORDER = at_most(b, a)  # true in one case alone
ATTACKS: dict[str, tuple[Claim, Derivation, str]] = {
    # the cases
    "swapped": (LARGER, of(a, b, BELOW, ABOVE), "may be negative"),
    "swapped numbers": (LARGER, of(b, a, ABOVE, BELOW), "may be negative|undecided maximum"),
    "the first case twice": (LARGER, of(a, b, ABOVE, ABOVE), "may be negative|undecided maximum"),
    "the second case twice": (LARGER, of(a, b, BELOW, BELOW), "may be negative|undecided maximum"),
    "no first case": (LARGER, of(a, b, Derivation(), BELOW), "without lines"),
    "no second case": (LARGER, of(a, b, ABOVE, Derivation()), "without lines"),
    "one case, without cases": (LARGER, ABOVE, "may be negative|undecided maximum"),
    "cases of equal numbers": (LARGER, of(a, a, ABOVE, BELOW), "may be negative|undecided maximum"),
    "cases of other numbers": (LARGER, of(a, c, ABOVE, BELOW), "may be negative|undecided maximum"),
    "cases with a gap": (LARGER, of(a, b + 1, ABOVE, BELOW), "may be negative|undecided maximum"),
    "cases with another gap": (LARGER, of(a + 1, b, ABOVE, BELOW), "may be negative|undecided maximum"),
    "true in one case": (ORDER, of(a, b, shows(ORDER, a - b), shows(ORDER, a - b)), "may be negative"),
    "true in the other case": (ORDER, of(b, a, shows(ORDER, a - b), shows(ORDER, a - b)), "may be negative"),
    "false in both": (FALSE, of(a, b, one_line(FALSE, ((Fraction(1, 2), Nonnegative(a - b)),)),
                                one_line(FALSE, ((Fraction(1, 2), Nonnegative(b - a)),))), "is left"),
    "a case that proves another claim": (LARGER, of(a, b, shows(at_most(b, a), a - b), BELOW), "is not the claim"),
    "a condition of the other case": (
        at_most(0, (a - b) * (b - a)), of(a, b, shows(at_most(0, (a - b) * (b - a)), (a - b) * (b - a)),
                                          shows(at_most(0, (a - b) * (b - a)), (a - b) * (b - a))), "may be negative"),
    "the strict condition": (at_most(0, number(-1)), of(a, b, shows(at_most(0, number(-1)), a - b - 1),
                                                       shows(at_most(0, number(-1)), b - a - 1)), "may be negative"),
    "a division by the difference": (
        at_most(ONE, 1 + 1 / (a - b)), of(a, b, shows(at_most(ONE, 1 + 1 / (a - b)), 1 / (a - b)),
                                          shows(at_most(ONE, 1 + 1 / (a - b)), 1 / (b - a))), "may be 0"),
    # beside the cases
    "lines beside cases": (LARGER, replace(ABOVE, cases=GOOD), "with lines of its own"),
    "lines beside cases that prove it": (TRUE, replace(shows(TRUE, (a - b) ** 2), cases=GOOD), "lines of its own"),
    "lines of a round beside cases": (LARGER, Derivation(cases=GOOD, of_round=ABOVE.lines), "lines of its own"),
    "invariants beside cases": (LARGER, Derivation(cases=GOOD, invariants=(("server", x),)), "lines of its own"),
    "lines beside cases inside": (LARGER, of(a, b, replace(ABOVE, cases=GOOD), BELOW), "lines of its own"),
    "the case of another proof": (LARGER, of(a, b, replace(ABOVE, lines=BELOW.lines), BELOW), "may be negative"),
    # terms
    "cases of lengths": (LARGER, of(norm(x), ZERO, ABOVE, BELOW), "not of parameters alone"),
    "cases of squares": (LARGER, of(square(x), ONE, ABOVE, BELOW), "not of parameters alone"),
    "cases of a difference that is 0": (
        LARGER, of(a + square(x) - square(x), b, ABOVE, BELOW), "not of parameters alone"),
    "cases of the infimum": (LARGER, of(infimum, ZERO, ABOVE, BELOW), "not of parameters alone"),
    "cases of a value": (LARGER, of(value(x), a, ABOVE, BELOW), "not of parameters alone"),
    "cases of rounds": (LARGER, of(a, after(b), ABOVE, BELOW), "not of parameters alone"),
    "cases of lengths with a name": (LARGER, of(named("a", norm(x)), b, ABOVE, BELOW), "not of parameters alone"),
    "cases of an unknown parameter": (LARGER, of(parameter("d"), ZERO, ABOVE, BELOW), "d is no parameter"),
    "cases of a quotient by 0": (LARGER, of(ONE / (a - a), ZERO, ABOVE, BELOW), "may be 0"),
    "cases of a quotient that may be of 0": (LARGER, of(ONE / (a - b), ZERO, ABOVE, BELOW), "may be 0"),
    "cases of a root that may be of less than 0": (LARGER, of((a - b).sqrt(), ZERO, ABOVE, BELOW), "not in the field"),
    "cases of vectors": (LARGER, of(x, server(0), ABOVE, BELOW), "in the place of"),
    "cases of integers": (LARGER, of(1, 0, ABOVE, BELOW), "in the place of"),
    "a line for a case": (LARGER, of(a, b, ABOVE.lines[0], BELOW), "in the place of"),
    "a list of cases": (LARGER, changed(NEITHER, cases=[GOOD]), "in the place of"),
    "lines for cases": (LARGER, changed(NEITHER, cases=ABOVE), "in the place of"),
    "no cases at all": (LARGER, Derivation(), "without lines"),
    "cases inside, without lines": (LARGER, of(a, b, of(a, c, Derivation(), Derivation()), BELOW), "without lines"),
    "a line of the wrong kind": (LARGER, of(a, b, Derivation((Iterate(ZERO, ONE),)), BELOW), "no line of this kind"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "proof", "reason"), ATTACKS.values(), ids=list(ATTACKS))
def test_wrong_cases_are_refused(claim: Claim, proof: Derivation, reason: str) -> None:
    refused(AB, claim, proof, reason)


def test_right_cases_are_accepted() -> None:
    """So the attacks fail for their own reason."""
    for proof in (
        of(a, b, ABOVE, BELOW), of(b, a, BELOW, ABOVE), of(a - b, ZERO, ABOVE, BELOW), of(2 * a, 2 * b, ABOVE, BELOW),
        of(a, c, NEITHER, NEITHER), of(a, b, of(a, c, ABOVE, ABOVE), of(b, c, BELOW, BELOW)),
    ):  # fmt: skip
        assert theorem(AB, LARGER, proof).claim == LARGER


def test_the_theorem_does_not_assume_the_cases_condition() -> None:
    assert theorem(AB, LARGER, NEITHER).setting == AB


def test_conditions_of_cases_that_exclude_each_other_prove_nothing_outside() -> None:
    """A case that no parameters reach may prove anything, also 1 ≤ 0; the other case must still prove the claim."""
    absurd = at_most(ONE, ZERO)
    positive = some("a")
    reached = shows(absurd, -a)
    for proof in (of(ZERO, a + 1, reached, reached), of(a + 1, ZERO, reached, reached), of(ZERO, a, reached, reached)):
        refused(positive, absurd, proof)


def test_equal_sides_are_proved_in_both_cases() -> None:
    claim = equal(a.max(b) + (-a).max(-b), (a - b).max(b - a))
    same = one_line(claim)
    assert theorem(AB, claim, of(a, b, same, same)).claim == claim
    for false in (equal(a.max(b), a), equal(a.max(b), b)):
        refused(AB, false, of(a, b, one_line(false), one_line(false)))


def nested(times: int) -> Derivation:
    proof = NEITHER
    for k in range(times):
        proof = of(c, number(k), proof, NEITHER)
    return proof


def test_cases_inside_cases_have_an_end() -> None:
    assert theorem(AB, LARGER, nested(4)).claim == LARGER
    for times in (400, 2000):
        refused(AB, LARGER, nested(times))


def test_a_cases_circle_is_refused() -> None:
    """Plain data cannot hold itself unless somebody forces it to."""
    proof = Derivation(cases=GOOD)
    object.__setattr__(proof, "cases", Cases(a, b, proof, proof))
    refused(AB, LARGER, proof)


def test_a_subclass_of_cases_is_refused() -> None:
    class Sure:
        more, less, above, below = a, b, ABOVE, ABOVE

    refused(AB, LARGER, changed(NEITHER, cases=Sure()), "in the place of")


def test_invariants_of_a_case_are_checked() -> None:
    """A case may have invariants, which the method must keep in that case."""
    setting = drawing("FedDyn", signs=dict.fromkeys(("a", "P", "m"), "positive"))
    claim = at_most(ZERO, a)
    plain = shows(claim, a)
    wrong = replace(plain, invariants=(("shared h", server(0)),))
    assert theorem(setting, claim, of(a, ONE, plain, plain)).claim == claim
    refused(setting, claim, of(a, ONE, plain, wrong), "invariant")


m, P = map(parameter, "mP")
DRAWING = drawing()
FEW = at_most((m - 1) * (2 - m), ZERO)  # true of integers alone
FEW_PROOF = shows(FEW, (m - 1) * (m - 2))


def test_a_count_that_is_below_an_integer_is_at_most_the_one_before() -> None:
    assert theorem(DRAWING, FEW, of(m, number(2), FEW_PROOF, FEW_PROOF)).claim == FEW


@pytest.mark.parametrize(
    "proof",
    [
        FEW_PROOF,
        of(m, number(Fraction(3, 2)), FEW_PROOF, FEW_PROOF),  # m ≤ 3/2 is not m ≤ 1/2
        of(m, number(3), FEW_PROOF, FEW_PROOF),
        of(number(2), m, FEW_PROOF, FEW_PROOF),  # only the first number is that of clients
        of(m * 1, number(2), FEW_PROOF, FEW_PROOF),
        of(a, number(2), FEW_PROOF, FEW_PROOF),
        of(m, P, FEW_PROOF, FEW_PROOF),
    ],
    ids=["no cases", "a fraction", "another integer", "swapped", "a product", "no count", "two counts"],
)
def test_cases_that_are_not_of_a_count_at_an_integer_leave_no_gap(proof: Derivation) -> None:
    refused(DRAWING, FEW, proof, "may be negative")


def test_a_number_that_is_no_count_has_no_gap() -> None:
    claim = at_most((a - 1) * (2 - a), ZERO)
    proof = shows(claim, (a - 1) * (a - 2))
    setting = replace(
        DRAWING, conditions=(*DRAWING.conditions, (a, ">=", ONE)), example={**DRAWING.example, "a": ONE.args[0]}
    )
    refused(setting, claim, of(a, number(2), proof, proof), "may be negative")


u = family("u")
SPREAD = square(u - mean(u))


def of_spread(scale: Number) -> tuple[Claim, Derivation]:
    """That the average of a draw has this multiple of the clients' variance as its own, in both cases."""
    others = ONE.max(m - 1)
    claim = equal(expected(square(drawn(u) - mean(u))), scale * SPREAD)
    proof = one_line(claim, ((-SPREAD / (P * others), Hypothesis("scale")),))
    return claim, of(m, number(2), proof, proof)


def test_the_average_of_a_draw_varies_not_at_all_where_there_is_one_client() -> None:
    claim, proof = of_spread((m - P) / (P * ONE.max(m - 1)))
    assert theorem(DRAWING, claim, proof).claim == claim
    refused(DRAWING, claim, proof.cases.above, "undecided maximum")


@pytest.mark.parametrize(
    "scale", [(m - P) / P, (m - P) / (P * m), 1 / P, (m - P) / ONE.max(m - 1), (m - P) / (P * ONE.max(m - 2))]
)
def test_another_variance_of_a_draw_is_refused(scale: Number) -> None:
    """Each is wrong in one of the cases."""
    claim, proof = of_spread(scale)
    refused(DRAWING, claim, proof, r"is left|undecided")


def test_cases_in_a_setting_without_parameters() -> None:
    claim = at_most(ZERO, ONE)
    step = shows(claim, ONE)
    assert theorem(ClaimSetting(), claim, of(ONE, ZERO, step, step)).claim == claim
    false: Number = number(Fraction(-1, 2))
    refused(ClaimSetting(), at_most(ZERO, false), of(false, ZERO, shows(at_most(ZERO, false), false), step))
