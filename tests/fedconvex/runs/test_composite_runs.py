"""Runs on composite objectives against loops written out here; what does not know of the term refuses it."""

from fractions import Fraction as F
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.audit import audit
from fedconvex.methods import METHODS
from fedconvex.regularizers import L1, Box, GroupLasso

A = [[[2, 1], [0, 1], [1, -1]], [[1, 0], [1, 3], [2, 2]]]
B = [[1, 2, 0], [4, -1, 3]]
PLAIN = fc.LeastSquares(A=A, b=B, weights=[1, 3])
LASSO = fc.CompositeProblem(PLAIN, L1(F(1, 2)))


def gradient(k: int, x: list[F]) -> list[F]:
    residuals = [sum(a * v for a, v in zip(row, x, strict=True)) - t for row, t in zip(A[k], B[k], strict=True)]
    return [sum((row[i] * r for row, r in zip(A[k], residuals, strict=True)), F(0)) for i in range(2)]


def soft(x: list[F], threshold: F) -> list[F]:
    return [max(v - threshold, F(0)) - max(-v - threshold, F(0)) for v in x]


def test_fedgd_with_unequal_steps_and_a_schedule_is_the_loop() -> None:
    """τ of round t is the mean sum of local stepsizes, 1/4·3·s_t + 3/4·1·s_t."""
    x = [F(0), F(0)]
    for t in range(3):
        s = F(1, 20 + t)
        answers = []
        for k, steps in enumerate((3, 1)):
            theta = x
            for _ in range(steps):
                theta = [v - s * g for v, g in zip(theta, gradient(k, theta), strict=True)]
            answers.append(theta)
        x = soft([(a + 3 * b) / 4 for a, b in zip(*answers, strict=True)], F(1, 2) * s * F(6, 4))
    method = fc.FedGD(stepsize="1/(20 + t)", local_steps=(3, 1))
    assert list(fc.simulate(method, LASSO, 3, arithmetic="exact", progress=False).points[-1]) == x


def test_fedsplit_is_the_loop() -> None:
    """Written with the sums of Pathak and Wainwright: F_k = 2·weight_k·f_k."""
    s, scale = F(1, 10), (F(1, 2), F(3, 2))
    z, x = [[F(0), F(0)], [F(0), F(0)]], [F(0), F(0)]
    for _ in range(3):
        for k in range(2):
            center = [2 * a - b for a, b in zip(x, z[k], strict=True)]
            H = [
                [sum(F(row[i] * row[j]) for row in A[k]) * scale[k] + (i == j) / s for j in range(2)] for i in range(2)
            ]
            right = [
                scale[k] * sum(F(row[i] * t) for row, t in zip(A[k], B[k], strict=True)) + center[i] / s
                for i in range(2)
            ]
            determinant = H[0][0] * H[1][1] - H[0][1] ** 2
            theta = [
                (H[1][1] * right[0] - H[0][1] * right[1]) / determinant,
                (H[0][0] * right[1] - H[0][1] * right[0]) / determinant,
            ]
            z[k] = [c + 2 * (a - b) for c, a, b in zip(z[k], theta, x, strict=True)]
        x = soft([(a + b) / 2 for a, b in zip(*z, strict=True)], s / 2)
    run = fc.simulate(fc.FedSplit(stepsize=s), LASSO, 3, arithmetic="exact", progress=False)
    assert list(run.points[-1]) == x


def test_without_weight_the_term_changes_nothing() -> None:
    for method in (fc.FedGD(stepsize=F(1, 20), local_steps=2), fc.FedDyn(alpha=3), fc.FedPD(eta=F(1, 3))):
        with_term = fc.simulate(method, fc.CompositeProblem(PLAIN, L1(0)), 4, arithmetic="exact", progress=False)
        without = fc.simulate(method, PLAIN, 4, arithmetic="exact", progress=False)
        assert (with_term.points == without.points).all()


def test_feddyn_with_half_of_the_clients_finds_the_composite_minimiser() -> None:
    run = fc.simulate(fc.FedDyn(alpha=5), LASSO, 1500, participation=fc.participation.Uniform(1), progress=False)
    assert run.to_frame(["distance"])["distance"].iloc[-1] < 1e-8


def test_control_variates_are_compared_at_the_composite_minimiser() -> None:
    """FedDyn's g_k become ∇F_k there, not at the minimiser of f."""
    run = fc.simulate(fc.FedDyn(alpha=5), LASSO, 300, measure="control_error", progress=False)
    assert run.to_frame(["value"])["control_error"].iloc[-1] < 1e-9


def test_sgd_and_torch_runs() -> None:
    sgd = fc.simulate(fc.FedAvg(stepsize=0.02, batch_size=None), LASSO, 4, progress=False)
    steps = fc.simulate(fc.FedGD(stepsize=0.02), LASSO, 4, progress=False)
    assert np.allclose(sgd.points, steps.points, rtol=0, atol=1e-14)  # one full batch is one gradient step
    groups = fc.CompositeProblem(PLAIN, GroupLasso(1, [[0, 1]]))
    for composite in (LASSO, groups):
        floats = fc.simulate(fc.FedDyn(alpha=5), composite, 5, progress=False)
        torch = fc.simulate(fc.FedDyn(alpha=5), composite, 5, arithmetic="torch", progress=False)
        assert np.allclose(np.asarray(torch.points), floats.points, rtol=0, atol=1e-13)


def test_a_start_outside_the_box_has_an_infinite_value_there_alone() -> None:
    composite = fc.CompositeProblem(PLAIN, Box(0, 1))
    run = fc.simulate(fc.FedGD(stepsize=F(1, 20)), composite, 2, x0=[-1, 0], progress=False)
    frame = run.to_frame()
    assert frame["value"].iloc[0] == np.inf
    assert frame["gradient_norm"].iloc[0] == np.inf
    assert np.isfinite(frame["value"].iloc[1:]).all()
    assert "CompositeProblem" in str(run)


