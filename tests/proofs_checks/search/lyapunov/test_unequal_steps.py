"""Rates where clients take unequal numbers of local steps: beside worst cases, explicit maps, and full programs."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from full_program import Clients

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import SimilarClients, SmoothConvex, SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.proofs_checks.search.lyapunov.lyapunov import attained_rate
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds
CLASS = SmoothStronglyConvex(1, 4)
S = F(1, 12)


def scaffold_round(hessians, s, steps):
    """The map of (w, c_1, …, c_m) on clients xᵀHx/2, by numpy alone."""
    m, d = len(hessians), len(hessians[0])
    columns = []
    for unit in np.eye(d * (m + 1)):
        w, c = unit[:d], unit[d:].reshape(m, d)
        ends, memory = [], []
        for k, H in enumerate(hessians):
            y = w
            for _ in range(steps[k]):
                y = y - s * (H @ y - c[k] + c.mean(0))
            ends.append(y)
            memory.append(c[k] - c.mean(0) + (w - y) / (steps[k] * s))
        columns.append(np.concatenate([np.mean(ends, 0), *memory]))
    return np.array(columns).T


def squared_radius(matrix):
    return np.abs(np.linalg.eigvals(matrix)).max() ** 2


@pytest.mark.parametrize("method", [fc.Scaffold, fc.FedLin])
@pytest.mark.parametrize("clients", [CLASS, SmoothStronglyConvex(2, 2), SimilarClients(1, 4, F(1, 2))])
def test_equal_numbers_are_one_number(method, clients):
    several, one = (lyapunov(method(stepsize=S, local_steps=steps), clients) for steps in ((3, 3), 3))
    assert several.upper == one.upper
    assert several.lower == one.lower
    assert str(several.function) == str(one.function)


def test_one_step_of_everyone_is_gradient_descent():
    assert lyapunov(fc.Scaffold(stepsize=S, local_steps=(1, 1, 1)), CLASS, 3).upper == (1 - S) ** 2
    assert lyapunov(fc.FedGD(stepsize=S, local_steps=(1, 1)), CLASS).upper == (1 - S) ** 2


@pytest.mark.parametrize("clients", ["any", 2])
@pytest.mark.parametrize(("steps", "s"), [((1, 2), F(1, 4)), ((2, 1), S), ((1, 3), S), ((1, 3), F(1, 4))])
def test_of_a_method_without_memory_the_worst_case_of_a_round_is_no_smaller(steps, s, clients):
    method = fc.FedLin(stepsize=s, local_steps=steps)
    found, round_ = lyapunov(method, CLASS, clients), worst_case(method, CLASS, clients)
    assert found.lower <= found.upper <= round_.upper * (1 + F(1, 10**6))
    if str(found.function) == "‖server‖²":
        assert float(round_.lower) <= float(found.upper) * (1 + 1e-9)
    if max(steps) == 2:  # the mean of 1 − s and (1 − s)², on clients of curvature 1
        assert found.upper == found.lower == ((1 - s + (1 - s) ** 2) / 2) ** 2


@pytest.mark.parametrize(("steps", "clients"), [((1, 3), 2), ((1, 3), "any"), ((2, 3, 3), 3)])
def test_no_explicit_federation_is_slower_than_what_is_proved(steps, clients):
    rng, s, kappa = np.random.default_rng(0), 1 / 5, 5
    found = lyapunov(fc.Scaffold(stepsize=F(1, 5), local_steps=steps), SmoothStronglyConvex(1, kappa), clients)
    everyone = steps * (1 if isinstance(clients, int) else 2)
    most = 0.0
    for trial in range(100):
        hessians = []
        for _ in everyone:
            t = rng.uniform(0, np.pi)
            Q = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
            ends = rng.choice([1.0, kappa], 2) if trial % 2 else rng.uniform(1, kappa, 2)
            hessians.append(Q @ np.diag(ends) @ Q.T)
        most = max(most, squared_radius(scaffold_round(hessians, s, everyone)))
    assert 0.5 * float(found.upper) < most <= float(found.upper) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("method", "clients"),
    [
        (fc.Scaffold(stepsize=F(1, 4), local_steps=(3, 1)), "any"),
        (fc.Scaffold(stepsize=F(1, 4), local_steps=(2, 5)), 2),
        (fc.Scaffold(stepsize=S, local_steps=(3, 1, 3)), 3),
        (fc.Scaffold(stepsize=S, local_steps=(2, 1), option=1), "any"),
        (fc.FedLin(stepsize=F(1, 4), local_steps=(3, 1)), "any"),
    ],
)
def test_runs_on_the_slowest_federation_contract_as_it_says(method, clients):
    found = lyapunov(method, CLASS, clients)
    problem = found.federation()
    assert problem.mu.min() >= 1 - 1e-12
    assert problem.L.max() <= 4 + 1e-12
    steps = method.local_steps * (problem.num_clients // len(method.local_steps))
    assert found.solver.steps == method.local_steps
    play = rounds_of(replace(method, local_steps=steps), problem, "exact")
    states = [play.start(play.arithmetic.array([F(1)] * problem.dim))]
    for _ in range(42):
        states.append(play.advance(states[-1]))
    changes = [
        np.array([float(a - b) for a, b in zip(states[t].flat(), states[t + 1].flat(), strict=True)]) for t in (20, 40)
    ]
    slowest = (np.linalg.norm(changes[1]) / np.linalg.norm(changes[0])) ** (2 / 20)
    assert slowest == pytest.approx(float(found.lower), rel=0.02)


def test_the_other_order_of_clients_would_be_another_federation():
    """The comparison above can fail: clients of curvature 4 take one step there, those of curvature 1 four."""
    found = lyapunov(fc.Scaffold(stepsize=F(1, 4), local_steps=(4, 1)), CLASS, 2)
    assert str(found.slowest.federation) == "quadratics of curvature 4 where 1 step is taken; 1 where 4 steps are taken"
    hessians = [np.array(H, dtype=float) for H in found.federation().H]
    radius, swapped = (squared_radius(scaffold_round(hessians, 1 / 4, steps)) for steps in ((4, 1), (1, 4)))
    assert radius == pytest.approx(float(found.lower), rel=1e-9)
    assert swapped < 0.9 * radius


def contraction_with_every_client(found, everyone, kappa, s):
    """The worst V⁺/V of SCAFFOLD for the V that was found, from one Gram matrix of all clients' vectors."""
    m = len(everyone)
    worst = Clients(m, 1.0, float(kappa), True, size=40)
    errors = [worst.new() for _ in range(m)]  # of the c_k
    c = [error + pull for error, pull in zip(errors, worst.pulls, strict=True)]
    ends, memory = [], []
    for k, steps in enumerate(everyone):
        y = worst.w
        for _ in range(steps):
            y = y - s * (worst.look(k, y)[0] - c[k] + sum(c) / m)
        ends.append(y)
        memory.append(c[k] - sum(c) / m + (worst.w - y) / (steps * s) - worst.pulls[k])
    kinds = sorted(set(everyone))

    def V(w, of_clients):
        """From the matrices of V, by the names of what they measure."""
        groups = {f"c_k ({n} step{'s' * (n > 1)})": [k for k in range(m) if everyone[k] == n] for n in kinds}
        means = {"server": w, "server's c": sum(of_clients) / m}
        means |= {name: sum(of_clients[k] for k in ours) / len(ours) for name, ours in groups.items()}

        def form(inner):
            total = 0
            for part, matrix in zip(found.function.posed.coordinates.parts, found.function.matrices, strict=True):
                n = len(part.read)
                assert len(matrix) == n
                rows = [{a: float(c) for a, c in zip(part.vectors, row, strict=True) if c} for row in part.read]
                if part.part == "mean":
                    copies = [(1.0, [sum(c * means[a] for a, c in row.items()) for row in rows])]
                elif n:
                    [name] = {a for row in rows for a in row}
                    ours = groups[name]
                    copies = [
                        (1 / len(ours), [row[name] * (of_clients[k] - means[name]) for row in rows]) for k in ours
                    ]
                else:
                    copies = []
                for weight, u in copies:
                    for i in range(n):
                        for j in range(n):
                            total = total + weight * float(matrix[i][j]) * inner(u[i], u[j])
            return total

        return form

    return worst.worst(V(sum(ends) / m, memory), V(worst.w, errors))


