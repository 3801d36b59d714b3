r"""Li, Huang, Yang, Wang, Zhang: *On the convergence of FedAvg on non-IID data* (ICLR 2020).

Main statements
---------------
* `drift`: bounded gradients keep the clients' answers together, for any number of local steps.
* `noise_iid`, `noise_uniform`: what the draw of the clients adds to that, in expectation.
* `noise_of_one_step`: the same for one local step, with the bound G of all gradients itself.
* `gamma_at_most`, `gamma_at_least`: the paper's heterogeneity Γ lies between σ*²/(2L) and σ*²/(2μ).
* `one_step_gamma`: a step of the clients' mean from any points of theirs, by Γ (the paper's Lemma 1 without noise).
* `drawn_iid`, `drawn_uniform`: a round of one local step with drawn clients, by Γ, without bounded gradients.

The paper's analysis needs bounded gradients, and Γ = f(x*) − mean_k min F_k. The statements here are in that setting,
without stochastic gradients. G² is the mean square of what a client descends by on average in the round, so that it is
at most the paper's bound of all gradients; Γ is compared with σ*² = mean‖∇F_k(x*)‖², of which other papers' bounds are
made.

Notation: `stepsize` s and `local_steps` e of the local gradient steps; `mu`, `L` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most, equal
from fedconvex.claims.terms import (
    after,
    answers,
    expected,
    family,
    gradient,
    local_gradients,
    mean,
    minimiser,
    parameter,
    server,
    square,
    value,
)
from fedconvex.statements.assumptions import (
    BoundedGradients,
    ObjectiveGap,
    Runs,
    SampledIID,
    SampledUniformly,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
)
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, GRADIENT_BOUND, OBJECTIVE_GAP, ROUNDS, SIGMA_STAR2, SMOOTHNESS
from fedconvex.types import Real

ANSWERED = mean(answers)
SPREAD = square(answers - ANSWERED)
NOISE = expected(square(server(1) - ANSWERED))
POINTS = family("v")

PAPER = Paper(
    name="li_fedavg",
    short="FedAvg on non-IID data",
    reference="Li, Huang, Yang, Wang, Zhang: On the convergence of FedAvg on non-IID data (ICLR 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k; for uniform draws a plain mean",
    letters=Letters(
        server="w^@", minimiser="w^*", answers="w_k^@", expectation="E",
        local_gradients=r"\sum_{i\le e}\nabla F_k(w_k^{(i)})",
    ),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "K": Parameter("K", "clients drawn in a round", least=1, integer=True, measured="num_drawn"),
        "num_clients": Parameter("m", "clients", least=2, integer=True, measured="num_clients"),
        "num_active": Parameter("P", "clients that take part in a round", least=1, integer=True,
                                measured="num_active"),
        "G2": Parameter("G^2", "mean square of the clients' mean gradient over their local steps", SQUARED_GRADIENT,
                        least=0, means=square(local_gradients / parameter("local_steps"))),
        "spread": Parameter("V", "mean squared distance of the clients' answers from their mean", SQUARED_LENGTH,
                            least=0, means=SPREAD),
        "answers_mean": Parameter(r"\mathbb{E}_k w_k^{t+1}", "the mean of all clients' answers", LENGTH,
                                  means=ANSWERED),
        "G": GRADIENT_BOUND,
        "Gamma": OBJECTIVE_GAP,
        "T": ROUNDS,
        "distance": Parameter(r"\|w^t-w^*\|^2", "squared distance before the round", SQUARED_LENGTH, least=0,
                              means=square(server(0) - minimiser)),
        "D0": Parameter(r"\|w^0-w^*\|^2", "squared distance of the start", SQUARED_LENGTH, least=0,
                        measured="squared_distance", means=square(server(0) - minimiser)),
        "centre_distance": Parameter(r"\|\bar v-w^*\|^2", "squared distance of the points' mean", SQUARED_LENGTH,
                                     least=0, means=square(mean(POINTS) - minimiser)),
        "drift": Parameter("D", "mean squared distance of the points from their mean", SQUARED_LENGTH, least=0,
                           means=square(POINTS - mean(POINTS))),
        "sigma_star2": SIGMA_STAR2,
    },
)  # fmt: skip
FEDAVG = Runs("FedGD")
ONE_STEP = Runs("FedGD", local_steps=1)
STRONGLY = (Smooth(), StronglyConvex(), Condition("mu", "<=", "L"))
UNIFORM = (FEDAVG, SampledUniformly(), Condition("num_active", "<=", "num_clients"))


@PAPER.statement(
    "Drift", ClaimType.UPPER, symbol=r"\mathbb{E}_k\|w_k^{t+1}-\mathbb{E}_k w_k^{t+1}\|^2", units=SQUARED_LENGTH,
    assumes=(FEDAVG,), states=SPREAD,
)  # fmt: skip
def drift(*, stepsize: Real, local_steps: Real, G2: Real) -> Any:
    """The answers' mean squared distance from their mean is at most s²e²G², for any differentiable functions."""
    return stepsize**2 * local_steps**2 * G2


