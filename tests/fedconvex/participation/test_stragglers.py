"""Stragglers: their number, their delay and the use of their work, against rounds written by hand."""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import floor
from typing import Any

import numpy as np
import pseudo_code as paper
import pytest
import run_makers as make
from hypothesis import example, given
from hypothesis import strategies as st
from problem_makers import few, fractions, terms_of
from run_makers import QUARTER, START, UNEQUAL, M, averaged, entries_of, gradient_steps, instance, misfit, run, same_run

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.local_solvers.minibatches import draw_minibatches
from fedconvex.methods import METHODS
from fedconvex.participation import Draw, Stragglers
from fedconvex.runs.rounds import rounds_of

HALF = Fraction(1, 2)
N = 3000
E = 4


def asked(K: int, seed: int = 0, round: int = 0) -> Draw:
    """Clients 0, 2, …, 2K − 2 of 2K."""
    return Draw(np.arange(0, 2 * K, 2), np.arange(1, K + 1), round=round, seed=seed)


def dropped(fraction: Any, draw: Draw) -> set[int]:
    """Numbers of the late ones."""
    return set(draw.members.tolist()) - set(Stragglers(fraction, "drop").slow(draw, 99, None).members.tolist())


def efforts(fraction: Any, draw: Draw, effort: int = E) -> list[int]:
    """What every one of them manages."""
    slowed = Stragglers(fraction, "use").slow(draw, 99, effort).efforts
    return [effort] * len(draw.members) if slowed is None else slowed.tolist()


def rounded(value: Fraction) -> int:
    """To the nearest integer, halves upwards."""
    return int((Decimal(value.numerator) / value.denominator).quantize(Decimal(1), rounding=ROUND_HALF_UP))


class TestWhoIsLate:
    @few
    @given(
        fraction=st.builds(lambda n, d: Fraction(min(n, d), d), st.integers(0, 10), st.integers(1, 10)),
        K=st.integers(1, 9),
        seed=st.integers(0, 2**70),
        round=st.integers(0, 10**6),
    )
    @example(fraction=HALF, K=5, seed=0, round=0)
    @example(fraction=HALF, K=1, seed=0, round=0)
    @example(fraction=Fraction(1, 6), K=3, seed=0, round=0)
    def test_how_many(self, fraction, K, seed, round) -> None:
        draw = asked(K, seed, round)
        late = dropped(fraction, draw)
        assert len(late) == rounded(fraction * K)
        kept = Stragglers(fraction, "drop").slow(draw, 99, None)
        assert kept.members.tolist() == sorted(kept.members.tolist())
        assert [(s - 1) * 2 for s in kept.shares] == kept.members.tolist()  # everyone keeps its own share
        assert (kept.round, kept.seed) == (round, seed)
        slowed = dict(zip(draw.members.tolist(), efforts(fraction, draw), strict=True))
        assert all(1 <= x <= E for x in slowed.values())
        assert {k for k, x in slowed.items() if x < E} <= late  # the same clients under both policies

    @pytest.mark.parametrize("wrong", [round, floor, lambda value: floor(value + 1)])
    def test_other_roundings_are_rejected(self, wrong: Callable[[Fraction], int]) -> None:
        """2.5 late ones are 3: neither 2 (half to even, floor) nor, for 2.25, 3."""
        places = [(HALF, 5), (Fraction(1, 4), 9), (Fraction(3, 4), 2), (HALF, 4)]
        counts = [len(dropped(fraction, asked(K))) for fraction, K in places]
        assert counts == [3, 2, 2, 2]
        assert counts != [wrong(fraction * K) for fraction, K in places]

    def test_floats_and_fractions_of_everyone(self) -> None:
        assert len(dropped(0.5, asked(5))) == 3
        assert len(dropped(1, asked(5))) == 5
        assert dropped(0, asked(5)) == set()
        everyone = Stragglers(HALF, "drop").slow(Draw(seed=3, round=1), 6, None)
        assert len(everyone.members) == 3
        assert everyone.shares is None
        assert Stragglers(0).slow(Draw(), 6, E).members is None

    @pytest.mark.beyond_core  # takes seconds
    def test_every_set_is_equally_likely(self) -> None:
        sets = {chosen: Fraction(1, 6) for chosen in combinations((0, 2, 4, 6), 2)}
        assert misfit((tuple(sorted(dropped(HALF, asked(4, round=t)))) for t in range(N)), sets) < 1
        assert misfit((tuple(sorted(dropped(HALF, asked(4, seed=s)))) for s in range(N)), sets) < 1
        first_two = (tuple(sorted(draw)) for draw in ([0, 2 * (1 + t % 3)] for t in range(N)))
        assert misfit(first_two, sets) > 1  # rejected: client 0 is always late

    def test_efforts_are_uniform_and_independent(self) -> None:
        slowed = [efforts(1, asked(2, round=t)) for t in range(N)]
        uniform = {x: Fraction(1, E) for x in range(1, E + 1)}
        pairs = {pair: Fraction(1, E**2) for pair in product(uniform, repeat=2)}
        assert misfit((x for x, _ in slowed), uniform) < 1
        assert misfit((tuple(pair) for pair in slowed), pairs) < 1
        assert misfit(((a[0], b[0]) for a, b in pairwise(slowed)), pairs) < 1
        late = {x: Fraction(1, 3) for x in range(1, E)}
        assert misfit((x for x, _ in slowed), late) == float("inf")  # rejected: E itself never
        assert misfit((min(x + 1, E) for x, _ in slowed), uniform) > 2  # and one too many
        assert misfit(((x, x) for x, _ in slowed), pairs) > 2

    @pytest.mark.beyond_core  # takes seconds
    def test_the_effort_of_half_the_clients(self) -> None:
        """Late or not: E with probability 1/2 + 1/2·1/E."""
        probabilities = {x: Fraction(1, 2 * E) + HALF * (x == E) for x in range(1, E + 1)}
        assert misfit((efforts(HALF, asked(2, round=t))[0] for t in range(N)), probabilities) < 1
        assert misfit((efforts(1, asked(2, round=t))[0] for t in range(N)), probabilities) > 2


