"""Checks of the FedSplit paper's sentences."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import ClaimSetting, at_most
from fedconvex.claims.terms import family, gradient, inner, mean, memory, number, parameter, server
from fedconvex.fixed_points.computation import fixed_point
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.problems.quadratics import LeastSquares, Quadratic
from fedconvex.proofs_checks.fedsplit.claimed_fixed_points import minimises, resting_fedgd
from fedconvex.proofs_checks.kernel.proofs import Lower, Nonnegative
from fedconvex.proofs_checks.library import by, lemma
from fedconvex.proofs_checks.sentences.findings import Comparison, Evidence, Proves, SentenceVerdict, decides
from fedconvex.proofs_checks.sentences.instances import SHORT, UNLIKE, bias, exact, line, run, squared
from fedconvex.theory import fedsplit

PROVED, SHOWN, REFUTED = SentenceVerdict.PROVED, SentenceVerdict.SHOWN, SentenceVerdict.REFUTED
ON_INSTANCES, OPEN = SentenceVerdict.ON_INSTANCES, SentenceVerdict.OPEN


@decides("fedsplit.one_step_is_unbiased", PROVED, local_steps=2)
def one_step(local_steps: int = 1) -> Iterator[Evidence]:
    yield Proves("f(x) ≤ f(y) for all y", minimises(resting_fedgd(local_steps, convex=True), server(0)))


@decides("fedsplit.several_steps_are_biased", SHOWN, local_steps=1)
def several_steps(local_steps: int = 2) -> Iterator[Evidence]:
    method = FedGD(stepsize=SHORT, local_steps=local_steps)
    yield Comparison("‖x_∞ − x*‖² of FedGD with two steps", bias(method, UNLIKE), ">", 0)
    yield Comparison(
        "it converges from everywhere", fixed_point(method, UNLIKE, arithmetic="exact").attracting, "=", True
    )


@decides("fedsplit.proximal_steps_are_biased", SHOWN, linear=(1, 3))
def proximal_steps(linear: tuple[int, int] = (1, -2)) -> Iterator[Evidence]:
    problem = line((1, 3), linear)
    stop = fixed_point(FedProx(mu=1), problem, arithmetic="exact")
    yield Comparison("f′ where FedProx stops", problem.gradient(stop.point)[0], "!=", 0)


@decides("fedsplit.common_minimiser", REFUTED, stepsize=Fraction(1, 4))
def common_minimiser(stepsize: Fraction = Fraction(4, 5)) -> Iterator[Evidence]:
    """½x² and 3x²/2, two local steps, at x = 1."""
    gradients = [h * x for h in (1, 3) for x in (1, 1 - stepsize * h)]
    residual = fedsplit.fedgd_residual(gradients=[[sum(gradients[:2])], [sum(gradients[2:])]])
    yield Comparison("the sum in (5) at x = 1, where x* = 0", Fraction(residual[0]), "=", 0)


@decides("fedsplit.common_optima", REFUTED, second=(1, 0))
def common_optima(second: tuple[int, int] = (0, 1)) -> Iterator[Evidence]:
    """½(x₁ − 1)² and ½(x₂ − 2)² are both 0 at (1, 2); (1, 0) minimises the first."""
    problem = LeastSquares(A=[[[1, 0]], [second]], b=[[1], [second[0] + 2 * second[1]]])
    yield Comparison("both at the common minimiser", problem.value(exact(1, 2)), "=", 0)
    own = problem.client_values(exact(1, 0))
    yield Comparison("the first client at a minimiser of its own", own[0], "=", 0)
    yield Comparison("the second client there", own[1], ">", 0)


@decides("fedsplit.full_rank", REFUTED, rows=((0, 1),))
def full_rank(rows: tuple[tuple[int, int], ...] = ((1, 0),)) -> Iterator[Evidence]:
    """Both A_j are the row (1, 0), of full rank 1."""
    problem = LeastSquares(A=[[[1, 0]], list(rows)], b=[[1], [1]])
    for x in ((1, 0), (1, 5)):
        yield Comparison(f"‖∇f‖² at {x}", squared(problem.gradient(exact(*x))), "=", 0)


@decides("fedsplit.small_stepsizes_converge", ON_INSTANCES, stepsizes=(1,))
def small_stepsizes(stepsizes: tuple[Any, ...] = (Fraction(1, 100), SHORT, Fraction(1, 4))) -> Iterator[Evidence]:
    for s in stepsizes:
        yield Comparison(f"s tr(A_j^⊤A_j) for s = {s}, of both clients at most", 6 * s, "<", 2)
        for steps in (1, 2, 5):
            stop = fixed_point(FedGD(stepsize=s, local_steps=steps), UNLIKE, arithmetic="exact")
            yield Comparison(f"FedGD(s = {s}, e = {steps}) converges from everywhere", stop.attracting, "=", True)


@decides("fedsplit.figure1", ON_INSTANCES, steps=(1,))
def figure1(steps: tuple[int, ...] = (10, 100)) -> Iterator[Evidence]:
    for e in steps:
        yield Comparison(f"‖x_∞ − x*‖², e = {e}", bias(FedGD(stepsize=SHORT, local_steps=e), UNLIKE), ">", 0)
    yield Comparison("‖x_∞ − x*‖² of FedProx", bias(FedProx(mu=10), UNLIKE), ">", 0)


@decides("fedsplit.monotone", PROVED, least=-1)
def monotone(least: int = 0) -> Iterator[Evidence]:
    x, y, u = family("x"), family("y"), family("u")
    setting = ClaimSetting(curvature=(number(least), None))
    claim = at_most(0, inner(gradient(x) - gradient(y), x - y))
    yield Proves("the gradients", lemma(setting, claim, by(Lower(x, y)) + by(Lower(y, x))))
    cone = at_most(0, inner(u - mean(u), mean(x) - mean(y)))
    yield Proves("the normal cone", lemma(setting, cone, by(Nonnegative(number(0)))))


@decides("fedsplit.correct_fixed_points", SHOWN, local_steps=1)
def correct_fixed_points(local_steps: int = 2) -> Iterator[Evidence]:
    yield Comparison("‖x_∞ − x*‖² of FedSplit", bias(FedSplit(stepsize=SHORT), UNLIKE), "=", 0)
    yield Comparison("of FedGD", bias(FedGD(stepsize=SHORT, local_steps=local_steps), UNLIKE), ">", 0)
    yield Comparison("of FedProx", bias(FedProx(mu=10), UNLIKE), ">", 0)
    setting = fedsplit.proposition3.setting
    yield Proves("fixed points of FedSplit minimise", minimises(setting, mean(memory("z", 0))))


def corollary1(kappa_root: int, steps: int) -> tuple[FedSplit, GradientDescent]:
    """FedSplit and its local steps at Corollary 1's parameters, for ℓ_* = 1 and L^* = κ."""
    s = Fraction(1, kappa_root)
    alpha = 1 / (1 + s * Fraction(1 + kappa_root**2) / 2)
    return FedSplit(stepsize=s), GradientDescent(steps=steps, stepsize=alpha * s)


