r"""Formulas of the clients' matrices as terms: one client's A_j and b_j stand for those of all.

A formula over lists of matrices is called with lists of one entry, that of client j; the sum over the entries is then
displayed as \sum_{j=1}^m.
"""

from dataclasses import dataclass
from typing import Any

from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.typesetting import ATOM, POWER, PRODUCT, SUM, Shown, brackets, is_sum_over
from fedconvex.claims.terms import IllFormed, Number, number

SQUARE = ("d", "d")


@dataclass(frozen=True)
class MatrixTerm:
    """A matrix or vector made of the clients' data: an operation, its operands, and the sizes of the result.

    `statements.matrices` calls the operations. The sizes are names, so that operands that do not fit are refused.
    """

    head: str
    args: tuple[Any, ...]
    shape: tuple[str, ...]

    def __add__(self, other: "MatrixTerm") -> "MatrixTerm":
        return self._with("+", other)

    def __sub__(self, other: "MatrixTerm") -> "MatrixTerm":
        return self._with("-", other)

    def __matmul__(self, other: "MatrixTerm") -> "MatrixTerm":
        if self.shape[-1:] != other.shape[:1]:
            raise IllFormed("@", (self.shape, other.shape), "are sizes of matrices without a product", "transpose one")
        return MatrixTerm("@", (self, other), self.shape[:-1] + other.shape[1:])

    def __rmul__(self, factor: Any) -> "MatrixTerm":
        return MatrixTerm("*", (number(factor), self), self.shape)

    def __truediv__(self, divisor: Any) -> "MatrixTerm":
        return (1 / number(divisor)) * self

    @property
    def T(self) -> "MatrixTerm":
        return MatrixTerm("transpose", (self,), self.shape[::-1])

    def inverse(self) -> "MatrixTerm":
        return MatrixTerm("inverse", (self._square(),), self.shape)

    def identity(self) -> "MatrixTerm":
        return MatrixTerm("identity", (), self._square().shape)

    def powers(self, count: Number) -> "MatrixTerm":
        """Σ_{k<count} of this matrix to the power k."""
        return MatrixTerm("powers", (self._square(), count), self.shape)

    def squared_length(self) -> "MatrixTerm":
        return MatrixTerm("squared length", (self,), ())

    def total(self) -> "MatrixTerm":
        """The sum over the clients, of whom this is one's."""
        if len({*self.shape} - {"d"}) > 0:
            raise IllFormed("sum", self.shape, "are sizes that differ between clients", "sum what has the size d")
        return MatrixTerm("sum", (self,), self.shape)

    def _with(self, sign: str, other: "MatrixTerm") -> "MatrixTerm":
        if self.shape != other.shape:
            raise IllFormed(sign, (self.shape, other.shape), "are different sizes", "give operands of one size")
        return MatrixTerm(sign, (self, other), self.shape)

    def _square(self) -> "MatrixTerm":
        if self.shape != SQUARE:
            raise IllFormed("matrix", self.shape, "is not square", "give a square matrix")
        return self


def of_client(symbol: str, name: str) -> MatrixTerm:
    """A client's data: capitals are n × d matrices, small letters columns of n entries."""
    return MatrixTerm("data", (symbol,), ("n", "d") if name.isupper() else ("n",))


def unknown(symbol: str) -> MatrixTerm:
    """A column of d entries that all clients share."""
    return MatrixTerm("data", (symbol,), ("d",))


def matrix_latex(term: MatrixTerm, display: Display) -> str:
    """The formula as LaTeX."""
    return _show(term, display).text


def _show(term: MatrixTerm, display: Display) -> Shown:
    def inside(x: MatrixTerm, level: int) -> str:
        shown = _show(x, display)
        return brackets(shown.text) if shown.level < level else shown.text

    match term.head, term.args:
        case "data", (symbol,):
            return Shown(symbol)
        case "identity", ():
            return Shown("I")
        case ("+" | "-") as sign, (x, y):
            return Shown(f"{inside(x, SUM)} {sign} {inside(y, PRODUCT)}", SUM)
        case "@", (x, y):
            left = inside(x, PRODUCT)
            return Shown(f"{brackets(left) if is_sum_over(left) else left} {inside(y, PRODUCT)}", PRODUCT)
        case "*", (factor, x):
            number_shown = display.bracketed(factor, PRODUCT)
            before = brackets(number_shown) if "/" in number_shown else number_shown
            return Shown(f"{before} {inside(x, PRODUCT)}", PRODUCT)
        case "transpose", (x,):
            return Shown(rf"{inside(x, ATOM)}^\top", POWER)
        case "inverse", (x,):
            return Shown(
                f"{inside(x, ATOM)}^{{-1}}" if x.head != "sum" else f"{brackets(inside(x, SUM))}^{{-1}}", POWER
            )
        case "squared length", (x,):
            return Shown(rf"\|{inside(x, SUM)}\|^2", POWER)
        case "powers", (x, count):
            return Shown(rf"\sum_{{k=0}}^{{{display.latex(count - 1)}}} {inside(x, ATOM)}^k", PRODUCT)
        case "sum", (x,):
            return Shown(rf"\sum_{{j=1}}^m {inside(x, PRODUCT)}", PRODUCT)
    raise AssertionError(term.head)
