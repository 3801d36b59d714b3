"""Calculators of the papers' bounds: formulas that check their arguments and run in the arithmetic of these."""

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, final

from fedconvex.errors import InvalidInput, UnknownKeyword
from fedconvex.statements import arguments as taken
from fedconvex.statements.arguments import Arguments, NumberType
from fedconvex.statements.formula import PRECISION, CheckedFormula, working_precision
from fedconvex.statements.functions import Imprecise, Undecided, is_rational
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import assembled, broadcast_shape, is_finite, out_of_range, parts, relocating
from fedconvex.statements.signs import sign

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P", default=...)  # the formula's arguments: type checkers know their names
else:
    from typing import ParamSpec

    P = ParamSpec("P")  # Python 3.13 knows defaults


@final
@dataclass(frozen=True, eq=False, repr=False)
class Calculator(CheckedFormula, Generic[P]):
    """Evaluates a paper's formula: call it with keyword arguments, numbers of one kind or arrays that broadcast.

    | arguments | result |
    |---|---|
    | float, int | float (rounded, unproved) |
    | with a Fraction or fmpq, and no float | the exact value; an arb ball that contains it where it is irrational |
    | with an arb | an arb that contains the value, at flint's working precision |
    | NumPy arrays | float64, broadcast; object arrays entry by entry |
    | torch tensors | a tensor, differentiable |
    | SymPy | an expression |

    Use floats and arrays to explore, exact numbers or balls where the result is to be relied on, and `sign` where
    only the sign counts. Raises InvalidInput (a ValueError) where a condition does not hold, or floats leave their
    range.
    """

    def __repr__(self) -> str:
        return f"<{self.owner}: {self.name}({', '.join(self.names)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the calculator by its place in the code, as Python does with functions."""
        return restored, (self.formula.__module__, self.formula.__name__)

    def __call__(self, *unnamed: P.args, **given: P.kwargs) -> Any:
        if unnamed:
            cure = f"name them: {', '.join(self.names)}"
            raise UnknownKeyword("arguments", unnamed, f"{self.owner} takes its arguments by name", cure)
        if any(parameter.shape is Shape.MATRICES for parameter in self.parameters.values()):
            from fedconvex.statements.matrices import call_with_matrices

            return call_with_matrices(self, given)
        arguments = self.arguments(given)
        kind = arguments.kind
        if kind in (NumberType.ARRAY, NumberType.OBJECTS, NumberType.TENSOR):
            broadcast_shape(arguments.values)  # raises where the shapes do not fit together
        if self.upwards and kind is NumberType.FLOAT:
            return self._rounded_up(arguments)
        if self.upwards and kind is NumberType.ARRAY:
            import numpy as np

            # each entry is rounded up from its exact value, which array arithmetic does not have
            return self._one_by_one(arguments).astype(np.float64)
        if self.integer and kind in (NumberType.FLOAT, NumberType.ARRAY, NumberType.TENSOR):
            # ⌈x⌉ of a rounded x may be off by one: integers are computed from the exact values of the floats
            kind = NumberType.EXACT if kind is NumberType.FLOAT else NumberType.OBJECTS
        if kind is NumberType.OBJECTS:
            return self._one_by_one(arguments)
        if kind is NumberType.ARRAY:
            from fedconvex.statements.arrays import in_chunks

            return in_chunks(self, arguments)
        self.check(arguments.values)
        return self._compute(arguments, kind)

    def sign(self, *, precision: int = 64, limit: int = 1 << 12, **given: Any) -> Any:
        """The certified sign of the value at exact arguments (a float is taken as the rational number that it is).

        Use it to decide whether a bound is positive: a computed float near 0 does not decide that. See `signs.sign`.
        """
        return sign(self, given, precision=precision, limit=limit)

    def _compute(self, arguments: Arguments, kind: NumberType) -> Any:
        """The value for checked arguments that include no NumPy array."""
        values = arguments.values
        match kind:
            case NumberType.SYMBOL:
                return self.apply(arguments, {name: taken.to_symbol(value) for name, value in values.items()})
            case NumberType.BALL:
                try:
                    return self.in_balls(arguments, working_precision())
                except Undecided:
                    cure = "give narrower balls, or exact numbers"
                    raise InvalidInput(self.name, values, "balls too wide for one integer", cure) from None
            case NumberType.EXACT:
                value = self.exactly_or_enclosed(arguments)
                return _upper_bound(value) if self.upwards and not is_rational(value) else value
            case NumberType.TENSOR:
                return self._in_tensors(arguments)
        return self.as_float(arguments)

    def _in_tensors(self, arguments: Arguments) -> Any:
        convert = taken.to_tensors(arguments.values)
        values = {name: convert(value) for name, value in arguments.values.items()}
        try:
            result = self.apply(arguments, values)
        except Imprecise:
            problem, cure = f"{self.owner} loses its digits in floats", "give numbers, or NumPy arrays"
            raise InvalidInput("arguments", arguments.values, problem, cure) from None
        except (ArithmeticError, ValueError):
            raise out_of_range(self.owner, arguments.values) from None
        if not all(is_finite(part) for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        return result

    def _rounded_up(self, arguments: Arguments) -> float:
        """A float that is not below the value."""
        from fedconvex.arithmetic.balls import upper_float

        self.check(arguments.values)
        return upper_float(taken.to_ball(self.exactly_or_enclosed(arguments)))

    def _one_by_one(self, arguments: Arguments) -> Any:
        """The values at the entries of the broadcast arrays, each computed by a call of its own."""
        import numpy as np

        results: Any = None
        for index, values in self.entries(arguments):
            with relocating(index, arguments.values):
                result = arguments.call(self, values, self.names)
            if results is None:
                results = np.empty(broadcast_shape(arguments.values), dtype=object)
            results[index] = result
        if results is None:
            return self.of_nothing(arguments)
        return assembled(results, arguments.kind)


def restored(module: str, name: str) -> Any:
    """The calculator of a pickle: the one that a module's function of that name was decorated into."""
    found = getattr(import_module(module), name)
    return getattr(found, "calculator", found)


def _upper_bound(ball: Any) -> Fraction:
    """The upper bound of a ball as a rational number."""
    import flint

    with flint.ctx.workprec(PRECISION):
        mantissa, exponent = ball.upper().mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
