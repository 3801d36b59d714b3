"""Lyapunov functions with the objective's value, of which the coefficients are formulas, too."""

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
import sympy
from flint import fmpq
from rate_federations import is_never_broken, is_replayed_from_a_file

import fedconvex as fc
from fedconvex.proofs_checks import Discovered, SmoothStronglyConvex, discover, lyapunov, worst_case
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT
from fedconvex.proofs_checks.search.rate_theorems.equations import Equations
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import RateTerms
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import posed, specification
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import without_values
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

a, mu, L, s = (sympy.Symbol(n, positive=True) for n in ("a", "mu", "L", "s"))
RATE = (a / (a + mu)) ** 2
MULTIPLIERS = {"0 from 2": mu * (2 * a + mu) / (a + mu) ** 2, "1 from 2": RATE, "2 from 3": 1}
LARGE = (mu < L, a >= L - mu)


def dane(a: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.DANE(mu=a), "clients": SmoothStronglyConvex(mu, L), "metric": "lyapunov"}


def three_steps(s: Any) -> dict[str, Any]:
    """Of sizes beyond 1/(L + α), where the distance contracts more slowly than on the slowest quadratics."""
    solver = fc.GradientDescent(steps=3, stepsize=s)
    clients = SmoothStronglyConvex(1, 2)
    return {"method": fc.DANE(mu=2), "clients": clients, "local_solver": solver, "metric": "lyapunov"}


@pytest.fixture(scope="module")
def exact() -> Discovered:
    return discover(dane, lambda a, mu, L: (mu < L, a >= L))


@pytest.fixture(scope="module")
def inexact() -> Discovered:
    return discover(three_steps, lambda s: (s > F(1, 3), 5 * s < 2))


def test_dane_contracts_the_suboptimality(exact: Discovered) -> None:
    assert exact.verdict is Verdict.PROVED
    assert exact.where == (mu < L, a >= L)
    assert exact.function == {"(F(server) − F(minimiser))": 1}
    assert sympy.cancel(exact.bound - RATE) == 0
    assert {name: sympy.cancel(c - MULTIPLIERS[name]) for name, c in exact.multipliers.items()} == dict.fromkeys(
        MULTIPLIERS, 0
    )
    assert is_never_broken(exact, 30)


@pytest.mark.parametrize(("alpha", "least", "most"), [(4, 1, 4), (7, F(1, 3), 3), (10, 2, F(5, 2))])
def test_the_formula_is_the_rate_at_numbers(exact: Discovered, alpha: F, least: F, most: F) -> None:
    """`lyapunov` has another V, with gradients; `worst_case` the same one, and no V at all."""
    there = exact.at(a=alpha, mu=least, L=most)
    found = lyapunov(fc.DANE(mu=alpha), SmoothStronglyConvex(least, most))
    assert found.lower == there
    assert there <= found.upper <= there * (1 + F(1, 10**5))
    once = worst_case(fc.DANE(mu=alpha), SmoothStronglyConvex(least, most), metric="gap_ratio")
    assert abs(float(once.upper) - float(there)) <= 1e-6
    assert abs(float(once.lower) - float(there)) <= 1e-6


@pytest.mark.slow
def test_local_gradient_steps_in_the_place_of_exact_solutions(inexact: Discovered) -> None:
    assert inexact.verdict is Verdict.PROVED
    assert inexact.function == {"(F(server) − F(minimiser))": 1}
    assert sympy.cancel(inexact.bound - ((1 - 3 * s) ** 3 / 3 + sympy.Rational(2, 3)) ** 2) == 0
    solver = fc.GradientDescent(steps=3, stepsize=F(3, 8))
    found = lyapunov(fc.DANE(mu=2), SmoothStronglyConvex(1, 2), local_solver=solver)
    assert found.lower == inexact.at(s=F(3, 8))
    assert found.upper >= found.lower
    assert is_never_broken(inexact, 30)


