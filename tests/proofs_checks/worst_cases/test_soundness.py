"""No simulation exceeds a proved bound, no false certificate is accepted, and a failed solver gives no answer."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate, is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.replay import attained_ratio

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@st.composite
def methods(draw):
    s = draw(rationals(F(1, 20), F(3, 2)))
    steps = draw(st.integers(1, 2))
    return draw(
        st.sampled_from([
            fc.FedGD(stepsize=s, local_steps=steps), fc.FedProx(mu=s), fc.FedSplit(stepsize=s), fc.FedDyn(alpha=s),
            fc.FedDynOneGD(alpha=1 / s), fc.Scaffold(stepsize=s / 2, local_steps=steps), fc.DANE(mu=s),
            fc.FedDANE(mu=s), fc.FedPD(eta=s), fc.FedNova(stepsize=s),
        ])
    )  # fmt: skip


@st.composite
def federations(draw, low, high, clients, dim=2):
    """Quadratics with rational eigenvalues in [low, high] and rational rotations, pulls of mean 0."""
    hessians = []
    for _ in range(clients):
        a, b = (low + (high - low) * draw(rationals(0, 1)) for _ in range(dim))
        t = draw(rationals(-2, 2))
        c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        Q = np.array([[c, -s], [s, c]], dtype=object)
        hessians.append(Q @ np.diag([a, b]).astype(object) @ Q.T)
    pulls = [np.array([draw(rationals(-3, 3)) for _ in range(dim)], dtype=object) for _ in range(clients)]
    centre = sum(pulls[1:], start=pulls[0]) / F(clients)
    return fc.Quadratic(hessians, [pull - centre for pull in pulls])


@FEW
@given(
    method=methods(),
    mu=rationals(F(1, 10), 1),
    ratio=rationals(1, 20),
    m=st.sampled_from([1, 2, 3]),
    metric=st.sampled_from(["distance", "gap", "gradient_norm"]),
    data=st.data(),
)
def test_no_federation_is_above_the_proved_end(method, mu, ratio, m, metric, data):
    G, rounds = F(1, 2), data.draw(st.sampled_from([1, 1, 2]))
    found = worst_case(method, SmoothStronglyConvex(mu, mu * ratio), m, rounds, metric, heterogeneity=G)
    assert found.lower <= found.upper
    if found.certificate is None:  # runs that grow a million times may be too large for the solver, which is said
        assert found.lower > 10**6, found.says
        assert found.upper == float("inf")
        assert "no bound was proved" in found.says
    for _ in range(3):
        problem = data.draw(federations(mu, mu * ratio, m))
        start = np.array([data.draw(rationals(-3, 3)) for _ in range(2)], dtype=object)
        happens = attained_ratio(found.question, AttainingFederation(problem, np.array([start] * m)))
        assert happens is None or happens <= found.upper


@pytest.mark.slow
@FEW
@given(mu=rationals(0, 3), L_minus=rationals(0, 1), B=rationals(1, 3), m=st.sampled_from([2, 3]), data=st.data())
def test_no_federation_decreases_by_less(mu, L_minus, B, m, data):
    mu = mu + L_minus + F(1, 10)
    found = worst_case(fc.FedProx(mu=mu), WeaklyConvex(L_minus, 1), m, metric="descent", dissimilarity=B)
    assert found.lower <= found.upper
    for _ in range(3):
        problem = data.draw(federations(-L_minus, F(1), m))
        start = np.array([data.draw(rationals(-3, 3)) for _ in range(2)], dtype=object)
        happens = attained_ratio(found.question, AttainingFederation(problem, np.array([start] * m)))
        assert happens is None or -happens >= found.lower


def test_a_federation_outside_of_the_class_is_no_instance():
    """The check above can fail: with a smaller class the same federation is worse than what is proved."""
    outside = fc.Quadratic([np.array([[F(1, 2)]], dtype=object)] * 2, [np.array([F(0)], dtype=object)] * 2)
    instance = AttainingFederation(outside, np.array([[F(1)], [F(1)]], dtype=object))
    small, large = (worst_case(fc.FedGD(stepsize=F(1, 2)), SmoothStronglyConvex(mu, 2)) for mu in (1, F(1, 2)))
    assert attained_ratio(large.question, instance) > small.upper
    assert attained_ratio(small.question, instance) is None


@pytest.mark.parametrize(
    "found",
    [
        worst_case(fc.FedSplit(stepsize=F(1, 2)), SmoothStronglyConvex(1, 4), metric="lifted_distance"),
        worst_case(fc.FedProx(mu=2), SmoothConvex(1), metric="descent", dissimilarity=F(3, 2)),
        worst_case(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 2), rounds=2, heterogeneity=1),
    ],
    ids=["fedsplit", "fedprox", "feddyn"],
)
def test_a_certificate_with_another_number_is_refused(found):
    certificate = found.certificate
    assert replace(certificate, t=certificate.t) is not None
    with pytest.raises(ValueError, match="no proof"):
        replace(certificate, t=certificate.t - abs(certificate.t) / 10**6)
    for i, multiplier in enumerate(certificate.multipliers):
        for other in (multiplier + F(1, 50), -F(1, 10**9)):
            changed = (*certificate.multipliers[:i], other, *certificate.multipliers[i + 1 :])
            with pytest.raises(ValueError, match="no proof"):
                DualCertificate(certificate.program, certificate.t, changed)
    with pytest.raises(ValueError, match="no proof"):
        DualCertificate(certificate.program, certificate.t, certificate.multipliers[:-1])


def test_inner_products_outside_of_the_class_are_refused():
    found = worst_case(fc.FedGD(stepsize=1), SmoothConvex(1), 1, 3, "gap").interpolated
    values = tuple(2 * v for v in found.values)
    with pytest.raises(ValueError, match="no functions"):
        FeasiblePoint(found.program, found.grams, values)


def test_positive_semidefinite_means_just_that():
    assert is_positive_semidefinite([[F(1), F(1)], [F(1), F(1)]])
    assert not is_positive_semidefinite([[F(1), F(1)], [F(1), F(1) - F(1, 10**30)]])
    assert not is_positive_semidefinite([[F(0), F(1)], [F(1), F(5)]])
    large = [[F(int(i == j)) for j in range(20)] for i in range(20)]
    assert is_positive_semidefinite(large)
    large[7][7] = -F(1, 10**30)
    assert not is_positive_semidefinite(large)


def test_clients_that_differ_without_limit_have_no_bound():
    found = worst_case(fc.FedGD(stepsize=F(1, 2), local_steps=2), SmoothStronglyConvex(1, 2))
    assert found.lower == found.upper == float("inf")
    assert "heterogeneity" in found.says
    # the diverging family: started at the minimiser, the method leaves it
    problem, start = found.federation(), found.instance.start[0]
    assert not any(problem.gradient(start))
    assert any(fc.simulate(found.question.spec.method, problem, 1, x0=start, arithmetic="exact").points[1] != start)


def test_dissimilar_clients_without_a_bound_may_go_up():
    found = worst_case(fc.FedProx(mu=3), WeaklyConvex(F(1, 2), 1), metric="descent")
    assert found.lower == found.upper == -float("inf")
    assert "give dissimilarity" in found.says
    alone = worst_case(fc.FedProx(mu=3), WeaklyConvex(F(1, 2), 1), 1, metric="descent")
    assert alone.lower > 0


def test_no_bound_is_no_number():
    """A stepsize above 2/L: the value may go up, by so much."""
    found = worst_case(fc.FedGD(stepsize=3), SmoothConvex(1), 2, 1, "descent", dissimilarity=2)
    assert found.lower <= found.upper
    assert found.upper < 0  # it increases


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dissimilarity": F(1, 2), "metric": "descent"}, "B >= 1"),
        ({"heterogeneity": -1}, "negative"),
        ({"metric": "loss"}, "unknown"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 2, "metric": "descent"}, "one round"),
        ({"num_clients": 0}, "no number of clients"),
        ({"num_clients": True}, "no number of clients"),
        ({"num_clients": 2.5}, "no number of clients"),
        ({"num_clients": "3"}, "no number of clients"),
        ({"rounds": float("nan")}, "rounds = nan"),
        ({"rounds": np.True_}, "rounds = True"),
        ({"metric": "lifted_distance"}, "is for FedSplit"),
        ({"clients": WeaklyConvex(1, 1), "metric": "gap"}, "no minimiser"),
        ({"clients": WeaklyConvex(1, 1), "metric": "descent", "method": fc.FedProx(mu=1)}, "larger weight"),
        ({"clients": WeaklyConvex(2, 2), "metric": "descent", "method": fc.FedDyn(alpha=1)}, "larger weight"),
        ({"method": fc.FedProx(mu=0), "clients": SmoothConvex(1)}, "weight 0"),
        ({"method": fc.AdaptiveFedProx(mu=1)}, "not affine in its state"),
        ({"method": fc.FedPD(eta=1, skip=F(1, 2)), "rounds": 7}, "communicate at random"),
        ({"method": fc.FedAvg(stepsize=F(1, 2))}, "give noise=1"),
        ({"method": 3}, "not a method"),
        ({"clients": "convex"}, "no class of functions"),
        ({"method": fc.Scaffold(stepsize=1), "local_solver": fc.Exact()}, "known size"),
        ({"participation": fc.participation.Uniform(3)}, "K <= m"),
        ({"participation": fc.participation.Uniform(1), "num_clients": "any"}, "is no number"),
        ({"participation": fc.participation.Schedule([[0]])}, "all clients are alike"),
        ({"participation": fc.participation.Weighted(2), "num_clients": 30, "rounds": 99, "metric": "gap"}, "too many"),
        (
            {"participation": fc.participation.Weighted(2), "num_clients": 30, "rounds": 99, "dissimilarity": 2},
            "too many",
        ),
        (
            {"participation": fc.participation.Weighted(2), "method": fc.FedDyn(alpha=1), "num_clients": "any"},
            "who take part",
        ),
        ({"participation": fc.participation.Uniform(1), "num_clients": 99, "method": fc.FedDANE(mu=1)}, "second time"),
    ],
)
def test_questions_without_an_answer_are_refused(arguments, says):
    whole = {"method": fc.FedGD(stepsize=1), "clients": SmoothStronglyConvex(1, 2), **arguments}
    with pytest.raises(InvalidInput, match=says):
        worst_case(**whole)


@pytest.mark.parametrize(
    "make",
    [lambda: SmoothStronglyConvex(2, 1), lambda: SmoothStronglyConvex(0, 1), lambda: SmoothConvex(0),
     lambda: WeaklyConvex(2, 1), lambda: WeaklyConvex(-1, 1), lambda: SmoothConvex(float("nan"))],
)  # fmt: skip
def test_classes_without_functions_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_a_stepsize_is_taken_exactly():
    """1/3 is no float: 1/stepsize must not be rounded on its way."""
    found = worst_case(fc.FedSplit(stepsize=3), SmoothStronglyConvex(1, 4), metric="lifted_distance")
    assert found.upper == F(11, 13) ** 2


def test_a_solver_that_fails_is_reported(monkeypatch):
    from fedconvex.proofs_checks.worst_cases.programs import solver as solving

    real = solving.Constraints.least
    monkeypatch.setattr(
        solving.Constraints, "least", lambda *a: (*(part * np.nan for part in real(*a)[:2]), "NumericalError")
    )
    found = worst_case(fc.FedProx(mu=2), SmoothConvex(1), metric="descent", dissimilarity=F(3, 2))
    assert found.lower == -float("inf")
    assert "NumericalError" in found.says
    assert found.certificate is None


def test_where_the_proof_follows_from_the_worst_instance_no_solver_is_needed(monkeypatch):
    from fedconvex.proofs_checks.worst_cases.certificates import search

    def refuse(*_, **__):
        raise AssertionError("the solver was asked")

    monkeypatch.setattr(search, "propose", refuse)
    found = worst_case(fc.FedSplit(stepsize=F(1, 7)), SmoothStronglyConvex(1, 4), metric="lifted_distance")
    assert found.lower == found.upper == F(3, 4) ** 2
    with pytest.raises(AssertionError, match="was asked"):
        worst_case(fc.FedProx(mu=2), SmoothConvex(1), metric="descent", dissimilarity=F(3, 2))


@pytest.mark.parametrize("digits", [4, 8, 12])
def test_numbers_of_very_different_size_never_give_a_false_answer(digits):
    """What a solver can't cope with is said not to be proved."""
    large = 10**digits
    found = worst_case(
        fc.FedGD(stepsize=F(1, large), local_steps=3), SmoothStronglyConvex(1, large), "any", heterogeneity=1
    )
    assert (1 - F(1, large)) ** 6 <= found.lower <= found.upper
    assert found.certificate is not None or "no bound was proved" in found.says
