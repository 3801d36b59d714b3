"""Lyapunov functions that see the points to come: known rates of momentum, and V along runs that are not quadratic."""

from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import cache
from typing import Any, final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import State
from fedconvex.proofs_checks import SmoothStronglyConvex, error_floor, lyapunov

pytestmark = pytest.mark.beyond_core  # takes seconds


@final
@dataclass(frozen=True, kw_only=True)
class Extrapolated(Averaging):
    """x⁺ = (1 + β)x − βx⁻ − s∇f(w), w⁺ = x⁺ + γ(x⁺ − x): Nesterov's method with γ = β, and triple momentum."""

    stepsize: Any
    beta: Any
    gamma: Any
    local_steps: int = 1

    @property
    def local_solver(self) -> GradientDescent:
        return GradientDescent(steps=1, stepsize=self.stepsize)

    def initial_state(self, server: Any, repeat: Any) -> State:
        return State(server, shared={"now": server, "before": server})

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        now, before = state.shared["now"], state.shared["before"]
        new = now + self.beta * (now - before) + cohort.average(answers.points) - state.server
        return State(new + self.gamma * (new - now), shared={"now": new, "before": now})


def triple(kappa: int, root: int) -> Extrapolated:
    r = 1 - F(1, root)
    return Extrapolated(stepsize=(1 + r) / kappa, beta=r * r / (2 - r), gamma=r * r / ((1 + r) * (2 - r)))


def nesterov(kappa: int, root: int) -> Extrapolated:
    beta = F(root - 1, root + 1)
    return Extrapolated(stepsize=F(1, kappa), beta=beta, gamma=beta)


@cache
def rate_of(method: Any, kappa: int) -> Any:
    return lyapunov(method, SmoothStronglyConvex(1, kappa))


@pytest.mark.parametrize(
    ("method", "kappa", "known"),
    [
        (nesterov(25, 5), 25, 0.72186), (nesterov(100, 10), 100, 0.86106), (triple(100, 10), 100, 0.81),
        (fc.FedAvgM(stepsize=F(1, 100), momentum=F(9, 11)), 100, 0.96264),
        (fc.FedAvgM(stepsize=F(4, 9), momentum=F(1, 9)), 4, 0.32833),
    ],
    ids=["Nesterov 25", "Nesterov 100", "triple momentum", "heavy ball 100", "heavy ball 4"],
)  # fmt: skip
def test_rates_are_those_of_other_tools(method, kappa, known):
    """Floats of a program of our own with the same ingredients, which agree with what others publish."""
    found = rate_of(method, kappa)
    assert known - 1e-5 < found.upper < known + 1e-4
    assert found.lower <= found.upper


def test_neither_a_smaller_rate_nor_a_v_that_is_not_positive_is_accepted():
    function = rate_of(nesterov(100, 10), 100).function
    assert min(min(row) for row in function.matrices[0]) < 0  # the form alone is not positive
    with pytest.raises(ValueError, match="no proof"):
        replace(function, rate=function.rate * F(999, 1000))
    nothing = tuple(0 * c for c in function.positive_by)
    for shown in ((), nothing, (*function.positive_by[:-1], -F(1))):
        with pytest.raises(ValueError, match="no Lyapunov function"):
            replace(function, positive_by=shown)
    negative = {pair: -c for pair, c in function.entries.items()}
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(function, entries=negative)


def energy(function: Any, method: Any, state: State, gradient: Any, value: Any) -> F:
    """V at a state of clients that are all this function of one variable, with the points that come."""
    numbers = {"server": state.server, **{f"server's {name}": x for name, x in state.shared.items()}}
    points, here = [], state
    for _ in range(8):
        points.append(here.server)
        here = after(method, here, gradient)

    def number(name: str) -> Any:
        if " at point " in name:
            what, _, place = name.partition(" at point ")
            return (gradient if what == "gradient" else value)(points[int(place) - 1])
        return numbers[name]

    total = F(0)
    for ((part, i), (_, j)), c in function.entries.items():
        names = [function.posed.names[part, k] for k in (i, j)]
        if part == "value":
            total += c * number(names[0])
        elif part == "mean":
            u, v = (combined(function, name, number) for name in names)
            total += c * u * v * (1 if i == j else 2)
    return total


def combined(function: Any, name: str, number: Any) -> Any:
    """A coordinate, which may be a combination of the state's vectors."""
    part = function.posed.coordinates.mean
    if name in part.names:
        row = part.read[part.names.index(name)]
        return sum(F(int(c.p), int(c.q)) * number(n) for c, n in zip(row, part.vectors, strict=True) if c)
    return number(name)


