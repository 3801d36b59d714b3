"""All possible draws, enumerated: against a program written here, and against simulations of every draw."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from all_draws import every_draw
from full_program import Clients, mean

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.questions import specification
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.question import pose
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds


def histories(method, problem, start, participation, rounds, arithmetic="exact"):
    """(chance, points γ^0, γ^1, …, and the server's last point), by the core; γ is the average of the answers."""
    run = rounds_of(method, problem, arithmetic)
    publish = run.arithmetic.publish
    for sequence in product(every_draw(problem.num_clients, participation), repeat=rounds):
        with run.arithmetic.context():
            state, chance, points = run.start(run.arithmetic.array(start)), F(1), [start]
            for share, draw in sequence:
                played = run.play(state, draw)
                state, chance = played.state, chance * share
                points.append(publish(played.average(played.answers.points)))
            yield chance, points, publish(state.server)


def feddyn(c, active, alpha, rounds):
    """(chance, γ^0, γ^1, …) of every history, on rows of coefficients."""
    answers = {}

    def answer(k, w, g):
        key = (k, *w, *g)
        if key not in answers:
            answers[key] = c.prox(k, alpha, w, -g)[0]
        return answers[key]

    def played(w, g, points, left):
        if not left:
            yield points
            return
        for drawn in combinations(range(c.m), active):
            theta = {k: answer(k, w, g[k]) for k in drawn}
            after = [g[k] - alpha * (theta[k] - w) if k in drawn else g[k] for k in range(c.m)]
            average = mean(list(theta.values()))
            yield from played(average - mean(after) / alpha, after, [*points, average], left - 1)

    return list(played(c.w, [0 * c.w] * c.m, [c.w], rounds))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("m", "active", "T"), [(2, 1, 2), (2, 1, 3), (3, 1, 2), (3, 2, 2)])
def test_draws_with_memory(m, active, T):
    """FedDyn's Theorem 2, by a program for all clients and all draws that is written here."""
    alpha, G = 3.0, F(1, 3)
    c = Clients(m, 0.0, 1.0, minimiser=True, size=80)
    whole = [mean(points) for points in feddyn(c, active, alpha, T - 1)]
    values = [mean([c.look(k, point)[1] for k in range(m)]) for point in whole]
    truth = c.worst(
        lambda inner: mean(values),
        lambda inner: inner(c.w, c.w) + float(G) / m * sum(inner(p, p) for p in c.pulls),
    )
    found = worst_case(fc.FedDyn(alpha=3), SmoothConvex(1), m, T, "average_gap", heterogeneity=G,
                       participation=Uniform(active))  # fmt: skip
    assert isinstance(found.question.board, EnumeratedBoard)
    assert f"for {m} clients" in found.says
    assert 0 < found.lower <= found.upper
    assert float(found.upper) == pytest.approx(truth, abs=1e-6)
    assert found.upper - found.lower <= 1e-6


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("m", "active", "clients", "mu", "B"),
    [(2, 1, SmoothConvex(1), 5, F(3, 2)), (3, 1, SmoothConvex(1), 2, F(6, 5)), (3, 2, SmoothConvex(1), 5, F(3, 2)),
     (2, 1, WeaklyConvex(1, 1), 4, F(5, 4))],
)  # fmt: skip
def test_values_at_points_that_are_drawn(m, active, clients, mu, B):
    """FedProx's descent: f is looked at where the draw leads, which the descent lemma only bounds."""
    c = Clients(m, float(clients.lowest), float(clients.highest), minimiser=False, size=60)
    here = [c.look(k, c.w) for k in range(m)]
    answers = [c.prox(k, float(mu), c.w)[0] for k in range(m)]
    points = [mean([answers[k] for k in drawn]) for drawn in combinations(range(m), active)]
    after = mean([mean([c.look(k, point)[1] for k in range(m)]) for point in points])
    g = mean([gradient for gradient, _ in here])
    truth = -c.worst(
        lambda inner: after - mean([f for _, f in here]),
        lambda inner: inner(g, g),
        [lambda inner: mean([inner(h, h) for h, _ in here]) <= float(B) ** 2 * inner(g, g)],
    )
    question = {"metric": "descent", "dissimilarity": B}
    found = worst_case(fc.FedProx(mu=mu), clients, m, participation=Uniform(active), **question)
    assert found.lower <= found.upper
    assert float(found.lower) == pytest.approx(truth, abs=1e-6)
    assert float(found.upper) == pytest.approx(truth, abs=1e-6)
    everyone = worst_case(fc.FedProx(mu=mu), clients, m, **question)
    assert found.upper < everyone.lower  # a draw costs something


