"""The bundled data sets are scikit-learn's, bit by bit, and reading them does not import it."""

import numpy as np
import pytest
from processes import python, require
from sklearn import datasets

from fedconvex.data import builtin, scikit_learn_files

KNOWN = tuple(scikit_learn_files.READERS)


@pytest.mark.parametrize("name", KNOWN)
def test_the_samples_are_those_of_the_loader(name: str) -> None:
    samples, bunch = scikit_learn_files.read(name), getattr(datasets, f"load_{name}")()
    assert samples is not None
    assert samples.features.tobytes() == bunch.data.tobytes()
    assert samples.targets.tobytes() == bunch.target.tobytes()
    assert samples.targets.dtype == bunch.target.dtype
    assert list(samples.names) == list(bunch.feature_names)


def test_other_data_sets_and_other_places_are_left_to_the_loader(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    assert scikit_learn_files.read("wine") is None
    known = builtin.table("diabetes")
    monkeypatch.setattr(scikit_learn_files, "_folder", lambda: tmp_path)
    assert scikit_learn_files.read("diabetes") is None
    loaded = builtin.table("diabetes")
    assert np.array_equal(loaded.features, known.features)
    assert np.array_equal(loaded.targets, known.targets)
    assert loaded.feature_names == known.feature_names


PROGRAM = (
    "import sys; from fedconvex.data import builtin; [builtin.table(n) for n in {!r}]; print('sklearn' in sys.modules)"
)


@pytest.mark.beyond_core  # starts processes
@pytest.mark.parametrize(("names", "loaded"), [(KNOWN, "False"), (("wine",), "True")])
def test_scikit_learn_is_loaded_only_for_what_is_not_known_here(names: tuple[str, ...], loaded: str) -> None:
    program = PROGRAM.format(names).replace("builtin.table(n)", "builtin.from_scikit_learn(n)")
    assert require(python("-c", program)).split() == [loaded]
