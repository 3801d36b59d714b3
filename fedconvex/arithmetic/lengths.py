"""Euclidean lengths of rows of any magnitude."""

import numpy as np


def lengths(rows: np.ndarray) -> np.ndarray:
    """‖row_k‖ of a float64 (K, d) array, shape (K,), without overflow or underflow of squares; NaN and inf stay.

    Use it instead of `np.linalg.norm` where entries beyond 1e154 or below 1e-154 occur: diverging runs, tiny steps.
    """
    sizes = abs(rows).max(-1)
    usual = np.isfinite(sizes) & (sizes > 0)
    scaled = np.where(usual[:, None], rows, 1.0) / np.where(usual, sizes, 1.0)[:, None]
    return np.asarray(np.where(usual, sizes * np.sqrt((scaled * scaled).sum(-1)), sizes))