def test_equal_curvatures_by_hand():
    """F_k = Lx²/2 − p_k x with p = ±1: w⁺ = (1 − sL)w ± sp, so E f(w⁺) = (L/2)((1 − sL)²w² + s²p²)."""
    L, s, G = 2, F(1, 3), F(1, 5)
    found = worst_case(fc.FedGD(stepsize=s, local_steps=1), SmoothStronglyConvex(L, L), 2, metric="gap",
                       heterogeneity=G, participation=Uniform(1))  # fmt: skip
    assert found.lower == found.upper == max(F(L, 2) * (1 - s * L) ** 2, F(L, 2) * s**2 / G)


@pytest.mark.parametrize("method", [fc.FedDyn(alpha=2), fc.Scaffold(stepsize=F(1, 5), local_steps=1)], ids=repr)
@pytest.mark.parametrize("m", [2, 3])
def test_one_way_to_draw_everyone_is_the_program_of_mean_and_deviations(method, m, monkeypatch):
    """Two rounds, P = m: no symmetry is used, and the same comes out."""
    question = {"rounds": 2, "metric": "gap", "heterogeneity": F(1, 2)}
    clients = SmoothStronglyConvex(F(1, 2), 2)
    reduced = worst_case(method, clients, m, **question)
    monkeypatch.setattr(specification, "draws_of", lambda *_: Draws(m, m))
    written = worst_case(method, clients, m, **question)
    assert isinstance(written.question.board, EnumeratedBoard)
    assert float(written.upper) == pytest.approx(float(reduced.upper), rel=1e-7)
    assert float(written.lower) == pytest.approx(float(reduced.lower), rel=1e-7)


@pytest.mark.parametrize(
    ("method", "participation"),
    [(fc.FedDyn(alpha=2), Uniform(1)), (fc.FedProx(mu=2), Weighted(1)), (fc.FedProx(mu=2), Weighted(2))], ids=repr,
)  # fmt: skip
def test_the_second_moments_say_the_same(method, participation):
    """Where all curvatures are L, the gap is L/2 times the squared distance, which is known by two moments."""
    L, question = 3, {"heterogeneity": F(1, 3), "participation": participation}
    gap, distance = (worst_case(method, SmoothStronglyConvex(L, L), 2, metric=metric, **question)
                     for metric in ("gap", "distance"))  # fmt: skip
    assert isinstance(gap.question.board, EnumeratedBoard)
    assert not isinstance(distance.question.board, EnumeratedBoard)
    assert float(gap.upper) == pytest.approx(F(L, 2) * distance.upper, rel=1e-9)
    assert float(gap.lower) == pytest.approx(F(L, 2) * distance.lower, rel=1e-9)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("method", "metric", "rounds"),
    [(fc.FedDyn(alpha=3), "average_gap", 3), (fc.FedDyn(alpha=3), "distance", 2), (fc.FedDynOneGD(alpha=4), "gap", 2),
     (fc.Scaffold(stepsize=F(1, 5), local_steps=1), "distance", 2), (fc.FedSplit(stepsize=1), "gap", 2),
     (fc.FedDANE(mu=3), "distance", 1), (fc.FedNova(stepsize=F(1, 5), local_steps=2), "gap", 1)],
    ids=repr,
)  # fmt: skip
def test_what_is_attained_happens_when_all_draws_are_made(method, metric, rounds):
    G = F(1, 2)
    found = worst_case(method, SmoothConvex(1), 2, rounds, metric, heterogeneity=G, participation=Uniform(1))
    assert 0 < found.lower <= found.upper
    assert found.upper - found.lower <= 1e-3 * found.upper
    problem, start, total = found.federation(), found.start, 0
    exact = isinstance(problem, fc.Quadratic)
    averaged = metric == "average_gap"
    for chance, points, last in histories(method, problem, start, Uniform(1), rounds - averaged,
                                          "exact" if exact else "float"):  # fmt: skip
        point = mean(points) if averaged else last
        total += chance * (point @ point if metric == "distance" else problem.value(point) - problem.value(0 * start))
    pulls = problem.client_gradients(0 * start)
    ratio = total / (start @ start + G * sum(p @ p for p in pulls) / 2)
    assert ratio == found.lower if exact else float(ratio) == pytest.approx(float(found.lower), rel=1e-4)


