"""The constants that are measured on an instance contain, or bound on the safe side, what other routes find."""

from fractions import Fraction
from typing import Any

import flint
import high_precision as mp50
import numpy as np
import pytest
from bound_makers import (
    as_seen_by,
    curved,
    fraction,
    gradient,
    gradients,
    least_eigenvalue,
    lower,
    mean,
    mean_square,
    minimiser,
    size_of,
    smooth,
    square,
    starts,
    strongly_convex,
    upper,
    value,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp
from problem_makers import (
    ball_contains,
    entries,
    few,
    fractions,
    inverse,
    least_squares,
    logistics,
    multinomials,
    quadratics,
    terms_of,
    weighted,
)

import fedconvex as fc
from fedconvex import participation
from fedconvex.errors import InvalidInput
from fedconvex.statements.instance import Instance, Unmeasured

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
TINY = Fraction(1, 10**30)
METHODS = st.sampled_from([fc.FedProx(mu=2), fc.FedSplit(stepsize=QUARTER), fc.FedDyn(alpha=3)])
PROBLEMS = quadratics() | least_squares()


def near(ball: Any, number: float, part: float = 1e-6) -> bool:
    return abs(float(ball) - number) <= part * abs(number) + 1e-12


def encloses(ball: Any, exact: Fraction) -> bool:
    """Contains it, and is narrow."""
    return ball_contains(flint.arb(ball), exact) and float(flint.arb(ball).rad()) <= 1e-25 * (1 + abs(float(exact)))


def squared(ball: Any) -> Any:
    with flint.ctx.workprec(400):
        return flint.arb(ball) ** 2


# ---- curvature ----


@few
@given(PROBLEMS, METHODS)
def test_smoothness(problem: Any, method: Any) -> None:
    H = as_seen_by(method, problem).H
    instance = Instance(problem, method)
    L, below = fraction(instance.smoothness), upper(instance.curvatures.attained_smoothness)
    assert all(smooth(H_k, L) for H_k in H)
    assert below == 0 or not all(smooth(H_k, below * (1 - TINY)) for H_k in H)
    largest = max(map(size_of, H))
    assert near(L, largest)
    assert near(below, largest)


@few
@given(PROBLEMS, METHODS)
def test_curvature(problem: Any, method: Any) -> None:
    H = as_seen_by(method, problem).H
    instance = Instance(problem, method)
    least = fraction(instance.curvatures.strong_convexity)
    assert all(curved(H_k, least) for H_k in H)
    assert near(least, min(map(least_eigenvalue, H)), 1e-6 + 1e-9 * max(map(size_of, H)))
    assert all(curved(H_k, -fraction(instance.weak_convexity)) for H_k in H)
    assert fraction(instance.weak_convexity) == max(0, -least)


def test_a_curvature_too_large_is_told_apart() -> None:
    H = fractions([[2, 1], [1, 2]])  # eigenvalues 1 and 3
    assert curved(H, Fraction(1))
    assert not curved(H, Fraction(1001, 1000))
    assert smooth(H, Fraction(3))
    assert not smooth(H, Fraction(2999, 1000))
    assert not smooth(-H, Fraction(2999, 1000))


@few
@given(strongly_convex(), METHODS)
def test_conditioning(problem: Any, method: Any) -> None:
    terms, instance = terms_of(problem), Instance(problem, method)
    H, _ = terms.summed()
    L, mu = fraction(instance.objective_smoothness), fraction(instance.objective_convexity)
    assert smooth(H, L)
    assert curved(H, mu)
    assert near(L, float(weighted(terms.w, [np.float64(size_of(H_k)) for H_k in terms.H])))
    assert near(mu, float(weighted(terms.w, [np.float64(least_eigenvalue(H_k)) for H_k in terms.H])))
    assert 0 <= fraction(instance.objective_condition) - max(L / mu, Fraction(1)) <= Fraction(1, 10**25) * L / mu
    seen = as_seen_by(method, problem).H
    assert all(curved(H_k, fraction(instance.mu)) for H_k in seen)


@few
@given(quadratics(), METHODS)
def test_possible_constants_contain_the_true_ones(problem: Any, method: Any) -> None:
    """Of each, a little more than the upper end will do as a bound, and a little less than the lower end will not."""
    seen, whole, instance = as_seen_by(method, problem).H, terms_of(problem).summed()[0], Instance(problem, method)
    for quantity, matrices in (("smoothness", seen), ("objective_smoothness", [whole])):
        found = instance.possible(quantity)
        assert all(smooth(H, upper(found)) for H in matrices)
        assert lower(found) <= 0 or not all(smooth(H, lower(found) * (1 - TINY)) for H in matrices)
    for quantity, matrices in (("mu", seen), ("objective_convexity", [whole])):
        try:
            found = instance.possible(quantity)
        except Unmeasured:
            continue
        assert all(curved(H, lower(found)) for H in matrices)
        assert not all(curved(H, upper(found) * (1 + TINY)) for H in matrices)
    L_minus = instance.possible("weak_convexity")
    assert all(curved(H, -upper(L_minus)) for H in seen)
    assert lower(L_minus) <= 0 or not all(curved(H, -lower(L_minus) * (1 - TINY)) for H in seen)
    assert float(L_minus.rad()) <= 1e-6 * max(map(size_of, seen))


def test_what_is_known_exactly_is_all_that_is_possible() -> None:
    instance = Instance(fc.Quadratic([[[2]]], [[1]]), fc.FedProx(mu=3))
    assert instance.possible("proximal_weight") == 3
    assert instance.possible("gradient_variance") is instance.gradient_variance


def test_curvatures_of_logistic_losses_are_known_from_one_side() -> None:
    problem = fc.Logistic([[[1, 2], [0, 1]], [[1, 0]]], [[1, -1], [1]], ridge=HALF)
    instance = Instance(problem, fc.FedProx(mu=3))
    assert instance.possible("smoothness").contains(instance.smoothness)
    assert instance.possible("smoothness").contains(0)
    assert instance.possible("mu").contains(instance.smoothness)
    assert instance.curvatures.lie_between(0, 10**6) is None


@few
@given(strongly_convex(), st.sampled_from([Fraction(1, 30), Fraction(1, 3), Fraction(2)]))
def test_condition_number_of_the_stepsize(problem: Any, s: Fraction) -> None:
    """κ = q² fits s where every F_k is (1/(sq))-strongly convex and (q/s)-smooth, and a κ 1 % less does not."""
    H = as_seen_by(fc.FedSplit(stepsize=s), problem).H
    kappa = Instance(problem, fc.FedSplit(stepsize=s)).condition_number
    q = Fraction(float(kappa.sqrt())) * (1 + Fraction(1, 10**9))
    assert all(curved(H_k, 1 / (s * q)) and smooth(H_k, q / s) for H_k in H)
    q *= Fraction(995, 1000)
    assert not all(curved(H_k, 1 / (s * q)) and smooth(H_k, q / s) for H_k in H)


# ---- the point ----


@few
@given(st.data(), PROBLEMS, METHODS)
def test_gradients_at_the_point(data: Any, problem: Any, method: Any) -> None:
    x = data.draw(starts(problem))
    terms, instance = as_seen_by(method, problem), Instance(problem, method, point=x)
    g, whole = gradients(terms, x), gradient(terms, x)
    assert all(encloses(b, v) for b, v in zip(instance.gradients.ravel(), np.concatenate(g), strict=True))
    assert encloses(instance.square, square(whole))
    assert encloses(instance.mean_square, mean_square(terms, x))
    assert encloses(squared(instance.client_gradient), max(map(square, g)))
    assert encloses(squared(instance.gradient), square(whole))
    assert encloses(instance.gradient_variance, mean_square(terms, x) - square(whole))
    if square(whole) > 0:
        assert encloses(squared(instance.dissimilarity), mean_square(terms, x) / square(whole))
    else:
        with pytest.raises(Unmeasured, match="gradient is not 0"):
            instance.measure("dissimilarity")


@few
@given(st.data(), quadratics(), METHODS)
def test_value_at_the_point(data: Any, problem: Any, method: Any) -> None:
    x = data.draw(starts(problem))
    assert encloses(Instance(problem, method, point=x).value, value(terms_of(problem), x))


@few
@given(st.data(), least_squares())
def test_value_of_least_squares(data: Any, problem: Any) -> None:
    x = data.draw(starts(problem))
    residuals = [square(fractions(A) @ x - fractions(b)) / 2 for A, b in zip(problem.A, problem.b, strict=True)]
    assert encloses(Instance(problem, fc.FedProx(mu=1), point=x).value, weighted(problem.exact_weights, residuals))


@few
@given(st.data(), strongly_convex())
def test_points_of_floats(data: Any, problem: Any) -> None:
    """A float point is the dyadic rational that it is."""
    x = data.draw(starts(problem)).astype(float)
    instance = Instance(problem, fc.FedProx(mu=1), point=x)
    assert encloses(instance.square, square(gradient(terms_of(problem), fractions(x))))


# ---- the minimiser ----


@few
@given(st.data(), strongly_convex(), METHODS)
def test_distances_to_the_minimiser(data: Any, problem: Any, method: Any) -> None:
    x, terms = data.draw(starts(problem)), as_seen_by(method, problem)
    instance, solution = Instance(problem, method, point=x), minimiser(terms)
    for ball, exact in [
        (instance.squared_distance, square(x - solution)),
        (squared(instance.distance), square(x - solution)),
        (instance.gradients_at_minimizer, mean(square(g) for g in gradients(terms, solution))),
        (instance.initial_gap, value(terms, x) - value(terms, solution)),
        *zip(instance.minimizer, solution, strict=True),
    ]:
        assert ball_contains(ball, exact)
        assert float(ball.rad()) <= 1e-9 * (1 + abs(float(exact)))


@few
@given(st.data(), strongly_convex())
def test_spread_of_the_devices_minimisers(data: Any, problem: Any) -> None:
    x, method = data.draw(starts(problem)), fc.FedDyn(alpha=1)
    terms = as_seen_by(method, problem)
    own = [inverse(H) @ c for H, c in zip(terms.H, terms.c, strict=True)]
    assert encloses(Instance(problem, method, point=x).spread, mean(square(theta - x) for theta in own))


@few
@given(st.data(), strongly_convex())
def test_stacked_distance_is_where_fedsplit_goes(data: Any, problem: Any) -> None:
    x, terms = data.draw(starts(problem)), terms_of(problem).as_a_sum()
    s = 1 / np.sqrt(min(map(least_eigenvalue, terms.H)) * max(map(size_of, terms.H)))
    method = fc.FedSplit(stepsize=s)
    z = fc.simulate(method, problem, 500, x0=x).state.memory["z"]
    measured = Instance(problem, method, point=x).stacked_distance
    assert near(measured, float(np.linalg.norm(z - x.astype(float))), 1e-7)
    solution = minimiser(terms)
    rest = [solution - fractions(s)[()] * g for g in gradients(terms, solution)]
    assert ball_contains(squared(measured), sum(square(row - x) for row in rest))


def test_many_minimisers_do_for_a_distance() -> None:
    """f = (x₁ + x₂ − 2)²/2: from 0 the distance to the nearest minimiser (1, 1) is √2."""
    problem = fc.LeastSquares([[[1, 1]]], [[2]])
    instance = Instance(problem, fc.FedDyn(alpha=1))
    assert ball_contains(instance.squared_distance, Fraction(2))
    assert ball_contains(instance.initial_gap, Fraction(2))


# ---- logistic losses, against mpmath ----


@few
@given(st.data(), logistics() | multinomials())
def test_logistic_losses(data: Any, problem: Any) -> None:
    x = data.draw(starts(problem)).astype(float)
    instance = Instance(problem, fc.FedProx(mu=1), point=x)
    with mp.workdps(mp50.DIGITS):
        at, weights = mp50.vector(x), [mp50.number(w) for w in problem.exact_weights]
        f, g, _ = mp50.objective(problem, at)
        clients = [mp50.client(problem, k, at)[1] for k in range(problem.num_clients)]
        second = sum(w * mp50.length(g_k) ** 2 for w, g_k in zip(weights, clients, strict=True))
        best = mp50.newton(lambda y: mp50.objective(problem, y), [mp.mpf(0)] * problem.dim)
        balls = [instance.value, instance.square, instance.mean_square, instance.gradient_variance]
        numbers = [f, mp50.length(g) ** 2, second, second - mp50.length(g) ** 2]
        balls += [instance.squared_distance, instance.initial_gap, *instance.minimizer]
        numbers += [mp50.length(mp50.minus(at, best)) ** 2, f - mp50.objective(problem, best)[0], *best]
        widened = [b + flint.arb(0, 1e-30) for b in balls]  # mpmath's own error, at 50 digits
        assert mp50.encloses(widened, numbers)
        assert max(float(b.rad()) for b in balls) < 1e-9
    with pytest.raises(Unmeasured, match="own functions are not enclosed"):
        instance.measure("spread")


@few
@given(st.data(), logistics(), st.sampled_from([fc.FedProx(mu=1), fc.FedSplit(stepsize=HALF)]))
def test_curvature_of_logistic_losses(data: Any, problem: Any, method: Any) -> None:
    """Smoothness is attained at 0, where every sample's curvature is 1/4; the ridge is all that is left far away."""
    instance = Instance(problem, method)
    scale = [1] * problem.num_clients
    if method.plain:
        scale = [float(problem.num_clients * w) for w in problem.exact_weights]
    at_zero = [s * np.linalg.eigvalsh(H)[-1] for s, H in zip(scale, problem.client_hessians([0, 0]), strict=True)]
    assert near(instance.smoothness, max(at_zero))
    assert instance.smoothness >= flint.arb(max(at_zero) * (1 - 1e-14))
    assert near(instance.curvatures.strong_convexity, min(scale) * float(problem.ridge))
    elsewhere = problem.client_hessians(data.draw(entries(2)).astype(float))
    spectra = [s * np.linalg.eigvalsh(H) for s, H in zip(scale, elsewhere, strict=True)]
    assert max(spectrum[-1] for spectrum in spectra) <= float(instance.smoothness) * (1 + 1e-12)
    assert min(spectrum[0] for spectrum in spectra) >= float(instance.curvatures.strong_convexity) * (1 - 1e-12)


# ---- inexactness ----


@few
@given(
    st.data(),
    strongly_convex() | logistics(),
    st.sampled_from([Fraction(0), Fraction(1), Fraction(4)]),
    st.integers(1, 5),
    st.sampled_from([Fraction(1, 20), Fraction(1, 10), QUARTER]),
)
def test_gradient_steps_are_as_inexact_as_proved(
    data: Any, problem: Any, mu: Fraction, steps: int, stepsize: Fraction
) -> None:
    x, solver = data.draw(starts(problem)).astype(float), fc.GradientDescent(steps=steps, stepsize=stepsize)
    instance = Instance(problem, fc.FedProx(mu=mu), local_solver=solver)
    try:
        proved = float(instance.measure("inexactness"))
    except Unmeasured:
        assert float(stepsize * (mu + fraction(instance.smoothness))) > 2
        return
    for start in (x, x + 1):
        run = fc.simulate(fc.FedProx(mu=mu), problem, 1, local_solver=solver, x0=start, measure="inexactness")
        assert np.nanmax(run.client_inexactness) <= proved * (1 + 1e-9) + 1e-12


def test_the_proved_inexactness_is_reached() -> None:
    """One client of curvature 1, μ = 1, steps of 1/4: every step halves the subproblem's gradient."""
    problem, solver = fc.Quadratic([[[1]]], [[1]]), fc.GradientDescent(steps=3, stepsize=QUARTER)
    proved = Instance(problem, fc.FedProx(mu=1), local_solver=solver).inexactness
    run = fc.simulate(fc.FedProx(mu=1), problem, 1, local_solver=solver, measure="inexactness")
    assert run.client_inexactness[0, 0] == 1 / 8
    assert near(proved, 1 / 8)
    assert proved >= flint.arb(1) / 8


@few
@given(st.data(), strongly_convex(), st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]))
def test_solvers_that_say_their_inexactness(data: Any, problem: Any, gamma: Fraction) -> None:
    x, m = data.draw(starts(problem)), problem.num_clients
    each = [gamma] + [gamma / 2] * (m - 1)
    for solver in (fc.ToInexactness(gamma), fc.ToInexactness(each)):
        assert Instance(problem, fc.FedProx(mu=1), local_solver=solver).inexactness == gamma
        run = fc.simulate(fc.FedProx(mu=1), problem, 1, None, solver, x, arithmetic="exact", measure="inexactness")
        assert np.nanmax(run.client_inexactness) <= float(gamma) * (1 + 1e-12)
    assert Instance(problem, fc.FedProx(mu=1)).inexactness == 0


