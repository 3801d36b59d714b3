"""What a paper prints, where a statement here says something else."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Printed:
    """A printed formula (LaTeX) that differs from the displayed one in more than its typography.

    `here`: the formula in its place, where the difference is not in the displayed one: in a line of the proof that the
    statement passes over, or in what a symbol means.
    """

    formula: str
    here: str = ""
