"""Worst cases of ratios of terms: against the metrics by name, closed forms, and claims on attaining federations."""

from fractions import Fraction as F
from typing import Any

import pytest
from quantities_of_rounds import average, distance, gap, lifted_distance, memory_error

import fedconvex as fc
from fedconvex.claims import at_most
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import (
    Number,
    after,
    answers,
    expected,
    gradient,
    infimum,
    last_answers,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    shared,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.questions.question import pose
from fedconvex.proofs_checks.worst_cases.questions.specification import specify

pytestmark = pytest.mark.beyond_core  # takes seconds

CLIENTS = SmoothStronglyConvex(1, 4)
(DISTANCE, LAST_DISTANCE), (GAP, LAST_GAP) = map(distance, (0, 1)), (gap(server(0)), gap(server(1)))
SPREAD = DISTANCE + F(1, 2) * square(gradient(minimiser))  # with heterogeneity 1/2
MODELS = average(2)


@pytest.mark.parametrize(
    ("name", "pair", "method", "arguments"),
    [
        ("distance", (LAST_DISTANCE, DISTANCE), fc.FedGD(stepsize=F(1, 4), local_steps=2), {"num_clients": 1}),
        ("distance", (LAST_DISTANCE, SPREAD), fc.FedProx(mu=2), {"participation": Weighted(2)}),
        ("distance", (LAST_DISTANCE, SPREAD), fc.FedProx(mu=2), {"participation": Uniform(2), "num_clients": 4}),
        ("gap", (LAST_GAP, SPREAD), fc.FedDyn(alpha=2), {"rounds": 3}),
        ("gap", (LAST_GAP, SPREAD), fc.FedProx(mu=2), {"participation": Uniform(1)}),
        ("gradient_norm", (square(mean(gradient(server(1)))), SPREAD), fc.FedProx(mu=2), {"rounds": 2}),
        ("average_gap", (gap(mean_of_rounds(MODELS)), SPREAD), fc.FedDyn(alpha=2), {"rounds": 3}),
        (
            "average_gap",
            (gap(mean_of_rounds(MODELS)), SPREAD),
            fc.FedDyn(alpha=2),
            {"rounds": 2, "participation": Uniform(1)},
        ),
        ("mean_gap", (mean_of_rounds(gap(MODELS)), SPREAD), fc.FedDyn(alpha=2), {"rounds": 3}),
    ],
)
def test_a_name_and_its_terms_have_the_same_worst_case(
    name: str, pair: tuple[Number, Number], method: Any, arguments: dict[str, Any]
) -> None:
    """To the last digit, with the same multipliers: the program is the same."""
    heterogeneity = F(1, 2) if pair[1] == SPREAD else 0
    named = worst_case(method, CLIENTS, metric=name, heterogeneity=heterogeneity, **arguments)
    found = worst_case(method, CLIENTS, metric=pair, **arguments)
    assert (found.lower, found.upper) == (named.lower, named.upper)
    assert found.multipliers == named.multipliers
    assert found.says == named.says


def test_means_of_squared_gradients_are_terms_too() -> None:
    clients, method = WeaklyConvex(1, 1), fc.FedDyn(alpha=8)
    slopes = mean_of_rounds(square(mean(gradient(average(8)))))
    start = value(server(0)) - infimum + F(1, 3) * square(last_answers(0) - server(0))
    named = worst_case(method, clients, rounds=2, metric="mean_gradient_norm", spread=F(1, 3))
    found = worst_case(method, clients, rounds=2, metric=(slopes, start))
    assert (found.lower, found.upper) == (named.lower, named.upper)


def test_a_number_alone_is_divided_by_the_squared_distance() -> None:
    found = worst_case(fc.FedSGD(stepsize=F(1, 4)), CLIENTS, num_clients=1, metric=LAST_GAP)
    assert found.upper == worst_case(fc.FedSGD(stepsize=F(1, 4)), CLIENTS, num_clients=1, metric="gap").upper


@pytest.mark.parametrize("rounds", [1, 3])
def test_gradient_descent_contracts_gaps(rounds: int) -> None:
    """f(w_T) − f* <= (1 − μ/L)^(2T)(f(w_0) − f*), attained (de Klerk, Glineur and Taylor 2017, for s = 1/L)."""
    found = worst_case(
        fc.FedSGD(stepsize=F(1, 4)), CLIENTS, num_clients=1, rounds=rounds, metric=(LAST_GAP, GAP)
    )  # fmt: skip
    assert found.lower == found.upper == F(9, 16) ** rounds


def test_fedsplits_distance_in_every_norm() -> None:
    """mean‖z − z*‖² and the server's distance, both by terms; the server's is at most the mean."""
    method = fc.FedSplit(stepsize=F(1, 2))
    lifted = tuple(square(lifted_distance(F(1, 2), t)) for t in (1, 0))
    found = worst_case(method, CLIENTS, metric=lifted)
    by_name = worst_case(method, CLIENTS, metric="lifted_distance")
    assert found.upper <= by_name.upper  # from the method's own start, where all z_k are the server's point
    server_distance = worst_case(method, CLIENTS, metric=(LAST_DISTANCE, lifted[1]))
    assert server_distance.upper <= found.upper


PLAYED: list[tuple[Any, Any, dict[str, Any], tuple[Number, Number]]] = [
    (fc.FedSGD(stepsize=F(1, 4)), CLIENTS, {"num_clients": 1}, (LAST_DISTANCE, DISTANCE)),
    (fc.FedProx(mu=2), CLIENTS, {}, (square(mean(answers) - server(0)), square(gradient(server(0))))),
    (fc.FedProx(mu=2), CLIENTS, {"participation": Uniform(1)}, (LAST_DISTANCE, SPREAD)),
    (fc.FedDyn(alpha=2), CLIENTS, {}, (LAST_GAP, SPREAD)),
    (fc.FedGD(stepsize=F(1, 4), local_steps=2), CLIENTS, {}, (LAST_DISTANCE, SPREAD)),  # the bias
]


@pytest.mark.parametrize(("method", "clients", "arguments", "pair"), PLAYED)
def test_the_claim_on_the_attaining_federation_is_an_equality(
    method: Any, clients: Any, arguments: dict[str, Any], pair: tuple[Number, Number]
) -> None:
    """Exactly: numerator = lower · denominator there; with a smaller factor the claim is false."""
    found = worst_case(method, clients, metric=pair, **arguments)
    assert found.is_played
    assert found.lower <= found.upper
    scheme = {"participation": arguments["participation"]} if "participation" in arguments else {}
    run = ExactFederation(found.federation(), method, found.start, **scheme)
    numerator, denominator = map(expected, pair)
    attained = at_most(numerator, number(found.lower) * denominator).on(run)
    assert attained.holds
    assert attained.left == attained.right
    assert at_most(numerator, number(found.lower * F(999, 1000)) * denominator).on(run).holds is False


def test_every_draw_is_enumerated_where_functions_are_evaluated_after_it() -> None:
    """E‖∇F_k(w⁺)‖² depends on more than two moments of the draw."""
    pair = (square(gradient(server(1))), SPREAD)
    found = worst_case(fc.FedProx(mu=2), CLIENTS, num_clients=2, participation=Uniform(1), metric=pair)
    assert found.question.enumerated
    assert 0 < found.lower <= found.upper
    moved = worst_case(
        fc.FedProx(mu=2), CLIENTS, num_clients=2, participation=Uniform(1), metric=(LAST_DISTANCE, SPREAD)
    )
    assert not moved.question.enumerated


@pytest.mark.sample(1)
@pytest.mark.parametrize(("m", "active"), [(2, 1), (3, 2)])
@pytest.mark.parametrize(
    "kept",
    [
        square(memory_error(1)),  # what those that are not drawn keep
        square(memory("gradient", 1) - shared("h", 1)),
        square(memory("gradient", 1) - mean(memory("gradient", 1)) + 3 * (server(1) - minimiser)),
    ],
)
def test_two_moments_of_a_draw_are_those_of_all_draws(kept: Number, m: int, active: int) -> None:
    """By two moments, and by enumeration: 0 times a value after the draw forces that."""
    method, scheme = fc.FedDyn(alpha=2), Uniform(active)
    found = worst_case(method, CLIENTS, num_clients=m, participation=scheme, metric=(kept, SPREAD))
    assert not found.question.enumerated
    forced = (kept + 0 * value(server(1)), SPREAD)
    enumerated = worst_case(method, CLIENTS, num_clients=m, participation=scheme, metric=forced)
    assert enumerated.question.enumerated
    assert float(found.upper) == pytest.approx(float(enumerated.upper), rel=1e-5)
    problem = fc.Quadratic(H=[[[1]], [[4]], [[2]]][:m], c=[[1], [-3], [2]][:m])
    run = ExactFederation(problem, method, [F(2)], participation=scheme)
    assert at_most(expected(kept), number(found.upper) * expected(SPREAD)).on(run).holds is True


@pytest.mark.parametrize(
    ("metric", "rounds", "says"),
    [
        ((norm(server(1) - minimiser), DISTANCE), 1, "length that is not squared"),
        ((norm(server(1) - minimiser) + GAP, DISTANCE), 1, "length that is not squared"),
        ((norm(server(1)) * norm(server(0)), DISTANCE), 1, "product of unknown numbers"),
        ((GAP * GAP, DISTANCE), 1, "product of unknown numbers"),
        ((GAP**2, DISTANCE), 1, "no linear function"),
        ((LAST_GAP / GAP, DISTANCE), 1, "pair \\(numerator, denominator\\)"),
        ((LAST_DISTANCE + 1, DISTANCE), 1, "adds a constant"),
        ((LAST_DISTANCE, number(1)), 1, "is a constant"),
        ((parameter("s") * LAST_DISTANCE, DISTANCE), 1, "parameter without a value"),
        ((number(2).sqrt() * LAST_DISTANCE, DISTANCE), 1, "irrational"),
        ((square(memory("z", 1)), DISTANCE), 1, "is not in the state of"),
        ((square(answers - server(0)), DISTANCE), 2, "about one round"),
        ((LAST_GAP + sum_of_rounds(GAP), DISTANCE), 2, "after"),
        ((abs(GAP), DISTANCE), 1, "maximum"),
        ((LAST_DISTANCE,), 1, "pair of such numbers"),
        (server(1), 1, "pair of such numbers"),
        (3, 1, "pair of such numbers"),
        ("biased", 1, "is unknown"),
    ],
)
def test_what_no_program_can_contain_is_named(metric: Any, rounds: int, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        worst_case(fc.FedProx(mu=2), CLIENTS, rounds=rounds, metric=metric)


def test_lengths_after_a_draw_and_minimisers_that_need_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="depends on the draw"):
        worst_case(fc.FedProx(mu=2), CLIENTS, participation=Uniform(1), metric=(norm(server(1) - minimiser), DISTANCE))
    with pytest.raises(InvalidInput, match="no minimiser"):
        worst_case(fc.FedProx(mu=2), WeaklyConvex(1, 4), metric=(LAST_DISTANCE, DISTANCE))
    metric = square(gradient(server(1))), SPREAD
    with pytest.raises(InvalidInput, match="too many ways"):
        worst_case(fc.FedDANE(mu=2), CLIENTS, num_clients=40, rounds=2, participation=Uniform(20), metric=metric)
    many = worst_case(fc.FedProx(mu=2), CLIENTS, num_clients=40, participation=Uniform(20), metric=metric)
    assert 0 < many.lower <= many.upper < float("inf")
    with pytest.raises(InvalidInput, match="write it into the denominator"):
        worst_case(fc.FedProx(mu=2), CLIENTS, heterogeneity=1, metric=(LAST_DISTANCE, DISTANCE))


def test_a_start_that_the_method_leaves_has_no_bound() -> None:
    """FedProx at the minimiser of unlike clients moves on: the distance alone bounds nothing."""
    found = worst_case(fc.FedProx(mu=2), CLIENTS, metric=(LAST_DISTANCE, DISTANCE))
    assert found.upper == float("inf")
    assert "denominator" in found.says


def test_a_mean_over_rounds_needs_one_round_less() -> None:
    """The last round does not matter to what is known before it."""
    pair = (mean_of_rounds(GAP), DISTANCE)
    question = pose(specify(fc.FedSGD(stepsize=F(1, 4)), SmoothConvex(4), 1, 3, pair, None, 0, None))
    ended = pose(specify(fc.FedSGD(stepsize=F(1, 4)), SmoothConvex(4), 1, 3, (after(GAP), DISTANCE), None, 0, None))
    assert len(ended.board.evaluations) == len(question.board.evaluations) + 1
    assert question.spec.ratio is not None
    assert "T" in question.spec.metric


def test_constant_clients_move_nothing() -> None:
    """They attain 1, which no convex clients exceed. As quadratics they have many minimisers, and are left out."""
    beyond = DISTANCE + square(gradient(minimiser)) + square(last_answers(0) - server(0))
    found = worst_case(fc.FedDyn(alpha=20), SmoothConvex(2), rounds=2, metric=(LAST_DISTANCE, beyond))
    assert found.lower == found.upper == 1
