"""FedDyn's constants follow from its proofs: the lemmas, scaled as in the paper, add up to the printed ones."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rational_draws import rationals

from fedconvex.statements import Statement
from fedconvex.theory import feddyn

positive = rationals(Fraction(1, 20), 20, 20)


@st.composite
def settings(draw: Any) -> dict[str, Any]:
    """L, mu ≤ L, P ≤ m, and an α that all theorems admit."""
    m = draw(st.integers(1, 30))
    P, L = draw(st.integers(1, m)), draw(positive)
    mu = L * draw(rationals(Fraction(1, 100), 1, 100))
    devices = {"num_clients": Fraction(m), "num_active": Fraction(P)}
    alpha = feddyn.smallest_alpha_one_gradient_nonconvex(L=L, **devices) * draw(rationals(1, 4, 9))
    return {"alpha": alpha, "L": L, "mu": mu, **devices}


def coefficient(statement: Statement, name: str, given: dict[str, Any], left: bool = False) -> Any:
    """What multiplies the quantity `name` on one side: the side at 1 there, at 0 for all other quantities."""
    calculator = statement.left if left else statement.calculator
    assert calculator is not None
    return calculator.formula(**{n: given.get(n, Fraction(n == name)) for n in calculator.names})


def side(statement: Statement, given: dict[str, Any]) -> Callable[[str], Any]:
    known = {n: v for n, v in given.items() if n in statement.calculator.names}
    return lambda name: coefficient(statement, name, known)


def constants(calculator: Any, given: dict[str, Any]) -> Any:
    return calculator(**{n: given[n] for n in calculator.names})


def convex_sum(given: dict[str, Any], scale4: Any, scale5: Any) -> tuple[Any, Any, Any]:
    """What is left of ε_t, of C_{t−1} and of the gap in (10) + Lemma 3 + scale4·Lemma 4 + scale5·Lemma 5."""
    ten, four, five = (side(s, given) for s in (feddyn.equation10, feddyn.lemma4, feddyn.lemma5))
    epsilon = scale4 * coefficient(feddyn.lemma4, "epsilon", given, left=True)
    epsilon -= ten("epsilon") + ten("move") + scale5 * five("epsilon")
    return epsilon, scale4 * four("C") + scale5 * five("C"), ten("gap") + scale4 * four("gap") + scale5 * five("gap")


@given(settings())
def test_lemma1(given: dict[str, Any]) -> None:
    c = constants(feddyn.convex_constants, given)
    assert convex_sum(given, c.scale4, c.scale5) == (0, c.kappa, -c.kappa0)
    assert c.scale5 == c.kappa


@given(settings())
def test_lemma8(given: dict[str, Any]) -> None:
    c = constants(feddyn.strongly_convex_constants, given)
    assert convex_sum(given, c.scale4, c.scale5) == (0, c.kappa, -c.kappa0)
    assert c.scale5 == c.r * c.kappa


def lemma10_kappa0(given: dict[str, Any]) -> Any:
    """What (14) + z₁·Lemma 3 + z₀·Lemma 12 + z₂·Lemma 11 leaves of E‖∇ℓ‖²; the other quantities must cancel."""
    c = constants(feddyn.nonconvex_constants, given)
    fourteen, eleven, twelve = (side(s, given) for s in (feddyn.equation14, feddyn.lemma11, feddyn.lemma12))
    assert c.z1 - given["L"] / 2 - c.z0 * twelve("move") == 0
    excess = c.z2 * coefficient(feddyn.lemma11, "epsilon", given, left=True)
    assert excess - fourteen("epsilon") - c.z1 - c.z0 * twelve("epsilon") == 0
    assert c.z0 * twelve("C") + c.z2 * eleven("C") == c.kappa == c.z0
    return -fourteen("gradient_square") - c.z2 * eleven("gradient_square")


@given(settings())
def test_lemma10_has_a_sign_misprinted(given: dict[str, Any]) -> None:
    """The sum has +16L²Pm in the numerator of κ₀ where the paper prints −16L²Pm, which is less and so holds too."""
    c = constants(feddyn.nonconvex_constants, given)
    alpha, L, m, P = (given[n] for n in ("alpha", "L", "num_clients", "num_active"))
    assert lemma10_kappa0(given) == c.kappa0 + 32 * L**2 * P * m / (2 * alpha * c.z)
    assert lemma10_kappa0(given) > c.kappa0 > 0


@given(settings())
def test_one_gradient_convex(given: dict[str, Any]) -> None:
    """(17) + scale14·Lemma 14 + scale15·Lemma 15, times α: κ telescopes, κ ≤ 10(m/P)/α, at least one gap is left."""
    c = constants(feddyn.one_gradient_scales, given)
    alpha, third = given["alpha"], 1 + given["mu"] / (3 * given["alpha"])
    round_, a, b = (side(s, given) for s in (feddyn.equation17, feddyn.lemma14, feddyn.lemma15))
    kappa = alpha * c.scale15 / third
    assert c.scale14 == round_("epsilon")
    assert alpha * (round_("A") + c.scale14 * a("A") + c.scale15 * b("A")) == kappa
    assert alpha * (2 / alpha - c.scale14 * a("gap") - c.scale15 * b("gap")) >= 1
    assert kappa <= 10 * given["num_clients"] / given["num_active"] / alpha


@given(settings())
def test_one_gradient_nonconvex(given: dict[str, Any]) -> None:
    """(19) + scale19·Lemma 19 + z·Lemma 20, times 4α: κ = 4αz ≤ 50(m/P)L/α, the gradient is left at least once."""
    c = constants(feddyn.one_gradient_nonconvex_scales, given)
    decrease, a, b = (side(s, given) for s in (feddyn.equation19, feddyn.lemma19, feddyn.lemma20))
    assert c.scale19 == decrease("epsilon") + c.scale20 * b("epsilon")
    assert decrease("B") + c.scale19 * a("B") + c.scale20 * b("B") == c.scale20
    left = decrease("gradient_square") + c.scale19 * a("gradient_square") + c.scale20 * b("gradient_square")
    assert -4 * given["alpha"] * left >= 1
    assert (
        4 * given["alpha"] * c.scale20 <= 50 * given["num_clients"] / given["num_active"] * given["L"] / given["alpha"]
    )


THEOREMS = [
    (feddyn.smallest_alpha_convex, feddyn.convex_constants, 10, 100),
    (feddyn.smallest_alpha_strongly_convex, feddyn.strongly_convex_constants, 20, 400),
    (feddyn.smallest_alpha_nonconvex, feddyn.nonconvex_constants, 3, 30),
]


def covered(case: Any, given: dict[str, Any], larger: Any) -> bool:
    """Whether 1/κ₀ and κ/κ₀ stay below the theorem's multiples, for α `larger` times the smallest that it admits."""
    smallest, calculator, first, second = case
    alpha = larger * constants(smallest, given)
    c = constants(calculator, {**given, "alpha": alpha})
    scale = given["L"] ** 3 if calculator is feddyn.nonconvex_constants else 1
    ratio = given["num_clients"] / given["num_active"]
    return bool(1 / c.kappa0 <= first * alpha and c.kappa / c.kappa0 <= second * scale * ratio / alpha)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", THEOREMS)
