"""FedProx: sharper forms of Theorem 4, by the variance of the draw and for convex clients (not in the paper).

The server's step has the mean w̄ − w^t, and E‖w^{t+1} − w^t‖² = (1 − 1/K)‖w̄ − w^t‖² + (1/K)E_k‖w_k − w^t‖²: only the
second term, which has the factor 1/K, grows with the dissimilarity. The mean step is −(1/μ)(∇f + M) with M as in (7).
For convex clients solved exactly it is −(1/μ) times the mean of the ∇F_k(w_k) (`at_answer`); each of these lies in the
ball that has the segment from μ/(μ + L)·∇F_k(w^t) to ∇F_k(w^t) as a diameter.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import cauchy_schwarz, convex, dissimilar, smooth
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, deviation, drawn, family, inner, mean, norm, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.extremal_clients import attained_by_everyone
from fedconvex.proofs_checks.fedprox.notation import (
    B,
    K,
    L,
    M,
    after,
    gamma,
    gradient,
    gradient_norm,
    gradients,
    mu,
    mu_bar,
    server_step,
    steps,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.step_lengths import squared_moves
from fedconvex.proofs_checks.fedprox.tightness import FAR, decreasing
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

DECREASE = r"E f(w^{t+1}) \le f(w^t) - \rho\|\nabla f(w^t)\|^2"


@proves(fedprox.PAPER.find("theorem4byvariance"))
def by_variance(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    one, moved = squared_moves(domain)
    share = 1 - 1 / K
    rho = symbolic(statement.calculator)
    drift = (L * (1 + gamma) / mu_bar + gamma) * B * gradient_norm
    length = value - gradient_norm**2 / mu - inner(gradient, M) / mu + L / 2 * share * square(gradient + M) / mu**2
    split = Relation(after, "<=", length + L / (2 * K) * square(steps), domain, "the descent lemma, split")
    bent = 1 / mu - share * L / mu**2  # minus the derivative of the bound with respect to ⟨∇f, M⟩; ≥ 0 for μ ≥ L
    return Proof((
        one,
        moved,
        Step(r"E f(w^{t+1}) \le f(w^t)-\tfrac1\mu\langle\nabla f,\nabla f+M\rangle"
             r"+\tfrac L2(1-\tfrac1K)\tfrac1{\mu^2}\|\nabla f+M\|^2+\tfrac L{2K}E_k\|w_k^{t+1}-w^t\|^2",
             "the descent lemma at w^t, and the variance of the average over K drawn devices", split,
             Combination(facts=((1, smooth(after, value, gradient, server_step, L)),))),
        Step(DECREASE, "‖M‖ is bounded by (7), and the decrease is least where M points against ∇f",
             Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 4, by variance"),
             Combination(facts=(
                 (1, split.fact),
                 (L / (2 * K), moved.claim.fact),
                 (bent, cauchy_schwarz(gradient, M, -1)),
                 (bent * gradient_norm + share * L / (2 * mu**2) * (norm(M) + drift),
                  conclusion(fedprox.equation7).fact),
             ))),
    ), tightness=decreasing(statement, FAR))  # fmt: skip


at_answer = family("∇F(w_k)")
before, at_answers, at_low, at_high = sympy.symbols("E_kF_k(w) E_kF_k(w_k) E_kF_k(z) E_kF_k(z')", real=True)
middle = (2 * mu + L) / (2 * (mu + L))
radius = L / (2 * (mu + L))
apart = at_answer - middle * gradients


def answers_of_convex_clients(domain: Domain) -> tuple[Step, Step, Step]:
    """The ball in which the gradients at exact answers lie, in mean square over the clients, in three steps."""
    # Exact answers: ∇F_k(w_k) = −μ(w_k − w^t).
    difference, moved = at_answer - gradients, -at_answer / mu  # w_k − w^t
    lower, higher = -difference / L, difference / L  # z from w_k, z' from w^t
    four = (
        convex(at_low, before, gradients, moved + lower),
        smooth(at_low, at_answers, at_answer, lower, L),
        convex(at_high, at_answers, at_answer, higher - moved),
        smooth(at_high, before, gradients, higher, L),
    )
    cocoercive = Relation(
        square(difference) / L, "<=", -inner(at_answer - gradients, at_answer) / mu, domain, "gradients are cocoercive"
    )
    ball = Relation(square(apart), "<=", (radius * B * gradient_norm) ** 2, domain, "gradients at the answers")
    short = Relation(
        square(at_answer), "<=", (B * gradient_norm) ** 2, domain, "gradients at the answers are no longer"
    )
    alike = dissimilar(gradients, B)
    return (
        Step(r"\tfrac1L E_k\|\nabla F_k(w_k)-\nabla F_k(w^t)\|^2"
             r" \le E_k\langle\nabla F_k(w_k)-\nabla F_k(w^t),w_k-w^t\rangle",
             "convexity and the descent lemma at w_k − (1/L)(∇F_k(w_k) − ∇F_k(w^t)), and with w_k and w^t exchanged",
             cocoercive, Combination(facts=tuple((1, fact) for fact in four))),
        Step(r"E_k\|\nabla F_k(w_k)-\tfrac{2\mu+L}{2(\mu+L)}\nabla F_k(w^t)\|^2"
             r" \le \left(\tfrac{LB}{2(\mu+L)}\right)^2\|\nabla f(w^t)\|^2", "this with w_k − w^t = −∇F_k(w_k)/μ", ball,
             Combination(facts=((L * mu / (mu + L), cocoercive.fact), (radius**2, alike)))),
        Step(r"E_k\|\nabla F_k(w_k)\|^2 \le B^2\|\nabla f(w^t)\|^2", "the same", short,
             Combination(facts=((2 * mu, cocoercive.fact), (1, alike)), squares=((2 * mu / L + 1, difference),))),
    )  # fmt: skip


def decrease_of_convex_clients(rho: Any, drawn_share: Any, step: HilbertVector, domain: Domain, name: str) -> Step:
    """The descent lemma with the smallest mean of the gradients at the answers that the ball allows.

    `drawn_share` is 1/K, or 0 where every device takes part.
    """
    _, ball, short = (s.claim.fact for s in answers_of_convex_clients(domain))
    # 2 · flat · far is the derivative of the bound along ∇f at the centre of the ball.
    far = radius * B
    flat = (1 / mu - (1 - drawn_share) * L * middle / mu**2) / (2 * far)
    return Step(DECREASE, "the descent lemma; the mean of the ∇F_k(w_k) is least along ∇f", Relation(
                    after, "<=", value - rho * gradient_norm**2, domain, name),
                Combination(facts=(
                    (1, smooth(after, value, gradient, step, L)),
                    (flat + (1 - drawn_share) * L / (2 * mu**2), ball),
                    (drawn_share * L / (2 * mu**2), short),
                ), squares=(
                    (flat + (1 - drawn_share) * L / (2 * mu**2), deviation(apart)),
                    (flat, mean(apart) + far * gradient),
                )))  # fmt: skip


@proves(fedprox.PAPER.find("theorem4convex"))
def convex_clients(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    rho = symbolic(statement.calculator)
    step = drawn(-at_answer / mu, 1 / K)
    exact = symbolic(fedprox.rho_sharp.calculator, L_minus=sympy.Integer(0), gamma=sympy.Integer(0))
    return Proof((
        *answers_of_convex_clients(domain),
        Step(r"\rho \ge \tfrac1\mu-\tfrac{LB}{\mu^2}-\tfrac{LB^2}{2\mu^2}", "it is more than the sharper Theorem 4 has",
             Relation(exact, "<=", rho, domain), Inequality()),
        decrease_of_convex_clients(rho, 1 / K, step, domain, "Theorem 4, convex"),
    ), tightness=decreasing(statement, "x²/2 + x from 0: the quotient tends to 1 as K → ∞, for every μ",
                            mu=2))  # fmt: skip


@proves(fedprox.PAPER.find("theorem4convexeveryone"))
def convex_clients_everyone(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    rho = symbolic(statement.calculator)
    step, none = -mean(at_answer) / mu, sympy.Integer(0)
    return Proof((
        *answers_of_convex_clients(domain),
        decrease_of_convex_clients(rho, none, step, domain, "Theorem 4, convex, everyone"),
    ), tightness=attained_by_everyone(statement))  # fmt: skip