def test_a_run_is_resumed_with_its_own_term_only(tmp_path: Path) -> None:
    file, method = tmp_path / "run.npz", fc.FedDyn(alpha=5)
    whole = fc.simulate(method, LASSO, 6, progress=False)
    fc.simulate(method, LASSO, 3, checkpoint=file, progress=False)
    resumed = fc.simulate(method, fc.CompositeProblem(PLAIN, L1(F(1, 2))), 6, checkpoint=file, progress=False)
    assert (resumed.points == whole.points).all()
    for other in (fc.CompositeProblem(PLAIN, L1(F(1, 3))), PLAIN):
        with pytest.raises(fc.InvalidInput, match="another run"):
            fc.simulate(method, other, 6, checkpoint=file, progress=False)


ACCEPTED = {"FedGD", "FedSGD", "FedAvg", "FedNova", "FedProx", "FedSplit", "FedDyn", "FedDynOneGD", "FedPD"}
VALUES = {"stepsize": F(1, 50), "mu": 1, "alpha": 99, "eta": 1, "rho": 1, "regularization": 1, "momentum": F(1, 2)}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_takes_the_term_or_says_why_not(name: str) -> None:
    kind: Any = METHODS[name]
    needed = [p.name for p in signature(kind).parameters.values() if p.default is p.empty]
    if unknown := set(needed) - VALUES.keys():
        pytest.fail(f"give values of {unknown}, which {name} needs, in VALUES")
    method = kind(**{parameter: VALUES[parameter] for parameter in needed})
    if name in ACCEPTED:
        fc.simulate(method, LASSO, 2, progress=False)
        return
    with pytest.raises(fc.InvalidInput, match=r"takes no composite objective: .+; give FedSplit"):
        fc.simulate(method, LASSO, 2, progress=False)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda run: fc.recommend(LASSO), "only f alone is analysed here; give its .problem"),
        (lambda run: audit(LASSO, [fc.FedProx(mu=1)]), "only f alone is analysed here; give its .problem"),
        (lambda run: fc.sweep([fc.FedProx(mu=1), fc.FedLin(stepsize=1)], [PLAIN, LASSO], rounds=1),
         "method = FedLin.*takes no composite objective: .+; give FedSplit"),
        (lambda run: fc.theory.bounds_for(fc.FedProx(mu=1), LASSO), "only f alone is analysed here; give its .problem"),
        (lambda run: fc.diagnose(run), "has a regulariser"),
        (lambda run: fc.dissimilarity(LASSO, np.zeros(2)), "only f alone is analysed here; give its .problem"),
        (lambda run: fc.theory.fedprox.theorem4.claim.on(run), "has a regulariser"),
        (lambda run: fc.simulate(fc.FedSplit(stepsize=1), LASSO, 1, participation=fc.participation.Uniform(1)),
         "needs all clients in every round for a composite objective"),
        (lambda run: fc.simulate(fc.FedPD(eta=1, skip=F(1, 2)), LASSO, 1), "skip=0"),
        (lambda run: fc.simulate(fc.FedGD(stepsize=1), fc.CompositeProblem(PLAIN, GroupLasso(1, [[0]])), 1,
                                 arithmetic="exact"), "has no square roots"),
    ],
)  # fmt: skip
def test_what_does_not_know_of_the_term_refuses_it(call: Any, named: str) -> None:
    run = fc.simulate(fc.FedProx(mu=1), LASSO, 10, progress=False)
    with pytest.raises(fc.InvalidInput, match=named):
        call(run)


def test_a_sweep_has_the_runs_of_simulate() -> None:
    methods, problems = {"prox": fc.FedProx(mu=1), "dyn": fc.FedDyn(alpha=5)}, {"lasso": LASSO, "plain": PLAIN}
    table = fc.sweep(methods, problems, rounds=3, jobs=1, progress=False)
    for name, method in methods.items():
        for label, problem in problems.items():
            alone = fc.simulate(method, problem, 3, progress=False).to_frame()
            rows = table[(table["method"] == name) & (table["problem"] == label)]
            assert list(rows["value"]) == list(alone["value"])
    with_term, without = (table[table["problem"] == label]["value"].iloc[-1] for label in ("lasso", "plain"))
    assert with_term != without


def test_the_runs_of_a_sweep_are_kept_under_the_term() -> None:
    """The fingerprints of two terms differ, and a packed problem has the term but no caches."""
    from fedconvex.sweeps.grid import make_grid
    from fedconvex.sweeps.packed_problems import pack

    other = fc.CompositeProblem(PLAIN, L1(F(1, 3)))
    grid = make_grid(fc.FedDyn(alpha=5), {"one": LASSO, "other": other}, (0,), 1, {})
    assert grid.problem_keys["one"] != grid.problem_keys["other"]
    assert PLAIN.L.size
    sent = pack(grid.cells, grid)["other"].problem
    assert isinstance(sent, fc.CompositeProblem)
    assert str(sent.regularizer) == str(other.regularizer)
    assert fc.simulate(fc.FedDyn(alpha=5), sent, 2, progress=False).points.tolist() == (
        fc.simulate(fc.FedDyn(alpha=5), other, 2, progress=False).points.tolist())  # fmt: skip


def test_both_orders_of_the_arguments() -> None:
    one = fc.simulate(fc.FedDyn(alpha=1), LASSO, 2, progress=False)
    other = fc.simulate(LASSO, fc.FedDyn(alpha=1), 2, progress=False)  # type: ignore[arg-type]
    assert (one.points == other.points).all()
