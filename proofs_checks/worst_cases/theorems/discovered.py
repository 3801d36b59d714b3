"""What `discover` has found: a formula for a bound, where it holds, and its proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import root_above, root_below, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.scalars import polynomial_at
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Functions, Region, at
from fedconvex.safe_text import one_line
from fedconvex.shown import COLUMNS, on_screen
from fedconvex.validation import integer_at_least
from fedconvex.verdicts import Verdict

DIGITS = 10**18  # of a bound on a root


@final
@dataclass(frozen=True)
class QuadraticNumber:
    """u + v√D with rational u, v and D >= 0, whose sign is decided exactly."""

    u: Fraction
    v: Fraction
    D: Fraction

    def __add__(self, other: Any) -> "QuadraticNumber":
        other = self._of(other)
        return QuadraticNumber(self.u + other.u, self.v + other.v, self.D)

    def __mul__(self, other: Any) -> "QuadraticNumber":
        other = self._of(other)
        return QuadraticNumber(
            self.u * other.u + self.v * other.v * self.D, self.u * other.v + self.v * other.u, self.D
        )

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> "QuadraticNumber":
        return prod([self] * exponent, start=self._of(1))

    @property
    def sign(self) -> int:
        """−1, 0 or 1."""
        of_u, of_v = _sign(self.u), _sign(self.v * self.D)
        if of_u * of_v >= 0:
            return of_u or of_v
        return of_u * _sign(self.u**2 - self.v**2 * self.D)

    @property
    def above(self) -> Fraction:
        """A rational number that is not smaller, by at most |v|·10⁻¹⁸·max(1, √D)."""
        rounded = root_above if self.v > 0 else root_below
        return self.u + self.v * rounded(self.D, Fraction(1, self.D.denominator * DIGITS))

    def _of(self, x: Any) -> "QuadraticNumber":
        return x if isinstance(x, QuadraticNumber) else QuadraticNumber(Fraction(x), Fraction(0), self.D)


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


@final
@dataclass(frozen=True, eq=False)
class RootOfQuadratic:
    """r = (t + √(t² − 4d))/2, the larger root of r² − t·r + d = 0.

    Args:
        symbol: r.
        parameters: the symbols that t and d depend on.
        t: a rational function of them, an expression.
        d: another one.
    """

    symbol: Any
    parameters: tuple[Any, ...]
    t: Any
    d: Any

    @property
    def expression(self) -> Any:
        """(a + √b)/c, with a, b and c polynomials."""
        above, below = sympy.fraction(sympy.cancel(self.t))
        inside = sympy.factor(sympy.cancel((self.t**2 - 4 * self.d) * below**2))
        return (above + sympy.sqrt(inside)) / (2 * below)

    def at(self, point: Sequence[Any]) -> QuadraticNumber:
        """r at parameters, flint's rationals, where the root is real."""
        functions = Functions(self.parameters)
        t, d = (to_fraction(at(functions.of(x), point)) for x in (self.t, self.d))
        return QuadraticNumber(t / 2, Fraction(1, 2), t * t - 4 * d)

    def __str__(self) -> str:
        return f"{self.symbol} = {self.expression}"


