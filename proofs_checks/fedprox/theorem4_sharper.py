"""FedProx: a sharper form of Theorem 4, from one use of the descent lemma at w^t.

The paper bounds f(w^{t+1}) − f(w̄^{t+1}) by a local Lipschitz constant, which costs the two terms with K.
"""

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import cauchy_schwarz, smooth
from fedconvex.proofs_checks.engines.hilbert import deviation
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.notation import (
    K,
    L,
    M,
    after,
    gradient,
    gradient_norm,
    mu,
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


@proves(fedprox.theorem4sharper)
def theorem4_sharper(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    one, moved = squared_moves(domain)
    rho = symbolic(statement.calculator)
    decrease = Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 4, sharper")
    return Proof((
        one,
        moved,
        Step(r"E f(w^{t+1}) \le f(w^t) - \rho\|\nabla f(w^t)\|^2",
             "the descent lemma at w^t; the average over K drawn devices has mean w̄ and is no further from w^t in "
             "mean square than the devices are", decrease,
             Combination(facts=(
                 (1, smooth(after, value, gradient, server_step, L)),
                 (L / 2, moved.claim.fact),
                 (1 / mu, cauchy_schwarz(gradient, M, -1)),
                 (gradient_norm / mu, conclusion(fedprox.equation7).fact),
             ), squares=((L / 2 * (1 - 1 / K), deviation(steps)),))),
    ), tightness=decreasing(statement, FAR))  # fmt: skip
