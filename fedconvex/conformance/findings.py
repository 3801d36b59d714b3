"""The findings of a check that need no catalogue of faults: how an implementation breaks its contract."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class ConformanceFinding:
    """One thing that is wrong: `name` is a fixed sentence that tests can compare; `detail` has this run's numbers."""

    name: str
    cure: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}{f' ({self.detail})' if self.detail else ''}; {self.cure}"


RAISES = "the implementation raises an error"
SHAPE = "the server's model has the wrong shape"
NOT_NUMBERS = "the model is not a vector of numbers"
NOT_FINITE = "the model is not finite"
COARSE = "the precision is too coarse to check"
CHANGES_DATA = "the problem's data are changed in place"
CHANGES_START = "x0 is changed in place"
CHANGES_GLOBAL = "the global model is changed in place"
NO_STATE = "round returns nothing"
CLIENT_MODELS = "client_models does not give the clients' models"
OLD_STATE = "round also changes the state that it was given, and returns another one"
NOT_DETERMINISTIC = "the same run gives other numbers"
ORDER = "the result depends on the order of the clients"
FIRST_POINT = "the first model is not x0"
SINGLE = "the numbers differ by no more than single precision would"
EQUAL_WORK = "all clients did equal work: give `round` an argument local_steps, and unequal work is checked, too"
UNKNOWN = "no known fault explains the deviation"
