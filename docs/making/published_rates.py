"""What was known of each rate: the source, its bound, and by what factor the proved one is smaller at given numbers.

A comparison is of the two bounds' values, or of the numbers of rounds that two linear rates of squared errors need.
Published bounds are written here once more, from their sources; where the catalogue has them, its calculator is called.

Sources: Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik: SGD: general analysis and improved rates (ICML 2019).
Khaled, Jin: Faster federated optimization under second-order similarity (ICLR 2023). Zhang, Hong, Dhople, Yin, Liu:
FedPD (2020). Pathak, Wainwright: FedSplit (NeurIPS 2020). Acar et al.: FedDyn (ICLR 2021). Karimireddy et al.: SCAFFOLD
(ICML 2020). Yuan, Li: On convergence of FedProx (NeurIPS 2022).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction as F
from math import log
from typing import Any, final

from fedconvex.theory import exact_rates, feddyn, gower, scaffold, yuan_li

NUMBERS: Mapping[str, Any] = {"mu": 1, "L": 100, "num_clients": 100, "num_active": 10}


@final
@dataclass(frozen=True)
class Published:
    """A bound that was known for the same method.

    Attributes:
        source: authors and year.
        says: its bound, and what it assumes beyond the statement's assumptions.
        theirs, ours: two numbers to compare; None where the source has no number for this setting.
        rounds: they are linear rates of squared errors; else bounds.
        at: where they are compared.
    """

    source: str
    says: str
    theirs: Callable[[], Any] | None = None
    ours: Callable[[], Any] | None = None
    rounds: bool = False
    at: str = "κ = 100"

    @property
    def factor(self) -> float | None:
        """How many times larger the published bound is, or how many times as many rounds it needs."""
        if self.theirs is None or self.ours is None:
            return None
        theirs, ours = float(self.theirs()), float(self.ours())
        return log(ours) / log(theirs) if self.rounds else theirs / ours


def _gower(name: str, stepsize: F, **more: Any) -> Callable[[], Any]:
    """What the statement says of P = 10 of m = 100 clients."""
    formula = getattr(gower, name).calculator
    at = {**NUMBERS, "stepsize": float(stepsize), **more}
    return lambda: formula.formula(**{n: at[n] for n in formula.names})


def _proximal(price: Callable[[F], Any]) -> Callable[[], Any]:
    """A price of ζ_*² at s = 1/L."""
    return lambda: price(F(1, 100))


def _fedprox(name: str, **more: Any) -> Callable[[], Any]:
    """What a FedProx statement says at s = 1/L, with ζ_* = 1 and from w*."""
    formula = getattr(exact_rates, name).calculator
    at = {**NUMBERS, "stepsize": F(1, 100), "zeta": 1, "zeta2": 1, "D": 0, "D0": 0, "T": 10**4, **more}
    return lambda: formula.formula(**{n: at[n] if n == "T" else float(at[n]) for n in formula.names})


def _floor_of_sgd() -> Any:
    s = F(1, 200)
    return exact_rates.fedsgd_round.calculator.formula(**NUMBERS, stepsize=s, D=0, zeta2=1) / (s * (2 - s))


def _fastest_scaffold() -> Any:
    s = F(1, 303)
    return exact_rates.scaffold_drawn_round(stepsize=s, **NUMBERS)


SAMPLED, SPPM = (
    "P = 10 of m = 100, κ = 100",
    "Khaled and Jin (2023)",
)
SGD = "Gower et al. (2019)"
SCAFFOLD, ACAR = "Karimireddy et al. (2020), appendix", "Acar et al. (2021)"
NONE = "none that we know"
PUBLISHED: Mapping[str, Published] = {
    "scaffold.acceleration": Published(
        SCAFFOLD, "1 − esμ/2 for es ≤ 1/(81L): the rounds do not fall with e", lambda: 1 - F(1, 162 * 100),
        lambda: scaffold.accelerated(stepsize=F(1, 100), local_steps=8, mu=1, L=100), True, "κ = 100, e = 8",
    ),
    "feddyn.linearrate": Published(
        ACAR + ", Theorem 3", "1/(1 + μ/α) for α ≥ 30L, of an averaged gap", lambda: 1 / (1 + F(1, 3000)),
        lambda: feddyn.linear_rate(alpha=10, mu=1, L=100), True,
    ),
    "exact_rates.fedproxerrorfloor": Published(
        "Yuan and Li (2022), `yuan_li.fixedpointdistance`", "sLζ_*/μ, and ζ_*/μ",
        lambda: yuan_li.distance_at_fixed_point(stepsize=F(1, 100), mu=1, L=100, sigma_star=1),
        _fedprox("fedprox_floor"), at="κ = 100, s = 1/L",
    ),
    "exact_rates.fedproxround": Published(
        SPPM + ", for one client", "(‖w − w*‖² + s²ζ_*²)/(1 + sμ)²", _proximal(lambda s: s**2 / (1 + s) ** 2),
        _fedprox("fedprox_round"), at="κ = 100, s = 1/L, the price of ζ_*²",
    ),
    "exact_rates.fedproxrun": Published(
        SPPM + ", for one client",
        "floor sζ_*²/(μ(2 + sμ)); for s ≤ 1/(2L) `yuan_li.troundsshortsteps` has 4s²Lζ_*²/μ",
        _proximal(lambda s: s / (2 + s)), _fedprox("fedprox_run"),
        at="κ = 100, s = 1/L, the floor",
    ),
    "exact_rates.fedproxroundofpclients": Published(
        SPPM + ", for one client", "the same with P = 1", _proximal(lambda s: s**2 / (1 + s) ** 2),
        _fedprox("fedprox_drawn_round"), at=SAMPLED + ", s = 1/L, the price of ζ_*²",
    ),
    "exact_rates.fedproxconvexclients": Published(NONE, "–"),
    "exact_rates.fedsgdround": Published(
        SGD + ", `gower.oneroundpofmclients`", "(1 − sμ)‖w − w*‖² + 2σs²ζ_*² for s ≤ 1/(2L)",
        _gower("one_round_uniform", F(1, 200), D=1, sigma_star2=0), lambda: (1 - F(1, 200)) ** 2, True,
        SAMPLED + ", s = 1/(2L), rounds",
    ),
    "exact_rates.fedsgdrun": Published(
        SGD + ", `gower.troundspofmclients`", "floor 2σsζ_*²/μ for s ≤ 1/(2L)",
        _gower("rate_uniform", F(1, 200), T=10**4, D0=0, sigma_star2=1), _floor_of_sgd,
        at=SAMPLED + ", s = 1/(2L), the floor",
    ),
    "exact_rates.fedsgdconvexclients": Published(
        SGD + ", `gower.convexpofmclients`", "‖w⁰ − w*‖²/(sT) + 2σsζ_*² for s ≤ 1/(4L)",
        _gower("convex_rate_uniform", F(1, 400), T=1, D0=0, sigma_star2=1),
        lambda: exact_rates.fedsgd_convex.calculator.formula(
            stepsize=F(1, 400), L=100, num_clients=100, num_active=10, T=1, D0=0, zeta2=1
        ), at="P = 10 of m = 100, s = 1/(4L), the floor",
    ),
    "exact_rates.scaffoldstep": Published(
        SCAFFOLD, "1 − ηsμ/2 for ηs ≤ 1/(81L)", lambda: 1 - F(1, 16200),
        lambda: exact_rates.scaffold_step(stepsize=F(2, 101), server_stepsize=1, mu=1, L=100) ** 2, True,
        "κ = 100, the best ηs of each",
    ),
    "exact_rates.scaffoldroundofpclients": Published(
        SCAFFOLD, "1 − sμ/2 for s ≤ min(1/(81L), P/(15mμ))", lambda: 1 - F(1, 16200), _fastest_scaffold, True,
        SAMPLED + ", the best s of each",
    ),
    "exact_rates.scaffoldconvexclients": Published(SCAFFOLD, "of the same order, for s ≤ 1/(81L)"),
    "exact_rates.scaffoldroundconvexclients": Published(SCAFFOLD, "of the same order, for es ≤ 1/(81L)"),
    "exact_rates.scaffoldconvexclientslocalsteps": Published(SCAFFOLD, "of the same order, for es ≤ 1/(81L)"),
    "exact_rates.daneround": Published(
        "Shamir, Srebro and Zhang (2014)",
        "quadratic or similar clients only; `dane.oneround` gives 1 − 3μ/(4L) for s = 1/L", lambda: 1 - F(3, 400),
        lambda: exact_rates.dane_round(stepsize=F(1, 100), mu=1, L=100), True, "κ = 100, s = 1/L",
    ),
    "exact_rates.daneconvexclients": Published(NONE, "–"),
    "exact_rates.feddynconvexclients": Published(
        ACAR + ", Theorem 2", "(10α‖w⁰ − w*‖² + 100ζ_*²/α)/T for α ≥ 25L",
        lambda: feddyn.convex_bound(alpha=25, L=1, num_clients=1, num_active=1, T=1, D0=1, G=1),
        lambda: exact_rates.feddyn_convex(alpha=2, L=1, T=1, D0=1, zeta2=1), at="ζ_* = L‖w⁰ − w*‖, the least α of each",
    ),
    "exact_rates.feddynonegdconvexclients": Published(
        ACAR + ", (18)", "(α‖w⁰ − w*‖² + 10ζ_*²/α)/T for α ≥ 50L", lambda: 50 + F(10, 50),
        lambda: exact_rates.feddynonegd_convex(alpha=3, L=1, T=1, D0=1), at="ζ_* = L‖w⁰ − w*‖, the least α of each",
    ),
    "exact_rates.feddynonegdround": Published(
        ACAR + ", Theorem 5", "1/(1 + μ/(3α)) for α ≥ 50L, of an averaged gap", lambda: 1 / (1 + F(1, 15000)),
        lambda: exact_rates.feddynonegd_round(alpha=202, mu=1, L=100), True, "κ = 100, the least α of each",
    ),
    "exact_rates.fedpdround": Published(
        "Zhang et al. (2020)", "rates for nonconvex clients only",
    ),
    "exact_rates.fedpdconvexclients": Published(
        "Zhang et al. (2020)", "rates for nonconvex clients only",
    ),
    "exact_rates.fedsplitroundofpclients": Published("Pathak and Wainwright (2020)", "everyone takes part"),
}  # fmt: skip
