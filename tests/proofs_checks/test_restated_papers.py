"""The restated papers: proved for their claims alone, true of random federations, never called the papers'."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from documents import making

import fedconvex as fc
from fedconvex.methods.base import Cohort, State
from fedconvex.proofs_checks import papers_with_proofs, verify
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.line_clients import federation
from fedconvex.proofs_checks.readings import RESTATED, words
from fedconvex.proofs_checks.remarks import Remarks
from fedconvex.proofs_checks.verification import _conclude, load
from fedconvex.statements.statement import Statement
from fedconvex.theory import bounds_for, charles_konecny, fednova, gower, khaled, li_fedavg, papers, scaffnew, yuan_li
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # replays proofs
F = Fraction
PAPERS = [paper for paper in papers().values() if paper.restated]
for paper in PAPERS:
    load(paper.name)
EVERY = {s.identifier: s for paper in PAPERS for s in paper}
STATEMENTS = {name: s for name, s in EVERY.items() if builder_of(s) is not None}


def test_there_are_such_papers_with_proofs() -> None:
    assert len(PAPERS) >= 10
    assert len(STATEMENTS) >= 47
    assert {paper.name for paper in PAPERS} <= set(papers_with_proofs())
    assert not any(papers()[name].restated for name in ("fedprox", "fedsplit", "feddyn"))


@pytest.mark.parametrize("of", [s for name, s in EVERY.items() if name not in STATEMENTS], ids=lambda s: s.identifier)
def test_a_formula_about_data_is_compared_with_the_code(of: Statement) -> None:
    found = verify(of)
    assert found.verdict is Verdict.COMPARED
    assert found.as_printed in (RESTATED, "a definition")


@pytest.mark.parametrize("of", STATEMENTS.values(), ids=STATEMENTS)
def test_it_is_proved_and_said_to_be_restated(of: Statement) -> None:
    found = verify(of)
    assert found.verdict is Verdict.PROVED
    assert (found.as_printed, found.holds) == (RESTATED, "as stated")
    assert of.source.endswith(", restated")
    page = making("statement_page")
    assert page.RESTATED in page.as_markdown([of.identifier])


def test_a_counterexample_to_a_restatement_is_none_to_the_paper() -> None:
    of = khaled.two_steps
    instance = ((1, 1), (0, 0), 1, (F(1), F(1), F(1, 4)), ())
    broken = Remarks(breaks=lambda: federation(of, instance))  # type: ignore[arg-type, return-value]
    verdict, reason = _conclude(of, broken, None, "", [], None)
    assert verdict is Verdict.UNKNOWN
    assert "says nothing of the paper" in reason
    told = words(of, broken, verdict, corrected=None, line_fails=False)
    assert "false" not in " ".join(told)
    in_its_words = replace(of, paper=replace(of.paper, restated=False))
    assert "says nothing of the paper" not in _conclude(in_its_words, broken, None, "", [], None)[1]


# ---- second routes


def test_the_gradients_at_the_minimiser_are_measured_with_the_servers_weights() -> None:
    """F_k = a(x − c_k)²/2 with weights 1/4 and 3/4: x* = 3, gradients 2·3 and 2·(−1)."""
    problem = fc.Quadratic([[[2]], [[2]]], [[0], [8]], weights=[F(1, 4), F(3, 4)])
    found = bounds_for(fc.FedGD(stepsize=F(1, 16), local_steps=2), problem, rounds=2)
    entry = next(e for e in found.applies if e.statement is khaled.strongly_convex_rate)
    assert float(entry.parameters["sigma_star2"]) == pytest.approx((36 + 3 * 4) / 4)
    q = F(49, 64)
    expected = q**2 * 9 + (1 - q**2) / (1 - q) * 3 * F(1, 16) ** 3 * 2 * 12
    assert float(entry.value) == pytest.approx(float(expected))


def applying(method: Any, problem: Any, **options: Any) -> set[str]:
    found = bounds_for(method, problem, rounds=2, **options)
    return {e.statement.identifier for e in found.applies}


def test_drawn_clients_of_unequal_weights_are_another_setting() -> None:
    """A plain average of drawn clients is no unbiased estimate of a weighted mean."""
    H, c, drawn = [[[2]], [[2]]], [[0], [8]], fc.participation.Uniform(1)
    for weights, holds_there in ((None, True), ([F(1, 4), F(3, 4)], False)):
        found = applying(fc.FedGD(stepsize=F(1, 16)), fc.Quadratic(H, c, weights=weights), participation=drawn)
        assert ("gower.troundspofmclients" in found) is holds_there


def test_another_local_solver_is_another_method() -> None:
    problem, rate = fc.Quadratic([[[2]], [[2]]], [[0], [8]]), "fedlin.twolocalstepstrounds"
    method = fc.FedLin(stepsize=F(1, 16), local_steps=2)
    assert rate in applying(method, problem)
    assert rate not in applying(method, problem, local_solver=fc.local_solvers.GradientDescent(steps=2, stepsize=2))


def test_fixed_points_of_fedprox_are_as_near_as_promised() -> None:
    problem = fc.Quadratic([[[1]], [[4]]], [[3], [-4]])
    best, sigma = F(-1, 5), F(16, 5)  # 5x + 1 = 0, and |x* − 3| = |4x* + 4| = 16/5
    for s in (F(1, 8), F(1), F(10)):
        stop = fc.fixed_point(fc.FedProx(mu=1 / s), problem, "exact")
        bound = yuan_li.distance_at_fixed_point(stepsize=s, mu=F(1), L=F(4), sigma_star=sigma)
        assert abs(F(stop.point[0]) - best) <= min(bound, sigma)


def test_gamma_lies_between_its_bounds() -> None:
    """Γ = f(x*) − mean min F_k of a_k(x − c_k)²/2 by hand."""
    a, c = (F(1), F(4)), (F(3), F(-1))
    x = sum(a_k * c_k for a_k, c_k in zip(a, c, strict=True)) / sum(a)
    gamma = sum(a_k * (x - c_k) ** 2 / 2 for a_k, c_k in zip(a, c, strict=True)) / 2
    sigma2 = sum((a_k * (x - c_k)) ** 2 for a_k, c_k in zip(a, c, strict=True)) / 2
    most = li_fedavg.gamma_at_most(mu=F(1), sigma_star2=sigma2)
    least = -li_fedavg.gamma_at_least(L=F(4), sigma_star2=sigma2)
    assert least < gamma < most


def test_the_variance_of_a_draw_without_replacement() -> None:
    """Averages of 2 of the 3 numbers 0, 3, 6: 3/2, 3, 9/2, of variance 3/2; that of one is 6."""
    assert gower.variance(F(3), F(2)) * 6 == F(3, 2)
    assert li_fedavg.noise_uniform(num_clients=3, num_active=2, spread=F(6)) == F(3, 2)


def test_local_steps_weigh_the_clients_by_hand() -> None:
    """½(x − 1)² and (x + 1)² with s = 1/4: a step keeps 3/4 and 1/2 of the distance, two keep 9/16 and 1/4."""
    clients = {"weights": [F(1, 2)] * 2, "curvatures": [F(1), F(2)], "minimisers": [F(1), F(-1)]}
    one, two = F(1, 4), F(7, 16)
    equal = charles_konecny.fixed_point(stepsize=F(1, 4), local_steps=2, **clients)
    assert equal == (two - F(3, 4)) / (two + F(3, 4))
    more = fednova.fedavg_fixed_point(stepsize=F(1, 4), steps=[1, 2], **clients)
    assert more == (one - F(3, 4)) / (one + F(3, 4))
    normalised = fednova.fednova_fixed_point(stepsize=F(1, 4), steps=[1, 2], **clients)
    assert normalised == (one - F(3, 8)) / (one + F(3, 8))
    assert fednova.inconsistent_minimiser(steps=[1, 2], **clients) == F(1 - 4, 1 + 4)
    assert charles_konecny.surrogate_condition(stepsize=F(1, 4), local_steps=2, mu=1, L=2) == F(3, 4) / two


def test_many_local_steps_count_all_clients_alike() -> None:
    """The surrogates' minimiser tends from the objective's to the plain mean of the clients' minimisers."""
    clients = {"weights": [F(1, 2)] * 2, "curvatures": [F(1), F(3)], "minimisers": [F(1), F(-1)]}
    found = [charles_konecny.fixed_point(stepsize=F(1, 4), local_steps=e, **clients) for e in (1, 2, 4, 16)]
    assert found[0] == F(-1, 2)
    assert all(before < after < 0 for before, after in pairwise(found))
    assert found[-1] > F(-1, 100)


