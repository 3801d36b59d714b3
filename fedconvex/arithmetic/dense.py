"""Floating point on NumPy arrays and torch tensors, with the same calls, batched over the client axis."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.rationals import Array, Scalar, float_array, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.optional import is_installed

LONG = 10**9  # m · d³ from which a call on a batch is split: about a tenth of a second


def one_by_one(compute: Callable[[np.ndarray], Any], batch: np.ndarray) -> Any:
    """compute(batch) for a NumPy function of (m, d, d) matrices, called for each of them where that takes long."""
    if len(batch) < 2 or batch.size * batch.shape[-1] < LONG:
        return compute(batch)
    parts = [compute(matrix) for matrix in batch]
    return tuple(map(np.stack, zip(*parts, strict=True))) if isinstance(parts[0], tuple) else np.stack(parts)


P = ParamSpec("P")
T = TypeVar("T")


class DenseArithmetic(Arithmetic):
    """The operations that NumPy and torch share; `xp` is the library."""

    certainty = Certainty.NUMERIC
    xp: Any

    def scalar(self, value: Any) -> Scalar:
        return nearest_float(value)

    def publish(self, values: Array) -> Array:
        return values

    def matrix(self, values: Any) -> Matrix:
        return self.array(values)

    def identity(self, size: int) -> Matrix:
        return self.array(np.eye(size))

    def product(self, left: Matrix, right: Matrix) -> Matrix:
        return left @ right

    def transpose(self, matrix: Matrix) -> Matrix:
        return matrix.T

    def inverse(self, matrix: Matrix) -> Matrix:
        try:
            return self.xp.linalg.inv(matrix)
        except self.xp.linalg.LinAlgError:  # the same error in every arithmetic
            raise ZeroDivisionError("singular matrix") from None

    def inverses(self, batch: Batch) -> Batch:
        return self.inverse(batch)

    def solve(self, matrix: Matrix, right: Array) -> Array:
        try:
            return self.xp.linalg.solve(matrix, right)
        except self.xp.linalg.LinAlgError:
            raise ZeroDivisionError("singular matrix") from None

    def apply(self, matrix: Matrix, vector: Array) -> Array:
        return matrix @ vector

    def stack(self, matrices: Sequence[Matrix]) -> Batch:
        return self.xp.stack(list(matrices))

    def matvec(self, batch: Batch, vectors: Array) -> Array:
        return (batch @ vectors[..., None])[..., 0]

    def products(self, left: Batch, right: Batch) -> Batch:
        return left @ right

    def weighted_sum(self, weights: Array, batch: Batch) -> Matrix:
        return self.xp.tensordot(weights, batch, 1)

    def shifted(self, batch: Batch, scalar: Scalar) -> Batch:
        return batch + self.scalar(scalar) * self.identity(batch.shape[-1])

    def scaled(self, batch: Batch, scalar: Scalar) -> Batch:
        return self.scalar(scalar) * batch

    def size(self, matrix: Matrix) -> int:
        return int(matrix.shape[0])

    def average(self, weights: Array, stack: Array) -> Array:
        return weights @ stack

    def square_root(self, values: Array) -> Array:
        return self.xp.sqrt(values)

    def sign(self, values: Array) -> Array:
        return self.xp.sign(values)

    def maximum(self, left: Array, right: Array) -> Array:
        return self.xp.maximum(left, right)


def _in_range(given: Any, floats: np.ndarray) -> np.ndarray:
    """The floats; InvalidInput where an exact number exceeds the largest float."""
    # infinite floats were refused where they came in, or are results, which may diverge
    if np.asarray(given).dtype == object and not np.isfinite(floats).all():
        raise InvalidInput(
            "data", given, "has entries beyond the range of float64", "use arithmetic='exact' or rescale"
        )
    return floats


def _blas_threads() -> Any:
    """The BLAS libraries that are loaded, of which SciPy has its own."""
    return _controller("scipy.linalg" in sys.modules)


@cache
def _controller(with_scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def in_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function, in which NumPy uses one BLAS thread: two spend more time waiting for each other than they save."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with _blas_threads().limit(limits=1):
            return function(*args, **kwargs)

    return call


@final
class NumpyArithmetic(DenseArithmetic):
    """float64 on NumPy: fast, and rounded."""

    name = "float"
    xp = np

    def context(self) -> AbstractContextManager[Any]:
        """One BLAS thread: on the small matrices of many clients, two threads were 20 times slower than one."""
        threads: AbstractContextManager[Any] = _blas_threads().limit(limits=1)
        return threads

    def inverses(self, batch: Batch) -> Batch:
        return one_by_one(self.inverse, batch)

    def array(self, values: Any) -> Array:
        return _in_range(values, float_array(values))

    def rows(self, arrays: Sequence[Array]) -> Array:
        return np.array(arrays)

    def repeat(self, vector: Array, times: int) -> Array:
        return np.repeat(vector[None], times, axis=0)

    def where(self, mask: np.ndarray, chosen: Array, other: Array) -> Array:
        return np.where(mask[:, None], chosen, other)

    def to_float(self, values: Array) -> Array:
        return np.asarray(values, dtype=np.float64)


@final
class TorchArithmetic(DenseArithmetic):
    """Floating point on torch: float64 on the CPU by default."""

    name = "torch"

    def __init__(self, device: Any = "cpu", dtype: Any = "float64") -> None:
        try:
            import torch
        except ImportError:
            from fedconvex.errors import MissingLibrary

            raise MissingLibrary("torch", "arithmetic 'torch'", "deep") from None
        self.xp = torch
        self.device = torch.device(device)
        self.dtype = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        self.settings = (str(self.device), str(self.dtype))
        self.bytes_per_number = self.dtype.itemsize

    def require_room(self, rows: int, columns: int, copies: int = 1) -> None:
        if self.device.type == "cpu":  # another device's memory is torch's to watch
            super().require_room(rows, columns, copies)

    @contextmanager
    def context(self) -> Iterator[None]:
        """One thread, as on NumPy; also in SciPy's BLAS, which computes some products of networks."""
        import scipy.linalg  # noqa: F401 - only libraries that are loaded can be limited

        limited = _blas_threads().limit(limits=1) if is_installed("threadpoolctl") else nullcontext()
        threads = self.xp.get_num_threads()
        self.xp.set_num_threads(1)
        try:
            with limited:
                yield
        finally:
            self.xp.set_num_threads(threads)

    def array(self, values: Any) -> Array:
        if isinstance(values, self.xp.Tensor):
            return values.to(self.device, self.dtype)
        return self.xp.tensor(_in_range(values, float_array(values)), dtype=self.dtype, device=self.device)

    def rows(self, arrays: Sequence[Array]) -> Array:
        return self.xp.stack(list(arrays))

    def repeat(self, vector: Array, times: int) -> Array:
        return vector.repeat(times, 1)

    def where(self, mask: np.ndarray, chosen: Array, other: Array) -> Array:
        return self.xp.where(self.xp.as_tensor(mask[:, None], device=self.device), chosen, other)

    def to_float(self, values: Array) -> Array:
        return values.detach().cpu().numpy().astype(np.float64)
