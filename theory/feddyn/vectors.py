r"""The vectors and quantities that FedDyn's lemmas are about, as terms of the claim language.

γ^t = θ^t + h^t/α is the average of the drawn devices' models (equation (9)); θ̃_k^t is what device k would answer if it
were drawn. The stored gradients are the ∇L_k(θ_k^t) of the paper, by the first-order condition (8); FedDynOneGD's are
its h_k^t.
"""

from collections.abc import Callable
from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    drawn,
    expected,
    family,
    free,
    gradient,
    infimum,
    inner,
    last_answers,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    named,
    number,
    parameter,
    server,
    shared,
    square,
    sum_of_rounds,
    value,
)


def average(time: int) -> Vector:
    """γ, the average of the drawn devices' models: θ + h/α."""
    return named(r"\gamma^@", server(time) + shared("h", time) / parameter("alpha"))


def stored(time: int) -> Vector:
    """∇L_k(θ_k), the devices' stored gradients."""
    return memory("gradient", time)


def apart(time: int) -> Vector:
    """θ_k − γ: each device's last answer, beyond the average."""
    return last_answers(time) - average(time)


def memories(time: int) -> Vector:
    """FedDynOneGD's h_k."""
    return named("h_#^@", memory("gradient", time))


def slope(time: int) -> Vector:
    """∇ℓ(γ)."""
    return mean(gradient(average(time)))


at_minimiser = gradient(minimiser)
zero = 0 * free("x")
expected_move = expected(average(1) - average(0))
mean_gradient = mean(gradient(answers))

# what the equations are about
x, y, z = map(free, "xyz")
first_order = inner(gradient(x), y - x)
separation = square(x - y)
gradients_from_best = square(gradient(x) - at_minimiser)
new_gradient = gradient(answers)
server_point = server(0)
server_gradient = gradient(server_point)
server_state = shared("h", 1)
drawn_average = named(r"\gamma^@", drawn(answers))
vector_sum = parameter("count") * mean(family("v"))
sum_of_squares = parameter("count") * square(family("v"))

C_before = named("C_@", expected(square(stored(0) - at_minimiser)))
C_after = named("C_@", expected(square(stored(1) - at_minimiser)))
epsilon = named(r"\epsilon_@", expected(square(answers - average(0))))
gap = expected(value(average(0)) - value(minimiser))
distance, distance_after = (expected(square(average(t) - minimiser)) for t in (0, 1))
move = expected(square(average(1) - average(0)))
state = expected(square(shared("h", 1)))
devices_distance = expected(square(answers - minimiser))
loss, loss_after = (expected(value(average(t))) for t in (0, 1))
slope_before, slope_after = (expected(square(slope(t))) for t in (0, 1))

# the nonconvex analysis, in which C_t is a squared length
spread_before = named("C_@", expected(square(apart(0))))
spread_after = named("C_@", expected(square(apart(1))))

# FedDynOneGD
A_before = named("A_@", expected(square(memories(0) - at_minimiser)))
A_after = named("A_@", expected(square(memories(1) - at_minimiser)))
B_before = named("B_@", expected(square(memories(0) - gradient(average(0)))))
B_after = named("B_@", expected(square(memories(1) - gradient(average(1)))))
server_distance = expected(square(server(0) - minimiser))
lag = expected(square(server(1) - average(1)))
gradients_apart = expected(square(gradient(average(1)) - gradient(server(1))))
mean_server_gradient = mean(gradient(server(0)))

# quantities of whole runs
first_distance = square(server(0) - minimiser)
first_error = square(at_minimiser)


initial_gap = value(server(0)) - infimum
spread = square(last_answers(0) - server(0))
first_memory_error = named("B_0", square(gradient(server(0))))  # the memories start at 0
mean_square_slope = mean_of_rounds(square(slope(0)))


def weighted_gaps(ratio: Number) -> Number:
    """(1/T)Σ_t r^t E[ℓ(γ^t) − ℓ(θ*)]."""
    return sum_of_rounds(gap, ratio) / parameter("T")


def mean_gap(ratio: Number) -> Number:
    """E ℓ(Σ_t r^t γ^t / Σ_t r^t) − ℓ(θ*), γ^t over the T rounds from the start."""
    return expected(value(mean_of_rounds(average(0), ratio))) - value(minimiser)


# What the theorems' bounds are bounds of, after T rounds.


def gap_of_weighted_mean(growth: Number) -> Callable[[Any], Claim]:
    """The gap of the mean of γ⁰, …, γ^{T−1} with the weights r^t."""
    return lambda bound: at_most(mean_gap(growth), bound, rounds="T")


gap_of_mean = gap_of_weighted_mean(number(1))


def mean_square_gradient(bound: Any) -> Claim:
    """The mean of the E‖∇ℓ(γ^t)‖²."""
    return at_most(mean_square_slope, bound, rounds="T")
