"""Separable data without ridge have no minimiser: the separating direction is checked by hand in Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import entries, few, fractions

import fedconvex as fc
from fedconvex.ground_truths import existence


def binary_margins(problem: fc.Logistic, v: np.ndarray) -> list[Fraction]:
    """y_i a_iᵀv for every sample of every client with a positive weight."""
    clients = zip(problem.A, problem.y, problem.exact_weights, strict=True)
    return [int(y) * (fractions(a) @ v) for A, labels, w in clients if w > 0 for a, y in zip(A, labels, strict=True)]


def class_margins(problem: fc.MultinomialLogistic, v: np.ndarray) -> list[Fraction]:
    """(v_{y_i} − v_c)ᵀ(a_i, 1) for every sample and every other class c."""
    V, margins = v.reshape(problem.num_classes, -1), []
    for A, labels, w in zip(problem.A, problem.y, problem.exact_weights, strict=True):
        for a, y in zip(A, labels, strict=True):
            scores = V @ fractions(a)
            margins += [scores[int(y)] - s for c, s in enumerate(scores) if c != int(y) and w > 0]
    return margins


def separates(margins: list[Fraction]) -> bool:
    return min(margins) >= 0 and max(margins) > 0


def refusal(problem) -> np.ndarray:
    with pytest.raises(fc.NoMinimizer, match="give ridge > 0") as caught:
        fc.ground_truth(problem)
    assert all(type(entry) is Fraction for entry in caught.value.witness)
    return caught.value.witness


@few
@given(data=st.data(), normal=entries(3), counts=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_data_that_a_plane_separates_if_only_weakly(data, normal, counts) -> None:
    """Labels by the side of a rational plane; samples on the plane get either label."""
    A = [data.draw(entries(n, 3)) for n in counts]
    margins = [A_k @ normal for A_k in A]
    assume(any(m.any() for m in margins))
    y = [[int(np.sign(float(s))) or data.draw(st.sampled_from([-1, 1])) for s in m] for m in margins]
    problem = fc.Logistic(A, y)
    assert separates(binary_margins(problem, refusal(problem)))


@few
@given(data=st.data(), V=entries(3, 3), counts=st.lists(st.integers(1, 3), min_size=1, max_size=2))
def test_classes_that_linear_scores_separate_if_only_weakly(data, V, counts) -> None:
    """Labels by the largest score, ties either way."""
    A = [data.draw(entries(n, 2)) for n in counts]
    scores = [np.hstack([A_k, fractions(np.ones((len(A_k), 1), dtype=int))]) @ V.T for A_k in A]
    assume(any(len(set(row)) > 1 for block in scores for row in block))
    labels = [
        [data.draw(st.sampled_from(np.flatnonzero(row == max(row)).tolist())) for row in block] for block in scores
    ]
    problem = fc.MultinomialLogistic(A, labels, 3)
    assert separates(class_margins(problem, refusal(problem)))


STRICT = [[[3, 1], [1, 2]], [[-1, -4], [2, 0]]], [[1, 1], [-1, 1]]
# x = y/3 separates only (1, 0); six samples lie on the line, three of each label
WEAK = [[[1, 3], [2, 6], [-1, -3]], [[1, 3], [1, 0], [-2, -6], [-4, -12]]], [[1, -1, 1], [-1, 1, 1, -1]]
LARGE = [[[1234567, -7654321], [-2469134, 15308642], [1, 0]]], [[1, 1, 1]]
PAIRS = [[[0.1, 0.3], [-0.1, -0.3], [0.1, 0.0]], [[0.7, 0.2]]], [[1, 1, 1], [1]]


@pytest.mark.parametrize("data", [STRICT, WEAK, LARGE, PAIRS], ids=["strict", "weak", "large", "floats"])
class TestTwoClasses:
    def test_witness(self, data) -> None:
        problem = fc.Logistic(*data)
        witness = refusal(problem)
        assert separates(binary_margins(problem, witness))
        assert not separates(binary_margins(problem, -witness))  # the check can fail

    def test_a_ridge_gives_a_minimiser(self, data) -> None:
        truth = fc.ground_truth(fc.Logistic(*data, ridge=Fraction(1, 100)))
        assert truth.distance_bound < (1e-8 if data is not LARGE else 1)  # moving x by one ulp moves LARGE's gradient

    def test_samples_that_contradict_every_direction_give_a_minimiser(self, data) -> None:
        A, y = data
        both = [[1, 0], [1, 0], [0, 1], [0, 1]]
        truth = fc.ground_truth(fc.Logistic([*A, both], [*y, [1, -1, 1, -1]]))
        assert truth.gradient_bound < (1e-9 if data is not LARGE else 1)

    def test_such_samples_do_not_count_at_weight_0(self, data) -> None:
        A, y = data
        both = [[1, 0], [1, 0], [0, 1], [0, 1]]
        problem = fc.Logistic([*A, both], [*y, [1, -1, 1, -1]], weights=[1] * len(A) + [0])
        assert separates(binary_margins(problem, refusal(problem)))


def test_data_on_which_the_simplex_method_ends_undecided() -> None:
    """HiGHS calls the linear program of these "Unknown"; an exploration found them."""
    A = [
        [[0, 0, 1], [Fraction(3, 2), 2, Fraction(2, 3)]],
        [[1, Fraction(2, 3), Fraction(3, 2)], [2, Fraction(-1, 3), -1]],
        [[Fraction(1, 2), -3, Fraction(-2, 3)]],
    ]
    problem = fc.Logistic(A, [[-1, 1], [-1, 1], [-1]])
    assert separates(binary_margins(problem, refusal(problem)))


@pytest.mark.parametrize("data", [STRICT, WEAK, LARGE, PAIRS], ids=["strict", "weak", "large", "floats"])
def test_interior_points_decide_where_the_simplex_method_does_not(data, monkeypatch) -> None:
    monkeypatch.setattr(existence, "METHODS", existence.METHODS[1:])
    problem = fc.Logistic(*data)
    assert separates(binary_margins(problem, refusal(problem)))


@pytest.mark.beyond_core  # starts a process
def test_a_long_linear_program_finds_the_same(monkeypatch) -> None:
    """In a process of its own, after one in this process."""
    witness = refusal(fc.Logistic(*WEAK))
    monkeypatch.setattr(existence, "LONG", 0)
    assert np.array_equal(refusal(fc.Logistic(*WEAK)), witness)


def test_three_classes() -> None:
    """Class 2 is apart from the others; classes 0 and 1 share their samples, so the separation is weak."""
    A = [[[0], [0], [1], [1]], [[5], [6]]]
    problem = fc.MultinomialLogistic(A, [[0, 1, 0, 1], [2, 2]], 3)
    witness = refusal(problem)
    assert separates(class_margins(problem, witness))
    assert not separates(class_margins(problem, -witness))
    mixed = [[0], [0], [0], [9], [9], [9]]
    overlapping = fc.MultinomialLogistic(
        [*A, mixed], [[0, 1, 0, 1], [2, 2], [0, 1, 2, 0, 1, 2]], 3, ridge=Fraction(1, 1000)
    )
    assert fc.ground_truth(overlapping).distance_bound < 1e-8
