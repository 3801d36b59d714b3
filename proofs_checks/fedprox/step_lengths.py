"""FedProx: bounds on the devices' steps: the display after (6), for the mean step, and (6) squared."""

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import averaged, dissimilar, norm_of_mean
from fedconvex.proofs_checks.engines.hilbert import length, norm, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.drift import mean_norms, move
from fedconvex.proofs_checks.fedprox.notation import (
    B,
    d,
    g,
    gradient_norm,
    gradients,
    mean_gradient_norm,
    mean_step,
    mean_step_norm,
    steps,
    symbolic,
)
from fedconvex.proofs_checks.proof import Relation, Step, conclusion
from fedconvex.theory import fedprox

mean_length = length("w̄−w")  # ‖w̄^{t+1} − w^t‖, by `root_of` the root of square(mean_step)


def mean_moves(domain: Domain) -> tuple[Step, ...]:
    """‖w̄ − w‖ ≤ E_k‖w_k − w‖ ≤ … ≤ (B(1+γ)/μ̄)‖∇f‖, line by line; the last step claims the whole chain."""
    first = Relation(mean_length, "<=", mean_step_norm, domain, "the mean moves no further")
    each = averaged(conclusion(fedprox.equation6).fact, {norm(d): mean_step_norm, norm(g): mean_gradient_norm})
    second = Relation(mean_step_norm, "<=", move * mean_gradient_norm, domain, "(6), averaged")
    norms = mean_norms(domain)
    bound = symbolic(fedprox.mean_step_bound)
    chain = Relation(mean_length, "<=", bound, domain, "the display after (6)")
    return (
        Step(r"\|\bar w^{t+1}-w^t\| \le E_k\|w_k^{t+1}-w^t\|", "the norm is convex", first,
             Combination(facts=((1, norm_of_mean((mean_length, mean_step), (mean_step_norm, steps))),)),
             place="after (6), first inequality"),
        Step(r"\dots \le \tfrac{1+\gamma}{\bar\mu}E_k\|\nabla F_k(w^t)\|", "(6), averaged", second,
             Combination(facts=((1, each),)), place="after (6), second inequality"),
        norms[0],
        norms[1],
        Step(r"\dots \le \tfrac{B(1+\gamma)}{\bar\mu}\|\nabla f(w^t)\|", "all of these", chain,
             Combination(facts=((1, first.fact), (1, second.fact), *((move, s.claim.fact) for s in norms))),
             place="after (6), last inequality"),
    )  # fmt: skip


def squared_moves(domain: Domain) -> tuple[Step, Step]:
    """(6) squared for one device, and its mean over the devices, bounded with the dissimilarity."""
    one = Relation(norm(d) ** 2, "<=", (move * norm(g)) ** 2, domain, "equation (6), squared")
    every = averaged(one.fact, {norm(d) ** 2: square(steps), norm(g) ** 2: square(gradients)})
    moved = Relation(square(steps), "<=", (B * move * gradient_norm) ** 2, domain, "mean squared move")
    return (
        Step(r"\|w_k^{t+1}-w^t\|^2 \le \tfrac{(1+\gamma)^2}{\bar\mu^2}\|\nabla F_k(w^t)\|^2", "(6), squared", one,
             Combination(facts=((norm(d) + move * norm(g), conclusion(fedprox.equation6).fact),))),
        Step(r"E_k\|w_k^{t+1}-w^t\|^2 \le \tfrac{B^2(1+\gamma)^2}{\bar\mu^2}\|\nabla f(w^t)\|^2",
             "averaged, and the dissimilarity", moved,
             Combination(facts=((1, every), (move**2, dissimilar(gradients, B))))),
    )  # fmt: skip
