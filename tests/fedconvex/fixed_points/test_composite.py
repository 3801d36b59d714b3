"""Fixed points for composite objectives: a round leaves them as they are; splitting methods have no bias."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.regularizers import L1, Box, GroupLasso, Regularizer
from fedconvex.runs.rounds import rounds_of

TERMS: dict[str, Regularizer] = {
    "l1": L1([0, 15, 15, 15]),
    "box": Box(F(-1, 10), F(1, 10)),
    "groups": GroupLasso(8, [[0, 1], [2, 3]]),
}
SPLITTING = (
    fc.FedSplit(stepsize=F(1, 20)), fc.FedDyn(alpha=20), fc.FedDynOneGD(alpha=200), fc.FedPD(eta=F(1, 20)),
    fc.FedGD(stepsize=F(1, 100)), fc.FedSGD(stepsize=F(1, 100)), fc.FedNova(stepsize=F(1, 100)),
)  # fmt: skip
BIASED = (
    fc.FedGD(stepsize=F(1, 100), local_steps=3), fc.FedProx(mu=50), fc.FedGD(stepsize=F(1, 100), local_steps=(3, 1, 2)),
    fc.FedNova(stepsize=F(1, 100), local_steps=(3, 1, 2)),
)  # fmt: skip
EXACT = arithmetics.get("exact")


def clients() -> Any:
    rng = np.random.default_rng(3)
    A = [rng.integers(-3, 4, (7, 4)).tolist() for _ in range(3)]
    return fc.LeastSquares(A=A, b=[rng.integers(-5, 6, 7).tolist() for _ in range(3)], weights=[1, 2, 3])


@pytest.mark.parametrize("name", ["l1", "box"])
@pytest.mark.parametrize("method", [SPLITTING[4], *BIASED], ids=str)
def test_a_round_in_rationals_leaves_the_exact_fixed_point_as_it_is(name: str, method: Any) -> None:
    composite = fc.CompositeProblem(clients(), TERMS[name])
    found = fc.fixed_point(method, composite, arithmetic="exact")
    again = fc.simulate(method, composite, 1, x0=found.point, arithmetic="exact", progress=False)
    assert list(again.points[1]) == list(found.point)
    assert found.unique is True
    assert found.attracting is True


@pytest.mark.parametrize("name", ["l1", "box"])
@pytest.mark.parametrize("method", SPLITTING, ids=str)
def test_splitting_methods_and_single_steps_have_no_bias(name: str, method: Any) -> None:
    composite = fc.CompositeProblem(clients(), TERMS[name])
    found = fc.fixed_point(method, composite, arithmetic="exact")
    assert found.bias_is_zero
    assert found.gap == 0


@pytest.mark.parametrize("name", ["l1", "box"])
@pytest.mark.parametrize("method", BIASED, ids=str)
def test_several_steps_and_moreau_envelopes_have_a_bias(name: str, method: Any) -> None:
    """The check above can fail."""
    found = fc.fixed_point(method, fc.CompositeProblem(clients(), TERMS[name]), arithmetic="exact")
    assert not found.bias_is_zero
    assert found.gap > 0


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("method", [*SPLITTING, *BIASED], ids=str)
def test_runs_end_at_the_enclosed_fixed_point(name: str, method: Any) -> None:
    composite = fc.CompositeProblem(clients(), TERMS[name])
    balls = fc.fixed_point(method, composite, arithmetic="ball")
    floats = fc.fixed_point(method, composite)
    run = fc.simulate(method, composite, 1500, progress=False)
    last = run.points[-1]
    for ball, one, other in zip(balls.point, last, floats.point, strict=True):
        assert float(ball.rad()) < 1e-13
        assert abs(one - float(ball.mid())) < 1e-11
        assert abs(other - float(ball.mid())) < 1e-13
    frame = run.to_frame(["value", "gap", "distance", "gradient_norm"])
    assert frame["value"].iloc[-1] == pytest.approx(float(composite.value(last)), rel=1e-14)
    assert frame["gap"].iloc[-1] == pytest.approx(float(floats.gap), abs=1e-11)
    assert frame["distance"].iloc[-1] == pytest.approx(float(floats.bias_norm), abs=1e-11)
    if method in SPLITTING:
        assert frame["gradient_norm"].iloc[-1] < 1e-9


def test_a_memory_that_rests_makes_the_minimiser_a_fixed_state() -> None:
    """FedDyn's and FedSplit's whole states at the exact minimiser, written down by hand: a round changes nothing."""
    composite = fc.CompositeProblem(clients(), TERMS["l1"])
    x = fc.ground_truth(composite).exact_point
    for method, memory in (
        (fc.FedDyn(alpha=20), lambda x, g: ("gradient", g)),
        (fc.FedSplit(stepsize=F(1, 20)), lambda x, g: ("z", x - g / 20)),
    ):
        run = rounds_of(method, composite.problem, "exact", regularizer=composite.regularizer)
        with EXACT.context():
            server = EXACT.array(x)
            state = run.start(server)
            gradients = run.clients.gradients(server)
            name, rows = memory(server, gradients)
            shared = {"h": gradients.sum(0) / 3} if "h" in state.shared else {}
            state = type(state)(server, shared, {name: rows})
            after = run.advance(state)
            assert (after.server == server).all()
            assert (after.memory[name] == rows).all()


def logistic(ridge: Any = F(1, 10), term: Regularizer | None = None) -> Any:
    rng = np.random.default_rng(0)
    A, y = [rng.integers(-2, 3, (6, 3)).tolist() for _ in range(2)], [[1, -1, 1, 1, -1, -1]] * 2
    return fc.CompositeProblem(fc.Logistic(A=A, y=y, ridge=ridge), L1(F(1, 20)) if term is None else term)


@pytest.mark.parametrize(
    "method",
    [fc.FedDyn(alpha=1), fc.FedProx(mu=1), fc.FedGD(stepsize=F(1, 9), local_steps=3),
     fc.FedGD(stepsize=F(1, 9), local_steps=(1, 3)), fc.FedNova(stepsize=F(1, 9), local_steps=2)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("term", [L1(F(1, 20)), Box(F(-1, 10), F(1, 10)), GroupLasso(F(1, 20), [[0, 1], [2]])], ids=str)
def test_runs_on_logistic_losses_end_at_the_enclosed_fixed_point(method: Any, term: Regularizer) -> None:
    composite = logistic(term=term)
    found = fc.fixed_point(method, composite, arithmetic="ball")
    run = fc.simulate(method, composite, 400, progress=False)
    assert all(abs(float(b.mid()) - x) < 1e-10 for b, x in zip(found.point, run.points[-1], strict=True))
    assert max(float(b.rad()) for b in found.point) < 1e-11
    assert found.unique is True


def test_fedprox_on_logistic_losses_rests_where_its_optimality_condition_holds() -> None:
    """0 ∈ Σ p_k ∇M_k(w) + λ∂‖w‖₁ with the Moreau envelopes' gradients μ(w − θ_k), by another minimiser of their own."""
    from scipy.optimize import root

    composite, mu = logistic(term=L1(F(1, 10))), 2.0
    w = np.array(fc.fixed_point(fc.FedProx(mu=2), composite).point, dtype=float)
    f = composite.problem

    def answer(k: int) -> Any:
        return root(lambda x: f.client_gradients(x)[k] + mu * (x - w), w, tol=1e-13).x

    gradient = mu * (w - sum(p * answer(k) for k, p in enumerate(f.weights)))
    assert (w == 0).any()
    assert (w != 0).any()
    assert gradient[w != 0] == pytest.approx(-np.sign(w[w != 0]) / 10, abs=1e-7)
    assert (np.abs(gradient[w == 0]) <= 1 / 10 + 1e-7).all()


