"""Ditto and pFedMe: their personal models against the papers, where they rest, and what they reduce to."""

from fractions import Fraction
from typing import Any

import numpy as np
import pseudo_code_clients as clients
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import POSITIVE, fractions, identity, inverse, rationals, terms_of
from round_cases import PARTIAL, START, UNEQUAL, X0, fewer, problems, run, schedules

import fedconvex as fc
from fedconvex.audit.methods import read_method
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothStronglyConvex, worst_case

F = Fraction
DESIGNS: Any = [[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 1], [2, 5]]]
PROBLEM = fc.LeastSquares(A=DESIGNS, b=[[1, 2], [0, 4], [1, 1]])
LAM = F(3)


S = F(1, 64)


def ditto(s: Fraction = S, e: int = 2, lam: Fraction = LAM) -> fc.Ditto:
    return fc.Ditto(stepsize=s, local_steps=e, regularization=lam)


def proximal_points(problem: Any, w: np.ndarray, lam: Fraction) -> list[np.ndarray]:
    """(H_k + λI)⁻¹(c_k + λw)."""
    terms = terms_of(problem)
    return [inverse(H + lam * identity(len(w))) @ (c + lam * w) for H, c in zip(terms.H, terms.c, strict=True)]


class TestDitto:
    @fewer
    @given(problem=problems(), x0=X0, s=POSITIVE, lam=POSITIVE, e=st.integers(1, 3), schedule=schedules(3))
    def test_personal_models_are_those_of_the_paper(self, problem, x0, s, lam, e, schedule) -> None:
        x0, who = x0[: problem.dim], fc.participation.Schedule(schedule)
        found = fc.simulate(ditto(s, e, lam), problem, 3, who, x0=x0, arithmetic="exact")
        points, own = clients.ditto(terms_of(problem), x0, schedule, s=s, e=e, lam=lam)
        assert np.array_equal(found.points, points)
        assert np.array_equal(rationals(found.state.memory["personal"]), np.stack(own))

    def test_another_pull_is_rejected(self) -> None:
        who = fc.participation.Schedule(PARTIAL)
        found = fc.simulate(ditto(), UNEQUAL, 3, who, x0=START, arithmetic="exact").state.memory["personal"]
        for fault in ("", "pulled to the trained copy"):
            _, own = clients.ditto(terms_of(UNEQUAL), START, PARTIAL, s=F(1, 64), e=2, lam=LAM, fault=fault)
            assert np.array_equal(rationals(found), np.stack(own)) == (fault == "")

    def test_the_server_is_fedgds(self) -> None:
        plain = fc.FedGD(stepsize=F(1, 64), local_steps=2)
        assert np.array_equal(run(ditto(), PROBLEM, START, PARTIAL), run(plain, PROBLEM, START, PARTIAL))
        one, other = (fc.fixed_point(method, PROBLEM, "exact") for method in (ditto(), plain))
        assert list(one.point) == list(other.point)
        assert one.attracting

    def test_at_rest_they_are_proximal_points(self) -> None:
        """Started there, in fractions, a round changes nothing; and rounds lead there."""
        w = fractions(fc.fixed_point(ditto(), PROBLEM, "exact").point)
        rest = proximal_points(PROBLEM, w, LAM)
        run_on = fc.simulate(ditto(), PROBLEM, 500)
        assert np.abs(run_on.state.memory["personal"] - np.array(rest, dtype=float)).max() < 1e-9
        terms = terms_of(PROBLEM)
        for H, c, v in zip(terms.H, terms.c, rest, strict=True):
            assert not any(H @ v - c + LAM * (v - w))


class TestPFedMe:
    @pytest.mark.parametrize("eta", [F(1, 3), F(1, 8)])
    @pytest.mark.parametrize("beta", [F(1, 2), F(1), F(3, 2)])
    def test_with_one_step_it_rests_where_fedprox_does(self, eta, beta) -> None:
        method = fc.PFedMe(regularization=LAM, stepsize=eta, server_stepsize=beta)
        one, other = (fc.fixed_point(m, UNEQUAL, "exact") for m in (method, fc.FedProx(mu=LAM)))
        # FedProx averages f_k with the weights, pFedMe plainly the clients m·p_k·f_k: equal where weights are
        assert list(one.point) != list(other.point)
        one, other = (fc.fixed_point(m, PROBLEM, "exact") for m in (method, fc.FedProx(mu=LAM)))
        assert list(one.point) == list(other.point)
        assert one.attracting

    def test_with_a_full_step_it_is_fedprox(self) -> None:
        method = fc.PFedMe(regularization=LAM, stepsize=1 / LAM)
        assert np.array_equal(run(method, PROBLEM, START, PARTIAL), run(fc.FedProx(mu=LAM), PROBLEM, START, PARTIAL))

    def test_personal_models_are_the_last_proximal_points(self) -> None:
        method = fc.PFedMe(regularization=LAM, stepsize=F(1, 8))
        found = fc.simulate(method, PROBLEM, 1, x0=START, arithmetic="exact").state.memory["personal"]
        assert np.array_equal(rationals(found), np.stack(proximal_points(PROBLEM, START, LAM)))


@pytest.mark.parametrize("method", [ditto(), fc.PFedMe(regularization=1, stepsize=1, local_steps=2)])
def test_worst_cases_refer_to_the_servers_part(method) -> None:
    with pytest.raises(InvalidInput, match="further local problems"):
        worst_case(method, SmoothStronglyConvex(mu=1, L=4))


def test_the_command_line_knows_them() -> None:
    assert read_method("ditto:regularization=1/2,stepsize=1/8")[0] == "ditto"
    assert read_method("pfedme:regularization=1,stepsize=1/2,local_steps=2")[0] == "pfedme"
