"""Checks of the FedProx paper's sentences, without those on the sampling of devices."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

from fedconvex.claims.claim import ClaimSetting, at_most, equal
from fedconvex.claims.terms import Number, family, free, gradient, inner, mean, number, parameter, square
from fedconvex.fixed_points.computation import fixed_point
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import FedGD, FedSGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.participation import Schedule
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.kernel.proofs import Lower, Nonnegative
from fedconvex.proofs_checks.library import Lemma, by, jensen, lemma, squared
from fedconvex.proofs_checks.sentences.findings import Comparison, Evidence, Proves, SentenceVerdict, decides
from fedconvex.proofs_checks.sentences.instances import SHORT, UNLIKE, bias, exact, line, run
from fedconvex.theory import fedprox

PROVED, SHOWN, REFUTED = SentenceVerdict.PROVED, SentenceVerdict.SHOWN, SentenceVerdict.REFUTED
ON_INSTANCES = SentenceVerdict.ON_INSTANCES
Gradients = tuple[int, ...]
Condition = tuple[Number, str, Number]


def dissimilarity(gradients: Gradients) -> Fraction:
    """B² of devices with equal weights and these gradients."""
    return Fraction(len(gradients) * sum(g * g for g in gradients), sum(gradients) ** 2)


def variance(gradients: Gradients) -> Fraction:
    """E_k‖∇F_k − ∇f‖²."""
    mean_square = Fraction(sum(g * g for g in gradients), len(gradients))
    return mean_square - Fraction(sum(gradients), len(gradients)) ** 2


@decides("fedprox.dropping_is_more_heterogeneous", REFUTED, gradients=(1, 4, 4))
def dropping_is_more_heterogeneous(gradients: Gradients = (1, 1, 4)) -> Iterator[Evidence]:
    everyone, left = dissimilarity(gradients), dissimilarity(gradients[:2])
    yield Comparison(f"B² without the third of the gradients {gradients}, and with it", left, "<", everyone)


@decides("fedprox.dropping_is_biased", SHOWN, linear=(1, 3, 2))
def dropping_is_biased(linear: Gradients = (1, 3, 5)) -> Iterator[Evidence]:
    """FedGD with one step, which is unbiased."""
    curvatures = (1, 3, 2)
    method = FedGD(stepsize=SHORT, local_steps=1)
    problem = line(curvatures, linear)
    yield Comparison("f′ where FedGD stops", problem.gradient(_stop(method, problem))[0], "=", 0)
    without = _stop(method, line(curvatures[:2], linear[:2]))
    yield Comparison("without the third device", problem.gradient(without)[0], "!=", 0)


def _stop(method: Any, problem: Any) -> Any:
    return fixed_point(method, problem, arithmetic="exact").point


@decides("fedprox.more_iterations", REFUTED, stepsize=Fraction(1, 2))
def more_iterations(stepsize: Any = 1) -> Iterator[Evidence]:
    """F = ¾x² − x, μ = 1, so that the subproblem has curvature 5/2; γ after e steps from 0, where |∇h| is 1."""
    reached = []
    for steps in (1, 2):
        x = _answer(steps, stepsize, mu=1)
        reached.append(abs(Fraction(3, 2) * x - 1 + x))
    yield Comparison("γ after two steps and after one", reached[1], ">", reached[0])


def _answer(steps: int, stepsize: Any, mu: Any, curvature: Any = Fraction(3, 2)) -> Any:
    """Where a device with ½hx² − x ends after local gradient steps from 0."""
    solver = GradientDescent(steps=steps, stepsize=stepsize)
    return run(FedProx(mu=mu), line((curvature,), (1,)), 1, local_solver=solver).points[1][0]


@decides("fedprox.proximal_term_restricts", REFUTED, mu=1)
def proximal_term_restricts(mu: int = 5) -> Iterator[Evidence]:
    """½x²/100 − x from 0, two steps of size 1."""
    near, far = (_answer(2, 1, weight, Fraction(1, 100)) for weight in (Fraction(1, 100), mu))
    yield Comparison(f"|w_k − w^t| at μ = {mu} and at μ = 1/100", abs(far), ">", abs(near))


@decides("fedprox.subproblems_are_convex", PROVED, least=Fraction(1, 2))
def subproblems_are_convex(least: Any = 1) -> Iterator[Evidence]:
    x, y, mu, low = family("x"), family("y"), parameter("mu"), parameter("L_minus")
    slope = inner(gradient(x) - gradient(y) + mu * (x - y), x - y)
    between = by(Lower(x, y)) + by(Lower(y, x))
    signs = {"mu": "positive", "L_minus": "positive"}
    weak = ClaimSetting(signs=signs, curvature=(-low, None), conditions=((mu, ">=", least * low),))
    yield Proves("convex", lemma(weak, at_most(0, slope), between + (mu - low) * squared(x - y)))
    convex = ClaimSetting(signs=signs, curvature=(number(0), None))
    yield Proves("μ-strongly convex", lemma(convex, at_most(mu * square(x - y), slope), between))


@decides("fedprox.fedavg_is_special", ON_INSTANCES, mu=1)
def fedavg_is_special(mu: int = 0) -> Iterator[Evidence]:
    for steps in (1, 3):
        solver = GradientDescent(steps=steps, stepsize=SHORT)
        ours = run(FedProx(mu=mu), UNLIKE, 3, local_solver=solver).points
        theirs = run(FedGD(stepsize=SHORT, local_steps=steps), UNLIKE, 3).points
        yield Comparison(f"the points of three rounds agree, e = {steps}", bool((ours == theirs).all()), "=", True)


@decides("fedprox.constant_gamma", REFUTED, curvatures=(2, 2))
def constant_gamma(curvatures: Gradients = (1, 2)) -> Iterator[Evidence]:
    first, second = (abs(h * _answer(3, SHORT, 0, h) - 1) for h in curvatures)
    yield Comparison(f"γ after three steps, curvatures {curvatures}", first, "!=", second)


@decides("fedprox.decreasing_stepsize", REFUTED, linear=(0, 1))
def decreasing_stepsize(linear: Gradients = (0, 0)) -> Iterator[Evidence]:
    """½x² and x², of which one is drawn in each round; stepsize ½."""
    problem, method = line((1, 2), linear), FedSGD(stepsize=Fraction(1, 2))
    best = sum(linear) / Fraction(3)
    for device in (0, 1):
        stays, moves = (
            run(method, problem, 1, participation=Schedule([[device]]), x0=[best + far]).points[1][0] - best
            for far in (0, 1)
        )
        yield Comparison(f"the move from x* if device {device + 1} is drawn", abs(stays), "=", 0)
        yield Comparison("‖x⁺ − x*‖/‖x − x*‖", abs(moves), "<=", Fraction(1, 2))


@decides("fedprox.B_is_at_least_one", PROVED, factor=2)
def B_is_at_least_one(factor: int = 1) -> Iterator[Evidence]:
    g = gradient(free("w"))
    claim = at_most(factor * square(mean(g)), square(g))
    yield Proves("‖∇f‖² ≤ E_k‖∇F_k‖²", lemma(ClaimSetting(), claim, jensen(g)))


@decides("fedprox.B_measures_dissimilarity", REFUTED, second=(2, 4))
def B_measures_dissimilarity(first: Gradients = (1, 3), second: Gradients = (10, 14)) -> Iterator[Evidence]:
    yield Comparison(f"B² for gradients {first} and {second}", dissimilarity(first), ">", dissimilarity(second))
    yield Comparison("their variances", variance(first), "<", variance(second))


@decides("fedprox.B_of_iid_data", REFUTED, point=1)
def B_of_iid_data(point: int = 0, sizes: tuple[int, ...] = (1, 10, 40)) -> Iterator[Evidence]:
    """F_k = ½E(w − x)² over n samples x = ±1 each, so that ∇F_k = w − (mean of the samples); f is stationary at 0."""
    for n in sizes:
        slopes = {n * point - (2 * ones - n): Fraction(comb(n, ones), 2**n) for ones in range(n + 1)}
        likely = sum(p * q for a, p in slopes.items() for b, q in slopes.items() if a * a + b * b >= (a + b) ** 2)
        yield Comparison(f"P(B² ≥ 2), n = {n}", Fraction(likely), ">=", Fraction(1, 2))


@decides("fedprox.mu_bar_is_not_necessary", SHOWN, mu=Fraction(9, 100))
def mu_bar_is_not_necessary(mu: Fraction = Fraction(1, 20)) -> Iterator[Evidence]:
    """−x²/20 and ½x²: the subproblems' gradients vanish at μx/(h + μ)."""
    curvatures = (Fraction(-1, 10), Fraction(1))
    yield Comparison("μ and L₋", mu, "<", -curvatures[0])
    yield Comparison("the curvature of f", sum(curvatures) / 2, ">", 0)
    kept = sum(mu / (h + mu) for h in curvatures) / 2
    yield Comparison("‖w^{t+1}‖/‖w^t‖", abs(kept), "<", 1)


