"""Terms: the vectors and numbers of a method's run that claims are about, as trees of plain data.

There are two sorts. A `Vector` is one vector, or one for every client; a `Number` is made of parameters and of lengths,
inner products and function values of vectors. Times count rounds: 0 is before a round, 1 after it; in a claim about a
whole run 0 is its start. A tree keeps the order in which it was written, which is the order in which it is displayed.

Means over the clients are those of the method's average (weights p_k, or plain). `inner` and `norm` of vectors that
differ between clients are means over the clients: norm(u)² = mean_k‖u_k‖².
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from operator import is_
from typing import Any, TypeVar, final

from fedconvex.symbols import IllFormed as IllFormed
from fedconvex.symbols import names_a_time, require_name, require_symbol


@final
@dataclass(frozen=True)
class Vector:
    """A vector, or one for every client: an operation and its operands. Made by the functions of this module."""

    head: str
    args: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        _check(self, VECTORS)

    def __add__(self, other: "Vector") -> "Vector":
        return Vector("+", (self, other))

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector("-", (self, other))

    def __neg__(self) -> "Vector":
        return Vector("*", (number(-1), self))

    def __mul__(self, factor: Any) -> "Vector":
        return Vector("*", (number(factor), self))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Vector":
        return Vector("/", (self, number(divisor)))

    # `fedconvex.statements.functions` looks these up, in formulas that sum over the clients.
    def total(self) -> "Vector":
        return Vector("*", (parameter("num_clients"), self.average()))

    def average(self) -> "Vector":
        return Vector("mean", (self,))


@final
@dataclass(frozen=True)
class Number:
    """A number: an operation and its operands. Made by the functions of this module, and by arithmetic."""

    head: str
    args: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        _check(self, NUMBERS)

    def __add__(self, other: Any) -> "Number":
        return self if _is_zero(other) else Number("+", (self, number(other)))

    def __radd__(self, other: Any) -> "Number":
        return self if _is_zero(other) else Number("+", (number(other), self))

    def __sub__(self, other: Any) -> "Number":
        return self if _is_zero(other) else Number("-", (self, number(other)))

    def __rsub__(self, other: Any) -> "Number":
        return Number("-", (number(other), self))

    def __neg__(self) -> "Number":
        return Number("neg", (self,))

    def __mul__(self, other: "Number | int | Fraction") -> "Number":
        if type(other) not in (Number, int, Fraction):
            return NotImplemented  # a vector, or a sum of inequalities, multiplies itself
        return Number("*", (self, number(other)))

    def __rmul__(self, other: Any) -> "Number":
        return Number("*", (number(other), self))

    def __truediv__(self, other: Any) -> "Number":
        return Number("/", (self, number(other)))

    def __rtruediv__(self, other: Any) -> "Number":
        return Number("/", (number(other), self))

    def __pow__(self, exponent: Any) -> "Number":
        return Number("^", (self, number(exponent)))

    def __abs__(self) -> "Number":
        return Number("max", (self, -self))

    # The functions of `fedconvex.statements.functions` look these up: in formulas that sum over the clients a number of
    # each is its mean over them, such as value(x).
    def total(self) -> "Number":
        return Number("*", (parameter("num_clients"), self))

    def count(self) -> "Number":
        return parameter("num_clients")

    def sqrt(self) -> "Number":
        return Number("root", (self,))

    def exp(self) -> "Number":
        return Number("exp", (self,))

    def log(self) -> "Number":
        return Number("log", (self,))

    def ceil(self) -> "Number":
        return Number("ceil", (self,))

    def max(self, other: Any) -> "Number":
        return Number("max", (self, number(other)))

    def put(self, old: "Vector | Number", new: "Vector | Number") -> "Number":
        """The number with another term of the same sort in the place of this one."""
        made: Number = _put(self, old, new)
        return made


def _put(part: Any, point: Any, other: Any) -> Any:
    if part == point:
        return other
    return type(part)(part.head, tuple(_put(p, point, other) for p in part.args)) if hasattr(part, "head") else part


Term = Vector | Number
T = TypeVar("T", Vector, Number)

_V, _N, _TEXT, _TIME = Vector, Number, str, int
_NAME, _SYMBOL = "a name", "a symbol"  # texts, in the languages of `fedconvex.symbols`
MANY = "one or more"
VECTORS: dict[str, tuple[Any, ...]] = {
    "server": (_TIME,),  # the server's point
    "shared": (_NAME, _TIME),  # another vector of the server, by its name in the method's state
    "memory": (_NAME, _TIME),  # the clients' vectors, by their name in the method's state
    "last answers": (_TIME,),  # each client's answer in the last round in which it took part
    "answers": (),  # all clients' answers in the round, also those that would be given by clients that are not drawn
    "solutions": (),  # the exact minimisers of the clients' subproblems in the round
    "residuals": (),  # the gradients of the clients' subproblems at their answers
    "local gradients": (),  # the sums of ∇F_k over the local gradient steps of each client in the round
    "local step": (_V,),  # one gradient step of each client on its subproblem in the round, from this point
    "before last step": (),  # the points from which the clients take the last of their local steps in the round
    "minimiser": (),
    "proximal": (_N, _V),  # the minimiser of the objective plus (c/2)‖· − v‖², where that is strongly convex
    "gradient": (_V,),  # ∇F_k at a point of client k
    "objective gradient": (_V,),  # ∇f = mean_j ∇F_j at a point of client k
    "mean": (_V,),  # over all clients
    "drawn": (_V,),  # the average over the clients that are drawn in the round
    "expected": (_V,),  # over the draw of the round
    "free": (_NAME,),  # any vector that all clients share
    "family": (_NAME,),  # any vectors of the clients
    "mean of rounds": (_N, _V),  # Σ_{t<T} r^t u_t / Σ_{t<T} r^t
    "next round": (_V,),  # the vector one round later, in claims about a method's first rounds
    "named": (_SYMBOL, _V),  # a vector with a symbol of the paper
    "+": (_V, _V), "-": (_V, _V), "*": (_N, _V), "/": (_V, _N),
    # In theorems for Rocq, never in a claim: a variable by its name there; u of the drawn clients, 0 of the others.
    "variable": (_TEXT,), "selected": (_V,),
}  # fmt: skip
NUMBERS: dict[str, tuple[Any, ...]] = {
    "constant": (Fraction,),
    "parameter": (_NAME,),
    "inner": (_V, _V),
    "norm": (_V,),
    "infimum": (),  # of the objective
    "value": (_V,),  # mean_k F_k at a point of client k
    "expected": (_N,),  # over the draws
    "sum of rounds": (_N, _N),  # Σ_{t<T} r^t E x_t
    "mean of rounds": (_N, _N),  # that, divided by Σ_{t<T} r^t
    "after": (_N,),  # x after T rounds
    "named": (_SYMBOL, _N),
    "+": (_N, _N), "-": (_N, _N), "*": (_N, _N), "/": (_N, _N), "^": (_N, _N), "neg": (_N,), "root": (_N,),
    "max": (_N, _N), "exp": (_N,), "log": (_N,), "ceil": (_N,),
    "variable": (_TEXT,),  # in theorems for Rocq, never in a claim
}  # fmt: skip
TIMES = (0, 1)
OF_PROOFS = ("σ", "τ", "ι")  # parameters that a proof may speak of, and a claim may not
IN_A_ROUND = ("answers", "solutions", "residuals", "local gradients", "local step", "before last step", "drawn")


def _check(term: Any, heads: dict[str, tuple[Any, ...]]) -> None:
    sort = type(term).__name__
    if type(term.head) is not str or term.head not in heads:
        raise IllFormed("head", term.head, f"is no operation that makes a {sort}", f"give one of {', '.join(heads)}")
    sorts = heads[term.head]
    if type(term.args) is not tuple or len(term.args) != len(sorts):
        raise IllFormed(term.head, term.args, f"has the wrong number of operands for {sort}", f"give {len(sorts)}")
    for operand, wanted in zip(term.args, sorts, strict=True):
        # the exact type: a subclass, or True for 1, could mean something else to whoever reads the tree
        kind = str if wanted in (_NAME, _SYMBOL) else wanted
        if type(operand) is not kind or (wanted is _TIME and operand not in TIMES):
            raise IllFormed(term.head, operand, f"is no operand of {term.head}: {_SORTS[kind]} is wanted",
                            f"give {_SORTS[kind]}")  # fmt: skip
        if wanted is _NAME and not (term.head == "parameter" and operand in OF_PROOFS):
            require_name(term.head, operand)
        if wanted is _SYMBOL:
            require_symbol(term.head, operand)
            if names_a_time(operand) and times_of(term.args[1]):
                raise IllFormed(term.head, operand, "names a time, and its meaning has another one at other times",
                                "write @ in the place of the time, @-1 for the round before")  # fmt: skip


_SORTS = {_V: "a vector", _N: "a number", _TEXT: "a text", _TIME: "the time 0 or 1", Fraction: "a fraction"}


def _is_zero(value: Any) -> bool:
    return type(value) is int and value == 0


def next_round(of: Vector) -> Vector:
    """The same vector one round later: `next_round(server(1))` is the server's point after the next round."""
    return Vector("next round", (of,))


