"""Least squares stored as data: wide clients against explicit Hessians, one stacked array against a list."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from client_calls import SCALE, calls, same
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import FLOATS, few
from run_makers import instance

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.participation import Full, Uniform
from fedconvex.problems import quadratics
from fedconvex.problems.base import Clients
from fedconvex.problems.quadratics import QuadraticClients, WideLeastSquaresClients

EQUAL = (1e-13, 0)  # sums of equal floats may be in another order where they lie elsewhere in memory


def wide_pair(
    sizes: Sequence[int], d: int, scale: Sequence[Any], arithmetic: str, seed: int
) -> tuple[Clients, Clients]:
    """The same data, kept and formed."""
    stream, numbers = np.random.default_rng(seed), arithmetics.get(arithmetic)
    problem = fc.LeastSquares([stream.normal(size=(n, d)) for n in sizes], [stream.normal(size=n) for n in sizes])
    formed = problem.clients(numbers, [Fraction(s) for s in scale])
    wide = WideLeastSquaresClients.of(numbers, problem.A, problem.b, numbers.array(list(scale)))
    wide.curvatures = formed.curvatures
    assert isinstance(formed, QuadraticClients)
    return wide, formed


class TestDataThatAreKept:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.sample(6)
    @pytest.mark.parametrize("arithmetic", FLOATS)
    @pytest.mark.parametrize(
        ("sizes", "d"), [([2, 5, 1, 3, 3, 4], 7), ([1], 1), ([3], 8), ([1, 1, 1], 2), ([9, 1, 6], 4)], ids=repr
    )
    def test_every_call(self, sizes, d, arithmetic) -> None:
        """Also with more samples than unknowns, where it would not be used."""
        for scale in ([1] * len(sizes), [Fraction(k + 1, 2) for k in range(len(sizes))], [0] * len(sizes)):
            wide, formed = wide_pair(sizes, d, scale, arithmetic, seed=d)
            everyone = range(len(sizes))
            for name, call in calls(formed).items():
                assert same(call(wide, everyone), call(formed, everyone), 1e-12), (name, scale)

    def test_another_scale_would_be_seen(self) -> None:
        wide, _ = wide_pair([2, 5, 1], 7, [1, 2, 3], "float", 0)
        _, formed = wide_pair([2, 5, 1], 7, [1, 2, Fraction(31, 10)], "float", 0)
        found = {name for name, call in calls(formed).items() if not same(call(wide, range(3)), call(formed, range(3)))}
        assert found == set(calls(formed)) - {"numbers of samples"}

    @few
    @given(data=st.data())
    def test_any_data(self, data) -> None:
        sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
        scale = data.draw(
            st.lists(st.sampled_from([0, 1, Fraction(1, 9), 40]), min_size=len(sizes), max_size=len(sizes))
        )
        wide, formed = wide_pair(sizes, data.draw(st.integers(1, 6)), scale, "float", data.draw(st.integers(0, 999)))
        for name, call in calls(formed).items():
            assert same(call(wide, range(len(sizes))), call(formed, range(len(sizes))), 1e-11), name

    def test_padding_is_no_sample(self) -> None:
        wide, _ = wide_pair([2, 5, 1], 7, [1, 1, 1], "float", 0)
        samples = wide.samples()
        assert samples.count.tolist() == [2, 5, 1]
        visited = {int(samples.first[k]) + i for k in range(3) for i in range(samples.count[k])}
        assert sorted(np.flatnonzero(np.abs(samples.A).sum(1)).tolist()) == sorted(visited)

    @pytest.fixture
    def kept(self, monkeypatch) -> tuple[fc.LeastSquares, fc.LeastSquares]:
        """Two equal problems; the first one keeps its data."""
        stream = np.random.default_rng(2)
        A, b = [stream.normal(size=(n, 5)) for n in (2, 4, 1, 3)], [stream.normal(size=n) for n in (2, 4, 1, 3)]
        wide, formed = (fc.LeastSquares(A, b, [1, 2, 3, 2]) for _ in range(2))
        for arithmetic in FLOATS:
            for scale in (None, [4 * w for w in formed.exact_weights]):
                assert isinstance(formed.clients(arithmetic, scale), QuadraticClients)
        monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)
        assert isinstance(wide.clients("float"), WideLeastSquaresClients)
        return wide, formed

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("name", METHODS)
    def test_runs(self, name, kept) -> None:
        for arithmetic in FLOATS:
            for scheme in (Full(), Uniform(2)):
                one, other = (
                    fc.simulate(
                        instance(name), problem, 3, scheme, x0=np.ones(5), arithmetic=arithmetic, measure=["drift"]
                    )
                    for problem in kept
                )
                assert same(one.points, other.points, 1e-11)
                assert one.recorded["drift"] == pytest.approx(other.recorded["drift"], rel=1e-10)

    def test_numbers_of_the_problem(self, kept) -> None:
        wide, formed = kept
        X = np.arange(20).reshape(4, 5) / 4
        for name in ("client_values", "client_gradients", "client_hessians"):
            assert same(getattr(wide, name)(X), getattr(formed, name)(X), 1e-12)
        assert same(wide.client_prox(X, 0.5), formed.client_prox(X, 0.5), 1e-12)
        assert wide.value(X[1]) == pytest.approx(formed.value(X[1]), rel=1e-13)
        assert fc.dissimilarity(wide, X[1]) == pytest.approx(fc.dissimilarity(formed, X[1]), rel=1e-12)
        assert np.array_equal(wide.L, formed.L)

    def test_what_is_found_from_them(self, kept) -> None:
        """Minimisers, fixed points, a run's frame."""
        one, other = (fc.ground_truth(problem) for problem in kept)
        assert one.point == pytest.approx(other.point, rel=1e-10)
        for arithmetic in ("float", "exact"):
            for method in (fc.FedGD(stepsize=0.05, local_steps=3), fc.FedProx(mu=1)):
                one, other = (fc.fixed_point(method, problem, arithmetic=arithmetic) for problem in kept)
                assert np.asarray(one.point, float) == pytest.approx(np.asarray(other.point, float), rel=1e-9)
        one, other = (fc.simulate(fc.FedProx(mu=1), problem, 3, measure="all").to_frame() for problem in kept)
        assert one.to_numpy() == pytest.approx(other.to_numpy(), rel=1e-9, nan_ok=True)


