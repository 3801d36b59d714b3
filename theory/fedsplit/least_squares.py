"""FedSplit: equations (8) to (10) and the display between them, least squares f_j(x) = ½‖A_j x − b_j‖².

The formulas run on NumPy arrays (floats or Fractions), torch tensors, flint and SymPy matrices, and on terms.
"""

from typing import Any

from fedconvex.statements.assumptions import Runs
from fedconvex.statements.matrices import (
    column,
    difference,
    gram,
    identity_like,
    inverse,
    product,
    scalar_of,
    squared_length,
    sum_of_powers,
    total,
    transpose,
)
from fedconvex.statements.notation import Parameter, Shape
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedsplit.notation import OF_GRADIENT_STEPS, PAPER
from fedconvex.types import Matrices, Real, Vector

DATA = {
    "b": Parameter("b", "the clients' responses", shape=Shape.MATRICES),
    "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, written=2),
    "x": Parameter("x", "a point", shape=Shape.COLUMN),
}


@PAPER.statement("Equation (8)", ClaimType.DEFINITION, symbol="F(x)", relation="=", redefines=DATA)
def least_squares_objective(*, A: Matrices, b: Matrices, x: Vector) -> Any:
    """The least-squares objective F(x) = ½ Σ_j‖A_j x − b_j‖²; A a list of (n_j, d), b of (n_j,), x (d,)."""
    residuals = [difference(product(design, x), response) for design, response in zip(A, b, strict=True)]
    return total(map(squared_length, residuals)) / 2


@PAPER.statement(
    "Equation (9)", ClaimType.IDENTITY, symbol=r"x^*_{\mathrm{ls}}", relation="=", redefines=DATA,
)  # fmt: skip
def least_squares_solution(*, A: Matrices, b: Matrices) -> Any:
    """The minimiser (Σ A_jᵀA_j)⁻¹ Σ A_jᵀb_j, shape (d,).

    The paper assumes that the A_j have full rank; the formula needs only that Σ A_jᵀA_j is invertible.
    """
    return product(inverse(total(gram(design) for design in A)), total(map(_right, A, b)))


@PAPER.calculator(of="between Equations (9) and (10)", redefines=DATA)
def fedprox_fixed_point(*, A: Matrices, b: Matrices, stepsize: Real) -> Any:
    """FedProx's fixed point for μ = 1/s: (Σ {I − (I + sA_jᵀA_j)⁻¹})⁻¹ Σ (A_jᵀA_j + (1/s)I)⁻¹A_jᵀb_j, shape (d,)."""
    left, right = [], []
    for design, response in zip(A, b, strict=True):
        H = gram(design)
        # In the matrices' own arithmetic: NumPy, torch, flint or SymPy.
        identity, s = identity_like(H), scalar_of(H, stepsize)
        left.append(identity - inverse(identity + s * H))
        right.append(product(inverse(H + 1 / s * identity), _right(design, response)))
    return product(inverse(total(left)), total(right))


@PAPER.statement(
    "Equation (10)",
    ClaimType.IDENTITY,
    symbol=r"x^*_{\mathrm{FedGD}}",
    relation="=",
    redefines=DATA | OF_GRADIENT_STEPS,
    assumes=(Runs("FedGD"),),
)
def fedgd_fixed_point(*, A: Matrices, b: Matrices, stepsize: Real, local_steps: Real) -> Any:
    """The fixed point of FedGD(s, e): (Σ A_jᵀA_j P_j)⁻¹ Σ P_j A_jᵀb_j with P_j = Σ_{k<e}(I − sA_jᵀA_j)^k, shape (d,).

    The footnote assumes ‖I − sA_jᵀA_j‖ < 1, which fails for an A_j without full column rank; the formula does not need
    it.
    """
    left, right = [], []
    for design, response in zip(A, b, strict=True):
        H = gram(design)
        powers = sum_of_powers(identity_like(H) - scalar_of(H, stepsize) * H, local_steps)
        left.append(product(H, powers))
        right.append(product(powers, _right(design, response)))
    return product(inverse(total(left)), total(right))


def _right(design: Any, response: Any) -> Any:
    return product(transpose(design), column(response))
