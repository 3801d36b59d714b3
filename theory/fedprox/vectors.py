r"""The vectors and quantities that FedProx's statements are about, as terms of the claim language.

w = w^t is the server's point before the round, w⁺ = w^{t+1} the one after it, w_k what device k answers, w̄ the mean of
all devices' answers, ŵ_k the exact solutions.
"""

from collections.abc import Callable
from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.statements import Conditional
from fedconvex.claims.terms import (
    Vector,
    answers,
    expected,
    free,
    gradient,
    mean,
    mean_of_rounds,
    named,
    norm,
    parameter,
    server,
    solutions,
    square,
    value,
)

here = server(0)
clients_gradients = gradient(here)
slope = mean(clients_gradients)  # ∇f(w^t)
average = named(r"\bar w^@", mean(answers))
mean_step = average - here
moves = answers - here
errors = solutions - answers
deviation = expected(square(server(1) - average))
# Where the paper has the local Lipschitz constant L₀ between w̄ and w⁺, claims have the bound on it that follows (9).
any_next = free("next")  # any point, so that of any draw


def lipschitz(next_point: Vector) -> Any:
    """L₀ = ‖∇f(w)‖ + L(‖w̄ − w‖ + ‖w⁺ − w‖)."""
    return named("L_0", norm(slope) + parameter("L") * (norm(mean_step) + norm(next_point - here)))


sampling_error = named("Q_{@-1}", expected(lipschitz(server(1)) * norm(server(1) - average)))


def drift(weight: Any) -> Vector:
    """M = −μ(w̄ − w) − ∇f(w), how far the mean step is from a gradient step of size 1/μ."""
    return named("M_@", -weight * mean_step - slope)  # type: ignore[no-any-return]


def of_each(left: Any) -> Callable[[Any], Claim]:
    """Each client's number is at most the formula."""
    return lambda bound: at_most(left, bound, of_client=True)


def decrease(rho: Any) -> Claim:
    """E f(w⁺) ≤ f(w) − ρ‖∇f(w)‖²."""
    return at_most(expected(value(server(1))), value(here) - rho * square(slope))


def read_as_at_most(bound: Any) -> Claim:
    """E f(w⁺) ≤ the bound, where the paper has ≲."""
    return at_most(expected(value(server(1))), bound)


def chosen_decrease(choice: Any) -> Claim:
    """The decrease with the chosen μ, where the paper has ρ ≈ its formula."""
    return decrease(choice.rho)


def certain_decrease(rho: Any) -> Claim:
    """The same where everyone takes part, so that nothing is random."""
    return at_most(value(server(1)), value(here) - rho * square(slope))


def theorem4(rho: Callable[..., Any]) -> Any:
    """Theorem 4's ρ, a formula, at the parameters of its setting."""
    return named(r"\rho", rho(**named_parameters("mu", "L", "L_minus", "B", "gamma", "K")))


def for_every_weight(claim: Callable[[Any], Claim]) -> Callable[[Any], Conditional]:
    """A claim about parameters, for every μ > L₋."""
    return lambda value: Conditional(claim(value), ((parameter("mu"), ">", parameter("L_minus")),))


def accurate_after(rounds: Any) -> Conditional:
    """The mean of the E‖∇f(w^t)‖² over the rounds t < T is at most ε for T ≥ these rounds."""
    claim = at_most(mean_of_rounds(square(slope)), parameter("epsilon"), rounds="T")
    return Conditional(claim, ((parameter("T"), ">=", rounds),))


def named_parameters(*names: str) -> dict[str, Any]:
    """The parameters of these names, to call a formula with."""
    return {name: parameter(name) for name in names}


def dissimilar(bound: Any) -> Claim:
    """B(w) is at most the bound, B(w)‖∇f(w)‖ being the root of the mean of the ‖∇F_k(w)‖²."""
    return at_most(norm(clients_gradients), bound * norm(slope))
