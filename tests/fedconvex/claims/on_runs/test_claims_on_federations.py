"""Claims on exact federations: every operation of the language against numbers computed another way."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from quantities_of_rounds import average, gap, memory_error, vanishing

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction as exact
from fedconvex.certainty import Certainty
from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.claims.terms import (
    Number,
    after,
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
    sum_of_rounds,
    value,
)
from fedconvex.claims.terms import square as squared
from fedconvex.participation import Draw, Full, Uniform, Weighted
from fedconvex.proofs_checks.feddyn import exact_runs

pytestmark = pytest.mark.beyond_core

F = Fraction
PROBLEM = fc.Quadratic([[[1]], [[2]], [[F(1, 2)]]], [[3], [-1], [F(1, 3)]], [1, 2, 3])
ALPHA = F(5)


def federation(**changes: object) -> ExactFederation:
    given: dict[str, Any] = {
        "problem": fc.Quadratic(PROBLEM.H, PROBLEM.c), "method": fc.FedDyn(alpha=ALPHA), "start": [F(1, 2)],
        "participation": Uniform(2), "parameters": {"alpha": ALPHA},
    }  # fmt: skip
    return ExactFederation(**(given | changes))


def number_on(term: Number, run: ExactFederation, **about: Any) -> Fraction:
    """The value of a number term: the left side of `term = 0`."""
    found = vanishing(term, **about).on(run)
    assert found.certainty is Certainty.EXACT
    return found.left


@pytest.mark.parametrize("number_of_instance", range(12))
def test_the_quantities_of_feddyns_lemmas_are_those_of_the_independent_exact_runs(number_of_instance: int) -> None:
    other = exact_runs.Federation.random(number_of_instance)
    quantities = other.round(1)
    run = ExactFederation(other.problem, fc.FedDyn(alpha=other.alpha), [other.start], Uniform(other.active))
    gamma = [average(other.alpha, t) for t in (0, 1)]
    stored = [memory_error(t) for t in (0, 1)]
    ours = {
        "distance": squared(gamma[0] - minimiser), "distance_next": squared(gamma[1] - minimiser),
        "virtual_distance": squared(answers - minimiser), "C": squared(stored[0]), "C_next": squared(stored[1]),
        "epsilon": squared(answers - gamma[0]), "move": squared(gamma[1] - gamma[0]), "h": squared(shared("h", 1)),
        "gap": gap(gamma[0]),
    }  # fmt: skip
    assert {name: number_on(expected(term), run) for name, term in ours.items()} == quantities


def test_terms_of_a_round_are_what_they_are_defined_to_be() -> None:
    run = federation()
    w, H, c = F(1, 2), [F(1), F(2), F(1, 2)], [F(3), F(-1), F(1, 3)]
    theta = [(c[k] + ALPHA * w) / (H[k] + ALPHA) for k in range(3)]  # all g_k are 0 in the first round
    assert number_on(squared(answers), run) == sum(x * x for x in theta) / 3
    assert number_on(squared(answers - solutions), run) == number_on(squared(residuals), run) == 0
    assert number_on(expected(squared(drawn(answers))), run) == sum(
        ((theta[i] + theta[j]) / 2) ** 2 for i, j in combinations(range(3), 2)
    ) / F(3)
    assert number_on(inner(gradient(answers), mean(answers)), run) == sum(theta) / 3 * (
        sum(H[k] * theta[k] - c[k] for k in range(3)) / 3
    )
    assert number_on(value(answers), run) == sum(H[k] * theta[k] ** 2 / 2 - c[k] * theta[k] for k in range(3)) / 3
    assert number_on(squared(mean(gradient(minimiser))), run) == 0
    assert number_on(expected(squared(mean(memory("gradient", 1)) - shared("h", 1))), run) == 0
    assert equal(expected(drawn(answers)), mean(answers)).on(run).holds is True


def test_independent_draws_have_their_multinomial_probabilities() -> None:
    run = federation(problem=PROBLEM, method=fc.FedProx(mu=ALPHA), participation=Weighted(2))
    p = [F(1, 6), F(1, 3), F(1, 2)]
    theta = [(c + ALPHA / 2) / (h + ALPHA) for h, c in [(1, 3), (2, -1), (F(1, 2), F(1, 3))]]
    by_hand = sum(p[i] * p[j] * ((theta[i] + theta[j]) / 2) ** 2 for i, j in product(range(3), repeat=2))
    assert number_on(expected(squared(server(1))), run) == by_hand
    assert equal(expected(server(1)), mean(answers)).on(run).holds is True
    assert number_on(squared(answers), run) == sum(p[k] * theta[k] ** 2 for k in range(3))


def test_runs_of_several_rounds_sum_over_every_sequence_of_draws() -> None:
    run = federation(rounds=2)
    ends, gaps = [], []
    for sets in product(combinations(range(3), 2), repeat=2):
        state, rounds = run.moments[0].state, run.player.rounds
        points = [state.server[0]]
        for chosen in sets:
            state = rounds.advance(state, Draw(np.array(chosen), np.ones(2, dtype=int)))
            points.append(state.server[0])
        ends.append(exact(points[2]))
        gaps.append([exact(x) for x in points[:2]])
    n = F(len(ends))
    assert number_on(after(squared(server(0))), run, rounds="T") == sum(x * x for x in ends) / n
    r = F(3, 2)
    wanted = sum(g[0] ** 2 + r * g[1] ** 2 for g in gaps) / n
    assert number_on(sum_of_rounds(squared(server(0)), r), run, rounds="T") == wanted
    assert number_on(mean_of_rounds(squared(server(0)), r), run, rounds="T") == wanted / (1 + r)
    term = expected(squared(mean_of_rounds(server(0), r)))
    assert number_on(term, run, rounds="T") == sum(((g[0] + r * g[1]) / (1 + r)) ** 2 for g in gaps) / n


def test_a_claim_of_each_client_must_hold_for_the_worst() -> None:
    run = federation()
    played = run.player.rounds.play(run.moments[0].state)
    assert played is not None
    distances = [(exact(x) - F(1, 2)) ** 2 for x in played.answers.points.ravel()]
    bound = sum(distances) / 3
    assert at_most(squared(answers - server(0)), number(bound)).on(run).holds is True
    worst = at_most(squared(answers - server(0)), number(bound), of_client=True).on(run)
    assert (worst.holds, worst.client, worst.left) == (False, distances.index(max(distances)), max(distances))


def test_outside_of_an_expectation_the_claim_is_about_every_draw() -> None:
    run = federation()
    bound = number(number_on(expected(squared(server(1))), run))
    assert at_most(expected(squared(server(1))), bound).on(run).holds is True
    assert at_most(squared(server(1)), bound).on(run).holds is False


def test_irrational_sides_are_decided_by_balls_or_not_at_all() -> None:
    run = federation()
    root = number(2).sqrt()
    assert at_most(root * root, number(F(2) + F(1, 10**60))).on(run).holds is True  # needs more than 128 bits
    found = at_most(number(F(2) + F(1, 10**60)), root * root).on(run)
    assert (found.holds, found.certainty) == (False, Certainty.ENCLOSED)
    assert at_most(root * root, number(2)).on(run).holds is True  # by squares
    assert at_most(root * 3, root / F(1, 3)).on(run).holds is True
    assert equal(root * 3, number(18).sqrt()).on(run).holds is True
    assert at_most(root + root, 2 * root).on(run).holds is None  # a sum of roots: balls overlap
    assert at_most(-root, -root).on(run).holds is None
    assert at_most(number(4).sqrt(), number(2)).on(run).certainty is Certainty.EXACT
    both = free("u")
    given = federation(free={"u": [F(3)]})
    assert at_most(norm(both), number(3)).on(given).holds is True


def test_equal_lengths_are_decided_by_their_squares() -> None:
    run = federation()
    step = answers - server(0)
    assert number_on(squared(step), run) not in [F(n, d) ** 2 for n in range(50) for d in range(1, 50)]
    assert at_most(norm(step), norm(2 * step) / 2).on(run).holds is True
    assert at_most(norm(step) * (1 + F(1, 10**700)), norm(step)).on(run).holds is False


def test_vectors_of_clients_are_compared_with_one_that_all_share() -> None:
    run = federation()
    assert equal(answers, server(0)).on(run).holds is False
    assert equal(answers - answers + server(0), server(0)).on(run).holds is True


def test_a_point_with_irrational_coordinates_still_has_a_gradient_and_a_value() -> None:
    x = free("u") * number(2).sqrt()
    run = federation(free={"u": [F(1)]})
    slack = number(F(1, 10**9))
    H, c = F(7, 6), F(7, 9)
    assert at_most(square_of_difference(value(x), number(2).sqrt() * -c + H), slack).on(run).holds is True
    assert at_most(squared(mean(gradient(x)) - free("u") * (number(2).sqrt() * H - c)), slack).on(run).holds is True


def square_of_difference(a: Number, b: Number) -> Number:
    return (a - b) ** 2


def test_last_answers_are_those_of_the_last_round_in_which_a_client_took_part() -> None:
    first = [[F(7)], [F(8)], [F(9)]]
    run = federation(first_models=first, earlier=(Draw(np.array([0, 2]), np.ones(2, dtype=int)),))
    assert exact(run.moments[1].last_answers[1, 0]) == 8
    answered = run.player.rounds.play(run.moments[0].state)
    assert answered is not None
    assert run.moments[1].last_answers[2, 0] == answered.answers.points[2, 0]
    assert run.moments[0].last_answers[2, 0] == 9  # the moment before is unchanged
    assert at_most(squared(last_answers(0)), number(10**6)).on(run).holds is True


@pytest.mark.parametrize("how", ["inexact", "error"])
def test_deviating_answers_have_the_full_allowed_size(how: str) -> None:
    problem = fc.Quadratic([[[1, 0], [0, 2]]] * 2, [[1, 2], [3, -1]])
    row = (AnswerError(F(1), (F(1), F(2))), AnswerError(F(-1, 2), (F(0), F(3))))
    run = ExactFederation(
        problem, fc.FedProx(mu=F(3)), [1, 1], Full(), answers=how, inexactness=F(1, 3), deviations=(row, row)
    )
    _, subproblem, points = run.player._everyone(run.moments[0].state, Draw(), 0)
    clients = run.player.rounds.clients
    residual = subproblem.add_gradients(points, clients.gradients(points))
    start = subproblem.add_gradients(subproblem.start, clients.gradients(subproblem.start))
    errors = points - clients.minimise(subproblem)
    for k, size in enumerate((F(1), F(1, 2))):
        if how == "inexact":
            assert square(residual[k]) == (size / 3) ** 2 * square(start[k])
        else:
            assert square(errors[k]) == (size / 3) ** 2


def square(vector: Any) -> Fraction:
    return sum((exact(x) ** 2 for x in vector), Fraction(0))


def test_a_family_of_vectors_has_one_for_each_client() -> None:
    run = federation(free={"v": [[F(1)], [F(2)], [F(3)]]})
    assert number_on(squared(family("v")), run) == F(14, 3)
    assert number_on(squared(mean(family("v"))), run) == 4


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (at_most(parameter("beta"), 1), "beta"),
        (at_most(squared(shared("k", 0)), 1), "k"),
        (at_most(squared(free("u")), 1), "u"),
        (at_most(squared(last_answers(0)), 1), "last answers"),
        (at_most(after(squared(answers)), 1, rounds="T"), "round"),
        (at_most(number(1) / (parameter("alpha") - ALPHA), 1), "divides by 0"),
        (at_most((-number(1)).sqrt(), 1), "root"),
    ],
)  # fmt: skip
def test_what_the_run_does_not_have_is_refused_by_name(claim: Claim, word: str) -> None:
    with pytest.raises(NotOnThisRun, match=word):
        claim.on(federation())


def test_something_else_than_a_run_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="run"):
        at_most(1, 2).on("a run")
    with pytest.raises(fc.InvalidInput, match="minimiser"):
        at_most(squared(minimiser), 1).on(federation(problem=fc.Quadratic([[[0]], [[0]], [[0]]], [[1], [2], [3]])))


def test_integer_parts_are_exact_or_undecided() -> None:
    run = federation()
    assert number_on(number(F(7, 2)).ceil(), run) == 4
    assert number_on(number(-3).ceil(), run) == -3
    assert vanishing(number(2).log().ceil()).on(run).left == 1  # of a ball
    with pytest.raises(NotOnThisRun, match="contains an integer"):
        vanishing(number(2).log().exp().ceil()).on(run)
