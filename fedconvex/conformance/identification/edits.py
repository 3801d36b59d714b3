"""An edit: a change of one step of a method, as a function of what that step has computed, perhaps with a number."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from fedconvex.conformance.setup import Setup

# The methods' defining properties, as the report names them: each edit violates one.
FIRST_POINT = "the run starts at x0"
START = "clients start at the server's current model"
LOCAL_WORK = "clients take the prescribed number of local steps, of the prescribed size"
LOCAL_FUNCTION = "clients minimise their own function, at its full size"
PULL = "the proximal term pulls to the server's model, with the prescribed weight"
AVERAGE = "the average is over those who take part, with the right weights"
PARTICIPANTS = "only those who take part count"
PARAMETERS = "parameters mean what they mean in the paper"
LATE = "the partial work of stragglers is used"
SERVER_STEP = "the server goes to what the method's rule gives, once"
CORRECTION = "the local gradient is corrected, with the right sign"
MEMORY = "clients keep their memory, also through rounds that they skip"
MEMORY_RULE = "clients update their memory by the method's rule, after its use"
SERVER_MEMORY = "the server's memory is kept, as a mean over all m clients"
REFLECTION = "clients work around 2x − z_k, their reflected state"
NORMALISED = "progress is counted per unit of local work"
PERSONAL = "personal models are trained by the method's rule, and kept by their clients"

Applies = Callable[["Setup"], bool]
Hook = Callable[[Any, Any], Any]  # (what the step sees, what it has computed) -> what the edited step computes


@final
@dataclass(frozen=True)
class UnknownNumber:
    """An unknown number of an edit: strictly between `low` and `high`; `neutral` changes nothing.

    `starts`: numbers from small to large, near which those that people choose lie. `first_round`: the only round in
    which the edit can show first; 0: any.
    """

    starts: tuple[float, ...]
    neutral: float = float("nan")
    low: float = float("-inf")
    high: float = float("inf")
    first_round: int = 0


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Edit:
    """One change of a method's round. `hooks` has a function for each site that differs; see `play` for the sites.

    `draw` changes who takes part and how much each does: (active, efforts, full effort, m) -> (active, efforts).
    `setup` changes the method's parameters; it takes the number, too, where there is one.
    """

    name: str  # a sentence: what the implementation does; {} in the number's place
    cure: str
    breaks: str  # the property that it violates
    applies: Applies
    hooks: Mapping[str, Hook] = field(default_factory=dict)
    draw: Callable[..., Any] | None = None
    setup: Callable[..., "Setup"] | None = None
    number: UnknownNumber | None = None
    value: float | None = None  # of the number, once it is known …
    detail: str = ""  # … and how well it fits
    # A parameter or function defined otherwise than in the paper. The diagnosis names conventions last: a wrong step
    # that fits the numbers as well is the more helpful explanation.
    convention: bool = False
    harmless: bool = False  # a matter of rounding alone, which the report notes and does not count
    late: bool = False  # tried after the others: what one of them does as well, it does not explain
    given: Callable[["Setup"], Any] = lambda setup: None  # a second {} in the name: the number as it should be
    origin: "Edit | None" = None  # the edit of which this is one with a value

    @property
    def base(self) -> "Edit":
        """The edit without its value."""
        return self if self.origin is None else self.origin

    def with_value(self, value: float, setup: "Setup", detail: str = "", digits: int = 6) -> "Edit":
        """The edit with this number."""
        name = self.base.name.format(f"{value:.{digits}g}", self.given(setup))
        return replace(self.base, name=name, value=value, detail=detail, origin=self.base)

    def __str__(self) -> str:
        return self.name


FIELDS = ("draw", "setup", "number", "convention", "harmless", "late", "given")


@final
@dataclass(frozen=True)
class Rule:
    """What a method prescribes: the edits of it violate one property, and often have one cure."""

    breaks: str
    applies: Applies
    cure: str = ""

    def broken(self, name: str, cure: str = "", *, where: Applies | None = None, **changes: Any) -> Edit:
        """The edit with these hooks, and other fields of an `Edit`; `where`: only in setups that it is true of."""
        own = {field: changes.pop(field) for field in FIELDS if field in changes}
        applies = self.applies
        return Edit(
            name=name,
            cure=cure or self.cure,
            breaks=self.breaks,
            applies=applies if where is None else lambda setup: applies(setup) and where(setup),
            hooks=changes,
            **own,
        )

    def each(self, site: str, edits: Mapping[str, Any], **rest: Any) -> list[Edit]:
        """An edit for every name, with the hook that stands beside it at one site."""
        return [self.broken(name, **{site: hook}, **rest) for name, hook in edits.items()]
