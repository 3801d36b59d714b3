"""A γ for every client: partial participation, no work at γ = 1, an exact solution at γ = 0; each γ is recorded."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from inexactness_makers import FOUR, HALF, RATES, X0, first_step_within, played, rationals, ratios, within
from problem_makers import FLOATS, fractions, identity, inverse, terms_of

import fedconvex as fc
from fedconvex.participation import Schedule


class TestEveryClientItsOwn:
    SUBSETS = ([1, 3], [0, 2], [3], [1, 2, 3], [0, 1, 2, 3])

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    @pytest.mark.parametrize("members", SUBSETS, ids=repr)
    def test_under_partial_participation(self, arithmetic, members) -> None:
        """Answers are those of first_step_within for the client's own γ, and for no other."""
        method, rates = fc.FedProx(mu=2), [RATES[i] for i in (2, 0, 3, 1)]
        round, terms = played(method, FOUR, rates, X0, arithmetic, members), terms_of(FOUR)
        found = rationals(round.answers.points).astype(float)
        assert within(ratios(FOUR, method, round, members), [rates[k] for k in members])

        def expected(gammas: Sequence[Fraction]) -> np.ndarray:
            L = [Fraction(v) for v in FOUR.L]
            rows = [first_step_within(terms, k, 2, L[k], X0, g)[0] for k, g in zip(members, gammas, strict=True)]
            return np.array(rows, dtype=object).astype(float)

        assert found == pytest.approx(expected([rates[k] for k in members]), rel=1e-12)
        if len(members) < 4:  # rejected: γ by the place among those who take part
            assert found != pytest.approx(expected(rates[: len(members)]), rel=1e-6)
        assert found != pytest.approx(expected([max(rates[k] for k in members)] * len(members)), rel=1e-6) or (
            len(members) == 1
        )

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_the_recorded_column(self, arithmetic) -> None:
        """The largest of those who take part; one number for rounds with one client each."""
        schedule, gammas = [[2], [0, 3], [1], [3]], [HALF, Fraction(1, 4), Fraction(1, 100), Fraction(1, 3)]
        found = fc.simulate(
            fc.FedProx(mu=2), FOUR, 4, Schedule(schedule), fc.ToInexactness(gammas), X0,
            arithmetic=arithmetic, measure="all",
        )  # fmt: skip
        for t, members in enumerate(schedule):
            w = rationals(found.points[t])
            expected = []
            for k in members:
                theta, _ = first_step_within(terms_of(FOUR), k, 2, Fraction(FOUR.L[k]), w, gammas[k])
                left, first = (
                    terms_of(FOUR).H[k] @ x - terms_of(FOUR).c[k] + 2 * (x - w) for x in (theta, w)
                )  # fmt: skip
                expected.append(sqrt((left @ left) / (first @ first)))
            assert found.recorded["inexactness"][t] == pytest.approx(max(expected), rel=1e-9)
            assert 0 < max(expected) <= max(float(gammas[k]) for k in members)

    @pytest.mark.parametrize("given", [list, tuple, np.array, lambda rates: np.array(rates, dtype=float)])
    def test_any_kind_of_list(self, given) -> None:
        round = played(fc.FedProx(mu=2), FOUR, given([1, 0.5, 0.5, 1]), X0, "float")
        assert np.array_equal(round.answers.points[[0, 3]], np.tile([2.0, -3.0], (2, 1)))
        assert np.all(round.answers.points[[1, 2]] != [2, -3])


