"""The compiled functions of an LSTM are NumPy's in float64, to float32's precision."""

import numpy as np
import pytest

from fedconvex.deep import compiled_lstm

pytestmark = pytest.mark.beyond_core  # compiles

ROWS, UNITS = 400, 16


def cells(gates: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, ...]:
    """(activations, cells, tanh of the cells, states) in float64."""
    enter, forget, candidate, output = np.split(gates.astype(float), 4, 1)
    with np.errstate(over="ignore"):
        enter, forget, output = (1 / (1 + np.exp(-x)) for x in (enter, forget, output))
    candidate = np.tanh(candidate)
    new = forget * before + enter * candidate
    return np.concatenate([enter, forget, candidate, output], 1), new, np.tanh(new), output * np.tanh(new)


def computed(gates: np.ndarray, before: np.ndarray, bias: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    bias = np.zeros(gates.shape[1], np.float32) if bias is None else bias
    active = gates.astype(np.float32)
    results = tuple(np.empty_like(before, np.float32) for _ in range(3))
    compiled_lstm.forward(active, bias, before.astype(np.float32), *results)
    return active, *results


@pytest.mark.parametrize("size", [1e-3, 0.5, 1.0, 8.0, 60.0])
def test_forward(size: float) -> None:
    rng = np.random.default_rng(0)
    gates = (size * rng.normal(size=(ROWS, 4 * UNITS))).astype(np.float32)
    before = rng.normal(size=(ROWS, UNITS)).astype(np.float32)
    bias = (size * rng.normal(size=4 * UNITS)).astype(np.float32)
    (active, *found), (expected, *others) = computed(gates, before, bias), cells(gates + bias, before)
    np.testing.assert_allclose(active, expected, rtol=1e-6, atol=1e-37)  # relatively: near 0, too
    for one, other in zip(found, others, strict=True):  # sums, which may cancel
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_limits_and_what_is_no_number() -> None:
    gates = np.zeros((3, 4 * UNITS), np.float32)
    gates[0], gates[1], gates[2] = np.inf, -np.inf, np.nan
    active, new, bent, states = computed(gates, np.ones((3, UNITS), np.float32))
    assert (active[0] == 1).all()
    np.testing.assert_allclose(np.split(active[1], 4), np.repeat([[0.0], [0], [-1], [0]], UNITS, 1), atol=1e-37)
    np.testing.assert_allclose(new[0], 2)
    for part in (active, new, bent, states):
        assert np.isnan(part[2]).all()


def test_backward_is_the_derivative() -> None:
    """Against differences in float64 of Σ weights·(states, cells) in one gate, or cell before, after the other."""
    rng = np.random.default_rng(1)
    gates, before = rng.normal(size=(5, 4 * UNITS)), rng.normal(size=(5, UNITS))
    of_states, of_cells = rng.normal(size=(2, 5, UNITS))

    def total(gates: np.ndarray, before: np.ndarray) -> np.ndarray:
        _, new, _, states = cells(gates, before)
        return of_states * states + of_cells * new

    errors, _, bent, _ = computed(gates, before)
    back = of_cells.astype(np.float32)
    compiled_lstm.backward(errors, before.astype(np.float32), bent, of_states.astype(np.float32), back)
    step = 1e-5
    for i, found in enumerate(np.split(errors, 4, 1)):
        moved = np.zeros((4, 1, 1))
        moved[i] = step
        change = np.concatenate(np.broadcast_to(moved, (4, 1, UNITS)), 1)
        slopes = (total(gates + change, before) - total(gates - change, before)) / (2 * step)
        np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-6)
    slopes = (total(gates, before + step) - total(gates, before - step)) / (2 * step)
    np.testing.assert_allclose(back, slopes, rtol=1e-4, atol=1e-6)
