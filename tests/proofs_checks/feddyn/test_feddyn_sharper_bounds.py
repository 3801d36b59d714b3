"""FedDyn's sharper theorems on exact runs over all draws, and against the published ones."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.proofs_checks.feddyn.exact_runs import Federation, mean
from fedconvex.proofs_checks.feddyn.tightness import Kink
from fedconvex.theory import feddyn


def known(federation: Federation, T: int) -> dict[str, Any]:
    star = federation.minimiser
    return {
        "alpha": federation.alpha, "L": federation.smoothness, "mu": federation.convexity, "T": T,
        "num_clients": Fraction(federation.devices), "num_active": Fraction(federation.active),
        "D0": (federation.start - star) ** 2, "G": mean(g**2 for g in federation.gradients(star)),
    }  # fmt: skip


def gap_of_the_mean(federation: Federation, T: int, growth: Fraction) -> Any:
    """E ℓ of the weighted mean of γ⁰, …, γ^{T−1}, less the minimum."""
    weights = [growth**t for t in range(T)]
    played = [[federation.average(s[:t]) for t in range(T)] for s in federation.draws(T - 1)]
    points = [sum(w * x for w, x in zip(weights, row, strict=True)) / sum(weights) for row in played]
    return mean(map(federation.gap, points))


def evaluated(statement: Any, values: dict[str, Any]) -> Any:
    return statement(**{name: values[name] for name in statement.calculator.names})


@pytest.mark.parametrize("number", range(25))
@pytest.mark.parametrize("T", [1, 2, 3])
def test_theorem_2(number: int, T: int) -> None:
    federation = Federation.random(number, loosest=5)
    values = known(federation, T)
    assert gap_of_the_mean(federation, T, Fraction(1)) <= evaluated(feddyn.theorem2sharper, values)


@pytest.mark.parametrize("number", range(25))
@pytest.mark.parametrize("T", [1, 3])
def test_theorem_3(number: int, T: int) -> None:
    federation = Federation.random(number, loosest=30)
    values = known(federation, T)
    r = 1 + values["mu"] / values["alpha"]
    sharper = evaluated(feddyn.theorem3sharper, values)
    assert gap_of_the_mean(federation, T, r) <= sharper < evaluated(feddyn.theorem3, values) / 30


@pytest.mark.parametrize("m", [1, 2, 10, 1000])
@pytest.mark.parametrize("alpha", [25, 26, 100, 10**6])
def test_theorem_2_is_beaten_by_a_factor_of_twenty(alpha: int, m: int) -> None:
    for P in {1, (m + 1) // 2, m}:
        values = {"alpha": Fraction(alpha), "L": 1, "num_clients": m, "num_active": P, "T": 7}
        for given, factor in (({"D0": 2, "G": 0}, 20), ({"D0": 0, "G": 3}, 176)):
            sharper = evaluated(feddyn.theorem2sharper, values | given)
            assert sharper * factor <= evaluated(feddyn.theorem2, values | given)


def test_nothing_below_a_half_would_do() -> None:
    """From ever further away from a rounded kink, with α = 5L: T times the gap comes near (α/2)‖θ⁰ − θ_*‖²."""
    shares = []
    for start in (10, 100, 1000):
        device, T = Kink(1, 0, 5, start), 5 * start
        gap = device.gap(mean(device.averages(T - 1)))
        shares.append(T * gap / (Fraction(5, 2) * start**2))
    assert shares == sorted(shares)
    assert Fraction(99, 100) < shares[-1] < 1
