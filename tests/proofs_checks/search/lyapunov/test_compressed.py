"""Clients that compress what they send: expectations over every outcome, by formulas of the methods written here."""

from fractions import Fraction as F
from functools import cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import parts_of
from rational_draws import rationals

import fedconvex as fc
from fedconvex.compressors import Contractive, RandK, Unbiased
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import (
    SmoothConvex,
    SmoothStronglyConvex,
    design,
    error_floor,
    lyapunov,
    sublinear_rate,
    worst_case,
)

pytestmark = pytest.mark.beyond_core  # takes seconds

FEW = settings(max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip
CLIENTS = SmoothStronglyConvex(1, 10)
SHORT = F(7, 10)  # errors of contractive compressors, below √(1 − δ) for δ = 1/2


def diana(stepsize: Any = F(1, 22), omega: Any = 1) -> Any:
    return fc.DIANA(stepsize=stepsize, memory_stepsize=F(1, 2), compressor=Unbiased(omega))


EF21 = fc.EF21(stepsize=F(1, 40), compressor=Contractive(F(1, 2)))


@cache
def rate(method: Any, m: Any, scheme: Any = None) -> Any:
    return lyapunov(method, CLIENTS, m, participation=scheme)


def value(function: Any, w: F, h: Any, a: Any) -> Any:
    """V on clients a_k x²/2, whose minimiser is 0 and whose memories should be 0."""
    state = State(np.array([w]), {"h": np.array([sum(h) / len(h)])}, {"h": np.array(h)[:, None]})
    total = 0
    for part, matrix in zip(function.posed.coordinates.parts, function.matrices, strict=True):
        u = parts_of(function, part, state, [np.array([x * w for x in a])[:, None]])
        pairs = product(range(len(u)), repeat=2)
        total += sum(matrix[i][j] * (u[i] * u[j]).sum() / (1 if u[i].ndim == 1 else len(u[i])) for i, j in pairs)
    weights = [c for (place, _), c in function.entries.items() if place[0] == "value"]
    assert len(weights) <= 1
    return total + sum(c * sum(x * w * w / 2 for x in a) / len(a) for c in weights)


def after(method: Any, w: F, h: Any, a: Any, sends: Any, members: Any) -> tuple[F, list[F]]:
    """One round where client k sends sends[k] times its difference."""
    m = [factor * (a[k] * w - h[k]) for k, factor in zip(members, sends, strict=True)]
    known, learned = sum(h) / len(h), [*h]
    for k, sent in zip(members, m, strict=True):
        learned[k] += sent * getattr(method, "memory_stepsize", 1)
    step = known + sum(m) / len(m) if isinstance(method, fc.DIANA) else sum(learned) / len(learned)
    return w - method.stepsize * step, learned


class Corrected(fc.Scaffold):
    """SCAFFOLD whose clients send by how much their control variates change, compressed: a method of a user."""

    compresses: ClassVar[bool] = True
    compressor: ClassVar[Any] = Unbiased(1)

    def update(self, state: Any, cohort: Any, answers: Any) -> Any:
        moved, known = answers.points - cohort.points, state.memory["c"]
        change = cohort.compress(self.compressor, -state.shared["c"] - moved / answers.path_lengths)
        c = cohort.updated_mean(state.shared["c"], known, known + change / 2)
        return State(state.server + cohort.average(moved), shared={"c": c}, memory={"c": known + change / 2})


@pytest.mark.parametrize("scheme", [None, Uniform(2)])
def test_a_users_method_with_several_local_steps(scheme: Any) -> None:
    found = lyapunov(Corrected(stepsize=F(1, 40), local_steps=2), CLIENTS, 4, participation=scheme)
    whole = lyapunov(fc.Scaffold(stepsize=F(1, 40), local_steps=2), CLIENTS, 4, participation=scheme)
    assert whole.lower <= found.lower <= found.upper < 1
    with pytest.raises(InvalidInput, match="differ between clients"):
        lyapunov(Corrected(stepsize=F(1, 40), local_steps=(1, 2, 1, 2)), CLIENTS, 4)


@FEW
@given(st.data(), st.sampled_from([(diana(), 2, 2), (diana(), 3, 3), (diana(), 3, 1), (EF21, 2, 2), (EF21, 3, 3)]))
def test_no_expectation_is_above_what_is_proved(data: Any, case: Any) -> None:
    method, m, K = case
    found = rate(method, m, Uniform(K))
    a = [data.draw(st.sampled_from([F(1), F(10), data.draw(rationals(1, 10))])) for _ in range(m)]
    w, *h = (data.draw(rationals(-3, 3)) for _ in range(m + 1))
    draws = [[k] for k in range(m)] if K == 1 else [[*range(m)]]
    if method is EF21:
        factors = [tuple(1 + SHORT * data.draw(rationals(-1, 1)) for _ in range(K))]
    else:  # ω = 1: all, twice as long, or nothing
        factors = list(product([F(0), F(2)], repeat=K))
    ways = list(product(draws, factors))
    mean = sum(value(found.function, *after(method, w, h, a, sends, members), a) for members, sends in ways) / len(ways)
    assert mean <= found.upper * value(found.function, w, h, a)


@pytest.mark.parametrize(("m", "K"), [(2, 2), (3, 1), (4, 4)])
def test_squares_decrease_as_the_lower_bound_says(m: int, K: int) -> None:
    """The spectral radius of second moments over every draw and every outcome, on the slowest federation."""
    found = rate(diana(), m, Uniform(K))
    a = [float(x) for x in found.federation().L]
    draws = [[k] for k in range(m)] if K == 1 else [[*range(m)]]
    ways, total = list(product(draws, product([0.0, 2.0], repeat=K))), 0
    for members, sends in ways:
        columns = [after(diana(), u[0], list(u[1:]), a, sends, members) for u in np.eye(m + 1)]
        M = np.array([[float(w), *map(float, h)] for w, h in columns]).T
        total = total + np.kron(M, M) / len(ways)
    assert np.abs(np.linalg.eigvals(total)).max() == pytest.approx(float(found.lower), rel=1e-7)


def test_error_feedback_is_tight_for_any_number_of_clients() -> None:
    """One client that sends (1 + √½) or (1 − √½) times its difference: the map of (w, h) attains what is proved."""
    found, sizes = rate(EF21, "any"), []
    for a, factor in product((1, 10), (1 + 0.5**0.5, 1 - 0.5**0.5)):
        M = np.array([[float(x) for x in (w, *h)] for w, h in (after(EF21, u[0], [u[1]], [a], [factor], [0])
                                                              for u in np.eye(2))]).T  # fmt: skip
        sizes.append(np.abs(np.linalg.eigvals(M)).max() ** 2)
    assert found.tight
    assert float(found.lower) == pytest.approx(max(sizes), rel=1e-9)
    assert found.upper < 1 - F(1, 40)  # Richtárik et al. (2021), Theorem 2, where s <= 1/(L(1 + √(β/θ)))
    assert "(1 + √(1 − δ))·v" in found.says


def test_below_the_published_rate_of_diana() -> None:
    """γ = 1/(L(1 + 6ω/m)): the paper's Theorem 1 has the larger of 1 − γμ and 1 − α/2, here 21/22."""
    found = rate(diana(), 5)
    assert found.tight
    assert F(21, 22) ** 2 <= found.lower <= found.upper < F(91118, 100000) < F(21, 22)
    assert rate(diana(omega=0), 5).lower == F(21, 22) ** 2  # gradient descent
    assert rate(diana(F(1, 70)), "any").tight


@pytest.mark.slow
def test_a_designed_stepsize_is_better() -> None:
    found = design(EF21, CLIENTS, over="stepsize")
    assert found.rate.upper < rate(EF21, "any").upper


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lyapunov(fc.DIANA(stepsize=1, memory_stepsize=1, compressor=RandK(1)), CLIENTS), "promise"),
        (lambda: lyapunov(EF21, CLIENTS, period=2), "period"),
        (lambda: worst_case(EF21, CLIENTS), "lyapunov"),
        (lambda: worst_case(diana(), CLIENTS, 2, participation=Uniform(1)), "lyapunov"),
        (lambda: error_floor(diana(), CLIENTS, 2), "lyapunov"),
        (lambda: sublinear_rate(diana(), SmoothConvex(1)), "lyapunov"),
    ],
)
def test_what_is_not_analysed_is_refused(call: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()
