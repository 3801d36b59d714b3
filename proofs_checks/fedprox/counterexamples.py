"""FedProx, Corollary 9: a federation that breaks its claim for one of the draws that are possible in it."""

from fractions import Fraction

from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.methods import FedProx
from fedconvex.participation import Weighted
from fedconvex.problems.quadratics import Quadratic

HALF, SMALL = Fraction(1, 2), Fraction(1, 1000)


def only_the_exact_device_is_drawn() -> ExactFederation:
    """Two devices with F_k(w) = w − w²/2000, of which the second answers exactly; the first one has γ = 1/2.

    A draw of K = 128 devices has the second one only with probability 2^−128. Then γ^t = 0 (`gamma_drawn`), and a
    decrease by about 7/8 is promised; in expectation it is about 3/4.
    """
    numbers: dict[str, int | Fraction] = {
        "mu": 1,
        "L": SMALL,
        "L_minus": SMALL,
        "B": 1,
        "K": 128,
        "gamma": HALF,
        "gamma_drawn": 0,
    }
    problem = Quadratic([[[-SMALL]]] * 2, [[Fraction(-1)]] * 2, [HALF, HALF])
    inexact, exact = (AnswerError(Fraction(size), (Fraction(0),)) for size in (1, 0))
    return ExactFederation(
        problem, FedProx(mu=Fraction(1)), [Fraction(0)], Weighted(128),
        {name: Fraction(x) for name, x in numbers.items()},
        answers="inexact", inexactness=HALF, deviations=((inexact, exact),),
    )  # fmt: skip
