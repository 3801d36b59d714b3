"""Claims and settings: what is claimed of a method's rounds, and all that is assumed.

Both are data with exact types, so that a proof checker can read them without running code of whoever wrote them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, final, get_args, get_origin, get_type_hints

from fedconvex.claims.terms import IllFormed, Number, Vector, number, parameter, parameters_in, parts, rounds_ahead
from fedconvex.shown import on_screen
from fedconvex.symbols import require_name

if TYPE_CHECKING:
    from fedconvex.claims.on_runs.findings import Found


@cache
def _sorts(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_of(value: Any, sort: Any) -> bool:
    """Whether a value is of this sort, as the annotations of settings write it."""
    origin, inside = get_origin(sort), get_args(sort)
    if origin is UnionType:
        return any(_is_of(value, one) for one in inside)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _is_of(entry, one) for item in value.items() for entry, one in zip(item, inside, strict=True)
        )
    if origin in (tuple, frozenset):
        if type(value) is not origin:
            return False
        every = inside if origin is tuple and inside[-1] is not Ellipsis else inside[:1] * len(value)
        return len(every) == len(value) and all(map(_is_of, value, every))
    return type(value) is sort


@final
@dataclass(frozen=True)
class Claim:
    """left ≤ right, or left = right, of two numbers or (for =) two vectors.

    `rounds`: the parameter that counts the rounds of a claim about a whole run from the method's own start; "" for a
    claim about any one round that a run reaches. `of_client`: about each client alone; else about means over them.
    `within`: the setting outside of which it has no value on a run; it is no part of what is claimed.
    """

    left: Any
    relation: str
    right: Any
    rounds: str = ""
    of_client: bool = False
    within: "ClaimSetting | None" = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.relation not in ("<=", "="):
            raise IllFormed("relation", self.relation, "is no relation of a claim", 'give "<=" or "="')
        sorts = (type(self.left), type(self.right))
        if sorts != (Number, Number) and not (sorts == (Vector, Vector) and self.relation == "="):
            raise IllFormed("claim", [s.__name__ for s in sorts], "are not two numbers, or two equal vectors",
                            "give sides of one sort")  # fmt: skip

    def __str__(self) -> str:
        """The claim in standard notation, and what its symbols mean."""
        from fedconvex.claims.display.letters import Display

        return on_screen("\n".join(Display.standard(self.parameters | {self.rounds} - {""}).stated(self)))

    def on(self, run: Any, **parameters: Any) -> "Found":
        """Both sides on a run, and whether the claim holds there: where the run breaks it, else where it is closest.

        `run` is an `ExactFederation` of `fedconvex.claims.on_runs.federations`, or the result of `fedconvex.simulate`
        or of `fedconvex.deep.run`. `parameters` are values of the claim's parameters that the run does not know.

        Raises NotOnThisRun, which names the setting's field, for a run outside of the setting that the claim is
        `within`: all that a federation is, and of other runs the method, its parameters, the draws and the weights.
        """
        from fedconvex.claims.on_runs.claim_on import claim_on

        return claim_on(self, run, parameters)

    @property
    def of_run(self) -> bool:
        """Whether it is about a whole run."""
        return bool(self.rounds)

    @property
    def rounds_played(self) -> int:
        """How many rounds it speaks of, if it is not about a whole run."""
        return 1 + max(rounds_ahead(self.left), rounds_ahead(self.right))

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that occur in it."""
        found = (part for side in (self.left, self.right) for part in parts(side))
        return frozenset(part.args[0] for part in found if type(part) is Number and part.head == "parameter")


def at_most(left: Any, right: Any, **about: Any) -> Claim:
    """The claim left ≤ right."""
    return Claim(number(left), "<=", number(right), **about)


def equal(left: Any, right: Any, **about: Any) -> Claim:
    """The claim left = right."""
    return Claim(left, "=", right, **about)


@final
@dataclass(frozen=True)
class DrawScheme:
    """Who takes part in a round: everyone; `active` of `clients`, every set equally likely; `active` independent draws
    with probabilities p_k, averaged plainly.

    The p_k are the weights of the clients in means. Averages of a draw have the mean as expectation: where that asks
    for equal weights, `ClaimSetting.equal_weights` says so.
    """

    scheme: str = "everyone"  # "everyone", "uniform", "independent"
    active: Number | None = None
    clients: Number | None = None

    def __post_init__(self) -> None:
        needed = {"everyone": (False, False), "uniform": (True, True), "independent": (True, False)}
        if self.scheme not in needed:
            raise IllFormed("scheme", self.scheme, "is no way to draw clients", f"give one of {', '.join(needed)}")
        given = tuple(type(x) is Number for x in (self.active, self.clients))
        if given != needed[self.scheme]:
            raise IllFormed(
                "draws", given, f"are not the numbers of {self.scheme}", "give active, and clients if uniform"
            )