# ---- the method and who takes part ----

PAIR = fc.Quadratic([[[1]], [[3]]], [[1], [0]])
INDEFINITE = fc.Quadratic([[[-1]], [[3]]], [[1], [0]])


def test_what_the_method_says() -> None:
    assert Instance(PAIR, fc.FedProx(mu=7)).proximal_weight == 7
    assert Instance(PAIR, fc.FedSplit(stepsize=HALF)).stepsize == HALF
    assert Instance(PAIR, fc.FedDynOneGD(alpha=5)).alpha == 5
    assert Instance(PAIR, fc.FedSplit(stepsize=HALF)).prox_error == 0
    assert Instance(PAIR, fc.FedProx(mu=7), rounds=9).num_rounds == 9


@pytest.mark.parametrize(
    ("scheme", "everyone", "drawn"),
    [
        (None, True, 2),
        (participation.Full(), True, 2),
        (participation.Uniform(1), False, 1),
        (participation.Uniform(2), True, 2),
        (participation.Weighted(5), False, 5),
        (participation.UniformThenWeighted(1), False, 1),
        (participation.Schedule([[0, 1], [1, 0]]), True, 2),
        (participation.Schedule([[0, 1], [1]]), False, None),
        (participation.Bernoulli(HALF), False, None),
        (participation.Bernoulli(1), True, 2),
    ],
)
def test_who_takes_part(scheme: Any, everyone: bool, drawn: int | None) -> None:
    instance = Instance(PAIR, fc.FedProx(mu=1), scheme)
    assert instance.everyone is everyone
    assert instance.num_clients == 2
    if drawn is None:
        with pytest.raises(Unmeasured, match="number of devices in a round is not fixed"):
            instance.measure("num_drawn")
    else:
        assert instance.num_drawn == drawn


