r"""Mini-batch SGD of many clients in machine code (numba, float64, one thread), for losses of linear scores Θa_i.

Large experiments spend most of their time here, so the code is arranged for the compiler's vector instructions:

* It works on five samples at once (x0, …, x4), for the scores with two classes (u, v): each number that is loaded from
  memory serves several products, and several independent sums hide the latency of additions.
* It copies the rows of a batch side by side and pads them with zeros to a multiple of PAD features, so that loops over
  features have no remainder.
* The compiler may reorder sums and round x·y + z once. It may not assume that numbers are finite: a run that diverges
  must show infinities or NaN, not arbitrary values.
"""

from math import factorial, inf, log, sqrt

import numpy as np
from numba import njit

from fedconvex.arithmetic.machine_code import REORDERED, compiled
from fedconvex.errors import InvalidInput

PAD = 8  # float64 numbers in the longest vector registers
BLOCK = 5
LOSSES = ("softmax", "logistic", "squares")
SOFTMAX, LOGISTIC, SQUARES = range(3)


def compiled_sgd(
    loss: str,
    A: np.ndarray,
    y: np.ndarray,
    order: np.ndarray,
    bounds: np.ndarray,
    client_batches: np.ndarray,
    factor: np.ndarray,
    ridge: np.ndarray,
    start: np.ndarray,
    linear: np.ndarray | None,
    weight: float,
    center: np.ndarray | None,
    stepsize: float,
    weight_decay: float = 0.0,
    clip: float = inf,
    momentum: float = 0.0,
) -> np.ndarray:
    r"""The clients' points after one SGD step on each of their batches B in turn, (K, d).

        g = factor_k · (1/|B|) Σ_{i∈B} loss'_i ⊗ a_i + ridge_k θ + linear_k + weight (θ − center_k)
        v ← momentum · v + g · min(1, clip/‖g‖) + weight_decay · θ,    v = 0 at the start
        θ ← θ − stepsize · v

    With Θ = θ as a (C, p) matrix, loss'_i is softmax(Θa_i) − e_{y_i} ("softmax"), −y_i σ(−y_i Θa_i) ("logistic") or
    Θa_i − y_i ("squares").

    Args:
        loss: "softmax", "logistic" or "squares".
        A, y: (N, p), (N,) the samples of all clients; y in {0, …, C − 1}, {−1, 1} or ℝ.
        order: (S,) rows of A in the order in which SGD visits them, one client after another.
        bounds: (b + 1,) batch i consists of the rows order[bounds[i]] … order[bounds[i + 1] − 1], at least one.
        client_batches: (K + 1,) client k has the batches client_batches[k] … client_batches[k + 1] − 1.
        factor, ridge: (K,).
        start, linear, center: (K, d), d = C·p, with C = 1 except for softmax; None: zeros.
        clip: > 0; inf: no limit.
        momentum: in [0, 1).

    Raises:
        InvalidInput: an index of a row, a batch or a softmax label is out of range.
    """
    p = A.shape[1]
    C = start.shape[1] // p
    weight, stepsize, weight_decay = float(weight), float(stepsize), float(weight_decay)
    clip, momentum = float(clip), float(momentum)
    _require_below(len(A), order, "order")
    _require_below(len(order) + 1, bounds, "bounds")
    _require_below(len(bounds), client_batches, "client_batches")
    if loss == "softmax":
        _require_below(C, y, "y")
    shift = np.zeros_like(start) if linear is None else linear
    if center is not None:
        shift = shift - weight * center
    keep, scale = ridge + weight, factor
    if clip == inf and momentum == 0:
        # without either, g itself is not needed: one pass computes θ ← keep·θ + shift + scale·(gradient of the losses)
        keep, shift, scale = 1 - stepsize * (keep + weight_decay), -stepsize * shift, -stepsize * factor
    points = _padded(start, C, p)
    _sgd(
        LOSSES.index(loss),
        _frozen(A, np.float64),
        _frozen(y, np.float64),
        *(_frozen(indices, np.int64) for indices in (order, bounds, client_batches)),
        *(_frozen(numbers, np.float64) for numbers in (scale, keep, _padded(shift, C, p))),
        stepsize,
        weight_decay,
        clip,
        momentum,
        points,
    )
    return points[:, :, :p].reshape(start.shape)


def _require_below(end: int, indices: np.ndarray, argument: str) -> None:
    """Checks indices before the compiled code, which does not check bounds, reads memory with them."""
    if indices.size and not 0 <= indices.min() <= indices.max() < end:
        raise InvalidInput(argument, indices, f"has entries outside 0, …, {end - 1}", "count from 0")


