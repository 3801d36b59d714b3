"""Rates of methods on clients that need not be convex: how small the gradient becomes, by descent of a potential."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from flint import fmpq_mat

from fedconvex.arithmetic.rationals import float_at_least, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem
from fedconvex.proofs_checks.search.lyapunov.descents import PosedDescent, points_of_state, pose_descent
from fedconvex.proofs_checks.search.lyapunov.drawn_descents import pose_drawn_descent
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, PosedRound
from fedconvex.proofs_checks.search.lyapunov.priced_functions import cheapest
from fedconvex.proofs_checks.search.lyapunov.slow_descents import SlowDescent, slowest_descent
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.shown import on_screen
from fedconvex.validation import integer_at_least

SERVER, ANSWERS = "the server's point", "the mean of the clients' answers"
NEARLY = Fraction(1, 1000)  # relative distance of bounds that are said to meet
SHOWN_POINTS = 20  # at which the gradient of the federation has length 1, unless a number is given


@final
@dataclass(frozen=True, eq=False)
class NonconvexRate:
    """min_{t<T} ‖∇f(p_t)‖² <= (gap·(f(w⁰) − inf f) + again·‖∇f(w⁰)‖² + (heterogeneity + floor·T)·ζ²)/(T − credit).

    ζ² bounds mean‖∇F_k(p) − ∇f(p)‖² at the points p of the run; with `floor` 0 only that at the start counts. Without
    heterogeneity no constant below `lower` stands before f(w⁰) − inf f, for all T: `federation(T)` shows it.

    V = weight·(f(p) − inf f) + (a quadratic form of memories and of gradients at p) >= 0 decreases in every round by
    ‖∇f(p)‖²/gap at least, but for what heterogeneity adds. Where clients are sampled or rounds local at random, squares
    of gradients and V are expectations.

    Attributes:
        method, solver, clients, num_clients: what was asked.
        at: the points p: the server's, or the mean of the clients' answers.
        function: V, and the proof.
        slowest: a function whose gradients stay 1 the longest, of those that were tried; None where none was found.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int | str
    at: str
    descent: PosedDescent
    function: LyapunovFunction
    slowest: SlowDescent | None

    @property
    def gap(self) -> Fraction:
        """What the proof has before f(w⁰) − inf f."""
        return self.function.entries[WEIGHT] / self._earned

    @property
    def lower(self) -> Fraction:
        """What every proof has there at least; 0 where no function is known that shows it."""
        decrease = None if self.slowest is None else self.slowest.decrease
        return Fraction(0) if decrease is None else 1 / decrease

    @property
    def heterogeneity(self) -> Fraction:
        """What the proof has before ζ² at the start, because memories start at 0 and not at the clients' gradients."""
        place = self.descent.of_spread
        return Fraction(0) if place is None else max(Fraction(0), self.function.entries[place] / self._earned)

    @property
    def floor(self) -> Fraction:
        """The multiple of ζ² that stays after any number of rounds; 0 for methods that remove the clients' drift."""
        return sum(self.function.prices[1:], Fraction(0)) / self._earned

    @cached_property
    def credit(self) -> Fraction:
        """Rounds that the bound takes away: V counts the first gradient, and what is left at the end the last one."""
        last = self.function.entries[WEIGHT] / (2 * self.clients.highest)  # V >= last·‖∇f(p)‖²
        if MEAN in self.function.posed.parts:
            matrix = self.function.matrix(MEAN)
            matrix[-1][-1] += last
            # a quotient of two determinants
            of_all, of_others = (_determinant(rows) for rows in (matrix, [row[:-1] for row in matrix[:-1]]))
            last = of_all / of_others if of_others else Fraction(0)
        return 1 + (min(self._first, self._earned) - last) / self._earned

    @property
    def again(self) -> Fraction:
        """What is before ‖∇f(w⁰)‖² <= 2L(f(w⁰) − inf f), where V counts the first gradient for more than a round."""
        return max(Fraction(0), self._first / self._earned - 1)

    @property
    def _first(self) -> Fraction:
        place = self.descent.of_gradient
        return Fraction(0) if place is None else self.function.entries[place]

    @property
    def _earned(self) -> Fraction:
        return self.function.prices[0]

    @property
    def tight(self) -> bool:
        """Whether `gap` and `lower` are apart by at most one part in a thousand."""
        return self.gap <= self.lower * (1 + NEARLY)

    @property
    def certificate(self) -> DualCertificate:
        """The proof, of V and ‖∇f(p)‖² in the units of `function`, with its multipliers by the inequalities' names."""
        return self.function.certificate

    def bound(self, rounds: int, gap: Any, heterogeneity: Any = 0) -> Fraction:
        """The least ‖∇f(p)‖² at the points before that many rounds, from f(w⁰) − inf f and ζ.

        Raises InvalidInput for a number of rounds below 1, and for a gap or ζ that is negative.
        """
        integer_at_least(rounds, 1, "rounds")
        sizes = [to_fraction(gap, "gap"), to_fraction(heterogeneity, "heterogeneity")]
        for name, x in zip(("gap", "heterogeneity"), sizes, strict=True):
            if x < 0:
                raise InvalidInput(name, x, "is negative", "give a number >= 0")
        first, spread = sizes[0], sizes[1] ** 2
        paid = self.heterogeneity * spread + self.floor * spread * rounds
        # f(w⁰) − inf f also bounds the gradient at the start, which V counts: ‖∇f‖² <= 2L(f − inf f).
        steepest = 2 * self.clients.highest
        counted = self.gap + steepest * max(Fraction(0), self._first / self._earned)
        bounds = [steepest * first, (counted * first + paid) / rounds]
        if rounds > self.credit:
            bounds.append(((self.gap + steepest * self.again) * first + paid) / (rounds - self.credit))
        return min(bounds)

    def federation(self, rounds: int = SHOWN_POINTS) -> Problem:
        """Clients that share one function of one variable, to be started at 0: ‖∇f(p)‖ is 1 before all these rounds.

        In floating point. Raises InvalidInput where no such function is known.
        """
        integer_at_least(rounds, 1, "rounds")
        if self.slowest is None:
            raise InvalidInput("method", self.method, "has no function that is known to be slow", "give another")
        return self.slowest.federation(rounds, 1 if self.num_clients == 1 else 2)

    def __repr__(self) -> str:
        low, high = (str(float_at_least(x)) for x in (self.lower, self.gap))
        more = "".join(
            f" + {float_at_least(c)}·ζ²{suffix}"
            for c, suffix in ((self.heterogeneity, "/T"), (self.floor, "")) if c
        )  # fmt: skip
        return f"<least ‖∇f‖² with {self.method}: about {high}·(f(w⁰) − inf f)/T{more}; no constant below {low}>"

    def __str__(self) -> str:
        return on_screen(f"{self!r}\n  ∇f is at {self.at}; V in proportion to {self.function}")


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    n = len(rows)
    return to_fraction(fmpq_mat(n, n, [to_fmpq(x) for row in rows for x in row]).det()) if n else Fraction(1)


