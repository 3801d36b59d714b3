"""Proofs of the contraction of reflected proximal steps, with relaxation and without."""

from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, answers, mean, memory, minimiser, norm, number, parameter
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, Line, Nonnegative
from fedconvex.proofs_checks.library import by, cauchy_schwarz, cited, concluding, rooted
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import giselsson_boyd
from fedconvex.theory.giselsson_boyd import AFTER, BEFORE

s, mu, L, a = map(parameter, ("stepsize", "mu", "L", "relaxation"))
# With the names of these roots the kernel sees that q ≥ 1: s√μ√L is at most 1, or at least 1, and μ ≤ L.
ROOTED = by(Nonnegative(0 * mu.sqrt() * L.sqrt()))
INVARIANTS = (("server", mean(memory("z", 0))),)


def _round(q: Number) -> tuple[Line, ...]:
    """The lines that show the factor (q − 1)/(q + 1): curvatures lie between 1/(sq) and q/s."""
    factor = (q - 1) / (q + 1)
    contracts = (1 - factor**2) * s**2 * by(Between(answers, minimiser, 1 / (s * q), q / s))
    return rooted(norm(AFTER), factor * norm(BEFORE), contracts, "a round")


def _larger_of_both(proof: Callable[[Number], Derivation]) -> Derivation:
    """q is the larger of 1/(sμ) and sL: the one for s² ≤ 1/(μL), the other for s² ≥ 1/(μL)."""
    return Derivation(cases=Cases(1 / s**2, mu * L, proof(1 / (s * mu)), proof(s * L)))


@proof_of(giselsson_boyd.reflectedproximalstep)
def reflection(claim: Claim) -> Derivation:
    """FedSplit's round is the reflected proximal step, followed by a reflection, which keeps lengths."""
    return _larger_of_both(lambda q: Derivation((*_round(q), concluding(claim, cited("a round") + ROOTED)), INVARIANTS))


@proof_of(giselsson_boyd.theorem2)
def relaxed(claim: Claim) -> Derivation:
    """‖(1 − a)u + av‖ ≤ |1 − a|‖u‖ + a‖v‖ for u = z − z*, v = z⁺ − z*."""

    def proof(q: Number, under: bool) -> Derivation:
        kept, sign = (1 - a, 1) if under else (a - 1, -1)
        both = 2 * a * kept * cauchy_schwarz(BEFORE, AFTER, sign)
        bound = kept * norm(BEFORE) + a * norm(AFTER)
        lines = (*_round(q), *rooted(norm((1 - a) * BEFORE + a * AFTER), bound, both, "the triangle inequality"))
        last = concluding(claim, cited("the triangle inequality") + a * cited("a round") + ROOTED)
        return Derivation((*lines, last), INVARIANTS)

    return Derivation(cases=Cases(number(1), a, _larger_of_both(lambda q: proof(q, True)),
                                  _larger_of_both(lambda q: proof(q, False))))  # fmt: skip


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "reflectedproximalstep": ((1,), (0,), 1, (2, 1, F(1, 2)), ()),
    "theorem2": ((1,), (0,), 1, (2, 1, F(1, 2), F(1, 2)), ()),
}  # fmt: skip
remarks_of_instances(giselsson_boyd.PAPER, INSTANCES, frozenset(INSTANCES))
