"""Matrix products of K clients, as calls to repeat: by torch, or client by client by SciPy's BLAS where it is faster.

On AMD's processors torch's MKL does without AVX-512, which OpenBLAS uses. Products of 50 samples in float32, on one
thread of a Zen 5: 784 to 200 units 84 GFLOP/s by torch and 149 by OpenBLAS, the product that is added to the weights
106 and 206. Elsewhere torch's are as fast, and need one call for all clients.
"""

from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedconvex.arithmetic.instruction_sets import blas
from fedconvex.arithmetic.processor import processor
from fedconvex.deep.calls import Call

# Multiplications in the product of one client: with fewer, several hundred clients may advance together, and planning
# a call for each of them, again whenever some have finished, would take longer than it saves.
LEAST = 2**16
WIDE = {"openblas SkylakeX", "openblas Cooperlake", "openblas SapphireRapids"}  # OpenBLAS's kernels with AVX-512


def product_calls(left: Tensor, right: Tensor, out: Tensor) -> list[Call]:
    """Calls for out (K, a, c) ← left (K, a, b) right (K, b, c)."""
    calls = _client_by_client(1.0, left, right, 0.0, out)
    return [partial(torch.bmm, left, right, out=out)] if calls is None else calls


def added_product_calls(out: Tensor, left: Tensor, right: Tensor, beta: float, alpha: float) -> list[Call]:
    """Calls for out (K, a, c) ← beta·out + alpha·left (K, a, b) right (K, b, c)."""
    calls = _client_by_client(alpha, left, right, beta, out)
    return [partial(out.baddbmm_, left, right, beta=beta, alpha=alpha)] if calls is None else calls


@cache
def blas_is_faster() -> bool:
    """Whether SciPy's BLAS has wider vectors here than torch's: a rule, so that each run on a machine rounds alike."""
    mkl = torch.backends.mkl.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512"
    return mkl and "AMD" in processor() and blas() in WIDE


def _client_by_client(alpha: float, left: Tensor, right: Tensor, beta: float, out: Tensor) -> list[Call] | None:
    """The calls of BLAS; None where torch is to compute the products."""
    if out.device.type != "cpu" or out[0].numel() * left.shape[-1] < LEAST or not blas_is_faster():
        return None
    from scipy.linalg.blas import dgemm, sgemm

    gemm = {torch.float32: sgemm, torch.float64: dgemm}.get(out.dtype)
    # BLAS has columns side by side in memory: it sees the transposes, and computes outᵀ = rightᵀ leftᵀ.
    results = [result.numpy().T for result in out]
    if gemm is None or not all(result.flags.f_contiguous for result in results):  # it would write into a copy
        return None
    calls: list[Call] = []
    for one, two, result in zip(right, left, results, strict=True):
        (first, first_turned), (second, second_turned) = _operand(one.numpy().T), _operand(two.numpy().T)
        calls.append(partial(gemm, alpha, first, second, beta, result, first_turned, second_turned, 1))
    return calls


def _operand(matrix: np.ndarray) -> tuple[Any, int]:
    """The matrix as BLAS reads it without a copy, and whether it is to be transposed there."""
    return (matrix, 0) if matrix.flags.f_contiguous else (matrix.T, 1)