def stack(m: int = 3, n: int = 4, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    stream = np.random.default_rng(5)
    return stream.normal(size=(m, n, d)), stream.normal(size=(m, n))


def locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


class TestOneStackedArray:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_is_the_list(self, arithmetic) -> None:
        designs, targets = stack()
        one, other = (fc.LeastSquares(A, b, [1, 2, 3]) for A, b in ((designs, targets), (list(designs), list(targets))))
        assert isinstance(one.A, np.ndarray)
        assert isinstance(other.A, tuple)
        assert repr(one) == repr(other)
        assert (one.dim, one.num_clients, one.exact_weights) == (other.dim, other.num_clients, other.exact_weights)
        assert np.array_equal(one.L, other.L)
        assert np.array_equal(one.mu, other.mu)
        whole, expected = one.clients(arithmetic, SCALE[:3]), other.clients(arithmetic, SCALE[:3])
        for name, call in calls(expected).items():
            assert same(call(whole, range(3)), call(expected, range(3)), EQUAL[arithmetic == "exact"]), name
        point = np.array([0.5, -2])
        assert one.value(point) == other.value(point)
        assert np.array_equal(one.gradient(point), other.gradient(point))
        method = fc.FedGD(stepsize=Fraction(1, 100), local_steps=3)
        found = [fc.fixed_point(method, problem, arithmetic=arithmetic).point for problem in (one, other)]
        assert same(*(point[None] for point in found), EQUAL[arithmetic == "exact"])
        assert np.array_equal(fc.ground_truth(one).point, fc.ground_truth(other).point)
        runs = [fc.simulate(fc.FedAvg(stepsize=Fraction(1, 64), batch_size=3), p, 2, Uniform(2)) for p in (one, other)]
        assert np.array_equal(runs[0].points, runs[1].points)

    def test_other_data_would_be_seen(self) -> None:
        designs, targets = stack()
        changed = designs.copy()
        changed[2, 3, 1] += 1e-9
        one, other = (fc.LeastSquares(A, targets) for A in (designs, changed))
        assert not np.array_equal(one.gradient(np.ones(2)), other.gradient(np.ones(2)))
        assert not np.array_equal(one.L, other.L)

    def test_wide_stacks(self, monkeypatch) -> None:
        monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)
        designs, targets = stack(3, 2, 4)
        one, other = (fc.LeastSquares(A, b) for A, b in ((designs, targets), (list(designs), list(targets))))
        whole, expected = one.clients("float", SCALE[:3]), other.clients("float", SCALE[:3])
        assert isinstance(whole, WideLeastSquaresClients)
        assert np.shares_memory(whole.A, one.A)
        for name, call in calls(expected).items():
            assert same(call(whole, range(3)), call(expected, range(3)), EQUAL[0]), name

    def test_locked_arrays_are_kept(self) -> None:
        designs, targets = (locked(array) for array in stack())
        problem = fc.LeastSquares(designs, targets)
        assert problem.A is designs
        assert problem.b is targets
        assert fc.Logistic(designs, locked(np.sign(targets))).A is designs

    def test_others_are_copied(self) -> None:
        """Nobody's later writing changes the problem."""
        designs, targets = stack()
        problem = fc.LeastSquares(designs, targets)
        before = problem.value(np.ones(2))
        for kept, own in ((problem.A, designs), (problem.b, targets)):
            assert not np.shares_memory(kept, own)
            assert not kept.flags.writeable
            assert own.flags.writeable
            own[:] = 9
        assert problem.value(np.ones(2)) == before == fc.LeastSquares(*stack()).value(np.ones(2))
        half = fc.LeastSquares(locked(stack()[0]), stack()[1])
        assert half.value(np.ones(2)) == before

    def test_a_locked_view_of_what_others_can_write_to_is_copied(self) -> None:
        designs, targets = stack()
        problem = fc.LeastSquares(locked(designs[:]), locked(targets[:]))
        before = problem.client_values(np.ones(2)).tolist()
        designs[:], targets[:] = 9, 9
        assert fc.LeastSquares(problem.A, problem.b).client_values(np.ones(2)).tolist() == before

    @pytest.mark.parametrize("change", [np.asfortranarray, lambda array: np.flip(array).copy()[..., ::-1], np.negative])
    def test_however_it_lies_in_memory(self, change) -> None:
        designs, targets = (locked(change(array)) for array in stack())
        one, other = fc.LeastSquares(designs, targets), fc.LeastSquares(list(designs), list(targets))
        for name, call in calls(other.clients("float")).items():
            assert same(call(one.clients("float"), range(3)), call(other.clients("float"), range(3)), 1e-15), name

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("lock", [False, True])
    def test_what_is_no_number_is_refused_with_its_place(self, value, lock) -> None:
        for kind in (fc.LeastSquares, fc.Logistic):
            for at, argument in [(0, "A[2, 1, 0]"), (1, f"{'b' if kind is fc.LeastSquares else 'y'}[2, 1]")]:
                arrays = [stack()[0], np.sign(stack()[1])]
                arrays[at][(2, 1, 0)[: 3 - at]] = value
                with pytest.raises(InvalidInput) as caught:
                    kind(*[locked(array) if lock else array for array in arrays])
                assert (caught.value.argument, caught.value.problem) == (argument, "is not finite")
                assert str(value) in str(caught.value)

    @pytest.mark.parametrize(
        ("change", "argument"),
        [
            (lambda A, b: (A, b[:, :3]), "b[0]"),
            (lambda A, b: (A, b[:2]), "b"),
            (lambda A, b: (A[:, :0], b[:, :0]), "A[0]"),
            (lambda A, b: (A[:0], b[:0]), "A"),
            (lambda A, b: (A[..., :0], b), "A[0]"),
            (lambda A, b: (A[0], b), "A[0]"),
            (lambda A, b: (A, b[..., None]), "b[0]"),
            (lambda A, b: (A, b.ravel()), "b"),
            (lambda A, b: (np.ma.masked_array(A, A > 1), b), "A[0]"),
            (lambda A, b: (A.astype(complex), b), "A[0]"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, change, argument) -> None:
        with pytest.raises(InvalidInput) as caught:
            fc.LeastSquares(*change(*stack()))
        assert caught.value.argument.startswith(argument)

    @pytest.mark.parametrize("kind", [np.float32, np.longdouble, int, object, None])
    def test_other_numbers_are_taken_as_lists_are(self, kind) -> None:
        """And an array beside a list."""
        designs, targets = (np.round(4 * array) / 4 for array in stack())
        given = (designs, list(targets)) if kind is None else (designs.astype(kind), targets.astype(kind))
        problem, expected = fc.LeastSquares(*given), fc.LeastSquares(list(given[0]), list(given[1]))
        assert isinstance(problem.A, tuple)
        assert np.array_equal(problem.client_values(np.ones(2)), expected.client_values(np.ones(2)))

    def test_logistic_labels_are_checked(self) -> None:
        designs, targets = stack()
        labels = np.sign(targets)
        labels[1, 3] = 0
        with pytest.raises(InvalidInput, match=r"y\[1\]\[3\] = 0.0"):
            fc.Logistic(designs, labels)