def test_draws_with_replacement_fix_no_number_of_different_devices() -> None:
    assert Instance(PAIR, fc.FedDyn(alpha=1), participation.Uniform(1)).num_active == 1
    with pytest.raises(Unmeasured, match="different devices"):
        Instance(PAIR, fc.FedDyn(alpha=1), participation.Weighted(1)).measure("num_active")


SEPARABLE = fc.Logistic([[[1]], [[2]]], [[1], [1]])
FALLING = fc.Quadratic([[[0]]], [[1]])
LONG = fc.GradientDescent(steps=1, stepsize=10)
UNKNOWN_SOLVER = fc.SGD(epochs=1, batch_size=1, stepsize=QUARTER)


@pytest.mark.parametrize(
    ("instance", "quantity", "reason"),
    [
        (Instance(INDEFINITE, fc.FedSplit(stepsize=QUARTER)), "mu", "curvature is not proved positive"),
        (Instance(INDEFINITE, fc.FedSplit(stepsize=QUARTER)), "condition_number", "curvature is not proved positive"),
        (Instance(INDEFINITE, fc.FedDyn(alpha=9)), "spread", "own functions are not enclosed"),
        (Instance(FALLING, fc.FedProx(mu=1)), "objective_convexity", "not proved strongly convex"),
        (Instance(FALLING, fc.FedProx(mu=1)), "minimizer", "no minimiser"),
        (Instance(FALLING, fc.FedProx(mu=1)), "initial_gap", "no minimiser"),
        (Instance(SEPARABLE, fc.FedProx(mu=1)), "distance", "no minimiser"),
        (Instance(PAIR, fc.FedProx(mu=1), point=[QUARTER]), "dissimilarity", "gradient is not 0"),
        (Instance(PAIR, fc.FedProx(mu=1)), "alpha", "FedProx has no alpha"),
        (Instance(PAIR, fc.FedProx(mu=1)), "stepsize", "FedProx has no stepsize"),
        (Instance(PAIR, fc.FedDyn(alpha=1)), "proximal_weight", "FedDyn has no mu"),
        (Instance(PAIR, fc.FedProx(mu=1)), "num_rounds", "rounds"),
        (Instance(PAIR, fc.FedProx(mu=1), local_solver=LONG), "inexactness", "too long"),
        (Instance(PAIR, fc.FedProx(mu=1), local_solver=UNKNOWN_SOLVER), "inexactness", "SGD"),
        (Instance(PAIR, fc.FedSplit(stepsize=1), local_solver=LONG), "prox_error", "proximal steps"),
    ],
)
def test_reasons_for_what_is_not_measured(instance: Instance, quantity: str, reason: str) -> None:
    with pytest.raises(Unmeasured, match=reason):
        instance.measure(quantity)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (("no problem", fc.FedProx(mu=1)), "problem"),
        ((PAIR, "FedProx"), "method"),
        ((PAIR, fc.FedProx), "method"),
        ((PAIR, fc.FedProx(mu=1), participation.Uniform(3)), "K"),
        ((PAIR, fc.FedProx(mu=1), None, None, [1, 2]), "x"),
        ((PAIR, fc.FedProx(mu=1), None, None, [float("nan")]), "x"),
    ],
)
def test_what_is_no_instance(arguments: Any, culprit: str) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        Instance(*arguments)


