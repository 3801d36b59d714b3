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
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import (
    CauchySchwarz,
    Combine,
    Derivation,
    Earlier,
    Nonnegative,
    Root,
    facts,
    squares,
)

from .attacks import (
    ONE,
    ZERO,
    accepted,
    chain,
    changed,
    one_line,
    some,
)

x, y, u = free("x"), free("y"), family("u")
NOTHING = ClaimSetting()
POSITIVE = ((1, Nonnegative(ONE)),)
UP, DOWN = at_most(0, 1), at_most(1, 0)


def proof(*lines: Any, **more: Any) -> Derivation:
    return Derivation(tuple(lines), **more)


def says(claim: Claim, used: Any = (), name: str = "", **more: Any) -> Combine:
    return Combine(claim.left, claim.right, facts(*used), relation=claim.relation, name=name, **more)


TRIVIAL = says(UP, POSITIVE, "first")
VECTORS = says(equal(x, x), (), "vectors")
STRUCTURE = {
    "no lines": (DOWN, proof(), "without lines"),
    "a line about something else": (DOWN, proof(TRIVIAL), "last line is not the claim"),
    "the claim's sides exchanged": (DOWN, proof(says(UP, POSITIVE)), "last line is not the claim"),
    "an inequality for an equation": (equal(ZERO, ONE), proof(says(UP, POSITIVE)), "last line is not the claim"),
    "the claim before the last line": (UP, proof(TRIVIAL, says(at_most(0, 2), ((2, Nonnegative(ONE)),))),
        "last line is not"),
    "a line that rests on itself": (DOWN, proof(says(DOWN, ((1, Earlier("own")),), "own")), "no earlier line own"),
    "a line that rests on a later one": (DOWN,
        proof(says(DOWN, ((1, Earlier("b")),), "a"), says(DOWN, ((1, Earlier("a")),), "b")), "no earlier line b"),
    "a line by its place": (DOWN, proof(says(DOWN, ((1, Earlier("line 1")),))), "no earlier line"),
    "two lines of one name": (UP, proof(TRIVIAL, TRIVIAL), "two lines are called"),
    "a name that the kernel gives": (UP, proof(says(UP, POSITIVE, "line 2"), says(UP, POSITIVE)),
        "two lines are called"),
    "an earlier inequality, turned": (DOWN, proof(TRIVIAL, says(DOWN, ((-1, Earlier("first")),))), "may be negative"),
    "an earlier inequality for an equation": (equal(ZERO, ONE),
        proof(TRIVIAL, says(equal(ZERO, ONE), ((1, Earlier("first")),))), "rests on an ineq"),
    "an equation of vectors with a multiplier": (UP, proof(VECTORS, says(UP, ((1, Earlier("vectors")),))),
        "no multiplier"),
    "a root of an equation of vectors": (UP, proof(VECTORS, Root(ZERO, ONE, "vectors")),
        "AttributeError|not about the squares"),
    "a root of another line": (at_most(norm(x), norm(y)), proof(TRIVIAL, Root(norm(x), norm(y), "first")),
        "not about the squares"),
    "a root of no line": (DOWN, proof(Root(ONE, ZERO, "first")), "no earlier line"),
    "a root with a negative right side": (
        at_most(number(1), number(-2)), proof(says(at_most(1, 4), ((3, Nonnegative(ONE)),), "squares"),
        Root(ONE, number(-2), "squares")),
        "larger side may be negative"),
    "a root of a value": (
        at_most(norm(x), value(x)), proof(says(at_most(square(x), square(x)), (), "squares"),
        Root(norm(x), value(x), "squares")),
        "larger side may be negative"),
    "a root for an equation": (equal(norm(x), norm(x)),
        proof(says(at_most(square(x), square(x)), (), "s"), Root(norm(x), norm(x), "s")), "last line is not"),
    "vectors compared by ≤": (UP, proof(changed(VECTORS, relation="<=")), "only compared with equal"),
    "vectors with facts": (UP, proof(changed(VECTORS, facts=facts(*POSITIVE))), "only compared with equal"),
    "vectors with squares": (UP, proof(changed(VECTORS, squares=squares((1, x)))), "only compared with equal"),
    "a vector and a number": (UP, proof(changed(VECTORS, right=ONE)), "only compared with equal"),
    "a number and a vector": (UP, proof(changed(TRIVIAL, right=x)), "no meaning in a"),
    "an unknown relation": (UP, proof(changed(TRIVIAL, relation="<")), "no relation of a line"),
    "a strict relation in claim and line": (changed(UP, relation="<"), proof(changed(TRIVIAL, relation="<")),
        "no relation of a claim"),
    "a fact in the place of a line": (UP, proof(Nonnegative(ONE)), "in the place of"),
    "a line in the place of a fact": (UP, proof(changed(TRIVIAL, facts=((ONE, TRIVIAL),))), "in the place of"),
    "a list of lines": (UP, changed(proof(TRIVIAL), lines=[TRIVIAL]), "in the place of a tuple"),
    "a list of facts": (UP, proof(changed(TRIVIAL, facts=[(ONE, Nonnegative(ONE))])), "in the place of a tuple"),
    "facts without multipliers": (UP, proof(changed(TRIVIAL, facts=(Nonnegative(ONE),))), "in the place of a tuple"),
    "three parts of a fact": (UP, proof(changed(TRIVIAL, facts=((ONE, ONE, Nonnegative(ONE)),))), "3 entries"),
    "an integer as multiplier": (UP, proof(changed(TRIVIAL, facts=((1, Nonnegative(ONE)),))),
        "in the place of a Number"),
    "a float in a term": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(1.0,)))), "in the place of a term"),
    "NaN in a term": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(float("nan"),)))),
        "in the place of a term"),
    "a truth value as a number": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(True,)))),
        "in the place of a term"),
    "a text as a side": (UP, proof(changed(TRIVIAL, right="1")), "AttributeError|no meaning"),
    "None as a side": (UP, proof(changed(TRIVIAL, right=None)), "in the place of a term"),
    "a callable as a side": (UP, proof(changed(TRIVIAL, right=lambda: 1)), "in the place of a term"),
    "a name that is no text": (UP, proof(changed(TRIVIAL, name=("first",))), "in the place of a str"),
    "a time of 2": (UP, proof(changed(TRIVIAL, right=square(changed(server(1), args=(2,))))), "time 0 or 1"),
    "a time of True": (UP, proof(changed(TRIVIAL, right=square(changed(server(1), args=(True,))))),
        "in the place of a term"),
    "an unknown operation": (UP, proof(changed(TRIVIAL, right=changed(ONE, head="__class__"))), "no operation"),
    "a sign of True": (UP, proof(says(UP, ((1, changed(CauchySchwarz(x, y), sign=True)),))), "in the place of a int"),
    "a proof in the place of a claim": (proof(TRIVIAL), proof(TRIVIAL), "in the place of a Claim"),
    "a claim in the place of a proof": (UP, UP, "in the place of a Derivation"),
    "no proof": (UP, None, "in the place of a Derivation"),
    "a claim of numbers and vectors": (changed(UP, left=x), proof(TRIVIAL), "are not two numbers"),
    "a claim of vectors with ≤": (changed(UP, left=x, right=x), proof(VECTORS), "are not two numbers"),
    "a claim about a client by halves": (changed(UP, of_client=1), proof(TRIVIAL), "in the place of a bool"),
    "3 000 signs": (Claim(chain(ONE, 3000), "=", chain(ONE, 3000)),
        proof(says(equal(chain(ONE, 3000), chain(ONE, 3000)))), "RecursionError"),
    "3 000 signs of a vector": (equal(chain(x, 3000), x), proof(says(equal(chain(x, 3000), x))), "RecursionError"),
    "10⁵ digits": (UP, proof(says(UP, ((number(10**10**5), Nonnegative(ONE)),))), "too many digits"),
    "10⁵ digits of a fraction": (UP, proof(says(UP, ((number(Fraction(1, 10**10**5)), Nonnegative(ONE)),))),
        "too many digits"),
    "10⁵ letters": (UP, proof(says(UP, ((1, Earlier("x" * 10**5)),))), "too long"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "tried", "reason"), STRUCTURE.values(), ids=list(STRUCTURE))
