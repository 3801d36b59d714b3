"""Scaffnew's rounds, with and without communication, against its paper; where it rests; what it refuses."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pseudo_code_clients as clients
import pytest
from problem_makers import fractions, terms_of
from round_cases import START, UNEQUAL

import fedconvex as fc
from fedconvex.audit.methods import read_method
from fedconvex.conformance import check
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import SmoothStronglyConvex, worst_case

F = Fraction
PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 1], [2, 5]]], b=[[1, 2], [0, 4], [1, 1]])


def possible_coins(points: np.ndarray) -> Iterator[list[bool]]:
    """Where the server's point moves there was communication; where it rests there may have been."""
    moves = [not np.array_equal(old, new) for old, new in pairwise(points)]
    return map(list, product(*[[True] if move else [False, True] for move in moves]))


def one_run(problem: Any, gamma: Fraction, p: Fraction, seed: int, rounds: int = 6) -> tuple[np.ndarray, list[bool]]:
    method = fc.Scaffnew(stepsize=gamma, probability=p)
    x0 = START[: problem.dim]
    points = fc.simulate(method, problem, rounds, x0=x0, seed=seed, arithmetic="exact").points
    for coins in possible_coins(points):
        expected = clients.scaffnew(terms_of(problem), x0, [], gamma=gamma, p=p, coins=coins)
        if np.array_equal(points, expected):
            return points, coins
    raise AssertionError(seed)


def test_rounds_are_those_of_the_paper_and_faults_are_rejected() -> None:
    gamma, p, seen = F(1, 9), F(1, 3), set()
    for seed in range(8):
        points, coins = one_run(UNEQUAL, gamma, p, seed)
        seen.add(tuple(coins))
        for fault in ("p forgotten", "local steps forgotten"):
            wrong = clients.scaffnew(terms_of(UNEQUAL), START, [], gamma=gamma, p=p, coins=coins, fault=fault)
            tossed = "".join("ct"[not coin] for coin in coins)  # c: communication; the first fault needs steps
            shows = re.search("ct+c" if fault == "p forgotten" else "tc", tossed)  # between two of them
            if shows:
                assert not np.array_equal(points, wrong)
    assert len(seen) > 4


@pytest.mark.slow
def test_many_random_runs_with_coins() -> None:
    draw = np.random.default_rng(5)
    for seed in range(1000):
        d = int(draw.integers(1, 3))
        A = [fractions(draw.integers(-3, 4, (d, d))) for _ in range(3)]
        problem = fc.Quadratic([a.T @ a for a in A], [fractions(draw.integers(-3, 4, d)) for _ in A], [1, 2, 3])
        moves = one_run(problem, F(1, int(draw.integers(5, 40))), F(int(draw.integers(1, 5)), 5), seed, rounds=4)
        assert len(moves[1]) == 4


@pytest.mark.beyond_core  # plays 4,000 rounds
def test_it_finds_the_minimiser_for_every_probability() -> None:
    minimiser = fc.ground_truth(PROBLEM).point
    for p in (F(1, 2), F(1, 8)):
        method = fc.Scaffnew(stepsize=F(1, 32), probability=p)
        assert np.abs(fc.simulate(method, PROBLEM, 2000, seed=1).points[-1] - minimiser).max() < 1e-9
    # Absent clients keep what they have; the participants' control variates change by what sums to 0, unless one of
    # them counts twice.
    for scheme, finds in ((Uniform(2), True), (Bernoulli(F(1, 2)), True), (Weighted(3), False)):
        method = fc.Scaffnew(stepsize=F(1, 32), probability=F(1, 2))
        last = fc.simulate(method, PROBLEM, 6000, scheme, seed=1).points[-1]
        assert (np.abs(last - minimiser).max() < 1e-9) == finds, scheme


def test_where_it_rests() -> None:
    for p in (F(1), F(1, 3)):
        found = fc.fixed_point(fc.Scaffnew(stepsize=F(1, 32), probability=p), PROBLEM, "exact")
        assert found.bias_is_zero
        assert found.attracting is (True if p == 1 else None)


def test_a_state_at_rest_stays_whatever_the_coin() -> None:
    """A second route: x_k = w* and h_k = ∇F_k(w*), in fractions, through rounds of both kinds."""
    from fedconvex.methods.base import State
    from fedconvex.participation import Draw
    from fedconvex.runs.rounds import rounds_of

    method = fc.Scaffnew(stepsize=F(1, 32), probability=F(1, 2))
    rounds = rounds_of(method, PROBLEM, "exact")
    best = rounds.arithmetic.array(fc.fixed_point(method, PROBLEM, "exact").point)
    rows = rounds.clients.rows(best)
    state = State(best, memory={"model": rows, "control": rounds.clients.gradients(rows)})
    kinds = set()
    for t in range(12):
        played = rounds.play(state, Draw(round=t, seed=3))
        assert played is not None
        kinds.add(played.communicated)
        assert (played.state.flat() == state.flat()).all()
    assert kinds == {True, False}


def test_what_it_refuses() -> None:
    tossed = fc.Scaffnew(stepsize=1, probability=F(1, 2))
    with pytest.raises(InvalidInput, match="communicates at random"):
        check(tossed, init=print, round=print, server_model=print)
    with pytest.raises(InvalidInput, match="rounds = 7"):
        worst_case(tossed, SmoothStronglyConvex(mu=1, L=4), rounds=7)
    assert read_method("scaffnew:probability=1/4")[1] == {"probability": F(1, 4)}
