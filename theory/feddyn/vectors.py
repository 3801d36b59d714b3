r"""The vectors and quantities that FedDyn's lemmas are about, as terms of the claim language.

γ^t = θ^t + h^t/α is the average of the drawn devices' models (equation (9)); θ̃_k^t is what device k would answer if it
were drawn. The stored gradients are the ∇L_k(θ_k^t) of the paper, by the first-order condition (8); FedDynOneGD's are
its h_k^t.
"""

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
    parameter,
    server,
    shared,
    square,
    sum_of_rounds,
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


def apart(time: int) -> Vector:
    """θ_k − γ: each device's last answer, beyond the average."""
    return named(_at(time, r"\theta_k"), last_answers(time)) - average(time)


def memories(time: int) -> Vector:
    """FedDynOneGD's h_k."""
    return named(_at(time, "h_k"), memory("gradient", time))


def slope(time: int) -> Vector:
    """∇ℓ(γ)."""
    return mean(gradient(average(time)))


at_minimiser = gradient(minimiser)
zero = named("0", 0 * free("x"))
expected_move = expected(average(1) - average(0))
mean_gradient = mean(gradient(answers))

# what the equations are about
x, y, z = map(free, "xyz")
first_order = inner(gradient(x), y - x)
separation = square(x - y)
gradients_from_best = square(gradient(x) - at_minimiser)
devices_answer = named(r"\theta_k^t", answers)  # of the devices that take part
new_gradient = gradient(devices_answer)
server_point = server(0)
server_gradient = gradient(server_point)
server_state = shared("h", 1)
drawn_average = named(r"\gamma^t", drawn(answers))
vector_sum = named(r"\sum_j v_j", parameter("count") * mean(family("v")))
sum_of_squares = named(r"\sum_j\|v_j\|^2", parameter("count") * square(family("v")))

C_before = named("C_{t-1}", expected(square(stored(0) - at_minimiser)))
C_after = named("C_t", expected(square(stored(1) - at_minimiser)))
epsilon = named(r"\epsilon_t", expected(square(answers - average(0))))
gap = expected(value(average(0)) - value(minimiser))
distance, distance_after = (expected(square(average(t) - minimiser)) for t in (0, 1))
move = expected(square(average(1) - average(0)))
state = expected(square(shared("h", 1)))
devices_distance = expected(square(answers - minimiser))
loss, loss_after = (expected(value(average(t))) for t in (0, 1))
slope_before, slope_after = (expected(square(slope(t))) for t in (0, 1))

# the nonconvex analysis, in which C_t is a squared length
spread_before = named("C_{t-1}", expected(square(apart(0))))
spread_after = named("C_t", expected(square(apart(1))))

# FedDynOneGD
A_before = named("A_{t-1}", expected(square(memories(0) - at_minimiser)))
A_after = named("A_t", expected(square(memories(1) - at_minimiser)))
B_before = named("B_{t-1}", expected(square(memories(0) - gradient(average(0)))))
B_after = named("B_t", expected(square(memories(1) - gradient(average(1)))))
server_distance = expected(square(server(0) - minimiser))
lag = expected(square(server(1) - average(1)))
gradients_apart = expected(square(gradient(average(1)) - gradient(server(1))))
mean_server_gradient = mean(gradient(server(0)))

# quantities of whole runs
first_distance = square(server(0) - minimiser)
first_error = square(at_minimiser)


initial_gap = value(server(0)) - infimum
spread = square(named(r"\theta_k^0", last_answers(0)) - server(0))
first_memory_error = named("B_0", square(gradient(server(0))))  # the memories start at 0
mean_square_slope = mean_of_rounds(square(slope(0)))


def weighted_gaps(ratio: Number) -> Number:
    """(1/T)Σ_t r^t E[ℓ(γ^t) − ℓ(θ*)]."""
    return sum_of_rounds(gap, ratio) / parameter("T")


def mean_gap(ratio: Number) -> Number:
    """E ℓ(Σ_t r^t γ^t / Σ_t r^t) − ℓ(θ*), γ^t over the T rounds from the start."""
    return expected(value(mean_of_rounds(average(0), ratio))) - value(minimiser)
