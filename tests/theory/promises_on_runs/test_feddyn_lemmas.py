"""FedDyn's lemmas and displayed equations, both sides exactly, over all sequences of sets of P devices.

Expectations are over all draws: every set of P devices in every round is played.
"""

from fractions import Fraction
from typing import Any

import pytest
from bound_makers import gradients, lower, mean
from dynamic_runs import DynamicRuns, dynamic_runs
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, fraction, fractions
from promises import at_most

import fedconvex as fc
from fedconvex.statements.instance import Instance
from fedconvex.theory import feddyn
from fedconvex.theory.bounds import Applies

CONVEX_LEMMAS = ["lemma1", "lemma3", "lemma4", "lemma5", "lemma7", "lemma8", "lemma9"]
CONVEX_LEMMAS += ["equation5", "equation10", "equation12", "equation13", "lemma1sharper", "lemma4sharper"]
CONVEX_LEMMAS += ["lemma8sharper"]
NONCONVEX_LEMMAS = ["lemma3", "lemma9", "lemma10", "lemma11", "lemma12", "equation14", "lemma10sharper"]
NONCONVEX_LEMMAS += ["lemma10assummed", "lemma11sharper", "lemma12sharper"]
ONE_GRADIENT_LEMMAS = ["lemma14", "lemma15", "equation17", "lemma16", "lemma17", "lemma18"]
ONE_GRADIENT_LEMMAS += ["lemma19", "lemma20", "lemma21", "equation19", "lemma19sharper"]
ALWAYS = {"lemma3", "lemma4", "lemma5", "lemma7", "lemma9", "equation5", "equation10", "equation12", "equation13"}
ALWAYS |= {"lemma12", "equation14", *ONE_GRADIENT_LEMMAS}  # whatever α is; Lemma 11 where models start stationary
LEFT = {
    "lemma3": "move", "lemma5": "C_next", "lemma7": "h_next", "equation10": "distance_next",
    "equation12": "distance_next", "lemma12": "C_next", "lemma12sharper": "C_next", "lemma14": "epsilon",
    "lemma15": "A_next", "lemma17": "h_next", "lemma18": "lag_next", "lemma19": "epsilon", "lemma19sharper": "epsilon",
    "lemma20": "B_next", "lemma21": "gradients_apart_next",
}  # fmt: skip


def sides(runs: DynamicRuns, name: str, found: dict[str, Fraction], bounds: Any) -> tuple[Fraction, Fraction] | None:
    """The two sides of a lemma, exactly, at the constants that were measured; None where it does not apply."""
    entry = bounds[f"feddyn.{name}"]
    if not isinstance(entry, Applies):
        assert name not in ALWAYS, f"{name}: {entry.assumption}: {entry.reason}"
        return None
    instance = Instance(runs.problem, runs.method, runs.scheme)
    known = {"alpha": runs.alpha, "num_clients": instance.num_clients, "num_active": runs.P}
    known |= {
        "L": fraction(instance.smoothness),
        "mu": max(fraction(instance.curvatures.strong_convexity), Fraction(0)),
    }
    known |= found
    statement = entry.statement
    right = statement(**{n: known[n] for n in statement.calculator.names})
    assert at_most(right, entry.value)
    assert right >= lower(entry.value)
    match name:
        case "lemma9":
            return -found["virtual_distance"], right
        case "lemma16":
            return -found["server_distance"], right
        case "equation19":
            return found["loss_next"] - found["loss"], right
    if statement.left is not None:
        return statement.left(**{n: known[n] for n in statement.left.names}), right
    return found[LEFT[name]], right


@pytest.mark.parametrize(
    ("runs", "names", "meaning_of_C"),
    [
        (dynamic_runs(fc.FedDyn), CONVEX_LEMMAS, "A"),  # memories are gradients at the devices' models
        (dynamic_runs(fc.FedDyn, convex=False), NONCONVEX_LEMMAS, "apart"),
        (dynamic_runs(fc.FedDynOneGD), ONE_GRADIENT_LEMMAS, "A"),
        (dynamic_runs(fc.FedDynOneGD, convex=False), ONE_GRADIENT_LEMMAS[3:], "A"),  # need no convexity
    ],
    ids=["convex", "any smooth", "one gradient", "one gradient, any smooth"],
)
@few
@given(data=st.data())
def test_lemmas(runs: Any, names: list[str], meaning_of_C: str, data: Any) -> None:
    drawn = data.draw(runs)
    found = drawn.expected()
    found |= {"C": found[meaning_of_C], "C_next": found[f"{meaning_of_C}_next"]}
    notation = feddyn.PAPER.notation
    bounds = drawn.bounds(**{name: number for name, number in found.items() if name in notation})
    for name in names:
        compared = sides(drawn, name, found, bounds)
        if compared is not None:
            assert compared[0] <= compared[1], name


@few
@given(dynamic_runs(fc.FedDyn) | dynamic_runs(fc.FedDynOneGD))
def test_identities_of_feddyn(runs: DynamicRuns) -> None:
    """Lemmas 2 and 13, equations (9) and (16)."""
    past = runs.sequences(runs.T - 1)
    if runs.one_gradient:
        new = [mean(gradients(runs.terms, runs.state(s)[0])) for s in past]
    else:
        new = [
            mean(H @ v - c for H, c, v in zip(runs.terms.H, runs.terms.c, runs.virtual(s), strict=True)) for s in past
        ]
    moved = mean(runs.average(s) - runs.average(s[:-1]) for s in runs.sequences(runs.T))
    statement = feddyn.lemma13 if runs.one_gradient else feddyn.lemma2
    assert list(moved) == [statement(alpha=runs.alpha, mean_gradient=g) for g in mean(new)]
    for s in runs.sequences(runs.T):
        server, h, memory, _ = runs.state(s)
        again = [feddyn.equation9(server=x, h=y, alpha=runs.alpha) for x, y in zip(server, h, strict=True)]
        assert list(runs.average(s)) == again
        assert (h == mean(memory)).all()


def test_smaller_lemmas_are_not_true() -> None:
    """With one device drawn Lemmas 3 and 9 are equalities; a shrunken right-hand side is noticed."""
    problem = fc.Quadratic([[[1]], [[2]]], [[1], [-1]])
    runs = DynamicRuns(problem, fc.FedDyn(alpha=50), 1, 2, fractions([1]))
    found = runs.expected()
    assert found["move"] == found["epsilon"] > 0
    assert found["virtual_distance"] == found["distance_next"]
    everyone = DynamicRuns(problem, fc.FedDyn(alpha=50), 2, 2, fractions([1])).expected()
    assert everyone["move"] < everyone["epsilon"]
