"""Some of the clients are those rows of all; data that are kept as they came give what lists and formed H_k give."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, fractions
from run_makers import instance

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.participation import Full, Uniform
from fedconvex.problems import quadratics
from fedconvex.problems.base import Clients, Curvatures, Problem, Subproblem
from fedconvex.problems.linear_models import LinearModelClients
from fedconvex.problems.linear_models_in_balls import BallLinearModelClients
from fedconvex.problems.quadratics import QuadraticClients
from fedconvex.problems.wide_least_squares import WideLeastSquaresClients
from fedconvex.rationals import to_fraction

FLOATS = ["float", *(["torch"] if importlib.util.find_spec("torch") else [])]
SIZES = [36, 1, 40, 2, 90, 1, 12, 33]  # three of them share a bucket
M, D = len(SIZES), 3
generator = np.random.default_rng(11)
A = [generator.integers(-8, 9, (n, D)) / 4 for n in SIZES]
B = [generator.integers(-8, 9, n) / 4 for n in SIZES]
SIGNS = [generator.choice([-1, 1], n) for n in SIZES]
LABELS = [generator.integers(0, 3, n) for n in SIZES]
FEW = slice(0, 4)  # samples of each client where every one is a ball
PROBLEMS: dict[str, Problem] = {
    "least squares": fc.LeastSquares(A, B),
    "quadratic": fc.Quadratic([a.T @ a / 8 - np.eye(D) for a in A], generator.integers(-4, 5, (M, D))),
    "logistic": fc.Logistic(A, SIGNS, 0.25),
    "multinomial": fc.MultinomialLogistic([a[:, :1] for a in A], LABELS, 3, 0.25),
}
SMALL: dict[str, Problem] = {
    "logistic": fc.Logistic([a[FEW] for a in A], [y[FEW] for y in SIGNS], 0.25),
    "multinomial": fc.MultinomialLogistic([a[FEW, :1] for a in A], [y[FEW] for y in LABELS], 3, 0.25),
}
SCALE = [Fraction(k + 1, 3) for k in range(M)]
CLASSES = {
    "least squares": QuadraticClients,
    "quadratic": QuadraticClients,
    "logistic": LinearModelClients,
    "multinomial": LinearModelClients,
    "wide": WideLeastSquaresClients,
}


def made(kind: str, arithmetic: str) -> Clients:
    """All clients, scaled."""
    numbers = arithmetics.get(arithmetic)
    if kind == "wide":
        problem = PROBLEMS["least squares"]
        clients = WideLeastSquaresClients.of(numbers, problem.A, problem.b, numbers.array(SCALE))
        clients.curvatures = problem.clients(numbers, SCALE).curvatures
        return clients
    return (SMALL if arithmetic == "ball" and kind in SMALL else PROBLEMS)[kind].clients(numbers, SCALE)


ALL = [
    *((kind, name) for kind in CLASSES for name in FLOATS),
    *((kind, name) for kind in ("least squares", "quadratic") for name in ("exact", "ball")),
    ("logistic", "ball"), ("multinomial", "ball"),
]  # fmt: skip
EVERY_CLASS = pytest.mark.parametrize(("kind", "arithmetic"), ALL)


def points_of(clients: Clients, shift: int = 0, size: int | None = None) -> Any:
    """Different points, quarters between −2 and 2."""
    rows = clients.num_clients if size is None else size
    flat = (7 * np.arange(rows * clients.dim) + 5 * shift) % 17 - 8
    return clients.arithmetic.array(fractions(flat.reshape(rows, -1)) / 4)


def subproblem_of(clients: Clients, terms: Sequence[str]) -> Subproblem:
    parts = {name: points_of(clients, i + 1) for i, name in enumerate(TERMS) if name in terms}
    weight = Fraction(7, 2) if "center" in terms else 0
    return Subproblem(points_of(clients), clients.arithmetic.scalar(weight), **parts)


TERMS = ("center", "linear", "guess")


def batch_gradients(clients: Clients, X: Any) -> Any:
    """Every client's, on its first sample and its last, the last counting thrice."""
    samples = clients.samples()
    rows = np.stack([samples.first, samples.first + samples.count - 1], axis=1)
    shares = clients.arithmetic.array([[Fraction(1, 4), Fraction(3, 4)]] * clients.num_clients)
    return samples.gradients(np.arange(clients.num_clients), X, rows, shares)


Call = Callable[[Clients, Sequence[int]], Any]


