"""Attacks through facts: of another function class, of no assumption, with multipliers of the wrong sign."""

from dataclasses import replace
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most, equal
from fedconvex.claims.terms import (
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
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.facts import relation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.proofs import (
    Between,
    Hypothesis,
    Lower,
    Nonnegative,
    Proved,
    Upper,
)
from fedconvex.proofs_checks.kernel.scalars import Refused

from .attacks import NOTHING, ONE, TRUE, ZERO, Attack, L, a, accepted, drawing, mu, parametrised, some

x, y, u = free("x"), free("y"), family("u")
SMOOTH = some("L", curvature=(None, L))
CONVEX = ClaimSetting(curvature=(ZERO, None))
BOTH = some("L", "mu", curvature=(mu, L), conditions=((L, ">=", mu),))
EITHER = some("L", "mu", curvature=((-L).max(-mu), None))
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
    "a curvature larger than each of a maximum's": by(
        "not assumed", EITHER, quadratic(y, x, mu - L, False), Lower(y, x, mu - L)),
    "a maximum of which one is too large": by(
        "not assumed", BOTH, quadratic(y, x, (2 * mu).max(-mu), False), Lower(y, x, (2 * mu).max(-mu))),
    "smoothness that is not assumed": by("no largest curvature", CONVEX, quadratic(y, x, 1, True), Upper(y, x)),
    "smoothness of nothing": by("no largest curvature", NOTHING, quadratic(y, x, 1, True), Upper(y, x, ONE)),
    "convexity that is not assumed": by("no least curvature", SMOOTH, quadratic(y, x, 0, False), Lower(y, x)),
    "convexity of smooth functions, given": by("no least curvature", SMOOTH, quadratic(y, x, 0, False),
        Lower(y, x, ZERO)),
    "a smaller largest curvature": by("not assumed", SMOOTH, quadratic(y, x, L / 2, True), Upper(y, x, L / 2)),
    "a larger least curvature": by("not assumed", BOTH, quadratic(y, x, 2 * mu, False), Lower(y, x, 2 * mu)),
    "the least curvature is the largest": by("not assumed", BOTH, quadratic(y, x, mu, True), Upper(y, x, mu)),
    "the largest curvature is the least": by("not assumed", BOTH, quadratic(y, x, L, False), Lower(y, x, L)),
    "a curvature that cannot be compared": by("not assumed", BOTH, quadratic(y, x, L - 1, False), Lower(y, x, L - 1)),
    "a smaller interval": by("not assumed", BOTH, lipschitz(y, x, L), Between(y, x, 2 * mu, L)),
    "a smaller interval, above": by("not assumed", BOTH, lipschitz(y, x, L), Between(y, x, mu, L / 2)),
    "Lipschitz gradients of smooth functions": by("no least curvature", SMOOTH, lipschitz(y, x, L),
        Between(y, x, -L, L)),
    "Lipschitz with half the constant": by("is not the claim", BOTH, lipschitz(y, x, L / 2), Between(y, x, -L, L)),
    "the objective's class at clients' points": by("at clients' points", OBJECTIVE, quadratic(u, x, L, True),
        Upper(u, x)),
    "the objective's class at clients' starts": by("at clients' points", OBJECTIVE, quadratic(x, u, L, True),
        Upper(x, u)),
    "the objective's convexity at clients' points": by("at clients' points", OBJECTIVE,
        quadratic(mean(u), u, 0, False), Lower(mean(u), u)),
    "the objective's Lipschitz gradient at clients' points": by("is not the claim", OBJECTIVE, lipschitz(u, x, L),
        Between(u, x, -L, L)),
    "the objective's Lipschitz gradient of the clients": by("is not the claim", OBJECTIVE, lipschitz(y, x, L),
        Between(y, x, -L, L)),
    "the objective's class of one client": by(
        "at clients' points", OBJECTIVE, replace(quadratic(y, x, L, True), of_client=True), Upper(y, x)),
    "the objective's least, no largest": by("no largest", ClaimSetting(objective=(ZERO, None)), lipschitz(y, x, 1),
        Between(y, x)),
    "a tangent with another point's gradient": by(
        "is not the claim", SMOOTH, at_most(value(y),
        value(x) + inner(gradient(y), y - x) + L / 2 * square(y - x)), Upper(y, x)),
    "a tangent with another direction": by(
        "is not the claim", SMOOTH, at_most(value(y),
        value(x) + inner(gradient(x), x - y) + L / 2 * square(y - x)), Upper(y, x)),
    "without the half": by("is not the claim", SMOOTH,
        at_most(value(y) + L * square(y - x), value(x) + inner(gradient(x), y - x)), Upper(y, x)),
    "a class at a random point": by(
        r"outside an expectation", drawing(curvature=(ZERO, ONE)), quadratic(x, drawn(u), 1,
        True), Upper(x, drawn(u))),
    "a value at a random point, for every draw": by(
        "outside an expectation", drawing(curvature=(ZERO, ONE)), quadratic(drawn(u), x, 1, True), Upper(drawn(u),
        x)),
    "x* is the least point of a nonconvex objective": by(
        "is not the claim", some("L", objective=(-L, L), minimiser=True), at_most(value(minimiser),
        value(x)), Lower(x, minimiser)),
    "x* is least without convexity": by(
        "is not the claim", ClaimSetting(minimiser=True), at_most(value(minimiser), value(x))),
    "x* is each client's least point": by(
        "is not the claim|at clients' points", ClaimSetting(curvature=(ZERO, None), minimiser=True),
        at_most(value(minimiser), value(x), of_client=True), Lower(x, minimiser)),
    "x* is the least of clients' points": by(
        "is not the claim", ClaimSetting(curvature=(ZERO, None), minimiser=True), at_most(value(minimiser),
        value(u)), Lower(u, minimiser)),
    "a descent with too long a step": by(
        "is not the claim", some("L", curvature=(None, L)),
        at_most(value(x - 2 / L * gradient(x)), value(x) - square(gradient(x)) / L, of_client=True), Upper(
        x - 2 / L * gradient(x), x)),
}  # fmt: skip

