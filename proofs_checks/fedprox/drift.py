"""FedProx, equation (7): a bound on M, the difference of −μ times the mean step and ∇f(w^t)."""

from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.facts import (
    averaged,
    dissimilar,
    jensen,
    lipschitz,
    norm_of_mean,
    root_of,
)
from fedconvex.proofs_checks.engines.hilbert import length, mean, norm, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.witnesses import Witness
from fedconvex.proofs_checks.fedprox.notation import (
    B,
    L,
    M,
    d,
    e,
    g,
    gamma,
    gradient_norm,
    gradients,
    mean_gradient_norm,
    mean_residual_norm,
    mean_step_norm,
    mu,
    mu_bar,
    residuals,
    root_mean_square,
    steps,
    symbolic,
)
from fedconvex.proofs_checks.fedprox.tightness import answer
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

move = (1 + gamma) / mu_bar  # by (6), a device moves at most this times ‖∇F_k(w^t)‖
change = vector("∇F_k(w_k)−∇F_k(w)")
mean_change_norm = length("E_k‖∇F_k(w_k)−∇F_k(w)‖")


def mean_norms(domain: Domain) -> tuple[Step, ...]:
    """E_k‖∇F_k‖ ≤ √E_k‖∇F_k‖² ≤ B‖∇f‖: two steps that several proofs share."""
    return (
        Step(r"E_k\|\nabla F_k(w^t)\| \le \sqrt{E_k\|\nabla F_k(w^t)\|^2}", "Jensen's inequality",
             Relation(mean_gradient_norm, "<=", root_mean_square, domain, "Jensen"),
             Combination(facts=((1, jensen((root_mean_square, gradients), mean_gradient_norm)),)), place="after (6)"),
        Step(r"\sqrt{E_k\|\nabla F_k(w^t)\|^2} \le B\|\nabla f(w^t)\|", "the dissimilarity",
             Relation(root_mean_square, "<=", B * gradient_norm, domain, "root mean square"),
             Combination(facts=((1, dissimilar(gradients, B)), (-1, root_of(root_mean_square, square(gradients)))),
                         squared=True),
             place="after (6)"),
    )  # fmt: skip


AT_REST = Witness(
    "a fixed point, where w_k^{t+1} = w_k^t, of two clients that take part in each round, γ = 0",
    """
from fractions import Fraction
mu, curvatures, minima = 1, (1, 3), (1, 0)  # F_k(w) = ½h_k(w − minima[k])², so L = 3
w = Fraction(2, 5)
after = [(h * a + mu * w) / (h + mu) for h, a in zip(curvatures, minima)]
left = abs(sum(h * (u - w) for h, u in zip(curvatures, after)) / 2)  # ‖M‖ = |E_k[∇F_k(w_k^{t+1}) − ∇F_k(w^t)]|
right = 3 * abs(w - sum(after) / 2)  # L E_k‖w_k^{t+1} − w_k^t‖ = 0, as the next round begins at the same w
""",
)


@proves(fedprox.equation7)
def drift_is_small(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    answers = residuals - mu * steps  # the ∇F_k(w_k)
    # `lipschitz` is about squares; the mean over the clients below needs the norms themselves.
    lipschitz_here = Relation(norm(change), "<=", L * norm(d), domain, "the gradients change little")
    inexact_here = conclusion(fedprox.equation3)
    first = Relation(norm(M), "<=", L * mean_step_norm + mean_residual_norm, domain, "equation (7), first line")
    moved = averaged(conclusion(fedprox.equation6).fact, {norm(d): mean_step_norm, norm(g): mean_gradient_norm})
    small = averaged(inexact_here.fact, {norm(e): mean_residual_norm, norm(g): mean_gradient_norm})
    changed = averaged(lipschitz_here.fact, {norm(change): mean_change_norm, norm(d): mean_step_norm})
    second = Relation(norm(M), "<=", (L * move + gamma) * mean_gradient_norm, domain, "equation (7), second line")
    bound = symbolic(statement.calculator)
    norms = mean_norms(domain)
    return Proof((
        Step(r"\|\nabla F_k(w_k^{t+1})-\nabla F_k(w^t)\| \le L\|w_k^{t+1}-w^t\|", "F_k is L-smooth", lipschitz_here,
             Combination(facts=((1, lipschitz(change, d, L)),), squared=True)),
        Step(r"M_{t+1} = E_k[\nabla F_k(w_k^{t+1})-\nabla F_k(w^t)-e_k^{t+1}]",
             "from w̄ − w^t = −(1/μ)(∇f(w^t) + M), as e_k = ∇F_k(w_k) + μ(w_k − w^t)",
             Relation(M, "=", mean(answers - gradients - residuals), name="what M is"), Identity(), place="before (7)"),
        Step(r"\|M_{t+1}\| \le E_k[L\|w_k^{t+1}-w^t\| + \|e_k^{t+1}\|]",
             "M is the mean of ∇F_k(w_k) − ∇F_k(w) − e_k (the paper prints w_k^t for w^t here)", first,
             Combination(facts=((1, norm_of_mean(
                 (norm(M), M), (mean_change_norm, answers - gradients), (mean_residual_norm, -residuals))),
                                (1, changed))),
             place="(7), first line"),
        Step(r"\dots \le \left(\tfrac{L(1+\gamma)}{\bar\mu}+\gamma\right)E_k\|\nabla F_k(w^t)\|",
             "(6) and (3), averaged", second,
             Combination(facts=((1, first.fact), (L, moved), (1, small))), place="(7), second line"),
        *norms,
        Step(r"\|M_{t+1}\| \le \left(\tfrac{L(1+\gamma)}{\bar\mu}+\gamma\right)B\|\nabla f(w^t)\|",
             "the dissimilarity", Relation(norm(M), "<=", bound, domain, "equation (7)"),
             Combination(facts=((1, second.fact), *((L * move + gamma, step.claim.fact) for step in norms))),
             place="(7)"),
    ), notes="The paper prints w_k^t for w^t in the first line.", reading=Reading(
        "false: w_k^t is printed for w^t", "with w^t for w_k^t in the first line", AT_REST), tightness=answer(
        statement, -1, lambda found: abs(found.mean(h * d - r * a for d, (_, h, a, r) in zip(
            found.steps, found.clients, strict=True))),
        "x − Lx²/2 with L₋ = L, the residual along the step"))  # fmt: skip
