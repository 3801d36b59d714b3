"""Numbers of a run as linear combinations, and how the proofs write them."""

from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.terms import Number, number
from fedconvex.proofs_checks.rocq.run_terms import ONE
from fedconvex.proofs_checks.rocq.terms import Missing, Writer

Key = tuple[str, str]  # when, and the name of the number, or the text of one that stands for itself


@final
@dataclass
class Sum:
    """A linear combination of numbers of the run: by when and what; without either, numbers of parameters."""

    terms: list[tuple[Number, Key | None]] = field(default_factory=list)

    def times(self, c: Number) -> "Sum":
        return self if c == ONE else Sum([(c if a == ONE else c * a, key) for a, key in self.terms])

    def plus(self, other: "Sum") -> "Sum":
        return Sum([*self.terms, *other.terms])


def sum_of(coefficients: list[Number], value: Any) -> Any:
    """The value of the sum of these formulas."""
    total = value(number(0))
    for c in coefficients:
        total = total + value(c)
    return total


class Names(dict[str, str]):
    """Names of parameters; names of sums of powers, and of numbers in a proof, are their own."""

    def __missing__(self, name: str) -> str:
        return name


class Expected(Writer):
    """Writes numbers of a round, where clients are drawn as averages over its outcomes."""

    def __init__(self, plain: Writer, parameters: dict[str, str], drawn: bool):
        super().__init__(plain.of_vector, parameters, "everyone")
        self.drawn_clients = drawn

    def number(self, x: Number) -> str:
        if not self.drawn_clients:
            return super().number(x)
        if x.head == "norm":
            raise Missing("an expected length")
        text = super().number(x)
        return f"average W (fun o => {text})" if x.head in ("inner", "value") else text
