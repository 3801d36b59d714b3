"""Columns of a run's frame that depend on the point alone, against the definitions, client by client."""

import numpy as np
import pytest
from problem_makers import fractions
from reference_measurements import KINDS, LEAST, WEIGHTS
from run_makers import UNEQUAL

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.errors import InvalidInput
from fedconvex.runs.measurements import POINT_COLUMNS


def point_columns(kind: str, x: np.ndarray, weights: np.ndarray = WEIGHTS) -> dict[str, float]:
    """The definitions, client by client."""
    _, value, gradient, minimizer = KINDS[kind]
    f = sum(weights[k] * value(k, x) for k in range(4))
    gradients = [gradient(k, x) for k in range(4)]
    mean = sum(weights[k] * gradients[k] for k in range(4))
    squares = sum(weights[k] * gradients[k] @ gradients[k] for k in range(4))
    return {
        "value": f,
        "gap": f - sum(weights[k] * value(k, minimizer) for k in range(4)),
        "distance": float(np.sqrt(np.sum((x - minimizer) ** 2))),
        "gradient_norm": float(np.sqrt(np.sum(mean**2))),
        "dissimilarity": float(np.sqrt(squares / (mean @ mean))),
        "gradient_variance": sum(weights[k] * np.sum((gradients[k] - mean) ** 2) for k in range(4)),
    }


class TestAtPoints:
    @pytest.mark.parametrize(
        ("kind", "arithmetic"),
        [("least squares", "float"), ("least squares", "exact"), ("least squares", "torch"), ("least squares", "ball"),
         ("logistic", "float"), ("logistic", "torch"), ("logistic", "ball")],
    )  # fmt: skip
    def test_every_column(self, kind, arithmetic) -> None:
        problem = KINDS[kind][0]
        found = fc.simulate(
            fc.FedGD(stepsize=0.05, local_steps=2), problem, 4, who.Schedule([[0, 2], [], [1], [0, 1, 2, 3]]),
            x0=np.array([1.0, -2.0, 0.5]), arithmetic=arithmetic,
        )  # fmt: skip
        frame = found.to_frame()
        points = [[float(v.mid()) if arithmetic == "ball" else float(v) for v in x] for x in found.points]
        for t, x in enumerate(np.array(points)):
            expected = point_columns(kind, x)
            assert {name: frame[name][t] for name in POINT_COLUMNS} == pytest.approx(expected, rel=1e-8)
            wrong = point_columns(kind, x, np.full(4, 0.25))
            for name in POINT_COLUMNS:  # other weights would be seen
                assert name == "distance" or frame[name][t] != pytest.approx(wrong[name], rel=1e-3)
        assert frame["round"].tolist() == [0, 1, 2, 3, 4]
        assert (frame.dtypes[list(POINT_COLUMNS)] == np.float64).all()

    @pytest.mark.parametrize("size", [1.0, 1e-3, 1e-8, 1e-13])
    def test_gaps_keep_their_digits(self, size) -> None:
        """Against ½(x − x*)ᵀH(x − x*) in rationals; f(x) − f(x*) in floats loses them."""
        H = sum((w * fractions(A).T @ fractions(A) for w, A in zip(UNEQUAL.exact_weights, UNEQUAL.A, strict=True)))
        exact = self.solve(H)
        x0 = exact.astype(float) + size * np.array([1.0, -0.5])
        step = fractions(x0) - exact
        gap = float(step @ H @ step / 2)
        frame = fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 0, x0=x0).to_frame()
        assert frame["gap"][0] == pytest.approx(gap, rel=1e-12 + 1e-15 / size, abs=0)
        if size < 1e-6:
            subtracted = UNEQUAL.value(x0) - UNEQUAL.value(exact.astype(float))
            assert subtracted != pytest.approx(gap, rel=1e-3, abs=0)

    def solve(self, H: np.ndarray) -> np.ndarray:
        right = sum(
            w * fractions(A).T @ fractions(b)
            for w, A, b in zip(UNEQUAL.exact_weights, UNEQUAL.A, UNEQUAL.b, strict=True)
        )
        determinant = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
        return np.array(
            [H[1, 1] * right[0] - H[0, 1] * right[1], H[0, 0] * right[1] - H[1, 0] * right[0]]
        ) / determinant  # fmt: skip

    def test_without_a_minimiser(self) -> None:
        falling = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 0]]], c=[[0, 1], [0, 0]])
        frame = fc.simulate(fc.FedGD(stepsize=0.1), falling, 2, x0=[1, 1]).to_frame()
        assert frame[["gap", "distance"]].isna().all(axis=None)
        assert frame["value"][0] == pytest.approx(0)  # ½ − ½
        assert frame["value"].is_monotonic_decreasing
        assert frame["gradient_norm"][0] == pytest.approx(np.sqrt(1.25))

    def test_choosing_columns(self) -> None:
        found = fc.simulate(fc.FedGD(stepsize=0.1), LEAST, 2)
        whole = found.to_frame()
        for columns in (["gap"], ["distance", "value"], [], ["dissimilarity"], POINT_COLUMNS[::-1]):
            frame = found.to_frame(columns)
            assert list(frame) == ["round", *columns, "participants", "bytes_down", "bytes_up"]
            for name in frame:
                assert frame[name].tolist() == pytest.approx(whole[name].tolist(), nan_ok=True)
        with pytest.raises(InvalidInput, match=r"^columns = loss: is unknown; choose from value, gap, "):
            found.to_frame(["gap", "loss"])