L1_ON_LEAST_SQUARES, STEPS = fc.CompositeProblem(clients(), L1(1)), fc.GradientDescent(steps=2, stepsize=F(1, 99))
ROOTS = fc.CompositeProblem(clients(), GroupLasso(8, [[0, 1]]))
NOT_STRONGLY_CONVEX = "not known with this regulariser; give strongly convex"
IRRATIONAL = "arithmetic = exact: is impossible for logistic losses"


@pytest.mark.parametrize(
    ("method", "composite", "options", "named"),
    [
        (fc.FedProx(mu=50), ROOTS, {"arithmetic": "exact"}, "has roots"),
        (fc.Scaffold(stepsize=F(1, 99)), L1_ON_LEAST_SQUARES, {}, "follow ∇f, which need not be 0"),
        (fc.FedGD(stepsize=10**6, local_steps=2), L1_ON_LEAST_SQUARES, {}, "not strictly monotone"),
        (fc.FedGD(stepsize="1/(100 + t)"), L1_ON_LEAST_SQUARES, {}, "changes its stepsize"),
        (fc.FedProx(mu=1), L1_ON_LEAST_SQUARES, {"local_solver": STEPS}, "fixed number"),
        (fc.FedGD(stepsize=1), L1_ON_LEAST_SQUARES, {"local_solver": fc.Exact()}, "takes no steps of known size"),
        (fc.FedProx(mu=1), logistic(ridge=0), {}, NOT_STRONGLY_CONVEX),
        (fc.FedGD(stepsize=F(1, 9), local_steps=2), logistic(ridge=0), {}, NOT_STRONGLY_CONVEX),
        (fc.FedSplit(stepsize=1), logistic(), {"arithmetic": "exact"}, IRRATIONAL),
        (fc.FedProx(mu=1), logistic(), {"arithmetic": "exact"}, IRRATIONAL),
    ],
)
def test_what_is_not_known_is_refused(method: Any, composite: Any, options: Any, named: str) -> None:
    with pytest.raises(fc.InvalidInput, match=named):
        fc.fixed_point(method, composite, **options)
