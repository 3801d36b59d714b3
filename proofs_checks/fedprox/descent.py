"""FedProx: Theorem 4 in its sharper form, from one use of the descent lemma at w^t."""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import averaged, cauchy_schwarz, dissimilar, smooth
from fedconvex.proofs_checks.engines.hilbert import deviation, norm, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.setting import (
    B,
    K,
    L,
    L_minus,
    M,
    d,
    g,
    gamma,
    gradient,
    gradient_norm,
    gradients,
    mu,
    mu_bar,
    server_step,
    steps,
    value,
)
from fedconvex.proofs_checks.proof import Claim, Proof, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

after = sympy.Symbol("E f(w⁺)", real=True)


@proves(fedprox.theorem4sharper)
def theorem4_sharper(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    move = (1 + gamma) / mu_bar
    one = Claim(norm(d) ** 2, "<=", (move * norm(g)) ** 2, domain, "equation (6), squared")
    all_ = averaged(one.fact, {norm(d) ** 2: square(steps), norm(g) ** 2: square(gradients)})
    moved = Claim(square(steps), "<=", (B * move * gradient_norm) ** 2, domain, "mean squared move")
    rho = statement.calculator.formula(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)
    decrease = Claim(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 4, sharper")
    return Proof(
        (
            Step(r"\|w_k^{t+1}-w^t\|^2 \le \tfrac{(1+\gamma)^2}{\bar\mu^2}\|\nabla F_k(w^t)\|^2", "(6), squared", one,
                 Combination(facts=((norm(d) + move * norm(g), conclusion(fedprox.equation6).fact),))),
            Step(r"E_k\|w_k^{t+1}-w^t\|^2 \le \tfrac{B^2(1+\gamma)^2}{\bar\mu^2}\|\nabla f(w^t)\|^2",
                 "(6), squared and averaged, and the dissimilarity", moved,
                 Combination(facts=((1, all_), (move**2, dissimilar(gradients, B))))),
            Step(r"E f(w^{t+1}) \le f(w^t) - \rho\|\nabla f(w^t)\|^2",
                 "the descent lemma at w^t; the average over K drawn devices has mean w̄ and is no further from w^t in "
                 "mean square than the devices are", decrease,
                 Combination(facts=(
                     (1, smooth(after, value, gradient, server_step, L)),
                     (L / 2, moved.fact),
                     (1 / mu, cauchy_schwarz(gradient, M, -1)),
                     (gradient_norm / mu, conclusion(fedprox.equation7).fact),
                 ), squares=((L / 2 * (1 - 1 / K), deviation(steps)),))),
        )
    )  # fmt: skip
