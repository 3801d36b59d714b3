"""The largest quotient of a statement's two sides, as an interval that is proved on both sides."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.certificates.search import certify_reduced
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint, feasible_point
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Multiplied
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.refinement import refine
from fedconvex.proofs_checks.worst_cases.programs.solver import propose

INFINITE = float("inf")


@final
@dataclass(frozen=True, eq=False)
class Quotient:
    """lower <= the largest left/right <= upper: `upper` by a certificate, `lower` by an exact feasible point.

    The point satisfies all inequalities of the class, so that some clients attain it; without one `lower` is 0.
    """

    compared: Compared | Multiplied
    status: str  # of the solver
    certificate: DualCertificate | None
    interpolated: FeasiblePoint | None
    attained: Fraction | None = None  # the quotient at the point, where it is not the program's own

    @property
    def upper(self) -> Any:
        """The proved upper bound; infinite without a proof."""
        return INFINITE if self.certificate is None else self.certificate.t

    @property
    def lower(self) -> Fraction:
        """The attained lower bound."""
        if self.attained is not None:
            return self.attained
        return Fraction(0) if self.interpolated is None else self.interpolated.metric

    @property
    def multipliers(self) -> dict[str, Fraction]:
        """The certificate's multipliers that are not 0, by the names of their inequalities."""
        return {} if self.certificate is None else self.certificate.used

    @property
    def says(self) -> str:
        """How the two bounds are known, in words."""
        by = "; attained by interpolation" * (self.interpolated is not None)
        if self.certificate is None:
            return f"no quotient was proved (solver status: {self.status}){by}"
        return f"{'exactly' if self.upper == self.lower else 'an interval'}; proved by a certificate{by}"


def quotient(compared: Compared) -> Quotient:
    """The least t with left <= t·right for all functions of the class. Use it for a lemma, or one step of a proof."""
    board = compared.board
    program = Program(compared.right, -compared.left, (*board.inequalities(), *compared.more))
    # Many lemmas hold with equality, so that t = 1 is tried first; few have multipliers in the interior.
    certificate, proposal = certify_reduced(program, Fraction(1))
    instance = propose(program, twice=True)
    interpolated = feasible_point(program, instance, list(refine(program, instance)))
    return Quotient(compared, proposal.status, certificate, interpolated)