def test_the_proof_as_a_file_is_replayed(exact: Discovered) -> None:
    assert is_replayed_from_a_file(exact)


@pytest.mark.slow
def test_a_thousand_random_federations(exact: Discovered, inexact: Discovered) -> None:
    assert is_never_broken(exact, 1000)
    assert is_never_broken(inexact, 1000)


def proved(
    rate: Any = RATE, square: Any = 0, value: Any = 1, multipliers: Any = MULTIPLIERS, where: Any = LARGE
) -> None:
    """DANE's theorem by these formulas. Raises Refused."""
    parameters = Parameters({a: F(7), mu: F(1), L: F(3)})
    spec = specification(dane(**parameters.numbers))
    round_ = posed(spec, valued=True)
    known: dict[Any, Any] = {name: parameters.number(c) for name, c in multipliers.items()}
    known |= {round_.pairs[0]: parameters.number(square), WEIGHT: parameters.number(value)}
    equations = Equations(round_, parameters.number(rate), (), list(multipliers), dict(known))
    equations.known.update(known)
    made = equations.completed() if not equations.rest(known).values else None
    if made is None:
        raise Refused("no sum of squares")
    domain = Domain(parameters.conditions(where), {"a": F(7), "mu": F(1), "L": F(3)})
    RateTerms(spec, round_).lemma(parameters.number(rate), made, domain).theorem()


def test_the_right_formulas_are_proved() -> None:
    proved()


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": RATE * F(999, 1000)},
        {"rate": RATE**2},
        {"square": -mu},
        {"square": 1000 * a},
        {"value": 2},
        *({"multipliers": MULTIPLIERS | {name: c * F(11, 10)}} for name, c in MULTIPLIERS.items()),
        *({"multipliers": {name: c for name, c in MULTIPLIERS.items() if name != left}} for left in MULTIPLIERS),
        {"multipliers": {name: -c for name, c in MULTIPLIERS.items()}},
        {"where": (mu < L,)},
        {"where": (mu < L, a >= L / 2)},
    ],
)
def test_wrong_formulas_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        proved(**wrong)


def test_a_smaller_domain_is_no_mutant() -> None:
    proved(where=(mu < L, a >= 2 * L))


@pytest.mark.slow
def test_the_whole_domain_of_dane() -> None:
    found = discover(dane, lambda a, mu, L: (mu < L, a + mu >= L, 2 * a >= L))
    assert found.verdict is Verdict.PROVED
    assert len(found.where) == 3
    assert found.at(a=2, mu=1, L=3) == F(4, 9)


def test_wrong_coefficients_in_a_proof_are_refused(exact: Discovered) -> None:
    """The kernel does not believe the claim's V, and not the one after the round."""
    assert exact.proof is not None
    claim = exact.proof.claim
    for wrong in (replace(claim, left=claim.left * F(1001, 1000)), replace(claim, right=claim.right * F(999, 1000))):
        with pytest.raises(Refused):
            replace(exact.proof, claim=wrong).theorem()


def test_a_value_is_at_least_a_quadratic() -> None:
    """F(w) − F(x*) ≥ μ‖w‖²/2 where the gradient is μw: on quadratics of the least curvature, without equality else."""
    found = posed(specification(dane(F(5), F(1), F(3))), valued=True)
    least = without_values(found, {WEIGHT: fmpq(1)})
    assert not least.values
    key, *_ = found.before["mean", 0].parts

    def at(gradient: F) -> Any:
        numbers = {key: fmpq(1), ("mean", "g1"): fmpq(gradient.numerator, gradient.denominator)}
        return sum(c * numbers.get(u, 0) * numbers.get(v, 0) for (u, v), c in least.products.items())

    assert at(F(1)) == fmpq(1, 2)
    assert at(F(3)) == fmpq(3, 2)
    assert min(at(F(k, 7)) for k in range(7, 22)) == fmpq(1, 2)
