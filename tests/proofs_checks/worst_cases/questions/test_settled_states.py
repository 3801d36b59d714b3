"""Several rounds of draws that are too many to enumerate: bounds by moments hold on what is enumerated all the same."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.claims.terms import gradient, memory, minimiser, server, square
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, worst_case
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.certificates.search import certify
from fedconvex.proofs_checks.worst_cases.instances import replay
from fedconvex.proofs_checks.worst_cases.instances.equal_curvatures import moments_on
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.questions import question as questions
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.settled_states import SettledStates
from fedconvex.proofs_checks.worst_cases.questions.specification import specify
from fedconvex.proofs_checks.worst_cases.worst_case import federations_of_two_kinds

CLASS = SmoothStronglyConvex(1, 4)
SCAFFOLD, FEDDYN = fc.Scaffold(stepsize=F(1, 4), local_steps=1), fc.FedDyn(alpha=2)
FEDGD = fc.FedGD(stepsize=F(1, 8), local_steps=2)
KEPT = square(memory("gradient", 1) - gradient(minimiser))
START = square(server(0) - minimiser) + square(gradient(minimiser))


def by_moments(method, m, draws, metric="distance", rounds=2, clients=CLASS, solver=None):
    heterogeneity = 1 if isinstance(metric, str) else 0
    spec = specify(method, clients, m, rounds, metric, None, heterogeneity, solver, draws)
    return questions._by_moments(spec, Board(2, spec.clients, spec.minimiser))


def proved(question):
    found = certify(question.program, None, lambda _: True).certificate
    return float("inf") if found is None else found.t


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("method", "m", "K", "metric", "loose"),
    [(SCAFFOLD, 2, 1, "distance", 1.03), (SCAFFOLD, 3, 2, "distance", 1.001), (FEDDYN, 2, 1, "distance", 1.3),
     (FEDDYN, 2, 1, "average_gap", 1.3), (FEDDYN, 2, 1, (KEPT, START), 1.3)],
)  # fmt: skip
def test_no_bound_is_below_the_exact_worst_case_of_few_clients(method, m, K, metric, loose):
    heterogeneity = 1 if isinstance(metric, str) else 0
    exact = worst_case(method, CLASS, m, 2, metric, heterogeneity=heterogeneity, participation=Uniform(K))
    bound = proved(by_moments(method, m, Uniform(K), metric))
    assert exact.question.enumerated
    assert exact.lower <= bound <= exact.upper * F(loose)


@pytest.mark.sample(4)
@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm", "mean_gap"])
@pytest.mark.parametrize("method", [SCAFFOLD, FEDDYN, FEDGD], ids=lambda method: type(method).__name__)
def test_no_federation_exceeds_a_bound(method, metric):
    """Clients with curvatures anywhere in the class, in two dimensions, all different: 36 sequences of draws."""
    question, draw = by_moments(method, 4, Uniform(2), metric), np.random.default_rng(3)
    bound = proved(question)
    for _ in range(2):
        H = []
        for _ in range(4):
            c, s = F(int(draw.integers(1, 5)), 5), F(int(draw.integers(1, 5)), 5)
            axis = [c / (c + s), s / (c + s)]  # of a step of curvature in [0, 3]
            H.append([[int(i == j) + 3 * axis[i] * axis[j] for j in range(2)] for i in range(2)])
        slopes = [[F(int(x)) for x in draw.integers(-3, 4, 2)] for _ in range(3)]
        slopes.append([-sum(c) for c in zip(*slopes, strict=True)])
        problem = fc.Quadratic(H, slopes)
        start = np.array([[F(int(x)) for x in draw.integers(-3, 4, 2)]] * 4, dtype=object)
        ratio = replay.attained_ratio(question, AttainingFederation(problem, start))
        assert ratio is not None
        assert 0 < ratio <= bound


def test_draws_up_to_exchanges_are_all_draws():
    """Against every one of 36 sequences, each simulated by itself."""
    question = by_moments(SCAFFOLD, 4, Uniform(2), "gap")
    instance = next(iter(federations_of_two_kinds(question)))
    metric, divisor = replay.metric_and_divisor(question, instance)
    problem, total = instance.problem, F(0)
    every = list(Draws(2, 4).every())
    for (p, one), (q, two) in product(every, repeat=2):
        schedule = fc.participation.Schedule([one.members.tolist(), two.members.tolist()])
        run = fc.simulate(SCAFFOLD, problem, 2, participation=schedule, x0=instance.start[0], arithmetic="exact")
        total += p * q * (problem.value(run.points[-1]) - problem.value(0 * run.points[-1]))
    assert total == metric
    assert divisor == sum(x * x for x in instance.start[0]) + F(1, 4) * sum(x * x for c in problem.c for x in c)


@pytest.mark.sample(4)
@pytest.mark.parametrize("method", [SCAFFOLD, FEDDYN, FEDGD], ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm", "average_gap"])
def test_moments_are_those_of_the_simulation(method, metric):
    question = by_moments(method, 6, Uniform(2), metric)
    problem = fc.Quadratic([[[F(3)]]] * 6, [[p] for p in map(F, (1, 1, 1, -1, -1, -1))])
    instance = AttainingFederation(problem, np.array([[F(2)]] * 6, dtype=object))
    assert moments_on(question, problem, instance.start[0]) == replay.metric_and_divisor(question, instance)


def test_many_rounds_are_bounded_on_both_sides():
    few = worst_case(fc.Scaffold(stepsize=F(1, 16)), CLASS, 10, 5, heterogeneity=1, participation=Uniform(3))
    assert 0 < few.lower <= few.upper <= few.lower * F(1001, 1000)
    assert few.federation().num_clients == 10
    assert few.start.shape == (1,)
    assert "by two moments of every draw" in few.says


def test_too_little_variance_is_caught():
    """With the moments of 3 of 4 clients the bound for 3 of 10 is beaten by a federation of ten."""
    spec = by_moments(SCAFFOLD, 10, Uniform(3)).spec
    board = Board(2, spec.clients, True)
    wrong = questions._on_board(replace(spec, draws=Draws(3, 4)), board, 2, SettledStates(board, Draws(3, 4)))
    right = by_moments(SCAFFOLD, 10, Uniform(3))
    attained, _ = replay.best_of(right, federations_of_two_kinds(right))
    assert proved(wrong) < attained <= proved(right)


def test_a_missing_inequality_proves_less_and_a_wrong_one_nothing_true():
    """Equations of a wrong sign give a bound that the exact worst case exceeds, or none."""
    question = by_moments(SCAFFOLD, 2, Uniform(1))
    kept = [(name, form) for name, form in question.program.inequalities if "reversed" not in name]
    assert proved(replace(question, program=replace(question.program, inequalities=tuple(kept)))) == float("inf")


def test_with_replacement_and_any_number():
    found = worst_case(fc.FedGD(stepsize=1, local_steps=1), SmoothConvex(1), "any", 2, "mean_gap", heterogeneity=1,
                       participation=Weighted(2))  # fmt: skip
    assert found.lower == found.upper == F(1, 4)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({"method": fc.FedDANE(mu=4)}, "too many ways to draw in 2 rounds"),
     ({"rounds": 40}, "too many ways to draw in 40 rounds"),
     ({"participation": Weighted(3), "num_clients": "any"}, "who take part")],
)  # fmt: skip
def test_what_two_moments_do_not_determine_is_refused(arguments, says):
    question = {"method": SCAFFOLD, "clients": CLASS, "num_clients": 10, "rounds": 2, "participation": Uniform(3)}
    with pytest.raises(InvalidInput, match=says):
        worst_case(**{**question, "heterogeneity": 1, **arguments})


def test_its_proof_is_not_written_out():
    found = worst_case(fc.FedGD(stepsize=1), SmoothConvex(1), "any", 2, "mean_gap", heterogeneity=1,
                       participation=Weighted(2))  # fmt: skip
    with pytest.raises(ValueError, match="moments of draws in several rounds"):
        found.proof()
