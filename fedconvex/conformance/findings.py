"""The findings of a check that need no identification: how an implementation breaks its contract."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class ConformanceFinding:
    """One thing that is wrong: `name` is a fixed sentence that tests can compare; `detail` has this run's numbers.

    `same`: the names of other faults whose numbers are the same in every run; only the code tells which of them it is.
    """

    name: str
    cure: str
    detail: str = ""
    same: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.title}; {self.cure}"

    @property
    def title(self) -> str:
        """The names of what is wrong, with this run's numbers."""
        names = ", or, with the same numbers, ".join((self.name, *self.same))
        return f"{names}{f' ({self.detail})' if self.detail else ''}"


RAISES = "the implementation raises an error"
MISSING_PACKAGE = "the implementation imports a package that is not installed"
HANGS = "the implementation does not come back"
INTEGERS = "the model has whole numbers only"
SHAPE = "the server's model has the wrong shape"
NOT_NUMBERS = "the model is not a vector of numbers"
NOT_FINITE = "the model is not finite"
COARSE = "the precision is too coarse to check"
CHANGES_DATA = "the problem's data are changed in place"
CHANGES_START = "x0 is changed in place"
CHANGES_GLOBAL = "the global model is changed in place"
NO_STATE = "round returns nothing"
CLIENT_MODELS = "client_models does not give the clients' models"
MODELS_OF_RUN = "run returns another number of models than there were rounds"
OLD_STATE = "round also changes the state that it was given, and returns another one"
LAST_BATCH = "the last, smaller batch of an epoch is left out"
FIRST_BATCH = "only the first batch of every epoch is visited"
NO_ORDER = "no order of the samples leads to these numbers"
TOO_MANY_ORDERS = "shuffled batches have too many orders to compare, fewer epochs have fewer"
NEVER_SHUFFLED = "every epoch left the same sample for last: the samples seem never to be shuffled"
PRINTS = "the implementation prints"
NOT_DETERMINISTIC = "the same run gives other numbers"
ORDER = "the result depends on the order of the clients"
SINGLE = "the numbers differ by no more than single precision would"
EQUAL_WORK = "all clients did equal work: with an argument local_steps, unequal work is checked, too"
REFUSES_PARTIAL = "partial participation: the implementation raises NotImplementedError where clients are inactive"
REFUSES_WORK = "unequal local work: the implementation raises NotImplementedError where clients differ in local steps"
UNKNOWN = "no known fault explains the deviation"
