"""Symbols of the proofs on FedSplit. The proofs are ours: the paper's are in an appendix outside the text used here.

The proofs use q = √κ in place of κ, so that all constants are rational functions. With s = 1/√(ℓ_* L^*) every client is
1/(sq)-strongly convex and q/s-smooth; the pair (s, q) determines (ℓ_*, L^*) and conversely. For another stepsize s the
same holds with every q that is at least 1/(sℓ_*) and sL^*. A round of FedSplit contracts distances by the factor
ρ = 1 − 2/(q + 1) = (q − 1)/(q + 1).

| here | paper |
|---|---|
| `q`, `r` | √κ, √m |
| `shrunk` | ρ^t |
| `stacked` | ‖z^(1) − z*‖, over all clients |
| `server_distance` | ‖x^(t+1) − x*‖ |
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import formula_with
from fedconvex.proofs_checks.engines.algebra import NotRational, is_zero
from fedconvex.proofs_checks.engines.hilbert import length
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.rendering import symbols
from fedconvex.theory.fedsplit import PAPER

SYMBOLS = symbols(PAPER.notation)
mu, L, kappa, s, b, t, m, x, u = (
    SYMBOLS[name] for name in ("mu", "L", "kappa", "stepsize", "b", "t", "num_clients", "x", "u")
)
stacked, accuracy = SYMBOLS["initial_distance"], SYMBOLS["accuracy"]

q, r = sympy.Symbol("√κ", positive=True), sympy.Symbol("√m", positive=True)
rho = 1 - 2 / (q + 1)
shrunk = sympy.Symbol("ρ^t", nonnegative=True)
server_distance = length("x^(t+1)−x*")
strong, smooth_constant = 1 / (s * q), q / s
BEST = Domain((sympy.Ge(q, 1, evaluate=False),))  # κ ≥ 1


IN_ROOTS = ((kappa, q**2), (m, r**2))


def symbolic(calculator: Calculator, **other: Any) -> Any:
    """The calculator's formula in the paper's symbols (`builders.formula_with`)."""
    return formula_with(calculator, SYMBOLS, **other)


def in_roots(expression: Any) -> Any:
    """The expression with q² for κ and r² for m."""
    return sympy.sympify(expression).subs(dict(IN_ROOTS))


def with_power(expression: Any, factor: Any, exponent: Any, power: Any) -> Any:
    """The expression with the symbol `power` for factor^exponent; powers of other bases remain.

    If the statement's formula changes its base, the exponent therefore remains and the proof fails.
    """

    def replaced(base: Any, raised_to: Any) -> Any:
        whole = sympy.cancel(raised_to / exponent)
        if whole.is_Integer and _same(base, factor):
            return power**whole
        return base**raised_to

    return sympy.sympify(expression).replace(lambda e: e.is_Pow and e.exp.has(exponent), lambda e: replaced(*e.args))


def with_largest(expression: Any) -> tuple[Any, Domain]:
    """The expression with q for the maximum in it, and the conditions that q is at least each of its arguments.

    The proofs then hold for every such q, in particular for the maximum.
    """
    found = sympy.sympify(expression).atoms(sympy.Max)
    arguments = sorted({argument for maximum in found for argument in maximum.args}, key=str)
    conditions = tuple(sympy.Ge(q, argument, evaluate=False) for argument in arguments)
    return expression.subs(dict.fromkeys(found, q)), Domain(conditions)


def with_logarithm(expression: Any, argument: Any, logarithm: Any) -> Any:
    """The expression with the symbol `logarithm` for log(argument), and its negative for log(1/argument)."""

    def replaced(inside: Any) -> Any:
        if _same(inside, argument):
            return logarithm
        return -logarithm if _same(inside * argument, 1) else sympy.log(inside)

    return sympy.sympify(expression).replace(sympy.log, replaced)


def _same(left: Any, right: Any) -> bool:
    try:
        return is_zero(left - right)
    except NotRational:
        return False
