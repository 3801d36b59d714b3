"""How tight FedProx's bounds are: one round on one-dimensional clients F_k(x) = h_k x²/2 + a_k x from x = 0, exactly.

A client's answer with the residual r_k·a_k, |r_k| ≤ γ, is (r_k − 1)a_k/(h_k + μ). An instance is
(μ, L, L₋, γ, K, ((p_k, h_k, a_k, r_k), …)).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.proofs_checks.tightness import Measure, Tightness
from fedconvex.statements.functions import sqrt
from fedconvex.statements.statement import Statement

F = Fraction
Instance = tuple[Any, Any, Any, Any, Any, tuple[tuple[Any, ...], ...]]


@final
@dataclass(frozen=True)
class Round:
    """One round, with the quantities that the statements are about."""

    mu: Fraction
    L: Fraction
    L_minus: Fraction
    gamma: Fraction
    K: Fraction
    clients: tuple[tuple[Fraction, ...], ...]

    def mean(self, numbers: Any) -> Fraction:
        return sum((p * x for (p, *_), x in zip(self.clients, numbers, strict=True)), Fraction(0))

    @property
    def gradients(self) -> list[Fraction]:
        return [a for _, _, a, _ in self.clients]

    @property
    def gradient(self) -> Fraction:
        return abs(self.mean(self.gradients))

    @property
    def B(self) -> Fraction:
        root: Fraction = sqrt(self.mean(a * a for a in self.gradients))
        return root / self.gradient

    @property
    def variance(self) -> Fraction:
        """The variance of the clients' gradients."""
        return self.mean(a * a for a in self.gradients) - self.gradient**2

    @property
    def steps(self) -> list[Fraction]:
        return [(r - 1) * a / (h + self.mu) for _, h, a, r in self.clients]

    @property
    def mean_step(self) -> Fraction:
        return self.mean(self.steps)

    @property
    def mean_square_deviation(self) -> Fraction:
        """E|w⁺ − w̄|², over K independent draws."""
        return (self.mean(d * d for d in self.steps) - self.mean_step**2) / self.K

    def value(self, x: Fraction) -> Fraction:
        """f(x); f(0) = 0."""
        return self.mean(h * x * x / 2 + a * x for _, h, a, _ in self.clients)

    @property
    def expected_value(self) -> Fraction:
        """E f(w⁺); as f is quadratic, the variance of w⁺ is enough."""
        return self.value(self.mean_step) + self.mean(h for _, h, _, _ in self.clients) / 2 * self.mean_square_deviation

    def known(self, statement: Statement, **more: Any) -> Any:
        """The statement's formula at this round's parameters."""
        values = {
            "mu": self.mu, "L": self.L, "L_minus": self.L_minus, "gamma": self.gamma, "K": self.K, "B": self.B,
            "gradient": self.gradient, "client_gradient": abs(self.gradients[0]), "gammas": [self.gamma],
            "sigma2": self.variance, "epsilon": self.gradient**2, "value": Fraction(0),
        } | more  # fmt: skip
        calculator = statement.calculator
        return calculator.formula(**{name: values[name] for name in calculator.names})


def admissible_round(instance: Instance) -> Round | None:
    """The round, if the instance is admissible."""
    mu, L, L_minus, gamma, K, clients = instance
    found = Round(F(mu), F(L), F(L_minus), F(gamma), F(K), tuple(tuple(map(F, c)) for c in clients))
    curved = all(-min(found.L_minus, found.L) <= h <= found.L for _, h, _, _ in found.clients)
    solved = all(abs(r) <= found.gamma for *_, r in found.clients) and 0 <= found.gamma <= 1
    weighted = sum(p for p, *_ in found.clients) == 1 and all(p > 0 for p, *_ in found.clients)
    drawn = found.K >= 1 and found.K.denominator == 1
    moving = found.mu > found.L_minus >= 0 and found.gradient > 0
    return found if curved and solved and weighted and drawn and moving else None


def of_round(statement: Statement, happens: Callable[[Round], Any]) -> Measure:
    """The measure of an upper bound: `happens` of the round, and the statement's formula."""

    def measure(instance: Instance) -> tuple[Any, Any] | None:
        found = admissible_round(instance)
        return found and (happens(found), found.known(statement))

    return measure


