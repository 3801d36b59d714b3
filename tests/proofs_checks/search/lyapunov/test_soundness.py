"""No run contracts less than what is proved, the slowest federations do what they should, and a second route agrees."""

from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from full_program import Clients
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of, one_round_of_scaffold, parts_of
from rational_draws import rationals

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.parameters import in_rationals
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.search.lyapunov import quadratic_rounds
from fedconvex.proofs_checks.search.lyapunov.coordinates import coordinates
from fedconvex.proofs_checks.search.lyapunov.posed_round import pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import InAPlane, trial_federations
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import attained, slowest
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint, feasible_point
from fedconvex.proofs_checks.worst_cases.programs.solver import propose
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds
FEW = settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


@st.composite
def methods(draw, L):
    s, steps = draw(rationals(F(1, 20), F(6, 5))) / L, draw(st.integers(1, 4))
    return draw(
        st.sampled_from([
            fc.Scaffold(stepsize=s, local_steps=steps), fc.Scaffold(stepsize=s, local_steps=steps, option=1),
            fc.Scaffold(stepsize=s, local_steps=steps, server_stepsize=F(1, 2)), fc.FedDyn(alpha=1 / s),
            fc.FedDynOneGD(alpha=1 / s), fc.FedSplit(stepsize=s), fc.FedPD(eta=s), fc.DANE(mu=1 / s),
            fc.FedGD(stepsize=s), fc.FedDANE(mu=2 / s),
        ])
    )  # fmt: skip


@st.composite
def federations(draw, low, high, clients):
    """Quadratics in a plane with rational eigenvalues and directions."""
    hessians = []
    for _ in range(clients):
        a, b = (low + (high - low) * draw(st.sampled_from([0, 1, draw(rationals(0, 1))])) for _ in range(2))
        t = draw(rationals(-2, 2))
        c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        Q = np.array([[c, -s], [s, c]], dtype=object)
        hessians.append(Q @ np.diag([a, b]).astype(object) @ Q.T)
    return hessians


def value(function, play, state, hessians):
    """V at a state of a run on quadratics without pulls, from the state's arrays and the points of its round."""
    gradients, values = [], []
    for points in points_of_round(play, state):
        gradients.append(np.stack([H @ x for H, x in zip(hessians, points, strict=True)]))
        values.append(sum(x @ g for x, g in zip(points, gradients[-1], strict=True)) / (2 * len(points)))
    total = sum(w * f for w, f in zip(function.weights[1:], values, strict=False))
    for part, matrix in zip(function.posed.coordinates.parts, function.matrices, strict=True):
        u = parts_of(function, part, state, gradients)
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                total += entry * (u[i] * u[j]).sum() / (1 if u[i].ndim == 1 else len(u[i]))
    return total


def points_of_round(play, state):
    """Where a round evaluates the clients' functions, in this order: the server's point, or along the local steps."""
    played = play.play(state)
    if not isinstance(play.solver, fc.GradientDescent):
        first = [played.points] if isinstance(play.method, fc.DANE | fc.FedDANE) else []
        return [fractions_of(points) for points in (*first, played.answers.points)]
    theta, found = played.subproblem.start, []
    for _ in range(play.solver.steps):
        found.append(fractions_of(theta))
        gradients = played.clients.gradients(theta)
        theta = theta - play.solver.stepsize * played.subproblem.add_gradients(theta, gradients)
    return found


def contraction(found, hessians, pulls, x0):
    """V after and before a round without pulls, from the errors that a round with pulls has led to."""
    here = rounds_of(found.method, fc.Quadratic(hessians, pulls), "exact", found.solver)
    errors = here.advance(here.start(here.arithmetic.array(x0)))
    still = rounds_of(found.method, fc.Quadratic(hessians, [0 * pull for pull in pulls]), "exact", found.solver)
    states = still.advance(errors), errors
    return tuple(value(found.function, still, state, hessians) for state in states)


@FEW
@given(data=st.data(), mu=rationals(F(1, 10), 1), ratio=rationals(1, 20), m=st.integers(1, 3))
def test_no_round_contracts_less_than_what_is_proved(data, mu, ratio, m):
    L = mu * ratio
    found = lyapunov(data.draw(methods(L)), SmoothStronglyConvex(mu, L))
    assert found.lower <= found.upper
    if found.function is None:
        assert found.lower > 1
        return
    for _ in range(3):
        pulls = [np.array([data.draw(rationals(-3, 3)) for _ in range(2)], dtype=object) for _ in range(m)]
        hessians = data.draw(federations(mu, L, m))
        after, before = contraction(found, hessians, pulls, [data.draw(rationals(-3, 3)) for _ in range(2)])
        assert after <= found.upper * before


