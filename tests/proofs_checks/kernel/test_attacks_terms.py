"""Attacks through the meaning of terms: draws, expectations, roots, names, the origin, times."""

from fractions import Fraction

import pytest

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
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
    last_answers,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    residuals,
    server,
    shared,
    solutions,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.proofs_checks.kernel.proofs import CauchySchwarz, Hypothesis, Nonnegative, Proved

from .attacks import (
    NOTHING,
    ONE,
    UNIFORM,
    ZERO,
    Attack,
    a,
    accepted,
    called,
    changed,
    drawing,
    parametrised,
    some,
    with_signs,
)

DYN = drawing("FedDyn")
P, m, sigma = map(parameter, ("P", "m", "σ"))
u, v = drawn(family("u")), family("u")
deviation = v - mean(v)
noise = u - mean(v)
change = memory("gradient", 1) - memory("gradient", 0)
INDEPENDENT = drawing("FedProx", draws=DrawScheme("independent", P))
WITH_BEST = ClaimSetting(minimiser=True)
root = lambda x: Number("root", (x,))  # noqa: E731


def false(reason, setting, left, right, relation="<=", facts=(), squares=(), **about):
    made = at_most(left, right, **about) if relation == "<=" else equal(left, right, **about)
    return Attack(reason, setting, made, facts, squares)


DRAWS = {
    "square of a drawn average for every draw": false("outside an expectation", DYN, square(u), square(v)),
    "inner product for every draw": false("outside an expectation", DYN, inner(noise, server(0)), 0 * ONE, "="),
    "value for every draw": false("outside an expectation", DYN, value(server(1)), value(server(1)), "="),
    "length for every draw": false("outside an expectation", DYN, norm(u), norm(v)),
    "root of a square for every draw": false("outside an expectation", DYN, root(square(u)),
        root(expected(square(u)))),
    "root of the expected square is E of the root": false(
        "is not the claim", DYN, root(expected(square(u))), expected(root(square(u)))),
    "E n² is (E n)²": false("is not the claim", DYN, expected(square(u)), square(Vector("expected", (u,)))),
    "(E n)² is E n², powers": false("power of a number that dep", DYN, expected(square(u) ** 2),
        expected(square(u)) ** 2),
    "E of a product": false("product of two numbers", DYN, expected(square(u) * square(u)), expected(square(u)) ** 2),
    "E of a product of different numbers": false(
        "product of two numbers", DYN, expected(inner(u, server(0)) * square(u)), expected(
        inner(u, server(0))) * expected(square(u)), "="),
    "E of a product through a named number": false(
        "product of two numbers", DYN, expected(Number("named", ("x", square(u))) * square(u)), expected(
        square(u)) ** 2),
    "a named random number": false("outside an expectation", DYN, Number("named", ("x", square(u))), square(v)),
    "the square of a named random number": false(
        "power of a number that", DYN, expected(Number("named", ("x", square(u))) ** 2), expected(square(u)) ** 2),
    "a drawn average is the mean": false("two vectors differ", DYN, u, mean(v), "="),
    "a new memory is its expectation": false("two vectors differ", DYN, memory("gradient", 1),
        Vector("expected", (memory("gradient", 1),)), "="),
    "a new memory in every draw": false("outside an expectation", DYN, square(memory("gradient", 1)), ZERO),
    "the mean of new memories for every draw": false("outside an exp", DYN, inner(mean(change), server(0)), ZERO),
    "σ is 0": false("is not the claim", DYN, expected(square(noise)), ZERO),
    "σ is 1/P": false("is not the claim", DYN, expected(square(noise)), square(deviation) / P, "="),
    "σ is π": false("is not the claim", DYN, expected(square(noise)), P / m * square(deviation), "="),
    "σ is at least 1": false("may be negative", DYN, square(deviation), expected(square(noise)),
        squares=((sigma - 1, deviation),)),
    "σ below 0": false("may be negative", DYN, expected(square(noise)), ZERO, squares=((-sigma, deviation),)),
    "σ is about independent draws": false("no parameter of the setting", INDEPENDENT, expected(square(noise)), ZERO,
        squares=((-sigma, deviation),)),
    "the scale of independent draws": false("without replacement", INDEPENDENT, ZERO, ONE,
        facts=((1, Hypothesis("scale")),)),
    "the scale of nobody's draws": false("without replacement", NOTHING, ZERO, ONE,
        facts=((1, Hypothesis("scale")),)),
    "σ in the claim": false("parameters that the setting does not know", DYN, sigma, ONE,
        facts=((1, Nonnegative(1 - sigma)),)),
    "σ is nowhere 0": false("may be 0", DYN, ZERO, ONE, facts=((1 / sigma, Nonnegative(sigma)),)),
    "m − 1 is nowhere 0": false("may be 0", DYN, ZERO, 1 / (m - 1) + 1, facts=((1, Nonnegative(ONE)),)),
    "independent draws have no variance": false("is not the claim", INDEPENDENT, expected(square(noise)), ZERO),
    "independent draws, variance 1/P²": false("is not the claim", INDEPENDENT, expected(square(noise)),
        square(deviation) / P**2, "="),
    "independent draws and memories": false(
        "not known for this draw", drawing("FedProx", draws=DrawScheme("independent", P)),
        expected(inner(last_answers(1) - last_answers(0), server(0))), ZERO),
    "independent draws, memories, and a deviation": false(
        "not known for this draw", INDEPENDENT, expected(inner(last_answers(1), deviation)), inner(last_answers(0),
        deviation), "="),
    "independent draws, mean of memories": false("not known for this draw", INDEPENDENT, mean(last_answers(1)),
        last_answers(0), "="),
    "independent draws, expected memory": false("not known for this", INDEPENDENT,
        Vector("expected", (last_answers(1),)), last_answers(0), "="),
    "independent draws, value at memories": false("not known for this draw", INDEPENDENT,
        expected(value(last_answers(1))), value(answers), "="),
    "an average over two draws": false("over two draws", DYN, drawn(server(1)), server(1), "="),
    "an average of new memories over the same draw": false("over two draws", DYN, drawn(memory("gradient", 1)),
        shared("h", 1), "="),
    "a gradient at a random point": false("two vectors differ", DYN, mean(gradient(server(1))),
        server(1), "="),
    "a maximum of random numbers": false("parameters only", DYN, expected(Number("max", (square(u), ZERO))),
        expected(square(u))),
    "division by a random number": false("parameters only", DYN, 1 / square(u), ONE),
    "a negative power of a random number": false("parameters only", DYN, square(u) ** -1, ONE),
    "the norm of a difference of draws": false("outside an expectation", DYN, norm(server(1) - server(0)),
        norm(server(0))),
    "a random multiplier": false("outside an expectation", DYN, ZERO, ONE, facts=((square(u), Nonnegative(ONE)),)),
    "a random length as multiplier": false("outside an expectation", DYN, ZERO, ONE,
        facts=((norm(u), Nonnegative(ONE)),)),
    "a random weight": false("outside an expectation", DYN, ZERO, ONE, squares=((square(u), v),)),
    "E‖u‖‖v‖ by Cauchy–Schwarz of draws": false(
        "is not the claim", DYN, expected(inner(u, v)), expected(norm(u) * norm(v)), facts=(
        (1, CauchySchwarz(u, v)),)),
}  # fmt: skip