class TestNoWorkAndAllOfIt:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_no_work(self, arithmetic) -> None:
        for gamma in (1, 1.0, Fraction(1), [1, 1, 1, 1]):
            round = played(fc.FedProx(mu=2), FOUR, gamma, X0, arithmetic)
            assert np.array_equal(rationals(round.answers.points), np.stack([X0] * 4))
        one = played(fc.FedProx(mu=2), FOUR, Fraction(999999, 1000000), X0, arithmetic)
        assert not np.any((rationals(one.answers.points) == X0).all(1))

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_all_of_it(self, arithmetic) -> None:
        terms = terms_of(FOUR)
        exact = [inverse(H + 2 * identity(2)) @ (c + 2 * X0) for H, c in zip(terms.H, terms.c, strict=True)]
        for gamma in (0, 0.0, [0] * 4):
            found = rationals(played(fc.FedProx(mu=2), FOUR, gamma, X0, arithmetic).answers.points)
            if arithmetic == "exact":
                assert np.array_equal(found, np.stack(exact))
            assert found.astype(float) == pytest.approx(np.stack(exact).astype(float), rel=1e-14)

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    @pytest.mark.parametrize("members", [None, [0, 1], [0], [1, 3], [2, 3]], ids=repr)
    def test_all_of_it_for_some(self, arithmetic, members) -> None:
        """γ = 0 is the exact solution beside others, too: where only clients with γ > 0 take part, nothing is exact."""
        gammas, terms = [0, HALF, Fraction(0), Fraction(1, 10)], terms_of(FOUR)
        round = played(fc.FedProx(mu=2), FOUR, gammas, X0, arithmetic, members, max_steps=60)
        taking_part = members or range(4)
        for k, found in zip(taking_part, rationals(round.answers.points), strict=True):
            exact = inverse(terms.H[k] + 2 * identity(2)) @ (terms.c[k] + 2 * X0)
            if gammas[k] == 0:
                assert found.astype(float) == pytest.approx(exact.astype(float), rel=1e-13)
                assert arithmetic != "exact" or np.array_equal(found, exact)
            else:
                assert not np.array_equal(found, exact)
                first = first_step_within(terms, k, 2, Fraction(FOUR.L[k]), X0, Fraction(gammas[k]))[0]
                assert found.astype(float) == pytest.approx(first.astype(float), rel=1e-13)

    def test_where_the_start_solves_the_problem(self) -> None:
        """0 <= γ·0: nothing to do, at any γ."""
        problem = fc.Quadratic([[[2, 1], [1, 3]], [[5, 0], [0, 1]]], [[0, 0], [5, 0]])
        for gamma in (0, HALF, [HALF, Fraction(1, 10**9)]):
            for arithmetic in [*FLOATS, "exact"]:
                round = played(fc.FedProx(mu=1), problem, gamma, fractions([0, 0]), arithmetic)
                found = rationals(round.answers.points)
                assert np.array_equal(found[0], [0, 0])
                assert float(found[1][0]) == pytest.approx(5 / 6, rel=0.5)


class TestEveryClientsGamma:
    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0], [0, 2]]], b=[[1, 2], [3, -4], [2, 1]])
    some = Schedule([[0, 2], [], [1]])

    def run(self, rounds: int = 3, who: Any = some, measure: Any = "inexactness", **options: Any) -> Any:
        solver = fc.ToInexactness([0.5, 0.25, 0.75])
        return fc.simulate(fc.FedProx(mu=1), self.problem, rounds, who, solver, measure=measure, **options)

    def test_stands_beside_the_round_s_largest(self) -> None:
        found = self.run()
        gammas = found.client_inexactness
        assert np.isnan(gammas).tolist() == [[False, True, False], [True] * 3, [True, False, True]]
        assert (gammas[0, 0] <= 0.5, gammas[0, 2] <= 0.75, gammas[2, 1] <= 0.25) == (True, True, True)
        frame = found.to_frame(["value"])
        assert frame.inexactness.iloc[1] == max(gammas[0, 0], gammas[0, 2])
        assert frame.inexactness.iloc[3] == gammas[2, 1]
        assert "client_inexactness" not in frame

    def test_is_the_ratio_of_gradients(self) -> None:
        found = self.run()
        w = found.points[0]
        one = self.run(1, Schedule([[2]])).points[1]  # alone, its answer is the server's point
        there, here = self.problem.client_gradients(one)[2] + (one - w), self.problem.client_gradients(w)[2]
        assert found.client_inexactness[0, 2] == pytest.approx(np.linalg.norm(there) / np.linalg.norm(here), rel=1e-12)
        assert found.client_inexactness[0, 0] != pytest.approx(found.client_inexactness[0, 2], rel=1e-3)

    def test_survives_a_checkpoint(self, tmp_path) -> None:
        whole, path = self.run().client_inexactness, tmp_path / "run.npz"
        self.run(2, checkpoint=path)
        assert np.array_equal(self.run(checkpoint=path).client_inexactness, whole, equal_nan=True)

    def test_is_missed_where_it_was_not_measured(self) -> None:
        with pytest.raises(fc.InvalidInput, match="run with measure='inexactness'"):
            self.run(measure="drift").client_inexactness  # noqa: B018