def test_a_proof_of_another_form_is_refused(claim, tried, reason) -> None:
    with pytest.raises(Refused, match=reason):
        theorem(NOTHING, claim, tried)


def doubled(of: Any, times: int) -> Any:
    for _ in range(times):
        of = of + of
    return of


@pytest.mark.beyond_core  # takes seconds
def test_a_term_with_many_shared_parts_is_refused_at_once() -> None:
    many = doubled(ONE, 80)
    for claim, setting in ((at_most(many, many), NOTHING), (UP, ClaimSetting(curvature=(None, many)))):
        with pytest.raises(Refused, match="more than"):
            theorem(setting, claim, one_line(claim))
    lines = (TRIVIAL,)
    for _ in range(80):
        lines = (lines, lines)  # type: ignore[assignment]
    with pytest.raises(Refused, match="in the place of"):
        theorem(NOTHING, UP, Derivation(lines))


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
    with pytest.raises(Refused, match=reason):
        theorem(some(*"abcdefgh"), claim, one_line(claim))


def test_lines_with_roots_and_earlier_lines_are_accepted() -> None:
    squares_ = says(at_most(square(x), 4 * square(x)), (), "squares", squares=squares((3, x)))
    claim = at_most(norm(x), 2 * norm(x))
    assert theorem(NOTHING, claim, proof(squares_, Root(norm(x), 2 * norm(x), "squares"))).claim == claim
    twice = says(at_most(0, 2), ((2, Earlier("first")),))
    assert theorem(NOTHING, at_most(0, 2), proof(TRIVIAL, twice)).claim == at_most(0, 2)
    assert theorem(NOTHING, equal(2 * x, x + x), proof(says(equal(2 * x, x + x)))).setting == NOTHING
    # The last line may say more, or the same in other words.
    assert theorem(NOTHING, at_most(norm(x), norm(x)), proof(says(equal(norm(x), norm(x))))).setting == NOTHING
    assert (
        theorem(NOTHING, at_most(0, number(1) + 1), proof(says(at_most(0, 2), ((2, Nonnegative(ONE)),)))).setting
        == NOTHING
    )
    named = Number("named", ("n", ONE))
    assert accepted(NOTHING, at_most(0, named), POSITIVE)
