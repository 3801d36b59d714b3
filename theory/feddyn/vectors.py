r"""The vectors and quantities that FedDyn's lemmas are about, as terms of the claim language.

γ^t = θ^t + h^t/α is the average of the drawn devices' models (equation (9)); θ̃_k^t is what device k would answer if it
were drawn. The stored gradients are the ∇L_k(θ_k^t) of the paper, by the first-order condition (8).
"""

from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    expected,
    gradient,
    mean_of_rounds,
    memory,
    minimiser,
    named,
    parameter,
    server,
    shared,
    square,
    value,
)


def _at(time: int, symbol: str) -> str:
    return symbol + ("^{t-1}" if time == 0 else "^t")


def average(time: int) -> Vector:
    """γ, the average of the drawn devices' models: θ + h/α."""
    return named(_at(time, r"\gamma"), server(time) + shared("h", time) / parameter("alpha"))


def stored(time: int) -> Vector:
    """∇L_k(θ_k), the devices' stored gradients."""
    return named(r"\nabla L_k(" + _at(time, r"\theta_k") + ")", memory("gradient", time))


at_minimiser = gradient(minimiser)

C_before = named("C_{t-1}", expected(square(stored(0) - at_minimiser)))
C_after = named("C_t", expected(square(stored(1) - at_minimiser)))
epsilon = named(r"\epsilon_t", expected(square(answers - average(0))))
gap = expected(value(average(0)) - value(minimiser))
distance, distance_after = (expected(square(average(t) - minimiser)) for t in (0, 1))
move = expected(square(average(1) - average(0)))
state = expected(square(shared("h", 1)))
devices_distance = expected(square(answers - minimiser))

# quantities of whole runs
first_distance = named("D_0", square(server(0) - minimiser))
first_error = named("G", square(at_minimiser))


def mean_gap(ratio: Number) -> Number:
    """E ℓ(Σ_t r^t γ^t / Σ_t r^t) − ℓ(θ*), γ^t over the T rounds from the start."""
    return expected(value(mean_of_rounds(average(0), ratio))) - value(minimiser)
