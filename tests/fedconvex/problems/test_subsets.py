"""Calls for a subset of clients equal the rows of calls for all, in every storage of the data."""

from dataclasses import fields

import numpy as np
import pytest
from client_calls import (
    ALL,
    CHOICES,
    CLASSES,
    EVERY_CLASS,
    SMALL,
    TERMS,
    M,
    chosen_rows,
    has_samples,
    made,
    of_all,
    points_of,
    same,
    subproblem_of,
)
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import FLOATS, few

from fedconvex.problems.base import Curvatures, Subproblem
from fedconvex.problems.linear_models_in_balls import BallLinearModelClients


class TestSubsets:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "ball"])
    def test_which_classes(self, arithmetic) -> None:
        for kind, expected in CLASSES.items():
            if kind != "wide" or arithmetic != "ball":
                in_balls = arithmetic == "ball" and kind in SMALL
                assert type(made(kind, arithmetic)) is (BallLinearModelClients if in_balls else expected)
        assert len(made("logistic", "float").buckets) > 3

    @pytest.mark.sample(24)
    @pytest.mark.beyond_core  # takes seconds
    @EVERY_CLASS
    @pytest.mark.parametrize("choice", CHOICES)
    def test_are_rows_of_all(self, kind, arithmetic, choice) -> None:
        members, (whole, found, answers) = CHOICES[choice], of_all(kind, arithmetic)
        with whole.arithmetic.context():
            part = whole.subset(np.array(members))
            assert (part.num_clients, part.dim) == (len(members), whole.dim)
            for name, call in found.items():
                expected = chosen_rows(answers[name], members)
                assert same(call(part, members), expected), name
                neighbours = chosen_rows(answers[name], [(k + 1) % M for k in members])
                assert not same(neighbours, expected) or name in ("curvatures", "numbers of samples"), name

    @pytest.mark.sample(6)
    @pytest.mark.beyond_core  # takes seconds
    @EVERY_CLASS
    def test_subsets_of_subsets(self, kind, arithmetic) -> None:
        whole, found, answers = of_all(kind, arithmetic)
        with whole.arithmetic.context():
            once = whole.subset(np.array([1, 2, 4, 5, 7]))
            for part, members in [
                (once.subset(np.array([0, 2, 3])), [1, 4, 5]),
                (once.subset(np.array([4])), [7]),
                (once.subset(np.array([1, 2, 3])).subset(np.array([0, 2])), [2, 5]),
                (once.subset(np.arange(5)).subset(np.arange(5)), [1, 2, 4, 5, 7]),
            ]:
                for name, call in found.items():
                    assert same(call(part, members), chosen_rows(answers[name], members)), name

    @few
    @given(data=st.data(), kind=st.sampled_from(["least squares", "logistic", "multinomial", "wide"]))
    def test_any_members_of_any_members(self, data, kind) -> None:
        part, found, answers = of_all(kind, "float")
        numbers = list(range(M))
        for _ in range(data.draw(st.integers(1, 3))):
            places = data.draw(st.lists(st.integers(0, len(numbers) - 1), min_size=1, unique=True))
            part, numbers = part.subset(np.array(places)), [numbers[i] for i in places]
        for name, call in found.items():
            assert same(call(part, numbers), chosen_rows(answers[name], numbers)), name

    @EVERY_CLASS
    def test_one_direction_for_everyone(self, kind, arithmetic) -> None:
        whole, members = of_all(kind, arithmetic)[0], np.array([1, 5, 6])
        with whole.arithmetic.context():
            x, v = points_of(whole, 2, size=2)
            rows = whole.hessian_products(x, whole.arithmetic.repeat(v, M))
            assert same(whole.hessian_products(x, v), rows)
            assert same(whole.subset(members).hessian_products(x, v), chosen_rows(rows, members))

    @EVERY_CLASS
    def test_what_has_no_samples_says_so_in_part_and_whole(self, kind, arithmetic) -> None:
        whole = made(kind, arithmetic)
        expected = kind != "quadratic" and (kind, arithmetic) not in {("logistic", "ball"), ("multinomial", "ball")}
        assert has_samples(whole) == has_samples(whole.subset(np.array([0, 3]))) == expected

    def test_the_whole_is_left_as_it_was(self) -> None:
        for kind, arithmetic in ALL:
            whole = made(kind, arithmetic)
            with whole.arithmetic.context():
                X = points_of(whole)
                before = whole.gradients(X)
                part = whole.subset(np.array([0, 2]))
                part.minimise(subproblem_of(whole, TERMS).of(np.array([0, 2])))
                assert same(whole.gradients(X), before)
                assert same(X, points_of(whole))


def test_curvatures_are_found_when_asked_for() -> None:
    asked = []

    def of_all() -> tuple[np.ndarray, np.ndarray]:
        asked.append(1)
        return np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.1, 0.2, 0.3, 0.4])

    part = Curvatures(of_all).subset(np.array([3, 1, 0])).subset(np.array([0, 2]))
    assert asked == []
    assert (part.L.tolist(), part.mu.tolist()) == ([4, 1], [0.4, 0.1])


def test_every_part_of_a_subproblem_is_taken() -> None:
    assert [f.name for f in fields(Subproblem)] == ["start", "weight", "center", "linear", "guess"]
    parts = {name: 10 * i + np.arange(4)[:, None] for i, name in enumerate(("start", *TERMS))}
    part = Subproblem(weight=5, **parts).of(np.array([3, 1]))
    assert part.weight == 5
    for i, name in enumerate(("start", *TERMS)):
        assert getattr(part, name).ravel().tolist() == [10 * i + 3, 10 * i + 1]
    assert Subproblem(parts["start"]).of(np.array([0])).center is None
