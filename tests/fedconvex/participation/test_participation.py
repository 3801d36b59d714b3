"""Who takes part, and with which weight: frequencies against exact probabilities, rounds against hand-written ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import factorial, prod
from typing import Any

import numpy as np
import pseudo_code as paper
import pytest
import run_makers as make
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, terms_of
from run_makers import (
    EQUAL,
    QUARTER,
    SILENT,
    START,
    UNEQUAL,
    M,
    averaged,
    entries_of,
    gradient_steps,
    instance,
    misfit,
    run,
    same_run,
)

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS, State
from fedconvex.participation import Draw
from fedconvex.randomness import Purpose, stream
from fedconvex.rounds import Rounds, rounds_of


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
    @pytest.mark.parametrize("scheme", [who.Uniform(2), who.UniformThenWeighted(2)])
    def test_every_set_is_equally_likely(self, scheme) -> None:
        assert misfit(members_of(rounds_drawn(scheme, FIVE)), SETS) < 1
        assert misfit(members_of(rounds_drawn(scheme, FIVE, purpose=Purpose.GRADIENT_PARTICIPANTS)), SETS) < 1
        assert misfit(members_of(scheme.draw(FIVE, seed, 4) for seed in range(N)), SETS) < 1

    def test_the_check_rejects_a_biased_scheme(self) -> None:
        assert misfit(members_of(rounds_drawn(Neighbours(), FIVE)), SETS) > 2
        assert misfit(members_of(rounds_drawn(who.Uniform(2), FIVE)), {cell: p for cell, p in SETS.items() if 0 in cell}
                      | {(0, 1): Fraction(7, 10)}) == float("inf")  # fmt: skip

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
            times = dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))
            return tuple(times.get(k, 0) for k in range(3))

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

    @few
    @given(weights=WEIGHTS, seed=st.integers(0, 100), K=st.integers(1, M))
    def test_with_the_problems_weights(self, weights, seed, K) -> None:
        problem = fc.LeastSquares(make.A, make.B, weights)
        schedule = who.Schedule([who.Uniform(K).draw(problem, seed, t).members for t in range(3)])
        for scheme in (who.UniformThenWeighted(K), schedule, who.Bernoulli(QUARTER), who.Full()):
            expected = self.expected(problem, scheme, lambda draw: dict(enumerate(weights)), seed)
            assert np.array_equal(self.points(problem, scheme, seed), expected)

    @few
    @given(weights=WEIGHTS, seed=st.integers(0, 100), K=st.integers(1, M))
    def test_plain(self, weights, seed, K) -> None:
        problem = fc.LeastSquares(make.A, make.B, weights)
        expected = self.expected(problem, who.Uniform(K), lambda draw: dict.fromkeys(range(M), 1), seed)
        assert np.array_equal(self.points(problem, who.Uniform(K), seed), expected)

    @few
    @given(weights=WEIGHTS, seed=st.integers(0, 100), K=st.integers(1, 2 * M))
    def test_over_the_draws(self, weights, seed, K) -> None:
        problem = fc.LeastSquares(make.A, make.B, weights)

        def shares(draw: Draw) -> dict[int, int]:
            return dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))

        expected = self.expected(problem, who.Weighted(K), shares, seed)
        assert np.array_equal(self.points(problem, who.Weighted(K), seed), expected)

    def test_each_average_is_told_from_the_others(self) -> None:
        weights = dict(enumerate([1, 2, 3, 2]))
        rules: dict[str, Callable[[Draw], dict[int, Any]]] = {
            "plain": lambda draw: dict.fromkeys(range(M), 1),
            "weights": lambda draw: weights,
            "draws": lambda draw: dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True)),
        }
        for scheme, right in ((who.Uniform(3), "plain"), (who.UniformThenWeighted(3), "weights"),
                              (who.Weighted(6), "draws")):  # fmt: skip
            points = self.points(UNEQUAL, scheme, 1)
            for rule, shares in rules.items():
                if rule != "draws" or scheme == who.Weighted(6):
                    assert np.array_equal(points, self.expected(UNEQUAL, scheme, shares, 1)) == (rule == right)

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
            times = dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))
            plain = averaged(rows, dict.fromkeys(rows, 1))
            w = averaged(rows, times)
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


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, SILENT], ids=["equal", "unequal", "silent"])
def test_everyone_is_everyone(name, problem) -> None:
    method, full = instance(name), run(instance(name), problem, who.Full())
    assert len(set(map(tuple, full.points.tolist()))) > 1  # it moves
    same = [who.Bernoulli(1), who.Schedule([range(M)] * 3), who.UniformThenWeighted(M), None]
    same += [who.Uniform(M)] if problem is EQUAL or METHODS[name].plain else []
    for scheme in same:
        assert same_run(run(method, problem, scheme), full)
    assert not same_run(run(method, problem, who.Schedule([[0, 1, 2]] * 3)), full)  # one is missing
    if problem is UNEQUAL and name in make.WEIGHTED:
        assert not same_run(run(method, problem, who.Uniform(M)), full)


@pytest.mark.parametrize("name", METHODS)
def test_rounds_with_nobody_change_nothing(name) -> None:
    method = instance(name)
    with_gaps = run(method, UNEQUAL, who.Schedule([[], [0, 2], [], [1], []]), rounds=5)
    without = run(method, UNEQUAL, who.Schedule([[0, 2], [1]]), rounds=2)
    assert np.array_equal(with_gaps.points, without.points[[0, 0, 1, 1, 2, 2]])
    assert entries_of(with_gaps.state) == entries_of(without.state)
    assert with_gaps.recorded["participants"].tolist() == [0, 2, 0, 1, 0]


@pytest.mark.parametrize("name", make.WEIGHTED)
def test_clients_of_weight_0_alone_change_nothing(name) -> None:
    method, alone = instance(name), run(instance(name), SILENT, who.Schedule([[0], [0, 1], [0]]))
    assert same_run(alone, run(method, SILENT, who.Schedule([[], [0, 1], []])))
    counted = run(method, SILENT, who.Schedule([[0, 1]]), rounds=1)  # beside others it counts nothing
    if name not in ("AdaptiveFedProx", "DANE"):  # whose objective and gradient are everyone's
        assert np.array_equal(counted.points, run(method, SILENT, who.Schedule([[1]]), rounds=1).points)


def test_a_plain_average_counts_clients_of_weight_0() -> None:
    rounds = rounds_of(fc.FedGD(stepsize=QUARTER), SILENT, "exact")
    state = rounds.start(rounds.arithmetic.array(START))
    moved = rounds.advance(state, Draw(np.array([0]), np.array([1])))
    assert np.array_equal(rounds.arithmetic.publish(moved.server), gradient_steps(SILENT, 0, START, 1, QUARTER))
    assert np.array_equal(rounds.advance(state, Draw(np.array([0]))).server, state.server)


def test_methods_with_the_weights_inside_the_functions_do_not() -> None:
    """Client 0's function is 0: its answer is where the linear and the proximal term alone send it."""
    schedule = [[0], [0, 1], [0, 2, 3], [0]]
    found = run(fc.FedDyn(alpha=QUARTER), SILENT, who.Schedule(schedule), rounds=4)
    assert np.array_equal(found.points, paper.feddyn(terms_of(SILENT), START, schedule, alpha=QUARTER))