def number(value: Any) -> Number:
    """An integer or fraction as a constant; a number as it is. Raises IllFormed for anything else, floats included."""
    if type(value) is Number:
        return value
    if type(value) is int or type(value) is Fraction:
        return Number("constant", (Fraction(value),))
    raise IllFormed("number", value, "is no number of a claim", "give an integer, a Fraction or a number term")


def parameter(name: str) -> Number:
    """A parameter of the setting."""
    return Number("parameter", (name,))


def server(time: int) -> Vector:
    """The server's point before (0) or after (1) the round."""
    return Vector("server", (time,))


def shared(name: str, time: int) -> Vector:
    """Another vector of the server, such as FedDyn's h."""
    return Vector("shared", (name, time))


def memory(name: str, time: int) -> Vector:
    """The clients' memory, such as FedSplit's z_k."""
    return Vector("memory", (name, time))


def last_answers(time: int) -> Vector:
    """Each client's answer in the last round, up to now, in which it took part; its first model before that."""
    return Vector("last answers", (time,))


def free(name: str) -> Vector:
    """Any vector."""
    return Vector("free", (name,))


def family(name: str) -> Vector:
    """Any vector for every client."""
    return Vector("family", (name,))


answers, solutions = Vector("answers"), Vector("solutions")
residuals, minimiser = Vector("residuals"), Vector("minimiser")
local_gradients, before_last_step = Vector("local gradients"), Vector("before last step")
infimum = Number("infimum")


