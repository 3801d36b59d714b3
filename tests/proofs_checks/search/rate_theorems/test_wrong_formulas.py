"""Every formula of a rate's theorem, changed: the kernel refuses it."""

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
import sympy

import fedconvex as fc
from fedconvex.proofs_checks import SmoothStronglyConvex
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.rate_theorems.equations import Completed, Equations
from fedconvex.proofs_checks.search.rate_theorems.rate_terms import RateTerms
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import posed, specification
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters

x = sympy.Symbol("x", positive=True)
RATE, CONTROLS = (1 - x) ** 4, 2
MULTIPLIERS = {
    "1 from 0": 2 * (1 - x) ** 3, "0 from 1": 2 * (1 - x) ** 3, "2 from 0": 2 * (1 - x), "0 from 2": 2 * (1 - x),
}  # fmt: skip
SMALL = (16 * x <= 3,)


def completed(parameters: Parameters, rate: Any, controls: Any, multipliers: Any) -> tuple[RateTerms, Completed | None]:
    """Two local steps of SCAFFOLD with s = 1/L = 1 and μ = x, by these formulas."""
    clients = SmoothStronglyConvex(parameters.numbers["x"], 1)
    spec = specification({"method": fc.Scaffold(stepsize=1, local_steps=2), "clients": clients})
    round_ = posed(spec)
    formulas = {name: parameters.number(c) for name, c in multipliers.items()}
    known = {**dict(zip(round_.pairs, map(parameters.number, (1, controls)), strict=True)), **formulas}
    equations = Equations(round_, parameters.number(rate), (), list(formulas), known)
    return RateTerms(spec, round_), equations.completed()


def lemma(
    rate: Any = RATE, controls: Any = CONTROLS, multipliers: Any = MULTIPLIERS, where: Any = SMALL,
    example: F = F(1, 10),
) -> Lemma:  # fmt: skip
    parameters = Parameters({x: example})
    terms, made = completed(parameters, rate, controls, multipliers)
    if made is None:
        raise Refused("no sum of squares")
    return terms.lemma(parameters.number(rate), made, Domain(parameters.conditions(where), {"x": example}))


def test_the_right_formulas_are_proved() -> None:
    assert lemma().theorem().setting.method == "Scaffold"


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": RATE * F(999, 1000)},
        {"rate": (1 - x) ** 5},
        {"controls": F(1, 2)},
        {"controls": 7},
        *({"multipliers": MULTIPLIERS | {name: c * F(11, 10)}} for name, c in MULTIPLIERS.items()),
        *({"multipliers": {name: c for name, c in MULTIPLIERS.items() if name != left}} for left in MULTIPLIERS),
        {"multipliers": {name: -c for name, c in MULTIPLIERS.items()}},
        {"where": ()},  # where μ is near L, the rate is another one
        {"where": (x <= F(1, 3),)},
    ],
)
def test_wrong_formulas_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        lemma(**wrong).theorem()


def test_a_square_too_few_is_refused() -> None:
    """As are weights that are larger: the sum is then not the claim."""
    parameters = Parameters({x: F(1, 10)})
    terms, made = completed(parameters, RATE, CONTROLS, MULTIPLIERS)
    assert made is not None
    domain = Domain(parameters.conditions(SMALL), {"x": F(1, 10)})
    assert terms.lemma(parameters.number(RATE), made, domain).theorem()
    (weight, u), *others = made.squares
    for squares in (others, [(weight * 2, u), *others]):
        with pytest.raises(Refused):
            terms.lemma(parameters.number(RATE), replace(made, squares=squares), domain).theorem()


@pytest.mark.parametrize("controls", [0, -1])
def test_a_function_that_is_not_positive_definite_is_none(controls: int) -> None:
    """V = ‖w − w*‖² alone may contract, too, and says nothing of the control variates."""
    parameters = Parameters({x: F(1, 10)})
    _, made = completed(parameters, RATE, controls, MULTIPLIERS)
    assert made is None or not made.proves_at([F(1, 10)])
