"""Long linear algebra in pieces equals the same in one call."""

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.arithmetic import definiteness, dense
from fedconvex.arithmetic.dense import one_by_one


def test_pieces_equal_the_whole(monkeypatch) -> None:
    M = np.random.default_rng(0).standard_normal((3, 4, 4))
    symmetric = M + M.swapaxes(1, 2)
    calls = []

    def inverse(matrix: np.ndarray) -> np.ndarray:
        calls.append(matrix.ndim)
        return np.linalg.inv(matrix)

    whole, spectra = one_by_one(inverse, M), one_by_one(np.linalg.eigh, symmetric)
    monkeypatch.setattr(dense, "LONG", 1)
    assert (one_by_one(inverse, M) == whole).all()
    assert calls == [3, 2, 2, 2]
    for part, expected in zip(one_by_one(np.linalg.eigh, symmetric), spectra, strict=True):
        assert (part == expected).all()


def test_singular_matrices_are_refused_in_pieces_too(monkeypatch) -> None:
    monkeypatch.setattr(dense, "LONG", 1)
    floats = fc.LeastSquares(A=[[[1.0]]], b=[[1.0]]).clients("float").arithmetic
    with pytest.raises(ZeroDivisionError):
        floats.inverses(np.array([np.eye(2), np.ones((2, 2))]))


@pytest.mark.parametrize("rows", [1, 3, 16])
@pytest.mark.parametrize(("least", "definite"), [(1e-9, True), (-1e-9, False), (0.0, False)])
def test_certificates_in_pieces(monkeypatch, rows, least, definite) -> None:
    """Eigenvalues `least`, 1, 2, 3, near the limit: the proof must take place for a positive one, and for it alone."""
    monkeypatch.setattr(definiteness, "LONG_IN_BALLS", 1)
    monkeypatch.setattr(definiteness, "FEWEST_ROWS", rows)
    Q, _ = np.linalg.qr(np.arange(16.0).reshape(4, 4) ** 1.5 + np.eye(4))
    matrix = Q @ np.diag([least, 1.0, 2.0, 3.0]) @ Q.T
    if least == 0:
        matrix = np.diag([0.0, 1.0, 2.0, 3.0])
    found = definiteness.is_positive_definite(lambda arithmetic: arithmetic.matrix((matrix + matrix.T) / 2))
    assert found == definite
