"""Inequalities that no proof can use: left out, the solver finds proofs that it would miss by rounding."""

from fractions import Fraction
from typing import Any

from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.search import Certified, balanced, certify, certify_exactly, holds
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import Key


def certify_usable(program: Program, guess: Fraction | None = None) -> tuple[Certified | None, Proposal]:
    """A proof without what no proof can use, of the guessed t where that is nearly what the solver proposes."""
    smaller = usable(program)
    proposal = propose(smaller, twice=True)
    found = None if guess is None else certify_exactly(smaller, proposal, guess, [])
    if found is None:
        found, _ = certify(smaller, proposal)
    if found is None and proposal.is_solved:
        found = _with_room(smaller, proposal)
    return None if found is None else whole(program, found), proposal


def whole(program: Program, found: Certified) -> Certified:
    """The same proof, as one of the whole program: the other multipliers are 0."""
    multipliers = {name: m for (name, _), m in zip(found.program.inequalities, found.multipliers, strict=True)}
    return Certified(program, found.t, tuple(multipliers.get(name, Fraction(0)) for name, _ in program.inequalities))


def _with_room(program: Program, proposal: Proposal) -> Certified | None:
    """A proof of a little more, on the way to multipliers that prove twice as much, in whose form no such vector is."""
    inside = propose(program, fixed=2 * proposal.t)
    if not inside.is_solved:
        return None
    near, far = ([to_fmpq(max(float(x), 0.0)) for x in found.multipliers] for found in (proposal, inside))
    alone = [_coordinates(program, key) for key in _unsquared(program)]
    for exponent in range(-10, 0):
        share = fmpq(1, 10**-exponent)
        t = to_fmpq(proposal.t) * (1 + share)
        mixed = [m + share * (other - m) for m, other in zip(near, far, strict=True)]
        adjusted = balanced(program, t, mixed, alone)
        if adjusted is not None and holds(program, t, adjusted):
            return Certified(program, to_fraction(t), tuple(map(to_fraction, adjusted)))
    return None


def _coordinates(program: Program, vector: Key) -> list[list[Any]]:
    """Of the basic vector itself, in every block."""
    return program.coordinates({key: fmpq(int(key == vector)) for block in program.blocks for key in block})


def _unsquared(program: Program) -> list[Key]:
    """The basic vectors whose squares are in no form."""
    squared = {a for form in program.forms for (a, b), c in form.products.items() if a == b and c}
    return [key for block in program.blocks for key in block if key not in squared]


def usable(program: Program) -> Program:
    """Without the inequalities that no proof can use.

    Where a vector's square is in no form, t·N + C − Σ λ_i I_i can only be a form that is not negative if the vector is
    not in it at all: its products with others must cancel. Where these have one sign in all I_i, their λ_i are 0.
    """
    alone = set(_unsquared(program))
    signs: dict[Any, dict[int, bool]] = {}
    for place, form in enumerate(program.forms):
        for pair, c in form.products.items():
            if c and not alone.isdisjoint(pair):
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
