"""FedProx: a sharper form of Theorem 4 that uses both bounds on the curvature, −L₋ and L (not in the paper).

A client's answer is the exact solution for the tilted function F_k − ⟨e_k, ·⟩, e_k being the residual. This function
has the gradient p = ∇F_k(w^t) − e_k at w^t and v = −μ(w_k − w^t) at w_k. By cocoercivity v lies in the ball that has
the segment from μ/(μ + L)·p to μ/(μ − L₋)·p as a diameter: centre cp (`middle`), radius r‖p‖ (`radius`).
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import (
    averaged,
    cauchy_schwarz,
    convex,
    dissimilar,
    norm_of_mean,
    root_of,
    smooth,
    triangle,
)
from fedconvex.proofs_checks.engines.hilbert import (
    centred,
    deviation,
    drawn,
    inner,
    length,
    mean,
    norm,
    square,
    vector,
)
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.drift import mean_norms
from fedconvex.proofs_checks.fedprox.notation import (
    B,
    K,
    L,
    L_minus,
    after,
    d,
    e,
    g,
    gamma,
    gradient,
    gradient_norm,
    gradients,
    mean_gradient_norm,
    mean_residual_norm,
    mu,
    mu_bar,
    residuals,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.tightness import FAR, decreasing
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

middle = (mu / mu_bar + mu / (mu + L)) / 2
radius = (mu / mu_bar - mu / (mu + L)) / 2
spread = L + L_minus
N = vector("N")  # the mean of the v is middle · ∇f + N
v = middle * gradient + N + centred("v")
p = gradients - residuals
away = length("E(v−cp)")
residual_free = length("p_k")
mean_length_of_residuals = norm(mean(residuals))
before, at_answers, at_low, at_high = sympy.symbols("E_kF_k(w) E_kF_k(w_k) E_kF_k(z) E_kF_k(z')", real=True)


@proves(fedprox.PAPER.find("theorem4bycurvature"))
def by_curvature(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    at_w, at_answer, moved = gradients, residuals + v, -v / mu
    tilted = at_answer - at_w + L_minus * moved  # of F_k + (L₋/2)‖·‖²
    lower, higher = -tilted / spread, tilted / spread
    four = (
        convex(at_low, before, at_w, moved + lower, -L_minus),
        smooth(at_low, at_answers, at_answer, lower, L),
        convex(at_high, at_answers, at_answer, higher - moved, -L_minus),
        smooth(at_high, before, at_w, higher, L),
    )
    cocoercive = Relation(
        square(tilted) / spread, "<=", inner(tilted, moved), domain, "tilted gradients are cocoercive"
    )
    factor = mu**2 * spread / (mu_bar * (mu + L))
    one = Relation(residual_free, "<=", (1 + gamma) * norm(g), domain, "without the residual")
    squared = Relation(residual_free**2, "<=", ((1 + gamma) * norm(g)) ** 2, domain, "without the residual, squared")
    ps = averaged(squared.fact, {residual_free**2: square(p), norm(g) ** 2: square(gradients)})
    far = (1 + gamma) * B * gradient_norm
    long = Relation(square(p), "<=", far**2, domain, "without the residual, in mean square")
    ball = Relation(away, "<=", radius * far, domain, "the mean in the ball")
    small = averaged(
        conclusion(fedprox.equation3).fact, {norm(e): mean_residual_norm, norm(g): mean_gradient_norm}
    )  # fmt: skip
    norms = mean_norms(domain)
    drift = (middle * gamma + radius * (1 + gamma)) * B * gradient_norm
    off = Relation(norm(N), "<=", drift, domain, "how far the mean of the v is from ∇f")
    once = Relation(norm(d) ** 2, "<=", ((1 + gamma) / mu_bar * norm(g)) ** 2, domain, "equation (6), squared")
    steps = averaged(once.fact, {norm(d) ** 2: square(moved), norm(g) ** 2: square(gradients)})
    share = 1 - 1 / K
    bent = 1 / mu - share * L * middle / mu**2
    rho = symbolic(statement.calculator)
    return Proof((
        Step(r"\tfrac1{L+L_{-}}E_k\|\Delta_k\|^2 \le E_k\langle\Delta_k,w_k-w^t\rangle,\quad"
             r" \Delta_k = \nabla F_k(w_k)-\nabla F_k(w^t)+L_{-}(w_k-w^t)",
             "F_k + (L₋/2)‖·‖² is convex and (L + L₋)-smooth", cocoercive,
             Combination(facts=tuple((1, fact) for fact in four))),
        Step(r"\|\nabla F_k(w^t)-e_k\| \le (1+\gamma)\|\nabla F_k(w^t)\|", "the triangle inequality, and (3)", one,
             Combination(facts=((1, triangle((residual_free, g - e), (norm(g), g), (norm(e), -e))),
                                (1, conclusion(fedprox.equation3).fact)))),
        Step(r"\|\nabla F_k(w^t)-e_k\|^2 \le (1+\gamma)^2\|\nabla F_k(w^t)\|^2", "squared", squared,
             Combination(facts=((residual_free + (1 + gamma) * norm(g), one.fact),))),
        Step(r"E_k\|\nabla F_k(w^t)-e_k\|^2 \le (1+\gamma)^2B^2\|\nabla f(w^t)\|^2", "averaged", long,
             Combination(facts=((1, ps), ((1 + gamma) ** 2, dissimilar(gradients, B))))),
        Step(r"\|E_k[v_k-cp_k]\| \le r(1+\gamma)B\|\nabla f(w^t)\|", "the ball, with middle cp and radius r‖p‖", ball,
             Combination(facts=((factor, cocoercive.fact), (radius**2, long.fact),
                                (-1, root_of(away, square(mean(v - middle * p))))),
                         squares=((1, deviation(v - middle * p)),), squared=True)),
        *norms,
        Step(r"\|E_kv_k-c\nabla f(w^t)\| \le (c\gamma+r(1+\gamma))B\|\nabla f(w^t)\|", "the triangle inequality", off,
             Combination(facts=((1, triangle((norm(N), N), (away, mean(v - middle * p)),
                                             (middle * mean_length_of_residuals, -middle * mean(residuals)))),
                                (middle, norm_of_mean((mean_length_of_residuals, mean(residuals)),
                                                      (mean_residual_norm, residuals))), (1, ball.fact),
                                (middle, small), *((middle * gamma, s.claim.fact) for s in norms)))),
        Step(r"\|w_k^{t+1}-w^t\|^2 \le \tfrac{(1+\gamma)^2}{\bar\mu^2}\|\nabla F_k(w^t)\|^2", "(6), squared", once,
             Combination(facts=((norm(d) + (1 + gamma) / mu_bar * norm(g), conclusion(fedprox.equation6).fact),))),
        Step(r"E f(w^{t+1}) \le f(w^t) - \rho\|\nabla f(w^t)\|^2", "the descent lemma at w^t, as by variance",
             Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 4, by curvature"),
             Combination(facts=(
                 (1, smooth(after, value, gradient, drawn(moved, 1 / K), L)),
                 (L / (2 * K), steps),
                 (L / (2 * K) * (1 + gamma) ** 2 / mu_bar**2, dissimilar(gradients, B)),
                 (bent, cauchy_schwarz(gradient, N, -1)),
                 (bent * gradient_norm + share * L / (2 * mu**2) * (norm(N) + drift), off.fact),
             ))),
    ), tightness=decreasing(statement, FAR, mu=1000))  # fmt: skip
