"""From one round to T rounds: the symbols of a whole run of FedDyn, and the steps that add one-round inequalities up.

Every theorem adds up an inequality "potential after ≤ potential before − progress" over the rounds t = 1, …, T, where
the potential is a distance or a value plus κ times a squared error. The sum of the potentials telescopes; what is left
of it at T is not negative and is dropped.

| here | paper |
|---|---|
| `D0`, `G`, `delta`, `spread`, `B0` | ‖θ⁰ − θ_*‖², (1/m)Σ‖∇L_k(θ_*)‖², ℓ(θ⁰) − ℓ_*, (1/m)Σ‖θ_k⁰ − θ⁰‖², B_0 |
| `weighted_gaps` | Σ_t r^{t−1}E[ℓ(γ^{t−1}) − ℓ(θ_*)]; r = 1 for convex devices |
| `slopes` | Σ_t E‖∇ℓ(γ^{t−1})‖² |
| `at_mean` | Eℓ at the (weighted) mean of the γ^{t−1} |
| `R`, `last` | Σ_t r^{t−1}, r^{T−1} |
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Agreement, Combination, Inequality
from fedconvex.proofs_checks.engines.facts import Fact, convex, minimal, named, over_rounds
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, centred, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.exact_runs import errors_of_the_start
from fedconvex.proofs_checks.feddyn.expectations import C_meant, distance, distance_next, gap
from fedconvex.proofs_checks.feddyn.notation import SYMBOLS, least, loss, loss_next
from fedconvex.proofs_checks.proof import Relation, Step

Facts = tuple[tuple[Any, Fact], ...]
Squares = tuple[tuple[Any, HilbertVector], ...]
Pair = tuple[Any, Any]

D0, G, delta, spread, B0 = (SYMBOLS[name] for name in ("D0", "G", "delta", "spread", "B0"))
gradient_square = SYMBOLS["gradient_square"]
weighted_gaps = sympy.Symbol("Σ_t r^(t−1) E[ℓ(γ^(t−1))−ℓ(θ*)]", real=True)
slopes = sympy.Symbol("Σ_t E‖∇ℓ(γ^{t-1})‖²", nonnegative=True)
at_mean = sympy.Symbol("Eℓ(mean γ)", real=True)
at_random = sympy.Symbol("E‖∇ℓ(γ_T)‖²", nonnegative=True)  # γ_T is one of γ⁰, …, γ^{T−1}, drawn uniformly
R, last = sympy.symbols("R r^(T−1)", positive=True)
loss_first, loss_last = sympy.symbols("Eℓ(γ^0) Eℓ(γ^T)", real=True)


def gaps_summed(one: Relation, errors: Pair, at_end: Pair, growth: Any = 1, power: Any = 1) -> Fact:
    """A one-round inequality for the gap, times growth^(t−1), summed over the rounds; `power` is growth^T.

    The potential is the squared distance, plus a multiple of the squared error that is errors[0] before the round and
    errors[1] after it, and G at the start. `at_end` are distance and error after T rounds.
    """
    states = {(distance, distance_next): (D0, at_end[0]), errors: (G, at_end[1])}
    return over_rounds(one.fact, states, {gap: weighted_gaps}, growth, power)


def slopes_summed(one: Fact, errors: Pair, start_and_end: Pair) -> Fact:
    """A one-round inequality for the squared gradient, summed over the rounds; the potential contains the value ℓ."""
    states = {(loss, loss_next): (loss_first, loss_last), errors: start_and_end}
    return over_rounds(one, states, {gradient_square: slopes})


def end_of_slopes(
    value: Any, error: Any, meaning: tuple[Any, HilbertVector], lowest: Any, start: Facts = ()
) -> tuple[Facts, Squares]:
    """The facts and squares that drop value·ℓ(γ^T) + error·(squared error at T) from the telescoped sum.

    `meaning` is the symbol of that error and the vector whose squared norm it is; `lowest` is the smallest value of ℓ;
    `start` are facts about the error at the start.
    """
    symbol, errors = meaning
    facts = (
        (value, minimal(loss_last, lowest)), (-value, named(delta, loss_first - lowest)), *start,
        (-error, named(symbol, square(errors))),
    )  # fmt: skip
    return facts, ((error, errors),)


def start() -> Step:
    """The state before the first round, compared with the running code."""
    return Step(r"\gamma^0=\theta^0,\quad C_0=\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2",
                "h⁰ = 0 and ∇L_k(θ_k⁰) = 0: the running code starts so",
                Relation(C_meant, "=", G, name="C_0"), Agreement(errors_of_the_start))  # fmt: skip


def jensen(weights: Any, domain: Domain, shown: str, place: str) -> Step:
    """The gap at the weighted mean of the γ^{t−1} is at most the weighted mean of the gaps; `weights` is their sum.

    The rounds, with weights r^{t−1}/R, take the place of the clients in `engines.hilbert`: the γ^{t−1} are a family
    whose mean is the point, and so their deviations from it are a family with mean 0.
    """
    tangent = convex(weighted_gaps / weights + least, at_mean, vector("∇ℓ(mean γ)"), centred("γ^(t−1)"))
    return Step(shown, "Jensen: ℓ is convex, and lies above its tangent at the mean",
                Relation(at_mean - least, "<=", weighted_gaps / weights, domain, "Jensen"),
                Combination(facts=((1, tangent),)), place=place)  # fmt: skip


def sum_of_powers(r: Any, domain: Domain) -> tuple[Step, ...]:
    """R(r − 1) = r^T − 1, by adding up r·r^(t−1) − r^(t−1) = (r − 1)r^(t−1).

    `over_rounds` needs symbols for what it sums. The three symbols here stand for the number 1 in round t.
    """
    now, then, weight = sympy.symbols("1_(t−1) 1_t 1", positive=True)
    one = Relation(r * then - now, "=", (r - 1) * weight, domain, "a round's part")
    added = over_rounds(one.fact, {(now, then): (sympy.Integer(1), sympy.Integer(1))}, {weight: R}, r, r * last)
    return (
        Step(r"r\cdot1-1 = (r-1)\cdot1", "which is to be summed with the weights r^{t−1}", one,
             Combination(facts=((r, named(then, 1)), (-1, named(now, 1)), (-(r - 1), named(weight, 1))))),
        Step(r"\tfrac1R = \tfrac{r-1}{r^T-1}", "the sum telescopes",
             Relation((r - 1) * R, "=", r * last - 1, domain, "the sum of powers"),
             Combination(facts=((-1, added),)), place="after Lemma 8, fifth line"),
    )  # fmt: skip


def inverse_of_sum(r: Any, sum_of_powers: Relation, domain: Domain, because: str, place: str = "") -> tuple[Step, Step]:
    """1/R ≤ 1/r^{T−1}, from (r − 1)R = r^T − 1 and r^{T−1} ≥ 1."""
    at_least_one = Relation(1, "<=", last, domain, "r^(T−1)")
    inverse = Relation(1 / R, "<=", 1 / last, domain, "1/R")
    weight = 1 / ((r - 1) * R * last)
    return (
        Step(r"r^{T-1} \ge 1", "r > 1", at_least_one, Inequality()),
        Step(r"\tfrac1R \le \tfrac1{r^{T-1}}", because, inverse,
             Combination(facts=((-weight, sum_of_powers.fact), (weight, at_least_one.fact))), place=place),
    )  # fmt: skip


def random_index(domain: Domain, theorem: str) -> Step:
    """E‖∇ℓ(γ_T)‖² is the mean over the rounds, where γ_T is one of γ⁰, …, γ^{T−1}, drawn uniformly."""
    T = SYMBOLS["T"]
    return Step(r"E\|\nabla\ell(\gamma_T)\|^2 = \tfrac1T\sum_{t=1}^TE\|\nabla\ell(\gamma^{t-1})\|^2",
                "γ_T is each of γ⁰, …, γ^{T−1} with equal probability",
                Relation(at_random, "=", slopes / T, domain, "the random index"),
                Combination(facts=((1, named(at_random, slopes / T)),)), place=theorem)  # fmt: skip
