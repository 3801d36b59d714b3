"""Local SGD: noise in every local step, against closed forms and plain loops over every outcome of the noise."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.certificates.search import certify

CLASS = SmoothStronglyConvex(1, 4)
STEP = F(1, 4)
FEDGD = fc.FedGD(stepsize=STEP, local_steps=2)


def after_every_noise(curvatures, slopes, start, s, steps, variance, draws=((0, 1),)):
    """E‖w⁺‖² of local SGD on a line by plain loops: every client's noise is √variance or −√variance, one each step."""
    size, m, total = variance, len(curvatures), F(0)
    for drawn in draws:
        for signs in product((1, -1), repeat=steps * m):
            ends = []
            for k in drawn:
                x = start
                for j in range(steps):
                    x -= s * (curvatures[k] * x - slopes[k] + size * signs[k * steps + j])
                ends.append(x)
            total += (sum(ends) / len(drawn)) ** 2
    return total / (len(draws) * 2 ** (steps * m))


@pytest.mark.sample(4)
@pytest.mark.parametrize("weight", [F(1, 1000), F(1, 50), F(3)])
@pytest.mark.parametrize("m", [1, 2, 10, "any"])
def test_one_step_is_known(m, weight):
    """‖w − s∇f(w)‖² <= (1 − sμ)²‖w‖², and the mean of m independent noises has variance σ²/m."""
    found = worst_case(fc.FedGD(stepsize=STEP), CLASS, m, noise=weight)
    share = 1 if m == "any" else F(1, m)
    assert found.lower == max((1 - STEP) ** 2, STEP**2 * share / weight)
    assert found.lower <= found.upper <= found.lower * (1 + F(1, 10**6))


@pytest.mark.parametrize("m", [1, 2])
def test_two_steps_on_the_worst_federation(m):
    """The noise of the first step is contracted by the second; of one client the bound is that, too.

    Clients that are no quadratics may turn independent noise into a common bias: their bound is larger.
    """
    found = worst_case(FEDGD, CLASS, m, heterogeneity=1, noise=F(1, 1000))
    assert found.variance == 1
    played = after_every_noise([1] * m, [0] * m, F(0), STEP, 2, F(1), [range(m)])
    assert found.lower == played * 1000 == STEP**2 * (1 + (1 - STEP) ** 2) / m * 1000
    assert found.upper <= found.lower * (1 + F(1, 10**6) if m == 1 else F(6, 5))


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(4))
def test_no_federation_with_noise_exceeds_the_bound(seed):
    draw, s = np.random.default_rng(seed), F(1, 8)
    a, b = (1 + F(int(x), 10) for x in draw.integers(0, 31, 2))
    p, w, sigma = (F(int(x)) for x in draw.integers(1, 5, 3))
    for draws, scheme in ((((0, 1),), None), (((0,), (1,)), Uniform(1))):
        found = worst_case(replace(FEDGD, stepsize=s), CLASS, 2, heterogeneity=1, noise=1, participation=scheme)
        reached = after_every_noise([a, b], [p, -p], w, s, 2, sigma, draws)
        assert reached <= found.upper * (w * w + p * p + sigma**2)


def test_more_noise_than_is_said_is_caught():
    """Noise of twice the length breaks the bound."""
    found = worst_case(FEDGD, CLASS, 2, heterogeneity=1, noise=F(1, 1000))
    played = after_every_noise([1, 1], [0, 0], F(0), STEP, 2, F(2))
    assert played > found.upper * F(1, 1000)


def test_noise_that_may_be_related_to_the_past_costs_more():
    """Without the equations that say that it is unbiased the proved bound is larger."""
    question = worst_case(FEDGD, CLASS, 2, heterogeneity=1, noise=1).question
    kept = [(name, form) for name, form in question.program.inequalities if "unrelated" not in name]
    biased = certify(replace(question.program, inequalities=tuple(kept)), None, lambda _: True).certificate
    assert biased is None or biased.t > certify(question.program, None, lambda _: True).certificate.t * F(11, 10)


def test_steps_of_sgd_are_noisy_gradient_steps():
    steps = fc.SGD(steps=2, batch_size=1, stepsize=STEP)
    for method in (FEDGD, fc.FedAvg(stepsize=STEP)):
        one, other = (worst_case(method, CLASS, 10, heterogeneity=1, noise=1, local_solver=solver)
                      for solver in (steps, fc.GradientDescent(steps=2, stepsize=STEP)))  # fmt: skip
        assert (one.lower, one.upper) == (other.lower, other.upper)


@pytest.mark.sample(2)
@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm", "average_gap", "mean_gap"])
def test_every_metric_of_two_rounds_of_drawn_clients(metric):
    method = fc.Scaffold(stepsize=F(1, 8), local_steps=1)
    question = {"metric": metric, "heterogeneity": 1, "noise": 1, "participation": Uniform(3)}
    few, many = (worst_case(method, CLASS, m, 2, **question) for m in (4, 10))
    assert 0 < few.lower <= few.upper < 8
    assert 0 < many.lower <= many.upper < 8


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"noise": 0}, "give a number > 0"),
        ({"noise": -1}, "give a number > 0"),
        ({"noise": "much"}, "noise = much: is not a number"),
        ({"metric": "descent", "clients": SmoothConvex(1)}, "no part in descent"),
        ({"metric": "gap_ratio"}, "no part in ratio"),
        ({"metric": "mean_gradient_norm", "clients": WeaklyConvex(1, 1)}, "no part in mean_gradient_norm"),
        ({"dissimilarity": 2}, "not analysed with dissimilarity"),
        ({"method": fc.Scaffnew(stepsize=STEP, probability=F(1, 2))}, "skipped communication"),
        ({"method": fc.FedProx(mu=1)}, "makes no gradient steps"),
        ({"method": replace(FEDGD, local_steps=(1, 3))}, "gradient steps"),
        ({"method": fc.FedAvg(stepsize=STEP)}, "epochs = 1: .*give SGD"),
        ({"local_solver": fc.SGD(steps=2, stepsize=STEP, momentum=F(1, 2))}, "leave out decay"),
        ({"participation": Weighted(2), "method": fc.Scaffold(stepsize=STEP), "rounds": 2, "num_clients": "any"},
         "who take part"),
        ({"method": fc.FedDANE(mu=4), "local_solver": fc.GradientDescent(steps=1, stepsize=STEP),
          "participation": Uniform(1)}, "drawn a second time"),
    ],
)  # fmt: skip
def test_wrong_noise_is_refused(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        worst_case(**{"method": FEDGD, "clients": CLASS, "num_clients": 2, "noise": 1, **arguments})


def test_its_proof_is_not_written_out():
    with pytest.raises(ValueError, match="noise"):
        worst_case(FEDGD, CLASS, 2, heterogeneity=1, noise=1).proof()
