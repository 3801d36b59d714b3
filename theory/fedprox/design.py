"""FedProx: the choice of μ and K for which Theorem 4's ρ is positive, or largest.

With x = μ̄ = μ − L₋ and l = L₋, Theorem 4's ρ is

    ρ = (a + c₁)/μ − c₁/x − c₂/(μx) − c₃/x²,
    a = 1 − γB − c₁,  c₁ = B(1+γ)√(2/K),  c₂ = LB(1+γ),  c₃ = L B²(1+γ)² (1/2 + (2√(2K)+2)/K).

* ρμx² = a x² − (c₁l + c₂ + c₃)x − c₃l: positive for some μ iff a > 0 (for a <= 0 no term is positive), and then just
  beyond the positive root of this quadratic.
* μ²x³ ∂ρ/∂μ = −a x³ + 2(c₁l + c₂ + c₃)x² + (c₁l² + c₂l + 4c₃l)x + 2c₃l²: one change of sign, so by Descartes' rule
  one positive root, the only maximum of ρ. For l = 0 it is 2(c₂ + c₃)/a.

The arguments are taken exactly and all computations enclose their results (balls), so every reported sign is proved.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, final

from fedconvex.errors import InvalidInput
from fedconvex.names import checked_keywords
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.certified import enclosed, positive_root, require_sign, sharpened, smallest_integer
from fedconvex.statements.functions import named, sqrt
from fedconvex.statements.notation import CURVATURE, NUMBER, STEPSIZE
from fedconvex.statements.signs import Sign
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.theory.fedprox.results import PROXIMAL, rho
from fedconvex.types import Exact, Real


@PAPER.calculator(of="Theorem 4", units=NUMBER)
def slack(*, B: Real, gamma: Real, K: Real) -> Any:
    """1 − γB − B(1 + γ)√(2/K): some μ makes Theorem 4's ρ positive if and only if this is positive.

    Sharper than Remark 5: without inexactness K > 2B² is needed, where Remark 5 asks for K > B².
    """
    return 1 - gamma * B - B * (1 + gamma) * sqrt(2 / K)


@PAPER.calculator(of="Remark 5", units=NUMBER)
def necessary(*, B: Real, gamma: Real) -> Any:
    """1 − γB, which must be positive for ρ > 0, whatever the number of devices is."""
    return 1 - gamma * B


@PAPER.calculator(of="Theorem 4", units=STEPSIZE, assumes=(PROXIMAL,))
def rho_of_everyone(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real) -> Any:
    """The limit of Theorem 4's ρ for many devices, K → ∞: the factor in equation (8)."""
    mu_bar = named(r"\bar\mu", mu - L_minus)
    inexact = B * (1 + gamma)
    return (1 - gamma * B) / mu - L * inexact / (mu_bar * mu) - L * inexact**2 / (2 * mu_bar**2)


class Coefficients(NamedTuple):
    """The coefficients of the module's first formula."""

    a: Any
    c1: Any
    c2: Any
    c3: Any


