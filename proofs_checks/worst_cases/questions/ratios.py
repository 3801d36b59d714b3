"""Ratios of two terms of the claim language, and the metrics of `worst_case` that are names for such ratios."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from fedconvex.claims.terms import (
    Number,
    Term,
    Vector,
    gradient,
    infimum,
    last_answers,
    mean,
    memory,
    minimiser,
    parameter,
    parts,
    server,
    square,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed, written

ROUND = ("answers", "solutions", "residuals", "local gradients", "local step", "drawn")  # what happens in a round
SUMS = ("after", "mean of rounds", "sum of rounds")
DISTANCE = square(server(0) - minimiser)
CURE = "give terms of the start and of the end, as (square(server(1) - minimiser), square(server(0) - minimiser))"


@final
@dataclass(frozen=True)
class Ratio:
    """numerator/denominator, with times 0 and 1 for the start and the end of the rounds."""

    numerator: Number
    denominator: Number

    @property
    def sides(self) -> tuple[Number, Number]:
        return self.numerator, self.denominator

    def speaks_of(self, *heads: str) -> bool:
        """Whether one of these operations occurs."""
        return any(p.head in heads for side in self.sides for p in parts(side))

    @cached_property
    def sums(self) -> bool:
        """Whether it sums over the rounds, inside of which times 0 and 1 are those of each round."""
        return self.speaks_of(*SUMS)

    @cached_property
    def text(self) -> str:
        """As one line."""
        return f"({written(self.numerator)}) / ({written(self.denominator)})"


def ratio_of(metric: Any) -> Ratio:
    """The ratio that a pair of terms is; a single term is divided by ‖w_0 − x*‖². Raises InvalidInput."""
    pair = (metric, DISTANCE) if type(metric) is Number else metric
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(type(side) is Number for side in pair)):
        raise InvalidInput("metric", metric, "is no name of a metric, number of a claim, or pair of such numbers", CURE)
    for side in pair:
        for part in parts(side):
            if part.head == "parameter":
                raise NotPosed("metric", part.args[0], "is a parameter without a value", "give a number in its place")
            if part.head in ("free", "family", "local gradients"):
                raise NotPosed("metric", part, "is not made by the method's rounds from its start",
                               "give terms of points, answers, gradients and values")  # fmt: skip
    return Ratio(*pair)


def rounds_needed(terms: Iterable[Term], rounds: int) -> int:
    """How many of the rounds matter to the terms: what is known before the last round does not need it."""

    def needed(term: Any, inside: bool) -> int:
        if type(term) not in (Vector, Number):
            return 0
        if term.head == "after":
            return rounds
        if term.head in ("mean of rounds", "sum of rounds"):
            return rounds - 1 + needed(term.args[1], True)
        own = 1 if term.head in ROUND or 1 in [a for a in term.args if type(a) is int] else 0
        return max(own if inside else own * rounds, *(needed(a, inside) for a in term.args), 0)

    return max(needed(term, False) for term in terms)


def is_about_the_end(term: Any) -> bool:
    """Whether time 1 occurs outside of sums over the rounds."""
    if type(term) not in (Number, Vector) or term.head in SUMS:
        return False
    return any(type(a) is int and a == 1 for a in term.args) or any(map(is_about_the_end, term.args))


AT_REST = minimiser - parameter("stepsize") * gradient(minimiser)
"""FedSplit's z_k* = x* − s∇F_k(x*); one object, which is evaluated once for both sides of a ratio."""


def _lifted(time: int) -> Number:
    """FedSplit: mean_k‖z_k − z_k*‖²."""
    return square(memory("z", time) - AT_REST)


def _slope(at: Vector) -> Number:
    return square(mean(gradient(at)))


START = DISTANCE + parameter("heterogeneity") * square(gradient(minimiser))
"""‖w_0 − x*‖² + heterogeneity · (1/m)Σ‖∇F_k(x*)‖²."""


INITIAL_GAP = value(server(0)) - infimum + parameter("heterogeneity") * square(gradient(server(0)))
"""f(w_0) − inf f + heterogeneity · (1/m)Σ‖∇F_k(w_0)‖²."""
SPREAD = parameter("spread") * square(last_answers(0) - server(0))
"""spread · (1/m)Σ‖θ_k⁰ − w_0‖²."""

NAMED: Mapping[str, tuple[Number, Number]] = {
    "distance": (square(server(1) - minimiser), START),
    "gap": (value(server(1)) - value(minimiser), START),
    "gradient_norm": (_slope(server(1)), START),
    "lifted_distance": (_lifted(1), _lifted(0)),
    "gap_ratio": (value(server(1)) - value(minimiser), value(server(0)) - value(minimiser)),
    "bias": (square(server(0) - minimiser), square(gradient(minimiser))),
    "descent": (value(server(1)) - value(server(0)), _slope(server(0))),
}
"""The metrics that are names for ratios of terms, with parameters of the question. Means over the rounds with weights
of their own, and points that average answers, are named but no terms."""
