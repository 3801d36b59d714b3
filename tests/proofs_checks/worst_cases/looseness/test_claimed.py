"""Worst cases read off claims: of one's own, against questions posed by hand, and what has no such question."""

from dataclasses import fields
from fractions import Fraction as F
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    answers,
    expected,
    gradient,
    infimum,
    mean,
    minimiser,
    norm,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_rationals
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import SmoothConvex, WeaklyConvex, looseness, worst_case
from fedconvex.proofs_checks.worst_cases.looseness.asked import question_about, questions
from fedconvex.proofs_checks.worst_cases.looseness.claimed import needed_by, taken_by
from fedconvex.proofs_checks.worst_cases.looseness.quotients import quotient
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Played, registered
from fedconvex.proofs_checks.worst_cases.looseness.sums import ratio_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import mean as mean_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import shared as shared_vector
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import square as square_of
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, first_state
from fedconvex.theory import feddyn, fedprox, statement
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

mu, L, s, m, P, gamma = map(parameter, ("mu", "L", "s", "m", "P", "gamma"))
GRADIENT_STEP = ClaimSetting(
    method="FedGD", method_parameters={"stepsize": s, "local_steps": number(1)},
    signs={"mu": "positive", "L": "positive", "s": "positive"}, conditions=((L, ">=", mu),), curvature=(mu, L),
    minimiser=True, example={"mu": F(1), "L": F(2), "s": F(1, 4)},
)  # fmt: skip
CONTRACTION = at_most(square(server(1) - minimiser), (1 - s * mu) ** 2 * square(server(0) - minimiser))


def test_a_claim_of_ones_own() -> None:
    """(1 − sμ)² is the rate of a short gradient step, and false for a long one."""
    short = looseness(CONTRACTION, GRADIENT_STEP, mu=1, L=4, s=F(1, 4))
    assert short.factor[1] == 1
    assert short.verdict is Verdict.PROVED
    long = looseness(CONTRACTION, GRADIENT_STEP, mu=1, L=4, s=F(1, 2))
    assert long.factor == (F(1, 4), F(1, 4))  # the rate is (1 − sL)² = 1
    assert long.verdict is Verdict.REFUTED
    assert repr(long).startswith("<the claim: REFUTED")


def test_a_claim_with_draws_is_about_two_moments_or_all_draws() -> None:
    """E‖θ − x*‖² after FedProx with P of m clients, against `worst_case`; and with a value after the draw."""
    setting = ClaimSetting(
        method="FedProx", method_parameters={"mu": mu}, curvature=(number(0), L), minimiser=True,
        draws=DrawScheme("uniform", P, m), example={"mu": F(1), "L": F(1), "P": F(1), "m": F(2)},
    )  # fmt: skip
    right = square(server(0) - minimiser) + square(gradient(minimiser))
    claim = at_most(expected(square(server(1) - minimiser)), right)
    found = looseness(claim, setting, mu=2, L=1, P=1, m=2)
    by_hand = worst_case(
        fc.FedProx(mu=2), SmoothConvex(1), num_clients=2, participation=Uniform(1), metric="distance", heterogeneity=1
    )
    assert float(found.worst.upper) == pytest.approx(float(by_hand.upper), rel=1e-6)
    valued = at_most(expected(value(server(1)) - value(minimiser)), right)
    gap = looseness(valued, setting, mu=2, L=1, P=1, m=2)
    named = worst_case(
        fc.FedProx(mu=2), SmoothConvex(1), num_clients=2, participation=Uniform(1), metric="gap", heterogeneity=1
    )
    assert float(gap.worst.upper) == pytest.approx(float(named.upper), rel=1e-6)


def test_fedproxs_drift_posed_by_hand() -> None:
    """Equation (7): M = −μ(w̄ − w) − ∇f(w) on a board written out here, with the statement's bound."""
    numbers: dict[str, Any] = {"mu": F(5), "L": F(1), "L_minus": F(1), "B": F(2), "gamma": F(1, 10)}
    board = Board(2, WeaklyConvex(1, 1), minimiser=False)
    method, w = in_rationals(fc.FedProx(mu=5)), shared_vector("w")
    first = board.at(w)
    _, points = answered(method, fc.ToInexactness(F(1, 10)), board, first_state(method, w))
    M = (mean_of(points) - w) * -5 - mean_of(first.gradient)
    bound = fedprox.equation7(**numbers, gradient=F(1))
    more = (("dissimilarity", square_of(mean_of(first.gradient)) * 4 - square_of(first.gradient)),)
    by_hand = quotient(Compared(board, square_of(M), square_of(mean_of(first.gradient)) * bound**2, more, power=2))
    found = looseness("fedprox.equation7", **numbers)
    assert found.power == 2
    assert float(found.worst.upper) == pytest.approx(float(by_hand.upper), rel=1e-9)
    assert float(found.worst.lower) == pytest.approx(float(by_hand.lower), rel=1e-6)


