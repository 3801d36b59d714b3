"""Who takes part in a round."""

from dataclasses import dataclass
from typing import final


class Participation:
    """Subclasses say which clients take part in each round."""


@final
@dataclass(frozen=True)
class Full(Participation):
    """Every client takes part in every round."""
