"""The expectations of a round as the paper's letters, and what they mean in the vectors of `setting`.

A lemma ends with a claim in letters: then what is built on it has few symbols.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.facts import Fact, named
from fedconvex.proofs_checks.engines.hilbert import square
from fedconvex.proofs_checks.feddyn import setting
from fedconvex.proofs_checks.feddyn.setting import LETTERS, at_minimiser, old_gradients
from fedconvex.proofs_checks.proof import Relation, conclusion
from fedconvex.theory import feddyn

distance, distance_next, C, C_next, gap, epsilon, move = (
    LETTERS[name] for name in ("distance", "distance_next", "C", "C_next", "gap", "epsilon", "move")
)
C_meant = square(old_gradients - at_minimiser)
MEANINGS = {
    distance: setting.distance,
    distance_next: setting.distance_next,
    C: C_meant,
    gap: setting.gap,
    epsilon: setting.epsilon,
    move: setting.move,
}


def meanings(claim: Relation) -> tuple[tuple[Any, Fact], ...]:
    """The letters' definitions with the multipliers that turn the claim's sides, linear in them, into vectors'."""
    difference = sympy.sympify(claim.right - claim.left)
    used = [letter for letter in MEANINGS if letter in difference.free_symbols]
    return tuple((-sympy.diff(difference, letter), named(letter, MEANINGS[letter])) for letter in used)


def lemma3_in_letters() -> tuple[tuple[Any, Fact], ...]:
    """Lemma 3, which speaks of vectors, with the definitions that make it one about letters."""
    meant = Relation(move, "<=", epsilon)
    return ((1, conclusion(feddyn.lemma3).fact), *meanings(meant))
