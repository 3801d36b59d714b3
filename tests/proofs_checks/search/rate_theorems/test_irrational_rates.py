"""Rates that are squares of roots of quadratics: closed forms, the kernel's proofs, and numbers from elsewhere."""

from dataclasses import replace
from fractions import Fraction as F
from math import sqrt
from random import Random
from typing import Any

import pytest
import sympy
from rate_federations import is_never_broken, is_replayed_from_a_file

import fedconvex as fc
from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Discovered, SmoothStronglyConvex, discover, lyapunov
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Combine
from fedconvex.proofs_checks.search.rate_theorems.irrational_rates import quadratic_at, root_of_quadratic
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound
from fedconvex.proofs_checks.worst_cases.theorems.discovered import QuadraticNumber
from fedconvex.proofs_checks.worst_cases.theorems.points import random_points
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

a, mu, L, s, b, r = (sympy.Symbol(n, positive=True) for n in ("a", "mu", "L", "s", "b", "r"))
LARGE = (mu < L, a > 10 * L)


def one_step(a: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.FedDynOneGD(alpha=a), "clients": SmoothStronglyConvex(mu, L), "metric": "lyapunov"}


def heavy_ball(s: Any, b: Any, L: Any) -> dict[str, Any]:
    method = fc.FedAvgM(stepsize=s, local_steps=1, momentum=b)
    return {"method": method, "clients": SmoothStronglyConvex(1, L), "metric": "lyapunov"}


@pytest.fixture(scope="module")
def dyn() -> Discovered:
    return discover(one_step, lambda a, mu, L: (mu < L, a > 10 * L))


