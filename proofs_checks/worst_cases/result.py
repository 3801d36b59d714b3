"""The answer of `worst_case`: an interval with its certificate and its attaining instance."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.rationals import float_at_least
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.certificates.composition import bound_after, shortened
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Combination
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint
from fedconvex.proofs_checks.worst_cases.instances.interpolating_functions import Interpolating
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation, points_of_clients
from fedconvex.proofs_checks.worst_cases.instances.replay import federation
from fedconvex.proofs_checks.worst_cases.instances.resting_federations import representatives
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup, ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas

INFINITE = float("inf")


@final
@dataclass(frozen=True, eq=False)
class WorstCase(ShownResult):
    """lower <= worst case <= upper: one bound is proved by a certificate, the other attained by an instance.

    For "descent" the worst case is the least decrease: its lower bound is proved, its upper bound attained. The
    instance is a simulated federation of quadratics, or Gram matrices and values that satisfy the inequalities of the
    class. With `power` T > 1 the certificate is about one round, and its bound is composed over T rounds.
    """

    question: Question
    certified: Question  # the certificate's question: `question`, or one round of it
    status: str  # of the solver
    certificate: DualCertificate | None
    power: int
    played: Fraction | float | None  # the ratio attained on `instance`
    instance: AttainingFederation | None
    interpolated: FeasiblePoint | None

    @property
    def proved(self) -> Any:
        """The bound that the certificate proves, infinite without one; for "descent", minus the decrease."""
        if self.certificate is None:
            return INFINITE
        found = bound_after(self.certificate, self.certified, self.question, self.power)
        return shortened(found, upwards=True) if self._is_sum else found

    @property
    def _is_sum(self) -> bool:
        """Whether the proved bound adds up terms of many rounds, so that it has many digits and is not sharp anyway."""
        return self.power > 1 and self.question.spec.heterogeneity > 0

    @property
    def attained(self) -> Any:
        """The largest ratio that an instance attains, exactly; None where none was found."""
        interpolated = None if self.interpolated is None else self.interpolated.metric
        most = max((x for x in (self.played, interpolated) if x is not None), default=None)
        return shortened(most, upwards=False) if self._is_sum else most

    @property
    def upper(self) -> Any:
        """The upper bound."""
        if self.question.spec.metric != "descent":
            return self.proved
        return INFINITE if self.attained is None else -self.attained

    @property
    def lower(self) -> Any:
        """The lower bound."""
        if self.question.spec.metric == "descent":
            return -self.proved
        return Fraction(0) if self.attained is None else self.attained

    @property
    def multipliers(self) -> dict[str, Fraction]:
        """The certificate's multipliers that are not 0, by the names of their inequalities."""
        return {} if self.certificate is None else self.certificate.used

    @property
    def says(self) -> str:
        """How the two bounds are known, in words."""
        question = self.question
        # The words name the source of each bound; "descent" swaps lower and upper.
        by = "attained by quadratic clients" if self.is_played else "attained by interpolation"
        descent, has_spread = question.spec.metric == "descent", question.spec.spread is not None
        missing = "give dissimilarity" if descent else "give heterogeneity > 0"
        if question.spec.ratio is not None:
            missing = "the denominator has to vanish only where the numerator does"
        if self.attained == INFINITE:
            place = "where the clients' gradients cancel" if descent else "at the minimiser"
            return f"no finite bound exists: started {place}, the method leaves it; {missing}"
        if self.certificate is None:
            given = question.spec.dissimilarity is not None if descent else question.spec.heterogeneity or has_spread
            if question.spec.rests:
                given, missing = False, "the fixed points may be any points"
            needed = "" if given or question.spec.metric == "lifted_distance" else f"; perhaps none exists: {missing}"
            return f"no bound was proved (solver status: {self.status}){needed}" + f"; {by}" * (
                self.attained is not None
            )
        how = "exactly" if self.upper == self.lower else "an interval"
        relaxed = not (question.exact and question.all_pairs) and self.upper != self.lower
        loose = "; the program is a relaxation, whose bound may be larger than the worst case" * relaxed
        composed = "added up over" if question.spec.heterogeneity else "to the power of"
        power = f" for one round, {composed} {self.power}" * (self.power > 1)
        only = f", for {question.board.clients} clients, over all possible draws" * question.enumerated
        only += ", by two moments of every draw" * (question.settled is not None)
        return f"{how}{only}; proved by a certificate{power}" + f"; {by}" * (self.attained is not None) + loose

    @property
    def is_played(self) -> bool:
        """Whether a simulated federation of quadratics attains the bound."""
        return self.played is not None and (self.interpolated is None or self.played >= self.interpolated.metric)

    def federation(self) -> Any:
        """The clients that attain the bound, as a problem. Use it to see the worst case in a simulation of your own.

        Exact quadratics where these attain it; else functions through the interpolated points, in floating point. The
        method starts at `start`, with the answers' `residuals`. Raises ValueError where no instance was found.
        """
        if self.is_played and self.instance is not None:
            return federation(self.question, self.instance)
        which = self.question.copies
        if self.interpolated is None or which is None:
            raise ValueError("no federation was found")
        problem: Interpolating = self._interpolating[0]
        if not isinstance(self.question.spec.clients, ClientGroups):
            return problem.of(which)
        return problem.of(self._copies_by_weight(problem)) if self.question.spec.method.plain else problem

    @property
    def local_steps(self) -> tuple[int, ...] | None:
        """The numbers of local steps of `federation()`'s clients, where clients take unequal ones; else None.

        Use `dataclasses.replace(method, local_steps=…)` to simulate the method on it. Raises ValueError as that does.
        """
        solver, board = self.question.spec.solver, self.question.board
        if not isinstance(solver, UnequalSteps):
            return None
        if self.is_played and self.instance is not None:
            which = representatives(self.question)
        else:
            problem = self.federation()
            by_weight = self.question.spec.method.plain
            everyone = list(range(problem.num_clients))
            which = self._copies_by_weight(self._interpolating[0]) if by_weight else everyone
        return tuple(solver.steps[board.representatives[k][0]] for k in which)

    def _copies_by_weight(self, problem: Interpolating) -> list[int]:
        """Copies of clients in proportion to their weights, for methods that average without weights."""
        total = lcm(*(weight.denominator for weight in problem.exact_weights))
        numbers = [int(weight * total) for weight in problem.exact_weights]
        functions = self.question.spec.clients
        assert isinstance(functions, ClientGroups)
        single = [functions.groups[group or 0].clients == 1 for group, _ in self.question.board.representatives]
        if any(alone and count > 1 for alone, count in zip(single, numbers, strict=True)):
            raise ValueError("no federation was found: the shares are not numbers of clients")
        return [k for k, count in enumerate(numbers) for _ in range(count)]

    @property
    def start(self) -> Any:
        """Where the server starts, (d,), for "bias" and stays; for "lifted_distance" every client's z_k, (m, d)."""
        if self.is_played and self.instance is not None:
            begun = self.instance.start
        elif self.interpolated is not None:
            begun = self._interpolating[1]
        else:
            raise ValueError("no federation was found")
        return begun if self.question.spec.metric == "lifted_distance" else begun[0]

    @property
    def variance(self) -> Fraction:
        """σ² of the gradients' noise on `federation()`; 0 without noise."""
        return Fraction(0) if self.instance is None else self.instance.variance

    @property
    def residuals(self) -> tuple[Any, ...]:
        """The subproblems' gradients at the answers on `federation()` in every round, each (m, d).

        Empty where the local solver is not ToInexactness. `instances.residuals.PrescribedResiduals` answers with them.
        """
        if self.is_played and self.instance is not None:
            return self.instance.residuals
        return () if self.interpolated is None else self._interpolating[2]

    @cached_property
    def _interpolating(self) -> tuple[Interpolating, Any, Any]:
        """The problem through the interpolated points, the starts, and the residuals."""
        found, functions, board = self.interpolated, self.question.spec.clients, self.question.board
        assert found is not None
        grams = [np.array(gram, dtype=float).reshape(len(gram), len(gram)) for gram in found.grams]
        named = dict(zip(found.program.values, map(float, found.values), strict=True))
        points, gradients, values, start, left = points_of_clients(self.question, grams, named)
        members = [group for group, _ in board.representatives]
        number = len(set(members))  # every client is its own group where draws are enumerated
        groups = functions.groups if isinstance(functions, ClientGroups) else (ClientGroup(functions, 1),) * number
        shares = functions.shares if isinstance(functions, ClientGroups) else (Fraction(1, number),) * number
        classes = [groups[group or 0].functions for group in members]
        weights = [shares[group or 0] / members.count(group) for group in members]
        curvatures = [c.lowest for c in classes], [c.highest for c in classes]
        return Interpolating.through(points, gradients, values, *curvatures, weights), start, left

    def proof(self) -> Lemma:
        """The certificate as a lemma, metric ≤ t·N, which the kernel replays; of one round where `power` > 1.

        Raises ValueError without a certificate, and where the kernel has no such claims: about client groups, all
        possible draws, inexact answers in several rounds, a single client, functions of a single curvature.
        """
        if self.certificate is None:
            raise ValueError("nothing was proved")
        return Combination(self.certified, self.certificate.t, self.certificate.multipliers).lemma()

    def to_frame(self) -> "pandas.DataFrame":
        """Two rows, for the lower and the upper bound: bound, value (exact), known ("proved" or "attained")."""
        import pandas

        known = ["attained", "proved"] if self.question.spec.metric != "descent" else ["proved", "attained"]
        rows = {"bound": ["lower", "upper"], "value": [self.lower, self.upper], "known": known}
        return pandas.DataFrame(rows).astype({"value": object})

    def __repr__(self) -> str:
        question, interval = self.question, [-_rounded_up(-self.lower), _rounded_up(self.upper)]
        return f"<{question.spec.metric} of {question.spec.method}, {question.spec.rounds} rounds: {interval}>"


def _rounded_up(bound: Any) -> float:
    """A float that is not below the bound, which may be infinite."""
    return float(bound) if isinstance(bound, float) else float_at_least(bound)
