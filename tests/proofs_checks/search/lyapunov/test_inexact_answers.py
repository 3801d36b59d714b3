"""Inexact answers: V measures the gradients at a round's points, also where the next round begins at an earlier one."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov

pytestmark = pytest.mark.beyond_core  # takes seconds


def rate(method, kappa, gamma):
    return lyapunov(method, SmoothStronglyConvex(1, kappa), local_solver=fc.ToInexactness(gamma=gamma))


@pytest.mark.parametrize("kappa", [3, 100])
@pytest.mark.parametrize("gamma", [F(1, 20), F(1, 5)])
def test_what_is_proved_is_attained(kappa, gamma):
    """FedPD's subproblems begin at the last answers, where the round before has been."""
    for method in (fc.FedPD(eta=F(1, kappa)), fc.FedPD(eta=F(3, 4 * kappa)), fc.FedDyn(alpha=2 * kappa),
                   fc.DANE(mu=2 * kappa)):  # fmt: skip
        found = rate(method, kappa, gamma)
        assert found.lower <= found.upper <= found.lower * (1 + F(1, 10**5)), method


def lengths(found, hessians, eta, gamma, rounds, rng):
    """V in the rounds of FedPD by NumPy alone, with residuals of any directions, as long as they may be or shorter."""
    m, d = len(hessians), len(hessians[0])
    pulls = rng.normal(size=(m, d))
    pulls -= pulls.mean(0)
    w = rng.normal(size=d)
    dual, answer = np.zeros((m, d)), np.repeat(w[None], m, 0)
    posed = found.function.posed

    def V(vectors, points):
        gradients = [np.array([H @ x for H, x in zip(hessians, p, strict=True)]) for p in points]
        total = sum(
            float(weight) * np.mean([x @ g for x, g in zip(p, gs, strict=True)]) / 2
            for weight, p, gs in zip(found.function.weights[1:], points, gradients, strict=True)
        )
        for part, matrix in zip(posed.coordinates.parts, found.function.matrices, strict=True):
            read = [sum(float(c) * vectors[a] for a, c in zip(part.vectors, row, strict=True)) for row in part.read]
            u = [*read, *gradients][: len(matrix)]
            u = [x.mean(0, keepdims=True) if part.part == "mean" else x - x.mean(0) for x in u]
            total += sum(
                float(entry) * (u[i] * u[j]).sum() / len(u[i])
                for i, row in enumerate(matrix) for j, entry in enumerate(row)
            )  # fmt: skip
        return total

    found_values = []
    for _ in range(rounds):
        new = []
        for H, p, a, multiplier in zip(hessians, pulls, answer, dual, strict=True):
            first = H @ a + p + multiplier + (a - w) / eta
            left = rng.normal(size=d)
            left *= gamma * np.linalg.norm(first) / np.linalg.norm(left) * rng.choice([1, 1, 0.5])
            new.append(np.linalg.solve(H + np.eye(d) / eta, w / eta - multiplier - p + left))
        server = np.repeat(w[None], m, 0)
        vectors = {"server": server, "dual_k": dual + pulls, "answer_k": answer, "anchor_k": server}
        found_values.append(V(vectors, (answer, np.array(new))))
        answer = np.array(new)
        dual = dual + (answer - w) / eta
        w = (answer + eta * dual).mean(0)
    return np.array(found_values)


def test_no_run_of_fedpd_contracts_less_than_what_is_proved():
    rng, kappa, gamma = np.random.default_rng(0), 4, F(1, 4)
    eta = F(1, kappa)
    found = rate(fc.FedPD(eta=eta), kappa, gamma)
    assert len(found.function.weights) == 1 + 2  # two points, also of the second round
    ratios = []
    for _ in range(60):
        hessians = []
        for _ in range(int(rng.integers(1, 4))):
            Q, _ = np.linalg.qr(rng.normal(size=(2, 2)))
            hessians.append(Q @ np.diag(rng.choice([1, kappa, rng.uniform(1, kappa)], 2)) @ Q.T)
        V = lengths(found, hessians, float(eta), float(gamma), 12, rng)
        assert V.min() >= 0
        ratios.append((V[1:] / V[:-1]).max())
    assert 0.8 * float(found.upper) < max(ratios) <= float(found.upper) * (1 + 1e-9)
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, rate=found.lower * F(99, 100))
