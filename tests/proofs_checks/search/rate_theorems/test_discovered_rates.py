"""Rates, Lyapunov functions and multipliers as formulas: against papers, `lyapunov`, and random federations."""

from dataclasses import replace
from fractions import Fraction as F
from functools import wraps
from random import Random
from typing import Any

import pytest
import sympy
from rate_federations import is_never_broken, is_replayed_from_a_file

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Discovered, SmoothConvex, SmoothStronglyConvex, discover, lyapunov
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.theory import fedsplit, scaffold
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

a, mu, L, s, r, x, eta, rho = (sympy.Symbol(n, positive=True) for n in ("a", "mu", "L", "s", "r", "x", "eta", "rho"))


def gradient_descent(s: Any, mu: Any, L: Any) -> dict[str, Any]:
    method = fc.FedGD(stepsize=s, local_steps=1)
    return {"method": method, "clients": SmoothStronglyConvex(mu, L), "metric": "lyapunov"}


def feddyn(a: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.FedDyn(alpha=a), "clients": SmoothStronglyConvex(mu, L), "metric": "lyapunov"}


def fedsplit_at_its_best(r: Any) -> dict[str, Any]:
    """κ = r²."""
    return {"method": fc.FedSplit(stepsize=1 / r), "clients": SmoothStronglyConvex(1, r * r), "metric": "lyapunov"}


def scaffold_of(local_steps: int) -> Any:
    """With s = 1 = 1/L and μ = x: other units change nothing."""

    def arguments(x: Any) -> dict[str, Any]:
        method = fc.Scaffold(stepsize=1, local_steps=local_steps)
        return {"method": method, "clients": SmoothStronglyConvex(x, 1), "metric": "lyapunov"}

    return arguments


@pytest.fixture(scope="module")
def descent() -> Discovered:
    return discover(gradient_descent, lambda s, mu, L: (mu < L,))


@pytest.fixture(scope="module")
def dyn() -> Discovered:
    return discover(feddyn, lambda a, mu, L: (mu < L, a * a >= mu * L))


@pytest.fixture(scope="module")
def two_steps() -> Discovered:
    return discover(scaffold_of(2), lambda x: (16 * x <= 3,))


def is_same(left: Any, right: Any) -> bool:
    return bool(sympy.cancel(left - right) == 0)


def test_gradient_descent_with_any_stepsize(descent: Discovered) -> None:
    """The larger of both rates, by cases."""
    assert descent.verdict is Verdict.PROVED
    assert descent.where == (mu < L,)
    assert descent.function == {"‖server‖²": 1}
    for step in (F(1, 10), F(2, 5), F(9, 10)):  # also where it diverges
        assert descent.at(s=step, mu=1, L=4) == max((1 - step) ** 2, (1 - 4 * step) ** 2)


def test_feddyn_is_douglas_rachford_splitting(dyn: Discovered) -> None:
    """(α/(α + μ))² for α² ≥ μL (Giselsson and Boyd, 2017), with V = ‖w + h/α − w*‖² + mean‖g_k − mean‖²/α²."""
    assert dyn.verdict is Verdict.PROVED
    assert dyn.sharp
    assert is_same(dyn.bound, (a / (a + mu)) ** 2)
    assert list(dyn.function.values()) == [1, a**-2]
    assert all(is_same(c, 2 / (a + mu)) for c in dyn.multipliers.values())
    assert is_never_broken(dyn, 40)


@pytest.mark.slow
def test_feddyn_with_any_parameter() -> None:
    """The larger of both rates, each of which has its own multipliers."""
    found = discover(feddyn, lambda a, mu, L: (mu < L,))
    assert found.verdict is Verdict.PROVED
    assert found.where == (mu < L,)
    assert {*found.bound.args} == {(a / (a + mu)) ** 2, (L / (a + L)) ** 2}
    for alpha in (1, 2, 3):
        assert found.at(a=alpha, mu=1, L=4) == lyapunov(fc.FedDyn(alpha=alpha), SmoothStronglyConvex(1, 4)).upper
    assert all(isinstance(c, sympy.Piecewise) for c in found.multipliers.values())
    assert is_never_broken(found, 40)


def test_proofs_of_the_wrong_cases_are_refused(descent: Discovered) -> None:
    assert descent.proof is not None
    assert descent.proof.proof is not None
    cases = descent.proof.proof.cases
    assert cases is not None
    swapped = replace(cases, above=cases.below, below=cases.above)
    alone = replace(cases, below=cases.above)
    for wrong in (swapped, alone):
        with pytest.raises(Refused):
            replace(descent.proof, proof=Derivation(cases=wrong)).theorem()