@pytest.mark.parametrize(
    ("steps", "clients", "everyone"),
    [((1, 3), 2, (1, 3)), ((1, 2), "any", (1, 1, 2, 2)), ((1, 2, 2), 3, (1, 2, 2)), ((1, 2), "any", (1, 2))],
)
def test_the_program_with_every_client_agrees_on_scaffold(steps, clients, everyone):
    """Without symmetry, for the Lyapunov function that was found."""
    found = lyapunov(fc.Scaffold(stepsize=S, local_steps=steps), CLASS, clients)
    assert found.tight
    assert contraction_with_every_client(found, everyone, 4, float(S)) == pytest.approx(float(found.upper), rel=2e-5)


def test_fewer_steps_of_the_same_function_would_contract_otherwise():
    """The second route can disagree."""
    found = lyapunov(fc.Scaffold(stepsize=S, local_steps=(1, 3)), CLASS, 2)
    other = lyapunov(fc.Scaffold(stepsize=S, local_steps=(1, 2)), CLASS, 2)
    assert contraction_with_every_client(other, (1, 2), 4, float(S)) > float(found.upper) * 1.01


def test_a_smaller_rate_is_no_proof():
    found = lyapunov(fc.Scaffold(stepsize=S, local_steps=(1, 3)), CLASS)
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, rate=found.lower * (1 - F(1, 1000)))
    [pair] = [pair for pair in found.function.posed.pairs if pair[0][0] == "deviation 1"]
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found.function, entries={**found.function.entries, pair: F(-1)})


