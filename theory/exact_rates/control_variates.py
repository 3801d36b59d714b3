"""SCAFFOLD: with one local step, with everyone or P of m clients; on convex clients with any number of local steps."""

from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import (
    Number,
    expected,
    gradient,
    mean_of_rounds,
    memory,
    minimiser,
    norm,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.statements.assumptions import Convex, Everyone, Runs, SampledUniformly, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum
from fedconvex.statements.notation import NUMBER, STEPSIZE, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.exact_rates.notation import ACTIVE, ORDERED, PAPER
from fedconvex.types import Real

OPTION = ("option", 2)
DRAWN = (Runs("Scaffold", local_steps=1, fixed=(("server_stepsize", 1), OPTION)), SampledUniformly(), ACTIVE)


@PAPER.statement(
    "SCAFFOLD step", ClaimType.TIGHT, ours=True, symbol=r"\|w^{t+1}-w^*\|/\|w^t-w^*\|",
    assumes=(Runs("Scaffold", local_steps=1, fixed=(OPTION,)), Everyone(), StronglyConvex(), Smooth(), ORDERED),
    states=lambda factor: at_most(norm(server(1) - minimiser), factor * norm(server(0) - minimiser)),
)  # fmt: skip
def scaffold_step(*, stepsize: Real, server_stepsize: Real, mu: Real, L: Real) -> Any:
    """With everyone and one local step, SCAFFOLD contracts ‖w − w*‖ by max(1 − ηsμ, ηsL − 1), whatever the c_k.

    The server's stepsize η times s acts as the stepsize of gradient descent: ηs = 2/(μ + L) is best, and any η and s
    with ηs < 2/L converge. The paper asks for s ≤ 1/(81Lη) and gives 1 − ηsμ/2 or slower.
    """
    size = server_stepsize * stepsize
    return maximum(1 - size * mu, size * L - 1)


def energy(time: int) -> Number:
    """V = ‖w − w*‖² + 3(m/P)s² mean‖c_k − ∇F_k(w*)‖²."""
    weight = 3 * parameter("stepsize") ** 2 * parameter("num_clients") / parameter("num_active")
    return square(server(time) - minimiser) + weight * square(memory("c", time) - gradient(minimiser))


def contracts(rate: Number) -> Claim:
    """E V after a round is at most the rate times V."""
    return at_most(expected(energy(1)), rate * energy(0))


@PAPER.statement(
    "SCAFFOLD round of P clients", ClaimType.UPPER, ours=True, symbol=r"\rho", relation="=", units=NUMBER,
    assumes=(
        *DRAWN, StronglyConvex(), Smooth(), ORDERED,
        Condition("stepsize", "<=", lambda mu, L: 1 / (3 * (mu + L))),
        Condition("stepsize", "<=", lambda mu, L, num_clients, num_active:
                  num_active * (mu + L) / (4 * num_clients * mu * L)),
    ),
    states=contracts,
)  # fmt: skip
def scaffold_drawn_round(*, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """One local step, P of m clients: E V contracts by 1 − 2sμL/(μ + L) for
    V = ‖w − w*‖² + 3(m/P)s² mean‖c_k − ∇F_k(w*)‖², s ≤ 1/(3(μ + L)) and s ≤ (P/m)(μ + L)/(4μL).

    The paper asks for s ≤ min(1/(81L), P/(15mμ)). (`num_clients` and `num_active` are in V and in the condition only.)
    """
    return 1 - 2 * stepsize * mu * L / (mu + L)


@PAPER.statement(
    "SCAFFOLD, convex clients", ClaimType.UPPER, ours=True, units=VALUE,
    symbol=r"\frac{1}{T}\sum_{t<T}\mathbb{E}f(w^t)-f(w^*)",
    assumes=(*DRAWN, Convex(), Smooth(), Condition("stepsize", "<=", lambda L: 1 / (4 * L))),
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def scaffold_convex(
    *, stepsize: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, zeta2: Real
) -> Any:
    """Convex clients, one local step of size s ≤ 1/(4L), P of m clients: the mean of Ef(w⁰), …, Ef(w^{T−1}) exceeds
    f(w*) by at most (‖w⁰ − w*‖² + 2(m/P)s²ζ_*²)/(2sT). (`L` is in the condition only.)

    Heterogeneity vanishes with T, unlike in `fedsgd_convex`. The paper asks for s ≤ 1/(81L).
    """
    start = D0 + 2 * num_clients / num_active * stepsize**2 * zeta2
    return start / (2 * stepsize * T)


STEPS = (
    Runs("Scaffold", fixed=(("server_stepsize", 1), OPTION)), Everyone(), Convex(), Smooth(),
    Condition("stepsize", "<=", lambda L: 1 / L),
)  # fmt: skip


def energy_of_steps(time: int) -> Number:
    """V = ‖w − w*‖² + (es)² mean‖c_k − c − ∇F_k(w*)‖², as in `scaffold.accelerated`."""
    size = parameter("local_steps") * parameter("stepsize")
    controls = size * (memory("c", time) - shared("c", time) - gradient(minimiser))
    return square(server(time) - minimiser) + square(controls)


@PAPER.statement(
    "SCAFFOLD round, convex clients", ClaimType.TIGHT, ours=True, symbol=r"\rho", relation="=", units=STEPSIZE,
    assumes=STEPS,
    states=lambda rho: at_most(
        energy_of_steps(1), energy_of_steps(0) - rho * (value(server(0)) - value(minimiser))
    ),
)  # fmt: skip
def scaffold_steps_round(*, stepsize: Real, local_steps: Real, L: Real) -> Any:
    """Convex clients, everyone, any number e of local steps of size s ≤ 1/L: a round decreases
    V = ‖w − w*‖² + (es)² mean‖c_k − c − ∇F_k(w*)‖² by at least 2s(f(w) − f(w*)).

    SCAFFOLD thus converges for every e with s = 1/L; the paper asks for es ≤ 1/(81L). Clients that are the same
    quadratic of curvature 1/s attain it. (`local_steps` is in V, `L` in the condition only.)
    """
    return 2 * stepsize


@PAPER.statement(
    "SCAFFOLD, convex clients, local steps", ClaimType.UPPER, ours=True, units=VALUE,
    symbol=r"\frac{1}{T}\sum_{t<T}f(w^t)-f(w^*)", assumes=STEPS,
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def scaffold_convex_steps(*, stepsize: Real, local_steps: Real, L: Real, T: Real, D0: Real, zeta2: Real) -> Any:
    """Convex clients, everyone, any number e of local steps of size s ≤ 1/L: the mean of f(w⁰), …, f(w^{T−1}) exceeds
    f(w*) by at most (‖w⁰ − w*‖² + (es)²ζ_*²)/(2sT). (`L` is in the condition only.)

    The paper asks for es ≤ 1/(81L): its steps shrink with e.
    """
    return (D0 + (local_steps * stepsize) ** 2 * zeta2) / (2 * stepsize * T)
