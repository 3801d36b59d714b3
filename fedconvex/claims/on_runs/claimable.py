"""Runs of layers above the core, such as those of `fedconvex.deep`, on which claims can be computed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim
    from fedconvex.claims.on_runs.findings import Found


class ClaimableRun(ABC):
    """A run that computes the two sides of a claim itself, for the core does not know how it was made."""

    @abstractmethod
    def sides_of(self, claim: "Claim", parameters: "Mapping[str, Any]") -> "Iterable[Found]":
        """The sides in every round of the run, or once for a claim about the whole run; at least one."""
