"""Rates that are known, what `lyapunov` answers where there is none, and what it refuses."""

from fractions import Fraction as F

import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput, TooLarge
from fedconvex.participation import Weighted
from fedconvex.proofs_checks import (
    ClientGroup,
    ClientGroups,
    Quadratics,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    lyapunov,
)
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds


def scaffold_condition(q, e):
    """e²q^{2e} >= (e−1)² + (e−S_e)² + (e−S_{e+1})² Σ_{j=2}^e 1/(2S_j − 1): SCAFFOLD then contracts by q^{2e}."""
    S = [sum((q**i for i in range(n)), F(0)) for n in range(e + 2)]
    rest = sum((1 / (2 * S[j] - 1) for j in range(2, e + 1)), F(0))
    return e**2 * q ** (2 * e) >= (e - 1) ** 2 + (e - S[e]) ** 2 + (e - S[e + 1]) ** 2 * rest


@pytest.mark.parametrize(("kappa", "e"), [(100, 10), (100, 2), (100, 5), (30, 3), (4, 1), (50, 4), (1000, 7)])
def test_scaffold_contracts_by_q_to_the_2e_with_any_number_of_clients(kappa, e):
    q = 1 - F(1, kappa)
    assert e == 1 or scaffold_condition(q, e)
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=e), SmoothStronglyConvex(1, kappa))
    assert found.upper == found.lower == q ** (2 * e)
    assert found.tight
    assert found.linear
    assert found.says.startswith("exactly; proved by V = ‖server‖² + ") or e == 1


def test_of_scaffold_with_many_local_steps_the_deviations_are_the_slower_ones():
    kappa, e = 100, 20
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=e), SmoothStronglyConvex(1, kappa))
    assert not scaffold_condition(1 - F(1, kappa), e)
    assert found.upper == found.lower == (1 - F(1, e)) ** 2  # at curvature L
    assert found.upper > (1 - F(1, kappa)) ** (2 * e)


@pytest.mark.parametrize(
    ("method", "kappa", "squared"),
    [
        (fc.FedDyn(alpha=2), 4, F(4, 9)),  # Douglas–Rachford: (1/2 + δ/2)² with δ = (√κ − 1)/(√κ + 1)
        (fc.FedPD(eta=F(1, 2)), 4, F(4, 9)),
        (fc.FedDyn(alpha=10), 100, F(100, 121)),
        (fc.FedSplit(stepsize=F(1, 2)), 4, F(1, 9)),  # Peaceman–Rachford: δ²
        (fc.FedSplit(stepsize=F(1, 7)), 4, F(9, 16)),
        (fc.FedGD(stepsize=F(1, 4)), 4, F(9, 16)),
        (fc.FedGD(stepsize=F(2, 5)), 4, F(9, 25)),
    ],
)
def test_rates_of_splittings_and_gradient_steps_are_exact(method, kappa, squared):
    found = lyapunov(method, SmoothStronglyConvex(1, kappa))
    assert found.lower == squared
    assert squared <= found.upper <= squared * (1 + F(1, 10**6))
    assert found.tight


def test_one_client_and_many_have_the_same_rate_of_dane():
    answers = [lyapunov(fc.DANE(mu=50), SmoothStronglyConvex(1, 10), m).upper for m in (2, 3, "any")]
    assert len({*answers}) == 1
    assert lyapunov(fc.DANE(mu=50), SmoothStronglyConvex(1, 10), 1).upper <= answers[0]


@pytest.mark.parametrize("method", [fc.FedDyn(alpha=1), fc.FedSplit(stepsize=1), fc.Scaffold(stepsize=F(1, 4))])
def test_without_strong_convexity_there_is_no_linear_rate(method):
    found = lyapunov(method, SmoothConvex(4))
    assert found.lower == 1
    assert found.linear is False
    assert found.says.startswith("no linear rate")
    assert found.federation().mu.max() == 0


def test_the_federation_of_a_method_that_diverges():
    method = fc.Scaffold(stepsize=1, local_steps=2)
    found = lyapunov(method, SmoothStronglyConvex(1, 4))
    assert found.lower > 1
    assert found.linear is False
    assert found.says.startswith("diverges")
    play = rounds_of(method, found.federation(), "exact")
    state = play.start(play.arithmetic.array([F(1)] * found.federation().dim))
    for _ in range(12):
        state = play.advance(state)
    assert max(abs(float(x)) for x in state.flat()) > 1000


def test_bounds_apart_are_an_interval_and_inexact_answers_are_slower():
    exact, inexact = (lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), local_solver=solver)
                      for solver in (None, fc.ToInexactness(gamma=F(1, 10))))  # fmt: skip
    assert exact.upper < inexact.upper < 1
    assert exact.lower < inexact.lower <= inexact.upper
    assert repr(exact).startswith("<contraction of FedDyn(alpha=2) per round: [0.444444444444444")


def test_quadratics_are_a_class():
    found = lyapunov(fc.FedGD(stepsize=F(1, 4)), Quadratics(1, 4))
    assert found.lower == found.upper == F(9, 16)


def test_clients_of_one_curvature():
    assert lyapunov(fc.FedGD(stepsize=F(1, 4)), SmoothStronglyConvex(2, 2)).lower == F(1, 4)


CLASS = SmoothStronglyConvex(1, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((fc.FedProx(mu=1), CLASS), "has a biased fixed point"),
        ((fc.FedGD(stepsize=F(1, 8), local_steps=2), CLASS), "has a biased fixed point"),
        (("SCAFFOLD", CLASS), "is not a method"),
        ((fc.FedGD(stepsize=1), "clients"), "is not a class of functions"),
        ((fc.FedGD(stepsize=1), WeaklyConvex(1, 1)), "may have no minimiser"),
        ((fc.FedGD(stepsize=1), ClientGroups(ClientGroup(CLASS, 1))), "are not analysed here"),
        ((fc.FedGD(stepsize=1), CLASS, 0), "is no number of clients"),
        ((fc.FedGD(stepsize=1), CLASS, "any", None, Weighted(2)), "who remember"),
        ((fc.Scaffold(stepsize=1, local_steps=65), CLASS), "needs semidefinite matrices of 66 rows"),
        ((fc.FedPD(eta=1, skip=F(1, 2)), CLASS), "keep no common state"),
        ((fc.Scaffold(stepsize=1), CLASS, 2, fc.Exact()), "takes no steps of known size"),
    ],
)
def test_what_is_not_analysed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        lyapunov(*arguments)


def test_a_single_client_of_a_biased_method_is_analysed():
    found = lyapunov(fc.FedGD(stepsize=F(1, 8), local_steps=2), CLASS, 1)
    assert found.lower == found.upper == F(7, 8) ** 4


def test_a_federation_that_memory_does_not_hold_is_refused() -> None:
    found = lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4), num_clients=10**400)
    assert found.upper == F(4, 9)
    with pytest.raises(TooLarge, match="num_clients"):
        found.federation()