def test_functions_that_measure_gradients_and_values_hold_on_runs_too():
    found = lyapunov(fc.Scaffold(stepsize=F(1, 4), local_steps=2, option=1), SmoothStronglyConvex(1, 4))
    assert "gradient at point 1" in str(found.function)
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(20):
        a = rng.integers(4, 17, 3)
        hessians = [np.array([[F(int(x), 4)]], dtype=object) for x in a]
        pulls = [np.array([F(int(x), 4)], dtype=object) for x in rng.integers(-8, 9, 3)]
        after, before = contraction(found, hessians, pulls, [F(int(rng.integers(-4, 5)))])
        ratios.append(after / before)
        assert after <= found.upper * before
    assert max(ratios) > found.upper / 2


@pytest.mark.slow
def test_bounds_meet_on_most_random_questions_and_never_cross():
    rng, close = np.random.default_rng(1), 0
    for _ in range(400):
        kappa = int(rng.choice([2, 3, 4, 6, 10, 20, 50, 100]))
        s, e = F(int(rng.integers(1, 25)), 20 * kappa), int(rng.integers(1, 6))
        kinds = [
            fc.Scaffold(stepsize=s, local_steps=e), fc.Scaffold(stepsize=s, local_steps=e, option=1),
            fc.FedDyn(alpha=1 / s), fc.FedDynOneGD(alpha=1 / s), fc.FedSplit(stepsize=s), fc.FedPD(eta=s),
            fc.DANE(mu=1 / s), fc.FedGD(stepsize=s), fc.FedDANE(mu=2 / s),
        ]  # fmt: skip
        found = lyapunov(kinds[rng.integers(len(kinds))], SmoothStronglyConvex(1, kappa))
        assert found.lower <= found.upper
        close += found.upper <= found.lower * (1 + F(1, 10**4))
    assert close >= 360


def test_a_smaller_rate_would_be_contradicted_by_a_round():
    """The comparison above can fail."""
    found = lyapunov(fc.FedGD(stepsize=F(1, 4)), SmoothStronglyConvex(1, 4))
    after, before = contraction(found, [np.diag([F(1), F(4)])], [np.array([F(1), F(0)])], [F(1), F(1)])
    assert after == found.upper * before > (found.upper - F(1, 10**6)) * before


@pytest.mark.parametrize(
    "method",
    [
        fc.Scaffold(stepsize=F(1, 4), local_steps=2),
        fc.Scaffold(stepsize=F(1, 4), local_steps=12),  # deviations are slower
        fc.Scaffold(stepsize=F(1, 4), local_steps=3, option=1),
        fc.FedDyn(alpha=2), fc.FedDynOneGD(alpha=8), fc.FedPD(eta=F(1, 3)), fc.FedSplit(stepsize=F(1, 3)),
        fc.DANE(mu=1),
    ],
)  # fmt: skip
def test_runs_on_the_slowest_federation_contract_as_it_says(method):
    found = lyapunov(method, SmoothStronglyConvex(1, 4))
    problem = found.federation()
    assert problem.mu.min() >= 1 - 1e-12
    assert problem.L.max() <= 4 + 1e-12
    play = rounds_of(method, problem, "exact")
    states = [play.start(play.arithmetic.array([F(1)] * problem.dim))]
    for _ in range(160):
        states.append(play.advance(states[-1]))
    changes = [
        np.array([float(a - b) for a, b in zip(states[t].flat(), states[t + 1].flat(), strict=True)]) for t in (50, 150)
    ]
    slowest = (np.linalg.norm(changes[1]) / np.linalg.norm(changes[0])) ** (2 / 100)
    assert slowest == pytest.approx(float(found.lower), rel=0.02)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_tilted_quadratics_are_in_the_class_and_contract_as_it_says(m):
    """For odd numbers of clients, turned around an axis in space."""
    method = fc.Scaffold(stepsize=F(1, 5), local_steps=3, option=1)
    found = lyapunov(method, SmoothStronglyConvex(1, 9), m)
    assert isinstance(found.slowest.federation, InAPlane) or m == 2
    tilted = InAPlane(F(1), F(9), F(5, 12))
    problem = tilted.problem(m)
    assert problem.mu == pytest.approx(1)
    assert pytest.approx(9) == problem.L
    assert np.array(problem.c, float).sum(0) == pytest.approx(np.zeros(problem.dim))  # opposed: the minimiser is 0
    play = rounds_of(method, problem, "float")
    states = [play.start(np.ones(problem.dim))]
    for _ in range(60):
        states.append(play.advance(states[-1]))
    sizes = [np.linalg.norm(states[t + 1].flat() - states[t].flat()) for t in (10, 50)]
    coordinates = found.function.posed.coordinates
    expected = float(attained(coordinates, coordinates.method.local_solver, tilted).squared)
    assert (sizes[1] / sizes[0]) ** (2 / 40) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("kappa", "e"), [(4, 3), (10, 4), (100, 20), (6, 2)])