@pytest.mark.slow
def test_feddyns_theorem_posed_by_hand() -> None:
    """Theorem 2 is about the gap at the mean of the γ^t, in units of D₀ + (e/c)G: the named metric, exactly."""
    numbers = {"alpha": F(25), "L": F(1), "num_clients": F(2), "num_active": F(1), "T": F(3)}
    bound, other = (feddyn.theorem2(**numbers, D0=a, G=b) for a, b in ((F(1), F(0)), (F(0), F(1))))
    by_hand = worst_case(
        fc.FedDyn(alpha=25), SmoothConvex(1), num_clients=2, rounds=3, metric="average_gap",
        heterogeneity=other / bound, participation=Uniform(1),
    )  # fmt: skip
    found = looseness("feddyn.theorem2", **numbers)
    assert found.bound == bound
    assert (found.lower, found.upper) == (by_hand.lower, by_hand.upper)
    assert found.factor == (bound / by_hand.upper, bound / by_hand.lower)


def test_a_decrease_is_the_named_descent() -> None:
    """Theorem 4's claim is a question of `worst_case`, with a federation."""
    asked = question_about("fedprox.theorem4sharper")
    built = asked.build(mu=F(50), L=F(1), L_minus=F(0), B=F(6, 5), gamma=F(0))
    assert isinstance(built, Played)
    assert built.question["metric"] == "descent"
    assert built.question["num_clients"] == "any"
    assert built.bound == fedprox.theorem4sharper(mu=F(50), L=F(1), L_minus=F(0), B=F(6, 5), gamma=F(0))


def test_a_lemma_without_a_class_of_functions() -> None:
    """Lemma 16 assumes nothing of the functions; for convex ones it would be loose by 3/2."""
    found = looseness("feddyn.lemma16", alpha=25, num_clients=10, num_active=5)
    assert found.factor[1] == 1
    assert looseness("feddyn.lemma3", alpha=4, num_clients=4, num_active=2).factor[1] == 1
    assert "L" in question_about("feddyn.lemma3").taken
    assert "L" not in question_about("feddyn.lemma3").needed
    smooth = looseness("feddyn.lemma3", alpha=4, L=1, num_clients=4, num_active=2)
    assert smooth.verdict is Verdict.PROVED


def test_which_ratio_a_claim_bounds() -> None:
    """What the right side subtracts is what a round gains; else the sides are compared as they are written."""
    gap, before, after_ = value(server(0)) - value(minimiser), square(server(0)), square(server(1))
    gained = ratio_of(at_most(after_, before - 2 * expected(gap)), {})
    assert [a.coefficient for a in gained.left] == [2]
    assert [a.coefficient for a in gained.right] == [1, -1]
    written = ratio_of(at_most(3 * expected(gap), before - after_), {})
    assert [a.coefficient for a in written.left] == [3]
    merged = ratio_of(at_most(after_, (before - expected(gap)) / 4 - expected(gap)), {})
    assert to_fraction(sum(a.coefficient for a in merged.left)) == F(5, 4)


