"""Inexact local solutions: no γ-inexact answers violate the proved bound, and the attaining ones are γ-inexact."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from command_runner import running
from full_program import Clients, agree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Hypothesis
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.replay import attained_ratio
from fedconvex.proofs_checks.worst_cases.instances.residuals import PrescribedResiduals
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup, ClientGroups

FEW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
SMALL = rationals(-2, 2, 8)
CONVEX = SmoothConvex(1)
DESCENT = {"metric": "descent", "dissimilarity": F(6, 5)}
run = running("worst-case")
proved = cache(worst_case)  # many federations for each proof


def inexact(gamma, clients=CONVEX, **how):
    return worst_case(fc.FedProx(mu=10), clients, "any", local_solver=fc.ToInexactness(gamma), **{**DESCENT, **how})


@pytest.mark.parametrize("clients", [SmoothConvex(1), WeaklyConvex(1, 1), SmoothStronglyConvex(F(1, 2), 1)])
def test_exact_answers_are_those_of_inexactness_zero(clients):
    zero, exact = inexact(0, clients), worst_case(fc.FedProx(mu=10), clients, "any", **DESCENT)
    assert (zero.lower, zero.upper) == (exact.lower, exact.upper)
    assert not zero.residuals


def test_the_more_inexact_the_worse():
    ends = [(found.lower, found.upper) for found in map(inexact, (0, F(1, 10), F(1, 4), F(1, 2), 1))]
    assert all(later[1] < earlier[0] for earlier, later in pairwise(ends))
    assert all(upper - lower < F(1, 10**9) for lower, upper in ends)


def test_one_client_by_hand():
    """½x² from 1: the residual is ±γ, the step −(1 ± γ)/(1 + μ). Short steps are worst, and decrease by d − d²/2."""
    found = worst_case(fc.FedProx(mu=10), SmoothConvex(1), 1, metric="descent", local_solver=fc.ToInexactness(F(1, 10)))
    d = F(9, 10) / 11
    assert found.lower == found.upper == d - d * d / 2


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize(
    ("m", "clients", "mu", "B", "gamma"),
    [(2, SmoothConvex(1), 2, F(3, 2), F(1, 5)), (3, SmoothConvex(1), 4, F(5, 4), F(1, 2)),
     (2, WeaklyConvex(F(1, 2), 1), 3, 2, F(1, 10)), (3, WeaklyConvex(1, 1), 5, F(6, 5), F(1, 3))],
)  # fmt: skip
def test_the_least_decrease_with_a_bound_for_every_client(m, clients, mu, B, gamma):
    """No symmetry: one Gram matrix, and a residual of every client that is short enough."""
    c = Clients(m, float(clients.lowest), float(clients.highest), minimiser=False)
    here = [c.look(k, c.w) for k in range(m)]
    residuals = [c.new() for _ in range(m)]
    last = sum(c.prox(k, float(mu), c.w, -residuals[k])[0] for k in range(m)) / m
    there = [c.look(k, last) for k in range(m)]
    g = sum(gradient for gradient, _ in here) / m
    short = [
        lambda inner, e=e, h=h: inner(e, e) <= float(gamma) ** 2 * inner(h, h)
        for e, (h, _) in zip(residuals, here, strict=True)
    ]
    truth = -c.worst(
        lambda inner: (sum(f for _, f in there) - sum(f for _, f in here)) / m,
        lambda inner: inner(g, g),
        [lambda inner: sum(inner(h, h) for h, _ in here) <= m * float(B) ** 2 * inner(g, g), *short],
    )
    found = worst_case(
        fc.FedProx(mu=mu), clients, m, metric="descent", dissimilarity=B, local_solver=fc.ToInexactness(gamma)
    )
    agree(found, truth)


@pytest.mark.slow
@FEW
@given(data=st.data(), gamma=rationals(0, 1, 8), mu=rationals(2, 8, 4))
def test_no_inexact_round_decreases_by_less(data, gamma, mu):
    """By a solver of its own: the answers of quadratic clients in the plane, with residuals of every length allowed."""
    L_minus, B = F(1, 2), 2
    found = proved(
        fc.FedProx(mu=mu), WeaklyConvex(L_minus, 1), 2, metric="descent", dissimilarity=B,
        local_solver=fc.ToInexactness(gamma),
    )  # fmt: skip
    assert found.lower <= found.upper
    for _ in range(5):
        a = [-L_minus + (1 + L_minus) * data.draw(rationals(0, 1, 6)) for _ in range(4)]
        H = [np.diag(a[:2]).astype(object), np.diag(a[2:]).astype(object)]
        gradients = [np.array([data.draw(SMALL), data.draw(SMALL)], dtype=object) for _ in range(2)]
        g = (gradients[0] + gradients[1]) / F(2)
        if sum(x @ x for x in gradients) > 2 * B**2 * (g @ g) or not any(g):
            continue
        share = [gamma * data.draw(rationals(-1, 1, 4)) for _ in range(2)]
        turned = [np.array([x[1], -x[0]]) if data.draw(st.booleans()) else x for x in gradients]
        steps = [
            (e * s - x) / (mu + np.diag(h)) for x, h, e, s in zip(gradients, H, turned, share, strict=True)
        ]  # fmt: skip
        d = (steps[0] + steps[1]) / F(2)
        decrease = -(g @ d) - d @ (H[0] + H[1]) @ d / F(4)
        assert decrease >= found.lower * (g @ g)


def test_the_worst_answers_are_inexact_enough_and_attain_the_end():
    """Quadratic clients, replayed by the core; the residuals are measured there once more."""
    found = worst_case(fc.FedProx(mu=10), SmoothConvex(1), 1, metric="descent", local_solver=fc.ToInexactness(F(1, 10)))
    solver = PrescribedResiduals(found.residuals[0], F(1, 10))
    run = fc.simulate(found.question.spec.method, found.federation(), 1, local_solver=solver, x0=found.start,
                      arithmetic="exact", measure="all")  # fmt: skip
    problem, (w, last) = found.federation(), run.points
    g = problem.gradient(w)
    assert problem.value(w) - problem.value(last) == found.upper * (g @ g)
    assert float(np.max(run.client_inexactness)) == pytest.approx(0.1, abs=1e-12)


def test_interpolated_clients_attain_the_end_with_their_residuals():
    found = inexact(F(1, 4))
    assert not found.is_played
    problem, start = found.federation(), np.array(found.start, dtype=float)
    solver = PrescribedResiduals(found.residuals[0], F(1, 4))
    last = fc.simulate(fc.FedProx(mu=10), problem, 1, local_solver=solver, x0=start).points[-1]
    g = problem.gradient(start)
    assert (problem.value(start) - problem.value(last)) / (g @ g) == pytest.approx(float(found.upper), abs=1e-7)


def test_residuals_that_are_too_long_are_shortened():
    problem = fc.Quadratic([[[1]]], [[0]])
    run = fc.simulate(fc.FedProx(mu=1), problem, 1, local_solver=PrescribedResiduals([[F(5)]], F(1, 10)), x0=[F(1)],
                      arithmetic="exact")  # fmt: skip
    assert F(11, 20) - F(1, 10**10) < run.points[1][0] <= F(11, 20)  # (1 + 1/10)/2, not (1 + 5)/2


@pytest.mark.beyond_core  # takes seconds
def test_several_rounds_and_other_methods():
    for method in (fc.FedProx(mu=2), fc.FedDyn(alpha=2), fc.FedSplit(stepsize=F(1, 2))):
        exact, rough = (
            worst_case(method, SmoothStronglyConvex(1, 2), "any", 2, heterogeneity=1, local_solver=fc.ToInexactness(g))
            for g in (0, F(1, 10))
        )
        assert exact.upper < rough.upper
        assert rough.lower <= rough.upper <= rough.lower * (1 + F(1, 10**6))
        solver = fc.ToInexactness(F(1, 10))
        for seed in range(3):
            rng = np.random.default_rng(seed)
            H = [np.diag(rng.uniform(1, 2, size=2)) for _ in range(2)]
            c = rng.normal(size=2)
            problem, w = fc.Quadratic(H, [c, -c]), rng.normal(size=2)
            last = fc.simulate(method, problem, 2, local_solver=solver, x0=w).points[-1]
            assert last @ last <= float(rough.upper) * (w @ w + c @ c) * (1 + 1e-9)


def test_the_certificate_stands_as_a_proof_and_not_without_the_residuals():
    found = inexact(F(1, 10))
    lemma = found.proof()
    assert lemma.theorem().setting.answers == "inexact"
    line = lemma.proof.lines[0]
    kept = tuple((m, fact) for m, fact in line.facts if fact != Hypothesis("inexactness"))
    with pytest.raises(Refused, match="is left"):
        theorem(lemma.setting, lemma.claim, Derivation((replace(line, facts=kept),)))
    certificate = found.certificate
    place = [name for name, _ in certificate.program.inequalities].index("inexactness 1")
    without = (*certificate.multipliers[:place], F(0), *certificate.multipliers[place + 1 :])
    with pytest.raises(ValueError, match="no proof"):
        DualCertificate(certificate.program, certificate.t, without)


def test_answers_that_are_not_inexact_enough_would_be_worse():
    """The tests above can fail: with a longer residual the decrease is below what is proved."""
    found = worst_case(fc.FedProx(mu=10), SmoothConvex(1), 1, metric="descent", local_solver=fc.ToInexactness(F(1, 10)))
    step = F(8, 10) / 11
    assert step - step**2 / 2 < found.lower


def test_an_instance_without_residuals_is_played_exactly():
    found = inexact(F(1, 2), metric="descent")
    instance = AttainingFederation(fc.Quadratic([[[1]], [[1]]], [[-1], [-1]]), np.array([[F(0)], [F(0)]]))
    step = F(1, 11)
    assert attained_ratio(found.question, instance) == -(step - step**2 / 2)


@pytest.mark.parametrize(
    ("solver", "says"),
    [
        (fc.ToInexactness([F(1, 2), F(1, 3)]), "for every client"),
        (fc.SGD(epochs=1, batch_size=1, stepsize=1), "give noise=1"),
    ],
)
def test_solvers_that_are_not_analysed(solver, says):
    with pytest.raises(InvalidInput, match=says):
        worst_case(fc.FedProx(mu=10), SmoothConvex(1), "any", local_solver=solver, **DESCENT)


@pytest.mark.slow
@FEW
@given(data=st.data(), gamma=rationals(0, 1, 4))
def test_no_draw_of_inexact_answers_decreases_by_less(data, gamma):
    """Two clients on a line, K = 2 independent draws: all four outcomes by hand."""
    mu, B = F(5), F(2)
    found = proved(
        fc.FedProx(mu=mu), WeaklyConvex(1, 1), "any", metric="descent", dissimilarity=B,
        local_solver=fc.ToInexactness(gamma), participation=fc.participation.Weighted(2),
    )  # fmt: skip
    assert found.lower <= found.upper
    for _ in range(10):
        h = [data.draw(rationals(-1, 1, 4)) for _ in range(2)]
        g = [data.draw(SMALL) for _ in range(2)]
        share = [gamma * data.draw(st.sampled_from([F(-1), F(0), F(1)])) for _ in range(2)]
        slope, curvature = sum(g) / F(2), sum(h) / F(2)
        if not slope or sum(x * x for x in g) > 2 * B**2 * slope**2:
            continue
        steps = [(s - 1) * x / (a + mu) for s, x, a in zip(share, g, h, strict=True)]
        moved = [(one + other) / 2 for one in steps for other in steps]
        assert -sum(slope * d + curvature / 2 * d * d for d in moved) / 4 >= found.lower * slope**2


@pytest.mark.beyond_core  # takes seconds
def test_kinds_of_clients_that_are_alike():
    """Every kind has residuals of its own."""
    alike = ClientGroups(ClientGroup(SmoothConvex(1), 1), ClientGroup(SmoothConvex(1), 3))
    for gamma in (F(1, 10), F(1, 2)):
        assert float(inexact(gamma, alike).lower) == pytest.approx(float(inexact(gamma).lower), abs=1e-7)


def test_the_command_asks_about_inexact_answers(run):
    words = ["fedprox:mu=10", "--L", "1", "--clients", "1", "--metric", "descent", "--gamma", "1/10"]
    status, out, _ = run(*words)
    assert status == 0
    assert "worst: 1899/24200 = 0.0784710743802" in out
    assert "inexactness 1" in out


@pytest.mark.beyond_core  # takes seconds
def test_many_composed_rounds_with_inexact_answers():
    """One round is certified; the simulation plays all, with residuals in the first only."""
    clients, gamma = SmoothStronglyConvex(1, 4), fc.ToInexactness(F(1, 10))
    few, many = (
        worst_case(fc.FedProx(mu=2), clients, rounds=rounds, heterogeneity=1, local_solver=gamma) for rounds in (3, 20)
    )
    assert many.power == 20
    assert 0 < many.lower <= many.upper < float("inf")
    assert few.lower <= few.upper
