"""The board: what a setting says of one round, with unknown vectors in the place of the clients' models.

The board runs the method's own code on vectors of `vectors`, from any state that the method can reach as far as the
proved invariants tell, or from its first state. It records every evaluation of a gradient, and gives terms of the claim
language their meaning. A quantity that depends on the draw has a meaning only inside `expected`.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods import METHODS, Cohort, Method, State
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks.kernel.formulas import after_round, other_roots, roots, setting_terms
from fedconvex.proofs_checks.kernel.powers import Powers
from fedconvex.proofs_checks.kernel.scalars import Field, Refused, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import (
    ANY,
    ANY_APART,
    APART,
    KEPT,
    NOISE,
    REPLACED,
    SAME,
    Key,
    Monomial,
    Quantity,
    Unknown,
    Vec,
    inner,
)

# A part of the state, "server", "shared h" or "memory gradient", and what it always equals.
Invariant = tuple[str, Vector]
MOST_STEPS = 20  # local gradient steps, and next rounds, that the board plays
FIXED, IN_DRAW, AVERAGED = 0, 1, 2  # how a number depends on the draw
IN_ONE_DRAW, IN_MEAN = "‖ in a draw", "E‖"  # unknowns: a length in a draw, the expectation of such lengths' product
MOST_PRODUCTS = 5_000  # in the product of two sums of unknown numbers


@final
class RoundBoard:
    """One round of a setting, on unknown vectors.

    Args:
        setting: all that is assumed.
        terms: the terms that will be read, for the roots in them.
        invariants: what parts of the state always equal; the caller proves them (`rules.check_invariants`).
        at_start: the round is the first one, from the method's own first state.
        one_client: there is one client, and nothing is known of the others.
    """

    def __init__(
        self, setting: ClaimSetting, terms: Iterable[Any], invariants: tuple[Invariant, ...] = (), *,
        at_start: bool = False, one_client: bool = False, rounds: str = "", field: Field | None = None,
    ):  # fmt: skip
        self.setting, self.one_client, self.terms = setting, one_client, tuple(terms)
        self.at_start = at_start or setting.first_round
        known = field is not None
        rounds = rounds or (setting.gradient_steps["steps"].args[0] if self._any_gradient_steps else "")
        self.field = self._new_field(rounds) if field is None else field
        self.powers = Powers(self.field, rounds)
        if not known:
            self._assume_conditions()
        self.chances = self._chances()
        self.eliminated: list[tuple[Key, Vec]] = []  # a basic vector, and a vector that is 0 where it has the factor 1
        self.gradients: dict[Any, Vec] = {}
        self.numbers = count()  # of unknown gradients
        self.proximals: dict[Any, Vec] = {}  # by centre and weight
        self.inexact: list[tuple[Vec, Vec]] = []  # residuals at the answers and at the starts
        if setting.minimiser and not one_client:
            self.gradients[self.minimiser.key] = Vec({(APART, "g*"): self.field.scalar(1)})
        self.lengths: list[Vec] = []
        self.points: dict[Any, str] = {self.minimiser.key: "*"}  # names of the points of function values
        self.exact: Vec | None = None  # the solutions of the subproblems
        self._next: RoundBoard | None = None
        self._earlier: RoundBoard | None = None
        self.place = 0  # among the first rounds
        self.first = self._first_state(invariants)
        self._answers: Answers | None = None
        self._played: State | None = None
        self.local_gradients: Vec | None = None
        if setting.rests and not self.at_start:
            self._rest()

    def at_its_start(self) -> "RoundBoard":
        """The first round, from the method's own start, with the same parameters."""
        made = RoundBoard(self.setting, self.terms, at_start=True, field=self.field)
        made.powers = self.powers
        return made

    def _new_field(self, rounds: str) -> Field:
        """The field of the setting's parameters, of the draw's σ, and of the sums of powers of a run."""
        signs = dict(self.setting.signs)
        require(
            "σ" not in signs and not any(n.startswith("Σ") for n in signs), "a parameter with a name of the kernel's"
        )
        if self.setting.draws.scheme == "uniform":
            signs["σ"] = "nonnegative"
        if rounds:
            sign = "positive" if rounds in self.setting.counts else "nonnegative"
            signs |= dict.fromkeys(Powers.NAMES, sign)
        terms = (*setting_terms(self.setting), *self.terms)
        exponentials = {p for term in terms for p in parts(term) if p.head == "exp"}
        return Field(signs, roots(terms), len(other_roots(terms)), len(exponentials))

    def _assume_conditions(self) -> None:
        """Tells the field what the setting's parameters satisfy."""
        field, setting = self.field, self.setting
        chosen = {left.args[0] for left, relation, _ in setting.conditions if _is_choice(left, relation)}
        # The other conditions come first: they may decide the maxima in a choice, and they may be about what is chosen.
        for left, relation, right in sorted(setting.conditions, key=lambda c: _turn(c, chosen)):
            if _is_choice(left, relation) and field.choose(left.args[0], self.parameter_only(right)):
                continue
            larger, smaller = self._roots_of(self.parameter_only(left), self.parameter_only(right))
            field.assume(larger - smaller, relation == ">")
            if relation == "=":
                field.assume(smaller - larger, False)
        for name in sorted(setting.counts):
            rooted = name in field.roots  # √K ≥ 1 says as much as K ≥ 1, and is linear in the symbol √K
            field.assume(field.symbol(f"√{name}" if rooted else name) - 1, False)
        if (
            setting.draws.scheme == "uniform"
        ):  # σ = (m − P)/(P(m − 1)) lies in [0, 1]; it is any such number where m = 1
            field.assume(1 - field.symbol("σ"), False)

    def _roots_of(self, *sides: Scalar) -> tuple[Scalar, ...]:
        """The roots of both sides of a condition where the field has them, such as √κ ≥ 1 for κ ≥ 1; else the sides."""
        try:
            return tuple(self.field.root(side) for side in sides)
        except Refused:
            return sides

    def _chances(self) -> dict[str, Scalar | None]:
        """The numbers 1, π, σ and πσ of the draw (`vectors`); None where they are not known."""
        draws, one = self.setting.draws, self.field.scalar(1)
        if draws.scheme == "everyone":
            return {"1": one, "π": one, "σ": one - 1, "πσ": one - 1}
        active = self.parameter_only(draws.active)
        if draws.scheme == "independent":
            return {"1": one, "π": None, "σ": 1 / active, "πσ": None}
        clients = self.parameter_only(draws.clients)
        require(self.field.is_nonnegative(clients - active), "more clients are drawn than there are")
        scale = self.field.symbol("σ")
        return {"1": one, "π": active / clients, "σ": scale, "πσ": active / clients * scale}

    # ---- the state, and the round

    def _first_state(self, invariants: tuple[Invariant, ...]) -> State:
        """The state before the round."""
        self.first = State(self.basic("w", SAME), {}, {})
        require(self.setting.method == "" or self.setting.method in METHODS, f"no method {self.setting.method!r}")
        if not self.setting.method:
            return self.first
        begun = self.method.initial_state(self.first.server, lambda row: row)
        if self.at_start:
            return begun
        always = dict(invariants)
        self.first = State(begun.server, {}, {})
        for place in (begun.shared, begun.memory):
            sort, kept = ("shared", self.first.shared) if place is begun.shared else ("memory", self.first.memory)
            for name in place:
                if f"{sort} {name}" not in always:
                    made = self.basic(f"shared {name}", SAME) if sort == "shared" else self.of_clients(f"memory {name}")
                    kept[name] = made  # type: ignore[index]
        for what, term in invariants:
            # A vector of the round is not known yet, and an expectation after a round is not the vector itself later.
            after_round(term)
            require(all(p.head != "expected" for p in parts(term)), f"the invariant of {what} has an expectation")
            if what == "server":  # its own vector stays unknown wherever an invariant before this one has used it
                self.first = replace(self.first, server=self.vector(term))
                continue
            sort, _, name = what.partition(" ")
            require(sort in ("shared", "memory") and name in getattr(begun, sort), f"{what} is no part of the state")
            kept = getattr(self.first, sort)
            require(name not in kept, f"{what} is given twice")
            kept[name] = self.vector(term)
        return self.first

    @property
    def method(self) -> Method:
        """The method, with its parameters as functions of the setting's."""
        require(self.setting.method, "the setting has no method, so there is no round")
        numbers = {n: self.parameter_only(x) for n, x in self.setting.method_parameters.items()}
        whole = {n: 1 if self._any_steps else _integer(x) for n, x in numbers.items() if n == "local_steps"}
        made: Method = METHODS[self.setting.method](**{**numbers, **whole})
        return made

    @property
    def _any_steps(self) -> bool:
        """Whether the number of local steps is a parameter. FedGD's algebra uses it in the local solver alone."""
        steps = self.setting.method_parameters.get("local_steps")
        found = steps is not None and steps.head == "parameter"
        require(not found or (self.setting.method == "FedGD" and steps.args[0] in self.setting.counts),  # type: ignore[union-attr]
                "any number of local steps")  # fmt: skip
        return found

    @property
    def _any_gradient_steps(self) -> bool:
        """Whether the number of the setting's gradient steps is a parameter."""
        steps = self.setting.gradient_steps.get("steps")
        return steps is not None and steps.head == "parameter" and steps.args[0] in self.setting.counts

    def _rest(self) -> None:
        """The round leaves the state as it is: of each equation that this is, one basic vector is eliminated."""
        require(self.setting.draws.scheme == "everyone", "a fixed point of a round that depends on a draw")
        old, new = self.first, self.played
        moves = [new.server - old.server, *(new.shared[n] - u for n, u in old.shared.items()),
                 *(new.memory[n] - u for n, u in old.memory.items())]  # fmt: skip
        for move in moves:
            for kind in (SAME, APART):  # the mean of the moves is 0, and so are the deviations from it
                zero = self.put(move).only(kind)
                for key in [k for k, c in zero.parts.items() if self.field.is_nonzero(c)][:1]:
                    self.eliminated.append((key, zero / zero.parts[key]))
        # Where two points turn out to be one, the first gradient's name is kept.
        self.gradients = {self.put(Vec(dict(at))).key: g for at, g in reversed(self.gradients.items())}

    def put(self, u: Vec) -> Vec:
        """The vector without the basic vectors that a fixed point's equations eliminate."""
        for key, zero in self.eliminated:
            u = u - zero * u.parts[key] if key in u.parts else u
        return u

    @property
    def cohort(self) -> Cohort:
        """The clients, as the method's code sees them."""
        points = self.first.server
        return Cohort(
            points=points, population=1, everyone=self.setting.draws.scheme == "everyone", communicates=True,
            average=self.drawn, gradients=lambda: self.gradient(points),
            sampled_gradient=lambda: self._of_second_draw(self.gradient(points)),
            full_gradient=lambda: self.mean(self.gradient(points)), objective=_no_objective,
            total=lambda stack: self.drawn(stack) * self._chance("π"),
        )  # fmt: skip

    @property
    def answers(self) -> Answers:
        """All clients' answers in the round; they do not need the server's next point, which one client cannot tell."""
        if self._answers is None:
            self.subproblem = self.method.subproblem(self.first, self.cohort)
            self._answers = self._answered(self.subproblem)
        return self._answers

    @property
    def played(self) -> State:
        """The state after the round."""
        if self._played is None:
            new = self.method.update(self.first, self.cohort, self.answers)
            memory = {name: self.kept(self.first.memory[name], rows) for name, rows in new.memory.items()}
            self._played = State(new.server, new.shared, memory)
        return self._played

    @property
    def next_round(self) -> "RoundBoard":
        """The round after this one, of the same functions: what is known of points and vectors holds in both."""
        everyone = self.setting.draws.scheme == "everyone"
        require(self.setting.first_round and everyone, "a next round, of one that is not first or of drawn clients")
        require(self.place < MOST_STEPS, "too many rounds")
        require(self.setting.answers == "own" and not self._any_steps and not self._any_gradient_steps,
                "the next round's answers are unknown vectors")  # fmt: skip
        if self._next is None:
            self._next = made = copy(self)
            made.first, made._earlier, made._played, made._answers = self.played, self, None, None
            made.place = self.place + 1
            made._next, made.exact, made.local_gradients = None, None, None
        return self._next

    def _of_second_draw(self, u: Vec) -> Vec:
        require(self.setting.draws.scheme == "everyone", "a second draw of clients in a round")
        return self.mean(u)

    def kept(self, old: Vec, new: Vec) -> Vec:
        """The clients' vectors where those that are drawn replace the old by the new ones."""
        if self.setting.draws.scheme == "everyone":
            return new
        change = new - old
        require(not new.is_random and not old.is_random, "a memory that depends on two draws")
        return old + change.renamed({SAME: KEPT, APART: REPLACED})

    def _answered(self, subproblem: Subproblem) -> Answers:
        """The answers of all clients, as the setting says."""
        own = self.method.local_solver
        if self.setting.gradient_steps:
            require(isinstance(own, Exact), "gradient steps in the place of a solver that is not exact")
            return Answers(self._stepped(subproblem.start))
        if self.setting.answers == "inexact":
            left = self.of_clients("e")
            require(not subproblem.start.is_random, "a start that depends on the draw")
            self.inexact.append((left, subproblem.add_gradients(subproblem.start, self.gradient(subproblem.start))))
            return Answers(self.minimised(subproblem, left))
        require(isinstance(own, Exact | GradientDescent), f"the local solver {own} is not analysed")
        if isinstance(own, GradientDescent):
            require(self.setting.answers == "own", "gradient steps with an error are not analysed")
            theta, steps = subproblem.start, int(own.steps)
            require(0 < steps <= MOST_STEPS, f"{steps} local steps are too many")
            if self._any_steps:  # of the gradients along the way only the sum is known, as a vector
                self.local_gradients = self.of_clients("Σ∇")
                return Answers(theta - own.stepsize * self.local_gradients)
            self.local_gradients = Vec()
            for _ in range(steps):
                slope = self.gradient(theta)
                self.local_gradients = self.local_gradients + slope
                theta = theta - own.stepsize * subproblem.add_gradients(theta, slope)
            return Answers(theta, own.stepsize * steps)
        exact = self.solutions(subproblem)
        return Answers(exact if self.setting.answers == "own" else exact + self.of_clients("e"))

    def _stepped(self, start: Vec) -> Vec:
        """The points after the setting's gradient steps; any points where their number is a parameter."""
        require(not start.is_random, "a start that depends on the draw")
        if self._any_gradient_steps:
            return self.of_clients("last step")
        steps = _integer(self.parameter_only(self.setting.gradient_steps["steps"]))
        require(0 < steps <= MOST_STEPS, f"{steps} local steps are too many")
        for _ in range(steps):
            start = self.local_step(start)
        return start

    def local_step(self, at: Vec) -> Vec:
        """A gradient step of every client on its subproblem."""
        own, given = self.method.local_solver, self.setting.gradient_steps.get("stepsize")
        if given is None:
            require(isinstance(own, GradientDescent), "no gradient steps")
        stepsize = own.stepsize if isinstance(own, GradientDescent) else self.parameter_only(given)
        require(self.field.is_positive(self.field.scalar(stepsize)), "a stepsize that may be 0 or negative")
        require(not at.is_random, "a gradient step from a point that depends on the draw")
        return at - self.subproblem.add_gradients(at, self.gradient(at)) * stepsize  # type: ignore[no-any-return]

    def solutions(self, subproblem: Subproblem) -> Vec:
        """The points that the exact solver gives, the same ones always."""
        if self.exact is None:
            self.exact = self.minimised(subproblem, Vec())
        return self.exact

    def minimised(self, subproblem: Subproblem, left: Vec) -> Vec:
        """Points at which the subproblems' gradients equal `left`."""
        weight = self.field.scalar(subproblem.weight)
        require(self.field.is_positive(weight), "a subproblem without proximal term")
        right: Vec = left + subproblem.center * weight
        right = right if subproblem.linear is None else right - subproblem.linear
        require(not right.is_random, "a subproblem that depends on the draw")
        gradient = self.of_clients(f"∇{next(self.numbers)}")
        point = (right - gradient) / weight
        self.gradients[point.key] = gradient
        return point

    @property
    def minimiser(self) -> Vec:
        # A vector like others: as the origin, ‖x*‖² and other numbers that depend on the origin would be 0.
        return self.basic("x*", SAME)

    def proximal(self, weight: Scalar, center: Vec) -> Vec:
        """The minimiser of the objective plus (weight/2)‖· − center‖², where the mean of the gradients is known."""
        require(center.is_shared and not center.is_random and not self.one_client, "a proximal point of one client")
        least, of_objective = self.setting.curvature[0], self.setting.objective[0]
        known = of_objective if least is None else least
        require(known is not None and self.field.is_positive(self.parameter_only(known) + weight),
                "an objective with no proximal point")  # fmt: skip
        if (center.key, weight) not in self.proximals:
            point = self.basic(f"prox {len(self.proximals)}", SAME)
            self.proximals[center.key, weight] = point
            apart = self.basic(f"∇{next(self.numbers)}", APART)
            self.gradients[point.key] = (center - point) * weight + apart
        return self.proximals[center.key, weight]

    def basic(self, name: str, *kinds: str) -> Vec:
        """A basic vector in these kinds."""
        return Vec({(kind, name): self.field.scalar(1) for kind in kinds})

    def of_clients(self, name: str) -> Vec:
        """An unknown vector for every client."""
        return self.basic(name, SAME) if self.one_client else self.basic(name, SAME, APART)

    def _chance(self, name: str) -> Scalar:
        found = self.chances[name]
        require(found is not None, "memories are not known for this draw")
        assert found is not None
        return found

    def mean(self, u: Vec) -> Vec:
        """The mean over all clients."""
        require(not self.one_client, "a mean over the clients, in a claim about one of them")
        kept = u.only(KEPT, REPLACED)
        found = u.only(SAME, NOISE, ANY)
        return found + kept.renamed({KEPT: SAME, REPLACED: NOISE}) * self._chance("π") if kept.parts else found

    def drawn(self, u: Any) -> Any:
        """The average over the drawn clients; a number is the same for all."""
        if not isinstance(u, Vec):
            return u
        if self.setting.draws.scheme == "everyone":
            return self.mean(u)
        require(not u.is_random and not self.one_client, "an average over two draws")
        return u.renamed({SAME: SAME, APART: NOISE})

    def expected(self, u: Vec) -> Vec:
        """The expectation over the draw."""
        require(not u.only(ANY, ANY_APART).parts, "the expectation of a gradient at a point that depends on the draw")
        kept = u.only(KEPT, REPLACED)
        found = u.only(SAME, APART)
        return found + kept.renamed({KEPT: SAME, REPLACED: APART}) * self._chance("π") if kept.parts else found

    def gradient(self, at: Vec) -> Vec:
        """The clients' gradients at a point: unknown vectors, the same ones at the same point."""
        if at.only(NOISE, ANY, ANY_APART).parts:
            if at.key not in self.gradients:
                self.gradients[at.key] = self.basic(f"∇{next(self.numbers)}", ANY, ANY_APART)
            return self.gradients[at.key]
        if at.is_random:  # every client is at one of two points
            old, new = self.both(at)
            before = self.gradient(old)
            return before + (self.gradient(new) - before).renamed({SAME: KEPT, APART: REPLACED})
        if at.key not in self.gradients:
            self.gradients[at.key] = self.of_clients(f"∇{next(self.numbers)}")
        return self.gradients[at.key]

    def both(self, at: Vec) -> tuple[Vec, Vec]:
        """The points of a client that is not drawn, and of one that is."""
        old = at.only(SAME, APART)
        return old, old + at.only(KEPT, REPLACED).renamed({KEPT: SAME, REPLACED: APART})

    # ---- the meaning of terms

    def vector(self, term: Vector) -> Vec:
        """The vector that the term means here. Raises Refused."""
        return self.put(self._vector(term))

    def _vector(self, term: Vector) -> Vec:
        match term.head, term.args:
            case "server", (time,):
                point: Vec = (self.played if time else self.first).server
                return point
            case ("shared" | "memory") as sort, (name, time):
                known = getattr(self.played if time else self.first, sort)
                require(name in known, f"{self.setting.method} keeps no {sort} {name!r}")
                found: Vec = known[name]
                return found
            case "last answers", (0,):
                if self._earlier is not None:  # everyone took part
                    return self._earlier.answers.points  # type: ignore[no-any-return]
                last = self.of_clients("last")
                if self.at_start and self.setting.starts_at_own_minima:
                    self.gradients[last.key] = Vec()
                return last
            case "last answers", (_,):
                return self.kept(self.vector(Vector("last answers", (0,))), self.answers.points)
            case "answers", ():
                answered: Vec = self.answers.points
                return answered
            case "solutions", ():
                _ = self.answers
                return self.solutions(self.subproblem)
            case "local gradients", ():
                _ = self.answers
                require(self.local_gradients is not None, "no gradient steps")
                return self.local_gradients  # type: ignore[return-value]
            case "local step", (u,):
                _ = self.answers
                return self.local_step(self.vector(u))
            case "residuals", ():
                found = self.answers.points
                return self.subproblem.add_gradients(found, self.gradient(found))  # type: ignore[no-any-return]
            case "minimiser", ():
                require(self.setting.minimiser, "the setting has no minimiser")
                return self.minimiser
            case "proximal", (c, at):
                return self.proximal(self.parameter_only(c), self.vector(at))
            case "gradient", (at,):
                return self.gradient(self.vector(at))
            case "mean", (u,):
                return self.mean(self.vector(u))
            case "drawn", (u,):
                made = self.drawn(self.vector(u))
                assert isinstance(made, Vec)
                return made
            case "expected", (u,):
                return self.expected(self.vector(u))
            case "next round", (u,):
                return self.next_round.vector(u)
            case "free", (name,):
                return self.basic(f"free {name}", SAME)
            case "family", (name,):
                return self.of_clients(f"family {name}")
            case "named", (_, u):
                return self.vector(u)
            case "+", (u, v):
                return self.vector(u) + self.vector(v)
            case "-", (u, v):
                return self.vector(u) - self.vector(v)
            case "*", (c, u):
                return self.vector(u) * self.parameter_only(c)
            case "/", (u, c):
                return self.vector(u) * (1 / self.parameter_only(c))
        raise Refused(f"{term.head} has no meaning in a round")

    def number(self, term: Number) -> Quantity:
        """The number that the term means here, which must not depend on the draw. Raises Refused."""
        found, random = self._number(term)
        require(not random, "a number that depends on the draw, outside an expectation")
        return found

    def parameter_only(self, term: Any) -> Scalar:
        """The value of a term in parameters alone."""
        return self.field.scalar(self.number(term).scalar)

    def _number(self, term: Number) -> tuple[Quantity, int]:
        """The quantity, and how it depends on the draw: FIXED, IN_DRAW (the quantity has the lengths of every draw), or
        AVERAGED (of what depends on the draw otherwise, the quantity has the expectation).
        """
        match term.head, term.args:
            case "constant", (c,):
                return self.constant(c), FIXED
            case "parameter", (name,):
                return self.constant(self.field.parameter(name)), FIXED
            case "named", (_, x):
                return self._number(x)
            case "inner", (u, v):
                one, other = self.vector(u), self.vector(v)
                return self.inner(one, other), AVERAGED if one.is_random or other.is_random else FIXED
            case "norm", (u,):
                at = self.vector(u)
                return self.length_in_draw(at), IN_DRAW if at.is_random else FIXED
            case "value", (u,):
                at = self.vector(u)
                return self.value(at), AVERAGED if at.is_random else FIXED
            case "infimum", ():
                return self.infimum, FIXED
            case "expected", (x,):
                return self.averaged(self._number(x)[0]), FIXED
            case ("+" | "-") as sign, (x, y):
                (a, r), (b, s) = self._number(x), self._number(y)
                return (a + b if sign == "+" else a - b), max(r, s)
            case "neg", (x,):
                a, r = self._number(x)
                return a * -1, r
            case "*", (x, y):
                (a, r), (b, s) = self._number(x), self._number(y)
                require(FIXED in (r, s) or r == s == IN_DRAW, "the product of two numbers that depend on the draw")
                return self.product(a, b), max(r, s)
            case "/", (x, y):
                a, r = self._number(x)
                return a * (1 / self.parameter_only(y)), r
            case "^", (x, Number("constant", (n,))):
                return self._power(x, n)
            case "^", (x, y):
                require(self.powers.rounds, "an exponent that is no constant")
                return self.constant(self._rounds_power(x, y)), FIXED
            case "root", (Number("inner", (u, v)),) if u == v:
                return self._number(Number("norm", (u,)))
            case "root", (Number("expected", (Number("inner", (u, v)),)),) if u == v:
                return self.length(self.vector(u)), FIXED
            case "root", (x,):
                return self.constant(self.field.root(self.parameter_only(x))), FIXED
            case "exp", (x,):
                return self.constant(self.field.exp(self.parameter_only(x))), FIXED
            case "max", (x, y):
                first, second = self.parameter_only(x), self.parameter_only(y)
                larger = first if self.field.is_nonnegative(first - second) else second
                require(self.field.is_nonnegative(larger - first), "an undecided maximum")
                return self.constant(larger), FIXED
        raise Refused(f"{term.head} has no meaning in a round")

    def _rounds_power(self, x: Number, y: Number) -> Scalar:
        """r^(±T + n), or r^(±2T + n) = (r²)^(±T) r^n, with an integer n."""
        exponent, r = self.parameter_only(y), self.parameter_only(x)
        for times in (1, -1, 2, -2):
            rest = exponent - self.field.parameter(self.powers.rounds) * times
            if rest.above.total_degree() <= 0 and rest.below == rest.field.one:
                whole, more = self.powers.power(r ** abs(times)), _integer(rest)
                found = whole if times > 0 else 1 / whole
                return found * r**more if more else found
        raise Refused("an exponent that is not T plus an integer")

    def _power(self, x: Number, n: Fraction) -> tuple[Quantity, int]:
        require(n.denominator == 1 and abs(n) <= 40, f"the exponent {n} is no small integer")
        if n < 0 or all(p.head in ("constant", "parameter", *"+-*/^", "neg", "root", "named", "max") for p in parts(x)):
            return self.constant(self.parameter_only(x) ** int(n)), FIXED
        a, random = self._number(x)
        require(not random, "a power of a number that depends on the draw")
        found = self.constant(1)
        for _ in range(int(n)):
            found = self.product(found, a)
        return found, FIXED

    def constant(self, c: Any) -> Quantity:
        """A number of parameters as a quantity."""
        return Quantity({(): self.field.scalar(c)})

    def inner(self, u: Vec, v: Vec) -> Quantity:
        """The expected mean inner product."""
        return inner(self.put(u), self.put(v), self.chances)

    def idle_square(self, u: Vec) -> Quantity:
        """The expected mean over all clients of (1 − 1_k)‖u_k‖²: of u_k = a_k + n with an average n over the drawn.

        The mean of 1_k⟨u_k, a_k⟩ is that of ⟨u_k, 1_k a_k⟩, and the mean of 1_k⟨u_k, n⟩ is ⟨mean 1_k a_k + πn, n⟩.
        """
        require(self.setting.draws.scheme == "uniform", "clients are not drawn without replacement")
        require(not u.only(KEPT, REPLACED, ANY, ANY_APART).parts, "the idle clients' part of a vector of two draws")
        seen, noise = u.only(SAME, APART).renamed({SAME: KEPT, APART: REPLACED}), u.only(NOISE)
        active = self.inner(u, seen) + self.inner(self.mean(seen) + noise * self._chance("π"), noise)
        return self.inner(u, u) - active

    def value(self, at: Vec) -> Quantity:
        """The expected mean of the function values at a point."""
        if at.only(KEPT, REPLACED).parts and not at.only(NOISE, ANY, ANY_APART).parts:
            old, new = self.both(at)
            return self.value(old) * (1 - self._chance("π")) + self.value(new) * self._chance("π")
        return Quantity({self.name_of_value(at): self.field.scalar(1)})

    def length_in_draw(self, u: Vec) -> Quantity:
        """The length of a vector that may depend on the draw, in any one draw."""
        if not u.is_random:
            return self.length(u)
        require(u.is_shared, "the length, in a draw, of the clients' vectors")
        return self.length(u, IN_ONE_DRAW)

    def averaged(self, of: Quantity) -> Quantity:
        """The expectation, where it is about lengths in a draw: E‖u‖², which is ⟨u, u⟩, or E‖u‖‖v‖…, an unknown."""
        found = Quantity()
        for m, c in of.terms.items():
            places = tuple(x[1] for x in m if x[0] == IN_ONE_DRAW)
            others = Quantity({tuple(x for x in m if x[0] != IN_ONE_DRAW): c})
            if len(places) == 2 and places[0] == places[1]:
                u = self.lengths[int(places[0])]
                others = self.product(others, self.inner(u, u))
            elif places:
                others = self._times(others, Quantity({((IN_MEAN, *places),): self.field.scalar(1)}))
            found = found + others
        return found

    def length(self, u: Vec, kind: str = "‖") -> Quantity:
        """The root mean square length, as an unknown number >= 0 whose square is ⟨u, u⟩."""
        if not u.parts:
            return Quantity()
        key = min(u.parts)
        first = u.parts[key]
        if self.field.is_nonzero(first):  # ‖cu‖ = |c|‖u‖
            size = first if self.field.is_positive(first) else -first
            return Quantity({(self._length(u / first, kind),): size})
        return Quantity({(self._length(u, kind),): self.field.scalar(1)})

    def _length(self, u: Vec, kind: str) -> Unknown:
        known = [k for k, v in enumerate(self.lengths) if v.key == u.key]
        if not known:
            self.lengths.append(u)
        return (kind, str(known[0] if known else len(self.lengths) - 1))

    def name_of_value(self, at: Vec) -> Monomial:
        """The unknown value at a point."""
        return (("F", self.points.setdefault(at.key, str(len(self.points)))),)

    @property
    def infimum(self) -> Quantity:
        """The objective's infimum."""
        require(self.setting.bounded_below, "the objective may have no infimum")
        return Quantity({(("F", "infimum"),): self.field.scalar(1)})

    def require_convex(self, at: Vec) -> None:
        """Refuses where the functions, at such points, are not known to be convex."""
        least, of_objective = self.setting.curvature[0], self.setting.objective[0]
        require(least is not None or at.is_shared, "the objective is convex, but the points differ between clients")
        known = of_objective if least is None else least
        require(known is not None and self.field.is_nonnegative(self.parameter_only(known)), "functions not convex")

    def product(self, a: Quantity, b: Quantity) -> Quantity:
        """The product, with the square of a length replaced by the inner product."""
        require(len(a.terms) * len(b.terms) <= MOST_PRODUCTS, "a product of too many terms")
        found = Quantity()
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                factors = sorted((*m, *n))
                term = Quantity({(): c * d})
                while factors:
                    name = factors.pop()
                    if factors and factors[-1] == name and name[0] == "‖":
                        factors.pop()
                        u = self.lengths[int(name[1])]
                        term = self._times(term, self.inner(u, u))
                    else:
                        term = self._times(term, Quantity({(name,): self.field.scalar(1)}))
                found = found + term
        return found

    def _times(self, a: Quantity, b: Quantity) -> Quantity:
        terms: dict[Monomial, Any] = {}
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                key = tuple(sorted((*m, *n)))
                terms[key] = terms.get(key, 0) + c * d
        return Quantity(terms)


def _is_choice(left: Number, relation: str) -> bool:
    """Whether the condition says what one parameter is."""
    return relation == "=" and left.head == "parameter"


def _turn(condition: tuple[Number, str, Number], chosen: set[str]) -> int:
    """Conditions without the parameters that are chosen, then those that choose them, then those that use them."""
    left, relation, right = condition
    return 1 if _is_choice(left, relation) else 2 if chosen & {*_names(left), *_names(right)} else 0


def _names(term: Number) -> Iterator[str]:
    return (part.args[0] for part in parts(term) if part.head == "parameter")


def _integer(value: Scalar) -> int:
    require(
        value.below == value.field.one and value.above.total_degree() <= 0, "a number of local steps that is no integer"
    )
    return int(str(value.above))


def _no_objective() -> Any:
    raise Refused("the method looks at function values while it runs")