PROX = drawing("FedProx", answers="inexact", inexactness=parameter("a"))
ERROR = drawing("FedProx", answers="error", inexactness=parameter("a"))
ASSUMED = {
    "no inexactness": by("no inexactness", drawing("FedProx"), at_most(square(residuals), 0),
        Hypothesis("inexactness")),
    "no error": by("no error", PROX, at_most(square(answers - solutions), a**2), Hypothesis("error")),
    "the error is no inexactness": by("no inexactness", ERROR, at_most(square(residuals), a**2),
        Hypothesis("inexactness")),
    "inexactness without a round": by("no method", ClaimSetting(), TRUE, Hypothesis("inexactness")),
    "half the inexactness": by("is not the claim", PROX,
        at_most(square(residuals), a**2 / 2 * square(gradient(server(0)))), Hypothesis("inexactness")),
    "inexactness of the solutions": by("is not the claim", PROX,
        at_most(square(answers - solutions), a**2 * square(gradient(server(0)))), Hypothesis("inexactness")),
    "inexactness without its square": by("is not the claim", PROX,
        at_most(square(residuals), a * square(gradient(server(0)))), Hypothesis("inexactness")),
    "the error without its square": by("is not the claim", ERROR, at_most(square(answers - solutions), a),
        Hypothesis("error")),
    "no dissimilarity": by("dissimilarity is not assumed", NOTHING, at_most(square(gradient(server(0))), 0),
        Hypothesis("dissimilarity")),
    "no variance": by("variance is not assumed", NOTHING, at_most(square(gradient(server(0))), 0),
        Hypothesis("variance")),
    "no large gradient": by("large gradient is not assumed", NOTHING, TRUE, Hypothesis("large gradient")),
    "an unknown assumption": by("luck is not assumed", NOTHING, TRUE, Hypothesis("luck")),
    "an empty assumption": by("is not assumed", NOTHING, TRUE, Hypothesis("")),
    "dissimilarity at another point": by(
        "is not the claim", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(x)), parameter("B") ** 2 * square(mean(gradient(x)))), Hypothesis("dissimilarity")),
    "dissimilarity after the round": by(
        r"outside an expectation", drawing("FedProx", dissimilarity=a),
        at_most(square(gradient(server(1))), a**2 * square(mean(gradient(server(1))))), Hypothesis("dissimilarity")),
    "dissimilarity of one client": by(
        "claim about one of them", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(server(0))), 1, of_client=True), Hypothesis("dissimilarity")),
    "dissimilarity with B": by(
        "is not the claim", some("B", dissimilarity=parameter("B")),
        at_most(square(gradient(server(0))), parameter("B") * square(mean(gradient(server(0))))), Hypothesis(
        "dissimilarity")),
    "variance at x*": by("is not the claim", ClaimSetting(variance=ONE, minimiser=True),
        at_most(square(gradient(minimiser)), 1), Hypothesis("variance")),
    "variance is a second moment": by("is not the claim", ClaimSetting(variance=ONE),
        at_most(square(gradient(server(0))), 1), Hypothesis("variance")),
    "a large gradient of every client": by("is not the claim", ClaimSetting(large_gradient=ONE),
        at_most(1, square(gradient(x))), Hypothesis("large gradient")),
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
        at_most(0, 1 / (parameter("x") - parameter("y"))), (
        (1, Nonnegative(1 / (parameter("x") - parameter("y")))),)),
    "a condition the other way": Attack(
        "may be negative", some("x", "y", conditions=((parameter("x"), ">=", parameter("y")),)),
        at_most(parameter("x"), parameter("y")), ((1, Nonnegative(parameter("y") - parameter("x"))),)),
    "a product of differences": Attack(
        "may be negative", some("x", "y", "z", conditions=((parameter("x"), ">=", parameter("y")),)),
        at_most(0, 1), ((1, Nonnegative((parameter("x") - parameter("y")) * (parameter("y") - parameter("z")))),)),
    "of a value": Attack("may be negative", NOTHING, at_most(0, value(x)), ((1, Nonnegative(value(x))),)),
    "of an inner product": Attack("may be negative", NOTHING, at_most(0, inner(x, y)),
        ((1, Nonnegative(inner(x, y))),)),
    "of a difference of lengths": Attack("may be negative", NOTHING, at_most(norm(y), norm(x)),
        ((1, Nonnegative(norm(x) - norm(y))),)),
    "a length times a real number": Attack("may be negative", SPACE, at_most(0, a * norm(x)),
        ((1, Nonnegative(a * norm(x))),)),
    "a value as multiplier": Attack("may be negative", NOTHING, at_most(0, value(x)),
        ((value(x), Nonnegative(ONE)),)),
    "an inner product as multiplier": Attack("may be negative", NOTHING, at_most(0, inner(x, y)),
        ((inner(x, y), Nonnegative(ONE)),)),
    "a square with weight −1": Attack("may be negative", NOTHING, at_most(square(x), 0), (), ((-1, x),)),
    "a square with a real weight": Attack("may be negative", SPACE, at_most(0, a * square(x)), (), ((a, x),)),
    "a square with a value as weight": Attack("may be negative", NOTHING, at_most(0, value(x) * square(x)), (),
        ((value(x), x),)),
    "an equation by an inequality": Attack("rests on an inequality", NOTHING, equal(ONE, ZERO),
        ((-1, Nonnegative(ONE)),)),
    "an equation by a square": Attack("rests on a square", NOTHING, equal(ZERO * ONE, square(x)), (), ((1, x),)),
    "a multiplier of 0": Attack("is not the claim", NOTHING, at_most(1, 0), ((0, Nonnegative(ONE)),)),
    "an unknown parameter": Attack("no parameter of the setting", NOTHING, TRUE,
        ((parameter("q"), Nonnegative(ONE)),)),
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
    for weaker in (-L, -mu, -mu - L):  # each of a maximum's curvatures is a least one
        assert accepted(EITHER, quadratic(y, x, weaker, False), ((1, Lower(y, x, weaker)),))
    both = (mu / 2).max(-mu)
    assert accepted(BOTH, quadratic(y, x, both, False), ((1, Lower(y, x, both)),))
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


def test_who_searches_for_proofs_is_told_the_same() -> None:
    board = RoundBoard(SettingParameters(SMOOTH))
    upper = quadratic(y, x, L, True)
    difference = board.number(upper.right) - board.number(upper.left)
    assert not (relation_of(board, Upper(y, x)) - difference).terms
    with pytest.raises(Refused, match="no least curvature"):
        relation_of(board, Lower(y, x))
    with pytest.raises(Refused, match="no statement"):
        relation_of(board, Proved("feddyn.lemma8"))
