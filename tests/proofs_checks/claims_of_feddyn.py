"""FedDyn's convex lemmas with a changed constant or sign: claims that are false."""

from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, answers, expected, minimiser, parameter, shared, square
from fedconvex.theory.feddyn import convex
from fedconvex.theory.feddyn import vectors as v

F = Fraction
alpha, L, mu, m, P = (parameter(name) for name in ("alpha", "L", "mu", "num_clients", "num_active"))
part = P / m
h_square = expected(square(shared("h", 1)))
apart = expected(square(answers - minimiser))
c1 = convex.convex_constants.formula(alpha=alpha, L=L, num_clients=m, num_active=P)
c8 = convex.strongly_convex_constants.formula(alpha=alpha, L=L, mu=mu, num_clients=m, num_active=P)


def lemma1(before: Any = 1, gap: Any = c1.kappa0) -> Claim:
    return at_most(v.distance_after + c1.kappa * v.C_after, v.distance + before * c1.kappa * v.C_before - gap * v.gap)


def lemma4(C: Any = 8, gap: Any = 8, left: Any = 4) -> Claim:
    return at_most((1 - left * L**2 / alpha**2) * v.epsilon, C / alpha**2 * v.C_before + gap * L / alpha**2 * v.gap)


def lemma5(C: Any = 1, epsilon: Any = 2, gap: Any = 4) -> Claim:
    right = C * (1 - part) * v.C_before + epsilon * L**2 * part * v.epsilon + gap * L * part * v.gap
    return at_most(v.C_after, right)


def lemma8(r: Any = c8.r, gap: Any = c8.kappa0) -> Claim:
    left = r * (v.distance_after + c8.kappa * v.C_after)
    return at_most(left, v.distance + c8.kappa * v.C_before - gap * v.gap)


def one_round(gap: Any = -2, epsilon: Any = 1, move: Any = 1) -> Number:
    right: Number = v.distance + gap / alpha * v.gap + epsilon * L / alpha * v.epsilon + move * v.move
    return right


NAMES = (
    "lemma1", "lemma3", "lemma4", "lemma5", "lemma7", "lemma8", "lemma9", "equation10", "equation12", "equation13",
)  # fmt: skip
FALSE = {
    "lemma1, gap": lemma1(gap=5 / alpha), "lemma1, memories": lemma1(before=F(1, 2)), "lemma1, sign": lemma1(before=-1),
    "lemma3, factor": at_most(v.move, F(99, 100) * v.epsilon), "lemma3, sign": at_most(v.move, -v.epsilon),
    "lemma4, memories": lemma4(C=1), "lemma4, left": lemma4(left=-4, C=2), "lemma4, gap": lemma4(C=F(1, 2), gap=1),
    "lemma5, memories": lemma5(C=F(9, 10)), "lemma5, gap": lemma5(gap=0, epsilon=F(9, 5)),
    "lemma5, sign": lemma5(epsilon=-2),
    "lemma7, factor": at_most(h_square, F(99, 100) * v.C_after),
    "lemma8, rate": lemma8(r=1 + 8 * mu / alpha), "lemma8, gap": lemma8(gap=2 * c8.kappa0),
    "lemma9, factor": at_most(-apart, F(-101, 100) * v.distance_after),
    "lemma9, sign": at_most(apart, v.distance_after),
    "equation10, gap": at_most(v.distance_after, one_round(gap=F(-21, 10))),
    "equation10, answers": at_most(v.distance_after, one_round(epsilon=F(4, 10))),
    "equation10, move": at_most(v.distance_after, one_round(move=F(1, 2))),
    "equation12, rate": at_most(v.distance_after, one_round() - F(11, 10) * mu / alpha * v.distance_after),
    "equation13, rate": at_most((1 + F(11, 10) * mu / alpha) * v.distance_after, one_round()),
}  # fmt: skip