ROOTS_AND_NAMES = {
    "√x² of a real number": false("root of a number that may be negative|not in the field", some("x", sign="real"),
        root(parameter("x") ** 2), parameter("x"), "="),
    "√ of a sum": false("is not the claim", some("x", "y"), root(parameter("x") + parameter("y")),
        parameter("x")),
    "√ of a negative number": false("no root of a positive monomial", NOTHING, root(number(-4)), number(2)),
    "√ of 0": false("not in the field", NOTHING, root(ZERO), ONE),
    "√ of a difference": false("not in the field", some("x"), root(parameter("x") - 1), parameter("x")),
    "√2 is 3/2": false("is not the claim", NOTHING, root(number(2)), number(Fraction(3, 2)), "="),
    "√2·√3 is √5": false("is not the claim", NOTHING, root(number(2)) * root(number(3)), root(number(5)), "="),
    "√√2": false("no root of|not in the field", NOTHING, root(root(number(2))), ONE),
    "the name of a spare symbol": false(
        "is no name", with_signs("x", "x′", signs={"x": "nonnegative", "x′": "real"}),
        -called(a, "x′"), ZERO, facts=((1, Nonnegative(called(a, "x′"))),)),
    "the name of a prime's root": false("is no name", with_signs("√2"), called(a, "√2"), root(number(2)), "="),
    "the name of a parameter's root": false("is no name", with_signs("√x", "x"), called(a, "√x"), root(parameter("x")),
        "="),
    "a number as a name": false("is no name", with_signs("2"), root(called(a, "2")), root(number(2)), "="),
    "an empty name": false("is no name", with_signs(""), called(a, ""), ONE),
    "a parameter of a spare symbol's name": false("is no name", some("x", sign="nonnegative"), -called(a, "x′"), ZERO),
    "a symbol that is a formula": false(
        "is no symbol", some("x"), changed(Number("named", ("a", a)), args=("x-1+0 f(x)", a)), ONE),
    "the kernel's σ, uniform": false("is no name",
        with_signs("σ", "P", "m", counts=frozenset("Pm"), draws=UNIFORM), parameter("σ"), ONE),
    "the kernel's σ, everyone": false("is no name", with_signs("σ"),
        parameter("σ"), ONE),
    "names with the separator of products": false(
        "is no name", NOTHING, inner(called(free("x"), "x|free y"), free("z")),
        inner(free("x"), called(free("y"), "y|free z")), "="),
    "names with brackets": false("is no name", NOTHING, inner(called(free("x"), "x⟩"), free("y")),
        inner(free("x"), called(free("y"), "y⟩")), "="),
    "a free vector with a state's name": false("two vectors differ", drawing("FedDyn"), free("w"), server(0), "="),
    "a family with a memory's name": false("two vectors differ", DYN, family("gradient"), memory("gradient", 0), "="),
    "a free vector and a family": false("two vectors differ", DYN, free("x"), family("x"), "="),
    "a shared part and a memory of one name": false(
        "two vectors differ", drawing("Scaffold"), shared("c", 0), mean(memory("c", 0)), "="),
    "a shared part and a client's memory of one name": false(
        "two vectors differ", drawing("Scaffold"), shared("c", 0), memory("c", 0), "=", of_client=True),
    "two families": false("two vectors differ", DYN, mean(family("x")), mean(family("y")), "="),
    "√u² where u is no length": false("parameters only", NOTHING, root(value(free("x"))), ONE),
    "√⟨u, v⟩": false("parameters only", NOTHING, root(inner(free("x"), free("y"))), norm(free("x"))),
}  # fmt: skip