DROP, USE = Stragglers(HALF, "drop"), Stragglers(HALF, "use")


def late_or_not(scheme: Any, seed: int, t: int, policy: Stragglers, effort: int | None = None) -> Draw:
    return policy.slow(scheme.draw(UNEQUAL, seed, t), M, effort)


class TestDrop:
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("scheme", [who.Full(), who.UniformThenWeighted(3), who.Bernoulli(HALF)], ids=repr)
    def test_is_the_schedule_without_them(self, name, scheme) -> None:
        found = run(instance(name), UNEQUAL, scheme, stragglers=DROP, seed=5)
        kept = [late_or_not(scheme, 5, t, DROP).members for t in range(3)]
        assert any(len(members) < M for members in kept)
        if name != "FedDANE":  # whose gradients are asked of clients of which none is late
            assert same_run(found, run(instance(name), UNEQUAL, who.Schedule(kept), seed=5))
        if name != "FedLin":  # whose first local step is everybody's: that of gradient descent
            assert not same_run(found, run(instance(name), UNEQUAL, scheme, seed=5))

    def test_feddanes_gradients_come_from_all_who_were_asked(self) -> None:
        found = run(fc.FedDANE(mu=QUARTER), UNEQUAL, who.Full(), stragglers=DROP, seed=5)
        schedule = who.Schedule([late_or_not(who.Full(), 5, t, DROP).members for t in range(3)])
        assert same_run(found, run(fc.DANE(mu=QUARTER), UNEQUAL, schedule))
        assert not same_run(found, run(fc.FedDANE(mu=QUARTER), UNEQUAL, schedule))

    @pytest.mark.parametrize(
        "scheme", [who.Full(), who.Uniform(3), who.Weighted(6), who.UniformThenWeighted(3)], ids=repr
    )
    def test_the_others_share_the_weight(self, scheme) -> None:
        points, seed = run(fc.FedGD(stepsize=QUARTER), UNEQUAL, scheme, rounds=1, stragglers=DROP, seed=5).points, 5
        before, kept = scheme.draw(UNEQUAL, seed, 0), late_or_not(scheme, seed, 0, DROP)
        members = range(M) if before.members is None else before.members.tolist()
        weights = dict(enumerate(UNEQUAL.exact_weights))
        if before.shares is not None:
            weights = dict(zip(members, map(int, before.shares), strict=True))
        answers = {k: gradient_steps(UNEQUAL, k, START, 1, QUARTER) for k in kept.members.tolist()}
        assert np.array_equal(points[1], averaged(answers, weights))
        whole = sum(weights[k] for k in members)
        lost = averaged(answers, weights, total=whole)
        stayed = averaged({**dict.fromkeys(members, START), **answers}, weights)
        assert not np.array_equal(points[1], lost)  # rejected: the late ones' weight is lost
        assert not np.array_equal(points[1], stayed)  # rejected: the late ones count where they began

    @pytest.mark.parametrize("name", METHODS)
    def test_all_late(self, name) -> None:
        everyone = Stragglers(1, "drop")
        for scheme in (who.Full(), who.Uniform(2), who.Weighted(3)):
            found = run(instance(name), UNEQUAL, scheme, stragglers=everyone)
            start = run(instance(name), UNEQUAL, scheme, rounds=0)
            assert np.array_equal(found.points, np.stack([START] * 4))
            assert entries_of(found.state) == entries_of(start.state)
            assert found.recorded["participants"].tolist() == [0, 0, 0]
        moved = run(instance(name), UNEQUAL, stragglers=Stragglers(Fraction(3, 4), "drop"))
        assert not np.array_equal(moved.points, np.stack([START] * 4))  # one on time is seen

    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("policy", ["drop", "use"])
    def test_none_late(self, name, policy) -> None:
        method, solver = instance(name), fc.GradientDescent(steps=3, stepsize=QUARTER)
        punctual = run(method, UNEQUAL, who.Uniform(3), local_solver=solver)
        for fraction in (0, Fraction(1, 7)):  # of three clients, less than half a client
            late = Stragglers(fraction, policy)
            assert same_run(run(method, UNEQUAL, who.Uniform(3), local_solver=solver, stragglers=late), punctual)
        late = Stragglers(Fraction(1, 6), "drop")  # just half a client
        assert not same_run(run(method, UNEQUAL, who.Uniform(3), local_solver=solver, stragglers=late), punctual)

    @pytest.mark.parametrize("name", make.REMEMBERING)
    @pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
    def test_the_late_keep_their_memory(self, name, arithmetic) -> None:
        rounds = rounds_of(instance(name), UNEQUAL, arithmetic)
        with rounds.arithmetic.context():
            state = rounds.advance(rounds.start(rounds.arithmetic.array(START)))
            before = {part: np.array(rounds.arithmetic.to_float(rows)) for part, rows in state.memory.items()}
            kept = DROP.slow(Draw(seed=5, round=1), M, None).members
            after = rounds.advance(state, DROP.slow(Draw(seed=5, round=1), M, None), in_place=True).memory
        late = np.setdiff1d(np.arange(M), kept)
        assert len(late) == len(kept) == M // 2
        changed = np.any([before[part] != rounds.arithmetic.to_float(after[part]) for part in before], axis=(0, 2))
        assert not changed[late].any()
        assert changed[kept].all()


