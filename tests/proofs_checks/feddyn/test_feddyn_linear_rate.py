"""FedDyn with everyone: its linear rate is proved for any α, attained at both ends, and true of random devices."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rational_draws import rationals

from fedconvex.theory import feddyn

F = Fraction
OF = feddyn.linear_rate


def by_hand(w: F, g: list[F], a: list[F], b: list[F], alpha: F) -> tuple[F, list[F]]:
    """A round on L_k = ½a_k θ² − b_k θ with stored gradients g_k and h = mean g_k, as in the paper's Algorithm 1."""
    m = len(a)
    models = [(b_k + g_k + alpha * w) / (a_k + alpha) for a_k, b_k, g_k in zip(a, b, g, strict=True)]
    stored = [g_k - alpha * (x - w) for g_k, x in zip(g, models, strict=True)]
    return sum(models) / m - sum(stored) / m / alpha, stored


def energy(w: F, g: list[F], a: list[F], b: list[F], alpha: F) -> F:
    best = sum(b) / sum(a)
    away = [w - best + (g_k - (a_k * best - b_k)) / alpha for a_k, b_k, g_k in zip(a, b, g, strict=True)]
    return sum(x * x for x in away) / len(a)


numbers = rationals(-3, 3, 5)
devices = st.lists(st.tuples(rationals(1, 9, 6), numbers, numbers), min_size=1, max_size=4)


@given(devices, numbers, rationals(F(1, 4), 40, 4))
def test_a_round_contracts_as_promised(of: list[tuple[F, F, F]], w: F, alpha: F) -> None:
    a, b, g = (list(part) for part in zip(*of, strict=True))
    rate = OF(alpha=alpha, mu=1, L=9)
    assert energy(*by_hand(w, g, a, b, alpha), a, b, alpha) <= rate * energy(w, g, a, b, alpha)


@pytest.mark.parametrize("alpha", [F(1, 3), F(1), F(3), F(5), F(40)])
def test_it_is_attained(alpha: F) -> None:
    """Below √(μL) by opposite memories on curvature L, above by equal ones on curvature μ."""
    a, g = ([F(9)] * 2, [F(1), F(-1)]) if alpha < 3 else ([F(1)] * 2, [F(1), F(1)])
    b = [F(0)] * 2
    w = F(1) if alpha >= 3 else F(0)
    g = [alpha * x for x in g] if alpha < 3 else [F(0)] * 2
    assert energy(*by_hand(w, g, a, b, alpha), a, b, alpha) == OF(alpha=alpha, mu=1, L=9) * energy(w, g, a, b, alpha)


def test_the_best_alpha_is_the_root() -> None:
    rates = {alpha: OF(alpha=alpha, mu=1, L=9) for alpha in (1, 2, 3, 4, 9, 30)}
    assert min(rates, key=rates.__getitem__) == 3
    assert rates[3] == F(9, 16)