@decides("fedprox.variance_is_more_restrictive", SHOWN, curvatures=(2, 2))
def variance_is_more_restrictive(curvatures: Gradients = (1, 3)) -> Iterator[Evidence]:
    for w in (10, 1000):
        gradients = tuple(h * w for h in curvatures)
        yield Comparison(f"B(w)² at w = {w}", dissimilarity(gradients), "<=", Fraction(5, 4))
        yield Comparison("the variance of the gradients", variance(gradients), ">=", w**2)


@decides("fedprox.remark5_is_sufficient", REFUTED, K=18)
def remark5_is_sufficient(K: int = 2) -> Iterator[Evidence]:
    """B = 1 and γ = 0."""
    yield Comparison("B² and K", 1, "<", K)
    mu, L, low = parameter("mu"), parameter("L"), parameter("L_minus")
    setting = ClaimSetting(
        signs={"mu": "positive", "L": "positive", "L_minus": "nonnegative"}, conditions=((mu, ">", low),)
    )
    rho = fedprox.rho.calculator.formula(mu=mu, L=L, L_minus=low, B=number(1), gamma=number(0), K=number(K))
    yield Proves("ρ ≤ 0 for every μ", lemma(setting, at_most(rho, 0), by(Nonnegative(-rho))))


def rho_is_not_positive(where: Callable[[Mapping[str, Number]], Condition]) -> Lemma:
    """ρ ≤ 0 for B ≥ 1 and all other parameters, under the condition."""
    names = {"mu": "positive", "L": "positive", "L_minus": "nonnegative", "B": "positive", "gamma": "nonnegative",
             "K": "positive"}  # fmt: skip
    given = {name: parameter(name) for name in names}
    conditions = ((given["mu"], ">", given["L_minus"]), (given["B"], ">=", number(1)), where(given))
    rho = fedprox.rho.calculator.formula(**given)
    return lemma(ClaimSetting(signs=names, conditions=conditions, counts=frozenset({"K"})), at_most(rho, 0),
                 by(Nonnegative(-rho)))  # fmt: skip


