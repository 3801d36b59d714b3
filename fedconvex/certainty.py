"""How a reported number is known. Nothing that is only NUMERIC is ever called a guarantee."""

from enum import Enum


class Certainty(Enum):
    """EXACT: a rational number. ENCLOSED: a ball that contains the true value. NUMERIC: floating point, unproved."""

    EXACT = "exact"
    ENCLOSED = "enclosed"
    NUMERIC = "numeric"
