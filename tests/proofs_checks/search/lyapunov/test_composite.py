"""Rates where the server takes proximal steps of any convex ψ: known ones, and runs by hand with ψ = t|x|."""

from fractions import Fraction as F
from itertools import pairwise
from random import Random

import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import SimilarClients, SmoothConvex, SmoothStronglyConvex, lyapunov

pytestmark = pytest.mark.beyond_core  # takes seconds
CLIENTS = SmoothStronglyConvex(1, 4)


@pytest.mark.parametrize(
    ("method", "squared"),
    [
        (fc.FedGD(stepsize=F(1, 4)), F(9, 16)),  # the proximal gradient method: max(1 − sμ, sL − 1)²
        (fc.FedGD(stepsize=F(2, 5)), F(9, 25)),
        (fc.FedDyn(alpha=2), F(4, 9)),  # Douglas–Rachford splitting, whose other operator may be any
        (fc.FedDyn(alpha=8), F(64, 81)),
        (fc.FedPD(eta=F(1, 2)), F(4, 9)),
        (fc.FedSplit(stepsize=F(1, 2)), F(1, 9)),  # Peaceman–Rachford splitting
    ],
)
def test_a_convex_term_costs_nothing(method, squared):
    found = lyapunov(method, CLIENTS, composite=True)
    assert found.upper == found.lower == squared
    assert any("subgradients" in name for name in found.certificate.used)


def test_without_the_terms_inequality_nothing_is_proved():
    found = lyapunov(fc.FedGD(stepsize=F(1, 4)), CLIENTS, composite=True).certificate
    place = next(i for i, (name, _) in enumerate(found.program.inequalities) if "subgradients" in name)
    without = tuple(F(0) if i == place else c for i, c in enumerate(found.multipliers))
    with pytest.raises(ValueError, match="no proof"):
        type(found)(found.program, found.t, without)


def soft(x, t):
    """argmin ½(y − x)² + t|y|."""
    return max(x - t, F(0)) + min(x + t, F(0))


def federation(rng):
    """Curvatures and slopes of a_k x²/2 − b_k x, the weight t of |x|, and the minimiser."""
    m = rng.choice([2, 3, 4])
    a, b = [F(rng.randint(4, 16), 4) for _ in range(m)], [F(rng.randint(-20, 20), 3) for _ in range(m)]
    t = F(rng.randint(0, 12), 4)
    return a, b, t, soft(sum(b) / m, t) / (sum(a) / m)


def run_of_feddyn(a, b, t, x, alpha, w):
    """The errors (mean coordinate, deviations) of FedDyn, from duals 0."""
    m, duals = len(a), [F(0)] * len(a)
    rest = [c * x - d for c, d in zip(a, b, strict=True)]
    for _ in range(6):
        h, off = sum(duals) / m, [g - r for g, r in zip(duals, rest, strict=True)]
        middle = sum(off) / m
        yield w + h / alpha - x - sum(rest) / m / alpha, [u - middle for u in off]
        theta = [(d + g + alpha * w) / (c + alpha) for c, d, g in zip(a, b, duals, strict=True)]
        duals = [g - alpha * (y - w) for g, y in zip(duals, theta, strict=True)]
        w = soft(sum(theta) / m - sum(duals) / m / alpha, t / alpha)


@pytest.mark.parametrize("alpha", [1, 2, 6])
def test_feddyn_by_hand(alpha):
    found, rng, worst = lyapunov(fc.FedDyn(alpha=alpha), CLIENTS, composite=True), Random(alpha), F(0)
    (size,), (spread,) = (matrix[0] for matrix in found.function.matrices)
    for _ in range(60):
        a, b, t, x = federation(rng)
        run = list(run_of_feddyn(a, b, t, x, F(alpha), F(rng.randint(-20, 20))))
        V = [size * u**2 + spread * sum(d**2 for d in v) / len(v) for u, v in run]
        for before, after in pairwise(V):
            assert after <= found.upper * before
            worst = max(worst, after / before if before else F(0))
    assert worst > found.upper * F(3, 4)  # the comparison could have failed


def test_the_proximal_gradient_method_by_hand():
    s, rng = F(2, 5), Random(5)
    upper = lyapunov(fc.FedGD(stepsize=s), CLIENTS, composite=True).upper
    for _ in range(60):
        a, b, t, x = federation(rng)
        w = F(rng.randint(-20, 20))
        for _ in range(4):
            after = soft(w - s * (sum(a) * w - sum(b)) / len(a), t * s)
            assert (after - x) ** 2 <= upper * (w - x) ** 2
            w = after


def test_convex_clients_have_no_linear_rate():
    assert lyapunov(fc.FedDyn(alpha=2), SmoothConvex(1), composite=True).linear is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((fc.Scaffold(stepsize=F(1, 4)), CLIENTS), "takes no composite objective"),
        ((fc.FedProx(mu=1), CLIENTS), "biased fixed point"),
        ((fc.FedGD(stepsize=F(1, 4), local_steps=2), CLIENTS), "biased fixed point"),
        ((fc.FedDyn(alpha=2), CLIENTS, 4, None, Uniform(2)), "where clients are drawn"),
        ((fc.FedDyn(alpha=2), SimilarClients(1, 4, F(1, 2))), "similar clients"),
    ],
)
def test_what_is_not_analysed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        lyapunov(*arguments, composite=True)
    with pytest.raises(InvalidInput, match="truth value"):
        lyapunov(fc.FedDyn(alpha=2), CLIENTS, composite="yes")
