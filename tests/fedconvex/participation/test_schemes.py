"""Draws of participation schemes: well-formed sets of clients, with the exact probabilities."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few
from run_makers import EQUAL, M, misfit, times_drawn

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.participation import Draw
from fedconvex.randomness import Purpose, stream


class TestSchemes:
    """What is drawn is well-formed."""

    @staticmethod
    def is_a_set(draw: Draw, m: int, K: int) -> bool:
        members = draw.members.tolist()
        return all(a < b for a, b in pairwise(members)) and len(members) == K and set(members) <= set(range(m))

    @few
    @given(m=st.integers(1, 7), data=st.data(), seed=st.integers(0, 2**70), round=st.integers(0, 10**6))
    def test_uniform_ones(self, m, data, seed, round) -> None:
        problem, K = fc.LeastSquares([[[1]]] * m, [[1]] * m), data.draw(st.integers(1, m))
        uniform, weighted = (
            who.Uniform(K).draw(problem, seed, round),
            who.UniformThenWeighted(K).draw(problem, seed, round),
        )
        for draw in (uniform, weighted):
            assert self.is_a_set(draw, m, K)
            assert (draw.round, draw.seed, draw.efforts) == (round, seed, None)
        assert np.array_equal(uniform.members, weighted.members)  # paired too
        assert uniform.shares.tolist() == [1] * K
        assert weighted.shares is None

    @few
    @given(
        weights=st.lists(st.sampled_from([0, 1, 3]), min_size=1, max_size=6).filter(any),
        K=st.integers(1, 9),
        seed=st.integers(0, 2**70),
        round=st.integers(0, 10**6),
    )
    def test_weighted(self, weights, K, seed, round) -> None:
        m = len(weights)
        draw = who.Weighted(K).draw(fc.LeastSquares([[[1]]] * m, [[1]] * m, weights), seed, round)
        assert self.is_a_set(draw, m, len(draw.members))
        assert draw.shares.sum() == K
        assert (draw.shares >= 1).all()
        assert all(weights[k] > 0 for k in draw.members)

    @few
    @given(m=st.integers(1, 7), p=st.floats(0.1, 1), seed=st.integers(0, 2**70), round=st.integers(0, 10**6))
    def test_bernoulli(self, m, p, seed, round) -> None:
        draw = who.Bernoulli(p).draw(fc.LeastSquares([[[1]]] * m, [[1]] * m), seed, round)
        assert self.is_a_set(draw, m, max(1, len(draw.members)))
        assert draw.shares is None

    def test_schedule(self) -> None:
        written = who.Schedule([[3, 0], (2,), [], np.array([1, 0])])
        assert [written.draw(EQUAL, 5, t).members.tolist() for t in range(4)] == [[0, 3], [2], [], [0, 1]]
        assert all(written.draw(EQUAL, 5, t).shares is None for t in range(4))

    def test_full(self) -> None:
        assert who.Full().draw(EQUAL, 5, 2).members is None

    @pytest.mark.parametrize(
        ("scheme", "everyone"),
        [
            (who.Full(), True), (who.Uniform(M), True), (who.Uniform(M - 1), False), (who.UniformThenWeighted(M), True),
            (who.Weighted(M), False), (who.Bernoulli(1), True), (who.Bernoulli(0.25), False),
            (who.Schedule([range(M)] * 2), True), (who.Schedule([range(M), [0]]), False),
        ],
    )  # fmt: skip
    def test_who_takes_everyone(self, scheme, everyone) -> None:
        assert scheme.takes_everyone(EQUAL) is everyone
        drawn = [scheme.draw(EQUAL, 5, t % 2).members for t in range(40)]
        sizes = {M if members is None else len(members) for members in drawn}
        assert (sizes == {M}) is everyone

    @pytest.mark.parametrize("members", [[2, 0], [0, 0], [0], [0, 1, 2], [1, 4], [-1, 2]])
    def test_the_check_rejects(self, members) -> None:
        assert self.is_a_set(Draw(np.array([0, 2])), 4, 2)
        assert not self.is_a_set(Draw(np.array(members)), 4, 2)

    @pytest.mark.parametrize("p", [1e-9, Fraction(1, 10**400)])
    def test_bernoulli_with_a_tiny_probability_ends(self, p, monkeypatch) -> None:
        """Nearly always exactly one client, found without drawing 10⁹ empty sets."""

        class Impatient:
            def __init__(self, generator: np.random.Generator) -> None:
                self.generator, self.calls = generator, 0

            def __getattr__(self, name: str) -> Any:
                self.calls += 1
                assert self.calls < 1000, "draws on and on"
                return getattr(self.generator, name)

        monkeypatch.setattr(who, "stream", lambda *place: Impatient(stream(*place)))
        assert len(who.Bernoulli(p).draw(EQUAL, 0, 0).members) == 1


N = 3000
FIVE = fc.LeastSquares([[[1]]] * 5, [[1]] * 5)
THREE = fc.LeastSquares([[[1]]] * 3, [[1]] * 3, weights=[1, 2, 3])
SETS = {chosen: Fraction(1, 10) for chosen in combinations(range(5), 2)}


def members_of(draws: Iterator[Draw]) -> Iterator[tuple[int, ...]]:
    return (tuple(draw.members.tolist()) for draw in draws)


def rounds_drawn(scheme: Any, problem: Any, seed: int = 3, purpose: Any = Purpose.PARTICIPANTS) -> Iterator[Draw]:
    return (scheme.draw(problem, seed, t, purpose) for t in range(N))


class Neighbours(who.Participation):
    """Faulty: a client that is drawn again is replaced by its neighbour."""

    def draw(self, problem: Any, seed: int, round: int, purpose: Any = Purpose.PARTICIPANTS) -> Draw:
        a, b = stream(seed, purpose, round).integers(0, problem.num_clients, 2)
        return Draw(np.sort(np.array([a, b if a != b else (b + 1) % problem.num_clients])))


class TestFrequencies:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("scheme", [who.Uniform(2), who.UniformThenWeighted(2)])
    def test_every_set_is_equally_likely(self, scheme) -> None:
        assert misfit(members_of(rounds_drawn(scheme, FIVE)), SETS) < 1
        assert misfit(members_of(rounds_drawn(scheme, FIVE, purpose=Purpose.GRADIENT_PARTICIPANTS)), SETS) < 1
        assert misfit(members_of(scheme.draw(FIVE, seed, 4) for seed in range(N)), SETS) < 1

    def test_the_check_rejects_a_biased_scheme(self) -> None:
        assert misfit(members_of(rounds_drawn(Neighbours(), FIVE)), SETS) > 2
        assert misfit(members_of(rounds_drawn(who.Uniform(2), FIVE)), {cell: p for cell, p in SETS.items() if 0 in cell}
                      | {(0, 1): Fraction(7, 10)}) == float("inf")  # fmt: skip

    @pytest.mark.beyond_core  # takes seconds
    def test_a_round_says_nothing_about_the_next(self) -> None:
        """Nor the participants about those whose gradients are asked for, or about the stragglers."""
        scheme, cells = who.Uniform(1), {pair: Fraction(1, 9) for pair in product(range(3), repeat=2)}

        def first(seed: int, t: int, purpose: Any = Purpose.PARTICIPANTS) -> int:
            return int(scheme.draw(THREE, seed, t, purpose).members[0])

        def late(seed: int, t: int) -> int:
            kept = who.Stragglers(Fraction(1, 3), "drop").slow(Draw(round=t, seed=seed), 3, None).members
            return 3 - int(kept.sum())  # the one of 0, 1, 2 that is missing

        assert misfit(((first(1, t), first(1, t + 1)) for t in range(N)), cells) < 1
        assert misfit(((first(s, 0), first(s + 1, 0)) for s in range(N)), cells) < 1
        assert misfit(((first(1, t), first(1, t, Purpose.GRADIENT_PARTICIPANTS)) for t in range(N)), cells) < 1
        assert misfit(((first(1, t), late(1, t)) for t in range(N)), cells) < 1
        assert misfit(((first(1, t), first(1, t)) for t in range(N)), cells) > 2  # rejected

    @pytest.mark.beyond_core  # takes seconds
    def test_weighted_is_multinomial(self) -> None:
        """The whole vector of multiplicities of K = 3 draws with probabilities 1/6, 2/6, 3/6."""
        p = [Fraction(1, 6), Fraction(2, 6), Fraction(3, 6)]
        counts = [n for n in product(range(4), repeat=3) if sum(n) == 3]
        multinomial = {
            n: factorial(3) * prod((q**k / factorial(k) for q, k in zip(p, n, strict=True)), start=Fraction(1))
            for n in counts
        }
        assert sum(multinomial.values()) == 1

        def multiplicities(draw: Draw) -> tuple[int, ...]:
            return tuple(times_drawn(draw).get(k, 0) for k in range(3))

        drawn = [multiplicities(draw) for draw in rounds_drawn(who.Weighted(3), THREE)]
        assert misfit(iter(drawn), multinomial) < 1
        uniform = {n: Fraction(factorial(3), 27 * prod(map(factorial, n))) for n in counts}
        assert misfit(iter(drawn), uniform) > 2  # and each of these is rejected
        assert misfit((multiplicities(draw) for draw in rounds_drawn(who.Uniform(3), THREE)), multinomial) > 2
        ones = (tuple(min(k, 1) for k in n) for n in drawn)
        assert misfit(ones, multinomial) == float("inf")

    def test_bernoulli_is_conditioned_on_somebody(self) -> None:
        p = Fraction(3, 10)
        subsets = [s for size in (1, 2, 3) for s in combinations(range(3), size)]
        probabilities = {s: p ** len(s) * (1 - p) ** (3 - len(s)) / (1 - (1 - p) ** 3) for s in subsets}
        assert sum(probabilities.values()) == 1
        assert misfit(members_of(rounds_drawn(who.Bernoulli(p), THREE)), probabilities) < 1

        class OneForNobody(who.Participation):
            """Faulty: where nobody is drawn, one client is."""

            def draw(self, problem: Any, seed: int, round: int, purpose: Any = Purpose.PARTICIPANTS) -> Draw:
                generator = stream(seed, purpose, round)
                members = np.flatnonzero(generator.random(3) < float(p))
                return Draw(members if len(members) else generator.integers(0, 3, 1))

        assert misfit(members_of(rounds_drawn(OneForNobody(), THREE)), probabilities) > 2
