"""Where the objective has its minimum: found by any means, certified afterwards."""

from fedconvex.ground_truths.certify import GroundTruth
from fedconvex.ground_truths.existence import require_minimizer
from fedconvex.ground_truths.find import ground_truth

__all__ = ["GroundTruth", "ground_truth", "require_minimizer"]
