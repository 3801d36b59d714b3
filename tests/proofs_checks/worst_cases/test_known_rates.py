"""Rates that the literature proves tight: lower and upper bound must both equal the formula."""

from fractions import Fraction as F

import pytest

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint, feasible_point
from fedconvex.proofs_checks.worst_cases.programs.solver import propose
from fedconvex.proofs_checks.worst_cases.questions.function_classes import Quadratics

pytestmark = pytest.mark.beyond_core  # takes seconds


@pytest.mark.parametrize("m", [1, 2, 7, 10**6, "any"])
@pytest.mark.parametrize(
    ("s", "mu", "L"), [(F(1, 2), 1, 4), (3, 1, 4), (F(1, 7), F(2, 3), 5), (0.3, 0.1, 1), (2, 1, 1)]
)
def test_fedsplit_contracts(m, s, mu, L):
    """Giselsson and Boyd 2017: the Peaceman–Rachford operator's rate, in rationals, for any number of clients."""
    s_, mu_, L_ = F(s), F(mu), F(L)
    rate = max((1 - s_ * mu_) / (1 + s_ * mu_), (s_ * L_ - 1) / (1 + s_ * L_)) ** 2
    found = worst_case(fc.FedSplit(stepsize=s), SmoothStronglyConvex(mu, L), m, metric="lifted_distance")
    assert found.lower == found.upper == rate


def test_eight_rounds_of_peaceman_rachford():
    """At the best stepsize for μ = 0.1 and L = 1: what free solvers put below the truth."""
    found = worst_case(fc.FedSplit(stepsize=10**0.5), SmoothStronglyConvex(0.1, 1), rounds=8, metric="lifted_distance")
    assert 2.8137571e-05 <= found.upper <= 2.8137573e-05
    assert found.lower == found.upper
    assert found.power == 8


@pytest.mark.parametrize("rounds", [1, 2, 40])
@pytest.mark.parametrize("s", [F(1, 3), F(1, 2), F(9, 10)])
def test_gradient_steps_contract(rounds, s):
    found = worst_case(fc.FedGD(stepsize=s), SmoothStronglyConvex(F(1, 2), 2), "any", rounds)
    assert found.lower == found.upper == max(abs(1 - s / 2), abs(1 - 2 * s)) ** (2 * rounds)


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("m", [1, "any"])
def test_gradient_descent_on_smooth_convex_functions(rounds, m):
    """Drori and Teboulle 2014, Theorem 3.1: L/(2(2TsL + 1)) for s <= 1/L."""
    s, L = F(1, 3), 2
    truth = L / (2 * (2 * rounds * s * L + 1))
    found = worst_case(fc.FedGD(stepsize=s), SmoothConvex(L), m, rounds, metric="gap")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-25 * truth


@pytest.mark.parametrize("metric", ["gap", "gradient_norm"])
@pytest.mark.parametrize("rounds", [5, 15, 20, pytest.param(60, marks=pytest.mark.slow)])
def test_many_steps_are_exact(rounds, metric):
    """The gradient's length: Taylor, Hendrickx and Glineur 2017, Conjecture 3, which Rotaru et al. 2022 prove."""
    found = worst_case(fc.FedGD(stepsize=1), SmoothConvex(1), 1, rounds, metric=metric)
    assert found.lower == found.upper == {"gap": F(1, 4 * rounds + 2), "gradient_norm": F(1, (rounds + 1) ** 2)}[metric]


def test_what_fits_between_neighbours_alone_is_no_function():
    """Its metric is larger than the worst case, and the check between all pairs refuses it."""
    found = worst_case(fc.FedProx(mu=2), SmoothStronglyConvex(1, 10), rounds=3, metric="gap", heterogeneity=1)
    near = found.question.of_neighbours
    made = feasible_point(near, propose(near))
    assert made.metric > found.upper * F(21, 20)
    with pytest.raises(ValueError, match="no functions of the class"):
        FeasiblePoint(found.question.program, made.grams, made.values)


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_proximal_point_method(rounds):
    """A client alone: μ/(μ + ℓ) a step; and in values (Taylor et al. 2017, Theorem 4.1 in the limit L = ∞) at most
    μ‖w − x*‖²/(4T).
    """
    mu, low = F(3, 2), F(1, 2)
    found = worst_case(fc.FedProx(mu=mu), SmoothStronglyConvex(low, 3), 1, rounds)
    assert found.lower == found.upper == (mu / (mu + low)) ** (2 * rounds)
    gap = worst_case(fc.FedProx(mu=mu), SmoothConvex(10**3), 1, rounds, metric="gap")
    assert F(99, 100) * mu / (4 * rounds) < gap.upper < mu / (4 * rounds)


