"""Euclidean lengths of rows, whatever their size."""

import numpy as np


def lengths(rows: np.ndarray) -> np.ndarray:
    """‖row_k‖ of a float64 (K, d) array, shape (K,), without squares that overflow or vanish; NaN and inf stay."""
    sizes = abs(rows).max(-1)
    usual = np.isfinite(sizes) & (sizes > 0)
    scaled = np.where(usual[:, None], rows, 1.0) / np.where(usual, sizes, 1.0)[:, None]
    return np.asarray(np.where(usual, sizes * np.sqrt((scaled * scaled).sum(-1)), sizes))