def test_no_explicit_federation_is_slower_than_what_is_proved(kappa, e):
    upper = float(lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=e), SmoothStronglyConvex(1, kappa)).upper)
    several = [1.0, 1.0], [1.0, kappa], [kappa, kappa], [1.0, 1.0, kappa], [1.0, kappa, kappa], [1.0, kappa / 2, 2.0]
    maps = [one_round_of_scaffold(np.array(curvatures), 1 / kappa, e) for curvatures in several]
    rates = [np.abs(np.linalg.eigvals(one)).max() ** 2 for one in maps]
    assert max(rates) <= upper * (1 + 1e-9)
    assert max(rates) == pytest.approx(upper, rel=1e-5)


def contraction_with_every_client(clients, e, kappa, s, weight):
    """The worst V⁺/V, V = ‖w‖² + weight·mean‖c_k − mean − ∇F_k(x*)‖², from one Gram matrix of all clients' vectors."""
    worst = Clients(clients, 1.0, float(kappa), True, size=40)
    errors = [worst.new() for _ in range(clients)]  # of the c_k; their mean is free, and forgotten
    c = [error + pull for error, pull in zip(errors, worst.pulls, strict=True)]
    y = [worst.w] * clients
    for _ in range(e):
        y = [y[k] - s * (worst.look(k, y[k])[0] - c[k] + sum(c) / clients) for k in range(clients)]
    after = [c[k] - sum(c) / clients + (worst.w - y[k]) / (e * s) - worst.pulls[k] for k in range(clients)]
    w_after = sum(y) / clients

    def V(w, deviations):
        mean = sum(deviations) / clients
        return lambda inner: inner(w, w) + weight / clients * sum(inner(u - mean, u - mean) for u in deviations)

    if e == 1:
        after, errors = [0 * u for u in after], [0 * u for u in errors]
    return worst.worst(V(w_after, after), V(worst.w, errors))


@pytest.mark.parametrize(("clients", "e", "kappa"), [(2, 1, 4), (2, 2, 4), (2, 3, 6), (3, 2, 4)])
def test_the_program_with_every_client_agrees_on_scaffold(clients, e, kappa):
    """Without symmetry, for the Lyapunov function that was found."""
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=e), SmoothStronglyConvex(1, kappa))
    weight = 0.0 if e == 1 else float(found.function.matrices[1][0][0])
    worst = contraction_with_every_client(clients, e, kappa, 1 / kappa, weight)
    assert worst == pytest.approx(float(found.upper), rel=2e-5)


def simple_maximum(kappa, e, s):
    """What quadratics attain: (1 − sμ)^{2e}, or the contraction of deviations at curvature L; μ = 1."""
    return max((1 - s) ** (2 * e), (1 - (1 - (1 - s * kappa) ** e) / (e * s * kappa)) ** 2)


@pytest.mark.parametrize("weight", [F(19, 100), F(1, 5), F(21, 100), F(22, 100), F(1, 4), F(3, 10)])
def test_between_the_two_regimes_the_simple_maximum_is_false(weight):
    """κ = 3, e = 4, s = 1/(2L): with no weight of the deviations V contracts by it.

    The worst contraction is quasiconvex in the weight: those beyond the ones tried here are worse.
    """
    kappa, e, s = 3, 4, F(1, 6)
    worst = contraction_with_every_client(2, e, kappa, float(s), float(weight))
    assert worst > float(simple_maximum(kappa, e, s)) * (1 + 7e-4)


def test_exact_federations_show_it_for_every_weight():
    """Two federations of two smooth clients, as rational Gram matrices that satisfy all interpolation conditions.

    How much V exceeds 1.0007 times the simple maximum after a round is affine in the weight b: on the one federation it
    is positive at b = 0 and b = 203/1000, on the other at 203/1000 and growing.
    """
    kappa, e, s = 3, 4, F(1, 6)
    method = in_rationals(fc.Scaffold(stepsize=s, local_steps=e))
    posed = pose_round(method, method.local_solver, SmoothStronglyConvex(1, kappa), 2)
    mean, deviation = posed.pairs

    def program(b):
        return posed.program({mean: to_fmpq(1), deviation: to_fmpq(b)})

    def excess(federation, b):
        at = FeasiblePoint(program(b), federation.grams, federation.values)  # checks the inequalities again
        return -at.at(1) - to_fmpq(simple_maximum(kappa, e, s) * F(10007, 10000)) * at.at(0)

    few, many = (feasible_point(program(b), propose(program(b))) for b in (F(202, 1000), F(205, 1000)))
    border = F(203, 1000)
    assert excess(few, F(0)) > 0
    assert excess(few, border) > 0
    assert excess(many, border + 1) > excess(many, border) > 0
    assert excess(many, F(1, 10)) < 0  # neither shows it alone
    assert excess(few, F(1, 4)) < 0
    # and the check can fail: a Gram matrix with a longer gradient is no federation of the class
    grams = tuple([[x * 2 if i == j == 1 else x for j, x in enumerate(row)] for i, row in enumerate(gram)]
                  for gram in few.grams)  # fmt: skip
    with pytest.raises(ValueError, match="no functions of the class"):
        FeasiblePoint(program(border), grams, few.values)