def least_decrease(k, B):
    """FedProx, one round, convex clients, L = 1: in `fedconvex.theory.fedprox` the sharp form for convex clients."""
    return ((2 * k + 1) - (B - 1) - (B - 1) ** 2 / (4 * k**2)) / (2 * (k + 1) ** 2)


@pytest.mark.parametrize("k", [F(71, 100), 1, F(5, 2), 20])
@pytest.mark.parametrize("B", [1, F(5, 4), F(3, 2)])
def test_fedprox_decreases_by_just_that_much(k, B):
    """From k = μ/L >= 1/√2 on, any number of clients."""
    found = worst_case(fc.FedProx(mu=k), SmoothConvex(1), "any", metric="descent", dissimilarity=B)
    truth = least_decrease(F(k), F(B))
    assert found.lower <= truth <= found.upper
    assert found.lower == truth or found.upper - found.lower < 1e-25 * truth


@pytest.mark.parametrize(("k", "B"), [(F(3, 4), F(3, 2)), (1, 2), (5, 3), (20, 2), (2, F(9, 2))])
def test_the_multipliers_of_that_proof_have_a_formula(k, B):
    """δ = (1 + (B − 1)/(2k²))/(4B(k + 1)²) of dissimilarity, 4k(k + 1)δ between two of the points, and 1."""
    found = worst_case(fc.FedProx(mu=k), SmoothConvex(1), "any", metric="descent", dissimilarity=B)
    delta = (1 + (B - 1) / (2 * F(k) ** 2)) / (4 * B * (F(k) + 1) ** 2)
    both = 4 * k * (k + 1) * delta
    expected = {"1 from 0": both, "0 from 1": both, "0 from 2": 1, "dissimilarity": delta}
    assert found.multipliers == expected
    assert found.lower == least_decrease(F(k), F(B))


@pytest.mark.parametrize(("k", "B"), [(1, F(7, 2)), (2, 8), (5, 20)])
def test_where_nothing_is_promised_the_truth_is_better(k, B):
    """The formula is sharp up to B = 2k + 1, where it vanishes; beyond, the method does a little less harm."""
    found = worst_case(fc.FedProx(mu=k), SmoothConvex(1), "any", metric="descent", dissimilarity=B)
    assert least_decrease(F(k), F(B)) < found.lower <= found.upper < 0
    edge = worst_case(fc.FedProx(mu=k), SmoothConvex(1), "any", metric="descent", dissimilarity=2 * k + 1)
    assert least_decrease(F(k), F(2 * k + 1)) == 0
    assert abs(edge.lower) < 1e-7


def test_below_that_ratio_it_decreases_by_less():
    """For k < 1/√2 the formula promises too much, unless B = 1: then it holds for every k."""
    found = worst_case(fc.FedProx(mu=F(7, 10)), SmoothConvex(1), "any", metric="descent", dissimilarity=F(5, 4))
    assert found.upper < least_decrease(F(7, 10), F(5, 4)) - F(1, 10**4)
    alike = worst_case(fc.FedProx(mu=F(1, 4)), SmoothConvex(1), "any", metric="descent", dissimilarity=1)
    assert alike.lower == alike.upper == least_decrease(F(1, 4), F(1))


def test_admm_is_feddyn_which_is_douglas_rachford():
    """One round of FedDyn from g = 0 with heterogeneity 1/α²: the first proximal step of every client."""
    found = worst_case(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 2), heterogeneity=F(1, 4))
    assert found.lower == found.upper


@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm"])
def test_one_curvature_leaves_nothing_open(metric):
    """For μ = L the functions are known up to their pulls."""
    found = worst_case(fc.FedProx(mu=1), SmoothStronglyConvex(2, 2), heterogeneity=1, rounds=2, metric=metric)
    one = {"distance": F(1), "gap": F(1), "gradient_norm": F(4)}[metric]
    assert found.lower == found.upper == one * F(1, 3) ** 4


def test_quadratics_are_no_worse_than_smooth_convex_functions():
    s = F(1, 2)
    convex = worst_case(fc.FedGD(stepsize=s), SmoothConvex(1), 1, 3, "gap")
    quadratic = worst_case(fc.FedGD(stepsize=s), Quadratics(0, 1), 1, 3, "gap")
    # the worst quadratic has curvature x with x(1 − sx)⁶/2 largest: x = 2/7 for s = 1/2, where it is in the class
    truth = max(F(n, 1000) * (1 - s * F(n, 1000)) ** 6 / 2 for n in range(1001))
    assert truth <= quadratic.upper
    assert quadratic.lower <= quadratic.upper
    assert abs(quadratic.upper - convex.upper) < 1e-9
    assert quadratic.is_played
    same = worst_case(fc.FedGD(stepsize=s), Quadratics(F(1, 2), 1), 1, 3)
    assert same.lower == same.upper == F(3, 4) ** 6
