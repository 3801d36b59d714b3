"""Verdicts on claims. A verdict has no truth value, since `assert verdict` would also pass for REFUTED."""

from enum import Enum
from typing import NoReturn


class Verdict(Enum):
    """PROVED by machine, REFUTED by a witness, UNKNOWN, or ASSUMED (not checked by anybody).

    COMPARED is no proof: a definition, or a formula about data, that agrees with the running code on exact instances.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    COMPARED = "compared"
    UNKNOWN = "unknown"
    ASSUMED = "assumed"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no truth value; compare it: verdict is Verdict.PROVED")