def proximal(weight: Any, center: Vector) -> Vector:
    """The minimiser of the objective plus (weight/2)‖· − center‖²: its proximal point."""
    return Vector("proximal", (number(weight), center))


def local_step(start: Vector) -> Vector:
    """One gradient step of each client on its subproblem in the round, from a point of each."""
    return Vector("local step", (start,))


def gradient(at: Vector) -> Vector:
    """The clients' gradients ∇F_k at a point, the same for all or one of each."""
    return Vector("gradient", (at,))


def objective_gradient(at: Vector) -> Vector:
    """The objective's gradient ∇f at a point of each client; where all share it, the mean of the clients' gradients."""
    return Vector("objective gradient", (at,))


def mean(of: Vector) -> Vector:
    """The mean over all clients."""
    return Vector("mean", (of,))


def drawn(of: Vector) -> Vector:
    """The server's average over the clients that are drawn in the round."""
    return Vector("drawn", (of,))


def inner(u: Vector, v: Vector) -> Number:
    """The inner product; of vectors of the clients, its mean over the clients."""
    return Number("inner", (u, v))


def square(u: Vector) -> Number:
    """‖u‖², of vectors of the clients its mean."""
    return inner(u, u)


def norm(u: Vector) -> Number:
    """The length ‖u‖; of vectors of the clients, the root of the mean squared length."""
    return Number("norm", (u,))