def test_what_is_proved_between_the_two_regimes():
    """With gradients and values measured, too, the proved rate is above what quadratics attain, and below that of V."""
    kappa, e, s = 3, 4, F(1, 6)
    found = lyapunov(fc.Scaffold(stepsize=s, local_steps=e), SmoothStronglyConvex(1, kappa))
    simple = simple_maximum(kappa, e, s)
    assert simple == found.lower
    assert simple * (1 + F(1, 10**4)) < found.upper < simple * (1 + F(7, 10**4))


def slowest_and_all(method, clients, num_clients):
    """The slowest trial federations, chosen by floats, and by exact numbers of all."""
    method, solver = in_rationals(method), in_rationals(method.local_solver)
    posed = coordinates(method, solver, clients, 2)
    every = [attained(posed, solver, one) for one in trial_federations(clients, num_clients)]
    largest = max(one.squared for one in every)
    found = slowest(posed, solver, clients, num_clients, False)
    return [[(a.federation, a.squared) for a in those] for those in (found, [a for a in every if a.squared == largest])]


@FEW
@given(data=st.data())
def test_floats_only_choose_which_federations_are_played_exactly(data):
    L = data.draw(st.sampled_from([F(2), F(100)]))
    chance = st.builds(fc.Scaffnew, stepsize=rationals(F(1, 20) / L, F(3) / L), probability=st.just(F(1, 3)))
    found, every = slowest_and_all(data.draw(methods(L) | chance), SmoothStronglyConvex(1, L),
                                   data.draw(st.sampled_from(["any", 3])))  # fmt: skip
    assert found == every


def test_bounds_that_are_too_small_would_be_noticed(monkeypatch):
    monkeypatch.setattr(
        quadratic_rounds, "_at_most", lambda found, solver, trials, sign: range(len(trials.federations))
    )
    found, every = slowest_and_all(fc.FedSplit(stepsize=F(1, 100)), SmoothStronglyConvex(1, 100), "any")
    assert found != every


@pytest.mark.parametrize(
    ("kind", "stepsize"),
    [(partial(fc.Scaffold, local_steps=1), F(10) ** 400), (partial(fc.Scaffold, local_steps=1), F(1, 10**400)),
     (fc.FedSplit, F(1, 10**400))],
)  # fmt: skip
def test_numbers_beyond_floats_have_rates(kind, stepsize):
    """What floats cannot choose is computed exactly, and told in digits."""
    found = lyapunov(kind(stepsize=stepsize), SmoothStronglyConvex(1, 10))
    assert found.lower > 1 - F(1, 10**300)
    assert ("e+" in str(found)) is (found.lower > 10**300)


def test_a_wrong_weight_would_contract_less():
    """The second route can disagree: V = ‖w‖² + 100·mean‖c_k − mean‖² does not contract by the rate found."""
    found = lyapunov(fc.Scaffold(stepsize=F(1, 4), local_steps=2), SmoothStronglyConvex(1, 4))
    [pair] = [pair for pair in found.function.posed.pairs if pair[0][0] == "deviation"]
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, entries={**found.function.entries, pair: F(100)})


def test_gradient_descents_rate_by_hand():
    """min ρ with ρ − 1 and the multipliers of both inequalities between x* and w, as a 2 × 2 matrix."""
    mu, L, s = 1.0, 4.0, 0.3
    rho, a = cp.Variable(), cp.Variable(nonneg=True)
    # ⟨x, g⟩ − (mu·L‖x‖² + ‖g‖²)/(mu + L) >= 0 is the sum of the two.
    pair = np.array([[-mu * L / (mu + L), 0.5], [0.5, -1 / (mu + L)]])
    step = np.array([[1.0, -s], [-s, s * s]])
    cp.Problem(cp.Minimize(rho), [rho * np.diag([1.0, 0.0]) - step - a * pair >> 0]).solve(solver=cp.CLARABEL)
    assert float(lyapunov(fc.FedGD(stepsize=0.3), SmoothStronglyConvex(1, 4)).upper) == pytest.approx(
        rho.value, rel=1e-5
    )