@given(given=settings(), larger=rationals(1, 9, 9))
def test_theorems_2_to_4_round_their_lemmas_up(case: Any, given: dict[str, Any], larger: Any) -> None:
    assert covered(case, given, larger)


@pytest.mark.parametrize("case", THEOREMS)
def test_smaller_multiples_would_not_do(case: Any) -> None:
    given = {n: Fraction(1) for n in ("L", "mu", "num_clients", "num_active")} | {"mu": Fraction(1, 10**6)}
    assert covered(case, given, 1)
    assert not covered((*case[:2], Fraction(case[2], 20), case[3]), given, 1)
    assert not covered((*case[:3], Fraction(case[3], 100)), given, 1)


def test_other_scales_do_not_add_up() -> None:
    given = {"alpha": Fraction(60), "L": Fraction(1), "num_clients": Fraction(4), "num_active": Fraction(2)}
    c = constants(feddyn.convex_constants, given)
    right = (0, c.kappa, -c.kappa0)
    assert convex_sum(given, c.scale4, c.scale5) == right
    assert convex_sum(given, c.scale4 * Fraction(10001, 10000), c.scale5) != right
    assert convex_sum(given, c.scale4, c.scale5 * 2) != right


@pytest.mark.parametrize("alpha", [25, 26, 100])
def test_lemma1_is_sharper_than_theorem2(alpha: int) -> None:
    given = {"alpha": Fraction(alpha), "L": 1, "num_clients": 10, "num_active": 3, "T": 7, "D0": 2, "G": 3}
    assert feddyn.convex_bound_of_lemma(**given) < feddyn.convex_bound(**given) / 2
