"""A formula that checks its arguments and runs in any arithmetic."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature, signature
from typing import Any, final

from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.statements import arguments as taken
from fedconvex.statements.arguments import Arguments, Numbers, NumberType, entry, is_array, name_at, parameter_of
from fedconvex.statements.conditions import Condition, by_definition, refuse
from fedconvex.statements.functions import Imprecise, Irrational, Undecided, home, is_rational
from fedconvex.statements.notation import NUMBER, Parameter, Shape, Units
from fedconvex.statements.results import assembled, broadcast_shape, is_finite, like, out_of_range, parts, relocating
from fedconvex.statements.signs import sign

PRECISION = 128  # bits of the balls that exact arguments give where the result is irrational
MAX_PRECISION = 1 << 14
FLOAT_BITS = 53


@final
@dataclass(frozen=True, eq=False, repr=False)
class Calculator:
    """Call it with keyword arguments: numbers of one kind, or arrays that broadcast.

    | arguments | result |
    |---|---|
    | float, int | float (rounded, unproved) |
    | with a Fraction or fmpq, and no float | the exact value; an arb ball that contains it where it is irrational |
    | with an arb | an arb that contains the value, at flint's working precision |
    | NumPy arrays | float64, broadcast; object arrays entry by entry |
    | torch tensors | a tensor, differentiable |
    | SymPy | an expression |

    Raises InvalidInput (a ValueError) where a condition does not hold, or floats leave their range.
    """

    name: str  # of the function
    owner: str  # what errors name: the statement
    formula: Callable[..., Any]
    parameters: Mapping[str, Parameter]
    conditions: tuple[Condition, ...] = ()
    integer: bool = False  # the result is an integer, and must be the right one: floats are taken exactly
    upwards: bool = False  # the least number that something admits: floats, and what is irrational, are rounded up
    units: Units | tuple[Units, ...] = NUMBER

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.formula.__doc__)
        object.__setattr__(self, "__wrapped__", self.formula)
        object.__setattr__(self, "__signature__", signature(self.formula))

    def __repr__(self) -> str:
        return f"<{self.owner}: {self.name}({', '.join(self.names)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by its place in the code, as functions are."""
        return restored, (self.formula.__module__, self.formula.__name__)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The arguments, in order."""
        return tuple(signature(self.formula).parameters)

    @cached_property
    def defaults(self) -> Numbers:
        """The arguments that need not be given."""
        arguments = signature(self.formula).parameters.values()
        return {a.name: a.default for a in arguments if a.default is not Argument.empty}

    @cached_property
    def all_conditions(self) -> tuple[Condition, ...]:
        """What every argument's meaning asks for, then what the statement does."""
        return (*(c for name in self.names for c in by_definition(name, self.parameters[name])), *self.conditions)

    def __call__(self, **given: Any) -> Any:
        if any(parameter.shape is Shape.MATRICES for parameter in self.parameters.values()):
            from fedconvex.statements.matrices import call_with_matrices

            return call_with_matrices(self, given)
        arguments = self.arguments(given)
        kind = arguments.kind
        if kind in (NumberType.ARRAY, NumberType.OBJECTS, NumberType.TENSOR):
            broadcast_shape(arguments.values)
        if self.upwards and kind is NumberType.FLOAT:
            return self._rounded_up(arguments)
        if self.upwards and kind is NumberType.ARRAY:
            import numpy as np

            return self._one_by_one(arguments).astype(np.float64)
        if self.integer and kind in (NumberType.FLOAT, NumberType.ARRAY, NumberType.TENSOR):
            kind = NumberType.EXACT if kind is NumberType.FLOAT else NumberType.OBJECTS
        if kind is NumberType.OBJECTS:
            return self._one_by_one(arguments)
        if kind is NumberType.ARRAY:
            from fedconvex.statements.arrays import in_chunks

            return in_chunks(self, arguments)
        self.check(arguments.values)
        return self._compute(arguments, kind)

    def arguments(self, given: Mapping[str, Any]) -> Arguments:
        """What was given, flattened, with the defaults; TypeError where a name is unknown or missing."""
        bound = Signature.bind(self.__signature__, **given)  # type: ignore[attr-defined]
        return Arguments.of({**self.defaults, **bound.arguments}, self.parameters)

    def check(self, values: Numbers) -> None:
        """Raises InvalidInput for the first condition that does not hold."""
        _require_one_device(self.owner, values)
        for name, value in values.items():
            _require_finite(name, value)
        for name, value in values.items():
            if self.parameters[parameter_of(name)].integer:
                self._require_integer(name, value)
        for condition in self.all_conditions:
            if not all(name in values for name in condition.names):
                continue  # asked about some of the arguments only
            for name in values:
                if parameter_of(name) == condition.argument:
                    offence = condition.check(name, values)
                    if offence is not None:
                        raise refuse(self.owner, condition, offence, self.parameters)

    def sign(self, *, precision: int = 64, limit: int = 1 << 12, **given: Any) -> Any:
        """The certified sign of the value at exact arguments (floats are): see `signs.sign`."""
        return sign(self, given, precision=precision, limit=limit)

    def check_arrays(self, arguments: Arguments) -> None:
        """`check` for arguments among which there are arrays, of floats or of objects."""
        if arguments.kind is not NumberType.OBJECTS:
            self.check(arguments.values)
            return
        for index, values in self._entries(arguments):
            with relocating(index, arguments.values):
                self.check(values)

    def apply(self, arguments: Arguments, values: Numbers) -> Any:
        """The formula, without any check."""
        return arguments.call(self.formula, values, self.names)

    def in_balls(self, arguments: Arguments, precision: int) -> Any:
        """The formula in balls at a precision, the values having been checked; Undecided where a ball is too wide."""
        import flint

        with flint.ctx.workprec(precision):
            return self.apply(arguments, {name: taken.to_ball(value) for name, value in arguments.values.items()})

    def exactly(self, arguments: Arguments) -> Any:
        """The formula in rational numbers; Irrational where it leaves them."""
        values = {name: taken.to_exact(value) for name, value in arguments.values.items()}
        if any(type(value).__name__ == "fmpq" for value in values.values()):
            from fedconvex.arithmetic.rationals import to_fmpq

            values = {name: to_fmpq(value) for name, value in values.items()}
        return self.apply(arguments, values)

    def _compute(self, arguments: Arguments, kind: NumberType) -> Any:
        values = arguments.values
        match kind:
            case NumberType.SYMBOL:
                return self.apply(arguments, {name: taken.to_symbol(value) for name, value in values.items()})
            case NumberType.BALL:
                try:
                    return self.in_balls(arguments, _working_precision())
                except Undecided:
                    cure = "give narrower balls, or exact numbers"
                    raise InvalidInput(self.name, values, "balls too wide for one integer", cure) from None
            case NumberType.EXACT:
                value = self._exactly_or_enclosed(arguments)
                return _upper_end(value) if self.upwards and not is_rational(value) else value
            case NumberType.TENSOR:
                return self._in_tensors(arguments)
        return self.as_float(arguments)

    def _exactly_or_enclosed(self, arguments: Arguments) -> Any:
        try:
            return self.exactly(arguments)
        except Irrational:
            pass
        precision = max(PRECISION, _working_precision())
        while precision <= MAX_PRECISION:
            try:
                return self.in_balls(arguments, precision)
            except Undecided:
                precision *= 2
        raise NotConverged(f"{self.owner}: {MAX_PRECISION} bits do not decide between two integers")

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

    def as_float(self, arguments: Arguments) -> Any:
        """The value as a float, unchecked; by way of balls where floats may overflow halfway, or lose their digits."""
        if any(taken.is_extreme(value) for value in arguments.values.values()):
            return self._nearest(arguments)
        try:
            result = self.apply(arguments, {name: taken.to_float(value) for name, value in arguments.values.items()})
        except (ArithmeticError, ValueError):
            return self._nearest(arguments)
        return result if all(is_finite(part) for part in parts(result)) else self._nearest(arguments)

    def _nearest(self, arguments: Arguments) -> Any:
        """The value in balls, as a float: at twice the precision again and again until all its digits are right."""
        precision = PRECISION
        result = self.in_balls(arguments, precision)
        while precision < MAX_PRECISION and not all(map(_is_sharp, parts(result))):
            precision *= 2
            result = self.in_balls(arguments, precision)
        if not all(_is_sharp(part) or float(part.rad()) == 0 for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        floats = [float(part) for part in parts(result)]
        if not all(map(is_finite, floats)) or not all(is_finite(part) for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        return like(type(result), floats) if isinstance(result, tuple) else floats[0]

    def _rounded_up(self, arguments: Arguments) -> float:
        """The least float that is not below the value."""
        from fedconvex.arithmetic.balls import upper_float

        self.check(arguments.values)
        return upper_float(taken.to_ball(self._exactly_or_enclosed(arguments)))

    def _one_by_one(self, arguments: Arguments) -> Any:
        """Every entry of the broadcast arrays by itself."""
        import numpy as np

        results: Any = None
        for index, values in self._entries(arguments):
            with relocating(index, arguments.values):
                result = arguments.call(self, values, self.names)
            if results is None:
                results = np.empty(broadcast_shape(arguments.values), dtype=object)
            results[index] = result
        if results is None:
            return self.of_nothing(arguments)
        return assembled(results, arguments.kind)

    def of_nothing(self, arguments: Arguments) -> Any:
        """The result for arrays without entries: what is not an array is checked all the same."""
        import numpy as np

        shape = broadcast_shape(arguments.values)
        self.check({name: value for name, value in arguments.values.items() if not is_array(value)})
        count = len(self.units) if isinstance(self.units[0], tuple) else 1
        if count == 1:
            return np.empty(shape)
        kind = self.formula.__annotations__["return"]
        return like(kind, [np.empty(shape) for _ in range(count)])

    def _entries(self, arguments: Arguments) -> Iterator[tuple[tuple[int, ...], Numbers]]:
        """Index and single values, for every entry of the broadcast arrays."""
        import numpy as np

        arrays = {name: _plain(value) for name, value in arguments.values.items()}
        for index in np.ndindex(broadcast_shape(arrays)):
            yield index, {name: entry(value, index) for name, value in arrays.items()}

    def _require_integer(self, name: str, value: Any) -> None:
        place = _not_an_integer(value)
        if place is not None:
            argument = name_at(name, place, tuple(getattr(value, "shape", ())))
            raise InvalidInput(argument, entry(value, place), f"{self.owner} needs an integer", "give an integer")


def restored(module: str, name: str) -> Any:
    """The calculator that a function of that name was made into."""
    found = getattr(import_module(module), name)
    return getattr(found, "calculator", found)


def _upper_end(ball: Any) -> Fraction:
    """The upper end of a ball as a rational number."""
    import flint

    with flint.ctx.workprec(PRECISION):
        mantissa, exponent = ball.upper().mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _is_sharp(part: Any) -> bool:
    """Whether a ball, or a number that a formula gives as it is, says all digits of a float."""
    return not hasattr(part, "rad") or part.rel_accuracy_bits() > FLOAT_BITS or part == 0


def _working_precision() -> int:
    from flint import ctx

    return int(ctx.prec)


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if home(value) == "torch" else value


def _require_finite(name: str, value: Any) -> None:
    library = home(value)
    if library == "builtins":
        if value - value == 0:
            return
    elif library == "flint":
        if not hasattr(value, "rad") or value.is_finite():
            return
    elif library == "sympy":
        if value.is_finite is not False and value.is_real is not False and not value.has(*_infinities()):
            return
    elif library in ("numpy", "torch"):
        import numpy as np

        finite = np.isfinite(taken.to_float(value))
        if finite.all():
            return
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        value, name = entry(value, index), name_at(name, index, tuple(finite.shape))
    else:
        return
    raise InvalidInput(name, value, "is not a finite real number", "give finite numbers")


def _infinities() -> tuple[Any, ...]:
    import sympy

    return sympy.nan, sympy.oo, -sympy.oo, sympy.zoo


def _require_one_device(owner: str, values: Numbers) -> None:
    devices = {name: str(value.device) for name, value in values.items() if home(value) == "torch"}
    if len(set(devices.values())) > 1:
        problem = f"{owner} needs tensors on one device"
        raise InvalidInput("arguments", devices, problem, "move them to one: tensor.to(device)")


def _not_an_integer(value: Any) -> tuple[int, ...] | None:
    """The place of the first entry that is surely no integer."""
    if is_array(value):
        import numpy as np

        array = taken.to_float(value)
        fractional = np.floor(array) != array
        return tuple(int(i) for i in np.argwhere(fractional)[0]) if fractional.any() else None
    if home(value) == "sympy":
        return () if value.is_integer is False else None
    if type(value).__name__ == "arb":
        return None if value.contains_integer() else ()
    return None if taken.to_exact(value) == int(taken.to_exact(value)) else ()