@pytest.mark.slow
def test_no_federation_of_three_is_above_the_proved_end():
    """FedDyn with one of three, two rounds; curvatures, pulls and start at random."""
    G, method, clients, most = F(1, 4), fc.FedDyn(alpha=2), SmoothStronglyConvex(F(1, 2), 2), F(0)
    found = worst_case(method, clients, 3, 2, heterogeneity=G, participation=Uniform(1))
    rng = np.random.default_rng(2)
    for _ in range(12):
        curvatures = [F(int(n)) / 2 for n in rng.integers(1, 5, 3)]
        pulls = [F(int(n)) for n in rng.integers(-3, 4, 3)]
        problem = fc.Quadratic([[[h]] for h in curvatures], [[p - sum(pulls) / 3] for p in pulls])
        start = np.array([F(int(rng.integers(1, 4)))], dtype=object)
        distance = sum(chance * (w @ w) for chance, _, w in histories(method, problem, start, Uniform(1), 2))
        gradients = problem.client_gradients(0 * start)
        most = max(most, distance / (start @ start + G * sum(p @ p for p in gradients) / 3))
    assert found.upper / 10 < most <= found.upper


def test_a_changed_multiplier_is_no_proof():
    found = worst_case(fc.FedDyn(alpha=3), SmoothConvex(1), 2, 2, "average_gap", heterogeneity=1,
                       participation=Uniform(1))  # fmt: skip
    certificate = found.certificate
    place = next(i for i, multiplier in enumerate(certificate.multipliers) if multiplier)
    changed = list(certificate.multipliers)
    changed[place] *= F(1001, 1000)
    with pytest.raises(ValueError, match="no proof"):
        replace(certificate, multipliers=tuple(changed))
    with pytest.raises(ValueError, match="no proof"):
        replace(certificate, t=found.lower * F(999, 1000))


@pytest.mark.parametrize(("m", "participation"), [(4, Uniform(2)), (3, Uniform(1)), (3, Weighted(2)), (2, Weighted(3))])
def test_every_way_to_draw(m, participation):
    """Against the enumeration of ordered draws: how often each client counts, with which probability."""

    def law(ways):
        found = {}
        for chance, draw in ways:
            key = tuple(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))
            found[key] = found.get(key, 0) + chance
        return found

    draws = Draws(participation.K, m, replaced=isinstance(participation, Weighted))
    ways = list(draws.every())
    assert len(ways) == draws.number
    assert law(ways) == law(every_draw(m, participation))


def test_a_client_answers_the_same_question_once():
    """In every history of draws, and whoever else is drawn."""
    found = worst_case(fc.FedProx(mu=5), SmoothConvex(1), 3, metric="descent", dissimilarity=2,
                       participation=Uniform(2))  # fmt: skip
    assert [len(board.evaluations) for board in found.question.board.boards] == [5] * 3  # w, its answer, 3 averages


def test_all_points_of_a_client_are_compared():
    """However many they are: else less would be proved than is true."""
    method = fc.FedGD(stepsize=F(1, 4), local_steps=2)
    question = pose(specification.specify(method, SmoothConvex(1), 2, 2, "gap", None, 1, None, Weighted(2)))
    points = [len(board.evaluations) for board in question.board.boards]
    assert points == [18, 18]
    assert len(question.program.inequalities) == question.board.pairs == 2 * 18 * 17
    assert question.exact


@pytest.mark.parametrize(
    ("m", "participation", "rounds", "metric"),
    [(10, Uniform(5), 30, "average_gap"), ("any", Weighted(2), 99, "mean_gap"), (2, Uniform(1), 40, "distance")],
)
def test_too_many_ways_to_draw(m, participation, rounds, metric):
    method = fc.FedGD(stepsize=1, local_steps=1) if isinstance(participation, Weighted) else fc.FedDyn(alpha=1)
    with pytest.raises(InvalidInput, match=r"too many ways to draw in \d+ rounds for .*; .*lyapunov"):
        worst_case(method, SmoothConvex(1), m, rounds, metric, heterogeneity=1, participation=participation)