@final
@dataclass(frozen=True)
class ClaimSetting:
    """All that a claim assumes: the method, its clients, the draws, and the parameters with their domain.

    Attributes:
        method: the name of one of the package's methods.
        method_parameters: every parameter of the method by value: a formula in the setting's parameters, or the name
            of an option; None where the method chooses itself.
        signs: for every parameter "positive", "nonnegative" or "real", which its meaning implies.
        counts: the parameters that are integers >= 1.
        conditions: further conditions on parameters, as (left, relation, right) with relation >=, >, = .
        curvature: the least and the largest curvature of every client's function; None where there is no bound. With
            both None the functions need only be differentiable.
        objective: the same of the objective, where it is assumed of the objective alone.
        answers: how clients solve their subproblems: "own" (the method's local solver, exact or gradient steps),
            "inexact" (subproblem's gradient at most `inexactness` times as long as at the start), "error" (at most
            `inexactness` from the solution).
        gradient_steps: "steps" and "stepsize" of gradient steps that clients take on their subproblems, from the
            method's own start, in the place of exact solutions; else empty.
        equal_weights: whether all clients have the same weight. Draws whose plain average has the clients' mean as
            expectation only then set it.
        minimiser: whether the objective has a minimiser, a point where its gradient vanishes.
        bounded_below: whether the objective has an infimum.
        dissimilarity, variance: B with mean‖∇F_k(w)‖² ≤ B²‖∇f(w)‖², σ² with mean‖∇F_k(w) − ∇f(w)‖² ≤ σ², at the
            server's point w before the round.
        large_gradient: a lower bound of ‖∇f(w)‖² at that point.
        initial_gap: an upper bound of f(w⁰) − f_* at the start of a run.
        objective_gap: Γ with f_* − mean_k inf F_k ≤ Γ.
        similarity: δ with ‖∇²F_k(x) − ∇²f(x)‖ ≤ δ for every client at all points.
        starts_at_own_minima: the clients' first models are stationary points of their own functions.
        single_client: there is one client, whose function is the objective.
        rests: the state before the round is a fixed point: the round leaves it as it is.
        first_round: the round is the first one, from the method's own start; else any that a run reaches. Only then
            does a claim speak of next rounds (`next_round`).
        example: values of the parameters in the domain; without them the setting might be empty.
    """

    method: str = ""
    method_parameters: Mapping[str, Number | str | bool | None] = field(default_factory=dict)
    signs: Mapping[str, str] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()
    conditions: tuple[tuple[Number, str, Number], ...] = ()
    curvature: tuple[Number | None, Number | None] = (None, None)
    objective: tuple[Number | None, Number | None] = (None, None)
    answers: str = "own"
    inexactness: Number | None = None
    gradient_steps: Mapping[str, Number] = field(default_factory=dict)
    draws: DrawScheme = DrawScheme()
    equal_weights: bool = False
    minimiser: bool = False
    bounded_below: bool = False
    dissimilarity: Number | None = None
    variance: Number | None = None
    large_gradient: Number | None = None
    initial_gap: Number | None = None
    objective_gap: Number | None = None
    similarity: Number | None = None
    starts_at_own_minima: bool = False
    single_client: bool = False
    rests: bool = False
    first_round: bool = False
    example: Mapping[str, Fraction] = field(default_factory=dict)

    def __str__(self) -> str:
        """What is assumed, in standard notation, one assumption a line."""
        from fedconvex.claims.display.letters import Display
        from fedconvex.claims.display.phrases import phrases

        names = parameters_in(self) | self.signs.keys() | self.counts | self.example.keys()
        display = Display.standard(names)
        assumed = phrases(self, display, plain=True) or ["nothing is assumed"]
        values = ", ".join(f"{display.text(parameter(n))} = {x}" for n, x in sorted(self.example.items()))
        return on_screen("\n".join([*assumed, *([f"for example {values}"] if values else [])]))

    @property
    def formulas(self) -> Iterator[Number]:
        """All formulas in it."""
        waiting: list[Any] = list(vars(self).values())
        while waiting:
            match here := waiting.pop():
                case Number():
                    yield here
                case tuple():
                    waiting += here
                case Mapping():
                    waiting += here.values()
                case DrawScheme():
                    waiting += (here.active, here.clients)

    def method_at(self, value_of: Callable[[Number], Any]) -> dict[str, Any]:
        """The method's parameters: the values of formulas, and options as they are."""
        given = self.method_parameters.items()
        return {name: value_of(x) if type(x) is Number else x for name, x in given}

    @property
    def has_minimum(self) -> bool:
        """Whether the objective is assumed to be bounded below; a quadratic one then has a minimiser."""
        return self.minimiser or self.bounded_below

    def __post_init__(self) -> None:
        for name, sort in _sorts(ClaimSetting).items():
            if not _is_of(getattr(self, name), sort):
                sorts = re.sub(r"<class '(?:\w+\.)*(\w+)'>|(?:\w+\.)+(\w+)", r"\1\2", str(sort))
                cure = 'write numbers as terms, such as parameter("L") or number(Fraction(1, 8))'
                raise IllFormed(name, getattr(self, name), f"is no {sorts}", cure)
        for name, sign in self.signs.items():
            require_name("signs", name)
            if sign not in ("positive", "nonnegative", "real"):
                raise IllFormed(f"signs[{name}]", sign, "is no sign", 'give "positive", "nonnegative" or "real"')
        for _, relation, _ in self.conditions:
            if relation not in (">=", ">", "="):
                raise IllFormed("conditions", relation, "is no relation of a condition", 'give ">=", ">" or "="')
        if self.single_client and self.draws.scheme != "everyone":
            raise IllFormed("single_client", self.draws.scheme, "draws from one client", "use full participation")
        if self.answers not in ("own", "inexact", "error"):
            raise IllFormed("answers", self.answers, "is no way to answer", 'give "own", "inexact" or "error"')
        if (self.answers == "own") != (self.inexactness is None):
            raise IllFormed("inexactness", self.inexactness, "does not fit the answers",
                            'give it with "inexact" or "error" alone')  # fmt: skip
        if self.gradient_steps and (set(self.gradient_steps) != {"steps", "stepsize"} or self.answers != "own"):
            raise IllFormed("gradient_steps", self.gradient_steps, "do not define the clients' local solutions",
                            'give "steps" and "stepsize", and no inexactness')  # fmt: skip
        if not self.method and self.draws.scheme != "uniform":
            return
        from fedconvex.claims.methods import needs_equal_weights, require_values

        require_values(self.method, self.method_parameters)
        if needs_equal_weights(self.draws.scheme, self.method):
            object.__setattr__(self, "equal_weights", True)
