"""The value of a term on a run: every operation of the claim language, in the arithmetic of the run.

The expectation over the draws is a sum over paths: a path is one sequence of draws with its probability, the moments
before and after each of its rounds, and the rounds. In exact arithmetic rational numbers stay rational; roots that are
not rational become balls, so that nothing is ever rounded without a bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.balls import square_root_upper
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.certainty import Certainty
from fedconvex.claims.terms import Number, Term, Vector
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.problems.base import Clients
from fedconvex.statements.functions import Undecided, ceil


class NotOnThisRun(InvalidInput):
    """A term that this run has no value for: an unknown parameter, a vector that the method does not keep."""


@final
@dataclass(frozen=True, eq=False)
class StateOnPath:
    """What there is between two rounds: the method's state, and each client's latest answer (m, d)."""

    state: State
    last_answers: Array | None = None


@final
@dataclass(frozen=True, eq=False)
class RoundOnPath:
    """What happened in a round. The rows of all clients (m, d) are computed when a term needs them."""

    answers: Callable[[], Array]
    solutions: Callable[[], Array]
    residuals: Callable[[], Array]
    local_gradients: Callable[[], Array]
    before_last_step: Callable[[], Array]
    local_step: Callable[[Array], Array]  # from the rows of all
    drawn: Callable[[Array], Array]  # the server's average over the drawn clients, from the rows of all


@final
@dataclass(frozen=True, eq=False)
class Path:
    """One sequence of draws: T + 1 moments and the T rounds between them."""

    probability: Any
    moments: tuple[StateOnPath, ...]
    rounds: tuple[RoundOnPath, ...]


@final
@dataclass(frozen=True, eq=False)
class Values:
    """The terms' values over all paths of a run. Call it inside `arithmetic.context()`.

    `client` restricts means over the clients to one client.
    """

    paths: Sequence[Path]
    clients: Clients
    weights: Array
    arithmetic: Arithmetic
    parameters: Mapping[str, Scalar]
    minimiser: Callable[[], Array]
    free: Mapping[str, Array]
    depends_on_draws: Callable[[Term], bool]
    client: int | None = None
    in_balls: Callable[[], Clients] | None = None  # the same functions, for points with irrational coordinates
    proximal: Callable[[Any, Array], Array] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kept", {})

    def of(self, term: Term, path: int = 0, time: int = 0) -> Any:
        """The value of the term on that path, where its time 0 is the moment before round `time`."""
        kept: dict[Any, Any] = self._kept  # type: ignore[attr-defined]
        if path and not time and not self.depends_on_draws(term):  # at the start all paths are one
            path = 0
        key = (id(term), path, time)  # the term outlives this object's use: its claim holds it
        if key not in kept:
            compute = self._vector if type(term) is Vector else self._number
            kept[key] = compute(term, path, time)  # type: ignore[arg-type]
        return kept[key]

    def expected(self, term: Term, time: int = 0) -> Any:
        """The expectation of the term over the paths."""
        values = (path.probability * self.of(term, i, time) for i, path in enumerate(self.paths))
        return sum(values, start=next(values))

    # ---- vectors: (d,), or (m, d) with one for every client ----

    def _vector(self, term: Vector, path: int, time: int) -> Array:
        run = self.paths[path]
        match term.head, term.args:
            case "server", (later,):
                return run.moments[time + later].state.server
            case ("shared" | "memory") as where, (name, later):
                kept = getattr(run.moments[time + later].state, where)
                if name not in kept:
                    raise NotOnThisRun(where, name, "is not in the method's state", f"it has {sorted(kept)}")
                return kept[name]
            case "last answers", (later,):
                answers = run.moments[time + later].last_answers
                if answers is None:
                    raise NotOnThisRun("last answers", None, "are unknown", "give the clients' first models")
                return answers
            case ("answers" | "solutions" | "residuals") as rows, ():
                return getattr(self._round(run, time), rows)()
            case "local gradients", ():
                return self._round(run, time).local_gradients()
            case "before last step", ():
                return self._round(run, time).before_last_step()
            case "local step", (of,):
                return self._round(run, time).local_step(self._rows(self.of(of, path, time)))
            case "minimiser", ():
                return self.minimiser()
            case "proximal", (weight, at) if self.proximal is not None:
                return self.proximal(self.of(weight, path, time), self.of(at, path, time))
            case "gradient", (at,):
                point = self.of(at, path, time)
                return self._functions(point).gradients(point)
            case "objective gradient", (at,):
                points = self.of(at, path, time)
                found = [self._mean(self._functions(x).gradients(x)) for x in (points if points.ndim > 1 else [points])]
                return self.arithmetic.rows(found) if points.ndim > 1 else found[0]
            case "mean", (of,):
                return self._mean(self.of(of, path, time))
            case "next round", (of,):
                self._round(run, time + 1)
                return self.of(of, path, time + 1)
            case "drawn", (of,):
                return self._round(run, time).drawn(self._rows(self.of(of, path, time)))
            case (("free" | "family"), (name,)):
                if name not in self.free:
                    raise NotOnThisRun("free", name, "has no value", "give the vector")
                return self.free[name]
            case "mean of rounds", (ratio, of):
                r = self.of(ratio, path, 0)
                weights = [self._power(r, t) for t in range(len(run.rounds))]
                total = sum(w * self.of(of, path, t) for t, w in enumerate(weights))
                return total / sum(weights)
        return self._either(term, path, time)

    # ---- numbers ----

    def _number(self, term: Number, path: int, time: int) -> Scalar:
        match term.head, term.args:
            case "constant", (c,):
                return self.arithmetic.scalar(c)
            case "parameter", (name,):
                if name not in self.parameters:
                    raise NotOnThisRun("parameter", name, "has no value on this run", f"give {name}=… to Claim.on")
                return self.parameters[name]
            case "inner", (u, v):
                return self._mean_number((self.of(u, path, time) * self.of(v, path, time)).sum(-1))
            case "norm", (u,):
                x = self.of(u, path, time)
                return self._root(self._mean_number((x * x).sum(-1)))
            case "value", (at,):
                point = self.of(at, path, time)
                return self._mean_number(self._functions(point).values(point))
            case "infimum", ():
                return self.of(Number("value", (Vector("minimiser"),)), path, time)
            case ("sum of rounds" | "mean of rounds") as head, (ratio, of):
                r, T = self.of(ratio, path, 0), len(self.paths[0].rounds)
                weights = [self._power(r, t) for t in range(T)]
                total = sum(w * self.expected(of, t) for t, w in enumerate(weights))
                return total / sum(weights) if head == "mean of rounds" else total
            case "after", (of,):
                return self.expected(of, len(self.paths[0].rounds))
            case "neg", (x,):
                return -self.of(x, path, time)
            case "root", (x,):
                return self._root(self.of(x, path, time))
            case "^", (x, exponent):
                return self._power(self.of(x, path, time), self.of(exponent, path, time))
            case ("exp" | "log") as function, (x,):
                return self._exponential(function, self.of(x, path, time))
            case "ceil", (x,):
                return self._rounded_up(self.of(x, path, time))
            case "max", (x, y):
                return self._largest(self.of(x, path, time), self.of(y, path, time))
        return self._either(term, path, time)

    def _either(self, term: Term, path: int, time: int) -> Any:
        """The operations that vectors and numbers share."""
        match term.head, term.args:
            case "expected", (of,):
                return self.expected(of, time)
            case "named", (_, of):
                return self.of(of, path, time)
            case head, (x, y):
                a, b = self.of(x, path, time), self.of(y, path, time)
                if head == "+":
                    return a + b
                if head == "-":
                    return a - b
                if head == "*":
                    return self._product(a, b)
                if head == "/":
                    if not np.ndim(b) and b == 0:
                        raise NotOnThisRun("term", "/", "divides by 0 here", "give other parameters")
                    return a / b
        raise AssertionError(term.head)  # `terms` has no further operation

    def square_of(self, term: Number, path: int = 0) -> Any:
        """The exact square of a product of roots and rational numbers >= 0, which may be irrational; else None."""
        value = self.of(term, path)
        if type(value).__name__ == "fmpq":
            return value * value if value >= 0 else None
        match term.head, term.args:
            case "named", (_, of):
                return self.square_of(of, path)
            case "root", (x,):
                return _rational(self.of(x, path))
            case "norm", (u,):
                x = self.of(u, path)
                return _rational(self._mean_number((x * x).sum(-1)))
            case ("*" | "/") as head, (x, y):
                a, b = self.square_of(x, path), self.square_of(y, path)
                return None if a is None or b is None else a * b if head == "*" else a / b
        return None

    # ---- over the clients ----

    def _mean(self, stack: Array) -> Array:
        """The mean of vectors over the clients; of a vector that all share, itself."""
        return stack if np.ndim(stack) == 1 else self.arithmetic.average(self.weights, stack)

    def _mean_number(self, numbers: Any) -> Scalar:
        """The mean of numbers over the clients, or that of `client`; of a number that all share, itself."""
        if np.ndim(numbers) == 0:
            mean = numbers
        else:
            mean = self.arithmetic.average(self.weights, numbers) if self.client is None else numbers[self.client]
        return float(mean) if self._numeric else mean  # of a tensor, wherever it is

    def _rows(self, vector: Array) -> Array:
        return self.clients.rows(vector)

    def _functions(self, point: Array) -> Clients:
        if (
            not self._numeric
            and self.in_balls is not None
            and any(type(entry).__name__ == "arb" for entry in np.ravel(point))
        ):
            return self.in_balls()
        return self.clients

    def _round(self, run: Path, time: int) -> RoundOnPath:
        if time >= len(run.rounds):
            raise NotOnThisRun("term", time, "is about a round after the last one", "leave it out of `after`")
        return run.rounds[time]

    # ---- roots, powers, maxima ----

    @property
    def _numeric(self) -> bool:
        return self.arithmetic.certainty is Certainty.NUMERIC

    def _root(self, x: Any) -> Any:
        if self._numeric:
            return float(x) ** 0.5 if x >= 0 else nan
        if type(x).__name__ == "arb":
            return square_root_upper(x)
        if x < 0:
            raise NotOnThisRun("root", x, "is not a real number", "give other parameters")
        return exact_root(x)

    def _exponential(self, function: str, x: Any) -> Any:
        if self._numeric:
            return getattr(np, function)(x)
        if x == (0 if function == "exp" else 1):
            return self.arithmetic.scalar(1 if function == "exp" else 0)
        if function == "log" and not x > 0:
            raise NotOnThisRun("log", x, "is not a real number", "give other parameters")
        return getattr(_ball(x), function)()

    def _rounded_up(self, x: Any) -> Any:
        if self._numeric:
            return np.ceil(x)
        try:
            return self.arithmetic.scalar(ceil(x))
        except Undecided:
            raise NotOnThisRun("ceil", x, "is a ball that contains an integer", "give other parameters") from None

    def _product(self, a: Any, b: Any) -> Any:
        product = a * b
        if type(product).__name__ == "arb" and (_is_zero(a) or _is_zero(b)):
            return self.arithmetic.scalar(0)  # exactly, where a ball would round the sums it is in
        return product

    def _power(self, x: Any, exponent: Any) -> Any:
        if self._numeric:
            with np.errstate(all="ignore"):  # infinite or undefined sides decide nothing
                return float(np.float64(x) ** exponent)
        whole = exponent if isinstance(exponent, int) else None
        if whole is None and type(exponent).__name__ == "fmpq" and exponent.q == 1:
            whole = int(exponent.p)
        if whole is None:
            return _ball(x) ** _ball(exponent)
        if whole < 0 and x == 0:
            raise NotOnThisRun("term", "^", "divides by 0 here", "give other parameters")
        return x**whole

    def _largest(self, x: Any, y: Any) -> Any:
        if "arb" in (type(x).__name__, type(y).__name__):
            return _ball(x).max(_ball(y))
        return max(x, y)


def exact_root(x: Any) -> Any:
    """√x of a rational x >= 0: a rational number where it is one, else a ball."""
    import flint

    x = flint.fmpq(x.numerator, x.denominator) if isinstance(x, Fraction) else x
    numerator, denominator = x.p.isqrt(), x.q.isqrt()
    if numerator**2 == x.p and denominator**2 == x.q:
        return flint.fmpq(numerator, denominator)
    return flint.arb(x).sqrt()


def _rational(x: Any) -> Any:
    return x if type(x).__name__ == "fmpq" else None


def _is_zero(x: Any) -> bool:
    return bool(type(x).__name__ == "fmpq" and x == 0)


def _ball(x: Any) -> Any:
    import flint

    return x if isinstance(x, flint.arb) else flint.arb(x)


def number_at(term: Number, parameters: Mapping[str, Any]) -> Any:
    """A formula in parameters at exact values: rational where it is, else a ball. Raises NotOnThisRun."""
    from fedconvex import arithmetic as arithmetics

    exact = arithmetics.get("exact")
    given = {name: exact.scalar(value) for name, value in parameters.items()}
    return Values((), None, None, exact, given, lambda: None, {}, lambda _: False).of(term)  # type: ignore[arg-type]
