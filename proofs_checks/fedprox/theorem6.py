"""FedProx, Theorem 6: the number of rounds until the mean squared gradient is at most ε.

The means over the rounds t < T are symbols: `mean_value` of E f(w^t), `mean_next` of E f(w^{t+1}), `mean_slope` of
E‖∇f(w^t)‖².
"""

from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Inequality
from fedconvex.proofs_checks.engines.facts import (
    averaged,
    minimal,
    named,
    rounded_up,
    telescoped,
)
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.notation import (
    ROOTS,
    after,
    delta,
    epsilon,
    gradient_norm,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.tightness import rounds_needed
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

SQUARE = gradient_norm**2

rho, T, ceiling = sympy.symbols("ρ T ⌈Δ/(ρε)⌉", positive=True)
mean_value, mean_next, first, last, least = sympy.symbols("avgEf(w^t) avgEf(w^{t+1}) f(w⁰) Ef(w^T) f*", real=True)
mean_slope = sympy.Symbol("avgE‖∇f(w^t)‖²", nonnegative=True)
is_gap = named(delta, first - least)


@proves(fedprox.theorem6)
def theorem6(statement: Statement) -> Proof:
    one_round = Domain.of(fedprox.theorem4)
    is_rho = named(rho, symbolic(fedprox.rho.calculator))
    once = Relation(after, "<=", value - rho * SQUARE, one_round, "Theorem 4, in each round")
    means = {after: mean_next, value: mean_value, SQUARE: mean_slope}
    summed = Relation(mean_slope, "<=", delta / (rho * T), one_round, "the mean over the rounds")
    rounds = symbolic(statement.calculator, rho=rho)
    # ⌈·⌉ is a symbol of its own, of which only "rounded up is not smaller" (`rounded_up`) is used.
    written = rounds.subs(sympy.ceiling(delta / (rho * epsilon)), ceiling)
    enough = one_round & Domain((sympy.Ge(T, written, evaluate=False),))
    counted = Relation(ceiling, "<=", T, enough, "the number of rounds")

    def least_number(number: int) -> tuple[Any, Any]:
        random = Random(number)
        gap, decrease, accuracy = (Fraction(random.randint(1, 9), random.randint(1, 9)) for _ in "Δρε")
        found = statement.calculator.formula(delta=gap, rho=decrease, epsilon=accuracy)
        return found, next(t for t in count(1) if t * decrease * accuracy >= gap)

    steps = (fedprox.equation8, fedprox.equation10, fedprox.equation14)
    return Proof((
        Step(r"E[f(w^{t+1})\mid w^t] \le f(w^t)-\rho\|\nabla f(w^t)\|^2", "Theorem 4, whose ρ this is", once,
             Combination(facts=(*((1, conclusion(s).fact) for s in steps), (SQUARE, is_rho)), roots=ROOTS)),
        Step(r"\tfrac1T\sum_{t<T}E\|\nabla f(w^t)\|^2 \le \tfrac\Delta{\rho T}", "summed over the rounds", summed,
             Combination(facts=(
                 (1 / rho, averaged(once.fact, means, "rounds and draws")),
                 (1 / rho, telescoped(mean_next, mean_value, last, first, T)),
                 (1 / (rho * T), minimal(last, least)),
                 (-1 / (rho * T), is_gap),
             ))),
        Step(r"T = \min\{t \ge 1: t \ge \tfrac\Delta{\rho\epsilon}\}", "what the statement's number is",
             Relation(0, "=", 0), Agreement(least_number)),
        Step(r"T \ge \lceil\tfrac\Delta{\rho\epsilon}\rceil", "T is as large as the statement asks", counted,
             Inequality()),
        Step(r"\tfrac1T\sum_{t=0}^{T-1}E\|\nabla f(w^t)\|^2 \le \epsilon", "for every T of at least ⌈Δ/(ρε)⌉",
             Relation(mean_slope, "<=", epsilon, enough, "Theorem 6"),
             Combination(facts=((1, summed.fact), (epsilon / T, counted.fact),
                                (epsilon / T, rounded_up(ceiling, delta / (rho * epsilon))))),
             place="Theorem 6"),
    ), tightness=rounds_needed(statement, fedprox.theorem4),
       notes="T = O(Δ/(ρε)) with constant 1. The text before it prints S_s for S_ε. Theorem 4's assumptions in each "
             "round include B(w^t) ≤ B, which Assumption 1 gives only where ‖∇f(w^t)‖² > ε.",
       vacuous="Where Theorem 4's ρ is not positive.")  # fmt: skip
