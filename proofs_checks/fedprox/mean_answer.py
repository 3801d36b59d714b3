"""FedProx, equation (8): a bound on the objective at w̄^{t+1}, the mean of all devices' answers."""

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import cauchy_schwarz, root_of, smooth
from fedconvex.proofs_checks.engines.hilbert import inner, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.fedprox.drift import move
from fedconvex.proofs_checks.fedprox.notation import (
    B,
    L,
    L_minus,
    M,
    at_mean,
    gamma,
    gradient,
    gradient_norm,
    gradients,
    mean_step,
    mu,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.step_lengths import mean_length, mean_moves
from fedconvex.proofs_checks.fedprox.tightness import FAR, LARGE, of_mean_answer, one_client
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox


@proves(fedprox.equation8)
def mean_answer_decreases(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    moves = mean_moves(domain)
    right = value + inner(gradients, mean_step) + L / 2 * mean_length**2
    first = Relation(at_mean, "<=", right, domain, "equation (8), first line")
    slope = gradient_norm**2 + inner(gradient, M)
    squared = L * (1 + gamma) ** 2 * B**2 / (2 * (mu - L_minus) ** 2) * gradient_norm**2
    second = Relation(at_mean, "<=", value - slope / mu + squared, domain, "equation (8), second line")
    bound = symbolic(statement.calculator)
    third = Relation(at_mean, "<=", bound, domain, "equation (8)")
    return Proof((
        *moves,
        Step(r"f(\bar w^{t+1}) \le f(w^t)+\langle\nabla f(w^t),\bar w^{t+1}-w^t\rangle"
             r"+\tfrac L2\|\bar w^{t+1}-w^t\|^2", "f, a mean of L-smooth functions, is L-smooth", first,
             Combination(facts=((1, smooth(at_mean, value, gradients, mean_step, L)),
                                (L / 2, root_of(mean_length, square(mean_step))))), place="(8), first line"),
        Step(r"\dots \le f(w^t)-\tfrac1\mu\|\nabla f(w^t)\|^2-\tfrac1\mu\langle\nabla f(w^t),M_{t+1}\rangle"
             r"+\tfrac{L(1+\gamma)^2B^2}{2\bar\mu^2}\|\nabla f(w^t)\|^2",
             "what M is, and the display after (6)", second,
             Combination(facts=((1, first.fact),
                                (L / 2 * (mean_length + B * move * gradient_norm), moves[-1].claim.fact))),
             place="(8), second line"),
        Step(r"\dots \le f(w^t)-\left(\tfrac{1-\gamma B}\mu-\tfrac{LB(1+\gamma)}{\bar\mu\mu}"
             r"-\tfrac{L(1+\gamma)^2B^2}{2\bar\mu^2}\right)\|\nabla f(w^t)\|^2",
             "the Cauchy-Schwarz inequality, and (7)", third,
             Combination(facts=((1, second.fact), (1 / mu, cauchy_schwarz(gradient, M, -1)),
                                (gradient_norm / mu, conclusion(fedprox.equation7).fact))),
             place="(8), third line"),
    ), tightness=Tightness(of_mean_answer(statement, expected=False), one_client(LARGE), FAR, True))  # fmt: skip
