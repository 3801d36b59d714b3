"""Claims on deep runs, against a plain PyTorch loop over clients and steps."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLIENTS, SMALL, random, samples
from processes import python, require
from quantities_of_rounds import vanishing
from torch import nn
from torch.func import functional_call

import fedconvex as fc
from fedconvex import deep
from fedconvex.certainty import Certainty
from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.findings import ALL, SAMPLE
from fedconvex.claims.terms import (
    after,
    answers,
    drawn,
    expected,
    family,
    free,
    gradient,
    infimum,
    inner,
    last_answers,
    local_gradients,
    mean,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    residuals,
    server,
    shared,
    solutions,
    square,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.participation import Stragglers, Uniform, Weighted
from fedconvex.theory import feddyn, fedprox

pytestmark = pytest.mark.beyond_core

STEPS, STEPSIZE, MU, ALPHA = 4, 0.05, 3.0, 5.0


def run(method: Any = None, rounds: int = 3, **options: Any) -> Any:
    solver = fc.GradientDescent(steps=STEPS, stepsize=STEPSIZE)
    given = {"participation": Uniform(2), "local_solver": solver, "seed": 4, "progress": False, **options}
    return deep.run(method or fc.FedProx(mu=MU), SMALL, CLIENTS, rounds=rounds, **given)


class PlainTorch:
    """FedProx and FedDyn written with autograd alone: no class of the package takes part."""

    def __init__(self) -> None:
        self.module = SMALL
        self.shapes = {name: p.shape for name, p in self.module.named_parameters()}
        self.data = [(torch.tensor(x), torch.tensor(y)) for x, y in CLIENTS]
        self.start = torch.cat([p.detach().reshape(-1) for p in self.module.parameters()])

    def value(self, k: int, theta: torch.Tensor) -> torch.Tensor:
        pieces = theta.split([s.numel() for s in self.shapes.values()])
        named = {name: p.reshape(s) for p, (name, s) in zip(pieces, self.shapes.items(), strict=True)}
        x, y = self.data[k]
        return nn.functional.cross_entropy(functional_call(self.module, named, (x,)), y)

    def gradient(self, k: int, theta: torch.Tensor) -> torch.Tensor:
        leaf = theta.clone().requires_grad_()
        return torch.autograd.grad(self.value(k, leaf), leaf)[0]

    def objective(self, theta: torch.Tensor) -> float:
        return float(sum(self.value(k, theta) for k in range(4)) / 4)

    def gradients(self, theta: torch.Tensor) -> torch.Tensor:
        return torch.stack([self.gradient(k, theta) for k in range(4)])

    def answer(self, k: int, w: torch.Tensor, weight: float, linear: Any = 0.0) -> torch.Tensor:
        theta = w
        for _ in range(STEPS):
            theta = theta - STEPSIZE * (self.gradient(k, theta) + linear + weight * (theta - w))
        return theta


def claim_of(statement: Any) -> Claim:
    """The claim alone: these runs are compared with plain torch, whatever its setting is."""
    claim = statement.claim
    assert isinstance(claim, Claim)
    return replace(claim, within=None)


def drawn_in(simulated: Any) -> Iterator[list[int]]:
    simulator = simulated.simulator
    for t in range(len(simulated.records) - 1):
        yield simulator.participation.draw(simulator.rounds.problem, simulator.seed, t).members.tolist()


def lefts(simulated: Any, term: Any, **parameters: Any) -> list[Any]:
    """The term's value in every round."""
    return [found.left for found in simulated.sides_of(vanishing(term), parameters)]


