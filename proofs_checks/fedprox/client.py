"""FedProx, equations (3) to (6): one client's answer, from its inexactness and its subproblem's strong convexity."""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Identity
from fedconvex.proofs_checks.engines.facts import convex, inexact, root_of, triangle
from fedconvex.proofs_checks.engines.hilbert import length, mean, norm, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.notation import (
    L_minus,
    d,
    e,
    g,
    gamma,
    mu,
    mu_bar,
    residuals,
    steps,
    symbolic,
)
from fedconvex.proofs_checks.fedprox.tightness import answer
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

here, there, at_solution = sympy.symbols("F_k(w) F_k(w_k) F_k(ŵ_k)", real=True)
to_solution = vector("ŵ_k−w")  # ŵ_k − w, where ∇F_k(ŵ_k) + μ(ŵ_k − w) = 0
beyond, beyond_length = d - to_solution, length("w_k−ŵ_k")


@proves(fedprox.equation3)
def residuals_are_small(statement: Statement) -> Proof:
    bound = statement(gamma=gamma, client_gradient=norm(g))
    claim = Relation(norm(e), "<=", bound, Domain.of(statement), "equation (3)")
    by = Combination(facts=((1, inexact(e, g, gamma)),), squared=True)
    return Proof((
        Step(r"\|e_k^{t+1}\| \le \gamma\|\nabla F_k(w^t)\|", "e_k is the gradient of the subproblem at the answer, "
             "and at w^t that gradient is ∇F_k(w^t): Definition 1", claim, by, place="(3)"),
    ), tightness=answer(statement, 1, lambda found: abs(found.clients[0][3] * found.gradients[0]),
                        "any client, a residual of full size"))  # fmt: skip


@proves(fedprox.equation4)
def mean_of_the_answers(statement: Statement) -> Proof:
    answers = residuals - mu * steps
    right = symbolic(statement.calculator, mean_new_gradient=mean(answers), mean_residual=mean(residuals))
    return Proof((
        Step(r"\bar w^{t+1}-w^t = -\tfrac1\mu E_k\nabla F_k(w_k^{t+1}) + \tfrac1\mu E_k e_k^{t+1}",
             "the mean of e_k = ∇F_k(w_k) + μ(w_k − w), divided by μ",
             Relation(mean(steps), "=", right), Identity(), place="(4)"),
    ))  # fmt: skip


def answer_near_solution(bound: object, domain: Domain) -> Step:
    """(5): ‖ŵ_k − w_k‖ ≤ `bound`.

    The subproblem's gradient is e_k at w_k and 0 at ŵ_k. F_k's weak convexity at both points gives
    ⟨e_k, w_k − ŵ_k⟩ ≥ μ̄‖w_k − ŵ_k‖²; with ‖e_k − μ̄(w_k − ŵ_k)‖² ≥ 0 this bounds ‖w_k − ŵ_k‖² by ‖e_k‖²/μ̄².
    """
    gradient_there, gradient_at_solution = e - mu * d, -mu * to_solution
    monotone = (
        convex(at_solution, there, gradient_there, -beyond, -L_minus),
        convex(there, at_solution, gradient_at_solution, beyond, -L_minus),
    )
    by = Combination(
        facts=(
            (1 / mu_bar**2, inexact(e, g, gamma)),
            *((2 / mu_bar, fact) for fact in monotone),
            (-1, root_of(beyond_length, square(beyond))),
        ),
        squares=((1 / mu_bar**2, e - mu_bar * beyond),),
        squared=True,
    )
    return Step(r"\|\hat w_k^{t+1}-w_k^{t+1}\| \le \tfrac\gamma{\bar\mu}\|\nabla F_k(w^t)\|",
                "the subproblem is μ̄-strongly convex, with gradients e_k at w_k and 0 at ŵ_k",
                Relation(beyond_length, "<=", bound, domain, "equation (5)"), by, place="(5)")  # fmt: skip


@proves(fedprox.equation5)
def solution_is_near(statement: Statement) -> Proof:
    bound = symbolic(statement.calculator)
    return Proof((answer_near_solution(bound, Domain.of(statement)),), tightness=answer(
        statement, 1, lambda found: abs(found.clients[0][3] * found.gradients[0] / (found.mu - found.L_minus)),
        "x − L₋x²/2: the answer is γ/μ̄ from the solution"))  # fmt: skip


@proves(fedprox.equation6)
def clients_move_little(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    near = answer_near_solution(gamma / mu_bar * norm(g), domain)
    monotone = (
        convex(here, at_solution, -mu * to_solution, -to_solution, -L_minus),
        convex(at_solution, here, g, to_solution, -L_minus),
    )
    exact = Step(r"\|\hat w_k^{t+1}-w^t\| \le \tfrac1{\bar\mu}\|\nabla F_k(w^t)\|",
                 "the same, with gradients ∇F_k(w^t) at w^t and 0 at ŵ_k",
                 Relation(norm(to_solution), "<=", norm(g) / mu_bar, domain, "before equation (6)"),
                 Combination(facts=tuple((2 / mu_bar, fact) for fact in monotone),
                             squares=((1 / mu_bar**2, g + mu_bar * to_solution),), squared=True),
                 place="before (6)")  # fmt: skip
    bound = symbolic(statement.calculator)
    both = Step(r"\|w_k^{t+1}-w^t\| \le \tfrac{1+\gamma}{\bar\mu}\|\nabla F_k(w^t)\|", "the triangle inequality",
                Relation(norm(d), "<=", bound, domain, "equation (6)"),
                Combination(facts=(
                    (1, triangle((norm(d), d), (norm(to_solution), to_solution), (beyond_length, beyond))),
                    (1, near.claim.fact), (1, exact.claim.fact))),
                place="(6)")  # fmt: skip
    return Proof((near, exact, both), tightness=answer(
        statement, -1, lambda found: abs(found.steps[0]), "x − L₋x²/2, with the residual along the step"))  # fmt: skip