x, y = free("x"), free("y")
ORIGIN = {
    "‖x*‖² = 0": false("is not the claim", WITH_BEST, square(minimiser), ZERO),
    "2x* = x*": false("two vectors differ", WITH_BEST, 2 * minimiser, minimiser, "="),
    "⟨x*, w⟩ = 0": false("is not the claim", WITH_BEST, inner(minimiser, server(0)), 0 * ONE, "="),
    "‖w‖ ≤ ‖w − x*‖": false("is not the claim", WITH_BEST, norm(server(0)), norm(server(0) - minimiser)),
    "x*/0": false("may be 0", some("x", minimiser=True, sign="real"), minimiser / (parameter("x") - 1), minimiser,
        "="),
    "0/0": false("may be 0", some("x", sign="real"), (x - x) / (parameter("x") - 1), x - x, "="),
    "0/0 of numbers": false("may be 0", some("x"), (parameter("x") - 1) / (parameter("x") - 1), ONE, "="),
    "1/0": false("division by 0|divided by", NOTHING, 1 / ZERO, ONE),
    "0⁻¹": false("division by 0|divided by", NOTHING, ZERO**-1, ONE),
    "a pole outside the example": false("may be 0", some("x"), 1 / (parameter("x") - 2) + 1, ONE),
    "a pole that cancels": false("may be 0", some("x"), (parameter("x") - 2) * (1 / (parameter("x") - 2)), ONE, "="),
    "x* without a minimiser": false("no minimiser", NOTHING, minimiser, minimiser, "="),
    "x* without a minimiser, after a gradient at 0": Attack(
        "no minimiser", NOTHING, equal(gradient(0 * x), gradient(minimiser))),
    "∇F_k(x*) = 0": false("two vectors differ", WITH_BEST, gradient(minimiser), 0 * x, "="),
    "∇F_k(x*) = 0 of one client": false("two vectors differ", WITH_BEST, gradient(minimiser), 0 * x, "=",
        of_client=True),
    "the gradient is 0": false("two vectors differ", WITH_BEST, mean(gradient(server(0))), 0 * x, "="),
    "gradients at two points": false("two vectors differ", NOTHING, gradient(x), gradient(y), "="),
    "values at two points": false("is not the claim", NOTHING, value(x), value(y), "="),
    "a gradient is linear": false("two vectors differ", NOTHING, gradient(x + y), gradient(x) + gradient(y), "="),
    "Jensen for free": false("is not the claim", NOTHING, value(mean(v)), value(v)),
    "a mean of gradients": false("two vectors differ", NOTHING, gradient(mean(v)), mean(gradient(v)), "="),
    "the mean in a claim about a client": false("claim about one of them", NOTHING, mean(v), v, "=", of_client=True),
    "the drawn in a claim about a client": false("claim about one of|over two draws", DYN, drawn(v), v, "=",
        of_client=True),
    "the server in a claim about a client": false("claim about one of|over two draws", DYN, server(1), server(0),
        "=", of_client=True),
    "answers are solutions": false("two vectors differ", drawing("FedProx", answers="inexact", inexactness=a),
        answers, solutions, "="),
    "answers with an error are solutions": false("two vectors differ",
        drawing("FedProx", answers="error", inexactness=a), answers, solutions, "="),
    "residuals are 0": false("two vectors differ", drawing("FedProx", answers="inexact", inexactness=a), residuals,
        0 * x, "="),
    "last answers are the answers": false("two vectors differ", DYN, last_answers(1), answers, "="),
    "last answers are the server's point": false("two vectors differ", DYN, last_answers(0), server(0), "="),
    "a state without method": false("keeps no", NOTHING, memory("z", 0), x, "="),
    "a state of another method": false("keeps no", DYN, memory("z", 0), x, "="),
    "a shared state of another method": false("keeps no", DYN, shared("c", 0), x, "="),
    "a round without method": false("no method", NOTHING, server(1), server(0), "="),
    "answers without method": false("no method", NOTHING, answers, server(0), "="),
    "a mean over rounds": false("no meaning in a", NOTHING, mean_of_rounds(server(0)), server(0), "="),
    "a sum over rounds": false("no meaning in a", NOTHING, sum_of_rounds(square(x)), ZERO),
    "x² ≤ 0": false("is not the claim", NOTHING, square(x), ZERO),
    "0 ≤ ⟨x, y⟩": false("is not the claim", NOTHING, ZERO, inner(x, y)),
    "‖x + y‖ = ‖x‖ + ‖y‖": false("is not the claim", NOTHING, norm(x + y), norm(x) + norm(y), "="),
    "‖−2x‖ = −2‖x‖": false("is not the claim", NOTHING, norm(-2 * x), -2 * norm(x), "="),
    "‖cx‖ = c‖x‖ of a real c": false("is not the claim", some("c", sign="real"), norm(parameter("c") * x),
        parameter("c") * norm(x), "="),
    "Cauchy–Schwarz with another sign": false("is no sign", NOTHING, 2 * inner(x, y), norm(x) * norm(y),
        facts=((1, CauchySchwarz(x, y, 2)),)),
    "a power of half": false("no small integer", NOTHING, ONE ** Fraction(1, 2), ONE),
    "a parameter as exponent": false("no meaning in a|no constant", some("x"), ONE ** parameter("x"), ONE),
    "an integer part": false(
        "ceil has no meaning", some("x"), Number("ceil", (parameter("x"),)), parameter("x")),
    "a logarithm": false("log has no meaning", some("x"), Number("log", (parameter("x"),)), parameter("x")),
    "an undecided maximum": false("undecided maximum", some("x"), Number("max", (parameter("x"), ONE)), ONE),
    "an unknown statement": false("no statement", NOTHING, ZERO, ONE, facts=((1, Proved("fedprox.theorem4")),)),
}  # fmt: skip