def test_fedprox_against_plain_torch() -> None:
    simulated, plain = run(), PlainTorch()
    w, wanted = plain.start, list[dict[str, Any]]()
    for members in drawn_in(simulated):
        theta = torch.stack([plain.answer(k, w, MU) for k in range(4)])
        gradients = plain.gradients(w)
        nexts = {pair: (theta[pair[0]] + theta[pair[1]]) / 2 for pair in combinations(range(4), 2)}
        new = nexts[tuple(sorted(members))]  # type: ignore[index]
        residual = torch.stack([plain.gradient(k, theta[k]) + MU * (theta[k] - w) for k in range(4)])
        wanted.append({
            "value": plain.objective(w),
            "E f(w+)": sum(plain.objective(v) for v in nexts.values()) / 6,
            "E move": sum(float((v - w).square().sum()) for v in nexts.values()) / 6,
            "gradient": gradients.mean(0).numpy(),
            "square": float(gradients.mean(0).square().sum()),
            "squares": float(gradients.square().sum(1).mean()),
            "inner": float((gradients * (theta - w)).sum(1).mean()),
            "norm": float(residual.square().sum(1).mean().sqrt()),
            "answers": theta.numpy(),
        })  # fmt: skip
        w = new
    here = server(0)
    terms = {
        "value": value(here), "E f(w+)": expected(value(server(1))), "E move": expected(square(server(1) - here)),
        "gradient": mean(gradient(here)), "square": square(mean(gradient(here))), "squares": square(gradient(here)),
        "inner": inner(gradient(here), answers - here), "norm": norm(residuals), "answers": answers,
    }  # fmt: skip
    for name, term in terms.items():
        for found, by_hand in zip(lefts(simulated, term), wanted, strict=True):
            np.testing.assert_allclose(found, by_hand[name], rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(simulated.state.server.numpy(), w.numpy(), rtol=1e-9)


def test_feddyn_with_its_memories_against_plain_torch() -> None:
    simulated, plain = run(fc.FedDyn(alpha=ALPHA)), PlainTorch()
    w, g, h = plain.start, torch.zeros(4, len(plain.start)).double(), torch.zeros(len(plain.start)).double()
    last = w.repeat(4, 1)
    wanted: list[Any] = []
    for members in drawn_in(simulated):
        before = (g.numpy().copy(), h.numpy().copy(), last.numpy().copy())
        theta = {k: plain.answer(k, w, ALPHA, -g[k]) for k in members}
        g, last = g.clone(), last.clone()
        for k in members:
            g[k] -= ALPHA * (theta[k] - w)
            last[k] = theta[k]
        h = h - ALPHA / 4 * sum(theta[k] - w for k in members)
        w = sum(theta.values()) / 2 - h / ALPHA
        wanted.append(before)
    for term, place in ((memory("gradient", 0), 0), (shared("h", 0), 1), (last_answers(0), 2)):
        for found, by_hand in zip(lefts(simulated, term), wanted, strict=True):
            np.testing.assert_allclose(found, by_hand[place], rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(simulated.state.server.numpy(), w.numpy(), rtol=1e-9)
    assert claim_of(feddyn.equation16).on(simulated).holds is True  # h is the mean of the memories
    twin = equal(shared("h", 0), 2 * mean(memory("gradient", 0)))
    assert twin.on(simulated).holds is False


@pytest.mark.parametrize(("options", "field"), [
    ({}, "draws"), ({"participation": Weighted(2)}, "method"),
    ({"participation": Weighted(2), "stragglers": fc.participation.Stragglers(Fraction(1, 2))}, "draws"),
])  # fmt: skip
def test_a_run_outside_of_the_setting_is_refused(options: dict[str, Any], field: str) -> None:
    method = fc.FedDyn(alpha=ALPHA) if field == "method" else None
    with pytest.raises(NotOnThisRun, match=field):
        fedprox.theorem4.claim.on(run(method, rounds=1, **options))
    assert fedprox.theorem4.claim.on(run(rounds=1, participation=Weighted(2))).holds is not False


def test_theorem4_of_fedprox_with_given_and_with_measured_constants() -> None:
    simulated, plain = run(rounds=1), PlainTorch()
    square_of = float(plain.gradients(plain.start).mean(0).square().sum())
    given = {"L": 2.0, "L_minus": 1.0, "B": 3.0, "gamma": 0.5}
    found = claim_of(fedprox.theorem4).on(simulated, **given)
    rho = fedprox.rho(mu=MU, K=2, **given)
    assert found.right == pytest.approx(plain.objective(plain.start) - rho * square_of, rel=1e-12)
    assert (found.certainty, found.expectation, found.measured) == (Certainty.NUMERIC, ALL, {})
    measured = run(fc.FedProx(mu=30), rounds=1, measure=("heterogeneity", "curvature", "decrease"))
    found, record = claim_of(fedprox.theorem4).on(measured), measured.records[0]
    columns = {"L": "smoothness_of_round", "B": "dissimilarity", "gamma": "inexactness_of_all"}
    expected = {name: record[column] for name, column in columns.items()}
    assert found.measured == pytest.approx(expected | {"L_minus": max(0, -record["least_curvature_of_round"])})
    assert "measured: B = " in " ".join(str(found).split())
    assert found.left == pytest.approx(record["value"] - record["decrease"], rel=1e-12)


def test_a_claim_that_is_false_on_the_run_does_not_hold_there() -> None:
    simulated = run()
    moves = lefts(simulated, square(server(1) - server(0)))
    assert len(moves) == 3 * 6  # the draws of every round: the claim is not about their mean
    claim = at_most(square(server(1) - server(0)), parameter("largest"))
    assert claim.on(simulated, largest=max(moves) * 1.001).holds is True
    assert claim.on(simulated, largest=max(moves)).holds is None  # equal but for rounding
    found = claim.on(simulated, largest=max(moves) * 0.999)
    assert (found.holds, found.left) == (False, max(moves))
    assert at_most(expected(value(server(1))), value(server(0))).on(simulated).holds is True
    assert at_most(value(server(0)), expected(value(server(1)))).on(simulated).holds is False
    average = equal(server(1), drawn(answers))
    assert average.on(simulated).holds is True
    assert equal(server(1), mean(answers)).on(simulated).holds is False  # half of the clients took part


def test_a_sample_of_many_draws_decides_nothing_about_an_expectation() -> None:
    clients = samples(sizes=(5,) * 12)
    simulated = deep.run(fc.FedProx(mu=MU), SMALL, clients, rounds=2, participation=Uniform(3),
                         local_solver=fc.SGD(epochs=1, batch_size=2, stepsize=0.05), seed=2)  # fmt: skip
    found = at_most(expected(value(server(1))), number(1000)).on(simulated)
    assert (found.expectation, found.holds) == (SAMPLE, None)
    steps = [found.left for found in simulated.sides_of(at_most(square(server(1) - server(0)), number(1000)), {})]
    assert len(steps) == 2
    assert at_most(square(server(1) - server(0)), number(1000)).on(simulated).holds is True


def test_claims_about_a_whole_run() -> None:
    simulated = run(participation=None, rounds=3)
    plain = PlainTorch()
    w = plain.start
    for _ in range(3):
        w = torch.stack([plain.answer(k, w, MU) for k in range(4)]).mean(0)
    claim = at_most(after(value(server(0))), value(server(0)), rounds="T")
    found = claim.on(simulated)
    assert found.holds is True
    assert found.left == pytest.approx(plain.objective(w), rel=1e-12)
    assert found.right == pytest.approx(plain.objective(plain.start), rel=1e-12)
    assert equal(parameter("T"), number(3), rounds="T").on(simulated).holds is True
    assert at_most(value(server(0)), after(value(server(0))), rounds="T").on(simulated).holds is False


def test_free_vectors_are_given_by_name() -> None:
    simulated, plain = run(rounds=1), PlainTorch()
    y = torch.ones_like(plain.start)
    found = equal(value(free("y")), number(0)).on(simulated, y=y)
    assert found.left == pytest.approx(plain.objective(y), rel=1e-12)
    rows = np.ones((4, len(y)))
    assert lefts(simulated, square(family("v")), v=rows) == [pytest.approx(len(y))]


@pytest.mark.parametrize(("claim", "said"), [
    (claim_of(feddyn.theorem2), "minimiser.*not known of a network; claim something of gradients.*linear model"),
    (at_most(infimum, value(server(0))), "infimum.*not known of a network's objective; claim.*decrease"),
    (at_most(norm(answers - solutions), number(1)), "solutions.*not known.*claim something of their answers"),
    (at_most(number(0), parameter("kappa")), "kappa.*give kappa=… to Claim.on"),
    (at_most(number(0), norm(free("x"))), "free = x: has no value; give the vector x=…"),
    (at_most(number(0), norm(memory("z", 0))), "memory = z: is not in the method's state"),
])  # fmt: skip
def test_terms_that_cannot_be_measured_are_named_with_the_cure(claim: Claim, said: str) -> None:
    with pytest.raises(NotOnThisRun, match=said):
        claim.on(run(rounds=1))


def test_local_gradients_need_gradient_steps() -> None:
    claim = at_most(number(0), norm(local_gradients))
    assert claim.on(run(rounds=1)).holds is True
    with pytest.raises(NotOnThisRun, match=r"local gradients.*run with local_solver=GradientDescent"):
        claim.on(run(rounds=1, local_solver=fc.SGD(epochs=1, batch_size=3, stepsize=0.1)))


def test_what_depends_on_late_clients_is_not_computed() -> None:
    late = run(rounds=1, stragglers=Stragglers(Fraction(1, 2)))
    assert at_most(number(0), square(server(1) - server(0))).on(late).expectation == SAMPLE
    with pytest.raises(NotOnThisRun, match=r"answers.*late; run without stragglers"):
        at_most(number(0), norm(answers)).on(late)
    with pytest.raises(NotOnThisRun, match=r"gamma.*late; give gamma=…"):
        at_most(number(0), parameter("gamma")).on(late)


@pytest.mark.parametrize(("given", "said"), [
    ({"large": 3}, "parameter = large: is not in the claim; it has B"),
    ({"B": "many"}, "B = "), ({"B": float("nan")}, "B = "), ({"B": np.ones(2)}, "B = "), ({"B": True}, "B = "),
])  # fmt: skip
def test_bad_values_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        at_most(number(0), parameter("B")).on(run(rounds=1), **given)


def test_a_vector_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"x = \(3,\): is not the shape of the models; give \(43,\)"):
        at_most(number(0), norm(free("x"))).on(run(rounds=1), x=[1.0, 2.0, 3.0])


def test_a_run_that_cannot_be_played_again_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without rounds"):
        at_most(number(0), value(server(0))).on(run(rounds=0))
    simulated = run(rounds=1)
    other = replace(simulated, state=replace(simulated.state, server=simulated.state.server + 1))
    with pytest.raises(InvalidInput, match=r"computed again: lead to a model .* away"):
        at_most(number(0), value(server(0))).on(other)


def test_numbers_that_are_not_real_decide_nothing() -> None:
    simulated = run(rounds=1)
    assert at_most((-value(server(0))).sqrt(), number(1)).on(simulated).holds is None
    assert at_most(number(1), number(10) ** number(400)).on(simulated).holds is None


def test_single_precision_decides_less() -> None:
    claim = at_most(value(server(0)), value(server(0)) * (1 + Fraction(1, 10**6)))
    assert claim.on(run(rounds=1)).holds is True
    assert claim.on(run(rounds=1, dtype=torch.float32)).holds is None


def test_a_linear_model_has_a_minimiser() -> None:
    linear = deep.run(fc.FedDyn(alpha=ALPHA), random(nn.Linear(6, 3)), CLIENTS, rounds=2, ridge=0.1,
                      participation=Uniform(2))  # fmt: skip
    assert at_most(norm(mean(gradient(minimiser))), number(Fraction(1, 10**9))).on(linear).holds is True
    assert at_most(infimum, value(server(1))).on(linear).holds is True
    assert claim_of(feddyn.lemma1).on(linear).holds is True
    assert at_most(value(server(1)), infimum).on(linear).holds is False


LOADED = """
import sys
import fedconvex.claims.on_runs.claim_on, fedconvex.claims.claim
print(sorted(name for name in sys.modules if name.split(".")[0] == "torch" or name.startswith("fedconvex.deep")))
"""


def test_the_claim_language_loads_neither_torch_nor_the_runner() -> None:
    assert require(python("-c", LOADED)) == "[]\n"