@PAPER.statement(
    "Unbiased average", ClaimType.IDENTITY, symbol="E w^{t+1}", relation="=", units=LENGTH,
    assumes=UNIFORM, states=lambda right: equal(expected(server(1)), right),
)  # fmt: skip
def unbiased(*, answers_mean: Real) -> Any:
    """The server's average over P of m clients has the mean of all clients' answers as its expectation."""
    return answers_mean


@PAPER.statement(
    "Noise, independent draws", ClaimType.IDENTITY, symbol=r"E\|w^{t+1}-\mathbb{E}_k w_k^{t+1}\|^2", relation="=",
    units=SQUARED_LENGTH, assumes=(FEDAVG, SampledIID()), states=lambda right: equal(NOISE, right),
)  # fmt: skip
def noise_iid(*, K: Real, spread: Real) -> Any:
    """The variance of the average over K independent draws: V/K, V the variance of the answers."""
    return spread / K


@PAPER.statement(
    "Noise, P of m clients", ClaimType.IDENTITY, symbol=r"E\|w^{t+1}-\mathbb{E}_k w_k^{t+1}\|^2", relation="=",
    units=SQUARED_LENGTH, assumes=UNIFORM, states=lambda right: equal(NOISE, right),
)  # fmt: skip
def noise_uniform(*, num_clients: Real, num_active: Real, spread: Real) -> Any:
    """The variance of the average over P of m clients: (m − P)/(P(m − 1))·V; 0 where everyone takes part."""
    return (num_clients - num_active) / (num_active * (num_clients - 1)) * spread


@PAPER.statement(
    "Noise and drift", ClaimType.UPPER, symbol=r"E\|w^{t+1}-\mathbb{E}_k w_k^{t+1}\|^2", units=SQUARED_LENGTH,
    assumes=(FEDAVG, SampledIID()), states=lambda right: at_most(NOISE, right),
)  # fmt: skip
def noise_of_drift(*, stepsize: Real, local_steps: Real, K: Real, G2: Real) -> Any:
    """K independent draws of clients with e local steps add at most s²e²G²/K to the squared distance."""
    return stepsize**2 * local_steps**2 * G2 / K


@PAPER.statement(
    "Noise of one step", ClaimType.UPPER, symbol=r"E\|w^{t+1}-\mathbb{E}_k w_k^{t+1}\|^2", units=SQUARED_LENGTH,
    assumes=(Runs("FedGD", local_steps=1), SampledIID(), BoundedGradients()),
    states=lambda right: at_most(NOISE, right),
)  # fmt: skip
def noise_of_one_step(*, stepsize: Real, K: Real, G: Real) -> Any:
    """With gradients of at most G, K independent draws of clients with one local step add at most s²G²/K.

    Use it where a bound of all gradients is known, as for logistic losses without ridge; strongly convex clients have
    none.
    """
    return stepsize**2 * G**2 / K


@PAPER.statement(
    "Heterogeneity, upper bound", ClaimType.TIGHT, symbol=r"\Gamma", units=VALUE, assumes=(StronglyConvex(),),
    states=lambda bound: at_most(value(minimiser) - value(family("v")), bound),
)  # fmt: skip
def gamma_at_most(*, mu: Real, sigma_star2: Real) -> Any:
    """Γ = f(x*) − mean_k min F_k is at most σ*²/(2μ): so is f(x*) − mean_k F_k(v_k) for all points v_k."""
    return sigma_star2 / (2 * mu)


