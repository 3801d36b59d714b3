"""Compiled loops (numba) for what an LSTM computes between its matrix products, at one position, in float32.

numba calls a library's exponential number by number; the polynomials here are computed for a vector register at once.
A NaN is passed on, as in `fedconvex.deep.compiled`.
"""

import numpy as np

from fedconvex.arithmetic.machine_code import compiled

F = np.float32
LARGEST = F(87)  # the exponential of more, or of less than its negative, would leave float32
TO_TWO = F(1.4426950408889634)  # 1/ln 2
LN2_HEAD, LN2_TAIL = F(0.693359375), F(-2.1219444e-4)  # ln 2 in two parts: products with the first have no error
C7, C6, C5, C4, C3, HALF, ONE, TWO = (F(x) for x in (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1, 2))
P0, P1, P2, Q1, Q2 = (F(x) for x in (10395, 1260, 21, 4725, 210))  # a Padé approximation of tanh
SMALL = F(0.36)  # the square below which it is exact to float32
BITS, BIAS = np.int32(23), np.int32(127)  # of float32's fraction and exponent


@compiled
def exponential(x):  # type: ignore[no-untyped-def]
    """exp(x) = 2ⁿ exp(r), |r| <= ln 2/2, cut off beyond ±LARGEST; to about 1e-7, relatively."""
    x = LARGEST if x > LARGEST else x
    x = -LARGEST if x < -LARGEST else x
    n = np.floor(x * TO_TWO + HALF)
    r = x - n * LN2_HEAD - n * LN2_TAIL
    power = ((((((C7 * r + C6) * r + C5) * r + C4) * r + C3) * r + HALF) * r + ONE) * r + ONE
    return power * np.int32((np.int32(n) + BIAS) << BITS).view(np.float32)


@compiled
def sigmoid(x):  # type: ignore[no-untyped-def]
    """1/(1 + exp(−x))."""
    return ONE / (ONE + exponential(-x))


@compiled
def hyperbolic_tangent(x):  # type: ignore[no-untyped-def]
    """tanh(x), relatively exact near 0, too."""
    square = x * x
    near = x * (P0 + square * (P1 + square * P2)) / (P0 + square * (Q1 + square * (Q2 + square)))
    fallen = exponential(-TWO * abs(x))
    far = (ONE - fallen) / (ONE + fallen)
    far = -far if x < 0 else far
    return near if square < SMALL else far


@compiled
def forward(
    gates: np.ndarray, bias: np.ndarray, before: np.ndarray, cells: np.ndarray, bent: np.ndarray, states: np.ndarray
) -> None:
    """gates (B, 4U) ← activations(gates + bias (4U)), of input, forgetting, candidate, output; the rest is (B, U).

    cells ← forget·before + enter·candidate, bent ← tanh(cells), states ← output·bent.
    """
    samples, units = cells.shape
    of_candidate, of_output = bias[2 * units : 3 * units], bias[3 * units :]
    for i in range(samples):
        row, old, new, curve, state = gates[i], before[i], cells[i], bent[i], states[i]
        enter, forget, candidate, output = (
            row[:units], row[units : 2 * units], row[2 * units : 3 * units], row[3 * units :],
        )  # fmt: skip
        for j in range(2 * units):
            row[j] = sigmoid(row[j] + bias[j])
        for j in range(units):
            candidate[j] = hyperbolic_tangent(candidate[j] + of_candidate[j])
        for j in range(units):
            output[j] = sigmoid(output[j] + of_output[j])
        for j in range(units):
            cell = forget[j] * old[j] + enter[j] * candidate[j]
            new[j] = cell
            curve[j] = hyperbolic_tangent(cell)
            state[j] = output[j] * curve[j]


@compiled
def backward(
    gates: np.ndarray, before: np.ndarray, bent: np.ndarray, of_states: np.ndarray, of_cells: np.ndarray
) -> None:
    """gates become the errors before their activations, of_cells (from the position after) those of `before`.

    of_states: the errors of the states. Arrays as in `forward`.
    """
    samples, units = before.shape
    for i in range(samples):
        row, old, curve, of_state, of_cell = gates[i], before[i], bent[i], of_states[i], of_cells[i]
        enter, forget, candidate, output = (
            row[:units], row[units : 2 * units], row[2 * units : 3 * units], row[3 * units :],
        )  # fmt: skip
        for j in range(units):
            a, f, c, o, t, error = enter[j], forget[j], candidate[j], output[j], curve[j], of_state[j]
            cell = of_cell[j] + error * o * (ONE - t * t)
            output[j] = error * t * o * (ONE - o)
            enter[j] = cell * c * a * (ONE - a)
            forget[j] = cell * old[j] * f * (ONE - f)
            candidate[j] = cell * a * (ONE - c * c)
            of_cell[j] = cell * f
