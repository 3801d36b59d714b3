"""Potentials along any number of local gradient steps, Bernoulli's inequality, products of lines: shown, refused."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most, equal
from fedconvex.claims.examples import evaluated
from fedconvex.claims.methods import running
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    before_last_step,
    family,
    gradient,
    local_gradients,
    local_step,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import (
    STEP,
    AlongSteps,
    BernoulliPower,
    Between,
    Cases,
    Combine,
    Derivation,
    Nonnegative,
    Product,
    Root,
    Upper,
    facts,
)
from fedconvex.proofs_checks.library import Parts, by, cited, concluding, squared, with_example

from .attacks import POSITIVE, TRUE, changed, is_false, one_line, refused, same

s, e, L, i = (parameter(name) for name in ("s", "e", "L", STEP))
w, u, last = server(0), family("u"), before_last_step
SETTING = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": s, "local_steps": e}, curvature=(-L, L), counts=frozenset({"e"}),
    signs={"s": "positive", "e": "positive", "L": "positive"}, conditions=((1 / L, ">=", s),),
))  # fmt: skip
# Gradient descent on one function, contracted by q in every step.
CONVEX = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": s, "local_steps": e}, curvature=(number(1), number(2)),
    signs={"s": "positive", "e": "positive"}, counts=frozenset({"e"}), conditions=((number(Fraction(1, 2)), ">=", s),),
    single_client=True, minimiser=True,
))  # fmt: skip
q, VALUE = 1 - s, value(u)
COUNTING = ClaimSetting(
    signs={"e": "positive", "q": "nonnegative"}, counts=frozenset({"e"}),
    conditions=((number(1), ">=", parameter("q")),), example={"e": Fraction(2), "q": Fraction(1)},
)  # fmt: skip


def descent(at: Vector) -> Parts:
    """F(x⁺) ≤ F(x) − s(1 − Ls/2)‖∇F(x)‖² for a gradient step from x."""
    return by(Upper(local_step(at), at))


def falling(potential: Any = VALUE, weight: Any = 1, start: Vector = w, name: str = "u") -> AlongSteps:
    parts = weight * (descent(u) + s * (1 - L * s / 2) * squared(gradient(u)))
    return AlongSteps(potential, name, start, parts.facts, parts.squares, "steps")


LOWER = at_most(value(answers), value(w))
END = cited("steps") + descent(last) + s * (1 - L * s / 2) * squared(gradient(last))


def test_the_clients_values_fall() -> None:
    assert theorem(SETTING, LOWER, Derivation((falling(), concluding(LOWER, END))))
    assert not is_false(SETTING, LOWER)


def contracted(power: Any, weight: Any = 1) -> tuple[Claim, Derivation]:
    """‖x_e − x*‖² ≤ q^{2e}‖x_0 − x*‖², by V_i = q^{2(e−i)}‖x − x*‖²."""
    claim = at_most(square(answers - minimiser), power**2 * square(w - minimiser))

    def step(at: Vector) -> Parts:
        slope = gradient(at) - gradient(minimiser)
        return 2 * s**2 * by(Between(at, minimiser, number(1), 1 / s)) + s**2 * squared(slope - (at - minimiser))

    left = (q**e / q ** (i + 1)) ** 2
    parts = weight * left * step(u)
    along = AlongSteps(
        (q ** (e + 1) / q ** (i + 1)) ** 2 * square(u - minimiser), "u", w, parts.facts, parts.squares, "steps"
    )
    return claim, Derivation((along, concluding(claim, cited("steps") + step(last))))


def test_a_potential_may_depend_on_the_number_of_the_steps_before() -> None:
    claim, proof = contracted(q**e)
    assert theorem(CONVEX, claim, proof)
    assert not is_false(CONVEX, claim)


@pytest.mark.parametrize("power", [q ** (e + 1), q ** (2 * e), q ** (e - 1), q**2])
def test_other_powers_are_not_what_it_proves(power: Number) -> None:
    claim, proof = contracted(power)
    refused(CONVEX, claim, proof, "not the claim")


def test_other_proofs_are_refused() -> None:
    end = concluding(LOWER, END)
    refused(SETTING, LOWER, Derivation((falling(weight=Fraction(9, 8)), end)), "not the inequality of one step")
    refused(SETTING, LOWER, Derivation((falling(name="v"), end)), "not the inequality of one step")
    refused(SETTING, LOWER, Derivation((falling(start=answers), end)), "start somewhere else")
    refused(SETTING, LOWER, Derivation((falling(VALUE + i), end)), "not the inequality of one step")
    # One step less, or more, than the clients take.
    for at in (answers, local_step(answers), w):
        wrong = at_most(value(at), value(w) - s * (1 - L * s / 2) * square(gradient(w)))
        refused(SETTING, wrong, Derivation((falling(), concluding(wrong, cited("steps")))), "not the claim")
    refused(CONVEX, *contracted(q**e, Fraction(8, 9)), "not the inequality of one step")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"method_parameters": {"stepsize": s, "local_steps": number(2)}}, "no parameter"),
        ({"counts": frozenset()}, "may be no integer"),
        ({"method": "FedNova"}, "any number of local steps"),
        ({"gradient_steps": {"steps": e, "stepsize": s}}, "any number of local steps"),
    ],
)
def test_the_number_of_steps_is_a_parameter_that_counts(changes: Any, reason: str) -> None:
    refused(replace(SETTING, **changes), LOWER, Derivation((falling(), concluding(LOWER, END))), reason)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_last_step_begins_where_it_says(steps: int) -> None:
    setting = replace(SETTING, method_parameters={"stepsize": s, "local_steps": number(steps)})
    at = w
    for _ in range(steps - 1):
        at = local_step(at)
    claim = equal(before_last_step, at)
    proof = one_line(claim)
    assert theorem(setting, claim, proof)
    assert theorem(setting, *same(answers, local_step(last)))
    refused(setting, *same(last, answers), "vectors differ")
    refused(SETTING, claim, proof, "vectors differ")


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("method", ["FedGD", "Scaffold"])
def test_the_last_step_of_runs_begins_there_too(method: str) -> None:
    setting = replace(SETTING, **running(method, stepsize=s, local_steps=e))
    ended, begun = equal(answers, local_step(last)), equal(last, w)
    federations = random_federations(setting, ended)
    runs = [next(federations) for _ in range(30)]
    assert {run.parameters["e"] > 1 for run in runs} == {True, False}
    for run in runs:
        assert ended.on(run).holds
        assert begun.on(run).holds or run.parameters["e"] > 1
    assert not all(begun.on(run).holds for run in runs)
    exact = replace(setting, method="FedProx", method_parameters={"mu": L})
    with pytest.raises(NotOnThisRun, match="takes no gradient steps"):
        begun.on(next(random_federations(exact)))


def test_without_local_steps_there_is_no_last_one() -> None:
    exact = ClaimSetting(method="FedProx", method_parameters={"mu": number(1)}, curvature=(number(0), number(1)))
    refused(exact, *same(last, w), "no gradient steps")


def test_scaffolds_steps_add_up_to_its_new_control_variates() -> None:
    setting = replace(SETTING, **running("Scaffold", stepsize=s, local_steps=e))
    c = mean(memory("c", 0))
    invariants = (("shared c", c),)
    claim = equal(memory("c", 1), local_gradients / e)
    assert theorem(setting, claim, one_line(claim, invariants=invariants))
    moved = equal(answers, w - s * local_gradients - s * e * (c - memory("c", 0)))
    assert theorem(setting, moved, one_line(moved, invariants=invariants))
    stepped = equal(answers, last - s * (gradient(last) - memory("c", 0) + shared("c", 0)))
    assert theorem(setting, stepped, one_line(stepped, invariants=invariants))
    wrong = equal(memory("c", 1), local_gradients)
    refused(setting, wrong, one_line(wrong, invariants=invariants), "vectors differ")


def test_the_number_of_the_steps_before_is_every_number() -> None:
    """What would hold for some of them alone is no case, and no claim."""
    claim, proof = contracted(q**e)
    for sides in ((i, number(3)), (number(3), i), (q**i, number(Fraction(1, 2)))):
        refused(
            CONVEX, claim, Derivation(cases=Cases(*sides, proof, proof)), "cases of the rounds of a run, or of local"
        )
    theirs = changed(CONVEX, signs={**CONVEX.signs, STEP: "positive"}, example={**CONVEX.example, STEP: Fraction(1)})
    refused(theirs, claim, proof, "is no name")
    refused(CONVEX, at_most(i, e), proof, "parameters that the setting does not know")
    # ι is at least 0, and has no upper bound.
    bounded = Derivation((Combine(i, e, facts((1, Nonnegative(e - i))), name="false"),))
    refused(CONVEX, at_most(0, 1), bounded, "may be negative")


def test_powers_of_the_steps_before_are_at_most_those_of_none() -> None:
    claim, proof = contracted(q**e)
    for of in (1 - q**i, q**i, 1 - q ** (i + 2)):
        line = Combine(number(0), of, facts((1, Nonnegative(of))), name="a sign")
        assert theorem(CONVEX, claim, replace(proof, lines=(line, *proof.lines)))
    # q^0 = 1 before the first step: q^ι ≤ q only after it.
    for of in (q**i - q**e, q**e - q**i, q**i - q, q - q**i):
        line = Combine(number(0), of, facts((1, Nonnegative(of))), name="a sign")
        refused(CONVEX, claim, replace(proof, lines=(line, *proof.lines)), "may be negative")


# ---- Bernoulli's inequality and products

r = parameter("q")
BERNOULLI = {1: (1 - e * (1 - r), r**e), 2: (r**e, 1 - e * (1 - r) + (1 - r) ** 2 * e * (e - 1) / 2)}


def in_steps(setting: ClaimSetting) -> ClaimSetting:
    """The same parameters, where e counts local steps."""
    return replace(setting, method="FedGD", method_parameters={"stepsize": number(1), "local_steps": e})


@pytest.mark.parametrize("order", BERNOULLI)
def test_bernoullis_inequality(order: int) -> None:
    claim = at_most(*BERNOULLI[order])
    proof = one_line(claim, ((1, BernoulliPower(r, order)),))
    assert theorem(in_steps(COUNTING), claim, proof)
    for n in range(1, 6):
        for base in (Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(1)):
            left, right = (side.put(e, number(n)).put(r, number(base)) for side in BERNOULLI[order])
            assert evaluated(left, {}) <= evaluated(right, {})
    refused(in_steps(COUNTING), at_most(*BERNOULLI[3 - order]), proof, "not the claim")


def test_where_bernoullis_inequality_fails_it_is_refused() -> None:
    claim = at_most(*BERNOULLI[1])
    refused(in_steps(COUNTING), claim, one_line(claim, ((1, BernoulliPower(r, 3)),)), "no order")
    for ratio in (r + 1, -r, r - 1):
        proof = one_line(claim, ((1, BernoulliPower(ratio, 1)),))
        refused(in_steps(COUNTING), claim, proof, "may lie outside")
    refused(COUNTING, TRUE, one_line(TRUE, ((1, BernoulliPower(r, 1)),)), "nothing counts")


def test_the_product_of_two_lines() -> None:
    claim = at_most(0, r * (1 - r))
    first = concluding(at_most(0, r), by(Nonnegative(r)), "first")
    second = concluding(at_most(r, 1), by(Nonnegative(1 - r)), "second")
    product = by(Product("first", "second"))
    assert theorem(COUNTING, claim, Derivation((first, second, concluding(claim, product))))
    refused(COUNTING, at_most(0, r), Derivation((first, second, concluding(at_most(0, r), product))), "not the claim")
    refused(COUNTING, claim, Derivation((first, concluding(claim, product))), "no earlier line second")
    refused(COUNTING, claim, Derivation((second, concluding(claim, product))), "no earlier line first")
    vectors = Combine(w, w, relation="=", name="second")
    refused(COUNTING, claim, Derivation((first, vectors, concluding(claim, product))), "equation of vectors")
    rooted = Derivation((first, second, Root(r, number(1), "first, squared")))
    refused(COUNTING, at_most(r, 1), rooted, "no earlier line")


def test_an_exponent_at_the_example_is_a_small_integer() -> None:
    proof = one_line(TRUE, POSITIVE)
    half = replace(COUNTING, conditions=((number(1), ">=", r ** (e / 4)),))
    refused(half, TRUE, proof, "small integer")
    pole = replace(
        in_steps(COUNTING), conditions=((r**-e, ">=", number(1)),), example={"e": Fraction(2), "q": Fraction(0)}
    )
    refused(pole, TRUE, proof, "divides by 0")
