"""FedSplit: exact federations in which the claims of refuted statements are false.

Each is of the statement's setting, and `claim.on(federation)` computes both sides from the rounds that the method's own
code plays.
"""

from collections.abc import Mapping
from fractions import Fraction

from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.problems.quadratics import Quadratic
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

ONE, HALF = Fraction(1), Fraction(1, 2)


def one_client(curvature: int) -> Quadratic:
    """f(x) = (curvature/2)x²."""
    return Quadratic([[[curvature]]], [[0]])


def gradient_step() -> ExactFederation:
    """(17): f(u) = u²/2, s = 1, x = 0, u = 1, α = ½: the gradient step leads to 0, the printed right side is 3/2."""
    return ExactFederation(
        one_client(1), FedSplit(stepsize=ONE), [0], local_solver=GradientDescent(steps=1, stepsize=HALF),
        parameters={"stepsize": ONE, "local_stepsize": HALF, "local_steps": ONE}, free={"u": [[1]]},
    )  # fmt: skip


def two_flat_clients() -> ExactFederation:
    """(19): f_1 = f_2 = 0, x^(1) = 0, λ = 1, y = (1, 0) and z = (0, 0): F_λ is only ½-strongly convex."""
    return ExactFederation(
        Quadratic([[[0]], [[0]]], [[0], [0]]), FedGD(stepsize=ONE), [0],
        parameters={"L": ONE, "regularizer": ONE, "num_clients": Fraction(2)},
        free={"anchor": [0], "z": [[0], [0]], "y": [[1], [0]]},
    )  # fmt: skip


def weak_regularisation(times: int) -> ExactFederation:
    """Theorem 2: f(x) = x²/2 from 1, with λ = 1/(n² − 1), n = 100·times, and 3·times rounds.

    A round contracts by (n − 1)/(n + 1) only, as λ/(L^* + λ) says; the theorem's count knows nothing of λ. The gap is
    above 0.4, where the rounds are `times` the count for ε = 1/9. So no constant is enough, nor is a power of log(1/ε).
    """
    n, rounds = 100 * times, 3 * times
    weight, stepsize = Fraction(1, n**2 - 1), Fraction(n**2 - 1, n)  # 1/√(λ(1 + λ)), a rational number
    given = {"stepsize": stepsize, "regularizer": weight, "L": ONE, "num_clients": ONE, "t": Fraction(rounds)}
    admitted = {"epsilon": Fraction(1, 9), "squared_distance": ONE}  # λ < ε/(m‖x^(1) − x*‖²)
    return ExactFederation(
        one_client(1), RegularizedFedSplit(stepsize=stepsize, regularization=weight), [1],
        parameters=given | admitted, rounds=rounds,
    )  # fmt: skip


def diverging() -> ExactFederation:
    """Corollary 1 and Theorem 1 in one run: f(x) = 9x²/2 from 1, ℓ_* = 1, L^* = 9, one local step, four rounds.

    s = 1/3, α = 3/8, and a round multiplies x by −5/4, as the step αs = 1/8 of the package's solver says.
    """
    given = {"mu": ONE, "kappa": Fraction(9), "local_steps": ONE, "num_clients": ONE, "t": Fraction(4)}
    return ExactFederation(
        one_client(9), FedSplit(stepsize=Fraction(1, 3)), [1], rounds=4, parameters=given,
        local_solver=GradientDescent(steps=1, stepsize=Fraction(1, 8)),
    )  # fmt: skip


def of_statements() -> Mapping[Statement, ExactFederation]:
    """A federation for each refuted statement."""
    return {
        fedsplit.equation17: gradient_step(),
        fedsplit.equation19: two_flat_clients(),
        fedsplit.theorem2: weak_regularisation(100),
    }
