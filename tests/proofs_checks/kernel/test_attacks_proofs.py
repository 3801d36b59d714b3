"""Attacks through the proof: facts of other function classes, signs of multipliers, statements, structure, size."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    drawn,
    expected,
    family,
    free,
    gradient,
    inner,
    mean,
    minimiser,
    norm,
    number,
    parameter,
    residuals,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import (
    Between,
    CauchySchwarz,
    Combine,
    Derivation,
    Earlier,
    Hypothesis,
    Lower,
    Nonnegative,
    Proved,
    Root,
    Upper,
    facts,
    squares,
)

from .attacks import ONE, TRUE, ZERO, Attack, L, a, accepted, chain, changed, drawing, mu, one_line, parametrised, some

x, y, u = free("x"), free("y"), family("u")
NOTHING = ClaimSetting()
POSITIVE = ((1, Nonnegative(ONE)),)
SMOOTH = some("L", curvature=(None, L))
CONVEX = ClaimSetting(curvature=(ZERO, None))
BOTH = some("L", "mu", curvature=(mu, L), conditions=((L, ">=", mu),))
OBJECTIVE = some("L", objective=(ZERO, L), minimiser=True)
SPACE = some("a", "b", "c", signs={"a": "real", "b": "nonnegative", "c": "positive"})
b, c = parameter("b"), parameter("c")


def quadratic(to: Vector, at: Vector, curvature: Any, largest: bool) -> Claim:
    """F(to) against its quadratic of that curvature at the other point."""
    model = value(at) + inner(gradient(at), to - at) + number(curvature) / 2 * square(to - at)
    return at_most(value(to), model) if largest else at_most(model, value(to))


def by(reason: str, setting: ClaimSetting, claim: Claim, *used: Any, weighed: Any = ()) -> Attack:
    return Attack(reason, setting, claim, tuple((1, f) for f in used), weighed)


def lipschitz(to: Vector, at: Vector, most: Any) -> Claim:
    return at_most(square(gradient(to) - gradient(at)), number(most) ** 2 * square(to - at))


CLASSES = {
    "smoothness that is not assumed": by("no largest curvature", CONVEX, quadratic(y, x, 1, True), Upper(y, x)),
    "smoothness of nothing": by("no largest curvature", NOTHING, quadratic(y, x, 1, True), Upper(y, x, ONE)),
    "convexity that is not assumed": by("no least curvature", SMOOTH, quadratic(y, x, 0, False), Lower(y, x)),
    "convexity of smooth functions, given": by("no least curvature", SMOOTH, quadratic(y, x, 0, False), Lower(y, x, ZERO)),
    "a smaller largest curvature": by("not assumed", SMOOTH, quadratic(y, x, L / 2, True), Upper(y, x, L / 2)),
    "a larger least curvature": by("not assumed", BOTH, quadratic(y, x, 2 * mu, False), Lower(y, x, 2 * mu)),
    "the least curvature is the largest": by("not assumed", BOTH, quadratic(y, x, mu, True), Upper(y, x, mu)),
    "the largest curvature is the least": by("not assumed", BOTH, quadratic(y, x, L, False), Lower(y, x, L)),
    "a curvature that cannot be compared": by("not assumed", BOTH, quadratic(y, x, L - 1, False), Lower(y, x, L - 1)),
    "a smaller interval": by("not assumed", BOTH, lipschitz(y, x, L), Between(y, x, 2 * mu, L)),
    "a smaller interval, above": by("not assumed", BOTH, lipschitz(y, x, L), Between(y, x, mu, L / 2)),
    "Lipschitz gradients of smooth functions": by("no least curvature", SMOOTH, lipschitz(y, x, L), Between(y, x, -L, L)),
    "Lipschitz with half the constant": by("is not the claim", BOTH, lipschitz(y, x, L / 2), Between(y, x, -L, L)),
    "the objective's class at clients' points": by("at clients' points", OBJECTIVE, quadratic(u, x, L, True), Upper(u, x)),
    "the objective's class at clients' starts": by("at clients' points", OBJECTIVE, quadratic(x, u, L, True), Upper(x, u)),
    "the objective's convexity at clients' points": by("at clients' points", OBJECTIVE, quadratic(mean(u), u, 0, False), Lower(mean(u), u)),
    "the objective's Lipschitz gradient at clients' points": by("at clients' points", OBJECTIVE, lipschitz(u, x, L), Between(u, x, -L, L)),
    "the objective's Lipschitz gradient of the clients": by("is not the claim", OBJECTIVE, lipschitz(y, x, L), Between(y, x, -L, L)),
    "the objective's class of one client": by(
        "at clients' points", OBJECTIVE, replace(quadratic(y, x, L, True), of_client=True), Upper(y, x)),
    "the objective's least, no largest": by("no largest", ClaimSetting(objective=(ZERO, None)), lipschitz(y, x, 1), Between(y, x)),
    "a tangent with another point's gradient": by(
        "is not the claim", SMOOTH, at_most(value(y), value(x) + inner(gradient(y), y - x) + L / 2 * square(y - x)), Upper(y, x)),
    "a tangent with another direction": by(
        "is not the claim", SMOOTH, at_most(value(y), value(x) + inner(gradient(x), x - y) + L / 2 * square(y - x)), Upper(y, x)),
    "without the half": by("is not the claim", SMOOTH, at_most(value(y) + L * square(y - x), value(x) + inner(gradient(x), y - x)), Upper(y, x)),
    "a class at a random point": by(
        "gradient at a point that depends", drawing(curvature=(ZERO, ONE)), quadratic(x, drawn(u), 1, True), Upper(x, drawn(u))),
    "a value at a random point, for every draw": by(
        "outside an expectation", drawing(curvature=(ZERO, ONE)), quadratic(drawn(u), x, 1, True), Upper(drawn(u), x)),
    "x* is the least point of a nonconvex objective": by(
        "is not the claim", some("L", objective=(-L, L), minimiser=True), at_most(value(minimiser), value(x)), Lower(x, minimiser)),
    "x* is least without convexity": by(
        "is not the claim", ClaimSetting(minimiser=True), at_most(value(minimiser), value(x))),
    "x* is each client's least point": by(
        "is not the claim|at clients' points", ClaimSetting(curvature=(ZERO, None), minimiser=True),
        at_most(value(minimiser), value(x), of_client=True), Lower(x, minimiser)),
    "x* is the least of clients' points": by(
        "is not the claim", ClaimSetting(curvature=(ZERO, None), minimiser=True), at_most(value(minimiser), value(u)), Lower(u, minimiser)),
    "a descent with too long a step": by(
        "is not the claim", some("L", curvature=(None, L)),
        at_most(value(x - 2 / L * gradient(x)), value(x) - square(gradient(x)) / L, of_client=True), Upper(x - 2 / L * gradient(x), x)),
}  # fmt: skip

PROX = drawing("FedProx", answers="inexact", inexactness=parameter("a"))
ERROR = drawing("FedProx", answers="error", inexactness=parameter("a"))
ASSUMED = {
    "no inexactness": by("no inexactness", drawing("FedProx"), at_most(square(residuals), 0), Hypothesis("inexactness")),
    "no error": by("no error", PROX, at_most(square(answers - solutions), a**2), Hypothesis("error")),
    "the error is no inexactness": by("no inexactness", ERROR, at_most(square(residuals), a**2), Hypothesis("inexactness")),
    "inexactness without a round": by("no method", ClaimSetting(), TRUE, Hypothesis("inexactness")),
    "half the inexactness": by("is not the claim", PROX, at_most(square(residuals), a**2 / 2 * square(gradient(server(0)))), Hypothesis("inexactness")),
    "inexactness of the solutions": by("is not the claim", PROX, at_most(square(answers - solutions), a**2 * square(gradient(server(0)))), Hypothesis("inexactness")),
    "inexactness without its square": by("is not the claim", PROX, at_most(square(residuals), a * square(gradient(server(0)))), Hypothesis("inexactness")),
    "the error without its square": by("is not the claim", ERROR, at_most(square(answers - solutions), a), Hypothesis("error")),
    "no dissimilarity": by("dissimilarity is not assumed", NOTHING, at_most(square(gradient(server(0))), 0), Hypothesis("dissimilarity")),
    "no variance": by("variance is not assumed", NOTHING, at_most(square(gradient(server(0))), 0), Hypothesis("variance")),
    "no large gradient": by("large gradient is not assumed", NOTHING, TRUE, Hypothesis("large gradient")),
    "an unknown assumption": by("luck is not assumed", NOTHING, TRUE, Hypothesis("luck")),
    "an empty assumption": by("is not assumed", NOTHING, TRUE, Hypothesis("")),
    "dissimilarity at another point": by(
        "is not the claim", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(x)), parameter("B") ** 2 * square(mean(gradient(x)))), Hypothesis("dissimilarity")),
    "dissimilarity after the round": by(
        "gradient at a point that depends", drawing("FedProx", dissimilarity=a),
        at_most(square(gradient(server(1))), a**2 * square(mean(gradient(server(1))))), Hypothesis("dissimilarity")),
    "dissimilarity of one client": by(
        "claim about one of them", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(server(0))), 1, of_client=True), Hypothesis("dissimilarity")),
    "dissimilarity with B": by(
        "is not the claim", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(server(0))), parameter("B") * square(mean(gradient(server(0))))), Hypothesis("dissimilarity")),
    "variance at x*": by("is not the claim", ClaimSetting(variance=ONE, minimiser=True), at_most(square(gradient(minimiser)), 1), Hypothesis("variance")),
    "variance is a second moment": by("is not the claim", ClaimSetting(variance=ONE), at_most(square(gradient(server(0))), 1), Hypothesis("variance")),
    "a large gradient of every client": by("is not the claim", ClaimSetting(large_gradient=ONE), at_most(1, square(gradient(x))), Hypothesis("large gradient")),
}  # fmt: skip

MULTIPLIERS = {
    "−1": Attack("may be negative", NOTHING, at_most(1, 0), ((-1, Nonnegative(ONE)),)),
    "a real number": Attack("may be negative", SPACE, at_most(0, a), ((1, Nonnegative(a)),)),
    "a product with a real number": Attack("may be negative", SPACE, at_most(0, a * b), ((1, Nonnegative(a * b)),)),
    "a cube of a real number": Attack("may be negative", SPACE, at_most(0, a**3), ((1, Nonnegative(a**3)),)),
    "c − 1": Attack("may be negative", SPACE, at_most(1, c), ((1, Nonnegative(c - 1)),)),
    "c² − c": Attack("may be negative", SPACE, at_most(c, c**2), ((1, Nonnegative(c**2 - c)),)),
    "1/b": Attack("may be 0", SPACE, at_most(0, 1 / b), ((1, Nonnegative(1 / b)),)),
    "1/(1 + a)": Attack("may be 0", SPACE, at_most(0, 1 / (1 + a)), ((1, Nonnegative(1 / (1 + a))),)),
    "a − b of nothing": Attack("may be negative", SPACE, at_most(b, a), ((1, Nonnegative(a - b)),)),
    "a weak condition is strict": Attack(
        "may be 0", some("x", "y", conditions=((parameter("x"), ">=", parameter("y")),)),
        at_most(0, 1 / (parameter("x") - parameter("y"))), ((1, Nonnegative(1 / (parameter("x") - parameter("y")))),)),
    "a condition the other way": Attack(
        "may be negative", some("x", "y", conditions=((parameter("x"), ">=", parameter("y")),)),
        at_most(parameter("x"), parameter("y")), ((1, Nonnegative(parameter("y") - parameter("x"))),)),
    "a product of differences": Attack(
        "may be negative", some("x", "y", "z", conditions=((parameter("x"), ">=", parameter("y")),)),
        at_most(0, 1), ((1, Nonnegative((parameter("x") - parameter("y")) * (parameter("y") - parameter("z")))),)),
    "of a value": Attack("may be negative", NOTHING, at_most(0, value(x)), ((1, Nonnegative(value(x))),)),
    "of an inner product": Attack("may be negative", NOTHING, at_most(0, inner(x, y)), ((1, Nonnegative(inner(x, y))),)),
    "of a difference of lengths": Attack("may be negative", NOTHING, at_most(norm(y), norm(x)), ((1, Nonnegative(norm(x) - norm(y))),)),
    "a length times a real number": Attack("may be negative", SPACE, at_most(0, a * norm(x)), ((1, Nonnegative(a * norm(x))),)),
    "a value as multiplier": Attack("may be negative", NOTHING, at_most(0, value(x)), ((value(x), Nonnegative(ONE)),)),
    "an inner product as multiplier": Attack("may be negative", NOTHING, at_most(0, inner(x, y)), ((inner(x, y), Nonnegative(ONE)),)),
    "a square with weight −1": Attack("may be negative", NOTHING, at_most(square(x), 0), (), ((-1, x),)),
    "a square with a real weight": Attack("may be negative", SPACE, at_most(0, a * square(x)), (), ((a, x),)),
    "a square with a value as weight": Attack("may be negative", NOTHING, at_most(0, value(x) * square(x)), (), ((value(x), x),)),
    "an equation by an inequality": Attack("rests on an inequality", NOTHING, equal(ONE, ZERO), ((-1, Nonnegative(ONE)),)),
    "an equation by a square": Attack("rests on a square", NOTHING, equal(ZERO * ONE, square(x)), (), ((1, x),)),
    "a multiplier of 0": Attack("is not the claim", NOTHING, at_most(1, 0), ((0, Nonnegative(ONE)),)),
    "an unknown parameter": Attack("no parameter of the setting", NOTHING, TRUE, ((parameter("q"), Nonnegative(ONE)),)),
    "an unknown parameter in a claim": Attack("does not know", NOTHING, at_most(parameter("q"), parameter("q"))),
    "a multiplier of an equation with a pole": Attack(
        "may be 0", drawing(), at_most(0, 1), ((1 / (parameter("P") - 2), Hypothesis("scale")),)),
    "a large exponent": Attack("no small integer", NOTHING, TRUE, ((number(2) ** 41, Nonnegative(ONE)),)),
    "a negative large exponent": Attack("no small integer", NOTHING, TRUE, ((number(2) ** -41, Nonnegative(ONE)),)),
}  # fmt: skip


@parametrised(CLASSES | ASSUMED | MULTIPLIERS)
def test_a_fact_that_is_not_granted_is_refused(attack) -> None:
    attack.is_refused()


def test_facts_nearby_are_granted() -> None:
    assert accepted(SMOOTH, quadratic(y, x, L, True), ((1, Upper(y, x)),))
    assert accepted(SMOOTH, quadratic(y, x, 2 * L, True), ((1, Upper(y, x, 2 * L)),))
    assert accepted(BOTH, quadratic(y, x, mu / 2, False), ((1, Lower(y, x, mu / 2)),))
    assert accepted(some("L", curvature=(ZERO, L)), lipschitz(y, x, L), ((1, Between(y, x, -L, L)),))
    mean_lipschitz = at_most(square(mean(gradient(y) - gradient(x))), L**2 * square(y - x))
    assert accepted(OBJECTIVE, mean_lipschitz, ((1, Between(y, x, -L, L)),))
    assert accepted(OBJECTIVE, at_most(value(minimiser), value(x)), ((1, Lower(x, minimiser)),))
    random = drawing(curvature=(ZERO, ONE))
    point = drawn(u)
    model = value(x) + inner(gradient(x), point - x) + square(point - x) / 2
    assert accepted(random, at_most(expected(value(point)), expected(model)), ((1, Upper(point, x)),))
    assert accepted(
        PROX, at_most(square(residuals), a**2 * square(gradient(server(0)))), ((1, Hypothesis("inexactness")),)
    )
    assert accepted(ERROR, at_most(square(answers - solutions), a**2), ((1, Hypothesis("error")),))
    B = parameter("B")
    granted = at_most(square(gradient(server(0))), B**2 * square(mean(gradient(server(0)))))
    assert accepted(some("B", dissimilarity=B), granted, ((1, Hypothesis("dissimilarity")),))
    spread = at_most(square(gradient(server(0)) - mean(gradient(server(0)))), 1)
    assert accepted(ClaimSetting(variance=ONE), spread, ((1, Hypothesis("variance")),))
    assert accepted(
        ClaimSetting(large_gradient=ONE),
        at_most(1, square(mean(gradient(server(0))))),
        ((1, Hypothesis("large gradient")),),
    )
    P, m = parameter("P"), parameter("m")
    assert accepted(
        drawing(), equal(parameter("P") * (m - 1) * parameter("a"), P * (m - 1) * a), ((0, Hypothesis("scale")),)
    )
    assert accepted(NOTHING, at_most(0, norm(x) * square(y)), (), ((norm(x), y),))
    assert accepted(NOTHING, at_most(0, norm(x) * norm(y) * 2), ((2, Nonnegative(norm(x) * norm(y))),))
    assert accepted(NOTHING, equal(norm(0 * x), 0 * ONE))


# ---- structure

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
    "an equation for an inequality": (at_most(x_ := norm(x), x_), proof(says(equal(x_, x_))), "last line is not the claim"),
    "the claim before the last line": (UP, proof(TRIVIAL, says(at_most(0, 2), ((2, Nonnegative(ONE)),))), "last line is not"),
    "an equal number in other words": (at_most(0, number(1) + 1), proof(says(at_most(0, 2), ((2, Nonnegative(ONE)),))), "last line is not"),
    "a line that rests on itself": (DOWN, proof(says(DOWN, ((1, Earlier("own")),), "own")), "no earlier line own"),
    "a line that rests on a later one": (DOWN, proof(says(DOWN, ((1, Earlier("b")),), "a"), says(DOWN, ((1, Earlier("a")),), "b")), "no earlier line b"),
    "a line by its place": (DOWN, proof(says(DOWN, ((1, Earlier("line 1")),))), "no earlier line"),
    "two lines of one name": (UP, proof(TRIVIAL, TRIVIAL), "two lines are called"),
    "a name that the kernel gives": (UP, proof(says(UP, POSITIVE, "line 2"), says(UP, POSITIVE)), "two lines are called"),
    "an earlier inequality, turned": (DOWN, proof(TRIVIAL, says(DOWN, ((-1, Earlier("first")),))), "may be negative"),
    "an earlier inequality for an equation": (equal(ZERO, ONE), proof(TRIVIAL, says(equal(ZERO, ONE), ((1, Earlier("first")),))), "rests on an ineq"),
    "an equation of vectors with a multiplier": (UP, proof(VECTORS, says(UP, ((1, Earlier("vectors")),))), "no multiplier"),
    "a root of an equation of vectors": (UP, proof(VECTORS, Root(ZERO, ONE, "vectors")), "AttributeError|not about the squares"),
    "a root of another line": (at_most(norm(x), norm(y)), proof(TRIVIAL, Root(norm(x), norm(y), "first")), "not about the squares"),
    "a root of no line": (DOWN, proof(Root(ONE, ZERO, "first")), "no earlier line"),
    "a root with a negative right side": (
        at_most(number(1), number(-2)), proof(says(at_most(1, 4), ((3, Nonnegative(ONE)),), "squares"), Root(ONE, number(-2), "squares")),
        "larger side may be negative"),
    "a root of a value": (
        at_most(norm(x), value(x)), proof(says(at_most(square(x), square(x)), (), "squares"), Root(norm(x), value(x), "squares")),
        "larger side may be negative"),
    "a root for an equation": (equal(norm(x), norm(x)), proof(says(at_most(square(x), square(x)), (), "s"), Root(norm(x), norm(x), "s")), "last line is not"),
    "vectors compared by ≤": (UP, proof(changed(VECTORS, relation="<=")), "only compared with equal"),
    "vectors with facts": (UP, proof(changed(VECTORS, facts=facts(*POSITIVE))), "only compared with equal"),
    "vectors with squares": (UP, proof(changed(VECTORS, squares=squares((1, x)))), "only compared with equal"),
    "a vector and a number": (UP, proof(changed(VECTORS, right=ONE)), "only compared with equal"),
    "a number and a vector": (UP, proof(changed(TRIVIAL, right=x)), "no meaning in a round"),
    "an unknown relation": (UP, proof(changed(TRIVIAL, relation="<")), "no relation of a line"),
    "a strict relation in claim and line": (changed(UP, relation="<"), proof(changed(TRIVIAL, relation="<")), "no relation of a claim"),
    "a fact in the place of a line": (UP, proof(Nonnegative(ONE)), "in the place of"),
    "a line in the place of a fact": (UP, proof(changed(TRIVIAL, facts=((ONE, TRIVIAL),))), "in the place of"),
    "a list of lines": (UP, changed(proof(TRIVIAL), lines=[TRIVIAL]), "in the place of a tuple"),
    "a list of facts": (UP, proof(changed(TRIVIAL, facts=[(ONE, Nonnegative(ONE))])), "in the place of a tuple"),
    "facts without multipliers": (UP, proof(changed(TRIVIAL, facts=(Nonnegative(ONE),))), "in the place of a tuple"),
    "three parts of a fact": (UP, proof(changed(TRIVIAL, facts=((ONE, ONE, Nonnegative(ONE)),))), "3 entries"),
    "an integer as multiplier": (UP, proof(changed(TRIVIAL, facts=((1, Nonnegative(ONE)),))), "in the place of a Number"),
    "a float in a term": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(1.0,)))), "in the place of a term"),
    "NaN in a term": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(float("nan"),)))), "in the place of a term"),
    "a truth value as a number": (UP, proof(changed(TRIVIAL, right=changed(ONE, args=(True,)))), "in the place of a term"),
    "a text as a side": (UP, proof(changed(TRIVIAL, right="1")), "AttributeError|no meaning"),
    "None as a side": (UP, proof(changed(TRIVIAL, right=None)), "in the place of a term"),
    "a callable as a side": (UP, proof(changed(TRIVIAL, right=lambda: 1)), "in the place of a term"),
    "a name that is no text": (UP, proof(changed(TRIVIAL, name=("first",))), "in the place of a str"),
    "a time of 2": (UP, proof(changed(TRIVIAL, right=square(changed(server(1), args=(2,))))), "time 0 or 1"),
    "a time of True": (UP, proof(changed(TRIVIAL, right=square(changed(server(1), args=(True,))))), "in the place of a term"),
    "an unknown operation": (UP, proof(changed(TRIVIAL, right=changed(ONE, head="__class__"))), "no operation"),
    "a sign of True": (UP, proof(says(UP, ((1, changed(CauchySchwarz(x, y), sign=True)),))), "in the place of a int"),
    "a proof in the place of a claim": (proof(TRIVIAL), proof(TRIVIAL), "in the place of a Claim"),
    "a claim in the place of a proof": (UP, UP, "in the place of a Derivation"),
    "no proof": (UP, None, "in the place of a Derivation"),
    "a claim of numbers and vectors": (changed(UP, left=x), proof(TRIVIAL), "are not two numbers"),
    "a claim of vectors with ≤": (changed(UP, left=x, right=x), proof(VECTORS), "are not two numbers"),
    "a claim about a client by halves": (changed(UP, of_client=1), proof(TRIVIAL), "in the place of a bool"),
    "3 000 signs": (Claim(chain(ONE, 3000), "=", chain(ONE, 3000)), proof(says(equal(chain(ONE, 3000), chain(ONE, 3000)))), "RecursionError"),
    "3 000 signs of a vector": (equal(chain(x, 3000), x), proof(says(equal(chain(x, 3000), x))), "RecursionError"),
    "10⁵ digits": (UP, proof(says(UP, ((number(10**10**5), Nonnegative(ONE)),))), "too many digits"),
    "10⁵ digits of a fraction": (UP, proof(says(UP, ((number(Fraction(1, 10**10**5)), Nonnegative(ONE)),))), "too many digits"),
    "10⁵ letters": (UP, proof(says(UP, ((1, Earlier("x" * 10**5)),))), "too long"),
}  # fmt: skip


@pytest.mark.parametrize("claim, tried, reason", STRUCTURE.values(), ids=list(STRUCTURE))
def test_a_proof_of_another_form_is_refused(claim, tried, reason) -> None:
    with pytest.raises(Refused, match=reason):
        theorem(NOTHING, claim, tried)


def doubled(of: Any, times: int) -> Any:
    for _ in range(times):
        of = of + of
    return of


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


POINTS = [value(free(str(i))) for i in range(12)]
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
    "roots of many primes": (0 * sum((number(p).sqrt() for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)), start=ONE), "too many"),
    "inner products of many vectors": (0 * square(sum((free(str(i)) for i in range(400)), start=x)), "too many terms"),
}  # fmt: skip


@pytest.mark.parametrize("number_, reason", SIZES.values(), ids=list(SIZES))
def test_a_number_that_would_fill_the_memory_is_refused(number_, reason) -> None:
    claim = equal(number_, 0 * ONE)
    with pytest.raises(Refused, match=reason):
        theorem(some(*"abcdefgh"), claim, one_line(claim))


# ---- other statements

DYN = drawing("FedDyn", curvature=(ZERO, ONE), minimiser=True)
SCALED = (DYN, UP, proof(TRIVIAL))


def resting_on(other: Any, setting: ClaimSetting = DYN, claim: Claim = UP) -> Theorem:
    """A proof that the statement called "other" implies its own claim."""
    return theorem(setting, claim, proof(says(claim, ((1, Proved("other")),))), lambda identifier: other)


def test_a_statement_that_is_proved_may_be_used() -> None:
    assert resting_on(SCALED).claim == UP


FORGED = {
    "a theorem made by hand": (Theorem(DYN, DOWN), "TypeError"),
    "nothing": (None, "TypeError"),
    "a claim without proof": ((DYN, DOWN), "TypeError|missing"),
    "a false proof": ((DYN, DOWN, proof(says(DOWN))), "is not the claim"),
    "a proof of another claim": ((DYN, DOWN, proof(TRIVIAL)), "last line is not the claim"),
    "a statement that rests on itself": ((DYN, DOWN, proof(says(DOWN, ((1, Proved("other")),)))), "rests on itself"),
    "a contradictory setting": ((replace(DYN, curvature=(ONE, ZERO)), UP, proof(TRIVIAL)), "empty interval"),
    "a statement about one client": ((DYN, replace(UP, of_client=True), proof(TRIVIAL)), "another kind"),
}  # fmt: skip


@pytest.mark.parametrize("other, reason", FORGED.values(), ids=list(FORGED))
def test_what_somebody_says_of_another_statement_is_not_believed(other, reason) -> None:
    with pytest.raises(Refused, match=reason):
        resting_on(other)


def test_statements_without_end_are_refused() -> None:
    def endless(identifier: str) -> Any:
        return NOTHING, DOWN, proof(says(DOWN, ((1, Proved(identifier + "x")),)))

    with pytest.raises(Refused, match="RecursionError|too long"):
        theorem(NOTHING, *endless("")[1:], endless)


def test_a_statement_cannot_change_what_is_being_proved() -> None:
    """The kernel reads copies, so that whoever is called in between changes nothing."""
    claim, line = at_most(0, 1), says(UP, ((1, Proved("other")),))

    def turn(identifier: str) -> Any:
        for of in (claim, line):
            object.__setattr__(of, "left", ONE)
            object.__setattr__(of, "right", ZERO)
        return DYN, UP, proof(TRIVIAL)

    assert theorem(DYN, claim, proof(line), turn).claim == UP


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


@pytest.mark.parametrize("more, reason", STRONGER.values(), ids=list(STRONGER))
def test_a_statement_that_assumes_more_is_refused(more, reason) -> None:
    other = replace(DYN, **more)
    assert theorem(other, UP, proof(TRIVIAL)).claim == UP
    with pytest.raises(Refused, match=reason):
        resting_on((other, UP, proof(TRIVIAL)))


def test_a_statement_that_needs_a_minimiser_or_a_sign_is_refused_without() -> None:
    with pytest.raises(Refused, match="its minimiser"):
        resting_on(SCALED, replace(DYN, minimiser=False))
    with pytest.raises(Refused, match="the sign of x"):
        resting_on((some("x"), UP, proof(TRIVIAL)), some("x", sign="nonnegative"))
    with pytest.raises(Refused, match="its curvature"):
        resting_on(SCALED, replace(DYN, curvature=(ZERO, None)))


def test_statements_with_weaker_assumptions_and_equations_may_be_used() -> None:
    weaker = replace(
        DYN, curvature=(number(-1), number(2)), minimiser=False, conditions=(*DYN.conditions, (2 * a, ">", a))
    )
    assert resting_on((weaker, UP, proof(TRIVIAL))).claim == UP
    same = equal(norm(2 * x), 2 * norm(x))
    used = says(same, ((1, Proved("other")),))
    assert theorem(DYN, same, proof(used), lambda i: (DYN, same, proof(says(same)))).claim == same
    vectors = (DYN, equal(x, x), proof(VECTORS))
    with pytest.raises(Refused, match="no multiplier"):
        resting_on(vectors)
    equation = replace(DYN, conditions=(*DYN.conditions, (a, "=", a)))
    assert resting_on((equation, UP, proof(TRIVIAL))).claim == UP


def test_lines_with_roots_and_earlier_lines_are_accepted() -> None:
    squares_ = says(at_most(square(x), 4 * square(x)), (), "squares", squares=squares((3, x)))
    claim = at_most(norm(x), 2 * norm(x))
    assert theorem(NOTHING, claim, proof(squares_, Root(norm(x), 2 * norm(x), "squares"))).claim == claim
    twice = says(at_most(0, 2), ((2, Earlier("first")),))
    assert theorem(NOTHING, at_most(0, 2), proof(TRIVIAL, twice)).claim == at_most(0, 2)
    assert theorem(NOTHING, equal(2 * x, x + x), proof(says(equal(2 * x, x + x)))).setting == NOTHING
    named = Number("named", ("n", ONE))
    assert accepted(NOTHING, at_most(0, named), POSITIVE)