def value(at: Vector) -> Number:
    """The mean of the clients' function values at a point of each."""
    return Number("value", (at,))


def expected(of: T) -> T:
    """The expectation over the draws: of a number or a vector."""
    return type(of)("expected", (of,))


def mean_of_rounds(of: T, ratio: Any = 1) -> T:
    """The mean over the rounds t < T with weights ratio^t, of a number (expected) or a vector before each round."""
    return type(of)("mean of rounds", (number(ratio), of))


def sum_of_rounds(of: Number, ratio: Any = 1) -> Number:
    """Σ_{t<T} ratio^t E x_t, where x is about the t-th round."""
    return Number("sum of rounds", (number(ratio), of))


def after(of: Number) -> Number:
    """The expectation of the number after T rounds; inside, time 0 is that moment."""
    return Number("after", (of,))


def named(symbol: str, of: T) -> T:
    r"""The term, displayed by a symbol of the paper, such as `\bar\mu` or `C_@`; it means the term that it names.

    `@` is the place of the time, which is the last one in the term; `@-1` is one round before it. `#` is the place of
    the clients' index.
    """
    return type(of)("named", (symbol, of))


def later(term: Any) -> Any:
    """The same term one round later: time 1 in the place of time 0. Raises IllFormed for terms of the round itself."""
    if type(term) not in (Vector, Number):
        return 1 if type(term) is int and term == 0 else term
    if term.head in IN_A_ROUND or 1 in [a for a in term.args if type(a) is int]:
        raise IllFormed("term", term.head, "is about the round, not about the moment before it", "leave it out")
    return type(term)(term.head, tuple(later(a) for a in term.args))


def with_parts(of: Any, change: Callable[[Any], Any]) -> Any:
    """A term, tuple, mapping or dataclass with each of its parts changed; anything else as it is."""
    if isinstance(of, Vector | Number):
        args = tuple(map(change, of.args))
        return of if all(map(is_, args, of.args)) else type(of)(of.head, args)  # a new term checks its operands
    if isinstance(of, tuple):
        return tuple(map(change, of))
    if isinstance(of, Mapping):
        return {name: change(x) for name, x in of.items()}
    if is_dataclass(of) and not isinstance(of, type):
        return replace(of, **{f.name: change(getattr(of, f.name)) for f in fields(of)})
    return of


def without_names(of: Any) -> Any:
    """A term, claim or setting without the symbols given to its parts: what they are, whatever they are called."""
    if isinstance(of, Vector | Number) and of.head == "named":
        return without_names(of.args[1])
    return with_parts(of, without_names)


def parameters_in(of: Any) -> set[str]:
    """The names of the parameters in a term, claim or setting."""
    if type(of) is Number and of.head == "parameter":
        return {of.args[0]}
    found = set[str]()

    def note(part: Any) -> Any:
        found.update(parameters_in(part))
        return part

    with_parts(of, note)
    return found


def rounds_ahead(term: Any) -> int:
    """How many rounds beyond its own one the term speaks of."""
    if type(term) not in (Vector, Number):
        return 0
    return int(term.head == "next round") + max(map(rounds_ahead, term.args), default=0)


def times_of(term: Term) -> set[int]:
    """The times that the term speaks of, in rounds from the moment before its own one; the round's own is 1."""
    own = {a for a in term.args if type(a) is int} | ({1} if term.head in IN_A_ROUND else set())
    inside = set[int]().union(*(times_of(a) for a in term.args if type(a) in (Vector, Number)))
    return own | ({t + 1 for t in inside} if term.head == "next round" else inside)


def parts(term: Term) -> Iterator[Term]:
    """The term and all terms inside it."""
    waiting = [term]
    while waiting:
        yield (here := waiting.pop())
        waiting += [a for a in here.args if type(a) in (Vector, Number)]
