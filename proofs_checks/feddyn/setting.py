"""One round of FedDyn, from t − 1 to t: the letters, vectors and numbers that the proofs speak of.

Vectors are random, as they depend on who was drawn before, and so they live in a space where ⟨·,·⟩ is an expectation.
One vector for every device is a family there (`engines.hilbert`); θ̃_k^t is given by (8), γ^{t−1} by (9).

| here | paper |
|---|---|
| `server`, `h` | θ^{t−1}, h^{t−1} |
| `old_gradients` | ∇L_k(θ_k^{t−1}), as stored; their mean is h^{t−1} (the `invariants` show it) |
| `new_gradients`, `virtual` | ∇L_k(θ̃_k^t), θ̃_k^t |
| `average`, `gradients` | γ^{t−1}, ∇L_k(γ^{t−1}); `gradient` is their mean, ∇ℓ(γ^{t−1}) |
| `next_average` | γ^t, the average of the θ̃_k^t over the P drawn devices |
| `minimiser`, `at_minimiser` | θ_*, ∇L_k(θ_*), with mean 0 |
| `models` | θ_k^{t−1} |
| `epsilon`, `move`, `distance`, … | the expectations that the lemmas are about |

`scale` is (m − P)/(P(m − 1)), from `sampling`, as a symbol: what is shown holds for all numbers in [0, 1]. So one
device is covered as well: then 0/0 stands there, but there is no deviation that it could multiply.
"""

import sympy

from fedconvex.proofs_checks.engines.hilbert import centred, drawn, family, mean, square, vector
from fedconvex.proofs_checks.engines.sampling import WithoutReplacement
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.statements.rendering import symbols
from fedconvex.theory.feddyn import PAPER

LETTERS = symbols(PAPER.notation)
alpha, L, mu, m, P, T = (LETTERS[name] for name in ("alpha", "L", "mu", "num_clients", "num_active", "T"))

SCHEME = WithoutReplacement(m, P)
scale = sympy.Symbol("σ", nonnegative=True)
SCALE = Domain((sympy.Le(scale, 1, evaluate=False),))

server = vector("θ")
old_gradients, new_gradients = family("∇L(θ_k)"), family("∇L(θ̃_k)")
h = mean(old_gradients)
virtual = server + (old_gradients - new_gradients) / alpha
average = server + h / alpha
next_average = drawn(virtual, scale)

gradients = family("∇L(γ)")
gradient = mean(gradients)
minimiser, at_minimiser = vector("θ*"), centred("∇L(θ*)")
models = family("θ_k")

epsilon = square(virtual - average)
move = square(next_average - average)
distance, distance_next = square(average - minimiser), square(next_average - minimiser)
gradient_square = square(gradient)
loss, loss_next = LETTERS["loss"], LETTERS["loss_next"]  # Eℓ(γ^{t−1}), Eℓ(γ^t)
least = sympy.Symbol("ℓ(θ*)", real=True)
gap = loss - least

next_h = h - alpha * P / m * (next_average - server)
next_server = next_average - next_h / alpha
