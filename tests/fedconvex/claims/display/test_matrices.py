"""Formulas of the clients' matrices: trees that are displayed as the paper prints them, and that have their values."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from worlds import evaluated

from fedconvex.claims.display.formulas import formula
from fedconvex.claims.display.matrices import MatrixTerm, of_client, unknown
from fedconvex.claims.display.statements import formulas_of
from fedconvex.claims.terms import IllFormed, parameter
from fedconvex.statements import matrices
from fedconvex.statements.formula import CheckedFormula
from fedconvex.theory import fedsplit

A = [np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]]), np.array([[2.0, 1.0]])]
DATA = {"A": A, "b": [np.array([1.0, -2.0, 0.5]), np.array([3.0])], "x": np.array([0.25, -1.5])}
NUMBERS = {"stepsize": 0.125, "local_steps": 3}
POWERS = r"\left(\sum_{k=0}^{e - 1} (I - s A_j^\top A_j)^k\right)"
PRINTED = {
    "equation8": r"\frac{1}{2} \sum_{j=1}^m \|A_j x - b_j\|^2",
    "equation9": r"\left(\sum_{j=1}^m A_j^\top A_j\right)^{-1} \sum_{j=1}^m A_j^\top b_j",
    "equation10": (
        rf"\left(\sum_{{j=1}}^m A_j^\top A_j {POWERS[6:-7]}\right)^{{-1}} "
        rf"\sum_{{j=1}}^m {POWERS} A_j^\top b_j"
    ),
}
CALCULATORS: dict[str, CheckedFormula] = {
    **{name: getattr(fedsplit, name).calculator for name in PRINTED},
    "fedprox": fedsplit.fedprox_fixed_point,
}


def value(term: MatrixTerm, client: int = 0) -> Any:
    """The tree in floats, for the data of one client where no sum is."""
    of = [value(x, client) if isinstance(x, MatrixTerm) else x for x in term.args]
    match term.head:
        case "data":
            name = term.args[0].removesuffix("_j")
            return DATA["x"] if name == "x" else DATA[name][client]
        case "identity":
            return np.eye(2)
        case "+":
            return of[0] + of[1]
        case "-":
            return of[0] - of[1]
        case "@":
            return of[0] @ of[1]
        case "*":
            return evaluated(of[0], NUMBERS) * of[1]
        case "transpose":
            return of[0].T
        case "inverse":
            return np.linalg.inv(of[0])
        case "squared length":
            return float(of[0] @ of[0])
        case "powers":
            return sum(np.linalg.matrix_power(of[0], k) for k in range(int(evaluated(of[1], NUMBERS))))
        case "sum":
            return sum(value(term.args[0], k) for k in range(len(A)))
    raise AssertionError(term.head)


def tree(calculator: CheckedFormula) -> Any:
    (found,) = formula(calculator, fedsplit.PAPER.letters, fedsplit.PAPER.notation).values
    return found


@pytest.mark.parametrize("name", CALCULATORS)
def test_the_tree_has_the_value_of_the_formula(name: str) -> None:
    calculator = CALCULATORS[name]
    given = {n: x for n, x in {**DATA, **NUMBERS}.items() if n in calculator.parameters}
    assert np.allclose(value(tree(calculator)), calculator.formula(**given), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", PRINTED)
def test_the_formula_is_displayed_as_the_paper_prints_it(name: str) -> None:
    statement = getattr(fedsplit, name)
    assert statement.latex.partition(" = ")[2] == PRINTED[name]


def test_brackets_stand_where_the_tree_needs_them() -> None:
    shown = formulas_of(fedsplit.fedprox_fixed_point, fedsplit.PAPER.letters)
    left = r"\left(\sum_{j=1}^m (I - (I + s A_j^\top A_j)^{-1})\right)^{-1}"
    right = r"\sum_{j=1}^m \left(A_j^\top A_j + \frac{1}{s} I\right)^{-1} A_j^\top b_j"
    assert shown.formulas == (f"{left} {right}",)
    plain = formulas_of(fedsplit.fedprox_fixed_point, fedsplit.PAPER.letters, plain=True)
    assert "(A_jᵀ A_j + (1/s) I)⁻¹" in plain.formulas[0]


def test_another_formula_has_another_tree() -> None:
    """A sign or a transpose that changes in the formula changes what is displayed."""

    def changed(*, A: Any, b: Any) -> Any:
        grams = matrices.total(matrices.gram(design) for design in A)
        right = matrices.total(matrices.product(design.T, e) for design, e in zip(A, b, strict=True))
        return -1 * matrices.product(matrices.inverse(grams), right)

    calculator: Any = fedsplit.equation9.calculator
    other = tree(replace(calculator, formula=changed))
    assert other != tree(calculator)
    assert not np.allclose(value(other), calculator.formula(A=A, b=DATA["b"]))


DESIGN, RESPONSE, POINT = of_client("A_j", "A"), of_client("b_j", "b"), unknown("x")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: DESIGN @ RESPONSE,
        lambda: DESIGN @ DESIGN,
        lambda: RESPONSE - POINT,
        lambda: DESIGN.T + DESIGN,
        lambda: DESIGN.inverse(),
        lambda: DESIGN.identity(),
        lambda: DESIGN.powers(parameter("local_steps")),
        lambda: (DESIGN @ POINT).total(),  # n_j entries: a sum over clients of unequal sizes
        lambda: 0.5 * DESIGN,
    ],
)
def test_sizes_that_do_not_fit_are_refused(wrong: Any) -> None:
    with pytest.raises(IllFormed):
        wrong()


def test_a_fraction_multiplies_a_matrix() -> None:
    for half in (Fraction(1, 2) * DESIGN, DESIGN / 2):
        assert value(half, 1).tolist() == [[1.0, 0.5]]