def _padded(points: np.ndarray, C: int, p: int) -> np.ndarray:
    """(K, C·p) as (K, C, P), with P = p rounded up to a multiple of PAD and zeros in the new columns."""
    padded = np.zeros((len(points), C, -(-p // PAD) * PAD))
    padded[:, :, :p] = points.reshape(-1, C, p)
    return padded


def _frozen(array: np.ndarray, dtype: type) -> np.ndarray:
    """Contiguous and read-only: numba compiles anew for every combination of layouts and mutability."""
    view: np.ndarray = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


_part = njit(fastmath=REORDERED, error_model="numpy", forceinline=True)
# exp and softmax keep the order of operations, on which their accuracy rests
_ordered_part = njit(fastmath={"contract"}, error_model="numpy", forceinline=True)


@compiled
def _sgd(
    loss: int,
    A: np.ndarray,  # (N, p)
    y: np.ndarray,  # (N,)
    order: np.ndarray,  # (S,)
    bounds: np.ndarray,  # (b + 1,)
    client_batches: np.ndarray,  # (K + 1,)
    scale: np.ndarray,  # (K,)
    keep: np.ndarray,  # (K,)
    shift: np.ndarray,  # (K, C, P)
    stepsize: float,
    weight_decay: float,
    clip: float,
    momentum: float,
    points: np.ndarray,  # (K, C, P): input the clients' starting points, output their final points
) -> None:
    """The computation of `compiled_sgd`, with keep, shift and scale as defined there; P is the padded p."""
    K, C, P = points.shape
    largest = 0
    for b in range(len(bounds) - 1):
        largest = max(largest, bounds[b + 1] - bounds[b])
    largest = _whole_blocks(largest)
    X, targets, D, gradient = np.zeros((largest, P)), np.empty(largest), np.empty(largest * C), np.empty((C, P))
    velocity, at_once = np.zeros((C, P)), clip == inf and momentum == 0  # at_once: no separate gradient, see above
    for k in range(K):
        theta = points[k]
        if momentum > 0:
            velocity[:] = 0.0
        for b in range(client_batches[k], client_batches[k + 1]):
            rows = order[bounds[b] : bounds[b + 1]]
            _fetch(A, y, rows, X, targets)
            _scores(X, theta, len(rows), D)
            _derivatives(loss, D, targets, len(rows), C, scale[k] / len(rows))
            target = theta
            if not at_once:  # g in an array of its own: clipping needs its norm, momentum its history
                _copy(theta, gradient)
                target = gradient
            _advance(target, keep[k], shift[k], X, D, len(rows))
            if momentum > 0:
                _step_with_momentum(theta, gradient, velocity, stepsize, weight_decay, clip, momentum)
            elif clip < inf:
                _clipped_step(theta, gradient, stepsize, weight_decay, clip)


@_part
def _whole_blocks(n: int) -> int:
    return -(-n // BLOCK) * BLOCK


@_part
def _copy(source: np.ndarray, target: np.ndarray) -> None:
    for c in range(len(source)):
        for j in range(source.shape[1]):
            target[c, j] = source[c, j]


@_part
def _fetch(A: np.ndarray, y: np.ndarray, rows: np.ndarray, X: np.ndarray, targets: np.ndarray) -> None:
    """Copies the batch's samples to the first rows of X and fills the last block with zeros, which change no sum."""
    for i in range(len(rows)):
        a, x = A[rows[i]], X[i]
        for j in range(len(a)):
            x[j] = a[j]
        targets[i] = y[rows[i]]
    for i in range(len(rows), _whole_blocks(len(rows))):
        x = X[i]
        for j in range(len(x)):
            x[j] = 0.0


@_part
def _scores(X: np.ndarray, theta: np.ndarray, n: int, D: np.ndarray) -> None:
    """D[i·C + c] ← the score of sample i for class c."""
    C = len(theta)
    for i in range(0, n, BLOCK):
        for c in range(0, C, 2):
            _scores_of_block(X, i, theta, c, min(c + 1, C - 1), D)  # an odd last class is computed twice


@_part
def _scores_of_block(X: np.ndarray, i: int, theta: np.ndarray, c: int, d: int, D: np.ndarray) -> None:
    x0, x1, x2, x3, x4 = X[i], X[i + 1], X[i + 2], X[i + 3], X[i + 4]
    u, v = theta[c], theta[d]
    u0 = u1 = u2 = u3 = u4 = v0 = v1 = v2 = v3 = v4 = 0.0
    for j in range(len(u)):
        u0 += u[j] * x0[j]
        u1 += u[j] * x1[j]
        u2 += u[j] * x2[j]
        u3 += u[j] * x3[j]
        u4 += u[j] * x4[j]
        v0 += v[j] * x0[j]
        v1 += v[j] * x1[j]
        v2 += v[j] * x2[j]
        v3 += v[j] * x3[j]
        v4 += v[j] * x4[j]
    C = len(theta)
    at = i * C
    D[at + c], D[at + C + c], D[at + 2 * C + c], D[at + 3 * C + c], D[at + 4 * C + c] = u0, u1, u2, u3, u4
    D[at + d], D[at + C + d], D[at + 2 * C + d], D[at + 3 * C + d], D[at + 4 * C + d] = v0, v1, v2, v3, v4


@_ordered_part
def _derivatives(loss: int, D: np.ndarray, targets: np.ndarray, n: int, C: int, scale: float) -> None:
    """D ← scale · loss'(D), for every sample's scores."""
    if loss == SOFTMAX:
        _softmax(D, n, C, scale)
        for i in range(n):
            D[i * C + int(targets[i])] -= scale
    elif loss == LOGISTIC:  # −y σ(−yz), with exp(−|z|), which cannot overflow
        for i in range(n):
            small = _exp(-abs(D[i]))
            D[i] = -scale * targets[i] * (small if targets[i] * D[i] >= 0 else 1.0) / (1.0 + small)
    else:
        for i in range(n):
            D[i] = scale * (D[i] - targets[i])


@_ordered_part
def _softmax(D: np.ndarray, n: int, C: int, scale: float) -> None:
    """Replaces every sample's C scores by scale times their softmax."""
    for i in range(0, n * C, C):
        largest = D[i]
        for c in range(i + 1, i + C):
            largest = D[c] if D[c] > largest else largest
        for c in range(i, i + C):
            D[c] -= largest
    for i in range(n * C):
        D[i] = _exp(D[i])
    for i in range(0, n * C, C):
        total = 0.0
        for c in range(i, i + C):
            total += D[c]
        share = scale / total
        for c in range(i, i + C):
            D[c] *= share


_ROUND = 1.5 * 2.0**52  # x + _ROUND has no fractional bits: its last bits are the integer nearest to x
_PER_LOG2 = 1 / log(2)
_LOG2_HIGH, _LOG2_LOW = (
    float.fromhex("0x1.62e42feep-1"),
    float.fromhex("0x1.a39ef35793c76p-33"),
)  # k·high is exact
_T2, _T3, _T4, _T5, _T6, _T7, _T8, _T9, _T10, _T11, _T12, _T13 = (1 / factorial(k) for k in range(2, 14))


@_ordered_part
def _exp(x: float) -> float:
    """exp(x) for x <= 0 to about a unit in the last place; 0 below −708, NaN for NaN. Numba cannot vectorise math.exp.

    exp(x) = 2^k exp(r), k the integer nearest to x/log 2; |r| <= log(2)/2, where 14 terms of the series are enough.
    """
    shifted = x * _PER_LOG2 + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
    series = ((((_T13 * r + _T12) * r + _T11) * r + _T10) * r + _T9) * r + _T8
    series = (((((series * r + _T7) * r + _T6) * r + _T5) * r + _T4) * r + _T3) * r + _T2
    # 2^k, by writing k + 1023 into the exponent bits of a float
    two_to_k = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return 0.0 if x < -708.0 else (1.0 + (r + r * r * series)) * two_to_k


@_part
def _advance(point: np.ndarray, keep: float, shift: np.ndarray, X: np.ndarray, D: np.ndarray, n: int) -> None:
    """point ← keep·point + shift + Σ_i D_i ⊗ x_i."""
    C = len(point)
    for i in range(0, n, BLOCK):
        x0, x1, x2, x3, x4 = X[i], X[i + 1], X[i + 2], X[i + 3], X[i + 4]
        for c in range(C):
            at = i * C + c
            d0, d1, d2, d3, d4 = D[at], D[at + C], D[at + 2 * C], D[at + 3 * C], D[at + 4 * C]
            w, h = point[c], shift[c]
            if i == 0:
                for j in range(len(w)):
                    w[j] = (keep * w[j] + h[j]) + (d0 * x0[j] + d1 * x1[j] + d2 * x2[j] + d3 * x3[j] + d4 * x4[j])
            else:
                for j in range(len(w)):
                    w[j] += d0 * x0[j] + d1 * x1[j] + d2 * x2[j] + d3 * x3[j] + d4 * x4[j]


@_part
def _clipped_step(theta: np.ndarray, gradient: np.ndarray, stepsize: float, weight_decay: float, clip: float) -> None:
    factor = _clip_factor(gradient, clip)
    for c in range(len(theta)):
        for j in range(theta.shape[1]):
            theta[c, j] -= stepsize * (factor * gradient[c, j] + weight_decay * theta[c, j])


@_part
def _step_with_momentum(
    theta: np.ndarray,
    gradient: np.ndarray,
    velocity: np.ndarray,
    stepsize: float,
    weight_decay: float,
    clip: float,
    momentum: float,
) -> None:
    factor = _clip_factor(gradient, clip) if clip < inf else 1.0
    for c in range(len(theta)):
        w, g, v = theta[c], gradient[c], velocity[c]
        for j in range(len(w)):
            v[j] = momentum * v[j] + (factor * g[j] + weight_decay * w[j])
            w[j] -= stepsize * v[j]


@_part
def _clip_factor(gradient: np.ndarray, clip: float) -> float:
    """The factor min(1, clip/‖gradient‖)."""
    length = _norm(gradient)
    return clip / length if length > clip else 1.0


@_part
def _norm(gradient: np.ndarray) -> float:
    total = _sum_of_squares(gradient, 1.0)
    if total < inf:
        return sqrt(total)
    return sqrt(_sum_of_squares(gradient, 2.0**-600)) * 2.0**600  # either squares overflowed or an entry is inf or NaN


@_part
def _sum_of_squares(gradient: np.ndarray, unit: float) -> float:
    total = 0.0
    for c in range(len(gradient)):
        for j in range(gradient.shape[1]):
            total += (unit * gradient[c, j]) * (unit * gradient[c, j])
    return total