@parametrised(DRAWS | ROOTS_AND_NAMES | ORIGIN)
def test_a_false_claim_is_refused(attack) -> None:
    attack.is_refused()


TRUE = {
    "the variance of a drawn average": (DYN, equal(expected(square(noise)), expected(square(noise))), (), ()),
    "a drawn average is no longer": (DYN, at_most(expected(square(u)), square(v)), (), ((1 - sigma, deviation),)),
    "independent draws": (INDEPENDENT, equal(P * expected(square(noise)), square(deviation)), (), ()),
    "the expected average": (DYN, equal(Vector("expected", (u,)), mean(v)), (), ()),
    "‖−2x‖": (NOTHING, equal(norm(-2 * x), 2 * norm(x)), (), ()),
    "Cauchy–Schwarz": (NOTHING, at_most(inner(x, y), norm(x) * norm(y)), ((1, CauchySchwarz(x, y)),), ()),
    "√2√3": (NOTHING, equal(root(number(2)) * root(number(3)), root(number(6))), (), ()),
    "√8": (NOTHING, equal(root(number(8)), 2 * root(number(2))), (), ()),
    "the mean gradient at x*": (WITH_BEST, equal(mean(gradient(minimiser)), 0 * x), (), ()),
    "x* in a claim about a client": (WITH_BEST, equal(2 * minimiser - minimiser, minimiser, of_client=True), (), ()),
    "a new memory, for a client": (
        drawing("FedProx"), equal(Vector("expected", (v,)), v, of_client=True), (), ()),
    "exact answers are solutions": (drawing("FedProx"), equal(answers, solutions), (), ()),
    "a maximum": (some("x"), equal(Number("max", (parameter("x") + 1, ONE)), 1 + parameter("x")), (), ()),
}  # fmt: skip


@pytest.mark.parametrize("made", TRUE.values(), ids=list(TRUE))
def test_true_claims_nearby_are_accepted(made) -> None:
    assert accepted(*made)
