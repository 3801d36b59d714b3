"""Claims and settings: what is claimed of a method's rounds, and all that is assumed.

Both are data with exact types, so that a proof checker can read them without running code of whoever wrote them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.terms import IllFormed, Number, Vector, number, parts, rounds_ahead
from fedconvex.shown import on_screen

if TYPE_CHECKING:
    from fedconvex.claims.on_runs.findings import Found


@final
@dataclass(frozen=True)
class Claim:
    """left ≤ right, or left = right, of two numbers or (for =) two vectors.

    `rounds`: the parameter that counts the rounds of a claim about a whole run from the method's own start; "" for a
    claim about any one round that a run reaches. `of_client`: about each client alone; else about means over them.
    """

    left: Any
    relation: str
    right: Any
    rounds: str = ""
    of_client: bool = False

    def __post_init__(self) -> None:
        if self.relation not in ("<=", "="):
            raise IllFormed("relation", self.relation, "is no relation of a claim", 'give "<=" or "="')
        sorts = (type(self.left), type(self.right))
        if sorts != (Number, Number) and not (sorts == (Vector, Vector) and self.relation == "="):
            raise IllFormed("claim", [s.__name__ for s in sorts], "are not two numbers, or two equal vectors",
                            "give sides of one sort")  # fmt: skip

    def __str__(self) -> str:
        """The claim in standard notation."""
        from fedconvex.claims.display.letters import Display

        return on_screen(Display.standard(sorted(self.parameters | {self.rounds})).text(self))

    def on(self, run: Any, **parameters: Any) -> "Found":
        """Both sides on a run, and whether the claim holds there: where the run breaks it, else where it is closest.

        `run` is an `ExactFederation` of `fedconvex.claims.on_runs.federations`, or the result of `fedconvex.simulate`
        or of `fedconvex.deep.run`. `parameters` are values of the claim's parameters that the run does not know.
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

    The p_k are the weights of the clients in means, which are all equal where every set is equally likely, and in
    methods that average plainly: averages of a draw then have the mean as expectation.
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
        method: the name of one of the package's methods, and its parameters as formulas in the setting's.
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
    method_parameters: Mapping[str, Number] = field(default_factory=dict)
    signs: Mapping[str, str] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()
    conditions: tuple[tuple[Number, str, Number], ...] = ()
    curvature: tuple[Number | None, Number | None] = (None, None)
    objective: tuple[Number | None, Number | None] = (None, None)
    answers: str = "own"
    inexactness: Number | None = None
    gradient_steps: Mapping[str, Number] = field(default_factory=dict)
    draws: DrawScheme = DrawScheme()
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

        return on_screen("\n".join(phrases(self, Display.standard(self.signs), plain=True)) or "nothing is assumed")

    @property
    def has_minimum(self) -> bool:
        """Whether the objective is assumed to be bounded below; a quadratic one then has a minimiser."""
        return self.minimiser or self.bounded_below

    def __post_init__(self) -> None:
        for name, sign in self.signs.items():
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
