"""Claims about a method's first rounds: the next round has the same functions, other answers, and is everyone's."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.display.letters import Display
from fedconvex.claims.methods import running
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import (
    Vector,
    answers,
    gradient,
    last_answers,
    mean,
    memory,
    next_round,
    number,
    parameter,
    rounds_ahead,
    server,
    square,
)
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.statements.letters import Letters

from .attacks import refused, same

S = parameter("stepsize")
GD = ClaimSetting(
    **running("FedGD", stepsize=S), signs={"stepsize": "positive"},
    example={"stepsize": Fraction(1)}, curvature=(number(0), number(1)), first_round=True,
)  # fmt: skip
ALPHA = parameter("alpha")
DYN = replace(GD, method="FedDyn", method_parameters={"alpha": ALPHA}, signs={"alpha": "positive"},
              example={"alpha": Fraction(1)})  # fmt: skip


def second(size: Any = S) -> Vector:
    """The point after two rounds of gradient descent."""
    return server(1) - size * mean(gradient(server(1)))


def chain(rounds: int) -> Vector:
    return next_round(chain(rounds - 1)) if rounds else server(0)


TRUE: dict[str, tuple[ClaimSetting, Vector, Vector]] = {
    "a gradient step from where the first one ended": (GD, next_round(server(1)), second()),
    "it starts where the first one ended": (GD, next_round(server(0)), server(1)),
    "three rounds": (GD, next_round(next_round(server(0))), next_round(server(1))),
    "memories go on": (DYN, next_round(memory("gradient", 0)), memory("gradient", 1)),
    "answers become the last ones": (DYN, next_round(last_answers(0)), answers),
    "one function in all rounds": (DYN, next_round(gradient(server(0))), gradient(server(1))),
    "the equation of the second round's answers": (
        DYN, next_round(gradient(answers)),
        memory("gradient", 1) - ALPHA * (next_round(answers) - server(1))),
}  # fmt: skip
FALSE: dict[str, tuple[str, ClaimSetting, Vector, Vector]] = {
    "a step of another size": ("differ", GD, next_round(server(1)), second(2 * S)),
    "the second round repeats the first one": ("differ", DYN, next_round(answers), answers),
    "memories that are 0 still": ("differ", DYN, next_round(memory("gradient", 0)), memory("gradient", 0)),
    "of any round": ("not first", replace(GD, first_round=False), next_round(server(1)), second()),
    "of drawn clients": ("drawn clients", replace(GD, draws=DrawScheme("independent", number(2))),
                         next_round(server(0)), server(1)),
    "of answers of any steps": ("unknown vectors", replace(
        DYN, answers="inexact", inexactness=number(Fraction(1, 2))), next_round(server(0)), server(1)),
    "of any number of gradient steps": ("unknown vectors", replace(
        DYN, gradient_steps={"steps": parameter("e"), "stepsize": ALPHA}, counts=frozenset({"e"}),
        signs=DYN.signs | {"e": "positive"}, example=DYN.example | {"e": Fraction(2)}),
        next_round(server(0)), server(1)),
    "of too many rounds": ("too many rounds", GD, chain(25), server(0)),
    "of any number of local steps": ("unknown vectors", replace(
        GD, method_parameters={"stepsize": S, "local_steps": parameter("e")}, counts=frozenset({"e"}),
        signs=GD.signs | {"e": "positive"}, example=GD.example | {"e": Fraction(2)}),
        next_round(server(0)), server(1)),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_what_two_rounds_do_is_proved(name: str) -> None:
    setting, left, right = TRUE[name]
    assert theorem(setting, *same(left, right))


@pytest.mark.parametrize("name", FALSE)
def test_what_they_do_not_is_refused(name: str) -> None:
    reason, setting, left, right = FALSE[name]
    refused(setting, *same(left, right), reason)


def test_the_kernel_plays_the_rounds_that_a_run_has() -> None:
    problem = fc.Quadratic(H=[[[1]], [[3]]], c=[[1], [5]])
    run = ExactFederation(problem, fc.FedGD(stepsize=Fraction(1, 7)), [Fraction(2)])
    claim = equal(square(next_round(server(1)) - second(number(Fraction(1, 7)))), number(0))
    assert claim.rounds_played == 2
    assert claim.on(run).holds
    assert not equal(square(next_round(server(1)) - second(number(Fraction(1, 6)))), number(0)).on(run).holds


def test_in_a_trajectory_it_is_checked_from_every_round_but_the_last() -> None:
    problem = fc.Quadratic(H=[[[1]], [[3]]], c=[[1], [5]])
    run = fc.simulate(fc.FedGD(stepsize=Fraction(1, 7)), problem, 3, x0=[2], arithmetic="exact")
    slower = at_most(square(next_round(server(1)) - server(1)), square(server(1) - server(0)))
    assert slower.on(run).holds
    assert not at_most(2 * slower.left, slower.right).on(run).holds


def test_a_run_of_fewer_rounds_is_refused() -> None:
    run = fc.simulate(fc.FedGD(stepsize=Fraction(1, 7)), fc.Quadratic(H=[[[1]]], c=[[1]]), 1, x0=[2])
    with pytest.raises(InvalidInput, match="fewer than the 2 of the claim"):
        at_most(square(next_round(server(1))), square(server(0))).on(run)


def test_it_is_displayed_one_round_later() -> None:
    display = Display.of(Letters(), {"stepsize": "s"})
    assert display.latex(server(1)) != display.latex(next_round(server(1)))
    assert display.latex(next_round(server(0))) == display.latex(server(1))
    assert rounds_ahead(next_round(next_round(answers)) - answers) == 2