@decides("fedsplit.geometric_convergence", REFUTED, kappa_root=2)
def geometric_convergence(kappa_root: int = 4, rounds: int = 20) -> Iterator[Evidence]:
    """Two clients whose curvatures are 1 and κ."""
    kappa = kappa_root**2
    problem = Quadratic(H=[[[1, 0], [0, kappa]], [[kappa, 0], [0, kappa]]], c=[[0, 0], [0, 0]])
    method, solver = corollary1(kappa_root, 1)
    points = run(method, problem, rounds, local_solver=solver, x0=[1, 1]).points
    distance = squared(points[-1]) / squared(points[0])
    yield Comparison(f"‖x − x*‖² after {rounds} rounds, by that before, κ = {kappa}", distance, ">", 100)
    exact = run(method, problem, rounds, x0=[1, 1]).points
    yield Comparison("the same with exact proximal steps", squared(exact[-1]) / squared(exact[0]), "<", 1)


@decides("fedsplit.rounds_with_exact_steps", REFUTED, round=2)
def rounds_with_exact_steps(constant: int = 10**6, round: int = 1) -> Iterator[Evidence]:
    """½x², so that κ = 1 and z* = 0; ε = 1. log(1 + δ) ≤ δ bounds the logarithm, so that T = 1 exceeds."""
    delta = Fraction(1, 2 * constant)
    yield Comparison("C log(1 + δ) ≤ Cδ", constant * delta, "<", 1)
    x = run(FedSplit(stepsize=1), line((1,), (0,)), 1, x0=[1 + delta]).points[round - 1]
    yield Comparison(f"‖x^({round}) − x*‖, ε = 1", abs(x[0]), ">", 1)


