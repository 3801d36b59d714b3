"""Any method, with any randomness, asked anything: what is attained is never above what is proved."""

from fractions import Fraction as F
from random import Random
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.compressors import Contractive, Unbiased
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import (
    QuadraticGrowth,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    error_floor,
    lyapunov,
    sublinear_rate,
    worst_case,
)

pytestmark = pytest.mark.beyond_core  # takes seconds


def drawn_method(rng: Random) -> Any:
    s, e, number = F(1, rng.choice([4, 8, 13, 40])), rng.choice([1, 1, 2, 3]), F(rng.randint(8, 200), 8)
    return rng.choice([
        fc.FedGD(stepsize=s, local_steps=e), fc.Scaffold(stepsize=s, local_steps=e, option=rng.choice([1, 2])),
        fc.Scaffnew(stepsize=s, probability=F(rng.randint(1, 6), 6)), fc.FedDyn(alpha=number), fc.FedPD(eta=s),
        fc.FedDynOneGD(alpha=number), fc.FedAvgM(stepsize=s, momentum=s, nesterov=rng.random() < 0.5),
        fc.FedSplit(stepsize=s), fc.DANE(mu=number), fc.FedProx(mu=number), fc.FedLin(stepsize=s, local_steps=e),
        fc.DIANA(stepsize=s, compressor=Unbiased(F(rng.randint(0, 8), 2)), memory_stepsize=F(1, rng.randint(1, 5))),
        fc.EF21(stepsize=s, compressor=Contractive(F(rng.randint(1, 8), 8))),
    ])  # fmt: skip


def ends(rng: Random) -> tuple[Any, Any] | None:
    """What is attained and what is proved, for a question; None where it is refused."""
    method, m, (mu, L) = drawn_method(rng), rng.choice(["any", 1, 2, 3, 5]), rng.choice([(1, 4), (F(1, 2), 3), (1, 10)])
    K, few = rng.randint(1, m if isinstance(m, int) else 1), rng.choice([2, 3, 5])
    scheme = rng.choice([None, Uniform(K), Weighted(rng.randint(1, 3)), Bernoulli(F(rng.randint(1, 6), 7))])
    given: dict[str, Any] = {} if scheme is None or m == "any" else {"participation": scheme}
    clients = QuadraticGrowth(mu, L) if m == 1 and rng.random() < 0.5 else SmoothStronglyConvex(mu, L)
    asked = rng.choice(["rate", "noise", "heterogeneity", "convex", "nonconvex", "worst case"])
    try:
        if asked == "rate":
            rate = lyapunov(method, clients, m, **given)
            assert clients.contains(rate.federation())
            return rate.lower, rate.upper
        if asked in ("noise", "heterogeneity"):
            floor = error_floor(method, clients, m, cause=asked, **given)
            return floor.lower, floor.upper
        if asked == "convex":
            convex: Any = sublinear_rate(method, SmoothConvex(L), m, points=rng.choice(["before", "after"]), **given)
            return convex.lower, convex.distance
        if asked == "nonconvex":
            smooth: Any = sublinear_rate(method, WeaklyConvex(L, L), m, **given)
            return smooth.lower, smooth.gap
        rounds, scheme = rng.choice([1, 1, 2]), None if isinstance(scheme, Uniform) and few < scheme.K else scheme
        bound = worst_case(method, SmoothStronglyConvex(mu, L), few, rounds, heterogeneity=1, participation=scheme)
    except InvalidInput:
        return None
    return bound.lower, bound.upper


@pytest.mark.sample(12)
@pytest.mark.parametrize("seed", range(100))
def test_no_attained_value_is_above_a_proved_bound(seed: int) -> None:
    rng = Random(seed)
    for found in (ends(rng) for _ in range(3)):
        if found is not None:
            assert float(found[0]) <= float(found[1]) * (1 + 1e-9) + 1e-12


def test_most_questions_are_answered() -> None:
    assert sum(ends(Random(seed)) is not None for seed in range(200, 224)) >= 10