def test_a_group_of_little_weight_changes_little():
    alone = lyapunov(fc.Scaffold(stepsize=S, local_steps=1), CLASS)
    for many in (20, 1000):
        steps = (1,) * (many - 1) + (3,)
        found = lyapunov(fc.Scaffold(stepsize=S, local_steps=steps), CLASS)
        assert found.tight
        assert alone.upper * (1 - F(1, many)) < found.upper < alone.upper
        assert found.slowest.federation.fewest % many == 0


def test_a_method_that_diverges_and_one_without_a_rate():
    grows = lyapunov(fc.FedLin(stepsize=F(3, 4), local_steps=(3, 1)), CLASS)
    assert grows.lower == grows.upper == 25  # the mean of 1 − 3 and (1 − 3)³, squared
    assert grows.linear is False
    flat = lyapunov(fc.FedLin(stepsize=S, local_steps=(3, 1)), SmoothConvex(4))
    assert flat.lower == flat.upper == 1


def test_function_values_of_groups_have_names():
    found = lyapunov(fc.FedLin(stepsize=F(1, 4), local_steps=(1, 3)), CLASS, 2)
    assert found.upper == found.lower
    assert "(value at point 1 (1 step))" in str(found.function)
    assert "‖gradient at point 3 (3 steps)‖²" in str(found.function)


def test_attained_rates_and_other_local_solvers():
    solver = fc.UnequalSteps(steps=(1, 2), stepsize=F(1, 8))
    for method in (fc.FedDyn(alpha=4), fc.DANE(mu=4)):
        found = lyapunov(method, CLASS, local_solver=solver)
        assert found.tight
        assert attained_rate(method, CLASS, local_solver=solver) == found.lower
    composite = lyapunov(fc.FedDyn(alpha=4), CLASS, local_solver=solver, composite=True)
    assert composite.upper >= lyapunov(fc.FedDyn(alpha=4), CLASS, local_solver=solver).lower


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        (fc.FedGD(stepsize=S, local_steps=(1, 3)), {}, "has a biased fixed point"),
        (fc.FedNova(stepsize=S, local_steps=(1, 3)), {}, "has a biased fixed point"),
        (fc.Scaffold(stepsize=S, local_steps=(1, 3)), {"num_clients": 3}, "has 2 numbers for num_clients = 3"),
        (fc.Scaffold(stepsize=S, local_steps=(1, 64)), {}, "needs semidefinite matrices of 66 rows"),
        (fc.Scaffold(stepsize=S, local_steps=(1, 3)), {"clients": SmoothStronglyConvex(2, 2)}, "one curvature"),
        (fc.Scaffold(stepsize=S, local_steps=(1, 3)), {"clients": SimilarClients(1, 4, 1)}, "similar clients"),
        (fc.Scaffold(stepsize=S, local_steps=(1, 3)), {"num_clients": 2, "participation": Uniform(1)}, "leave it out"),
        (fc.Scaffold(stepsize=S, local_steps=fc.RandomNumberOfSteps((1, 2))), {}, "are drawn in every round"),
    ],
)
def test_what_is_not_analysed_is_refused(method, options, words):
    with pytest.raises(InvalidInput) as refused:
        lyapunov(method, **{"clients": CLASS, **options})
    assert words in str(refused.value)
    assert refused.value.cure
