"""Local Adam on the core's problems, against the formulas entry by entry; stepsizes within a round, exactly."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from sgd_loops import PROBLEMS, WEIGHTS, S, Task, batch_gradient, dealt

import fedconvex as fc
from fedconvex.conformance import check
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw, Stragglers

PROBLEM: Any = PROBLEMS["squares"]


def gradient(k: int, rows: list[int], theta: list[Any]) -> list[Any]:
    """Of n_k/|B| times the sum over the batch of ½(aᵀθ − b)²."""
    return batch_gradient(Task("squares", k, 1, [], [], 0, []), theta, rows)


def batches(k: int) -> list[list[int]]:
    return dealt(fc.SGD(epochs=3, batch_size=2, stepsize=S), range(4), Draw(seed=0, round=0))[k]


def adam(k: int, theta: list[float], decay: float, decoupled: bool) -> list[float]:
    p, q = [0.0] * len(theta), [0.0] * len(theta)
    for i, rows in enumerate(batches(k), 1):
        a = gradient(k, rows, theta)
        rate = 0.05 * 0.5 ** (i - 1)
        if decoupled:
            theta = [x - rate * decay * x for x in theta]
        else:
            a = [g + decay * x for g, x in zip(a, theta, strict=True)]
        for j, g in enumerate(a):
            p[j], q[j] = 0.9 * p[j] + 0.1 * g, 0.99 * q[j] + 0.01 * g * g
            theta[j] -= rate * (p[j] / (1 - 0.9**i)) / (sqrt(q[j] / (1 - 0.99**i)) + 1e-8)
    return theta


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("arithmetic", ["float", "torch"])
def test_adam_entry_by_entry(arithmetic: str, decoupled: bool) -> None:
    solver = fc.Adam(
        epochs=3, batch_size=2, stepsize=0.05, betas=(0.9, 0.99), weight_decay=0.3, decoupled=decoupled,
        within_round="0.5**t",
    )  # fmt: skip
    x0 = np.array([1.0, -2.0])
    found = fc.simulate(fc.FedProx(mu=0), PROBLEM, 1, local_solver=solver, x0=x0, arithmetic=arithmetic).points[-1]
    answers = [adam(k, [1.0, -2.0], 0.3, decoupled) for k in range(4)]
    expected = np.average(answers, axis=0, weights=WEIGHTS)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-13)


def sgd(k: int, theta: list[Fraction], momentum: Fraction) -> list[Fraction]:
    velocity = [Fraction(0)] * len(theta)
    for i, rows in enumerate(batches(k)):
        g = gradient(k, rows, theta)
        velocity = [momentum * v + x for v, x in zip(velocity, g, strict=True)]
        theta = [x - S / (1 + i) * v for x, v in zip(theta, velocity, strict=True)]
    return theta


@pytest.mark.parametrize("momentum", [Fraction(0), Fraction(1, 2)])
@pytest.mark.parametrize("rule", ["1/(1 + t)", [Fraction(1, 1 + t) for t in range(9)], lambda t: Fraction(1, 1 + t)])
def test_stepsizes_within_a_round_are_exact(rule: Any, momentum: Fraction) -> None:
    solver = fc.SGD(epochs=3, batch_size=2, stepsize=S, momentum=momentum, within_round=rule)
    run = fc.simulate(fc.FedProx(mu=0), PROBLEM, 1, local_solver=solver, x0=[1, -2], arithmetic="exact")
    answers = [sgd(k, [Fraction(1), Fraction(-2)], momentum) for k in range(4)]
    total = sum(WEIGHTS)
    for j, x in enumerate(run.points[-1]):
        assert Fraction(str(x)) == sum(w * a[j] for w, a in zip(WEIGHTS, answers, strict=True)) / total
    floats = fc.simulate(fc.FedProx(mu=0), PROBLEM, 1, local_solver=solver, x0=[1.0, -2.0]).points[-1]
    np.testing.assert_allclose(floats, [float(Fraction(str(x))) for x in run.points[-1]], rtol=1e-13)


def test_path_lengths_count_the_factors() -> None:
    """FedNova divides by them and multiplies again: for equal clients it is the plain average."""
    problem = fc.LeastSquares([np.ones((2, 1))] * 2, [np.array([1.0, 1.0])] * 2)
    solver = fc.SGD(steps=2, batch_size=None, stepsize=Fraction(1, 8), momentum=Fraction(1, 2), within_round=[1, 3])
    exact = fc.arithmetic.get("exact")
    found = in_arithmetic(solver, exact).path_units(exact, np.array([2, 1]))
    # v₁ = g, v₂ = g/2 + g: the steps are 1·1 + 3·(3/2)
    assert [Fraction(str(x)) for x in found] == [Fraction(11, 2), 1]
    moved = fc.simulate(
        fc.FedNova(stepsize=Fraction(1, 8)), problem, 1, local_solver=solver, x0=[0], arithmetic="exact"
    )
    plain = fc.simulate(fc.FedProx(mu=0), problem, 1, local_solver=solver, x0=[0], arithmetic="exact")
    assert moved.points[-1] == plain.points[-1]  # equal clients: FedNova is the plain average


@pytest.mark.parametrize(
    ("given", "argument", "told"),
    [
        ({}, "epochs", "one is needed"),
        ({"epochs": 1, "steps": 2}, "epochs", "one is needed"),
        ({"epochs": 0}, "epochs", "1"),
        ({"epochs": 1, "stepsize": -1}, "stepsize", "positive"),
        ({"epochs": 1, "betas": 0.9}, "betas", "pair of numbers"),
        ({"epochs": 1, "betas": (0.9, 1)}, r"betas[1]", "1"),
        ({"epochs": 1, "epsilon": 0}, "epsilon", "positive"),
        ({"epochs": 1, "weight_decay": -1}, "weight_decay", "negative"),
        ({"epochs": 1, "decoupled": "yes"}, "decoupled", "True"),
        ({"epochs": 1, "clip": 0}, "clip", "positive"),
        ({"epochs": 1, "within_round": "0.9"}, "within_round", "local steps t = 0, 1"),
        ({"epochs": 1, "within_round": "x"}, "within_round", "local steps"),
        ({"epochs": 1, "within_round": []}, "within_round", "is empty"),
        ({"epochs": 1, "within_round": [1, 0]}, "within_round", "positive"),
    ],
)
def test_bad_parameters(given: dict[str, Any], argument: str, told: str) -> None:
    given = {"stepsize": 0.1} | given
    of_adam = bool({"betas", "epsilon", "decoupled"} & given.keys())
    for kind in (fc.Adam,) if of_adam else (fc.Adam, fc.SGD):
        with pytest.raises(InvalidInput, match=told) as caught:
            kind(**given)
        if caught.value.argument not in ("stepsize[1]", "stepsize"):
            assert caught.value.argument == argument


def test_what_does_not_fit_is_refused_before_the_run() -> None:
    short = fc.SGD(epochs=3, batch_size=2, stepsize=S, within_round=[1, Fraction(1, 2)])
    runs: list[tuple[Any, dict[str, Any], str]] = [
        (fc.Adam(epochs=1), {"arithmetic": "exact"}, "needs square roots"),
        (short, {}, "has 2 numbers, and a client takes 9 steps"),
        (fc.SGD(epochs=1, batch_size=2, stepsize=S, within_round="1 - t"), {}, "is 0 at step 1"),
    ]
    for solver, options, told in runs:
        with pytest.raises(InvalidInput, match=told):
            fc.simulate(fc.FedProx(mu=1), PROBLEM, 1, local_solver=solver, **options)
    quadratic = fc.Quadratic([np.eye(2)] * 2, [np.ones(2)] * 2)
    with pytest.raises(InvalidInput, match="has no samples"):
        fc.simulate(fc.FedProx(mu=1), quadratic, 1, local_solver=fc.Adam(epochs=1))
    with pytest.raises(InvalidInput, match="within a round, which is not checked"):
        check(
            fc.FedProx(mu=1), local_solver=short, init=lambda *a: None, round=lambda *a: None, server_model=lambda s: s
        )
    run = fc.simulate(fc.FedProx(mu=1), fc.data.load("diabetes", clients=4).problem(), 40,
                      local_solver=fc.SGD(epochs=1, stepsize=1e-3, within_round="0.9**t"))  # fmt: skip
    with pytest.raises(InvalidInput, match="within a round, which is not analysed"):
        fc.diagnose(run)


def test_stragglers_take_the_first_steps() -> None:
    """A client that stops early has taken the steps of the others' beginning."""
    solver = fc.Adam(epochs=4, batch_size=2, stepsize=0.05, within_round="0.9**t")
    late = fc.simulate(fc.FedProx(mu=1), PROBLEM, 2, local_solver=solver, stragglers=Stragglers(1.0), seed=3)
    whole = fc.simulate(fc.FedProx(mu=1), PROBLEM, 2, local_solver=solver, seed=3)
    assert abs(late.points[-1] - whole.points[-1]).max() > 1e-3
    assert np.isfinite(late.points).all()