@decides("fedsplit.ten_steps_suffice", REFUTED, kappa_root=2)
def ten_steps_suffice(kappa_root: int = 100) -> Iterator[Evidence]:
    for root, relation in ((2, "<"), (kappa_root, ">")):
        problem = line((1, root**2), (1, -(root**2)))
        method, solver = corollary1(root, 10)
        stop = fixed_point(method, problem, arithmetic="exact", local_solver=solver)
        best = problem.value(stop.point - stop.bias)
        part = (problem.value(stop.point) - best) / (problem.value(exact(0)) - best)
        yield Comparison(f"relative suboptimality, κ = {root**2}", part, relation, Fraction(1, 10**6))


@decides("fedsplit.regularised_modulus", REFUTED, num_clients=1)
def regularised_modulus(num_clients: int = 2, regularizer: int = 1) -> Iterator[Evidence]:
    """f_j = 0, so that F_λ is the regulariser: F_λ(z) − ½λ‖z‖² at z = (1, 0, …, 0) would not be negative."""
    value = fedsplit.regularized_objective(
        values=[0] * num_clients, squared_distances=[1] + [0] * (num_clients - 1), regularizer=regularizer
    )
    yield Comparison("F_λ(z) and ½λ‖z‖²", Fraction(value), "<", Fraction(regularizer, 2))


@decides("fedsplit.nearly_optimal", OPEN, stepsize=Fraction(50))
def nearly_optimal(stepsize: Fraction = Fraction(3)) -> Iterator[Evidence]:
    """Nesterov's chain of three variables, L = 1, one client and one round."""
    chain = [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]
    problem = Quadratic(H=[[[Fraction(x, 4) for x in row] for row in chain]], c=[[Fraction(1, 4), 0, 0]])
    best = [Fraction(3, 4), Fraction(1, 2), Fraction(1, 4)]
    yield Comparison("‖∇f(x*)‖²", squared(problem.gradient(best)), "=", 0)
    point = run(FedSplit(stepsize=stepsize), problem, 1).points[-1]
    bound = Fraction(3, 32) * squared(best) / 4
    yield Comparison("suboptimality after one round, the bound of first-order methods",
                   problem.value(point) - problem.value(best), "<", bound)  # fmt: skip


@decides("fedsplit.ten_thousand", ON_INSTANCES, kappa=5000)
def ten_thousand(kappa: int = 10_000) -> Iterator[Evidence]:
    tolerance, slow = Fraction(1, 1000), Fraction(kappa - 1, kappa)
    yield Comparison("(1 − 1/κ)^{2T} at T = 34,000", slow**68_000, ">", tolerance)
    yield Comparison("at T = 35,000", slow**70_000, "<", tolerance)
    contraction = Fraction(99, 101) if kappa == 10_000 else Fraction(1)
    yield Comparison("(1 − 2/(√κ + 1))^T at T = 300", contraction**300, ">", tolerance)
    yield Comparison("at T = 400", contraction**400, "<", tolerance)


@decides("fedsplit.better_dependence", PROVED, least=Fraction(1, 2))
def better_dependence(least: Any = 1) -> Iterator[Evidence]:
    kappa = parameter("kappa")
    setting = ClaimSetting(signs={"kappa": "positive"}, conditions=((kappa, ">=", number(least)),))
    claim = at_most(fedsplit.contraction.formula(kappa=kappa), (kappa - 1) / (kappa + 1))
    yield Proves("1 − 2/(√κ + 1) ≤ (κ − 1)/(κ + 1)", lemma(setting, claim, by(Nonnegative(claim.right - claim.left))))