def calls(whole: Clients) -> dict[str, Call]:
    """Every call, for clients that are the members of the whole: an answer with one row for each."""
    X, V, common = points_of(whole), points_of(whole, 1), points_of(whole, 2, size=2)
    task, pulled, bare = (subproblem_of(whole, terms) for terms in (TERMS, ["center"], ["linear"]))
    found: dict[str, Call] = {
        "values": lambda c, k: c.values(X[k]),
        "differences": lambda c, k: c.differences(X[k], V[k]),
        "gradients": lambda c, k: c.gradients(X[k]),
        "hessians": lambda c, k: c.hessians(X[k]),
        "hessian products": lambda c, k: c.hessian_products(X[k], V[k]),
        "resolvents": lambda c, k: c.resolvents(X[k], c.arithmetic.scalar(Fraction(7, 2))),
        "minimise": lambda c, k: c.minimise(task.of(np.array(k))),
        "minimise, pulled": lambda c, k: c.minimise(pulled.of(np.array(k))),
        "values at one point": lambda c, k: c.values(common[0]),
        "differences at one point": lambda c, k: c.differences(common[0], common[1]),
        "gradients at one point": lambda c, k: c.gradients(common[0]),
        "hessian products at one point": lambda c, k: c.hessian_products(common[0], V[k]),
        "values at common points": lambda c, k: c.values_and_gradients(common)[0].swapaxes(0, 1),
        "gradients at common points": lambda c, k: c.values_and_gradients(common)[1].swapaxes(0, 1),
        "differences at common points": lambda c, k: c.differences_from(common, X[0]).swapaxes(0, 1),
        "curvatures": lambda c, k: np.stack([c.curvatures.L, c.curvatures.mu], axis=1),
    }
    if isinstance(whole, LinearModelClients | BallLinearModelClients):  # others may have many minimisers
        found["minimise, not pulled"] = lambda c, k: c.minimise(bare.of(np.array(k)))
    if has_samples(whole):
        found["samples"] = lambda c, k: batch_gradients(c, X[k])
        found["numbers of samples"] = lambda c, k: c.samples().count
    return found


@cache
def of_all(kind: str, arithmetic: str) -> tuple[Clients, dict[str, Call], dict[str, Any]]:
    """All clients, the calls, and their answers."""
    whole = made(kind, arithmetic)
    with whole.arithmetic.context():
        found = calls(whole)
        return whole, found, {name: call(whole, range(M)) for name, call in found.items()}


def has_samples(clients: Clients) -> bool:
    try:
        clients.samples()
    except InvalidInput:
        return False
    return True


def rows_of(answer: Any) -> list[Any]:
    """One list of numbers a client: floats, Fractions or balls."""
    if isinstance(answer, list):
        return [[entry for row in matrix.tolist() for entry in row] for matrix in answer]
    array = np.asarray(answer)
    return list(array.reshape(len(array), -1).tolist())


def same(one: Any, other: Any, tolerance: float = 1e-13) -> bool:
    """Equal rationals; floats up to rounding; balls that overlap and are small."""
    return len(rows_of(one)) == len(rows_of(other)) and all(
        len(a) == len(b) and all(same_number(x, y, tolerance * (1 + longest(b))) for x, y in zip(a, b, strict=True))
        for a, b in zip(rows_of(one), rows_of(other), strict=True)
    )


def longest(row: list[Any]) -> float:
    return max(abs(float(v.mid() if hasattr(v, "mid") else to_fraction(v))) for v in row)


def same_number(x: Any, y: Any, tolerance: float) -> bool:
    if type(x).__name__ == "arb":
        return bool(x.overlaps(y)) and float(x.rad()) < 1e-9 and abs(float(x.mid()) - float(y.mid())) < 1e-9
    return bool(x == y if type(x).__name__ == "fmpq" else abs(x - y) <= tolerance)


def chosen_rows(answer: Any, members: Sequence[int]) -> Any:
    return [answer[k] for k in members] if isinstance(answer, list) else answer[np.array(members)]


CHOICES = {
    "some": [1, 2, 5, 7],
    "first": [0],
    "last": [7],
    "everyone": list(range(M)),
    "one size": [1, 5],
    "in another order": [6, 0, 3],
}


class TestSubsets:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "ball"])
    def test_which_classes(self, arithmetic) -> None:
        for kind, expected in CLASSES.items():
            if kind != "wide" or arithmetic != "ball":
                in_balls = arithmetic == "ball" and kind in SMALL
                assert type(made(kind, arithmetic)) is (BallLinearModelClients if in_balls else expected)
        assert len(made("logistic", "float").buckets) > 3

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
            assert same(call(whole, range(3)), call(expected, range(3)), 0), name
        point = np.array([0.5, -2])
        assert one.value(point) == other.value(point)
        assert np.array_equal(one.gradient(point), other.gradient(point))
        method = fc.FedGD(stepsize=Fraction(1, 100), local_steps=3)
        found = [fc.fixed_point(method, problem, arithmetic=arithmetic).point for problem in (one, other)]
        assert np.array_equal(*map(np.asarray, found))
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
            assert same(call(whole, range(3)), call(expected, range(3)), 0), name

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
