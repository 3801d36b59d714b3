"""Every sentence of a recommendation follows from its table, and every number in it holds when it is run."""

import re
from typing import Any

import numpy as np
import pytest
from designed_problems import measured

import fedconvex as fc
from fedconvex.audit.display import text
from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod

pytestmark = pytest.mark.beyond_core  # takes seconds

TOLERANCES = (0.1, 1e-3, 1e-6)


def drawn_problem(seed: int) -> Any:
    """Least squares or logistic losses, of few or many clients, alike or not, with one to nine samples each."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    A = [rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d) for n in rng.integers(1, 10, m)]
    shift = rng.uniform(0, 2) * rng.standard_normal(m)
    b = [a @ np.ones(d) * 0.3 + k + rng.standard_normal(len(a)) for a, k in zip(A, shift, strict=True)]
    weights = [len(a) for a in A] if seed % 3 else None
    if seed % 2:
        return fc.Logistic(A=A, y=[np.where(y > 0, 1, -1) for y in b], ridge=0.03, weights=weights)
    return fc.LeastSquares(A=[*A, 0.3 * np.eye(d)], b=[*b, np.zeros(d)], weights=weights and [*weights, 1])


def rounds_to(found: Recommendation, entry: RecommendedMethod, **options: Any) -> int:
    """Of a simulation from 0; one more than the stated number where it takes longer."""
    longest = entry.measured_rounds or 0
    return measured(entry.method, found.problem, found.tolerance, longest, local_solver=entry.local_solver, **options)


def check_table_and_sentences(found: Recommendation) -> None:
    problem, best = found.problem, found.best
    first = float(problem.value(np.zeros(problem.dim)) - fc.ground_truth(problem).value)
    words = text(found).replace("\n", " ")
    for entry in found.ranked:
        if entry.measured_rounds is not None:
            assert rounds_to(found, entry) == entry.measured_rounds
            vectors = entry.method.vectors_down + entry.method.vectors_up
            assert entry.bytes == entry.measured_rounds * vectors * problem.num_clients * problem.dim * 8
    sent = [entry.bytes for entry in found.ranked if entry.bytes is not None and entry.is_confirmed]
    assert ("sends the fewest bytes" in words) <= (best.bytes == min(sent))
    if says_mu := re.search(r"FedProx needs μ of (\S+) or more", words):
        mu = float(says_mu[1])
        assert fc.fixed_point(fc.FedProx(mu=mu), problem).gap <= found.tolerance * first * (1 + 1e-6)
        assert fc.fixed_point(fc.FedProx(mu=0.95 * mu), problem).gap > found.tolerance * first
    rows = [entry for entry in found.ranked if getattr(entry.local_solver, "steps", None) == 1]
    for limit, entry in found.under_limits:
        participation = None
        if "one gradient step" in limit:
            assert entry.local_solver.steps == 1  # type: ignore[attr-defined]
            own = entry.measured_rounds or entry.predicted_rounds
            quickest = min((row.bytes for row in rows if row.bytes is not None), default=None)
            if own is not None and quickest is not None:
                assert entry.bytes is not None
                assert entry.bytes <= quickest
        elif "clients a round" in limit:
            participation = fc.participation.Uniform(int(limit.split()[0]))
        else:
            T = int(limit.split()[0].replace(",", ""))
            options: dict[str, Any] = {"local_solver": entry.local_solver, "progress": False}
            gaps = fc.simulate(entry.method, problem, T, **options).to_frame(["gap"])["gap"].to_numpy()
            assert gaps[-1] / gaps[0] == pytest.approx(entry.relative_gap, rel=1e-3)
            others = (fc.simulate(row.method, problem, T, **options | {"local_solver": row.local_solver})
                      for row in found.ranked)  # fmt: skip
            assert gaps[-1] <= min(run.to_frame(["gap"])["gap"].iloc[-1] for run in others) * (1 + 1e-6)
        if entry.measured_rounds is not None:
            assert rounds_to(found, entry, participation=participation) == entry.measured_rounds
            assert f"{entry.measured_rounds:,} rounds measured" in words


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(16))
def test_sentences_follow_from_the_table_and_numbers_hold_by_running_them(seed: int) -> None:
    check_table_and_sentences(fc.recommend(drawn_problem(seed), TOLERANCES[seed // 2 % 3]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_with_drawn_clients_the_first_row_has_what_its_sentence_says(seed: int) -> None:
    problem = drawn_problem(seed)
    found = fc.recommend(problem, 0.03, participation=fc.participation.Uniform(max(1, problem.num_clients // 2)))
    predicted = [entry.predicted_rounds for entry in found.ranked if entry.predicted_rounds is not None]
    assert ("are the fewest" in found.why) <= (found.best.predicted_rounds == min(predicted, default=None))


def test_a_table_whose_sentence_is_false_is_noticed() -> None:
    """The check itself: the rows in another order, or another number, contradict the words."""
    found = fc.recommend(drawn_problem(2), 1e-3)
    check_table_and_sentences(found)
    from dataclasses import replace

    for wrong in (
        replace(found, ranked=found.ranked[::-1]),
        replace(found, smallest_mu=(found.smallest_mu or 1) / 3),
        replace(found, ranked=(replace(found.best, measured_rounds=(found.best.measured_rounds or 0) + 1),)),
    ):
        with pytest.raises(AssertionError):
            check_table_and_sentences(wrong)