def nonconvex_rate(spec: Specification, num_clients: int | str, weight: Fraction) -> NonconvexRate:
    """The rate; see `sublinear_rate`. Raises InvalidInput where no potential was found."""
    count, highest = min(spec.num_clients, 2), spec.clients.highest
    if not spec.draws.everyone and spec.method.skip != 0:
        raise InvalidInput("participation", spec.participation, "is not analysed where rounds are local at random and "
                           "clients need not be convex", "give Full()")  # fmt: skip
    if not spec.draws.everyone:
        return _when_drawn(spec, num_clients, weight * highest)
    for point in points_of_state(spec.method, spec.solver, spec.clients, count):
        descent = pose_descent(spec.method, spec.solver, spec.clients, count, point, weight * highest)
        found = _cheapest(descent.posed)
        if found is not None:
            slow = None
            if spec.method.skip == 0:
                slow = slowest_descent(spec.method, _answers(spec), spec.clients, point)
            at = SERVER if [*point] == ["server"] else ANSWERS
            return NonconvexRate(spec.method, spec.solver, spec.clients, num_clients, at, descent, found, slow)
    raise _none_found(spec.method)


def _none_found(method: Method) -> InvalidInput:
    return InvalidInput("method", method, "has no potential that was found to decrease with ‖∇f‖²",
                        "give smaller steps, or more regularisation")  # fmt: skip


def _when_drawn(spec: Specification, num_clients: int | str, weight: Fraction) -> NonconvexRate:
    descent = pose_drawn_descent(spec.method, spec.solver, spec.clients, spec.draws, weight)
    found = _cheapest(descent.posed)
    if found is None:
        raise _none_found(spec.method)
    slow = None
    if descent.of_spread is None:  # whoever is drawn, clients that are alike and remember nothing move alike
        slow = slowest_descent(spec.method, _answers(spec), spec.clients, descent.point)
    return NonconvexRate(spec.method, spec.solver, spec.clients, num_clients, SERVER, descent, found, slow)


def _answers(spec: Specification) -> LocalSolver:
    """The solver of the slow functions: exact answers are inexact, too."""
    return Exact() if isinstance(spec.solver, ToInexactness) else spec.solver


def _cheapest(posed: PosedRound) -> LyapunovFunction | None:
    """First without paying for heterogeneity in every round; then, if there is no such V, with it."""
    for sizes in range(1, len(posed.sizes) + 1):
        zeros = posed.zeros if sizes == 1 else ()
        one = replace(posed, sizes=posed.sizes[:sizes], paid=posed.paid[:sizes], zeros=zeros)
        found = cheapest(one, Fraction(1), (Fraction(-1), Fraction(0))[:sizes])
        if found is not None and found.prices[0] > 0:
            return found
    return None
