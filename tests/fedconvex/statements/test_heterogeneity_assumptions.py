"""Bounded gradients G, the objective's gap Γ and similar Hessians δ: measured, decided, and compared."""

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.claims.terms import parameter
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Hypothesis
from fedconvex.proofs_checks.library import by, concluding
from fedconvex.statements import assumptions as known
from fedconvex.statements.instance import Instance
from fedconvex.statements.setting import Unmeasured
from fedconvex.theory import bounds_for, li_fedavg
from fedconvex.verdicts import Verdict

METHODS = (fc.FedGD(stepsize=F(1, 100)), fc.FedDyn(alpha=3), fc.FedProx(mu=2))
SHARP = fc.Quadratic(H=[[[2, 0], [0, 1]], [[4, 1], [1, 3]]], c=[[1, 0], [0, 2]], weights=[1, 2])


def random_clients(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    A = [rng.integers(-3, 4, (5, 2)).tolist() for _ in range(3)]
    weights = rng.integers(1, 4, 3).tolist()
    if seed % 2:
        return fc.Logistic(A=A, y=[rng.choice([-1, 1], 5).tolist() for _ in range(3)], ridge=F(1, 5), weights=weights)
    return fc.LeastSquares(A=A, b=[rng.integers(-4, 5, 5).tolist() for _ in range(3)], weights=weights)


def check(assumption: Any, instance: Instance, **values: Any) -> Verdict:
    return assumption.check(instance, values).verdict


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_gap_is_that_of_the_clients_own_minimisers(seed: int, method: Any) -> None:
    """A second route: every client alone is a problem of its own, with its own certified ground truth."""
    problem = random_clients(seed)
    instance, weights = Instance(problem, method), problem.weights
    truth, own = fc.ground_truth(problem), []
    for k in range(3):
        data = {"A": [problem.A[k]]} | (
            {"b": [problem.b[k]]} if seed % 2 == 0 else {"y": [problem.y[k]], "ridge": F(1, 5)}
        )
        alone = type(problem)(**data)
        own.append(fc.ground_truth(alone).value)
    expected_gap = truth.value - float(weights @ np.array(own))
    assert float(instance.objective_gap.mid()) == pytest.approx(expected_gap, rel=1e-9, abs=1e-12)
    assert float(instance.objective_gap.rad()) < 1e-9
    assert check(known.ObjectiveGap(), instance, Gamma=F(expected_gap) * F(101, 100)) is Verdict.PROVED
    assert check(known.ObjectiveGap(), instance, Gamma=F(expected_gap) * F(99, 100)) is Verdict.REFUTED
    assert check(known.ObjectiveGap(), instance, Gamma=instance.objective_gap) is Verdict.PROVED


@pytest.mark.parametrize("seed", range(12))
def test_the_implications_hold_where_both_sides_are_measured(seed: int) -> None:
    """σ*² <= 2LΓ, Γ <= σ*²/(2μ), δ <= 2L, L <= L_f + δ: with the constants that the assumptions state."""
    instance = Instance(random_clients(seed), METHODS[seed % 3])
    constants = {
        "Gamma": instance.objective_gap, "delta": instance.similarity, "L": instance.smoothness, "mu": instance.mu,
        "sigma_star2": instance.sigma_star2, "L_f": instance.objective_smoothness,
        "L_minus": instance.weak_convexity,
    }  # fmt: skip
    compared = 0
    for assumption in (known.ObjectiveGap(), known.SimilarHessians()):
        for implied in (*assumption.implies, *assumption.implied_by):
            names = implied.constant.__code__.co_varnames[: implied.constant.__code__.co_argcount]
            bound = implied.constant(**{name: constants[name] for name in names})
            assert not constants[implied.name] > bound * (1 + 1e-9)
            compared += 1
    assert compared == 5


def test_the_gap_is_as_far_from_sigma_star_as_the_implications_allow() -> None:
    """Both constants are sharp: clients of curvature L attain σ*² = 2LΓ, of curvature μ Γ = σ*²/(2μ)."""
    for h in (F(1), F(7)):
        problem = fc.Quadratic(H=[[[h]], [[h]]], c=[[3], [-3]])
        instance = Instance(problem, METHODS[0])
        assert (instance.sigma_star2 - 2 * int(h) * instance.objective_gap).contains(0)


def test_bounded_gradients_of_losses_and_of_quadratics() -> None:
    losses = fc.Logistic(A=[[[3, 4], [0, 1]], [[1, 0]]], y=[[1, -1], [1]])
    instance = Instance(losses, METHODS[0])
    assert float(instance.gradient_bound) == pytest.approx(3)  # (5 + 1)/2
    far = [Instance(losses, METHODS[0], point=p).client_gradient for p in ([-99, -99], [99, -60], [0, 0])]
    assert all(length <= instance.gradient_bound for length in far)
    assert check(known.BoundedGradients(), instance, G=F(31, 10)) is Verdict.PROVED
    assert check(known.BoundedGradients(), instance, G=instance.gradient_bound) is Verdict.PROVED
    assert check(known.BoundedGradients(), instance, G=F(1, 10)) is Verdict.REFUTED  # at 0 the gradient is longer
    assert check(known.BoundedGradients(), instance, G=F(29, 10)) is Verdict.UNKNOWN
    scaled = Instance(fc.Logistic(A=losses.A, y=losses.y, weights=[1, 3]), fc.FedDyn(alpha=1))
    assert float(scaled.gradient_bound) == pytest.approx(1.5)  # F_k = 2 p_k f_k: max(3/2, 3/2 · 1)
    softmax = fc.MultinomialLogistic(A=[[[3], [0]]], y=[[0, 2]], num_classes=3)
    bound = Instance(softmax, METHODS[0]).gradient_bound
    assert float(bound) == pytest.approx(2**0.5 * (10**0.5 + 1) / 2)
    assert Instance(softmax, METHODS[0], point=[50, -50, 0, 0, -50, 50]).client_gradient <= bound
    for unbounded in (SHARP, fc.Logistic(A=[[[1]]], y=[[1]], ridge=F(1, 10**6))):
        assert check(known.BoundedGradients(), Instance(unbounded, METHODS[0]), G=10**9) is Verdict.REFUTED
    flat = Instance(fc.Quadratic(H=[[[0]], [[0]]], c=[[3], [-4]]), METHODS[0])
    assert check(known.BoundedGradients(), flat, G=4) is Verdict.PROVED
    assert check(known.BoundedGradients(), flat, G=F(39, 10)) is Verdict.REFUTED


def test_similar_hessians_are_decided_exactly() -> None:
    """Diagonal Hessians, whose distances from the mean are read off; also where the paper's F_k = m p_k f_k."""
    problem = fc.Quadratic(H=[[[1, 0], [0, 1]], [[3, 0], [0, 1]]], c=[[1, 0], [0, 2]])
    instance = Instance(problem, METHODS[0])
    assert float(instance.similarity) == pytest.approx(1)
    assert check(known.SimilarHessians(), instance, delta=1) is Verdict.PROVED  # on the boundary
    assert check(known.SimilarHessians(), instance, delta=1 - F(1, 10**30)) is Verdict.REFUTED
    assert check(known.SimilarHessians(), instance, delta=-1) is Verdict.REFUTED
    assert check(known.SimilarHessians(), instance, delta=instance.similarity) is Verdict.PROVED
    weighted = Instance(fc.Quadratic(H=problem.H, c=problem.c, weights=[1, 3]), METHODS[0])
    assert check(known.SimilarHessians(), weighted, delta=F(3, 2)) is Verdict.PROVED  # 1 against 1/4 + 9/4
    assert check(known.SimilarHessians(), weighted, delta=F(3, 2) - F(1, 10**9)) is Verdict.REFUTED
    plain = Instance(fc.Quadratic(H=problem.H, c=problem.c, weights=[1, 3]), fc.FedDyn(alpha=1))
    assert check(known.SimilarHessians(), plain, delta=2) is Verdict.PROVED  # F_k = 2 p_k f_k: 1/2, 9/2 around 5/2
    assert check(known.SimilarHessians(), plain, delta=F(199, 100)) is Verdict.REFUTED
    losses = Instance(fc.Logistic(A=[[[2]], [[1]]], y=[[1], [1]]), METHODS[0])
    assert check(known.SimilarHessians(), losses, delta=F(11, 10)) is Verdict.PROVED  # curvatures of at most 1
    assert check(known.SimilarHessians(), losses, delta=F(1, 100)) is Verdict.UNKNOWN


def test_a_gap_without_strong_convexity_is_not_measured() -> None:
    with pytest.raises(Unmeasured):
        Instance(fc.LeastSquares(A=[[[1, 0]], [[0, 1]]], b=[[1], [2]]), METHODS[0]).measure("objective_gap")


def test_bounded_gradients_give_proofs_their_variance() -> None:
    """The noise of one step with K drawn clients is at most s²G²/K, proved by the kernel; half of that is not."""
    statement = li_fedavg.noise_of_one_step
    assert verify(statement).verdict is Verdict.PROVED
    s, K, G = map(parameter, ("stepsize", "K", "G"))
    proof = Derivation((concluding(statement.claim, s**2 / K * by(Hypothesis("variance"))),))
    theorem(statement.setting, statement.claim, proof)
    half = replace(statement.claim, right=s**2 * G**2 / K / 2)
    with pytest.raises(Refused):
        theorem(statement.setting, half, Derivation((concluding(half, s**2 / K * by(Hypothesis("variance"))),)))


def test_bounds_for_losses_without_ridge_have_the_noise_of_bounded_gradients() -> None:
    losses = fc.Logistic(A=[[[3, 4], [0, 1]], [[1, 0]]], y=[[1, -1], [1]])
    for problem, known_bound in ((losses, True), (SHARP, False)):
        found = bounds_for(problem, METHODS[0], participation=fc.participation.Weighted(2))
        names = {entry.statement.identifier for entry in found.applies}
        assert ("li_fedavg.noiseofonestep" in names) is known_bound