def after(method: Any, state: State, gradient: Any) -> State:
    """One round of one client, which takes one gradient step."""

    class Together:
        points = state.server

        @staticmethod
        def average(u: Any) -> Any:
            return u

    answers = type("Answer", (), {"points": state.server - method.local_solver.stepsize * gradient(state.server)})
    return method.update(state, Together, answers)


def bent(edge: F, inner: F, outer: F) -> tuple[Any, Any]:
    """Gradient and value of a function of one variable with one curvature inside of an interval and one outside."""

    def gradient(x):
        beyond = max(abs(x) - edge, F(0))
        return (inner * min(abs(x), edge) + outer * beyond) * (1 if x > 0 else -1)

    def value(x):
        beyond, inside = max(abs(x) - edge, F(0)), min(abs(x), edge)
        return inner * inside**2 / 2 + inner * edge * beyond + outer * beyond**2 / 2

    return gradient, value


STARTS = st.lists(st.fractions(-3, 3, max_denominator=9), min_size=3, max_size=3)
EDGES = st.fractions(0, 2, max_denominator=6)


@settings(max_examples=60, deadline=None)
@given(
    method=st.sampled_from([nesterov(25, 5), triple(25, 5), fc.FedAvgM(stepsize=F(1, 25), momentum=F(2, 3))]),
    edge=EDGES, first=st.booleans(), start=STARTS,
)  # fmt: skip
def test_v_decreases_along_runs_of_clients_that_are_not_quadratic(method, edge, first, start):
    gradient, value = bent(edge, *((F(1), F(25)) if first else (F(25), F(1))))
    found = rate_of(method, 25)
    state = method.initial_state(start[0], lambda row: row)
    state = State(start[0], dict(zip(state.shared, start[1:], strict=False)))
    if "now" in state.shared:  # the server's point is where runs have it
        now, before = state.shared["now"], state.shared["before"]
        state = State(now + method.gamma * (now - before), state.shared)
    energies = []
    for _ in range(3):
        energies.append(energy(found.function, method, state, gradient, value))
        state = after(method, state, gradient)
    assert min(energies) >= 0
    assert energies[1] <= found.upper * energies[0]
    assert energies[2] <= found.upper * energies[1]


NOISY = [fc.FedAvgM(stepsize=F(1, 8), momentum=beta) for beta in (F(1, 4), F(1, 2), F(3, 4))]


@cache
def floor_of(method: Any) -> Any:
    return error_floor(method, SmoothStronglyConvex(1, 4))


@pytest.mark.parametrize("method", NOISY)
def test_the_floor_of_noisy_momentum_is_above_that_of_quadratics(method):
    """s²(1 + β)σ²/((1 − β)sa(2(1 + β) − sa)) on curvature a: the variance to which w⁺ − w = βv − s(aw + ξ) leads."""
    s, beta = method.stepsize, method.momentum
    known = max(s**2 * (1 + beta) / ((1 - beta) * s * a * (2 * (1 + beta) - s * a)) for a in (F(1), F(2), F(4)))
    found = floor_of(method)
    assert found.lower == known <= found.upper < 4 * known
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, prices=tuple(p * F(9, 10) for p in found.function.prices))
    with pytest.raises(ValueError, match="no Lyapunov function"):  # V need not be more than the squared error
        replace(found.function, entries={pair: c / 2 for pair, c in found.function.entries.items()},
                positive_by=tuple(c / 2 for c in found.function.positive_by))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(method=st.sampled_from(NOISY), edge=EDGES, first=st.booleans(), start=STARTS)
def test_what_noise_adds_to_v_on_clients_that_are_not_quadratic(method, edge, first, start):
    """Noise 1 and −1, as likely: the expectation of V after the round, at the points that come without noise."""
    gradient, value = bent(edge, *((F(1), F(4)) if first else (F(4), F(1))))
    function = floor_of(method).function
    state = State(start[0], dict(zip(method.initial_state(start[0], lambda row: row).shared, start[1:], strict=False)))
    before = energy(function, method, state, gradient, value)
    assert before >= start[0] ** 2
    later = [after(method, state, lambda x, xi=xi: gradient(x) + xi) for xi in (-1, 1)]
    expected = sum(energy(function, method, one, gradient, value) for one in later) / 2
    assert expected <= function.rate * before + sum(function.prices)
