"""Checks of the FedProx paper's sentences on the sampling of devices: distinct devices and weights that are unequal."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.terms import answers, drawn, expected, mean, parameter, square
from fedconvex.methods.fedprox import FedProx
from fedconvex.participation import Schedule
from fedconvex.proofs_checks.kernel.proofs import Hypothesis
from fedconvex.proofs_checks.library import Parts, by, lemma, squared
from fedconvex.proofs_checks.sentences.findings import Comparison, Evidence, Proves, SentenceVerdict, decides
from fedconvex.proofs_checks.sentences.instances import line, run
from fedconvex.theory import fedprox

SHOWN, REFUTED = SentenceVerdict.SHOWN, SentenceVerdict.REFUTED
Sets = dict[frozenset[int], Fraction]


def drawn_in_turn(p: tuple[Fraction, ...], K: int) -> Sets:
    """The sets of K distinct devices, drawn one after another from those that are left, with their probabilities."""
    found: Sets = {frozenset(): Fraction(1)}
    for _ in range(K):
        longer: Sets = {}
        for chosen, probability in found.items():
            left = 1 - sum(p[k] for k in chosen)
            for k in set(range(len(p))) - chosen:
                longer[chosen | {k}] = longer.get(chosen | {k}, Fraction(0)) + probability * p[k] / left
        found = longer
    return found


def independent(K: str = "K") -> ClaimSetting:
    """FedProx with K independent draws."""
    return ClaimSetting(
        method="FedProx", method_parameters={"mu": parameter("mu")}, draws=DrawScheme("independent", parameter(K)),
        signs={"mu": "positive", K: "positive"}, counts=frozenset({K}),
    )  # fmt: skip


@decides("fedprox.chosen_with_probability", REFUTED, K=1)
def chosen_with_probability(K: int = 2) -> Iterator[Evidence]:
    p = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    yield Comparison("the mean size Σp_k of such a set, and K", sum(p), "<", K)
    answer = (1, 10, 100)
    pairs = sum(Fraction(answer[a] + answer[b], 2) for a, b in ((0, 1), (0, 2))) / 2
    yield Comparison("the mean if device k is in the set with probability 2p_k, and Σp_k w_k", pairs, "=",
                   sum(q * w for q, w in zip(p, answer, strict=True)))  # fmt: skip
    claim = equal(expected(drawn(answers)), mean(answers))
    yield Proves("the mean of K independent draws", lemma(independent(), claim, Parts()))


@decides("fedprox.distinct_devices", REFUTED, heavy=Fraction(1, 9))
def distinct_devices(heavy: Fraction = Fraction(9, 10), K: int = 8) -> Iterator[Evidence]:
    """Nine devices ½x² − c_k x with c = (1, −1/6, …, −1/6), of which the first has most of the data; w^t = 0."""
    mu, L, B = Fraction(100), 1, Fraction(11, 10)
    p = (heavy, *[(1 - heavy) / 8] * 8)
    c = (Fraction(1), *[Fraction(-1, 6)] * 8)
    problem = line([1] * 9, c, weights=p)
    slope = -sum(q * x for q, x in zip(p, c, strict=True))
    rho = fedprox.rho(mu=mu, L=L, L_minus=0, B=B, gamma=0, K=K)
    yield Comparison("Theorem 4's ρ", rho, ">", 0)
    yield Comparison(
        "E_k‖∇F_k‖² and B²‖∇f‖²", sum(q * x * x for q, x in zip(p, c, strict=True)), "<=", (B * slope) ** 2
    )
    answer = [run(FedProx(mu=mu), line((1,), (x,)), 1).points[1][0] for x in c]
    sets = drawn_in_turn(p, K)
    yield Comparison("the probabilities add up to", sum(sets.values()), "=", 1)
    share = sum(q for chosen, q in sets.items() if 0 in chosen) / K
    yield Comparison("the first device's mean share in the average π_1/K, and p_1", share, "!=", heavy)

    def value(chosen: frozenset[int]) -> Any:
        return problem.value([sum(answer[k] for k in chosen) / K])

    promised = -rho * slope**2
    yield Comparison("E f(w^{t+1}) − f(w^t), and −ρ‖∇f‖²", sum(q * value(s) for s, q in sets.items()), ">", promised)
    average = sum(q * x for q, x in zip(p, answer, strict=True))
    spread = sum(q * x * x for q, x in zip(p, answer, strict=True)) - average**2
    yield Comparison("with independent draws", problem.value([average]) + spread / (2 * K), "<=", promised)


@decides("fedprox.chosen_randomly", REFUTED, sets=((0, 2), (1, 3)))
def chosen_randomly(sets: tuple[tuple[int, int], ...] = ((0, 1), (2, 3))) -> Iterator[Evidence]:
    """Four devices at 1, 1, −1, −1, and two sets of two that are equally likely: every device has probability ½."""
    points = (1, 1, -1, -1)
    deviation = sum(Fraction(points[a] + points[b], 2) ** 2 for a, b in sets) / 2
    yield Comparison("the mean square deviation, and 1/K of the devices' own", deviation, ">", Fraction(1, 2))
    m, P = parameter("num_clients"), parameter("K")
    uniform = ClaimSetting(
        method="FedProx", method_parameters={"mu": parameter("mu")}, draws=DrawScheme("uniform", P, m),
        signs=dict.fromkeys(("mu", "num_clients", "K"), "positive"), counts=frozenset({"num_clients", "K"}),
        conditions=((m, ">=", P),),
    )  # fmt: skip
    apart = answers - mean(answers)
    claim = at_most(expected(square(drawn(answers) - mean(answers))), square(apart) / P)
    yield Proves("independent draws", lemma(independent(), claim, Parts()))
    sigma = parameter("σ")  # (m − K)/(K(m − 1)), so that 1/K − σ = (1 − σ)/m
    parts = -square(apart) / (P * m) * by(Hypothesis("scale")) + (1 - sigma) / m * squared(apart)
    yield Proves("equally likely sets", lemma(uniform, claim, parts))


@decides("fedprox.unsupported_scheme", SHOWN, linear=(1, 1, 1))
def unsupported_scheme(linear: tuple[int, ...] = (1, 2, 4)) -> Iterator[Evidence]:
    p = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    problem, method = line((1, 1, 1), linear, weights=p), FedProx(mu=1)
    ends = [run(method, problem, 1, participation=Schedule([list(s)])).points[1][0] for s in combinations(range(3), 2)]
    everyone = run(method, problem, 1).points[1][0]
    yield Comparison("E w^{t+1} over sets of two of three devices, and Σp_k w_k", sum(ends) / 3, "!=", everyone)
