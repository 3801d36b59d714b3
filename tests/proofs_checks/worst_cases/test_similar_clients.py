"""Worst cases of clients with similar Hessians: valid, better than without similarity, refused elsewhere."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.proofs_checks import (
    ClientGroup,
    Quadratics,
    SimilarClients,
    SmoothStronglyConvex,
    lyapunov,
    worst_case,
)
from fedconvex.statements.instance import Instance

MU, L = F(1, 10), F(1)
METHODS = (
    fc.DANE(mu=F(1, 10)), fc.FedProx(mu=F(1, 2)), fc.FedGD(stepsize=1, local_steps=2),
    fc.Scaffold(stepsize=F(1, 4), local_steps=2), fc.FedDyn(alpha=F(1, 2)),
)  # fmt: skip


def random_clients(rng: Any, clients: int, delta: float) -> Any:
    """Quadratics (m, 3, 3) of curvatures between MU and L, as far from their mean as δ allows."""
    dim = 3
    Q = np.linalg.qr(rng.standard_normal((clients, dim, dim)))[0]
    values = rng.choice([float(MU), float(L)], (clients, dim)) * rng.uniform(0.9, 1, (clients, dim))
    H = np.einsum("kij,kj,klj->kil", Q, np.clip(values, float(MU), 1), Q)
    mean = H.mean(0)
    farthest = max(np.linalg.norm(h - mean, 2) for h in H)
    similar = mean + min(1.0, 0.999999 * delta / farthest) * (H - mean)
    return (similar + similar.transpose(0, 2, 1)) / 2


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_random_similar_federations_are_never_worse(method: Any) -> None:
    """A second route: the package's own rounds on random quadratics of the class, with two to five clients."""
    delta, rng = F(1, 20), np.random.default_rng(0)
    bound = float(worst_case(method, SimilarClients(MU, L, delta), num_clients="any", heterogeneity=1).upper)
    largest = 0.0
    for _ in range(60):
        H = random_clients(rng, int(rng.integers(2, 6)), float(delta))
        c = rng.standard_normal((len(H), 3)) * 10.0 ** rng.integers(-3, 1)
        c -= c.mean(0)  # the minimiser is 0
        start = rng.standard_normal(3)
        run = fc.simulate(method, fc.Quadratic(H=list(H), c=list(c)), 1, x0=start, progress=False)
        divisor = start @ start + (c * c).sum(1).mean()  # ∇F_k(x*) = −c_k
        largest = max(largest, run.points[-1] @ run.points[-1] / divisor)
    assert largest <= bound * (1 + 1e-9)
    assert largest > bound / 20  # the comparison is not void