def of_decrease(statement: Statement, rho: Callable[[Any], Any] = lambda formula: formula) -> Measure:
    """The measure of a decrease by ρ‖∇f‖²: the promised decrease, and the expected decrease of f."""

    def measure(instance: Instance) -> tuple[Any, Any] | None:
        found = admissible_round(instance)
        return found and (rho(found.known(statement)) * found.gradient**2, -found.expected_value)

    return measure


def of_mean_answer(statement: Statement, expected: bool) -> Measure:
    """The measure of a bound on f(w̄) or E f(w⁺), as decreases from f(w^t) = 0."""

    def measure(instance: Instance) -> tuple[Any, Any] | None:
        found = admissible_round(instance)
        return found and (
            -found.known(statement),
            -(found.expected_value if expected else found.value(found.mean_step)),
        )

    return measure


ONE = (F(1), F(1), F(1), F(0))  # one client, x²/2 + x
LARGE = 1000  # a value of μ/L near which quotients are close to their limit for μ/L → ∞


def one_client(mu: Any, K: int = 4) -> Instance:
    """The instance of one client, x²/2 + x, that is solved exactly."""
    return mu, 1, 0, 0, K, (ONE,)


def decreasing(statement: Statement, how: str, **changes: Any) -> Tightness:
    """A round of one client, x²/2 + x, that is solved exactly."""
    instance = {"mu": LARGE, "L": 1, "L_minus": 0, "gamma": 0, "K": 2 * 10**8, "clients": (ONE,)} | changes
    return Tightness(of_decrease(statement), tuple(instance.values()), how, attained=True)


FAR = "x²/2 + x from 0, solved exactly: the quotient tends to 1 as μ/L → ∞"
FAR_AND_MANY = f"{FAR} and K → ∞"


def answer(statement: Statement, sign: int, happens: Callable[[Round], Any], how: str) -> Tightness:
    """One client of curvature −L₋, and a residual of full size."""
    instance = (3, 1, 1, F(1, 2), 1, ((F(1), F(-1), F(1), sign * F(1, 2)),))
    return Tightness(of_round(statement, happens), instance, how, attained=True)


APART = ((F(1, 2), F(17)), (F(1, 2), F(-7)))  # weights and gradients of two clients: B = 13/5


def deviating(statement: Statement) -> Tightness:
    """Two clients that are far apart."""
    clients = tuple((p, F(-1), a, F(-1, 2)) for p, a in APART)
    how = "two clients a_k x − x²/2: (1 − 1/B²)/2, which tends to 1/2 as B → ∞; not more, as the factor 2 is not needed"
    measure = of_round(statement, lambda found: found.mean_square_deviation)
    return Tightness(measure, (3, 1, 1, F(1, 2), 2, clients), how)


def sampling_cost_used(statement: Statement) -> Tightness:
    """Linear clients: L₀ = ‖∇f‖, and one of them is drawn, which gives two equal deviations."""

    def measure(instance: Instance) -> tuple[Any, Any] | None:
        import flint

        found = admissible_round(instance)
        if found is None:
            return None
        cost = found.gradient * found.mean(abs(d - found.mean_step) for d in found.steps)
        balls = {"mu": found.mu, "L": found.L, "L_minus": found.L_minus, "B": found.B, "gamma": found.gamma,
                 "K": found.K, "gradient": found.gradient}  # fmt: skip
        exact = {n: flint.arb(flint.fmpq(x.numerator, x.denominator)) for n, x in balls.items()}
        promised = statement.calculator.formula(**exact)
        return flint.arb(flint.fmpq(cost.numerator, cost.denominator)), promised

    how = "two linear clients, one drawn: √((1 − 1/B²)/2), which tends to 1/√2 as B → ∞"
    clients = tuple((p, F(0), a, F(0)) for p, a in APART)
    return Tightness(measure, (1, 0, 0, 0, 1, clients), how)