def played(rounds: Rounds, draws: Sequence[Draw], in_place: bool = False) -> tuple[State, State]:
    """The state before and after the last of some rounds."""
    with rounds.arithmetic.context():
        before = after = rounds.start(rounds.arithmetic.array(START))
        for draw in draws:
            before, after = after, rounds.advance(after, draw, in_place=in_place)
    return before, after


HALF = Draw(np.array([1, 3]), round=2)
EVERYBODY = [Draw(round=t) for t in range(2)]


@pytest.mark.parametrize("name", make.REMEMBERING)
@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
def test_the_inactive_keep_their_memory(name, arithmetic) -> None:
    rounds = rounds_of(instance(name), UNEQUAL, arithmetic)
    before, after = played(rounds, [*EVERYBODY, HALF])
    changed = []
    for part in before.memory:
        same = (before.memory[part] == after.memory[part]).all(-1)
        assert np.asarray(same)[[0, 2]].all()
        changed.append(~np.asarray(same)[[1, 3]])
    assert np.any(changed, axis=0).all()  # of the active ones it is seen


def test_which_methods_remember() -> None:
    found = [name for name in METHODS if rounds_of(instance(name), EQUAL).start(np.zeros(2)).memory]
    assert found == make.REMEMBERING


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
def test_in_place_or_not(name, arithmetic) -> None:
    rounds = rounds_of(instance(name), UNEQUAL, arithmetic)
    before, _ = played(rounds, EVERYBODY)
    kept = entries_of(before)
    with rounds.arithmetic.context():
        copied = rounds.advance(before, HALF)
        assert entries_of(before) == kept
        overwritten = rounds.advance(before, HALF, in_place=True)
    assert entries_of(overwritten) == entries_of(copied)
    for part, rows in before.memory.items():
        assert rows is overwritten.memory[part]
        assert rows is not copied.memory[part]
    if name in make.REMEMBERING:
        assert entries_of(before) != kept  # overwriting is seen


SCHEMES = [
    who.Uniform(2),
    who.UniformThenWeighted(3),
    who.Weighted(3),
    who.Bernoulli(QUARTER),
    who.Schedule([[1, 2]] * 3),
]


@pytest.fixture
def torch_that_warns() -> Iterator[None]:
    """Every time, and not once in a process: a warning fails the test."""
    torch = pytest.importorskip("torch")
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(always)


@pytest.mark.usefixtures("torch_that_warns")
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
class TestArithmetics:
    @pytest.mark.parametrize("arithmetic", ["float", "torch"])
    def test_floats_do_what_rationals_do(self, scheme, arithmetic) -> None:
        for name in METHODS:
            exact = run(instance(name), UNEQUAL, scheme)
            found = run(instance(name), UNEQUAL, scheme, arithmetic=arithmetic)
            assert np.asarray(found.points) == pytest.approx(exact.points.astype(float), rel=1e-9, abs=1e-9)
            expected = [float(entry) for entry in entries_of(exact.state)]
            assert entries_of(found.state) == pytest.approx(expected, rel=1e-9, abs=1e-9)

    def test_torch_does_what_floats_do(self, scheme) -> None:
        problem = fc.Logistic(make.A, [[1, -1], [1], [-1, 1], [-1]], ridge=QUARTER, weights=[1, 2, 3, 2])
        for name in METHODS:
            found, expected = (run(instance(name), problem, scheme, arithmetic=kind) for kind in ("torch", "float"))
            assert np.asarray(found.points) == pytest.approx(expected.points, rel=1e-9, abs=1e-9)
            assert entries_of(found.state) == pytest.approx(entries_of(expected.state), rel=1e-9, abs=1e-9)