@PAPER.statement(
    "Heterogeneity, lower bound", ClaimType.TIGHT, symbol=r"\mathbb{E}_k F_k(v_k) - f(x^*)", units=VALUE,
    assumes=(Smooth(),),
    states=lambda bound: at_most(
        value(minimiser - gradient(minimiser) / parameter("L")) - value(minimiser), bound
    ),
)  # fmt: skip
def gamma_at_least(*, L: Real, sigma_star2: Real) -> Any:
    """Γ is at least σ*²/(2L): with v_k = x* − ∇F_k(x*)/L, mean_k F_k(v_k) − f(x*) ≤ −σ*²/(2L)."""
    return -sigma_star2 / (2 * L)


@PAPER.statement(
    "Variance at the minimiser", ClaimType.TIGHT, symbol=r"\mathbb{E}_k\|\nabla F_k(x^*)\|^2", units=SQUARED_GRADIENT,
    assumes=(Smooth(), ObjectiveGap()), states=square(gradient(minimiser)),
)  # fmt: skip
def variance_at_minimiser(*, L: Real, Gamma: Real) -> Any:
    """σ*² ≤ 2LΓ: where Γ is known, bounds in σ*² are bounds in Γ."""
    return 2 * L * Gamma


@PAPER.statement(
    "One step from any points", ClaimType.UPPER, symbol=r"\|\bar v-s\mathbb{E}_k\nabla F_k(v_k)-w^*\|^2",
    units=SQUARED_LENGTH,
    assumes=(*STRONGLY, ObjectiveGap(), Condition("stepsize", "<=", lambda L: 1 / (4 * L))),
    states=square(mean(POINTS - parameter("stepsize") * gradient(POINTS)) - minimiser),
)  # fmt: skip
def one_step_gamma(*, stepsize: Real, mu: Real, L: Real, centre_distance: Real, drift: Real, Gamma: Real) -> Any:
    """The mean of a gradient step from any points v_k: (1 − sμ)‖v̄ − w*‖² + 6Ls²Γ + 2·mean‖v_k − v̄‖².

    It is what the paper's Lemma 1 says without the noise of stochastic gradients.
    """
    return (1 - stepsize * mu) * centre_distance + 6 * L * stepsize**2 * Gamma + 2 * drift


@PAPER.statement(
    "Drawn clients", ClaimType.UPPER, symbol=r"E\|w^{t+1}-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(ONE_STEP, SampledIID(), *STRONGLY, ObjectiveGap(), Condition("stepsize", "<=", lambda L: 1 / L)),
    states=expected(square(server(1) - minimiser)),
)  # fmt: skip
def drawn_iid(*, stepsize: Real, mu: Real, L: Real, K: Real, distance: Real, Gamma: Real) -> Any:
    """One local step of K independent draws: (1 − sμ)‖w − w*‖² + 2Ls²Γ/K.

    Use it in the place of `noise_of_one_step`: strongly convex clients have no bounded gradients, but a Γ.
    """
    return (1 - stepsize * mu) * distance + 2 * L * stepsize**2 * Gamma / K


@PAPER.statement(
    "Drawn clients, T rounds", ClaimType.UPPER, symbol=r"E\|w^T-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(ONE_STEP, SampledIID(), *STRONGLY, ObjectiveGap(), Condition("stepsize", "<=", lambda L: 1 / L)),
    states=lambda bound: at_most(after(square(server(0) - minimiser)), bound, rounds="T"),
)  # fmt: skip
def drawn_iid_rate(*, T: Real, stepsize: Real, mu: Real, L: Real, K: Real, D0: Real, Gamma: Real) -> Any:
    """T rounds of K independent draws: (1 − sμ)^T‖w⁰ − w*‖² + (1 − (1 − sμ)^T)·2LsΓ/(μK)."""
    rest = power(1 - stepsize * mu, T)
    return rest * D0 + (1 - rest) * 2 * L * stepsize * Gamma / (mu * K)


@PAPER.statement(
    "Drawn clients, P of m", ClaimType.UPPER, symbol=r"E\|w^{t+1}-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(
        ONE_STEP, *UNIFORM[1:], *STRONGLY, ObjectiveGap(), Condition("stepsize", "<=", lambda L: 1 / L),
    ),
    states=expected(square(server(1) - minimiser)),
)  # fmt: skip
def drawn_uniform(
    *, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, distance: Real, Gamma: Real
) -> Any:
    """One local step of P of m clients: (1 − sμ)‖w − w*‖² + 2Ls²Γ(m − P)/(P(m − 1)); no error with everyone."""
    variance = (num_clients - num_active) / (num_active * (num_clients - 1))
    return (1 - stepsize * mu) * distance + 2 * L * stepsize**2 * Gamma * variance


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
