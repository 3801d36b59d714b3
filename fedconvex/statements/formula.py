"""A paper's formula with its parameters and conditions: checks of arguments, evaluation in each arithmetic.

`Calculator` (in `calculator`) chooses among these evaluations by the arguments of a call; `matrices` and `signs`
use them, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter as Argument
from inspect import Signature, signature
from typing import Any

from fedconvex.arithmetic import working_precision
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.names import require_keywords
from fedconvex.statements import arguments as taken
from fedconvex.statements.arguments import Arguments, Numbers, NumberType, entry, is_array, name_at, parameter_of
from fedconvex.statements.conditions import Condition, by_definition, refuse
from fedconvex.statements.functions import Irrational, Undecided, home
from fedconvex.statements.notation import NUMBER, Parameter, Units
from fedconvex.statements.results import broadcast_shape, is_finite, like, out_of_range, parts, relocating

PRECISION = 128  # bits of the balls in which a formula is evaluated that is irrational at exact arguments
MAX_PRECISION = 1 << 14
FLOAT_BITS = 53


@dataclass(frozen=True, eq=False, repr=False)
class CheckedFormula(ABC):
    """The data of a calculator, the checks of its arguments, and its evaluation in one given arithmetic."""

    name: str  # of the function
    owner: str  # the statement, which error messages name
    formula: Callable[..., Any]
    parameters: Mapping[str, Parameter]
    conditions: tuple[Condition, ...] = ()
    integer: bool = False  # the result is an integer; floats are converted exactly, so that it is the right one
    upwards: bool = False  # the result is the least admissible number: irrational and float results are rounded up
    units: Units | tuple[Units, ...] = NUMBER

    def __post_init__(self) -> None:
        # documentation tools, `inspect` and notebooks show the paper's formula instead of `__call__(**given)`
        object.__setattr__(self, "__doc__", self.formula.__doc__)
        object.__setattr__(self, "__wrapped__", self.formula)
        object.__setattr__(self, "__signature__", signature(self.formula))

    @abstractmethod
    def __call__(self, **given: Any) -> Any:
        """The value, in the arithmetic of the arguments."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The arguments' names, in order."""
        return tuple(signature(self.formula).parameters)

    @cached_property
    def defaults(self) -> Numbers:
        """The default values, by argument."""
        arguments = signature(self.formula).parameters.values()
        return {a.name: a.default for a in arguments if a.default is not Argument.empty}

    @cached_property
    def all_conditions(self) -> tuple[Condition, ...]:
        """The ranges of the parameters, then the conditions of the statement."""
        return (*(c for name in self.names for c in by_definition(name, self.parameters[name])), *self.conditions)

    # arguments

    def arguments(self, given: Mapping[str, Any]) -> Arguments:
        """The given arguments and the defaults, sequences split up; TypeError for unknown or missing names."""
        require_keywords(self.owner, given, self.__signature__)  # type: ignore[attr-defined]
        bound = Signature.bind(self.__signature__, **given)  # type: ignore[attr-defined]
        return Arguments.of({**self.defaults, **bound.arguments}, self.parameters)

    def check(self, values: Numbers) -> None:
        """Raises InvalidInput for the first condition that does not hold."""
        _require_one_device(self.owner, values)
        # finiteness first: comparisons with NaN are False whether a condition holds or not
        for name, value in values.items():
            _require_finite(name, value)
        for name, value in values.items():
            if self.parameters[parameter_of(name)].integer:
                self._require_integer(name, value)
        for condition in self.all_conditions:
            if not all(name in values for name in condition.names):
                continue  # the caller passed only some of the arguments (see `of_nothing`)
            for name in values:
                if parameter_of(name) == condition.argument:
                    offence = condition.check(name, values)
                    if offence is not None:
                        raise refuse(self.owner, condition, offence, self.parameters)

    def check_arrays(self, arguments: Arguments) -> None:
        """`check` for arguments that include arrays, of floats or of objects."""
        if arguments.kind is not NumberType.OBJECTS:
            self.check(arguments.values)
            return
        for index, values in self.entries(arguments):
            with relocating(index, arguments.values):
                self.check(values)

    def entries(self, arguments: Arguments) -> Iterator[tuple[tuple[int, ...], Numbers]]:
        """Each index of the broadcast arrays with the single values there."""
        import numpy as np

        arrays = {name: _as_numpy(value) for name, value in arguments.values.items()}
        for index in np.ndindex(broadcast_shape(arrays)):
            yield index, {name: entry(value, index) for name, value in arrays.items()}

    # evaluation, without checks

    def apply(self, arguments: Arguments, values: Numbers) -> Any:
        """The formula at these values, in whatever arithmetic they are."""
        return arguments.call(self.formula, values, self.names)

    def exactly(self, arguments: Arguments) -> Any:
        """The value in rational arithmetic; raises Irrational where that does not suffice."""
        values = {name: taken.to_exact(value) for name, value in arguments.values.items()}
        if any(type(value).__name__ == "fmpq" for value in values.values()):
            from fedconvex.arithmetic.rationals import to_fmpq

            # Python's Fraction and flint's fmpq do not add or multiply with each other
            values = {name: to_fmpq(value) for name, value in values.items()}
        return self.apply(arguments, values)

    def in_balls(self, arguments: Arguments, precision: int) -> Any:
        """The value in balls of so many bits; raises Undecided where a ball is too wide for one integer."""
        import flint

        with flint.ctx.workprec(precision):
            return self.apply(arguments, {name: taken.to_ball(value) for name, value in arguments.values.items()})

    def exactly_or_enclosed(self, arguments: Arguments) -> Any:
        """The exact value where it is rational, else a ball that contains it."""
        try:
            return self.exactly(arguments)
        except Irrational:
            pass
        precision = max(PRECISION, working_precision())
        while precision <= MAX_PRECISION:
            try:
                return self.in_balls(arguments, precision)
            except Undecided:
                precision *= 2
        raise NotConverged(f"{self.owner}: {MAX_PRECISION} bits do not decide between two integers")

    def as_float(self, arguments: Arguments) -> Any:
        """The value as a float; computed in balls where an intermediate float may overflow or lose its digits."""
        if any(taken.is_extreme(value) for value in arguments.values.values()):
            return self._nearest(arguments)
        try:
            result = self.apply(arguments, {name: taken.to_float(value) for name, value in arguments.values.items()})
        except (ArithmeticError, ValueError):  # overflow, a division by a difference rounded to 0, √ of one below 0
            return self._nearest(arguments)
        return result if all(is_finite(part) for part in parts(result)) else self._nearest(arguments)

    def _nearest(self, arguments: Arguments) -> Any:
        """The value computed in balls, at doubled precision until every digit of the float is certain."""
        precision = PRECISION
        result = self.in_balls(arguments, precision)
        while precision < MAX_PRECISION and not all(map(_is_sharp, parts(result))):
            precision *= 2
            result = self.in_balls(arguments, precision)
        # a radius below the least float counts as 0: the value is 0 or as near to it as floats can say
        if not all(_is_sharp(part) or float(part.rad()) == 0 for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        floats = [float(part) for part in parts(result)]
        if not all(map(is_finite, floats)) or not all(is_finite(part) for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        return like(type(result), floats) if isinstance(result, tuple) else floats[0]

    def of_nothing(self, arguments: Arguments) -> Any:
        """The empty result for empty arrays; the arguments that are single numbers are checked nevertheless."""
        import numpy as np

        shape = broadcast_shape(arguments.values)
        self.check({name: value for name, value in arguments.values.items() if not is_array(value)})
        count = len(self.units) if isinstance(self.units[0], tuple) else 1
        if count == 1:
            return np.empty(shape)
        kind = self.formula.__annotations__["return"]  # the named tuple; no entry exists to read it off
        return like(kind, [np.empty(shape) for _ in range(count)])

    def _require_integer(self, name: str, value: Any) -> None:
        place = _not_an_integer(value)
        if place is not None:
            argument = name_at(name, place, tuple(getattr(value, "shape", ())))
            raise InvalidInput(argument, entry(value, place), f"{self.owner} needs an integer", "give an integer")


def _is_sharp(part: Any) -> bool:
    """Whether a ball, or a plain number that a formula returns, determines all digits of a float."""
    return not hasattr(part, "rad") or part.rel_accuracy_bits() > FLOAT_BITS or part == 0


def _as_numpy(value: Any) -> Any:
    if home(value) != "torch":
        return value
    from fedconvex.validation import from_torch

    return from_torch(value, "an argument")


def _require_finite(name: str, value: Any) -> None:
    library = home(value)
    if library == "builtins":
        if value - value == 0:  # false for NaN and infinities, and quicker than asking for the type
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
    """The index of the first entry that is certainly not an integer, () for a single number; None where all may be."""
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
