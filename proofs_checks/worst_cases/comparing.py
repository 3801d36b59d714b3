"""The largest quotient of two quantities of a method's rounds, as an interval that is proved on both sides."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.proofs_checks.worst_cases.asking import Compared
from fedconvex.proofs_checks.worst_cases.certifying import Certified, certify, certify_exactly
from fedconvex.proofs_checks.worst_cases.feasible import Feasible, feasible
from fedconvex.proofs_checks.worst_cases.polishing import polish
from fedconvex.proofs_checks.worst_cases.programs import Program
from fedconvex.proofs_checks.worst_cases.solving import propose

INFINITE = float("inf")


@final
@dataclass(frozen=True, eq=False)
class Quotient:
    """lower <= the largest happens/promised <= upper: `upper` by a certificate, `lower` by inner products and values.

    These satisfy all inequalities of the class, exactly, so that clients have them; 0 where none were found.
    """

    compared: Compared
    status: str  # what the solver said
    certificate: Certified | None
    interpolated: Feasible | None

    @property
    def upper(self) -> Any:
        """The proved end; infinite without a proof."""
        return INFINITE if self.certificate is None else self.certificate.t

    @property
    def lower(self) -> Fraction:
        """The attained end."""
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
    proposal, usable = propose(program), _usable(program)
    to_prove = proposal if usable is program else propose(usable)
    certificate = certify_exactly(usable, to_prove, Fraction(1), [])
    if certificate is None:
        certificate, _ = certify(usable, to_prove)
    interpolated = feasible(program, proposal, list(polish(program, proposal)))
    return Quotient(compared, to_prove.status, certificate, interpolated)


def _usable(program: Program) -> Program:
    """Without the inequalities that no proof can use.

    Where a vector's square is in no form, t·N + C − Σ λ_i I_i can only be a form that is not negative if the vector is
    not in it at all: its products with others must cancel. Where these have one sign in all I_i, their λ_i are 0.
    """
    forms = program.forms
    squared = {a for form in forms for (a, b), c in form.products.items() if a == b and c}
    signs: dict[Any, dict[int, bool]] = {}
    for place, form in enumerate(forms):
        for pair, c in form.products.items():
            if c and not squared.issuperset(pair):
                signs.setdefault(pair, {})[place] = c > 0
    useless = {
        place - 2
        for by_place in signs.values()
        if 0 not in by_place and 1 not in by_place and len(set(by_place.values())) == 1
        for place in by_place
    }
    if not useless:
        return program
    kept = tuple(pair for i, pair in enumerate(program.inequalities) if i not in useless)
    return _usable(Program(program.measure, program.constant, kept))
