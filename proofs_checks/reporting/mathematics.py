"""Claims of proofs as one line of Unicode, for terminals: from their SymPy expressions."""

import re
from collections.abc import Mapping
from typing import Any

from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from fedconvex.claims.display.plain_text import from_latex as from_latex
from fedconvex.claims.display.plain_text import mixed as mixed
from fedconvex.claims.display.plain_text import script
from fedconvex.proofs_checks.engines.hilbert import HilbertVector
from fedconvex.statements.notation import Parameter


def from_expression(value: Any, notation: Mapping[str, Parameter]) -> str:
    """A claim's side, with the paper's letters for its parameters: a SymPy expression, or a combination of vectors."""
    letters = {name: from_latex(parameter.latex_symbol()) for name, parameter in notation.items()}
    printer = _Line(letters)
    if isinstance(value, HilbertVector):
        terms = (f"({printer.written(factor)})·[{atom}]" for atom, factor in value.parts.items() if factor != 0)
        return " + ".join(terms) or "0"
    return printer.written(value)


class _Line(StrPrinter):  # type: ignore[misc] # SymPy has no types
    """SymPy's one-line printer with powers, roots, products and letters as in a paper."""

    def __init__(self, letters: Mapping[str, str]) -> None:
        super().__init__()
        self.letters = letters

    def written(self, expression: Any) -> str:
        # "*" is now a product only: names of symbols, as in θ_*, have another star until the end.
        return str(self.doprint(expression)).replace("*", "·").replace("-", "−").replace("∗", "*")

    def _print_Symbol(self, symbol: Any) -> Any:  # noqa: N802 - SymPy finds the method by the class's name
        return self.letters.get(symbol.name, symbol.name).replace("*", "∗")

    _print_Dummy = _print_Symbol  # noqa: N815

    def _print_Pow(self, power: Any, rational: bool = False) -> Any:  # noqa: N802
        base, exponent = power.args
        if exponent.could_extract_minus_sign():
            return f"1/{self.parenthesize(base**-exponent, PRECEDENCE['Pow'])}"
        inside = self.parenthesize(base, PRECEDENCE["Pow"])
        if exponent == 1:
            return inside
        if 2 * exponent == 1:
            return f"√{inside}" if len(inside) == 1 or inside.startswith("(") else f"√({inside})"
        raised = script("^", self._print(exponent))
        return f"({inside}){raised}" if re.search(r"[\^ ]", inside) and inside[0] not in "(‖" else f"{inside}{raised}"