class TestUse:
    """Late clients stop after some of the steps; what they have got counts."""

    def work(self, scheme: Any, seed: int, rounds: int, effort: int) -> list[dict[int, int]]:
        """Who does how many steps, in every round."""
        draws = [late_or_not(scheme, seed, t, USE, effort) for t in range(rounds)]
        return [dict(zip(draw.members.tolist(), draw.efforts.tolist(), strict=True)) for draw in draws]

    @few
    @given(seed=st.integers(0, 999), e=st.integers(2, 5), K=st.integers(1, M))
    @example(seed=1, e=4, K=3)
    def test_fedgd(self, seed, e, K) -> None:
        scheme, method = who.UniformThenWeighted(K), fc.FedGD(stepsize=QUARTER, local_steps=e)
        points, weights = [START], dict(enumerate(UNEQUAL.exact_weights))
        for steps in self.work(scheme, seed, 3, e):
            rows = {k: gradient_steps(UNEQUAL, k, points[-1], x, QUARTER) for k, x in steps.items()}
            points.append(averaged(rows, weights))
        assert np.array_equal(run(method, UNEQUAL, scheme, stragglers=USE, seed=seed).points, np.stack(points))

    def test_full_work_by_everyone_is_rejected(self) -> None:
        scheme, method = who.UniformThenWeighted(3), fc.FedGD(stepsize=QUARTER, local_steps=4)
        steps = self.work(scheme, 1, 1, 4)[0]
        assert set(steps.values()) != {4}
        found = run(method, UNEQUAL, scheme, rounds=1, stragglers=USE, seed=1).points[1]
        weights = dict(enumerate(UNEQUAL.exact_weights))
        for right, taken in ((True, steps), (False, dict.fromkeys(steps, 4))):
            rows = {k: gradient_steps(UNEQUAL, k, START, x, QUARTER) for k, x in taken.items()}
            assert np.array_equal(found, averaged(rows, weights)) == right

    @pytest.mark.parametrize(
        ("method", "pseudo_code", "given", "keyword"),
        [
            (fc.FedNova(stepsize=QUARTER, local_steps=4), paper.fednova, {"s": QUARTER}, "tau"),
            (fc.Scaffold(stepsize=QUARTER, local_steps=4), paper.scaffold, {"s": QUARTER}, "steps"),
            (
                fc.Scaffold(stepsize=QUARTER, local_steps=4, option=1),
                paper.scaffold,
                {"s": QUARTER, "option": 1},
                "steps",
            ),
        ],
    )
    def test_methods_that_count_steps(self, method, pseudo_code, given, keyword) -> None:
        """Against the papers' pseudo-code, with the work of one round: FedNova divides by each client's own steps."""
        scheme = who.UniformThenWeighted(3) if keyword == "tau" else who.Uniform(3)
        steps = self.work(scheme, 1, 1, 4)[0]
        found = run(method, UNEQUAL, scheme, rounds=1, stragglers=USE, seed=1).points
        amounts = [steps.get(k, 0) for k in range(M)]
        expected = pseudo_code(terms_of(UNEQUAL), START, [sorted(steps)], **given, **{keyword: amounts})
        assert np.array_equal(found, expected)
        full = pseudo_code(terms_of(UNEQUAL), START, [sorted(steps)], **given, **{keyword: 4})
        assert not np.array_equal(found, full)
        if keyword == "tau":
            wrong = pseudo_code(
                terms_of(UNEQUAL), START, [sorted(steps)], s=QUARTER, tau=amounts, fault="not normalised"
            )
            assert not np.array_equal(found, wrong)

    def test_scaffolds_variates_know_the_work(self) -> None:
        """Three rounds of option II by hand: c_k⁺ = c_k − c + (w − y_k)/(s·τ_k) with the τ_k of the round."""
        s, scheme, terms = QUARTER, who.Uniform(3), terms_of(UNEQUAL).as_a_sum()

        def expected(own_steps: bool) -> list[Any]:
            w, c, own = START, 0 * START, [0 * START] * M
            for steps in self.work(scheme, 1, 3, 4):
                moved, fresh = {}, dict(enumerate(own))
                for k, tau in steps.items():
                    y = w
                    for _ in range(tau):
                        y = y - s * (terms.H[k] @ y - terms.c[k] - own[k] + c)
                    moved[k], fresh[k] = y - w, own[k] - c + (w - y) / (s * (tau if own_steps else 4))
                w = w + averaged(moved, dict.fromkeys(moved, 1))
                c = c + sum(fresh[k] - own[k] for k in fresh) / Fraction(M)
                own = [fresh[k] for k in range(M)]
            return [*w, *c, *np.concatenate(own)]

        found = run(fc.Scaffold(stepsize=s, local_steps=4), UNEQUAL, scheme, stragglers=USE, seed=1)
        assert entries_of(found.state) == expected(own_steps=True)
        assert entries_of(found.state) != expected(own_steps=False)

    @pytest.mark.parametrize("kind", ["epochs", "steps"])
    @pytest.mark.parametrize("arithmetic", ["exact", "float"])
    def test_sgd_stops_after_some_epochs_or_batches(self, kind, arithmetic) -> None:
        """By hand, sample by sample, in the order that is dealt for the whole work."""
        A, b = ([[[1, 2], [0, 1], [1, 1]], [[2, 1], [1, 0]], [[1, -1]], [[0, 2], [1, 1], [1, 0], [2, 2]]],
                [[1, 0, 2], [1, 1], [3], [0, 1, 2, 1]])  # fmt: skip
        problem, s, size = fc.LeastSquares(A, b, [1, 2, 3, 2]), Fraction(1, 32), 2
        solver = fc.SGD(**{kind: E}, batch_size=size, stepsize=s)
        found = run(
            fc.FedGD(stepsize=1), problem, rounds=1, local_solver=solver, stragglers=USE, seed=2, arithmetic=arithmetic
        ).points[1]
        counts = np.array([len(rows) for rows in A])
        full, everyone = np.full(M, E), np.arange(M)
        dealt = draw_minibatches(
            np.zeros(M, dtype=int), counts, size, full if kind == "epochs" else None, full if kind == "steps" else None,
            everyone, seed=2, round=0,
        )  # fmt: skip
        draw, weights = USE.slow(Draw(seed=2), M, E), dict(enumerate(problem.exact_weights))
        assert set(draw.efforts.tolist()) - {E}

        def expected(work: Sequence[int]) -> np.ndarray:
            rows = {}
            for k, x in enumerate(work):
                per_epoch, theta = -(-int(counts[k]) // size), START
                design, target = fractions(A[k]), fractions(b[k])
                for i in range(x * per_epoch if kind == "epochs" else x):
                    batch = dealt.client_batches[k] + i
                    chosen = dealt.order[dealt.bounds[batch] : dealt.bounds[batch + 1]]
                    residual = design[chosen] @ theta - target[chosen]
                    theta = theta - s * Fraction(int(counts[k]), len(chosen)) * design[chosen].T @ residual
                rows[k] = theta
            return averaged(rows, weights)

        for right, work in ((True, draw.efforts.tolist()), (False, [E] * M)):
            if arithmetic == "exact":
                assert np.array_equal(found, expected(work)) == right
            else:
                assert (found == pytest.approx(expected(work).astype(float), rel=1e-12)) == right

    def test_work_that_cannot_be_divided_is_all_the_same(self) -> None:
        """Of one step nobody does a part."""
        assert same_run(
            run(fc.FedSGD(stepsize=QUARTER), UNEQUAL, stragglers=USE), run(fc.FedSGD(stepsize=QUARTER), UNEQUAL)
        )

    @pytest.mark.parametrize(
        "solver",
        [fc.Exact(), fc.Newton(), fc.AcceleratedGradient(), fc.ToInexactness(HALF)],
        ids=lambda solver: type(solver).__name__,
    )
    def test_solvers_without_countable_work_are_refused_before_any(self, solver) -> None:
        def used() -> Any:
            return run(fc.FedProx(mu=1), UNEQUAL, local_solver=solver, stragglers=USE, arithmetic="float")

        with make.no_rounds():
            make.assert_refused(used, "local_solver", type(solver).__name__, "Stragglers(…, policy='drop')")
        run(fc.FedProx(mu=1), UNEQUAL, local_solver=solver, stragglers=DROP, arithmetic="float")
