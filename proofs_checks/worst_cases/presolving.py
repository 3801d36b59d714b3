"""Inequalities that no proof can use: left out, the solver finds proofs that it would miss by rounding."""

from fractions import Fraction
from typing import Any

from fedconvex.proofs_checks.worst_cases.certifying import Certified, certify, certify_exactly
from fedconvex.proofs_checks.worst_cases.programs import Program
from fedconvex.proofs_checks.worst_cases.solving import Proposal, propose


def certify_usable(program: Program, guess: Fraction | None = None) -> tuple[Certified | None, Proposal]:
    """A proof without what no proof can use, of the guessed t where that is nearly what the solver proposes."""
    smaller = usable(program)
    proposal = propose(smaller)
    found = None if guess is None else certify_exactly(smaller, proposal, guess, [])
    if found is None:
        found, _ = certify(smaller, proposal)
    return None if found is None else whole(program, found), proposal


def whole(program: Program, found: Certified) -> Certified:
    """The same proof, as one of the whole program: the other multipliers are 0."""
    multipliers = {name: m for (name, _), m in zip(found.program.inequalities, found.multipliers, strict=True)}
    return Certified(program, found.t, tuple(multipliers.get(name, Fraction(0)) for name, _ in program.inequalities))


def usable(program: Program) -> Program:
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
    return usable(Program(program.measure, program.constant, kept))
