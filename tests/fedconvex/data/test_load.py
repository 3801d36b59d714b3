"""`load`: built-in data sets, client columns, targets and options."""

from pathlib import Path

import numpy as np
import pytest

from fedconvex.data import breast_cancer, diabetes, digits, load
from fedconvex.data.builtin import names
from fedconvex.data.table import standardized
from fedconvex.errors import InvalidInput
from fedconvex.problems import LeastSquares, Logistic, MultinomialLogistic

A9A = Path(__file__).resolve().parents[4] / "shared" / "data" / "libsvm" / "a9a.gz"
CSV = "client,u,v,y\n10,1,5,0\n9,2,5,1\n9,3,5,0\nx,4,5,1\n10,6,5,1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "data.csv"
    file.write_text(CSV)
    return file


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    file = tmp_path / "plain.csv"
    file.write_text("u,target\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    return file


def test_the_client_column_says_who_has_what(path: Path) -> None:
    data = load(path)
    assert data.client_names == ("9", "10", "x")
    assert data.feature_names == ("u", "v")
    assert [array[:, 0].tolist() for array in data.features] == [[2, 3], [1, 6], [4]]
    assert [array.tolist() for array in data.targets] == [[1, 0], [0, 1], [1]]
    assert (data.task, data.source) == ("binary", str(path))


def test_columns_can_be_named(path: Path) -> None:
    path.write_text("y,site,price,label\n1,n,2.5,0\n0,s,3.5,1\n")
    data = load(path, client_column="site", target_column="price")
    assert (data.client_names, data.feature_names) == (("n", "s"), ("y", "label"))
    assert [array.tolist() for array in data.targets] == [[2.5], [3.5]]


def test_a_file_without_clients_is_dealt(plain: Path) -> None:
    data = load(plain, clients=4, partition="by-label:1")
    assert data.client_names == ("0", "1", "2", "3")
    assert all(np.unique(targets).size == 1 for targets in data.targets)
    assert load(plain, clients=3).sizes.tolist() == [7, 7, 6]


def test_standardize_uses_all_clients(path: Path) -> None:
    data = load(path, standardize=True)
    pooled = np.concatenate(data.features)
    assert np.allclose(pooled[:, 0].mean(), 0, atol=1e-15)
    assert np.allclose(pooled[:, 0].std(), 1)
    assert not pooled[:, 1].any()


def test_standardized_survives_extreme_numbers() -> None:
    features = np.array([[1e308, 5e-324, 0.1, -0.0], [-1e308, 0.0, 0.1, 0.0], [1e308, 0.0, 0.1, 0.0]])
    columns = standardized(features).T
    assert np.allclose(columns[:2].mean(axis=1), 0)
    assert np.allclose(columns[:2].std(axis=1), 1)
    assert not columns[2:].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client_column": "client", "clients": 3}, "client_column = client: is given together with clients; give one"),
        ({"client_column": "client", "partition": "iid"}, "is given together with partition"),
        ({"clients": 3}, "has a client column, and clients is given as well; leave out"),
        ({"partition": "iid"}, "has a client column, and partition is given as well; leave out"),
    ],
)
def test_a_client_column_and_a_deal_are_refused(path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(path, **options)


@pytest.mark.parametrize("options", [{}, {"partition": "iid"}])
def test_neither_is_refused(plain: Path, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"(?s)plain.csv.*has no client column.*--clients (N|10) --partition iid"):
        load(plain, **options)


def test_too_many_clients_are_refused(plain: Path) -> None:
    with pytest.raises(InvalidInput, match="clients = 21: more clients than the 20 samples"):
        load(plain, clients=21)


def test_a_name_that_is_neither_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"diabetis: is neither a file nor a built-in.*breast_cancer, diabetes, digits"
    ):
        load("diabetis")


@pytest.mark.parametrize("option", ["client_column", "target_column", "format", "num_features"])
def test_built_in_sets_have_no_columns(option: str) -> None:
    with pytest.raises(InvalidInput, match=rf"{option} = 1: diabetes is a built-in data set"):
        load("diabetes", **{option: 1})


@pytest.mark.parametrize(
    ("name", "shape", "task", "classes"),
    [
        ("diabetes", (442, 10), "regression", 214),
        ("breast_cancer", (569, 30), "binary", 2),
        ("digits", (1797, 64), "multiclass", 10),
    ],
)
def test_built_in_sets(name: str, shape: tuple[int, int], task: str, classes: int) -> None:
    data = load(name)
    pooled = np.concatenate(data.features)
    assert name in names()
    assert (pooled.shape, data.num_clients, data.task, data.classes.size) == (shape, 10, task, classes)
    if name == "digits":
        assert (pooled.min(), pooled.max()) == (0, 1)
    else:
        assert np.allclose(pooled.mean(axis=0), 0, atol=1e-13)
        assert np.allclose(pooled.std(axis=0), 1)


def test_built_in_problems() -> None:
    least_squares, logistic, multinomial = (
        diabetes(clients=7),
        breast_cancer(partition="dirichlet:0.3"),
        digits(clients=3),
    )
    assert isinstance(least_squares, LeastSquares)
    assert isinstance(logistic, Logistic)
    assert isinstance(multinomial, MultinomialLogistic)
    assert (least_squares.num_clients, least_squares.dim) == (7, 11)
    assert (logistic.num_clients, logistic.dim) == (10, 31)
    assert (multinomial.num_clients, multinomial.dim) == (3, 650)
    assert diabetes(intercept=False).dim == 10
    assert set(breast_cancer(weights="uniform").weights) == {0.1}


def test_built_in_problems_depend_on_the_seed_alone() -> None:
    one, same, other = (diabetes(seed=seed).gradient(np.zeros(11)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert np.array_equal(diabetes(seed=1).A[0], diabetes(seed=1).A[0])
    assert not np.array_equal(diabetes(seed=1).A[0], diabetes(seed=2).A[0])
    assert np.allclose(one, other)  # the same data, dealt in another way


@pytest.mark.slow
@pytest.mark.skipif(not A9A.exists(), reason="the real file a9a.gz is not beside the checkout")
def test_a9a() -> None:
    data = load(A9A, clients=80)
    assert (data.num_samples, data.num_features, data.num_clients, data.task) == (32561, 123, 80, "binary")
    labels, counts = np.unique(np.concatenate(data.targets), return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {-1: 24720, 1: 7841}
    assert sum(np.count_nonzero(array) for array in data.features) == 451592
    assert load(A9A, clients=80, num_features=130).num_features == 130
