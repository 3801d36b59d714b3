"""Weights of the participants in the average: hand-written rounds, and exact expectations over all draws."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import run_makers as make
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, terms_of
from run_makers import QUARTER, START, UNEQUAL, M, averaged, entries_of, gradient_steps, run, times_drawn

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.participation import Draw
from fedconvex.runs.rounds import rounds_of

WEIGHTS = st.lists(st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5, 2)]), min_size=M, max_size=M)


class TestAverages:
    """FedGD's rounds against hand-written ones; the draws are the scheme's own."""

    def expected(self, problem: Any, scheme: Any, shares: Callable[[Draw], dict[int, Any]], seed: int) -> np.ndarray:
        points = [START]
        for t in range(3):
            draw = scheme.draw(problem, seed, t)
            members = range(M) if draw.members is None else draw.members.tolist()
            rows = {k: gradient_steps(problem, k, points[-1], 2, QUARTER) for k in members}
            points.append(averaged(rows, shares(draw)))
        return np.stack(points)

    def points(self, problem: Any, scheme: Any, seed: int) -> np.ndarray:
        return run(fc.FedGD(stepsize=QUARTER, local_steps=2), problem, scheme, seed=seed).points

    @staticmethod
    def shares(rule: str, weights: Sequence[Any]) -> Callable[[Draw], dict[int, Any]]:
        """What counts in the average."""
        known = {"plain": dict.fromkeys(range(M), 1), "weights": dict(enumerate(weights))}
        return times_drawn if rule == "draws" else lambda draw: known[rule]

    @few
    @given(weights=WEIGHTS, seed=st.integers(0, 100), K=st.integers(1, M))
    def test_of_every_scheme(self, weights, seed, K) -> None:
        problem = fc.LeastSquares(make.A, make.B, weights)
        schedule = who.Schedule([who.Uniform(K).draw(problem, seed, t).members for t in range(3)])
        for rule, schemes in {
            "weights": (who.UniformThenWeighted(K), schedule, who.Bernoulli(QUARTER), who.Full()),
            "plain": (who.Uniform(K),),
            "draws": (who.Weighted(K), who.Weighted(M + K)),
        }.items():
            for scheme in schemes:
                expected = self.expected(problem, scheme, self.shares(rule, weights), seed)
                assert np.array_equal(self.points(problem, scheme, seed), expected)

    def test_each_average_is_told_from_the_others(self) -> None:
        for scheme, right in ((who.Uniform(3), "plain"), (who.UniformThenWeighted(3), "weights"),
                              (who.Weighted(6), "draws")):  # fmt: skip
            points = self.points(UNEQUAL, scheme, 1)
            for rule in ("plain", "weights", "draws"):
                if rule != "draws" or scheme == who.Weighted(6):
                    expected = self.expected(UNEQUAL, scheme, self.shares(rule, [1, 2, 3, 2]), 1)
                    assert np.array_equal(points, expected) == (rule == right)

    def test_weights_that_are_not_renormalised_are_rejected(self) -> None:
        points = self.points(UNEQUAL, who.UniformThenWeighted(2), 1)
        members = who.UniformThenWeighted(2).draw(UNEQUAL, 1, 0).members.tolist()
        rows = {k: gradient_steps(UNEQUAL, k, START, 2, QUARTER) for k in members}
        shares = dict(enumerate(UNEQUAL.exact_weights))
        assert np.array_equal(points[1], averaged(rows, shares))
        assert not np.array_equal(points[1], averaged(rows, shares, total=1))

    def test_methods_with_plain_averages_count_draws_too(self) -> None:
        """SCAFFOLD, option I, under Weighted: w by the draws, c by those who took part, once each."""
        scheme, method = who.Weighted(6), fc.Scaffold(stepsize=QUARTER, local_steps=2, option=1)
        found = run(method, UNEQUAL, scheme, rounds=2, seed=2)
        terms = terms_of(UNEQUAL).as_a_sum()
        w, c, own = START, 0 * START, [0 * START] * M
        for t in range(2):
            draw, rows, fresh = scheme.draw(UNEQUAL, 2, t), {}, {}
            assert draw.shares.max() > 1
            for k in draw.members.tolist():
                theta = w
                for _ in range(2):
                    theta = theta - QUARTER * (terms.H[k] @ theta - terms.c[k] - own[k] + c)
                rows[k], fresh[k] = theta, terms.H[k] @ w - terms.c[k]
            plain = averaged(rows, dict.fromkeys(rows, 1))
            w = averaged(rows, times_drawn(draw))
            c = c + sum(fresh[k] - own[k] for k in fresh) / Fraction(M)
            own = [fresh.get(k, own[k]) for k in range(M)]
        assert np.array_equal(found.points[-1], w)
        assert not np.array_equal(found.points[-1], plain)  # rejected: every client counted once
        assert entries_of(found.state) == [*w, *c, *np.concatenate(own)]


class TestExpectation:
    """One round of FedGD over all m^K draws, by hand: Draw objects and `Rounds.advance`."""

    K, weights = 3, [Fraction(1, 6), Fraction(2, 6), Fraction(3, 6)]
    problem = fc.LeastSquares(make.A[:3], make.B[:3], weights)
    rounds = rounds_of(fc.FedGD(stepsize=QUARTER, local_steps=2), problem, "exact")

    def advanced(self, draw: Draw) -> np.ndarray:
        state = self.rounds.start(self.rounds.arithmetic.array(START))
        return self.rounds.arithmetic.publish(self.rounds.advance(state, draw).server)

    def mean(self, draws: dict[Any, Fraction], draw_of: Callable[[Any], Draw]) -> np.ndarray:
        assert sum(draws.values()) == 1
        return sum(p * self.advanced(draw_of(drawn)) for drawn, p in draws.items())

    def everyone(self) -> np.ndarray:
        rows = {k: gradient_steps(self.problem, k, START, 2, QUARTER) for k in range(3)}
        expected = averaged(rows, dict(enumerate(self.weights)))
        assert np.array_equal(self.advanced(Draw()), expected)
        return expected

    def test_weighted_draws_aim_at_the_weighted_average(self) -> None:
        draws = {d: prod((self.weights[k] for k in d), start=Fraction(1)) for d in product(range(3), repeat=self.K)}
        assert len(draws) == 3**self.K

        def counted(drawn: Sequence[int]) -> Draw:
            times = Counter(drawn)
            members = sorted(times)
            return Draw(np.array(members), np.array([times[k] for k in members]))

        def once(drawn: Sequence[int]) -> Draw:
            draw = counted(drawn)
            return Draw(draw.members, np.ones_like(draw.shares))

        assert np.array_equal(self.mean(draws, counted), self.everyone())
        assert not np.array_equal(self.mean(draws, once), self.everyone())  # rejected: multiplicities forgotten

    def test_uniform_draws_aim_elsewhere(self) -> None:
        """Plain averages at the unweighted mean, renormalised ones at neither."""
        sets = {s: Fraction(1, 3) for s in combinations(range(3), 2)}
        plain = self.mean(sets, lambda s: Draw(np.array(s), np.ones(2, dtype=np.int64)))
        rows = {k: gradient_steps(self.problem, k, START, 2, QUARTER) for k in range(3)}
        assert np.array_equal(plain, averaged(rows, dict.fromkeys(rows, 1)))
        renormalised = self.mean(sets, lambda s: Draw(np.array(s)))
        assert not np.array_equal(plain, self.everyone())
        assert not np.array_equal(renormalised, self.everyone())
        assert not np.array_equal(renormalised, plain)