@pytest.mark.slow
def test_the_condition_is_found_where_it_is_not_told() -> None:
    """Between its two regimes SCAFFOLD with two steps has other rates, so that neither theorem reaches the other."""
    found = discover(scaffold_of(2), lambda x: (x < 1,))
    assert found.verdict is Verdict.PROVED
    assert found.bound == sympy.Rational(1, 4)
    (_, condition) = found.where
    assert is_same(condition.lhs - condition.rhs, 17 * x - 5)
    with pytest.raises(InvalidInput, match="outside"):
        found.at(x=F(29, 100))


def test_roots_are_parameters() -> None:
    found = discover(fedsplit_at_its_best, lambda r: (r > 1,))
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, ((r - 1) / (r + 1)) ** 2)
    assert found.at(r=F(5, 3)) == fedsplit.contraction(kappa=F(25, 9)) ** 2


def test_two_local_steps_of_scaffold(two_steps: Discovered) -> None:
    """On the domain of the catalogue's theorem, 4e²sμ ≤ 3."""
    assert two_steps.verdict is Verdict.PROVED
    assert is_same(two_steps.bound, (1 - x) ** 4)
    assert two_steps.where == (16 * x <= 3,)
    values = {"stepsize": 1, "local_steps": 2, "mu": F(1, 7), "L": 1}
    assert two_steps.at(x=F(1, 7)) == scaffold.accelerated(**values)
    assert is_never_broken(two_steps, 40)
    assert "\nV = ‖server‖² + mean‖c_k − mean‖² · (" in str(two_steps)


@pytest.mark.parametrize("seed", range(3))
def test_the_formula_is_the_rate_at_numbers(two_steps: Discovered, seed: int) -> None:
    """`lyapunov` finds another V there, and certifies the same rate."""
    at = F(Random(seed).randint(1, 18), 100)
    rate = lyapunov(fc.Scaffold(stepsize=1, local_steps=2), SmoothStronglyConvex(at, 1))
    assert rate.upper == rate.lower == two_steps.at(x=at)


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "most"), [(3, F(1, 8)), (4, F(3, 64))])
def test_more_local_steps_of_scaffold(steps: int, most: F) -> None:
    """With three steps it holds for more curvatures than the catalogue's theorem says, up to x = 1/8 for 1/12."""
    found = discover(scaffold_of(steps), lambda x: (x <= sympy.Rational(most.numerator, most.denominator),))
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, (1 - x) ** (2 * steps))
    assert len(found.where) == 1
    rate = lyapunov(fc.Scaffold(stepsize=1, local_steps=steps), SmoothStronglyConvex(most, 1))
    assert rate.upper == rate.lower == found.at(x=most)


@pytest.mark.slow
def test_a_condition_that_is_no_simple_bound_is_found_and_needed() -> None:
    found = discover(scaffold_of(3), lambda x: (6 * x <= 1,))
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, (1 - x) ** 6)
    assert len(found.where) > 1
    assert (
        found.at(x=F(1, 8)) == lyapunov(fc.Scaffold(stepsize=1, local_steps=3), SmoothStronglyConvex(F(1, 8), 1)).upper
    )
    assert found.proof is not None
    anywhere = replace(found.proof, setting=replace(found.proof.setting, conditions=found.proof.setting.conditions[:1]))
    with pytest.raises(Refused):
        anywhere.theorem()


@pytest.mark.slow
def test_steps_and_curvatures_of_any_size() -> None:
    """The three steps' theorem with s and μ, whose units V and the multipliers respect."""
    found = discover(
        lambda s, mu: {
            "method": fc.Scaffold(stepsize=s, local_steps=3),
            "clients": SmoothStronglyConvex(mu, 1 / s),
            "metric": "lyapunov",
        },
        lambda s, mu: (12 * s * mu <= 1,),
    )
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, (1 - s * mu) ** 6)
    (_, weight) = found.function.values()
    assert sympy.cancel(weight / s**2).is_Rational
    assert is_never_broken(found, 50)


