"""The expectations of a round of FedDyn (ε_t, C_t, …) as single symbols, with their definitions in vectors.

A lemma is proved in the vectors of `notation`, and its last step states it in these symbols. A theorem that adds up
several lemmas then is an identity between a few symbols, and not between all inner products of the vectors.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.facts import Fact, named
from fedconvex.proofs_checks.engines.hilbert import square
from fedconvex.proofs_checks.feddyn import notation
from fedconvex.proofs_checks.feddyn.notation import SYMBOLS, at_minimiser, old_gradients
from fedconvex.proofs_checks.proof import Relation, conclusion
from fedconvex.theory import feddyn

distance, distance_next, C, C_next, gap, epsilon, move = (
    SYMBOLS[name] for name in ("distance", "distance_next", "C", "C_next", "gap", "epsilon", "move")
)
# C_{t−1}. C_t depends on the draw; proofs introduce it with `facts.selected`.
C_meant = square(old_gradients - at_minimiser)
DEFINITIONS = {
    distance: notation.distance,
    distance_next: notation.distance_next,
    C: C_meant,
    gap: notation.gap,
    epsilon: notation.epsilon,
    move: notation.move,
}


def definitions(claim: Relation) -> tuple[tuple[Any, Fact], ...]:
    """The definitions of the symbols in a claim, with the multipliers that replace each symbol by its definition.

    The claim is linear in these symbols: the multiplier of a symbol's definition is minus its coefficient.
    """
    difference = sympy.sympify(claim.right - claim.left)
    used = [symbol for symbol in DEFINITIONS if symbol in difference.free_symbols]
    return tuple((-sympy.diff(difference, symbol), named(symbol, DEFINITIONS[symbol])) for symbol in used)


def lemma3_in_symbols() -> tuple[tuple[Any, Fact], ...]:
    """Lemma 3, which is stated in vectors, with the definitions that turn it into E‖γ^t − γ^{t−1}‖² ≤ ε_t."""
    in_symbols = Relation(move, "<=", epsilon)
    return ((1, conclusion(feddyn.lemma3).fact), *definitions(in_symbols))