@decides("fedprox.ten_devices", PROVED, factor=1)
def ten_devices(factor: int = 2) -> Iterator[Evidence]:
    yield Proves("2B² ≥ K ⇒ ρ ≤ 0", rho_is_not_positive(lambda of: (factor * of["B"] ** 2, ">=", of["K"])))


@decides("fedprox.candidates_for_mu", PROVED, factor=Fraction(1, 2))
def candidates_for_mu(factor: Any = Fraction(2, 3)) -> Iterator[Evidence]:
    yield Proves("L ≥ 2μ/3 ⇒ ρ ≤ 0", rho_is_not_positive(lambda of: (of["L"], ">=", factor * of["mu"])))


@decides("fedprox.increase_mu", ON_INSTANCES, problem=line((1, 3), (1, 3)))
def increase_mu(problem: Any = UNLIKE) -> Iterator[Evidence]:
    errors = [bias(FedProx(mu=mu), problem) for mu in (1, 4, 16, 64, 256)]
    for before, after in pairwise(errors):
        yield Comparison("‖x_∞ − x*‖² at four times the μ", after, "<", before)
    yield Comparison("at μ = 256", errors[-1], ">", 0)


@decides("fedprox.same_as_sgd", PROVED, power=1)
def same_as_sgd(power: int = 2) -> Iterator[Evidence]:
    L, delta, sigma2, epsilon = map(parameter, ("L", "delta", "sigma2", "epsilon"))
    setting = ClaimSetting(signs=dict.fromkeys(("L", "delta", "sigma2", "epsilon"), "positive"))
    B = fedprox.dissimilarity_from_variance.calculator.formula(sigma2=sigma2, epsilon=epsilon)
    claim = equal(L * B**2 * delta / epsilon, L * delta / epsilon + L * delta * sigma2 / epsilon**power)
    yield Proves("LB²Δ/ε = LΔ/ε + LΔσ²/ε²", lemma(setting, claim, 0 * by(Nonnegative(number(0)))))


