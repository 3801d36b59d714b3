"""The minimiser of the objective: whether it exists, a candidate for it, and a certificate of the candidate's error."""

from fedconvex.ground_truths.certificates import GroundTruth
from fedconvex.ground_truths.existence import require_minimizer
from fedconvex.ground_truths.search import ground_truth

__all__ = ["GroundTruth", "ground_truth", "require_minimizer"]