def along_a_line(statement: Statement) -> Tightness:
    """(9) for f(x) = ax, between two points."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        slope, mean_answer, answer = map(F, instance)
        numbers = {"mean_value": slope * mean_answer, "lipschitz": abs(slope), "deviation": abs(answer - mean_answer)}
        return slope * (answer - mean_answer), statement.calculator.formula(**numbers) - slope * mean_answer

    return Tightness(measure, (1, 0, 1), "an equality for linear functions", attained=True)


def around_a_kink(statement: Statement) -> Tightness:
    """(10) for f(x) = |x|, rounded to x²/(2d) + d/2 where |x| < d: w̄ = 0, and w⁺ is 1 or −1."""

    def measure(instance: tuple[Any]) -> tuple[Any, Any] | None:
        radius = F(instance[0])
        at_mean, after, slope = radius / 2, F(1), F(1)
        promised = statement.calculator.formula(mean_value=at_mean, Q=slope * 1) - at_mean
        return (after - at_mean, promised) if 0 < radius < 1 else None

    how = "|x|, rounded near 0; w̄ = 0, w⁺ = ±1: the quotient is 1 − d/2 for a rounding of width d"
    return Tightness(measure, (F(1, 500),), how, attained=True)


def with_growing_slope(statement: Statement) -> Tightness:
    """(11) for f with slope g + L|x − w|, where w̄ = w and w⁺ = w ± s: Q = E[L₀|w⁺ − w̄|], L₀ the largest slope."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        L, gradient, step = map(F, instance)
        largest = gradient + L * step
        numbers = {"L": L, "gradient": gradient, "mean_step": F(0), "deviation": step,
                   "mean_square_deviation": step**2}  # fmt: skip
        return (largest * step, statement.calculator.formula(**numbers)) if min(L, gradient, step) >= 0 else None

    return Tightness(measure, (1, 2, 1), "an equality where the slope grows as fast as it may", attained=True)


def of_deviations(statement: Statement) -> Tightness:
    """(12) for deviations that are equally likely."""

    def measure(instance: tuple[Any, ...]) -> tuple[Any, Any]:
        deviations = [abs(F(x)) for x in instance]
        mean_square = sum(x * x for x in deviations) / len(deviations)
        bound = statement.calculator(mean_square_deviation=mean_square)  # a ball where it is irrational
        return sum(deviations) / len(deviations), bound

    return Tightness(measure, (1, -1), "an equality for deviations of one length", attained=True)


def rounds_begun_above(statement: Statement) -> Tightness:
    """Lx²/2, exact steps with μ = L: how many rounds begin where the squared gradient is at least ε.

    For σ² = 0 all clients are alike, and n rounds use at most n/(4n − 2) of the bound: by convexity a round that ends
    at ‖∇f(w⁺)‖² >= ε decreases f by ‖∇f(w⁺)‖²/μ or more, and inf f is ‖∇f‖²/(2L) or more below where the last begins.
    """

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        L, start, epsilon = map(F, instance)
        if min(L, epsilon) <= 0 or start == 0:
            return None
        rounds, x = 0, start
        while (L * x) ** 2 >= epsilon:
            rounds, x = rounds + 1, x / 2
        numbers = {"L": L, "delta": L * start**2 / 2, "sigma2": F(0), "epsilon": epsilon}
        return F(rounds), statement.calculator.formula(**numbers)

    how = "x²/2 from 1 with ε = 1: one round; for σ² = 0, n rounds use n/(4n − 2) at most"
    return Tightness(measure, (1, 1, 1), how)


def rounds_needed(statement: Statement, rho: Statement) -> Tightness:
    """½x² from 1: the mean of the squared gradients over as many rounds as the theorem asks for, and ε."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        mu, K, T = map(F, instance)
        at = {"mu": mu, "L": F(1), "L_minus": F(0), "B": F(1), "gamma": F(0), "K": K}
        promised = rho.calculator.formula(**at)
        epsilon = F(1, 2) / (promised * T)
        rounds = statement.calculator.formula(delta=F(1, 2), rho=promised, epsilon=epsilon)
        shrunk = (mu / (mu + 1)) ** 2
        return (1 - shrunk ** int(rounds)) / (1 - shrunk) / rounds, epsilon

    how = "½x² from 1, so many rounds that little is left to decrease: the quotient tends to 1 as μ, K, T/μ → ∞"
    return Tightness(measure, (100, 2 * 10**8, 500), how, attained=True)
