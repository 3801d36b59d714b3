"""A paper's notation: what each parameter means, its units and its range. Every paper's module begins with one."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, final

from fedconvex.symbols import require_notation

Units = tuple[int, int]
"""Powers of (the unit of function values, the unit of lengths in parameter space)."""

NUMBER: Units = (0, 0)
VALUE: Units = (1, 0)
LENGTH: Units = (0, 1)
SQUARED_LENGTH: Units = (0, 2)
GRADIENT: Units = (1, -1)
SQUARED_GRADIENT: Units = (2, -2)
CURVATURE: Units = (1, -2)
STEPSIZE: Units = (-1, 2)


class Shape(Enum):
    """The shape of one value of a parameter."""

    SCALAR = "a number"
    SEQUENCE = "several numbers"  # the last axis of an array, or a list
    VECTOR = "a number, or a vector entry by entry"
    VECTORS = "several of these"  # of `VECTOR`, along the first axis
    COLUMN = "a vector"
    MATRICES = "a list of matrices or vectors, one per client"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a paper: its symbol, meaning, units, and the range that follows from its meaning alone.

    Further restrictions that a theorem needs are `Condition`s of its statement.
    """

    latex: str  # for a sequence, @ marks the place of the index; without @ the index is appended
    meaning: str
    units: Units = NUMBER
    above: int | None = None  # value > above
    least: int | None = None  # value >= least
    most: int | None = None  # value <= most
    integer: bool = False
    shape: Shape = Shape.SCALAR
    index: str = "j"  # of a sequence's entries, of which there are `count`; sums are over `domain`, or from 1 to it
    count: str = "m"
    domain: str = ""
    written: int | None = None  # a number of terms: a formula of symbols has so many written out
    measured: str | None = None  # the attribute of `instance.Instance` that measures it on a problem and a method
    means: Any = None  # the term of the claim language (`fedconvex.claims.terms`) that it stands for in claims

    def __post_init__(self) -> None:
        require_notation("latex", self.latex)

    def latex_symbol(self, index: str = "") -> str:
        """The LaTeX symbol; for a sequence, that of the entry with this index."""
        if self.shape not in (Shape.SEQUENCE, Shape.VECTORS, Shape.MATRICES):
            return self.latex
        return (self.latex if "@" in self.latex else f"{self.latex}_@").replace("@", index or self.index)

    def over(self, operator: str) -> str:
        r"""The LaTeX of \sum or \max over a sequence's entries."""
        upper = rf"_{{{self.index}=1}}^{self.count}" if operator == r"\sum" else f"_{self.index}"
        return operator + (f"_{{{self.domain}}}" if self.domain else upper)

    def symbol(self, name: str) -> Any:
        """A SymPy symbol with the parameter's sign and integrality, which SymPy needs in order to simplify."""
        import sympy

        lowest = self.least if self.above is None else self.above
        properties = {"real": True}
        if self.integer:
            properties["integer"] = True
        if lowest is not None and lowest >= 0:
            strictly = self.above is not None or lowest > 0
            properties["positive" if strictly else "nonnegative"] = True
        return sympy.Symbol(name, **properties)

    @property
    def range(self) -> str:
        """The range in words without the name: `>= 0, <= 1`, `an integer, >= 1`, or `any`."""
        low = [] if self.above is None else [f"> {self.above}"]
        low += [] if self.least is None else [f">= {self.least}"]
        high = [] if self.most is None else [f"<= {self.most}"]
        return ", ".join((["an integer"] if self.integer else []) + low + high) or "any"


@final
@dataclass(frozen=True)
class Printed:
    """A printed formula (LaTeX) that differs from the displayed one in more than its typography.

    `here`: the formula in its place, where the difference is not in the displayed one: in a line of the proof that the
    statement passes over, or in what a symbol means.
    """

    formula: str
    here: str = ""
