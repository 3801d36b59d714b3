"""Measured curvatures enclose, or bound on the safe side, eigenvalues and sampled curvatures."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from bound_makers import as_seen_by, curved, least_eigenvalue, lower, size_of, smooth, strongly_convex, upper
from hypothesis import given
from hypothesis import strategies as st
from instance_makers import HALF, METHODS, PROBLEMS, near
from problem_makers import entries, few, fraction, fractions, logistics, quadratics, terms_of, weighted

import fedconvex as fc
from fedconvex.statements.instance import Instance, Unmeasured

TINY = Fraction(1, 10**30)


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


@pytest.mark.parametrize("unknown", [0, 1])
def test_a_client_of_unknown_curvature_is_not_left_out(unknown: int) -> None:
    """The largest of a known bound and an unknown one is unknown, in whichever order they come."""
    bounds = [(flint.arb("nan"),) * 2 if k == unknown else (flint.arb(1), flint.arb(2)) for k in range(2)]
    problem = fc.Quadratic([[[1]], [[2]]], [[0], [0]])
    problem.__dict__["client_bounds"] = bounds
    curvatures = Instance(problem, fc.FedProx(mu=1)).curvatures
    assert curvatures.smoothness == flint.arb("inf")
    assert curvatures.strong_convexity == flint.arb("-inf")


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
