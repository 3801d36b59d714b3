"""The published files themselves, if they lie beside the repository; every test that does not find its file says so."""

import gzip
import struct

import numpy as np
import pytest
from dataset_makers import real

from fedconvex.deep.datasets import characters, leaf, libsvm, load_dataset, read_plays, shakespeare

pytestmark = pytest.mark.beyond_core  # reads whole data sets, where they are


@pytest.mark.sample(1)
@pytest.mark.parametrize(("split", "stem", "count"), [("train", "train", 60000), ("test", "t10k", 10000)])
def test_mnist(split: str, stem: str, count: int) -> None:
    folder = real("mnist")
    found = load_dataset("mnist", folder, split, num_classes=10, verify=True)
    assert found.inputs.shape == (count, 1, 28, 28)
    with gzip.open(folder / f"{stem}-images-idx3-ubyte.gz") as stream:  # a second route: image 7, pixel by pixel
        assert struct.unpack(">4i", stream.read(16)) == (2051, count, 28, 28)
        stream.seek(16 + 7 * 784)
        assert list(stream.read(784)) == found.inputs[7].ravel().tolist()
    if split == "train":
        assert found.labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
        assert np.mean(found.inputs) / 255 == pytest.approx(0.1307, abs=5e-5)  # as everybody standardises it
        assert np.std(found.inputs) / 255 == pytest.approx(0.3081, abs=5e-5)


def test_feddyn_s_mnist_split() -> None:
    dealt = load_dataset("mnist", real("mnist")).deal(100, "dirichlet:6", 0)
    assert dealt.sizes.tolist() == [600] * 100


def test_the_plays() -> None:
    speeches = read_plays(real("shakespeare", "plays_txt.tar.gz"))
    assert len({play for play, _ in speeches}) == 37  # the poems have no roles
    assert len(speeches) == 1348
    assert speeches["hamlet", "GHOST"][-1].startswith("Do not forget: this visitation\nIs but to whet")
    assert speeches["comedyoferrors", "ANTIPHOLUS OF SYRACUSE"][0].startswith("Go bear it to the Centaur")
    assert max(speeches, key=lambda key: sum(map(len, speeches[key]))) == ("hamlet", "HAMLET")
    assert not [role for _, role in speeches if "\t" in role or role.startswith(("ACT ", "SCENE ")) or len(role) > 24]


def test_feddyn_s_shakespeare_split() -> None:
    path = real("shakespeare", "plays_txt.tar.gz")
    train, test = (shakespeare(path, part, samples_per_client=2000, num_clients=100) for part in ("train", "test"))
    assert train.inputs.shape == (200000, 80)  # FedDyn, table 3: 200,000 and 40,000
    assert test.inputs.shape == (40000, 80)
    assert [name for name, _ in train.clients] == [name for name, _ in test.clients]
    assert characters(train.inputs[1])[:79] == characters(train.inputs[0])[1:]
    assert (train.inputs == 79).mean() < 1e-4  # unknown characters are rare: the plays have one $


def test_tiny_shakespeare() -> None:
    found = shakespeare(real("shakespeare", "tinyshakespeare.txt.gz"), min_characters=20000)
    assert "tinyshakespeare/GLOUCESTER" in dict(found.clients)
    assert found.num_classes == 80
    assert 5 < len(found.clients) < 20


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [("heart_scale", (270, 13), 2), ("mushrooms", (8124, 112), 2), ("a1a", (1605, 119), 2)],
)
def test_libsvm_files(name: str, shape: tuple[int, int], classes: int) -> None:
    found = libsvm(real("libsvm", f"{name}.gz")).require_all_classes()
    assert found.inputs.shape == shape
    assert found.num_classes == classes


@pytest.mark.parametrize(("name", "samples"), [("0_0", 897), ("0.5_0.5", 912), ("1_1", 1084), ("iid", 805)])
def test_fedprox_s_synthetic_data(name: str, samples: int) -> None:
    found = leaf(real("fedprox_synthetic", f"synthetic_{name}_mytest.json.gz"))
    assert found.inputs.shape == (samples, 60)
    assert len(found.clients) == 30
    assert found.num_classes == 10
