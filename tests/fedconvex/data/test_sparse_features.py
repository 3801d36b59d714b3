"""Files that are mostly zeros stay sparse to the problem, which agrees with the one of the dense features."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import fedconvex as fc
from fedconvex import memory, sparse
from fedconvex.data import FederatedData, load, train_test_split
from fedconvex.data.files import read_table
from fedconvex.data.table import NumberedNames
from fedconvex.errors import InvalidInput, TooLarge
from fedconvex.fingerprints import fingerprint
from fedconvex.problems.linear_models import LinearModelClients
from fedconvex.sparse import is_sparse

WIDTH = 40_000


def sample_lines(labels: str, seed: int = 0) -> str:
    random = np.random.default_rng(seed)
    lines = []
    for label in labels:
        columns = np.sort(random.choice(WIDTH, 4, replace=False)) + 1
        lines.append(label + "".join(f" {j}:{v:.3f}" for j, v in zip(columns, random.normal(size=4), strict=True)))
    return "\n".join(lines) + "\n"


@pytest.fixture
def federated(tmp_path: Path) -> FederatedData:
    file = tmp_path / "wide.svm"
    file.write_text(sample_lines("010110100111" * 6))
    return load(file, clients=3, num_features=WIDTH)


def densified(data: FederatedData) -> FederatedData:
    features = tuple(array.toarray() for array in data.features)
    return FederatedData(features, data.targets, data.client_names, data.feature_names, data.source)


class TestReading:
    def test_libsvm_with_few_entries(self, federated: FederatedData) -> None:
        assert all(isinstance(array, csr_array) for array in federated.features)
        assert sum(array.nnz for array in federated.features) == 72 * 4
        assert federated.sizes.tolist() == [24, 24, 24]

    def test_a_small_table_is_dense_whatever_it_holds(self, tmp_path: Path) -> None:
        (tmp_path / "small.svm").write_text("1 1:2\n0 900:1\n")
        assert isinstance(read_table(tmp_path / "small.svm").features, np.ndarray)

    def test_npz_of_zeros(self, tmp_path: Path) -> None:
        X = np.zeros((60, WIDTH), np.int8)
        X[3, 7] = 5
        np.savez_compressed(tmp_path / "zeros.npz", X=X, y=np.arange(60))
        table = read_table(tmp_path / "zeros.npz")
        assert is_sparse(table.features)
        assert table.features.dtype == np.float64
        assert (table.features[3, 7], table.features.nnz) == (5, 1)

    def test_npz_is_refused_by_its_header(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        np.savez_compressed(tmp_path / "ones.npz", X=np.ones((2000, 20_000), np.int8), y=np.arange(2000))
        monkeypatch.setattr(memory, "available", lambda: 100 * 2**20)  # more than the 40 MB of int8
        with pytest.raises(TooLarge, match=r"ones.npz: .*float64 takes 649 MiB, 100 MiB are left"):
            read_table(tmp_path / "ones.npz")

    def test_entries_that_are_not_finite_are_refused(self) -> None:
        X = csr_array(([np.nan], ([0], [5])), shape=(2, WIDTH))
        with pytest.raises(InvalidInput, match="not finite"):
            FederatedData((X,), (np.zeros(2),), ("a",), NumberedNames(WIDTH), "a test")
        with pytest.raises(InvalidInput, match=r"n_k, 3\)"):
            FederatedData((abs(X),), (np.zeros(2),), ("a",), NumberedNames(3), "a test")

    def test_the_owners_array_stays_writable(self, federated: FederatedData) -> None:
        with pytest.raises(ValueError, match="read-only"):
            federated.features[0].data[0] = 1
        own = csr_array(([1.0], ([0], [5])), shape=(2, WIDTH))
        FederatedData((own,), (np.zeros(2),), ("a",), NumberedNames(WIDTH), "a test")
        own.data[0] = 2

    def test_split_and_standardize(self, federated: FederatedData, tmp_path: Path) -> None:
        train, test = train_test_split(federated, 0.25)
        assert all(is_sparse(array) for array in train.features + test.features)
        assert (train.num_samples, test.num_samples) == (54, 18)
        standard = load(tmp_path / "wide.svm", clients=3, num_features=WIDTH, standardize=True)
        assert isinstance(standard.features[0], np.ndarray)  # shifted features have no zeros


class TestNames:
    def test_are_those_of_a_tuple(self) -> None:
        names = NumberedNames(4)
        assert (list(names), names[-1], names[1:3]) == (["x1", "x2", "x3", "x4"], "x4", ("x2", "x3"))
        assert names == ("x1", "x2", "x3", "x4")
        assert hash(names) == hash(tuple(names))
        assert names != ("x1", "x2", "x3", "y")
        assert names != NumberedNames(5)
        with pytest.raises(IndexError):
            names[4]


class TestProblems:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("model", ["least-squares", "logistic", "multinomial"])
    def test_agree_with_the_dense_ones(
        self, model: str, federated: FederatedData, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = federated.problem(model)
        with monkeypatch.context() as patch:
            patch.setattr("fedconvex.problems.designs.stays_sparse", lambda *_: False)
            dense = densified(federated).problem(model)
        assert is_sparse(whole.A[0])
        assert not is_sparse(dense.A[0])
        clients, others = whole.clients("float"), dense.clients("float")
        assert isinstance(clients, LinearModelClients)
        x, v = np.random.default_rng(1).normal(size=(2, whole.dim)) / 100
        for one, other in (
            (clients.values(x), others.values(x)),
            (clients.gradients(x), others.gradients(x)),
            (clients.hessian_products(x, v), others.hessian_products(x, v)),
            (clients.differences(x + v, x), others.differences(x + v, x)),
            (whole.L, dense.L),
            (whole.mu, dense.mu),
        ):
            assert np.allclose(one, other, rtol=1e-10, atol=1e-13)
        some = np.array([2, 0])
        assert np.allclose(clients.subset(some).gradients(x), others.subset(some).gradients(x), atol=1e-13)
        assert float(whole.smoothness_bound(1).upper()) == pytest.approx(whole.L[1], rel=1e-6)
        assert whole.smoothness_bound(1) >= dense.L[1] * (1 - 1e-12)

    @pytest.mark.slow
    def test_methods_run_alike(self, federated: FederatedData) -> None:
        whole, dense = federated.problem("logistic"), densified(federated).problem("logistic")
        for method in (fc.FedGD(stepsize=0.5, local_steps=3), fc.FedProx(mu=1), fc.FedSplit(stepsize=1)):
            one, other = (fc.simulate(method, problem, 4).points for problem in (whole, dense))
            assert np.allclose(one, other, atol=1e-12)

    def test_gradients_in_balls_contain_the_floats(self, federated: FederatedData) -> None:
        import flint

        problem = federated.problem("logistic")
        x = np.random.default_rng(1).normal(size=problem.dim)
        balls = problem.gradient(np.array([flint.arb(v) for v in x], dtype=object))
        assert np.allclose([float(v.mid()) for v in balls], problem.gradient(x), atol=1e-14)

    def test_what_needs_hessians_is_refused(self, federated: FederatedData, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "available", lambda: 200 * 2**20)
        problem = federated.problem("logistic")
        with pytest.raises(TooLarge, match=r"takes .* GiB, 200 MiB are left; use fewer features"):
            problem.hessian(np.zeros(problem.dim))
        with pytest.raises(TooLarge):
            federated.problem("least-squares").weighted_hessian("exact")

    def test_so_many_unknowns_that_no_point_fits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "available", lambda: 2**30)
        X = csr_array(([1.0], ([0], [5])), shape=(2, 500_000_000))
        with pytest.raises(TooLarge, match="of 500000000 features"):
            fc.Logistic([X], [[1, -1]])

    def test_fingerprints_are_of_the_content(self, federated: FederatedData) -> None:
        X = federated.features[0]
        assert fingerprint(X) == fingerprint(X.copy())
        assert fingerprint(X) != fingerprint(2 * X)
        assert fingerprint(X) != fingerprint(X.toarray())


def test_the_rule_weighs_both_forms() -> None:
    assert sparse.stays_sparse(100, 1_000_000, 1000)
    assert not sparse.stays_sparse(100, 1_000_000, 10_000_000)  # CSR takes 120 MB, the dense array 800 MB
    assert not sparse.stays_sparse(2, 1000, 1)