@PAPER.calculator(of="Theorem 4", units=(NUMBER, NUMBER, CURVATURE, CURVATURE))
def coefficients(*, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> Coefficients:
    """a, c₁, c₂, c₃ of ρ = (a + c₁)/μ − c₁/(μ − L₋) − c₂/(μ(μ − L₋)) − c₃/(μ − L₋)²."""
    inexact = B * (1 + gamma)
    c1 = inexact * sqrt(2 / K)
    return Coefficients(1 - gamma * B - c1, c1, L * inexact, L * inexact**2 * (1 + 4 * (sqrt(2 * K) + 1) / K) / 2)


@final
@dataclass(frozen=True)
class BestMu:
    """The μ that makes ρ largest, and that ρ: balls (flint `arb`) that contain the true values."""

    mu: Any
    rho: Any


def can_decrease(*, B: Exact, gamma: Exact, K: Exact) -> Sign:
    """Whether some μ gives ρ > 0: the certified sign of `slack`; POSITIVE means yes, whatever L and L_minus are.

    Use it first: if the answer is no, Theorem 4 guarantees nothing for these B, γ and K.
    """
    return slack.sign(B=B, gamma=gamma, K=K)  # type: ignore[no-any-return]


@final
@dataclass(frozen=True)
class MuRange:
    """The μ with ρ > 0: low < μ < high; `low` is a ball (flint `arb`) around the threshold, `high` is ∞."""

    low: Any
    high: float = inf


@checked_keywords
def mu_range(*, L: Exact, L_minus: Exact, B: Exact, gamma: Exact, K: Exact) -> MuRange | None:
    """The μ for which Theorem 4's ρ is positive: all beyond a threshold, `low`. None where no μ makes ρ positive.

    Use it to see where the theorem promises anything; `best_mu` says where it promises most. The threshold is exactly 0
    for L = L_minus = 0, where ρ = a/μ.
    """
    given = {"L": L, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    if not _some_mu_works(given):
        return None
    if L == 0 and L_minus == 0:
        import flint

        return MuRange(flint.arb(0))

    def lowest() -> Any:
        (a, c1, c2, c3), balls = enclosed(coefficients, given)
        l = balls["L_minus"]
        b = c1 * l + c2 + c3
        return l + (b + (b * b + 4 * a * c3 * l).sqrt()) / (2 * a)

    return MuRange(sharpened(lowest, _accuracy))


@checked_keywords
def best_mu(*, L: Exact, L_minus: Exact, B: Exact, gamma: Exact, K: Exact) -> BestMu | None:
    """The μ that maximises Theorem 4's ρ, and that ρ; None where no μ makes ρ positive.

    In closed form for L_minus = 0: μ = 2(c₂ + c₃)/a, ρ = a²/(4(c₂ + c₃)), see the module. Otherwise the only positive
    root of a cubic, enclosed: the derivative's sign is proved on both sides.

    Raises InvalidInput for L = L_minus = 0: ρ = a/μ has no maximum.
    """
    given = {"L": L, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    if not _some_mu_works(given):
        return None

    def best() -> BestMu:
        (a, c1, c2, c3), balls = enclosed(coefficients, given)
        l = balls["L_minus"]
        if l == 0:
            if c2 == 0:
                raise InvalidInput("L", L, "with L_minus = 0 makes rho larger the smaller mu is", "give L > 0")
            x = 2 * (c2 + c3) / a
        else:
            x = positive_root((2 * c3 * l * l, l * (c1 * l + c2 + 4 * c3), 2 * (c1 * l + c2 + c3), -a))
        mu = l + x
        return BestMu(mu, (a + c1) / mu - c1 / x - c2 / (mu * x) - c3 / (x * x))

    # Repeats the computation with more bits until both results are accurate.
    found: BestMu = sharpened(best, lambda found: min(_accuracy(found.mu), _accuracy(found.rho)))
    return found


def smallest_K(
    *, mu: Exact | None = None, L: Exact | None = None, L_minus: Exact | None = None, B: Exact, gamma: Exact
) -> int | None:
    """The least number K of devices per round with ρ > 0, exactly; None where no K is enough.

    For the given `mu`, which needs L and L_minus, or without `mu` for the best μ, for which they do not matter. ρ grows
    with K; its sign at the answer and just below it is certified.

    Raises InvalidInput for μ without L or L_minus.
    """
    given: dict[str, Any] = {"B": B, "gamma": gamma}
    quantity: Calculator = slack
    if mu is None:
        limit = necessary.sign(**given)
    else:
        for name, value, cure in (("L", L, "give L"), ("L_minus", L_minus, "give L_minus, 0 for convex clients")):
            if value is None:
                raise InvalidInput(name, None, "is needed where mu is given: rho depends on it", cure)
        given |= {"mu": mu, "L": L, "L_minus": L_minus}
        quantity, limit = rho.calculator, rho_of_everyone.sign(**given)
    if require_sign(limit, given) is not Sign.POSITIVE:
        return None  # ρ is below its limit for every K
    return smallest_integer(lambda K: require_sign(quantity.sign(K=K, **given), given) is Sign.POSITIVE)


def _some_mu_works(given: dict[str, Any]) -> bool:
    enclosed(coefficients, given)  # raises InvalidInput for arguments outside their range
    sign = can_decrease(B=given["B"], gamma=given["gamma"], K=given["K"])
    return require_sign(sign, given) is Sign.POSITIVE


def _accuracy(ball: Any) -> int:
    """The ball's relative accuracy in bits; negative where the ball is not proved to be positive."""
    return int(ball.rel_accuracy_bits()) if ball > 0 else -1
