"""The exact rates: proved, attained where they say so, true by hand; no other claim and no other proof is accepted."""

from fractions import Fraction as F
from itertools import combinations, product
from random import Random
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.participation import Full, Uniform
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import ClaimType, Statement
from fedconvex.theory import bounds_for, exact_rates

pytestmark = pytest.mark.beyond_core  # takes seconds
load("exact_rates")
EVERY = [*exact_rates.PAPER.everything]


@pytest.mark.parametrize("statement", EVERY, ids=lambda s: s.identifier)
def test_it_is_proved_and_as_tight_as_it_says(statement: Statement) -> None:
    found = verify(statement)
    assert found.verdict.name == "PROVED"
    assert found.tightness is not None
    if statement.claim_type is ClaimType.TIGHT:
        assert found.tightness.attained
        assert float(found.tightness.quotient) > 0.98


def test_there_are_21() -> None:
    assert len(EVERY) == 21


# ---- by hand: clients a_k x²/2 + g_k x on a line, w* = 0, in the methods' own formulas


class Line:
    """Random clients with curvatures in [μ, L], whose gradients at 0 add up to 0, and everything that may be drawn."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.m = random.randint(1, 4)
        self.mu, self.L = F(random.randint(1, 4), 4), F(random.randint(5, 40), 4)
        self.a = [random.choice((self.mu, self.L, self.mu + (self.L - self.mu) * F(random.randint(0, 9), 9)))
                  for _ in range(self.m)]  # fmt: skip
        g = [F(random.randint(-9, 9), 2) for _ in range(self.m - 1)]
        self.g = [*g, -sum(g, F(0))]
        self.w, self.P = F(random.randint(-9, 9), random.randint(1, 5)), random.randint(1, self.m)
        self.share = F(random.randint(1, 20), 20)  # of the largest stepsize
        self.c = [F(random.randint(-9, 9), 3) for _ in range(self.m)]
        self.zeta2 = sum((x * x for x in self.g), F(0)) / self.m

    def draws(self) -> list[tuple[int, ...]]:
        return list(combinations(range(self.m), self.P))

    def gradient(self, k: int, x: F) -> F:
        return self.a[k] * x + self.g[k]

    def expected(self, function: Any) -> F:
        drawn = self.draws()
        return sum((function(S) for S in drawn), F(0)) / len(drawn)

    def sigma(self) -> F:
        return F(self.m - self.P, self.P * (self.m - 1)) if self.m > 1 else F(0)


def mean(values: Any) -> F:
    found = list(values)
    return sum(found, F(0)) / len(found)


LINES = [Line(seed) for seed in range(60)]


def test_fedprox_by_hand() -> None:
    for of in LINES:
        s = of.share * 3
        answers = [(of.w - s * g) / (1 + s * a) for a, g in zip(of.a, of.g, strict=True)]
        everyone, q = mean(answers) ** 2, 1 / (1 + s * of.mu) ** 2
        price = s**3 * (of.L - of.mu) / (2 * (1 + s * of.mu) ** 2 * (1 + s * of.L))
        found = exact_rates.fedprox_round(stepsize=s, mu=of.mu, L=of.L, D=of.w**2, zeta2=of.zeta2)
        assert found == q * of.w**2 + price * of.zeta2
        assert everyone <= found
        drawn = of.expected(lambda S, at=answers: mean(at[k] for k in S) ** 2)
        bound = exact_rates.fedprox_drawn_round(
            stepsize=s, mu=of.mu, L=of.L, num_clients=of.m, num_active=of.P, D=of.w**2, zeta2=of.zeta2
        )
        assert drawn <= bound
        rest = -mean(s * g / (1 + s * a) for a, g in zip(of.a, of.g, strict=True))
        rest /= mean(s * a / (1 + s * a) for a in of.a)
        squared = s**2 * (of.L - of.mu) ** 2 * of.zeta2 / (4 * of.mu * of.L * (1 + s * of.mu) * (1 + s * of.L))
        assert rest**2 <= squared
        floor = exact_rates.fedprox_floor(
            stepsize=float(s), mu=float(of.mu), L=float(of.L), zeta=float(of.zeta2) ** 0.5
        )
        assert floor**2 == pytest.approx(float(squared))


def test_with_one_drawn_client_fedprox_has_the_bound_of_stochastic_proximal_steps() -> None:
    for m in (2, 5, 90):
        at = {"stepsize": F(2, 3), "mu": 1, "L": 7, "D": F(3), "zeta2": F(5), "num_clients": m}
        assert exact_rates.fedprox_drawn_round(**at, num_active=1) == (3 + F(4, 9) * 5) / F(5, 3) ** 2
        everyone = exact_rates.fedprox_round(stepsize=F(2, 3), mu=1, L=7, D=F(3), zeta2=F(5))
        assert exact_rates.fedprox_drawn_round(**at, num_active=m) == everyone


def test_fedsgd_by_hand() -> None:
    for of in LINES:
        s = of.share * F(19, 10) / (of.mu + of.L)
        found = of.expected(lambda S, s=s, of=of: mean(of.w - s * of.gradient(k, of.w) for k in S) ** 2)
        slow = 1 - s * of.mu
        price = 2 * of.sigma() * s**2 * slow / (2 * slow - of.sigma() * s * (of.L - of.mu))
        at = {"stepsize": s, "mu": of.mu, "L": of.L, "num_clients": of.m, "num_active": of.P, "zeta2": of.zeta2}
        assert exact_rates.fedsgd_round(**at, D=of.w**2) == slow**2 * of.w**2 + price * of.zeta2
        assert found <= slow**2 * of.w**2 + price * of.zeta2
        assert exact_rates.fedsgd_run(**at, D0=of.w**2, T=1) == slow**2 * of.w**2 + price * of.zeta2


def test_scaffold_by_hand() -> None:
    for of in LINES:
        most = min(1 / (3 * (of.mu + of.L)), F(of.P, of.m) * (of.mu + of.L) / (4 * of.mu * of.L))
        s, c, of_mean = of.share * most, of.c, mean(of.c)

        def energy(w: F, c: list[F], s: F = s, of: Line = of) -> F:
            return w**2 + F(3 * of.m, of.P) * s**2 * mean((x - g) ** 2 for x, g in zip(c, of.g, strict=True))

        def after(S: tuple[int, ...], s: F = s, of: Line = of, c: list[F] = c, of_mean: F = of_mean) -> F:
            slopes = [of.gradient(k, of.w) for k in range(of.m)]
            w = of.w - s * mean(slopes[k] - c[k] + of_mean for k in S)
            return energy(w, [slopes[k] if k in S else c[k] for k in range(of.m)])

        rate = exact_rates.scaffold_drawn_round(stepsize=s, mu=of.mu, L=of.L, num_clients=of.m, num_active=of.P)
        assert rate == 1 - 2 * s * of.mu * of.L / (of.mu + of.L)
        assert of.expected(after) <= rate * energy(of.w, c)


def test_scaffold_with_any_number_of_local_steps_by_hand() -> None:
    """Also with curvatures of 0, and with many steps of size 1/L."""
    for seed, of in enumerate(LINES):
        e, s, a = 1 + seed % 9, of.share / of.L, [F(0) if x == of.mu else x for x in of.a]
        c, f = [x - mean(of.c) for x in of.c], mean(a) * of.w**2 / 2
        points = [of.w] * of.m
        for _ in range(e):
            points = [y - s * (b * y + g - x) for y, b, g, x in zip(points, a, of.g, c, strict=True)]
        new = [x + (of.w - y) / (e * s) for x, y in zip(c, points, strict=True)]
        before, after = (w**2 + (e * s) ** 2 * mean((x - mean(xs) - g) ** 2 for x, g in zip(xs, of.g, strict=True))
                         for w, xs in ((of.w, c), (mean(points), new)))  # fmt: skip
        assert exact_rates.scaffold_steps_round(stepsize=s, local_steps=e, L=of.L) == 2 * s
        assert after <= before - 2 * s * f
        bound = exact_rates.scaffold_convex_steps(stepsize=s, local_steps=e, L=of.L, T=1, D0=of.w**2, zeta2=of.zeta2)
        assert f <= bound == (of.w**2 + (e * s) ** 2 * of.zeta2) / (2 * s)


def test_feddynonegd_by_hand() -> None:
    for of in LINES:
        alpha = 2 * (of.mu + of.L) / of.share
        h, f = of.c[0], mean(of.a) * of.w
        before = (of.w + h / alpha) ** 2 + (h / alpha) ** 2
        w = of.w - (f - h) / alpha - f / alpha
        rate = exact_rates.feddynonegd_round(alpha=alpha, mu=of.mu, L=of.L)
        assert rate == 1 - of.mu * of.L / (alpha * (of.mu + of.L))
        assert (w + f / alpha) ** 2 + (f / alpha) ** 2 <= rate * before


def test_dane_by_hand() -> None:
    """Of a client a x²/2 + g x a round makes (x − w)(a + 1/s) = −f'(w), where f' = mean(a)·w."""
    for of in LINES:
        s, mean_curvature = of.share / (of.L - of.mu), mean(of.a)
        after = of.w - mean(mean_curvature * of.w / (a + 1 / s) for a in of.a)
        rate = exact_rates.dane_round(stepsize=s, mu=of.mu, L=of.L)
        assert rate == 1 / (1 + s * of.mu) ** 2
        assert after**2 <= rate * of.w**2
        s = of.share * F(99, 100) / of.L
        after = of.w - mean(mean_curvature * of.w / (a + 1 / s) for a in of.a)
        bound = exact_rates.dane_convex(stepsize=s, L=of.L, T=1, D0=of.w**2)
        c = (s * of.L) ** 2 / (1 - (s * of.L) ** 2)
        assert mean_curvature * after**2 / 2 <= bound == (1 / s + c * of.L) * of.w**2 / (2 * (1 + c))


def test_fedsplit_and_fedpd_by_hand() -> None:
    for of in LINES:
        s, z = of.share * 2, of.c
        w = mean(z)
        q = max(1 / (s * of.mu), s * of.L)
        solved = [(2 * w - x - s * g) / (1 + s * a) for a, g, x in zip(of.a, of.g, z, strict=True)]
        new = [x + 2 * (y - w) for x, y in zip(z, solved, strict=True)]
        far, near = ([(x + s * g) ** 2 for x, g in zip(at, of.g, strict=True)] for at in (z, new))
        moved = mean(F(of.P, of.m) * n + (1 - F(of.P, of.m)) * f for f, n in zip(far, near, strict=True))
        rate = exact_rates.fedsplit_drawn_round(stepsize=s, mu=of.mu, L=of.L, num_clients=of.m, num_active=of.P)
        assert rate == 1 - F(of.P, of.m) * (1 - ((q - 1) / (q + 1)) ** 2)
        assert moved <= rate * mean(far)
        answers = [(of.w - s * g - s * x) / (1 + s * a) for a, g, x in zip(of.a, of.g, of.c, strict=True)]
        duals = [x + (y - of.w) / s for x, y in zip(of.c, answers, strict=True)]
        server = mean(y + s * x for x, y in zip(duals, answers, strict=True))
        before, after = (mean((at - s * (x + g)) ** 2 for x, g in zip(xs, of.g, strict=True))
                         for at, xs in ((of.w, of.c), (server, duals)))  # fmt: skip
        assert after <= exact_rates.fedpd_round(eta=s, mu=of.mu, L=of.L) * before


# ---- where they apply


def test_a_plain_average_of_drawn_clients_with_weights_is_not_bounded() -> None:
    """The objective has the weights, and the average of a draw has not."""
    H, c = [[[F(1)]], [[F(3)]]], [[F(1)], [F(-1)]]
    for weights, applies in ((None, True), ([F(1, 4), F(3, 4)], False)):
        problem = fc.Quadratic(H, c, weights=weights)
        found = bounds_for(problem, fc.FedGD(stepsize=F(1, 8)), Uniform(1))
        assert any(b.statement.identifier == "exact_rates.fedsgdround" for b in found.applies) is applies


def test_heterogeneity_has_the_weights_of_the_average() -> None:
    """F_1 = ½x² − x and F_2 = ½x² with weights 1/4 and 3/4: w* = 1/4, and mean‖∇F_k(w*)‖² = (9/16 + 3/16)/4."""
    from fedconvex.statements.instance import Instance

    problem = fc.Quadratic([[[F(1)]], [[F(1)]]], [[F(1)], [F(0)]], weights=[F(1, 4), F(3, 4)])
    assert float(Instance(problem, fc.FedProx(mu=1)).sigma_star2) == pytest.approx(3 / 16)


def test_fedsplit_with_the_mean_of_those_who_are_drawn_is_another_method() -> None:
    problem = fc.Quadratic([[[F(1)]], [[F(3)]]], [[F(1)], [F(-1)]])
    for average, applies in (("all", True), ("active", False)):
        found = bounds_for(problem, fc.FedSplit(stepsize=F(1, 2), server=average), Uniform(1))
        assert any(b.statement.identifier == "exact_rates.fedsplitroundofpclients" for b in found.applies) is applies


@pytest.mark.parametrize("seed", range(6))
def test_what_applies_to_weighted_clients_holds_of_them(seed: int) -> None:
    """Scaled methods see m·weight times a client's function; FedGD averages with the weights, or plainly if drawn."""
    random = Random(seed)
    m = random.randint(2, 3)
    curvatures, shares = ([random.randint(1, 6) for _ in range(m)] for _ in range(2))
    weights = [F(x, sum(shares)) for x in shares] if seed % 3 else [F(1, m)] * m
    problem = fc.Quadratic([[[F(a)]] for a in curvatures], [[F(random.randint(-5, 5))] for _ in range(m)], weights)
    s = F(1, 6 * m * max(curvatures))
    methods = (fc.FedGD(stepsize=s), fc.Scaffold(stepsize=s), fc.Scaffold(stepsize=s, local_steps=3), fc.FedPD(eta=s),
               fc.FedDyn(alpha=1 / s), fc.FedDynOneGD(alpha=1 / s), fc.FedSplit(stepsize=s))  # fmt: skip
    tried = 0
    for scheme, method in product((Full(), Uniform(1)), methods):
        factors = [m * x for x in weights] if method.plain else [F(1)] * m
        scaled = [a * x for a, x in zip(curvatures, factors, strict=True)]
        at = {"stepsize": s, "alpha": 1 / s, "eta": s, "server_stepsize": F(1), "num_clients": F(m), "T": F(2),
              "mu": min(scaled), "L": max(scaled) * F(1001, 1000), "num_active": F(m if scheme == Full() else 1),
              "local_steps": F(getattr(method, "local_steps", 1))}  # fmt: skip
        federation = ExactFederation(problem, method, [F(7)], scheme, rounds=2)
        for bound in bounds_for(problem, method, scheme, rounds=2, x0=[7.0]).applies:
            if bound.statement.paper is exact_rates.PAPER:
                tried += 1
                known_numbers = {n: x for n, x in at.items() if n in bound.statement.setting.signs}
                assert bound.statement.claim.on(federation, **known_numbers).holds is not False
    assert tried >= 8
