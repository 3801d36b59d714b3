"""Attacks through the form of a proof, and through its size."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most, equal
from fedconvex.claims.terms import (
    Number,
    family,
    free,
    norm,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import CauchySchwarz, Derivation, Earlier, Nonnegative, Root, facts, squares

from .attacks import (
    FALSE,
    NOTHING,
    ONE,
    POSITIVE,
    TRUE,
    ZERO,
    accepted,
    chain,
    changed,
    line,
    one_line,
    proof,
    refused,
    some,
)

x, y, u = free("x"), free("y"), family("u")


TRIVIAL = line(TRUE, *POSITIVE, name="first")
VECTORS = line(equal(x, x), name="vectors")
STRUCTURE = {
    "no lines": (FALSE, proof(), "without lines"),
    "a line about something else": (FALSE, proof(TRIVIAL), "last line is not the claim"),
    "the claim's sides exchanged": (FALSE, proof(line(TRUE, *POSITIVE)), "last line is not the claim"),
    "an inequality for an equation": (equal(ZERO, ONE), proof(line(TRUE, *POSITIVE)), "last line is not the claim"),
    "the claim before the last line": (TRUE, proof(TRIVIAL, line(at_most(0, 2), (2, Nonnegative(ONE)))),
        "last line is not"),
    "a line that rests on itself": (FALSE, proof(line(FALSE, (1, Earlier("own")), name="own")), "no earlier line own"),
    "a line that rests on a later one": (FALSE,
        proof(line(FALSE, (1, Earlier("b")), name="a"), line(FALSE, (1, Earlier("a")), name="b")), "no earlier line b"),
    "a line by its place": (FALSE, proof(line(FALSE, (1, Earlier("line 1")))), "no earlier line"),
    "two lines of one name": (TRUE, proof(TRIVIAL, TRIVIAL), "two lines are called"),
    "a name that the kernel gives": (TRUE, proof(line(TRUE, *POSITIVE, name="line 2"), line(TRUE, *POSITIVE)),
        "two lines are called"),
    "an earlier inequality, turned": (FALSE, proof(TRIVIAL, line(FALSE, (-1, Earlier("first")))), "may be negative"),
    "an earlier inequality for an equation": (equal(ZERO, ONE),
        proof(TRIVIAL, line(equal(ZERO, ONE), (1, Earlier("first")))), "rests on an ineq"),
    "an equation of vectors with a multiplier": (TRUE, proof(VECTORS, line(TRUE, (1, Earlier("vectors")))),
        "no multiplier"),
    "a root of an equation of vectors": (TRUE, proof(VECTORS, Root(ZERO, ONE, "vectors")),
        "AttributeError|not about the squares"),
    "a root of another line": (at_most(norm(x), norm(y)), proof(TRIVIAL, Root(norm(x), norm(y), "first")),
        "not about the squares"),
    "a root of no line": (FALSE, proof(Root(ONE, ZERO, "first")), "no earlier line"),
    "a root with a negative right side": (
        at_most(number(1), number(-2)), proof(line(at_most(1, 4), (3, Nonnegative(ONE)), name="squares"),
        Root(ONE, number(-2), "squares")),
        "larger side may be negative"),
    "a root of a value": (
        at_most(norm(x), value(x)), proof(line(at_most(square(x), square(x)), name="squares"),
        Root(norm(x), value(x), "squares")),
        "larger side may be negative"),
    "a root for an equation": (equal(norm(x), norm(x)),
        proof(line(at_most(square(x), square(x)), name="s"), Root(norm(x), norm(x), "s")), "last line is not"),
    "vectors compared by ≤": (TRUE, proof(changed(VECTORS, relation="<=")), "only compared with equal"),
    "vectors with facts": (TRUE, proof(changed(VECTORS, facts=facts(*POSITIVE))), "only compared with equal"),
    "vectors with squares": (TRUE, proof(changed(VECTORS, squares=squares((1, x)))), "only compared with equal"),
    "a vector and a number": (TRUE, proof(changed(VECTORS, right=ONE)), "only compared with equal"),
    "a number and a vector": (TRUE, proof(changed(TRIVIAL, right=x)), "no meaning in a"),
    "an unknown relation": (TRUE, proof(changed(TRIVIAL, relation="<")), "no relation of a line"),
    "a strict relation in claim and line": (changed(TRUE, relation="<"), proof(changed(TRIVIAL, relation="<")),
        "no relation of a claim"),
    "a fact in the place of a line": (TRUE, proof(Nonnegative(ONE)), "in the place of"),
    "a line in the place of a fact": (TRUE, proof(changed(TRIVIAL, facts=((ONE, TRIVIAL),))), "in the place of"),
    "a list of lines": (TRUE, changed(proof(TRIVIAL), lines=[TRIVIAL]), "in the place of a tuple"),
    "a list of facts": (TRUE, proof(changed(TRIVIAL, facts=[(ONE, Nonnegative(ONE))])), "in the place of a tuple"),
    "facts without multipliers": (TRUE, proof(changed(TRIVIAL, facts=(Nonnegative(ONE),))), "in the place of a tuple"),
    "three parts of a fact": (TRUE, proof(changed(TRIVIAL, facts=((ONE, ONE, Nonnegative(ONE)),))), "3 entries"),
    "an integer as multiplier": (TRUE, proof(changed(TRIVIAL, facts=((1, Nonnegative(ONE)),))),
        "in the place of a Number"),
    "a float in a term": (TRUE, proof(changed(TRIVIAL, right=changed(ONE, args=(1.0,)))), "in the place of a term"),
    "NaN in a term": (TRUE, proof(changed(TRIVIAL, right=changed(ONE, args=(float("nan"),)))),
        "in the place of a term"),
    "a truth value as a number": (TRUE, proof(changed(TRIVIAL, right=changed(ONE, args=(True,)))),
        "in the place of a term"),
    "a text as a side": (TRUE, proof(changed(TRIVIAL, right="1")), "AttributeError|no meaning"),
    "None as a side": (TRUE, proof(changed(TRIVIAL, right=None)), "in the place of a term"),
    "a callable as a side": (TRUE, proof(changed(TRIVIAL, right=lambda: 1)), "in the place of a term"),
    "a name that is no text": (TRUE, proof(changed(TRIVIAL, name=("first",))), "in the place of a str"),
    "a time of 2": (TRUE, proof(changed(TRIVIAL, right=square(changed(server(1), args=(2,))))), "time 0 or 1"),
    "a time of True": (TRUE, proof(changed(TRIVIAL, right=square(changed(server(1), args=(True,))))),
        "in the place of a term"),
    "an unknown operation": (TRUE, proof(changed(TRIVIAL, right=changed(ONE, head="__class__"))), "no operation"),
    "a sign of True": (TRUE, proof(line(TRUE, (1, changed(CauchySchwarz(x, y), sign=True)))), "in the place of a int"),
    "a proof in the place of a claim": (proof(TRIVIAL), proof(TRIVIAL), "in the place of a Claim"),
    "a claim in the place of a proof": (TRUE, TRUE, "in the place of a Derivation"),
    "no proof": (TRUE, None, "in the place of a Derivation"),
    "a claim of numbers and vectors": (changed(TRUE, left=x), proof(TRIVIAL), "are not two numbers"),
    "a claim of vectors with ≤": (changed(TRUE, left=x, right=x), proof(VECTORS), "are not two numbers"),
    "a claim about a client by halves": (changed(TRUE, of_client=1), proof(TRIVIAL), "in the place of a bool"),
    "3 000 signs": (Claim(chain(ONE, 3000), "=", chain(ONE, 3000)),
        proof(line(equal(chain(ONE, 3000), chain(ONE, 3000)))), "RecursionError"),
    "3 000 signs of a vector": (equal(chain(x, 3000), x), proof(line(equal(chain(x, 3000), x))), "RecursionError"),
    "10⁵ digits": (TRUE, proof(line(TRUE, (number(10**10**5), Nonnegative(ONE)))), "too many digits"),
    "10⁵ digits of a fraction": (TRUE, proof(line(TRUE, (number(Fraction(1, 10**10**5)), Nonnegative(ONE)))),
        "too many digits"),
    "10⁵ letters": (TRUE, proof(line(TRUE, (1, Earlier("x" * 10**5)))), "too long"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "tried", "reason"), STRUCTURE.values(), ids=list(STRUCTURE))
def test_a_proof_of_another_form_is_refused(claim, tried, reason) -> None:
    refused(NOTHING, claim, tried, reason)


def doubled(of: Any, times: int) -> Any:
    for _ in range(times):
        of = of + of
    return of


@pytest.mark.beyond_core  # takes seconds
def test_a_term_with_many_shared_parts_is_refused_at_once() -> None:
    many = doubled(ONE, 80)
    for claim, setting in ((at_most(many, many), NOTHING), (TRUE, ClaimSetting(curvature=(None, many)))):
        refused(setting, claim, one_line(claim), "more than")
    lines = (TRIVIAL,)
    for _ in range(80):
        lines = (lines, lines)  # type: ignore[assignment]
    refused(NOTHING, TRUE, Derivation(lines), "in the place of")


POINTS = [value(free(f"x{i}")) for i in range(12)]
TALL = sum((parameter(n) for n in "bcdefgh"), start=parameter("a"))
NESTED = number(3)
for _ in range(6):
    NESTED = NESTED**40
SIZES = {
    "a power of a sum": (0 * TALL**40, "too many terms"),
    "a power of a power": (0 * (TALL**4) ** 8, "too many terms"),
    "a number of 10⁹ digits": (0 * NESTED, "too many terms"),
    "a power of values": (0 * sum(POINTS, start=ONE) ** 12, "too many terms"),
    "a product of sums": (0 * (TALL**5 * TALL**5 * TALL**5), "too many terms"),
    "the root of a large number": (0 * number(2**30).sqrt(), "the root of"),
    "roots of many primes": (0 * sum((number(p).sqrt() for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)),
        start=ONE), "too many"),
    "inner products of many vectors": (0 * square(sum((free(f"x{i}") for i in range(400)), start=x)),
        "too many terms"),
}  # fmt: skip


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize(("number_", "reason"), SIZES.values(), ids=list(SIZES))
def test_a_number_that_would_fill_the_memory_is_refused(number_, reason) -> None:
    claim = equal(number_, 0 * ONE)
    refused(some(*"abcdefgh"), claim, one_line(claim), reason)


def test_lines_with_roots_and_earlier_lines_are_accepted() -> None:
    squares_ = line(at_most(square(x), 4 * square(x)), name="squares", squares=squares((3, x)))
    claim = at_most(norm(x), 2 * norm(x))
    assert theorem(NOTHING, claim, proof(squares_, Root(norm(x), 2 * norm(x), "squares"))).claim == claim
    twice = line(at_most(0, 2), (2, Earlier("first")))
    assert theorem(NOTHING, at_most(0, 2), proof(TRIVIAL, twice)).claim == at_most(0, 2)
    assert theorem(NOTHING, equal(2 * x, x + x), proof(line(equal(2 * x, x + x)))).setting == NOTHING
    # The last line may say more, or the same in other words.
    assert theorem(NOTHING, at_most(norm(x), norm(x)), proof(line(equal(norm(x), norm(x))))).setting == NOTHING
    assert (
        theorem(NOTHING, at_most(0, number(1) + 1), proof(line(at_most(0, 2), (2, Nonnegative(ONE))))).setting
        == NOTHING
    )
    named = Number("named", ("n", ONE))
    assert accepted(NOTHING, at_most(0, named), POSITIVE)