def test_stationary_points_and_single_clients() -> None:
    """∇f(1/4) = 0 though ∇f_k are not; with one client B = 1 and nothing varies."""
    there = Instance(PAIR, fc.FedProx(mu=1), point=[QUARTER])
    assert there.square == 0
    assert encloses(there.gradient_variance, Fraction(9, 16))
    solved = Instance(fc.Quadratic([[[2]], [[4]]], [[2], [4]]), fc.FedProx(mu=1), point=[1])
    assert solved.client_gradient == 0
    assert solved.gradient == 0
    alone = Instance(fc.Quadratic([[[2]]], [[1]]), fc.FedDyn(alpha=1))
    assert encloses(alone.dissimilarity, Fraction(1))
    assert encloses(alone.gradient_variance, Fraction(0))
    assert encloses(alone.gradients_at_minimizer, Fraction(0))


@few
@given(strongly_convex())
def test_measuring_twice_is_the_same_ball(problem: Any) -> None:
    """Assumptions recognise a measured constant by identity."""
    assume(square(gradient(terms_of(problem), fractions([0] * problem.dim))) > 0)
    instance = Instance(problem, fc.FedDyn(alpha=1))
    for name in ("dissimilarity", "gradient_variance", "spread", "square"):
        assert instance.measure(name) is instance.measure(name)