def test_statements_say_what_they_take() -> None:
    assert questions()["feddyn.theorem2"].needed == ("alpha", "L", "T", "num_active", "num_clients")
    assert "K" not in questions()["fedprox.theorem4sharper"].needed  # with one drawn device it is worst
    assert questions()["fedsplit.theorem1"].needed == ("kappa", "t")
    for asked in questions().values():
        assert set(asked.needed) <= set(asked.taken)
        if (claim := getattr(asked.statement, "claim", None)) is not None and asked.statement not in registered():
            assert asked.taken == taken_by(claim, asked.statement.setting)  # type: ignore[union-attr]
            assert asked.needed == needed_by(claim, asked.statement.setting)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (
            at_most(norm(server(1) - minimiser) + norm(server(0) - minimiser), norm(server(0) - minimiser)),
            "not squared",
        ),
        (at_most(square(server(1) - minimiser), norm(server(0) - minimiser)), "compared with a length"),
        (at_most(norm(server(1)) * norm(server(0)), square(server(0))), "product of unknown numbers"),
        (at_most(square(server(1) - minimiser), 1), "constant"),
        (at_most(abs(value(server(1))), value(server(0))), "maximum"),
        (at_most(s.sqrt() * square(server(1)), square(server(0))), "irrational"),
        (at_most(value(server(1)) - infimum, square(gradient(server(0)))), "no instance would attain"),
        (at_most(square(shared("c", 1)), square(server(0))), "not in the state"),
        (equal(square(server(1)), square(server(0))), "no inequality"),
    ],
)
def test_claims_that_no_program_can_contain(claim: Claim, says: str) -> None:
    setting = GRADIENT_STEP if "instance" not in says else ClaimSetting(
        method="FedGD", method_parameters=GRADIENT_STEP.method_parameters, curvature=(mu, L), bounded_below=True,
        example=GRADIENT_STEP.example,
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=says):
        looseness(claim, setting, mu=1, L=4, s=F(1, 2))


def test_every_part_of_a_setting_has_a_meaning_or_is_refused() -> None:
    """A part that were overlooked would be an assumption that the worst case does not make, or does not refuse."""
    read = {
        "method", "method_parameters", "signs", "counts", "conditions", "curvature", "answers", "inexactness",
        "gradient_steps", "draws", "minimiser", "bounded_below", "dissimilarity", "variance", "large_gradient",
        "starts_at_own_minima", "single_client", "equal_weights", "example",
    }  # fmt: skip
    refused = {"rests", "first_round", "objective", "initial_gap", "objective_gap", "similarity"}
    assert {f.name for f in fields(ClaimSetting)} == read | refused


def test_settings_that_worst_cases_cannot_assume() -> None:
    claim = at_most(square(server(1) - minimiser), square(server(0) - minimiser))
    for setting, says in (
        (ClaimSetting(**running("FedSGD", stepsize=s), rests=True), "rests"),
        (ClaimSetting(**running("FedSGD", stepsize=s), objective=(mu, L)), "objective"),
        (ClaimSetting(**running("FedSGD", stepsize=s), initial_gap=mu), "gap at the start"),
        (ClaimSetting(method="Nobody"), "is no method"),
        (ClaimSetting(**running("FedSplit", stepsize=s), curvature=(mu, L), minimiser=True,
                      answers="error", inexactness=gamma), "not analysed"),
        (ClaimSetting(**running("FedSGD", stepsize=s), curvature=(mu, L), minimiser=True,
                      variance=gamma), "without a lower bound"),
    ):  # fmt: skip
        numbers = {
            name: F(1, 1 + (name != "L"))
            for name in (*needed_by(claim, setting), *["gamma"] * (setting.answers == "error"))
        }
        with pytest.raises(InvalidInput, match=says):
            looseness(claim, setting, **numbers)
    with pytest.raises(InvalidInput, match="is needed for a claim"):
        looseness(claim, mu=1)
    scaffold = ClaimSetting(**running("Scaffold", stepsize=s),
                            curvature=(mu, L), minimiser=True)  # fmt: skip
    with pytest.raises(InvalidInput, match="of which no invariants"):
        looseness(claim, scaffold, mu=1, L=4, s=F(1, 4))
    with pytest.raises(InvalidInput, match="has no worst case"):
        looseness("fedprox.theorem6")


@pytest.mark.parametrize(
    "numbers",
    [{"mu": 4, "L": 1, "s": 1}, {"mu": 1, "L": 4}, {"mu": 1, "L": 4, "s": -1}, {"mu": 1, "L": 4, "s": 1, "T": 3}],
)
def test_numbers_outside_the_settings_domain_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        looseness(CONTRACTION, GRADIENT_STEP, **numbers)


def test_a_claim_of_any_state_refutes_nothing() -> None:
    """A run need not reach the state that breaks a claim about one round of a method with memory."""
    claim = at_most(square(answers - server(0)), F(1, 10**6) * square(mean(gradient(server(0)))))
    setting = statement("feddyn.lemma4").setting
    found = looseness(claim, setting, alpha=4, L=1)
    assert found.factor[1] < 1
    assert found.verdict is Verdict.UNKNOWN
    assert "BROKEN by a state" in found.says
