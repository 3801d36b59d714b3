"""Attacks through other statements: forged, circular, endless, of another setting."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.terms import (
    family,
    free,
    norm,
    number,
    parameter,
)
from fedconvex.proofs_checks.kernel import Library, Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.facts import no_statements
from fedconvex.proofs_checks.kernel.proofs import Proved

from .attacks import FALSE, NOTHING, ONE, POSITIVE, TRUE, ZERO, a, drawing, line, proof, refused, some

x, y, u = free("x"), free("y"), family("u")


TRIVIAL = line(TRUE, *POSITIVE, name="first")
VECTORS = line(equal(x, x), name="vectors")

# ---- other statements

DYN = drawing("FedDyn", curvature=(ZERO, ONE), minimiser=True)
SCALED = (DYN, TRUE, proof(TRIVIAL))


def resting_on(other: Any, setting: ClaimSetting = DYN, claim: Claim = TRUE) -> Theorem:
    """A proof that the statement called "other" implies its own claim."""
    return theorem(setting, claim, proof(line(claim, (1, Proved("other")))), lambda identifier: other)


def test_a_statement_that_is_proved_may_be_used() -> None:
    assert resting_on(SCALED).claim == TRUE


FORGED = {
    "a theorem made by hand": (Theorem(DYN, FALSE), "TypeError"),
    "nothing": (None, "TypeError"),
    "a claim without proof": ((DYN, FALSE), "TypeError|missing"),
    "a false proof": ((DYN, FALSE, proof(line(FALSE))), "is not the claim"),
    "a proof of another claim": ((DYN, FALSE, proof(TRIVIAL)), "last line is not the claim"),
    "a statement that rests on itself": ((DYN, FALSE, proof(line(FALSE, (1, Proved("other"))))),
        "rests on itself"),
    "a contradictory setting": ((replace(DYN, curvature=(ONE, ZERO)), TRUE, proof(TRIVIAL)), "empty interval"),
    "a statement about one client": ((DYN, replace(TRUE, of_client=True), proof(TRIVIAL)), "another kind"),
}  # fmt: skip


@pytest.mark.parametrize(("other", "reason"), FORGED.values(), ids=list(FORGED))
def test_what_somebody_says_of_another_statement_is_not_believed(other, reason) -> None:
    with pytest.raises(Refused, match=reason):
        resting_on(other)


def test_statements_without_end_are_refused() -> None:
    def endless(identifier: str) -> Any:
        return NOTHING, FALSE, proof(line(FALSE, (1, Proved(identifier + "x"))))

    refused(NOTHING, *endless("")[1:], r"RecursionError|too long", endless)


def test_a_statement_cannot_change_what_is_being_proved() -> None:
    """The kernel reads copies, so that whoever is called in between changes nothing."""
    claim, its_proof = at_most(0, 1), line(TRUE, (1, Proved("other")))

    def turn(identifier: str) -> Any:
        for of in (claim, its_proof):
            object.__setattr__(of, "left", ONE)
            object.__setattr__(of, "right", ZERO)
        return DYN, TRUE, proof(TRIVIAL)

    assert theorem(DYN, claim, proof(its_proof), turn).claim == TRUE


STRONGER: dict[str, tuple[dict[str, Any], str]] = {
    "another method": ({"method": "FedDynOneGD"}, "its method"),
    "another parameter of the method": ({"method_parameters": {"alpha": 2 * a}}, "its method_parameters"),
    "other draws": ({"draws": DrawScheme("uniform", ONE, parameter("m"))}, "its draws"),
    "everyone": ({"draws": DrawScheme()}, "its draws"),
    "other answers": ({"answers": "inexact", "inexactness": a}, "its answers"),
    "a dissimilarity": ({"dissimilarity": number(2)}, "its dissimilarity"),
    "a variance": ({"variance": ONE}, "its variance"),
    "a large gradient": ({"large_gradient": ONE}, "its large_gradient"),
    "own minima": ({"starts_at_own_minima": True}, "its starts_at_own_minima"),
    "more convexity": ({"curvature": (number(Fraction(1, 2)), ONE)}, "its curvature"),
    "less curvature": ({"curvature": (ZERO, number(Fraction(1, 2)))}, "its curvature"),
    "a class of the objective": ({"objective": (ZERO, None)}, "its objective"),
    "a narrower domain": ({"conditions": (*DYN.conditions, (ONE, ">=", a))}, "a condition on parameters"),
    "a strict domain": ({"conditions": ((parameter("m"), ">", parameter("P")),)}, "a condition on parameters"),
    "an equation": ({"conditions": (*DYN.conditions, (a, "=", ONE))}, "a condition on parameters"),
    "more integers": ({"counts": frozenset({"a", "P", "m"})}, "its integers"),
    "another parameter": (
        {"signs": {**DYN.signs, "q": "positive"}, "example": {**DYN.example, "q": Fraction(1)}}, "the sign of q"),
}  # fmt: skip


@pytest.mark.parametrize(("more", "reason"), STRONGER.values(), ids=list(STRONGER))
def test_a_statement_that_assumes_more_is_refused(more, reason) -> None:
    other = replace(DYN, **more)
    assert theorem(other, TRUE, proof(TRIVIAL)).claim == TRUE
    with pytest.raises(Refused, match=reason):
        resting_on((other, TRUE, proof(TRIVIAL)))


def test_a_statement_that_needs_a_minimiser_or_a_sign_is_refused_without() -> None:
    with pytest.raises(Refused, match="its minimiser"):
        resting_on(SCALED, replace(DYN, minimiser=False))
    with pytest.raises(Refused, match="the sign of x"):
        resting_on((some("x"), TRUE, proof(TRIVIAL)), some("x", sign="nonnegative"))
    with pytest.raises(Refused, match="its curvature"):
        resting_on(SCALED, replace(DYN, curvature=(ZERO, None)))


def test_statements_with_weaker_assumptions_and_equations_may_be_used() -> None:
    weaker = replace(
        DYN, curvature=(number(-1), number(2)), minimiser=False, conditions=(*DYN.conditions, (2 * a, ">", a))
    )
    assert resting_on((weaker, TRUE, proof(TRIVIAL))).claim == TRUE
    same = equal(norm(2 * x), 2 * norm(x))
    used = line(same, (1, Proved("other")))
    assert theorem(DYN, same, proof(used), lambda i: (DYN, same, proof(line(same)))).claim == same
    vectors = (DYN, equal(x, x), proof(VECTORS))
    with pytest.raises(Refused, match="no multiplier"):
        resting_on(vectors)
    equation = replace(DYN, conditions=(*DYN.conditions, (a, "=", a)))
    assert resting_on((equation, TRUE, proof(TRIVIAL))).claim == TRUE


def test_a_statement_cited_twice_is_proved_once() -> None:
    asked = []

    def known(identifier: str) -> Any:
        asked.append(identifier)
        return SCALED

    claim = at_most(0, 2)
    twice = proof(line(claim, (1, Proved("other")), (1, Proved("other"))))
    assert theorem(DYN, claim, twice, known)
    assert asked == ["other"]
    more = at_most(0, 3)
    refused(DYN, more, proof(line(more, (1, Proved("other")), (1, Proved("other")))), "sum of the facts", known)


class Same(str):
    """A text that equals every other one."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def test_what_was_proved_under_a_name_proves_nothing_else_of_that_name() -> None:
    library, right = Library(no_statements), proof(TRIVIAL)
    assert library.theorem("it", DYN, TRUE, right).claim == TRUE
    for claim in (at_most(0, 3), replace(TRUE, relation=Same("<="))):
        with pytest.raises(Refused):
            library.theorem("it", DYN, claim, right)
    with pytest.raises(Refused):
        library.theorem("it", DYN, TRUE, proof(line(at_most(0, 3))))
    assert library.theorem("it", DYN, TRUE, right).claim == TRUE