@pytest.mark.slow
def test_feddyn_with_one_gradient_step(dyn: Discovered) -> None:
    assert dyn.verdict is Verdict.PROVED
    assert dyn.where == LARGE
    assert dyn.bound == r**2
    assert dyn.root is not None
    assert dyn.root.symbol == r
    assert sympy.simplify(dyn.root.expression - (a - 2 * mu + sympy.sqrt(a**2 + 4 * mu**2)) / (2 * a)) == 0
    equation = r**2 - dyn.root.t * r + dyn.root.d
    assert sympy.cancel(equation - (r**2 - (1 - 2 * mu / a) * r - mu / a)) == 0
    assert is_never_broken(dyn, 30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_is_the_rate_at_numbers(dyn: Discovered, seed: int) -> None:
    """`lyapunov` finds another V there; its lower bound is slightly below the root's square, from an enclosure."""
    random = Random(seed)
    least = F(random.randint(1, 9), 10)
    most = least + random.randint(1, 3)
    alpha = 10 * most + random.randint(1, 40)
    there = dyn.at(a=alpha, mu=least, L=most)
    found = lyapunov(fc.FedDynOneGD(alpha=alpha), SmoothStronglyConvex(least, most))
    assert found.lower <= there <= found.lower + F(1, 10**14)
    assert there <= found.upper <= there * (1 + F(1, 10**6))
    assert float(there) == pytest.approx(
        ((alpha - 2 * least + sqrt(alpha**2 + 4 * least**2)) / (2 * alpha)) ** 2, rel=1e-14
    )


@pytest.mark.slow
def test_it_holds_in_its_domain_only(dyn: Discovered) -> None:
    for outside in ({"a": 20, "mu": 1, "L": 2}, {"a": 30, "mu": 2, "L": 2}):
        with pytest.raises(InvalidInput, match="outside"):
            dyn.at(**outside)


@pytest.mark.slow
def test_it_can_be_shown(dyn: Discovered) -> None:
    assert "\nwith r = (a - 2*mu + sqrt(a**2 + 4*mu**2))/(2*a)\n" in str(dyn)
    assert r"\sqrt{" in dyn._repr_markdown_()


@pytest.mark.slow
def test_the_proof_as_a_file_is_replayed(dyn: Discovered) -> None:
    assert is_replayed_from_a_file(dyn)


@pytest.mark.slow
def test_changed_theorems_are_refused(dyn: Discovered) -> None:
    """The rate, V's coefficients, a multiplier, a square, and the equation that r solves."""
    assert dyn.proof is not None
    assert dyn.proof.proof is not None
    claim, setting = dyn.proof.claim, dyn.proof.setting
    (line,) = dyn.proof.proof.lines
    assert isinstance(line, Combine)

    def with_line(**changes: Any) -> Any:
        assert dyn.proof is not None
        assert dyn.proof.proof is not None
        return replace(dyn.proof, proof=replace(dyn.proof.proof, lines=(replace(line, **changes),)))

    smaller = claim.right * F(999, 1000)
    wrong = [
        replace(with_line(right=smaller), claim=replace(claim, right=smaller)),
        replace(with_line(left=claim.left * F(11, 10)), claim=replace(claim, left=claim.left * F(11, 10))),
        *(with_line(facts=(*line.facts[:k], (c * F(11, 10), fact), *line.facts[k + 1 :]))
          for k, (c, fact) in enumerate(line.facts)),
        *(with_line(squares=line.squares[:k] + line.squares[k + 1 :]) for k in range(len(line.squares))),
    ]  # fmt: skip
    (place,) = [k for k, (left, relation, _) in enumerate(setting.conditions) if relation == "="]
    left, relation, right = setting.conditions[place]
    example = dict(setting.example)
    example["a"] *= F(11, 10)
    other = (*setting.conditions[:place], (left, relation, right * F(11, 10)), *setting.conditions[place + 1 :])
    none = (*setting.conditions[:place], *setting.conditions[place + 1 :])
    wrong += [replace(dyn.proof, setting=replace(setting, conditions=other, example=example))]
    wrong += [replace(dyn.proof, setting=replace(setting, conditions=none))]
    for one in wrong:
        with pytest.raises(Refused):
            one.theorem()
    assert number(1) * claim.right != claim.right  # what is compared are terms
    dyn.proof.theorem()


@pytest.mark.slow
def test_the_heavy_ball() -> None:
    """FedGD of one step with momentum: r² + b = (1 + b − s)r, and V by r's and b/r's eigenvectors."""
    found = discover(heavy_ball, lambda s, b, L: (L > 1, s * L <= 1, (1 - s) ** 2 > 16 * b))
    assert found.verdict is Verdict.PROVED
    assert found.root is not None
    assert sympy.cancel(found.root.t - (1 + b - s)) == 0
    assert sympy.cancel(found.root.d - b) == 0
    assert [*found.function.values()] == [1, b]
    for values in ({"s": F(1, 3), "b": F(1, 50), "L": 2}, {"s": F(1, 5), "b": F(1, 100), "L": 4}):
        method = fc.FedAvgM(stepsize=values["s"], local_steps=1, momentum=values["b"])
        rate = lyapunov(method, SmoothStronglyConvex(1, values["L"]))
        there = found.at(**values)
        assert rate.lower <= there <= rate.lower + F(1, 10**14)
        assert there <= rate.upper <= there * (1 + F(1, 10**6))
    with pytest.raises(InvalidInput, match="outside"):
        found.at(s=F(1, 5), b=F(1, 25), L=5)  # (1 − s)² = 16b
    assert is_never_broken(found, 50)


@pytest.mark.slow
def test_a_rational_root_as_a_parameter() -> None:
    """The same theorem where s is written by r: nothing is irrational, and V's coordinates are eigenvectors."""
    found = discover(
        lambda r, b, L: heavy_ball((1 - r) * (1 - b / r), b, L),
        lambda r, b, L: (L > 1, r < 1, b < r * r, (1 - r) * (1 - b / r) * L <= 1),
    )
    assert found.verdict is Verdict.PROVED
    assert found.root is None
    assert found.bound == r**2
    assert [*found.function.values()] == [1, b]


@pytest.mark.slow
def test_a_thousand_random_federations(dyn: Discovered) -> None:
    assert is_never_broken(dyn, 1000)


@pytest.mark.slow
def test_what_follows_for_the_larger_root_and_what_does_not() -> None:
    """A relation that is left out of `where` must hold everywhere in the domain."""
    given = (mu < L, a > 2 * L)
    root = root_of_quadratic(one_step, random_points((a, mu, L), given, Random(0)), 100)
    for true in (r < 1, r > F(1, 2), 2 * r - 1 > 0, r * (1 - r) > 0, mu * (2 * r - 1) > 0, 4 * r > F(1, 2)):
        assert root._follows(true, given)
    for false in (r > F(9, 10), r < F(9, 10), 1 - 2 * r > 0, r > 1, r * (r - 1) > 0, (1 - r) * (r - F(9, 10)) > 0):
        assert not root._follows(false, given)
    random = Random(1)
    for _ in range(100):
        most = F(random.randint(1, 50), random.randint(1, 50))
        values = (2 * most + F(random.randint(1, 90), 9), most * F(random.randint(1, 99), 100), most)
        at = root.of.at(values)
        assert (at + -1).sign < 0 < (at + F(-1, 2)).sign
        assert (at * at + at * -(1 - 2 * values[1] / values[0]) + -values[1] / values[0]).sign == 0  # r's equation


def test_rational_rates_are_roots_of_no_quadratic() -> None:
    x = sympy.Symbol("x", positive=True)
    with pytest.raises(NotFound):
        root_of_quadratic(
            lambda x: {"method": fc.FedGD(stepsize=x, local_steps=1), "clients": SmoothStronglyConvex(1, 2)},
            random_points((x,), (), Random(0)),
            50,
        )


def test_rational_rates_have_no_quadratic() -> None:
    assert quadratic_at(one_step(F(20), F(1), F(2))) is not None
    assert quadratic_at(one_step(F(3, 2), F(1), F(2))) is None  # 1 + 4μ²/α² is a square
    gradient = {"method": fc.FedGD(stepsize=F(1, 4), local_steps=1), "clients": SmoothStronglyConvex(1, 2)}
    assert quadratic_at(gradient) is None


@pytest.mark.parametrize("seed", range(4))
def test_signs_of_quadratic_numbers(seed: int) -> None:
    random = Random(seed)
    for _ in range(50):
        u, v, w, z = (F(random.randint(-9, 9), random.randint(1, 9)) for _ in range(4))
        D = F(random.randint(0, 40), random.randint(1, 9))
        x, y = QuadraticNumber(u, v, D), QuadraticNumber(w, z, D)
        for exact, near in ((x, u + v * sqrt(D)), (x * y, (u + v * sqrt(D)) * (w + z * sqrt(D))), (x + y, 0)):
            if exact is not x and near == 0:
                continue
            assert float(exact.above) == pytest.approx(float(near), abs=1e-12)
            if abs(near) > 1e-9:
                assert exact.sign == (1 if near > 0 else -1)
    assert QuadraticNumber(F(-3), F(1), F(9)).sign == 0
    assert QuadraticNumber(F(-3), F(1), F(9) + F(1, 10**40)).sign == 1
    assert QuadraticNumber(F(-3), F(1), F(9)).above == 0
    assert QuadraticNumber(F(0), F(1), F(2)).above ** 2 > 2
    assert QuadraticNumber(F(0), F(-1), F(2)).above ** 2 < 2
