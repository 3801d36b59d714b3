"""The largest quotient of two quantities of a method's rounds, as an interval that is proved on both sides."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.proofs_checks.worst_cases.certificates.presolve import certify_usable
from fedconvex.proofs_checks.worst_cases.certificates.search import Certified
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import Feasible, feasible
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Multiplied
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.refinement import polish
from fedconvex.proofs_checks.worst_cases.programs.solver import propose

INFINITE = float("inf")


@final
@dataclass(frozen=True, eq=False)
class Quotient:
    """lower <= the largest happens/promised <= upper: `upper` by a certificate, `lower` by inner products and values.

    These satisfy all inequalities of the class, exactly, so that clients have them; 0 where none were found.
    """

    compared: Compared | Multiplied
    status: str  # what the solver said
    certificate: Certified | None
    interpolated: Feasible | None
    attained: Fraction | None = None  # what these have, where it is not the program's own quotient

    @property
    def upper(self) -> Any:
        """The proved end; infinite without a proof."""
        return INFINITE if self.certificate is None else self.certificate.t

    @property
    def lower(self) -> Fraction:
        """The attained end."""
        if self.attained is not None:
            return self.attained
        return Fraction(0) if self.interpolated is None else self.interpolated.metric

    @property
    def multipliers(self) -> dict[str, Fraction]:
        """Of the certificate, those that are not 0, with the names of the inequalities."""
        return {} if self.certificate is None else self.certificate.used

    @property
    def says(self) -> str:
        """How the ends are known, in words."""
        by = "; attained by interpolation" * (self.interpolated is not None)
        if self.certificate is None:
            return f"no quotient was proved (the solver: {self.status}){by}"
        return f"{'exactly' if self.upper == self.lower else 'an interval'}; proved by a certificate{by}"


def quotient(compared: Compared) -> Quotient:
    """The least t with happens <= t·promised."""
    board = compared.board
    program = Program(compared.promised, -compared.happens, (*board.inequalities(), *compared.more))
    certificate, proposal = certify_usable(program, Fraction(1))
    instance = propose(program, twice=True)
    interpolated = feasible(program, instance, list(polish(program, instance)))
    return Quotient(compared, proposal.status, certificate, interpolated)