def cohort(points: np.ndarray, communicates: bool) -> Cohort:
    def nothing() -> Any:
        raise AssertionError

    return Cohort(
        points=points, population=len(points), everyone=True, communicates=communicates, objective=nothing,
        average=lambda stack: stack.sum(0) / F(len(stack)), gradients=nothing, sampled_gradient=nothing,
        full_gradient=nothing,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_scaffnews_energy_is_that_of_the_methods_own_code(seed: int) -> None:
    """Both outcomes of the coin, played by the method on F_k = a_k(x − c_k)²/2, against the formula A + (1 − p²)C."""
    random = Random(seed)
    m, s, p = random.randint(1, 4), F(1, random.randint(4, 9)), F(random.randint(1, 4), 4)
    a, c, x, h = ([F(random.randint(low, 5)) for _ in range(m)] for low in (1, -5, -5, -5))
    h = [h_k - sum(h) / m for h_k in h]
    best = sum(map(lambda a_k, c_k: a_k * c_k, a, c)) / sum(a)
    at_best = [a_k * (best - c_k) for a_k, c_k in zip(a, c, strict=True)]
    column = np.array([[x_k] for x_k in x], dtype=object)
    state = State(np.array([sum(x) / m], dtype=object), memory={
        "model": column, "control": np.array([[h_k] for h_k in h], dtype=object)})  # fmt: skip
    method, expected = fc.Scaffnew(stepsize=s, probability=p), F(0)
    for communicates, chance in ((True, p), (False, 1 - p)):
        seen = cohort(np.repeat(state.server[None], m, 0), communicates)
        # with p = 1 the method starts its step at the server's point, which all models are then
        start = state.memory["model"]
        gradients = np.array([[a_k * (x_k[0] - c_k)] for a_k, c_k, x_k in zip(a, c, start, strict=True)], dtype=object)
        answers = fc.local_solvers.Answers(start - s * (gradients - state.memory["control"]), s)
        after = method.update(state, seen, answers)
        models, controls = after.memory["model"][:, 0], after.memory["control"][:, 0]
        apart = sum((x_k - best) ** 2 for x_k in models) / F(m)
        expected += chance * (apart + (s / p) ** 2 * sum(
            (h_k - g_k) ** 2 for h_k, g_k in zip(controls, at_best, strict=True)) / F(m))  # fmt: skip
    stepped = [
        x_k - s * a_k * (x_k - c_k) - best + s * g_k for x_k, a_k, c_k, g_k in zip(x, a, c, at_best, strict=True)
    ]
    controls_before = (s / p) ** 2 * sum((h_k - g_k) ** 2 for h_k, g_k in zip(h, at_best, strict=True)) / F(m)
    of_models = sum(z**2 for z in stepped) / F(m)
    assert expected == scaffnew.one_step(probability=p, stepped=of_models, controls=controls_before)


def test_a_papers_short_name_has_no_comma() -> None:
    """Pages group statements by what stands before the first comma of their source."""
    assert [paper.name for paper in papers().values() if "," in paper.short] == []


def test_one_client_alone_has_bounds_too() -> None:
    """The formulas for P of m clients need m ≥ 2: there they do not apply, and nothing fails."""
    problem = fc.Quadratic([[[2]]], [[8]])
    found = applying(fc.FedGD(stepsize=F(1, 16)), problem)
    assert "nesterov.gradientstep" in found
    assert not any(name.startswith("gower.") and "nonconvex" in name for name in found)