@pytest.mark.parametrize("seed", range(4))
def test_logistic_losses_are_never_worse_either(seed: int) -> None:
    """Clients whose Hessians change from point to point; mu, L and δ as they are measured, from above."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (6, 2))
    designs = [(A + rng.integers(0, 2, A.shape)).tolist() for _ in range(3)]
    problem = fc.Logistic(A=designs, y=[[1, -1, 1, 1, -1, 1]] * 3, ridge=F(1, 4))
    measured = Instance(problem, fc.DANE(mu=1))
    L, delta = (F(float(measured.measure(name)) * 1.0001) for name in ("smoothness", "similarity"))
    optimum = fc.ground_truth(problem).point
    for method in (fc.DANE(mu=F(1, 4)), fc.FedProx(mu=1), fc.FedGD(stepsize=F(1, 4), local_steps=2)):
        bound = float(worst_case(method, SimilarClients(F(1, 4), L, delta), num_clients="any", heterogeneity=1).upper)
        gradients = problem.client_gradients(optimum)
        for start in optimum + rng.standard_normal((10, 2)) * 10.0 ** rng.integers(-2, 2, (10, 1)):
            run = fc.simulate(method, problem, 1, x0=start, progress=False)
            divisor = ((start - optimum) ** 2).sum() + (gradients**2).sum(1).mean()
            assert ((run.points[-1] - optimum) ** 2).sum() <= bound * divisor * (1 + 1e-6)


@pytest.mark.parametrize(("delta", "least"), [(F(1, 20), F(1, 4)), (F(1, 10), F(4, 9))])
def test_dane_with_mu_of_twice_the_similarity(delta: F, least: F) -> None:
    """Its rate is (2δ/(μ* + 2δ))² on quadratics of one Hessian, and little more on all similar clients."""
    method = fc.DANE(mu=2 * delta)
    found = worst_case(method, SimilarClients(MU, L, delta), num_clients="any")
    assert found.lower == least == (2 * delta / (MU + 2 * delta)) ** 2
    assert found.lower <= found.upper <= found.lower * F(21, 20)
    problem = found.federation()
    assert SimilarClients(MU, L, delta).contains(problem)
    without = worst_case(method, SmoothStronglyConvex(MU, L), num_clients="any")
    assert found.upper < without.lower  # similarity is what helps


def test_no_similarity_is_no_more_than_the_class_itself() -> None:
    """δ >= L − mu says nothing: the bounds are those of all smooth strongly convex clients."""
    for method in METHODS[:3]:
        similar = worst_case(method, SimilarClients(MU, L, 1), num_clients="any")
        plain = worst_case(method, SmoothStronglyConvex(MU, L), num_clients="any")
        assert similar.upper >= plain.lower
        # how near a certified upper bound comes to the truth depends on the solver's last digits
        assert float(similar.upper) == pytest.approx(float(plain.upper), rel=1e-3)


def test_bounds_grow_with_delta_and_with_the_rounds_of_a_method_with_memory() -> None:
    uppers = [
        float(worst_case(fc.DANE(mu=F(1, 5)), SimilarClients(MU, L, delta), num_clients="any").upper)
        for delta in (F(1, 50), F(1, 10), F(1, 4), F(9, 10))
    ]
    assert uppers == sorted(uppers)
    two = worst_case(fc.FedDyn(alpha=F(1, 2)), SimilarClients(MU, L, F(1, 20)), rounds=2, heterogeneity=1)
    assert two.lower is not None
    assert two.lower <= two.upper


def test_similarity_of_hessians_is_decided_exactly() -> None:
    clients = SimilarClients(MU, L, F(1, 4))
    assert clients.contains(fc.Quadratic([[[F(1, 2)]], [[F(1)]]], [[0]] * 2))
    assert not clients.contains(fc.Quadratic([[[F(1, 2) - F(1, 10**30)]], [[F(1)]]], [[0]] * 2))
    turned = [[[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], [[F(3, 4), F(-1, 4)], [F(-1, 4), F(3, 4)]]]
    assert clients.contains(fc.Quadratic(turned, [[0, 0]] * len(turned)))
    assert not SimilarClients(MU, L, F(1, 4) - F(1, 10**30)).contains(fc.Quadratic(turned, [[0, 0]] * len(turned)))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: SimilarClients(MU, L, 0), "delta = 0: is not positive"),
        (lambda: SimilarClients(MU, L, -1), "delta = -1: is not positive"),
        (lambda: SimilarClients(0, L, 1), "mu = 0: is not positive"),
        (lambda: SimilarClients(2, 1, 1), "mu = 2: is larger than L = 1"),
        (lambda: SimilarClients(1, 1, 1), "all Hessians agree"),
        (lambda: ClientGroup(SimilarClients(MU, L, 1), 1), "cannot be the class of a group"),
        (lambda: lyapunov(fc.FedProx(mu=1), SimilarClients(MU, L, 1)), "has a biased fixed point"),
    ],
)  # fmt: skip
def test_what_is_not_analysed_is_refused(call: Any, named: str) -> None:
    with pytest.raises(fc.InvalidInput) as refusal:
        call()
    assert named in str(refusal.value)


def test_the_certificate_is_no_proof_that_the_kernel_knows() -> None:
    found = worst_case(fc.DANE(mu=F(1, 10)), SimilarClients(MU, L, F(1, 20)), num_clients="any")
    with pytest.raises(ValueError, match="similar clients"):
        found.proof()
    worst_case(fc.DANE(mu=F(1, 10)), Quadratics(MU, L), num_clients="any").proof()


def test_clients_that_are_not_similar_exceed_the_bound() -> None:
    """The comparisons above can fail: curvatures at both ends of the range, far from their mean."""
    found = worst_case(fc.DANE(mu=F(1, 10)), SimilarClients(MU, L, F(1, 20)), num_clients="any")
    unlike = fc.Quadratic(H=[[[MU]], [[L]]], c=[[0], [0]])
    assert not SimilarClients(MU, L, F(1, 20)).contains(unlike)
    run = fc.simulate(fc.DANE(mu=F(1, 10)), unlike, 1, x0=[F(1)], arithmetic="exact", progress=False)
    assert run.points[-1][0] ** 2 > found.upper
