"""Paired comparisons: participants, stragglers and mini-batches depend on seed and round alone, not on the method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_makers import POSITIVE, few
from run_makers import QUARTER, UNEQUAL, instance, misfit, run, same_run

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.local_solvers.base import EVERYONE
from fedconvex.local_solvers.minibatches import Minibatches, draw_minibatches
from fedconvex.methods import METHODS
from fedconvex.participation import Draw
from fedconvex.randomness import Purpose, stream
from fedconvex.runs.rounds import Rounds

N = 3000


@dataclass
class Recording:
    """What the clients were asked in every round, and which batches they visited."""

    draws: list[Draw]
    batches: list[Minibatches]

    def facts(self) -> list[Any]:
        def listed(array: Any) -> Any:
            return None if array is None else array.tolist()

        draws = [(d.round, d.seed, listed(d.members), listed(d.shares), listed(d.efforts)) for d in self.draws]
        batches = [(b.order.tolist(), b.bounds.tolist(), b.client_batches.tolist()) for b in self.batches]
        return [draws, batches]


@pytest.fixture
def recorded(monkeypatch) -> Callable[..., list[Any]]:
    """A run, as the clients saw it."""
    current = Recording([], [])

    def watch(solver: type) -> None:
        solve = solver.solve

        def watched(self: Any, clients: Any, subproblem: Any, draw: Draw = EVERYONE) -> Any:
            current.draws.append(draw)
            return solve(self, clients, subproblem, draw)

        monkeypatch.setattr(solver, "solve", watched)

    for solver in (fc.SGD, fc.GradientDescent, fc.Exact):
        watch(solver)

    def dealt(*given: Any, **options: Any) -> Minibatches:
        current.batches.append(draw_minibatches(*given, **options))
        return current.batches[-1]

    monkeypatch.setattr("fedconvex.local_solvers.minibatches.draw_minibatches", dealt)

    def record(method: Any, rounds: int = 5, problem: Any = UNEQUAL, seed: int = 11, **options: Any) -> list[Any]:
        current.draws, current.batches = [], []
        fc.simulate(method, problem, rounds, seed=seed, **options)
        return current.facts()

    return record


LATE = who.Stragglers(Fraction(1, 2), "use")
SMALL = Fraction(1, 16)
SOLVERS = {
    "steps": fc.GradientDescent(steps=3, stepsize=SMALL),
    "batches": fc.SGD(epochs=3, batch_size=1, stepsize=SMALL),
}


class TestPairing:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("scheme", [who.Full(), who.Uniform(2), who.Weighted(3), who.Bernoulli(QUARTER)], ids=repr)
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_all_methods_see_the_same(self, recorded, scheme, solver) -> None:
        options = {"participation": scheme, "stragglers": LATE, "local_solver": SOLVERS[solver]}
        once = [name for name in METHODS if METHODS[name].personal is None]  # the others solve several problems a round
        facts = [recorded(instance(name, SMALL), **options) for name in once]
        draws, batches = facts[0]
        assert len(draws) == 5
        assert len(batches) == (5 if solver == "batches" else 0)
        assert all(efforts and set(efforts) <= {1, 2, 3} for *_, efforts in draws)
        assert all(other == facts[0] for other in facts)
        for different in ({"seed": 12}, {"participation": who.Uniform(3)}, {"stragglers": None}):
            assert recorded(instance("FedGD", SMALL), **{**options, **different}) != facts[0]

    def test_whatever_the_arithmetic_and_what_is_measured(self, recorded) -> None:
        options = {"participation": who.Uniform(3), "stragglers": LATE, "local_solver": SOLVERS["batches"]}
        method = fc.Scaffold(stepsize=SMALL)
        expected = recorded(method, **options)
        for arithmetic in ("float", "exact", "torch"):
            for measure in (None, "inexactness", ["control_error", "inexactness"]):
                assert recorded(method, arithmetic=arithmetic, measure=measure, **options) == expected
        assert recorded(method, x0=[100, 100], **options) == expected

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("first", [1, 5, 9])
    def test_a_round_does_not_depend_on_earlier_ones(self, recorded, solver, first, tmp_path) -> None:
        options = {"participation": who.Uniform(3), "stragglers": LATE, "local_solver": SOLVERS[solver]}
        method = fc.FedGD(stepsize=SMALL)
        draws, batches = recorded(method, rounds=10, **options)
        assert recorded(method, rounds=first, checkpoint=tmp_path / "run", **options) == [
            draws[:first],
            batches[:first],
        ]
        assert recorded(method, rounds=10, checkpoint=tmp_path / "run", **options) == [draws[first:], batches[first:]]

    def test_seeds_and_rounds_differ(self, recorded) -> None:
        options = {"participation": who.Uniform(2), "stragglers": LATE, "local_solver": SOLVERS["batches"]}
        runs = [recorded(fc.FedGD(stepsize=SMALL), seed=seed, **options) for seed in range(4)]
        for part in (0, 1):
            contents = [str([entry[2:] if part == 0 else entry for entry in facts[part]]) for facts in runs]
            assert len(set(contents)) == 4
            assert len({str(entry[2:] if part == 0 else entry) for entry in runs[0][part]}) > 1

    def test_stragglers_policies_are_paired(self, recorded) -> None:
        """Who is late does not depend on what becomes of them."""
        dropped = who.Stragglers(Fraction(1, 2), "drop")
        for scheme in (who.Full(), who.Uniform(3), who.Weighted(4)):
            options = {"participation": scheme, "local_solver": SOLVERS["steps"], "rounds": 8}
            used, _ = recorded(fc.FedGD(stepsize=SMALL), stragglers=LATE, **options)
            kept, _ = recorded(fc.FedGD(stepsize=SMALL), stragglers=dropped, **options)
            for (_, _, members, _, efforts), (_, _, staying, _, _) in zip(used, kept, strict=True):
                full = {k for k, effort in zip(members, efforts, strict=True) if effort == 3}
                assert set(staying) <= full
                assert len(members) - len(staying) == (len(members) + 1) // 2

    def test_feddane_asks_two_independent_samples(self, recorded, monkeypatch) -> None:
        asked: list[Any] = []
        plays = Rounds.play
        monkeypatch.setattr(
            Rounds,
            "play",
            lambda self, state, draw, other, **options: (
                asked.append((draw, other)) or plays(self, state, draw, other, **options)
            ),
        )
        recorded(fc.FedDANE(mu=1), rounds=20, participation=who.Uniform(2))
        gradient = [who.Uniform(2).draw(UNEQUAL, 11, t, Purpose.GRADIENT_PARTICIPANTS).members for t in range(20)]
        assert [other.members.tolist() for _, other in asked] == [members.tolist() for members in gradient]
        assert any(draw.members.tolist() != other.members.tolist() for draw, other in asked)


def test_streams_do_not_meet() -> None:
    places = [(), (0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (12,), (10**6, 3)]
    keys = list(product([0, 1, 2, 2**32, 2**64 + 1, 2**100], Purpose, places))
    heads = [tuple(stream(seed, purpose, *place).integers(2**63, size=2).tolist()) for seed, purpose, place in keys]
    assert len(set(heads)) == len(keys)
    again = [tuple(stream(seed, purpose, *place).integers(2**63, size=2).tolist()) for seed, purpose, place in keys]
    assert again == heads
    assert len({int(purpose) for purpose in Purpose}) == len(Purpose)


class TestMinibatches:
    """Orders are permutations, and fewer epochs are the first ones of more."""

    @staticmethod
    def dealt(counts: Sequence[int], size: Any, epochs: Any, steps: Any, members: Sequence[int], **options: Any) -> Any:
        count = np.array([counts[k] for k in members])
        first = (np.cumsum(counts) - counts)[list(members)]
        amounts = [None if a is None else np.array([a[k] for k in members]) for a in (epochs, steps)]
        options = {"seed": 1, "round": 2, **options}
        return draw_minibatches(first, count, size, *amounts, np.array(members), **options)

    @staticmethod
    def batches_of(dealt: Minibatches) -> list[list[list[int]]]:
        """For every client its batches, each a list of rows."""
        cuts = [dealt.order[a:b].tolist() for a, b in pairwise(dealt.bounds.tolist())]
        return [cuts[a:b] for a, b in pairwise(dealt.client_batches.tolist())]

    COUNTS = st.lists(st.integers(1, 7), min_size=1, max_size=4)
    SIZE = st.none() | st.integers(1, 9)

    @settings(max_examples=60, deadline=None)
    @given(counts=COUNTS, size=SIZE, data=st.data(), seed=st.integers(0, 2**40), round=st.integers(0, 99))
    def test_epochs(self, counts, size, data, seed, round) -> None:
        everyone = range(len(counts))
        some = sorted(data.draw(st.sets(st.sampled_from(everyone), min_size=1)))
        epochs = data.draw(st.lists(st.integers(1, 4), min_size=len(counts), max_size=len(counts)))
        place = {"seed": seed, "round": round}
        most = self.batches_of(self.dealt(counts, size, [4] * len(counts), None, everyone, **place))
        dealt = self.dealt(counts, size, epochs, None, some, **place)
        fewer = self.batches_of(dealt)
        firsts = np.cumsum(counts) - counts
        assert dealt.steps.tolist() == [len(batches) for batches in fewer]
        for k, batches in zip(some, fewer, strict=True):
            n, per_epoch = counts[k], -(-counts[k] // (size or counts[k]))
            assert batches == most[k][: epochs[k] * per_epoch]  # whoever else takes part
            assert len(batches) == epochs[k] * per_epoch
            for e in range(epochs[k]):
                epoch = batches[e * per_epoch : (e + 1) * per_epoch]
                assert all(len(batch) == min(size or n, n) for batch in epoch[:-1])
                assert 1 <= len(epoch[-1]) <= min(size or n, n)
                assert sorted(row for batch in epoch for row in batch) == list(range(firsts[k], firsts[k] + n))
        as_steps = [e * -(-n // (size or n)) for e, n in zip(epochs, counts, strict=True)]
        in_steps = self.dealt(counts, size, None, as_steps, some, **place)
        assert self.batches_of(in_steps) == fewer

    @settings(max_examples=60, deadline=None)
    @given(counts=COUNTS, size=SIZE, data=st.data(), seed=st.integers(0, 2**40))
    def test_steps(self, counts, size, data, seed) -> None:
        amounts = data.draw(st.lists(st.integers(1, 9), min_size=len(counts), max_size=len(counts)))
        everyone = range(len(counts))
        most = self.batches_of(self.dealt(counts, size, None, [9] * len(counts), everyone, seed=seed))
        fewer = self.batches_of(self.dealt(counts, size, None, amounts, everyone, seed=seed))
        assert fewer == [batches[:n] for batches, n in zip(most, amounts, strict=True)]

    @pytest.mark.parametrize("other", [{"seed": 2}, {"round": 3}, {"members": [1]}])
    def test_other_seeds_rounds_and_clients_are_not_the_first_epochs(self, other) -> None:
        counts, one = [7, 7], {"members": [0]}
        most = self.batches_of(self.dealt(counts, 2, [4, 4], None, **one))[0]
        fewer = self.batches_of(self.dealt(counts, 2, [2, 2], None, **one))[0]
        different = self.batches_of(self.dealt(counts, 2, [2, 2], None, **{**one, **other}))[0]
        assert fewer == most[:8]
        assert [[i % 7 for i in batch] for batch in different] != most[:8]
        assert most[:4] != most[4:8]  # every epoch has an order of its own

    @pytest.mark.beyond_core  # takes seconds
    def test_orders_are_uniform_and_independent(self) -> None:
        orders = {order: Fraction(1, 6) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))}
        dealt = [self.dealt([3, 3], 1, [2, 2], None, [0, 1], round=t).order.tolist() for t in range(N)]
        for begin, shift in ((0, 0), (3, 0), (6, 3)):  # epochs 1 and 2 of client 0, epoch 1 of client 1
            assert misfit((tuple(i - shift for i in order[begin : begin + 3]) for order in dealt), orders) < 1
        pairs = {pair: Fraction(1, 9) for pair in product(range(3), repeat=2)}
        assert misfit(((order[0], order[6] - 3) for order in dealt), pairs) < 1
        assert misfit(((order[0], order[3]) for order in dealt), pairs) < 1
        assert misfit(((order[0], order[1]) for order in dealt), pairs) > 2  # rejected


@few
@given(p=POSITIVE, seed=st.integers(0, 50))
def test_the_trajectory_of_a_seed_is_one(p, seed) -> None:
    scheme = who.Weighted(3)
    one, two = (run(fc.FedProx(mu=p), UNEQUAL, scheme, seed=seed) for _ in range(2))
    assert same_run(one, two)
