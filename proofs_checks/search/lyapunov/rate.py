"""The answer of `lyapunov`: a rate that a Lyapunov function proves, and a federation that is no faster."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.arithmetic.rationals import float_at_least
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.memory import require
from fedconvex.methods.base import Method
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.shown import on_screen

INFINITE = float("inf")
CLIENT = 1000  # bytes that a quadratic client takes, or less
TIGHT = Fraction(1, 10**6)  # relative distance at which the bounds are said to meet


@final
@dataclass(frozen=True, eq=False)
class Rate:
    """lower <= contraction per round <= upper: of squared errors, the best factor for a whole class of clients.

    `upper`: V(next state) <= upper · V(state) for all clients of the class and every reachable state, proved by
    `function`; infinite where none was found. `lower`: the square of the spectral radius of a round on `federation()`,
    whose errors shrink by no more over many rounds: no Lyapunov function at all proves less. Distances shrink by the
    square roots. Where clients are drawn, V and errors are expectations over the draw. With a `period` of several
    rounds, for which a schedule is repeated, all this is said of so many rounds in the place of one.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int | str
    function: LyapunovFunction | None
    slowest: Attained
    period: int = 1

    @property
    def upper(self) -> Any:
        """The proved factor, a fraction; infinite without a proof."""
        return INFINITE if self.function is None else self.function.rate

    @property
    def lower(self) -> Fraction:
        """The attained factor; a fraction slightly below it where that is irrational."""
        return self.slowest.squared

    @property
    def certificate(self) -> DualCertificate | None:
        """The proof of `upper`, with its multipliers by the inequalities' names (`used`)."""
        return None if self.function is None else self.function.certificate

    @property
    def tight(self) -> bool:
        """Whether the two bounds are equal, or apart by at most one part in a million."""
        return self.function is not None and self.function.rate <= self.lower * (1 + TIGHT)

    @property
    def linear(self) -> bool | None:
        """Whether errors decrease geometrically on all clients of the class; None if neither is proved."""
        if self.lower >= 1:
            return False
        return True if self.upper < 1 else None

    @property
    def says(self) -> str:
        """What is known, in words."""
        sign, left = self.slowest.sign, ""
        if sign and isinstance(self.solver, ToInexactness):
            left = f", where answers leave {sign:+}·γ times the first gradient"
        elif sign:
            left = f", where compressors make (1 {'+' if sign > 0 else '−'} √(1 − δ))·v of v"
        at = f"{self.slowest.federation}{left}"
        if self.lower > 1:
            return f"diverges: on {at} errors grow by {_below(self.lower)} {self._each}, squared"
        if self.lower == 1:
            return f"no linear rate: on {at} some errors never shrink" + (
                ", and the closer curvatures come to 0, the slower the others do" if self.clients.ends[0] == 0 else ""
            )
        if self.function is None:
            return f"no rate was proved; {at} attain {_below(self.lower)}"
        how = "exactly" if self.upper == self.lower else "tight" if self.tight else "an interval"
        return f"{how}; proved by V = {self.function}; attained by {at}"

    def federation(self) -> Quadratic:
        """The quadratics with minimiser 0 on which errors shrink no faster than `lower` says, over many rounds.

        Started where no coordinate is 0. For "any" number they are the fewest, and at least two.
        """
        count = self.num_clients if isinstance(self.num_clients, int) else None
        fewest = self.slowest.federation.fewest
        clients = count or max(2, fewest)
        require(CLIENT * clients, "num_clients", clients, "a list of so many clients", "give fewer, or 'any'")
        return self.slowest.federation.problem(clients)

    @property
    def _each(self) -> str:
        return "a round" if self.period == 1 else f"in {self.period} rounds"

    def __str__(self) -> str:
        return on_screen(f"{self!r}\n  {self.says}")

    def __repr__(self) -> str:
        each = "per round" if self.period == 1 else self._each
        return f"<contraction of {self.method} {each}: [{_down(self.lower)}, {_up(self.upper)}]>"


def _up(bound: Any) -> float:
    return bound if isinstance(bound, float) else float_at_least(bound)


def _down(bound: Fraction) -> float:
    return 0.0 - float_at_least(-bound)  # not −0.0


def _below(lower: Fraction) -> str:
    """The digits of a lower bound, of any size."""
    return to_text(lower, 16, Rounding.FLOOR)