@decides("fedprox.worse_than_sgd", SHOWN, rounds=1)
def worse_than_sgd(rounds: int = 30) -> Iterator[Evidence]:
    problem = line((1, 3), (1, -3))
    prox, descent = (run(method, problem, rounds).points[-1] for method in (FedProx(mu=1), FedSGD(stepsize=SHORT)))
    yield Comparison(f"f after {rounds} rounds of FedProx, of gradient descent", problem.value(prox), ">",
                   problem.value(descent))  # fmt: skip


@decides("fedprox.corollary9_proof", REFUTED, drawn=(0, 1))
def corollary9_proof(drawn: tuple[int, ...] = (0,)) -> Iterator[Evidence]:
    """Two devices with ‖∇F_k‖ = 1 and γ = (0, 1)."""
    gammas = (0, 1)
    yield Comparison("E_k[(1 + γ_k)‖∇F_k‖] and (1 + max γ_k)E_k‖∇F_k‖ over the drawn",
                   Fraction(sum(1 + g for g in gammas), 2), ">", 1 + max(gammas[k] for k in drawn))  # fmt: skip


@decides("fedprox.table1", ON_INSTANCES, devices=1100)
def table1(devices: int = 1000) -> Iterator[Evidence]:
    rows = (("MNIST", devices, 69035, 69), ("FEMNIST", 200, 18345, 92),
            ("Shakespeare", 143, 517106, 3616), ("Sent140", 772, 40783, 53))  # fmt: skip
    for name, count, samples, average in rows:
        yield Comparison(f"rounding of {name}", abs(Fraction(samples, count) - average), "<=", Fraction(1, 2))


@decides("fedprox.mu_replaces_epochs", REFUTED, other=2)
def mu_replaces_epochs(other: int = 4) -> Iterator[Evidence]:
    """Two steps of size 1/8 on clients ½x² and ½h(x − 1)². FedProx stops at φ/(1 + φ), φ = h(1 + μ)/(h + μ), which
    grows with μ, so that μ = 13 alone replaces the steps for h = 2.
    """
    for h, mu, relation in ((2, 12, ">"), (2, 13, "="), (2, 14, "<"), (other, 13, "!=")):
        problem = line((1, h), (0, h))
        steps, prox = FedGD(stepsize=Fraction(1, 8), local_steps=2), FedProx(mu=mu)
        what = f"where FedGD and FedProx stop, h = {h}, μ = {mu}"
        yield Comparison(what, _stop(steps, problem)[0], relation, _stop(prox, problem)[0])


@decides("fedprox.variance_lower_bound", REFUTED, gradients=(0, 20))
def variance_lower_bound(gradients: Gradients = (2, 2)) -> Iterator[Evidence]:
    yield Comparison(f"the variance of the gradients {gradients}, and B²", variance(gradients), "<",
                   dissimilarity(gradients))  # fmt: skip
    g = gradient(free("w"))
    claim = equal(square(g - mean(g)), square(g) - square(mean(g)))
    yield Proves("the variance is (B² − 1)‖∇f‖²", lemma(ClaimSetting(), claim, 0 * jensen(g)))


@decides("fedprox.mu_large_enough", REFUTED, gamma=Fraction(1, 2))
def mu_large_enough(gamma: Any = 1, mu: int = 10**6) -> Iterator[Evidence]:
    """½x² − x at w = 0, where the device answers w."""
    problem = Quadratic(H=[[[1]]], c=[[1]])
    w = exact(0)
    residual = abs(problem.gradient(w)[0] + mu * 0)
    yield Comparison("‖∇h(w; w)‖ and γ‖∇h(w; w)‖", residual, "<=", gamma * abs(problem.gradient(w)[0]))
    yield Comparison("f(w) − f(w̄)", problem.value(w) - problem.value(w), "=", 0)
    yield Comparison("‖∇f(w)‖", abs(problem.gradient(w)[0]), ">", 0)
