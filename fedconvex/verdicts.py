"""What is known of a claim. A verdict has no truth value: a REFUTED claim must not pass as `assert verdict`."""

from enum import Enum
from typing import NoReturn


class Verdict(Enum):
    """PROVED by machine, REFUTED with a witness, UNKNOWN, or ASSUMED (nobody has checked it)."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    ASSUMED = "assumed"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no truth value; compare it: verdict is Verdict.PROVED")
