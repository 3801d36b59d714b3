"""The label of every reported number: how it is known. Only EXACT and ENCLOSED numbers are guarantees."""

from enum import Enum


class Certainty(Enum):
    """EXACT: computed in rationals. ENCLOSED: a ball contains the true value. NUMERIC: floating point, unproved."""

    EXACT = "exact"
    ENCLOSED = "enclosed"
    NUMERIC = "numeric"