@pytest.mark.slow
def test_the_other_regime_of_scaffold() -> None:
    """Where μ is large, the slowest clients have curvature L: their control variates shrink by 1 − 1/e = 1/2."""
    found = discover(scaffold_of(2), lambda x: (3 * x >= 1, x < 1))
    assert found.verdict is Verdict.PROVED
    assert found.bound == sympy.Rational(1, 4)
    assert lyapunov(fc.Scaffold(stepsize=1, local_steps=2), SmoothStronglyConvex(F(1, 2), 1)).upper == F(1, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "where", "rate"),
    [
        (lambda eta, mu, L: {"method": fc.FedPD(eta=eta), "clients": SmoothStronglyConvex(mu, L)},
         lambda eta, mu, L: (mu < L, eta**2 * mu * L <= 1), 1 / (1 + eta * mu) ** 2),
        (lambda rho, mu, L: {"method": fc.FedADMM(rho=rho), "clients": SmoothStronglyConvex(mu, L)},
         lambda rho, mu, L: (mu < L, rho**2 >= mu * L), (rho / (rho + mu)) ** 2),
        (lambda s, mu: {"method": fc.FedLin(stepsize=s, local_steps=2), "clients": SmoothStronglyConvex(mu, 1 / s)},
         lambda s, mu: (s * mu < 1,), (1 - s * mu) ** 4),
        (lambda s, eta, mu, L: {"method": fc.Scaffold(stepsize=s, local_steps=1, server_stepsize=eta),
                                "clients": SmoothStronglyConvex(mu, L)},
         lambda s, eta, mu, L: (mu < L, eta * s * (mu + L) <= 2), (1 - eta * s * mu) ** 2),
        (lambda s, mu, L: {"method": fc.Scaffold(stepsize=s, local_steps=2), "clients": SmoothStronglyConvex(mu, L)},
         lambda s, mu, L: (mu < L, s * L <= 1, 16 * s * mu <= 3), (1 - s * mu) ** 4),
        (lambda a: {"method": fc.DANE(mu=a), "clients": SmoothStronglyConvex(1, 2),
                    "local_solver": fc.GradientDescent(steps=2, stepsize=1 / (2 + a))},
         lambda a: (a > 2,), ((a**2 + 3 * a + 1) / (a + 2) ** 2) ** 2),
    ],
    ids=["FedPD", "FedADMM", "FedLin", "Scaffold with a server stepsize", "Scaffold with any stepsize", "inexact DANE"],
)  # fmt: skip
def test_other_methods(arguments: Any, where: Any, rate: Any) -> None:
    found = discover(_with_metric(arguments), where)
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, rate)
    assert is_never_broken(found, 30)


def _with_metric(arguments: Any) -> Any:
    return wraps(arguments)(lambda **values: arguments(**values) | {"metric": "lyapunov"})


@pytest.mark.slow
def test_fedsplit_with_any_stepsize() -> None:
    """With √μ and √L as parameters the kernel sees that both cases make up the domain."""
    found = discover(
        lambda s, m, n: {
            "method": fc.FedSplit(stepsize=s),
            "clients": SmoothStronglyConvex(m * m, n * n),
            "metric": "lyapunov",
        },
        lambda s, m, n: (m < n,),
    )
    assert found.verdict is Verdict.PROVED
    assert len(found.where) == 1
    for step in (F(1, 5), F(1, 2), F(3)):
        assert found.at(s=step, m=1, n=2) == lyapunov(fc.FedSplit(stepsize=step), SmoothStronglyConvex(1, 4)).upper
    assert is_replayed_from_a_file(found)


@pytest.mark.slow
def test_a_thousand_random_federations(dyn: Discovered, two_steps: Discovered) -> None:
    assert is_never_broken(dyn, 1000)
    assert is_never_broken(two_steps, 1000)


def test_the_proof_as_a_file_is_replayed(two_steps: Discovered) -> None:
    assert is_replayed_from_a_file(two_steps)


def test_a_rate_without_a_proof_is_a_conjecture() -> None:
    """DANE with a small regulariser: quadratics show the rate, and V would have gradients at two points."""
    found = discover(
        lambda a: {"method": fc.DANE(mu=a), "clients": SmoothStronglyConvex(1, 4), "metric": "lyapunov"},
        lambda a: (2 * a <= 1,),
    )
    assert found.verdict is Verdict.UNKNOWN
    assert is_same(found.bound, (a / (a + 1)) ** 2)
    assert "a conjecture" in found.says
    assert found.proof is None
    with pytest.raises(InvalidInput, match="not proved"):
        found.at(a=F(1, 3))


def test_too_few_samples_show_no_rate() -> None:
    """Coefficients of a quadratic, functions of three parameters, have no fit through ten points."""
    found = discover(
        lambda a, m, n: {
            "method": fc.FedDynOneGD(alpha=a),
            "clients": SmoothStronglyConvex(m, n),
            "metric": "lyapunov",
        },
        lambda a, m, n: (m < n, a > 10 * n),
        samples=10,
    )
    assert found.verdict is Verdict.UNKNOWN
    assert found.bound is None
    assert found.says.startswith("no rational functions fit")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_clients": 3}, "num_clients = 3: is one number"),
        ({"clients": SmoothConvex(1)}, "clients = .*: are not strongly convex"),
        ({"participation": fc.participation.Uniform(2)}, "participation = .*: is not searched"),
        ({"method": fc.FedProx(mu=1)}, "biased fixed point"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        discover(lambda x: scaffold_of(2)(x) | changes, lambda x: (x < 1,))


def test_it_can_be_shown(two_steps: Discovered) -> None:
    assert r"V(\text{next state}) \le \left(x - 1\right)^{4} \cdot V" in two_steps._repr_markdown_()