@final
@dataclass(frozen=True, eq=False)
class Discovered:
    """metric <= bound · N for all parameters in the domain; for "descent" metric >= bound · N.

    For "lyapunov" V(next state) <= bound · V(state), for any number of clients. `function` has V's coefficients by what
    they multiply: squares of the state's errors, which are its differences from where the method rests.

    `where` are the domain's relations: the given ones, and those that the proof needs besides. `multipliers` are by the
    inequalities' names. `sharp`: at the first few points an instance attains the bound, or comes within 1e-9 of it;
    elsewhere this was not checked. `proof` is the claim with its setting and what the kernel replays. `verdict` is
    UNKNOWN where the kernel refuses it, or without one, and `says` why. `local_steps` is the parameter that is any
    number of local steps, an integer >= 1; empty where there is none. `root`: where the rate is irrational, its root in
    the bound and in the domain, which solves a quadratic equation.
    """

    parameters: tuple[Any, ...]
    metric: str
    verdict: Verdict
    says: str
    where: tuple[Any, ...]
    bound: Any = None
    multipliers: Mapping[str, Any] = field(default_factory=dict)
    proof: Lemma | None = None
    sharp: bool = False
    function: Mapping[str, Any] = field(default_factory=dict)
    local_steps: str = ""
    root: RootOfQuadratic | None = None

    def at(self, **values: Any) -> Fraction:
        """The bound at a point, exactly; where it is irrational, a rational number above it by less than 10⁻¹⁵.

        Raises InvalidInput outside of the domain, or without a proof.
        """
        if self.verdict is not Verdict.PROVED:
            raise InvalidInput("bound", self.bound, f"is not proved: {self.says}", "call worst_case at numbers")
        names = list(map(str, self.parameters))
        if values.keys() != set(names):
            raise InvalidInput("values", sorted(values), "are not the parameters", f"give {', '.join(names)}")
        if self.local_steps:
            return self._at_steps(values)
        point = [to_fmpq(values[name], name) for name in names]
        r = None if self.root is None else self.root.at(point)
        if (point not in self._region) if r is None else not self._holds_at([*map(to_fraction, point), r]):
            raise InvalidInput("values", values, f"are outside of {self.where}, where it holds", "give others")
        if r is not None:
            return (r * r).above
        return max(to_fraction(at(function, point)) for function in self._functions)

    def _at_steps(self, values: Mapping[str, Any]) -> Fraction:
        """The bound for one number of local steps."""
        count = integer_at_least(values[self.local_steps], 1, self.local_steps)
        symbol = next(x for x in self.parameters if str(x) == self.local_steps)
        where = tuple(r.subs(symbol, count) for r in self.where)
        if sympy.false in where:
            raise InvalidInput("values", values, f"are outside of {self.where}, where it holds", "give others")
        others = tuple(x for x in self.parameters if x != symbol)
        where, bound = tuple(r for r in where if r != sympy.true), self.bound.subs(symbol, count)
        at_count = replace(self, parameters=others, where=where, bound=bound, local_steps="")
        return at_count.at(**{name: x for name, x in values.items() if name != self.local_steps})

    def _holds_at(self, point: Sequence[Any]) -> bool:
        """Whether the parameters and the root satisfy all relations."""
        assert self.root is not None
        *others, r = point
        if r.D < 0:
            return False
        zero, functions = (
            QuadraticNumber(Fraction(0), Fraction(0), r.D),
            Functions((*self.parameters, self.root.symbol)),
        )
        for relation in self.where:
            side = functions.of(relation.gts - relation.lts)
            above, below = (polynomial_at(part, [*others, r], zero).sign for part in (side.above, side.below))
            strict = isinstance(relation, sympy.Gt | sympy.Lt)
            if not below or above * below < strict:
                return False
        return bool(r.D > 0 and min(others) > 0)

    @cached_property
    def _region(self) -> Region:
        return Region(self.parameters, self.where)

    @cached_property
    def _functions(self) -> list[Any]:
        """The bound, or those of which it is the larger one."""
        functions = Functions(self.parameters)
        return [functions.of(f) for f in (self.bound.args if self.bound.func is sympy.Max else (self.bound,))]

    def __str__(self) -> str:
        """The bound, where it holds, V where there is one, and what was checked."""
        if self.bound is None:
            return f"{self.verdict.name}: {self.says}"
        relation = ">=" if self.metric == "descent" else "<="
        left, right = ("V(next state)", "V(state)") if self.metric == "lyapunov" else (self.metric, "N")
        where = ", ".join(map(str, self.where)) or "all parameters are positive"
        where = f"{where}, for every integer {self.local_steps} >= 1" if self.local_steps else where
        lines = [f"{left} {relation} {self.bound} · {right}"]
        lines += [f"with {self.root}"] if self.root is not None else []
        lines += [f"where {where}"]
        if self.function:
            parts = (name if c == 1 else f"{name} · ({c})" for name, c in self.function.items())
            lines.append(f"V = {' + '.join(parts)}, of the state's errors")
        return on_screen("\n".join([*lines, f"{self.verdict.name}: {self.says}"]))

    def __repr__(self) -> str:
        return f"<{self.verdict.name}: {self.metric} bound {one_line(str(self.bound), COLUMNS)}>"

    def _repr_markdown_(self) -> str:
        relation = r"\ge" if self.metric == "descent" else r"\le"
        holds = ", ".join(f"${sympy.latex(r)}$" for r in self.where) or "all parameters are positive"
        holds = rf"{holds}, for every integer ${self.local_steps} \ge 1$" if self.local_steps else holds
        name = self.metric.replace("_", " ")
        if self.metric == "lyapunov":
            root = (
                ""
                if self.root is None
                else f" with ${sympy.latex(self.root.symbol)} = {sympy.latex(self.root.expression)}$"
            )
            bound = sympy.latex(self.bound)
            return rf"$V(\text{{next state}}) \le {bound} \cdot V${root} where {holds}: {self.says}"
        return rf"$\text{{{name}}} {relation} {sympy.latex(self.bound)} \cdot N$ where {holds}: {self.says}"
