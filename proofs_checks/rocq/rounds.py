"""One round of a setting as equations between vectors: the method's own code, run on terms.

Every vector that the round makes is a variable of the theorem, and what is known of it an equation. `meaning` gives the
same vector on the kernel's board, which tells where two points are one; nothing of it is believed by Rocq.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, Vector, gradient, mean, number, parts
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.parameters import any_steps
from fedconvex.proofs_checks.kernel.vectors import APART, KEPT, REPLACED, SAME, Vec
from fedconvex.proofs_checks.rocq.proximal_points import proximal_point
from fedconvex.proofs_checks.rocq.round_methods import (
    cohort_of,
    descended,
    local_step,
    method_of,
    path_length,
    state_of,
    stepped,
)
from fedconvex.proofs_checks.rocq.terms import Missing, name_in_rocq

LETTERS = {"minimiser": "xs", "answers": "theta", "solutions": "exact", "server": "w", "e": "e"}


@final
@dataclass
class Variable:
    """A vector of the theorem. `equals`: the term that defines it; None for any vector."""

    name: str
    shared: bool
    meaning: Vec
    equals: Vector | None = None


@final
@dataclass
class LocalPath:
    """The points of any number of local steps: `name i` is the one after i of `steps`, which the parameter counts."""

    name: str
    steps: str
    count: str


@final
@dataclass
class RoundTerms:
    """The vectors of a round that a claim and its proof speak of, made as they are needed."""

    setting: ClaimSetting
    board: RoundBoard
    taken: frozenset[str]
    invariants: Mapping[str, Vector]
    variables: dict[str, Variable] = field(default_factory=dict)
    gradients: list[tuple[str, Vector, Vector]] = field(default_factory=list)  # name, at, equals
    made: dict[str, Vector] = field(default_factory=dict)
    path: LocalPath | None = None
    before_last: Vector | None = None  # where the last of a given number of local steps starts
    of_last_step: bool = False  # of any number of local steps there is the last one, from any points
    proximals: dict[str, Vector] = field(
        default_factory=dict
    )  # terms of the objective's proximal points, by their keys

    # ---- variables

    def fresh(self, wanted: str) -> str:
        name = name_in_rocq(wanted)
        while name in self.variables or name in self.taken:
            name += "_"
        return name

    def _reserved(self, wanted: str) -> str:
        """A name that is no vector's."""
        name = self.fresh(wanted)
        self.taken |= {name}
        return name

    def variable(self, key: str, letter: str, shared: bool, meaning: Vec, equals: Vector | None = None) -> Vector:
        """The variable for a vector, the same one always."""
        if key not in self.made:
            name = self.fresh(letter)
            self.variables[name] = Variable(name, shared, meaning, equals)
            self.made[key] = Vector("variable", (name,))
        return self.made[key]

    def meaning(self, u: Vector) -> Vec:
        """The vector of these variables on the kernel's board."""
        round_ = self.board.round
        match u.head, u.args:
            case "variable", (name,):
                return self.variables[name].meaning
            case "gradient", (at,):
                return round_.put(round_.gradient(round_.put(self.meaning(at))))
            case "objective gradient", (at,):
                return round_.put(round_.objective_gradient(self.meaning(at)))
            case "mean", (v,):
                return round_.mean(self.meaning(v))
            case "drawn", (v,):
                made: Vec = round_.drawn(self.meaning(v))
                return made
            case "expected", (v,):
                return round_.expected(self.meaning(v))
            case "selected", (v,):
                return self.meaning(v).renamed({SAME: KEPT, APART: REPLACED})
            case "+", (v, w):
                return self.meaning(v) + self.meaning(w)
            case "-", (v, w):
                return self.meaning(v) - self.meaning(w)
            case "*", (c, v):
                return self.meaning(v) * self.board.parameters.value(c)
            case "/", (v, c):
                return self.meaning(v) * (1 / self.board.parameters.value(c))
        raise Missing(f"the vector {u.head}")

    def same_as(self, other: "RoundTerms", name: str) -> str:
        """The variable here that is the other round's variable of this name."""
        key = next(key for key, made in other.made.items() if made == Vector("variable", (name,)))
        sort, _, rest = key.partition(" ")
        match sort:
            case "w" | "server":
                found = self.vector(Vector("server", (0,)))
            case "minimiser" | "answers" | "solutions":
                found = self.vector(Vector(sort))
            case "last":
                found = self.vector(Vector("last answers", (0,)))
            case "free" | "family":
                found = self.vector(Vector(sort, (rest,)))
            case "proximal":
                found = self.vector(other.proximals[key])
            case "shared" | "memory":
                found = self.vector(Vector(sort, (rest, 0)))
            case "next":
                found = self._next_answers() if rest == "last" else self._next(rest)
            case _:
                _ = self.answers
                found = self.made[key]
        return str(found.args[0])

    # ---- terms of claims, in variables

    def vector(self, term: Vector) -> Vector:
        """The term in variables, gradients, means, sums and multiples."""
        match term.head, term.args:
            case "server", (0,):
                always = self.invariants.get("server")
                equals = None if always is None or "w" in self.made else self.vector(always)
                return self.variable("w", "w", True, self.board.round.first.server, equals)
            case "server", (1,):
                return self._next("w")
            case ("shared" | "memory") as sort, (name, 0):
                known = getattr(self.board.round.first, sort)
                if name not in known:
                    raise Missing(f"the {sort} {name}")
                always = self.invariants.get(f"{sort} {name}")
                equals = None if always is None else self.vector(always)
                return self.variable(f"{sort} {name}", name, sort == "shared", known[name], equals)
            case ("shared" | "memory") as sort, (name, 1):
                return self._next(f"{sort} {name}")
            case "answers", ():
                return self.answers
            case "last answers", (0,) if self.board.round.earlier is None:
                last = self.variable("last", "last", False, self.board.round.of_clients("last"))
                if self.board.round.at_start and self.setting.starts_at_own_minima:
                    self._stationary_at_start(last)
                return last
            case "last answers", (1,) if self.board.round.earlier is None:
                return self._next_answers()
            case "minimiser", ():
                return self.variable("minimiser", "xs", True, self.board.round.minimiser)
            case "proximal", (weight, center):
                return proximal_point(self, weight, center)
            case "free", (name,):
                return self.variable(f"free {name}", name, True, self.board.round.basic(f"free {name}", "same"))
            case "family", (name,):
                return self.variable(f"family {name}", name, False, self.board.round.of_clients(f"family {name}"))
            case "residuals", ():
                answers = self.answers
                return self.subproblem.add_gradients(answers, gradient(answers))  # type: ignore[no-any-return]
            case "solutions", ():
                return self.solutions
            case "local gradients", ():
                _ = self.answers
                if "local gradients" not in self.made:
                    raise Missing("the local gradients of a given number of steps")
                return self.made["local gradients"]
            case "before last step", () if self.of_last_step:
                before = self.board.round.before_last_step
                assert before is not None
                return self.variable("before last step", "last", False, before)
            case "before last step", ():
                _ = self.answers
                if self.before_last is None:
                    raise Missing("the point before the last of any number of local steps")
                return self.before_last
            case "local step", (u,):
                return local_step(self, self.vector(u))
            case "gradient", (at,):
                return gradient(self.vector(at))
            case "objective gradient", (at,):
                return self.of_objective(self.vector(at))
            case "named", (_, u):
                return self.vector(u)
            case "mean", (u,):
                return mean(self.vector(u))
            case ("drawn" | "expected") as head, (u,):
                if self.setting.draws.scheme != "everyone":
                    return Vector(head, (self.vector(u),))
                return mean(self.vector(u)) if head == "drawn" else self.vector(u)
            case "+", (u, v):
                return self.vector(u) + self.vector(v)
            case "-", (u, v):
                return self.vector(u) - self.vector(v)
            case "*", (c, u):
                return Vector("*", (c, self.vector(u)))
            case "/", (u, c):
                return Vector("/", (self.vector(u), c))
        raise Missing(f"the vector {term.head}")

    def of_objective(self, at: Vector) -> Vector:
        """The objective's gradient: where all clients share the point, the mean of theirs."""
        if self.meaning(at).is_shared:
            return mean(gradient(at))
        if self.setting.draws.scheme != "everyone":
            raise Missing("the objective's gradient at the clients' points, in a round with drawn clients")
        return Vector("objective gradient", (at,))

    def number(self, term: Number) -> Number:
        """The number with its vectors in variables."""
        match term.head, term.args:
            case "expected", (x,):  # inner products and values are expectations
                return self._in_draws(x) if self._has_drawn_length(x) else self.number(x)
            case ("sum of rounds" | "mean of rounds" | "after" | "infimum" | "exp" | "log" | "ceil") as head, _:
                raise Missing(f"the number {head}")
            case "named", (_, x):
                return self.number(x)
            case "root", (Number("inner", (u, v)),) if u == v:
                return self._length(self.vector(u))
            case "root", (Number("expected", (Number("inner", (u, v)),)),) if u == v:
                return Number("norm", (self.vector(u),))
            case "norm", (u,):
                return self._length(self.vector(u))
        return Number(term.head, tuple(
            self.number(a) if type(a) is Number else self.vector(a) if type(a) is Vector else a for a in term.args
        ))  # fmt: skip

    def _length(self, u: Vector) -> Number:
        """‖u‖; of a vector that depends on the draw it would be another number in every outcome."""
        if self.meaning(u).is_random:
            raise Missing("the length of a vector in a draw")
        return Number("norm", (u,))

    def _has_drawn_length(self, x: Number) -> bool:
        """Whether it has the length of a vector that depends on the draw."""
        inside = (p.args[0] for p in parts(x) if p.head == "norm")
        return any(self.meaning(self.vector(u)).is_random for u in inside)

    def _in_draws(self, x: Number) -> Number:
        """The expectation of a number that has lengths in every outcome."""
        if any(p.head in ("inner", "value", "expected", "root") for p in parts(x)):
            raise Missing("an expectation of lengths with other numbers")

        def written(y: Any) -> Any:
            if type(y) is Vector:
                return self.vector(y)
            return Number(y.head, tuple(map(written, y.args))) if type(y) is Number else y

        return Number("expected", (written(x),))

    # ---- the round

    @property
    def subproblem(self) -> Any:
        if Method.named(self.setting.method) is None:
            raise Missing("a round without a method")
        return method_of(self).subproblem(state_of(self), cohort_of(self))

    @property
    def answers(self) -> Vector:
        """The clients' answers; what makes them answers is an equation for the gradient there."""
        if "answers" in self.made:
            return self.made["answers"]
        own, answers = self.board.round.method.local_solver, self.board.round.answers.points
        if self.of_last_step:
            theta = local_step(self, self.vector(Vector("before last step")))
            return self.variable("answers", "theta", False, answers, theta)
        if count := any_steps(self.setting):
            self.path = LocalPath(self._reserved("y"), self._reserved("steps"), count)
            return stepped(self)
        if self.setting.gradient_steps:
            raise Missing("gradient steps on the subproblem")
        if isinstance(own, GradientDescent):
            return descended(self, own)
        if not isinstance(own, Exact):
            raise Missing(f"the local solver {type(own).__name__}")
        if self.setting.answers == "error":
            solutions = self.solutions
            error = self.variable("e", "e", False, self.board.round.of_clients("e"))
            return self.variable("answers", "theta", False, answers, solutions + error)
        theta = self.variable("answers", "theta", False, answers)
        left = None
        if self.setting.answers == "inexact":
            left = self.variable("left", "e", False, self.board.round.inexact[0][0])
        self._minimised(theta, left)
        return theta

    def _minimised(self, theta: Vector, left: Vector | None) -> None:
        """The gradients of the subproblems at these points are 0, or the vectors that are left."""
        at = self.subproblem
        parts = [] if at.linear is None else [at.linear]
        parts += [] if at.center is None else [at.weight * (theta - at.center)]
        rest = parts[0] + parts[1] if len(parts) == 2 else parts[0]
        self.gradients.append((f"round_{theta.args[0]}", theta, -rest if left is None else left - rest))

    @property
    def solutions(self) -> Vector:
        """The exact minimisers of the subproblems."""
        if "solutions" not in self.made:
            _ = self.board.round.answers
            if self.setting.answers == "own" and not self.setting.gradient_steps:
                self.made["solutions"] = self.answers
            else:
                exact = self.board.round.solutions(self.board.round.subproblem)
                self._minimised(self.variable("solutions", "exact", False, exact), None)
        return self.made["solutions"]

    @property
    def moves(self) -> list[tuple[Vector, Vector]]:
        """Every part of the state after the round and before it."""
        state = state_of(self)
        kept = [(f"{sort} {n}", u) for sort in ("shared", "memory") for n, u in getattr(state, sort).items()]
        return [(self._next(name), old) for name, old in [("w", state.server), *kept]]

    def _stationary_at_start(self, last: Vector) -> None:
        """Before the first round the clients' models are stationary points of their own functions."""
        if all(name != "own_minima" for name, _, _ in self.gradients):
            self.gradients.append(("own_minima", last, number(0) * last))

    def _next_answers(self) -> Vector:
        """Every client's last answer after the round."""
        if "next last" not in self.made:
            last, answers = self.vector(Vector("last answers", (0,))), self.answers
            drawn = last + Vector("selected", (answers - last,))
            term = answers if self.setting.draws.scheme == "everyone" else drawn
            self.variable("next last", "last_next", False, self.meaning(term), term)
        return self.made["next last"]

    def _next(self, part: str) -> Vector:
        """A part of the state after the round."""
        if f"next {part}" not in self.made:
            answers = self.answers
            state = state_of(self)
            new = method_of(self).update(state, cohort_of(self), Answers(answers, path_length(self)))
            played = self.board.round.played
            sort, _, name = part.partition(" ")
            term = new.server if part == "w" else getattr(new, sort)[name]
            if sort == "memory" and self.setting.draws.scheme != "everyone":
                old = state.memory[name]
                term = old + Vector("selected", (term - old,))
            means = played.server if part == "w" else getattr(played, sort)[name]
            self.variable(f"next {part}", f"{name or 'w'}_next", part == "w" or sort == "shared", means, term)
        return self.made[f"next {part}"]
