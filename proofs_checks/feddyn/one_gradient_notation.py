"""Symbols and vectors of one round of FedDynOneGD (Algorithm 2), from t − 1 to t, in addition to those of `notation`.

Each symbol ε_t, A_{t−1}, … has its definition beside it, as a fact (`facts.named`): `is_epsilon`, `is_error`, ….

| here | paper |
|---|---|
| `server`, `memories`, `h` | θ^{t−1}, h_k^{t−1}, h^{t−1}; (16): h^{t−1} is the mean of the h_k^{t−1} |
| `new_gradients` | ∇L_k(θ^{t−1}), which is h̃_k^t |
| `virtual` | θ̃_k^t of (15) |
| `average`, `next_average` | γ^{t−1}, γ^t, by (9) |
| `gradients`, `gradient` | ∇L_k(γ^{t−1}), ∇ℓ(γ^{t−1}) |
| `errors_at_minimiser`, `errors` | h_k^{t−1} − ∇L_k(θ_*), h_k^{t−1} − ∇L_k(γ^{t−1}) |

Lemmas 17, 18 and 21 are about one time t. Their proofs state them for t − 1, which is any time.
"""

from fedconvex.proofs_checks.engines.facts import named
from fedconvex.proofs_checks.engines.hilbert import drawn, family, mean, square, vector
from fedconvex.proofs_checks.feddyn.notation import (
    SYMBOLS,
    P,
    alpha,
    at_minimiser,
    gradient,
    gradients,
    least,
    loss,
    m,
    minimiser,
    scale,
)

server = vector("θ")
memories = family("h_k")
h = mean(memories)
new_gradients = family("∇L(θ)")
virtual = server - (new_gradients - memories) / alpha
average = server + h / alpha
next_average = drawn(virtual, scale)
next_h = h - alpha * P / m * (next_average - server)

errors_at_minimiser = memories - at_minimiser
errors = memories - gradients
change = new_gradients - gradients

epsilon, move, distance, distance_next = (SYMBOLS[n] for n in ("epsilon", "move", "distance", "distance_next"))
A, A_next, B, B_next, gap, gradient_square = (
    SYMBOLS[name] for name in ("A", "A_next", "B", "B_next", "gap", "gradient_square")
)
is_epsilon = named(epsilon, square(virtual - average))
is_move = named(move, square(next_average - average))
is_distance = named(distance, square(average - minimiser))
is_distance_next = named(distance_next, square(next_average - minimiser))
is_error_at_minimiser = named(A, square(errors_at_minimiser))
is_error = named(B, square(errors))
is_gradient_square = named(gradient_square, square(gradient))
is_gap = named(gap, loss - least)
