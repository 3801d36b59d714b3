"""What the letters of a paper mean: the table of parameters that every paper's module begins with."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

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
    """What one value of a parameter is."""

    SCALAR = "a number"
    SEQUENCE = "several numbers"  # the last axis of an array, or a list
    VECTOR = "a number, or a vector entry by entry"
    VECTORS = "several of these"  # the first axis
    COLUMN = "a vector"
    MATRICES = "a list of matrices or vectors, one per client"


@dataclass(frozen=True)
class Parameter:
    """One letter: how it is printed, what it means, its units, and which values it can have by its very meaning.

    Bounds that a theorem asks for beyond that are `Condition`s of its statement.
    """

    latex: str  # of a sequence, with @ where the index stands, or the index is appended
    meaning: str
    units: Units = NUMBER
    above: int | None = None  # value > above
    least: int | None = None  # value >= least
    most: int | None = None  # value <= most
    integer: bool = False
    shape: Shape = Shape.SCALAR
    written: int | None = None  # a loop's count: formulas are written out for this value
    measured: str | None = None  # the constant of `instance.Instance` that it is, where a problem and a method have one

    def letter(self, index: str = "j") -> str:
        """How it is printed; of a sequence, the entry of that index."""
        if self.shape not in (Shape.SEQUENCE, Shape.VECTORS, Shape.MATRICES):
            return self.latex
        return self.latex.replace("@", f"{{{index}}}") if "@" in self.latex else f"{self.latex}_{{{index}}}"

    def symbol(self, name: str) -> Any:
        """The SymPy symbol, with the assumptions that SymPy needs to simplify."""
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
        """The admissible values, as in `0 <= gamma <= 1`, without the name."""
        low = [] if self.above is None else [f"> {self.above}"]
        low += [] if self.least is None else [f">= {self.least}"]
        high = [] if self.most is None else [f"<= {self.most}"]
        return ", ".join((["an integer"] if self.integer else []) + low + high) or "any"
