"""Symbols and vectors of one round of FedDyn, from t − 1 to t, for the proofs of this folder.

The vectors are random, because they depend on the devices drawn in earlier rounds; ⟨·,·⟩ is the expectation of the
inner product, a mean over the devices where the vectors differ between them (`engines.hilbert`: families). Equation
(8) defines θ̃_k^t, equation (9) γ^{t−1}.

| here | paper |
|---|---|
| `server`, `h` | θ^{t−1}, h^{t−1} |
| `old_gradients` | ∇L_k(θ_k^{t−1}), as stored; their mean is h^{t−1} (the `invariants` show it) |
| `new_gradients`, `virtual` | ∇L_k(θ̃_k^t), θ̃_k^t |
| `average`, `gradients` | γ^{t−1}, ∇L_k(γ^{t−1}); `gradient` is their mean, ∇ℓ(γ^{t−1}) |
| `next_average` | γ^t, the average of the θ̃_k^t over the P drawn devices |
| `minimiser`, `at_minimiser` | θ_*, ∇L_k(θ_*), with mean 0 |
| `models` | θ_k^{t−1} |
| `epsilon`, `move`, `distance`, … | ε_t, E‖γ^t − γ^{t−1}‖², E‖γ^{t−1} − θ_*‖², …, written out in these vectors |

`expectations` has the same quantities as single symbols.

`scale` stands for (m − P)/(P(m − 1)), the factor of the draw's variance (`engines.sampling`). The proofs use only that
it lies in [0, 1]. They therefore cover m = 1 too, where the fraction is 0/0: with one device there are no deviations
for it to multiply.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import formula_with, sides_with
from fedconvex.proofs_checks.engines.hilbert import centred, drawn, family, mean, square, vector
from fedconvex.proofs_checks.engines.sampling import WithoutReplacement
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.rendering import symbols
from fedconvex.statements.statement import Statement
from fedconvex.theory.feddyn import PAPER

SYMBOLS = symbols(PAPER.notation)
"""The symbol of every parameter of the paper, by its name in the calculators."""
alpha, L, mu, m, P, T = (SYMBOLS[name] for name in ("alpha", "L", "mu", "num_clients", "num_active", "T"))

SCHEME = WithoutReplacement(m, P)
scale = sympy.Symbol("σ", nonnegative=True)
SCALE = Domain((sympy.Le(scale, 1, evaluate=False),))

server = vector("θ")
old_gradients, new_gradients = family("∇L(θ_k)"), family("∇L(θ̃_k)")
# That h^{t−1} is this mean is proved in `convex_lemmas.invariants`.
h = mean(old_gradients)
# (8): the device's first-order condition, solved for θ̃_k^t.
virtual = server + (old_gradients - new_gradients) / alpha
average = server + h / alpha
# The drawn devices' models are their θ̃_k^t.
next_average = drawn(virtual, scale)

gradients = family("∇L(γ)")
gradient = mean(gradients)
# Centred: by (3) the gradients at the minimiser have the mean 0.
minimiser, at_minimiser = vector("θ*"), centred("∇L(θ*)")
models = family("θ_k")

epsilon = square(virtual - average)
move = square(next_average - average)
distance, distance_next = square(average - minimiser), square(next_average - minimiser)
gradient_square = square(gradient)
loss, loss_next = SYMBOLS["loss"], SYMBOLS["loss_next"]  # Eℓ(γ^{t−1}), Eℓ(γ^t)
least = sympy.Symbol("ℓ(θ*)", real=True)  # ℓ(θ_*)
gap = loss - least

next_h = h - alpha * P / m * (next_average - server)
next_server = next_average - next_h / alpha


def symbolic(calculator: Calculator, **other: Any) -> Any:
    """The calculator's formula in the paper's symbols (`builders.formula_with`)."""
    return formula_with(calculator, SYMBOLS, **other)


def sides(statement: Statement, **other: Any) -> tuple[Any, Any]:
    """Both sides of the statement in the paper's symbols (`builders.sides_with`)."""
    return sides_with(statement, SYMBOLS, **other)
