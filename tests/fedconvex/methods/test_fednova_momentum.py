"""FedNova whose clients take steps with momentum: its normalisation is the paper's ‖a_k‖₁."""

from fractions import Fraction

import numpy as np
import pseudo_code_clients as clients
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import POSITIVE, terms_of
from round_cases import EVERYBODY, PARTIAL, START, X0, M, fewer, problems, run

import fedconvex as fc

SQUARES = fc.LeastSquares(
    A=[[[2, 1], [1, 3]], [[1, 0], [0, 2]], [[3, -1], [-1, 1]]], b=[[1, 2], [1, 0], [-1, 4]], weights=[1, 2, 3]
)
WORK, RHO = [2, 1, 4], Fraction(2, 3)


def solver(s: Fraction, rho: Fraction) -> fc.SGD:
    return fc.SGD(steps=4, batch_size=None, stepsize=s, momentum=rho)


@fewer
@given(
    problem=problems().filter(lambda problem: problem.has_samples),
    x0=X0,
    s=POSITIVE,
    rho=st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1, 7)]),
    work=st.lists(st.integers(1, 4), min_size=M, max_size=M),
)
def test_unequal_work_with_momentum(problem, x0, s, rho, work) -> None:
    x0, schedule = x0[: problem.dim], [EVERYBODY, [0, 2]]
    points = run(fc.FedNova(stepsize=s), problem, x0, schedule, solver(s, rho), work)
    assert np.array_equal(points, clients.fednova_momentum(terms_of(problem), x0, schedule, s=s, tau=work, rho=rho))


@pytest.mark.parametrize("schedule", [[EVERYBODY] * 3, PARTIAL])
def test_counting_steps_is_rejected(schedule) -> None:
    s, terms = Fraction(1, 30), terms_of(SQUARES)
    points = run(fc.FedNova(stepsize=s), SQUARES, START, schedule, solver(s, RHO), WORK)
    right, wrong = (
        clients.fednova_momentum(terms, START, schedule, s=s, tau=WORK, rho=RHO, fault=fault)
        for fault in ("", "steps counted")
    )
    assert np.array_equal(points, right)
    assert not np.array_equal(points, wrong)
