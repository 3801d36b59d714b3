"""One round of a setting on unknown vectors: the method's own code, with unknown vectors in the place of models.

Every evaluation of a gradient is recorded: at the same point it gives the same unknown vectors.
"""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from copy import copy
from itertools import count
from typing import Any, final

from fedconvex.claims.methods import counts_of
from fedconvex.claims.terms import Number
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods import Cohort, Method, State
from fedconvex.methods.base import only_in_runs
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, any_steps, integer
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import ANY, ANY_APART, APART, KEPT, NOISE, REPLACED, SAME, Key, Vec

MOST_STEPS = 20  # local gradient steps, and next rounds, that are played


@final
class Round:
    """One round, from any state that the method can reach, or from its first one.

    Args:
        parameters: those of the setting.
        at_start: the round is the first one, from the method's own first state.
        one_client: there is one client, and nothing is known of the others.
        known: parts of the state that get no unknown vectors, since the caller fills them in.
    """

    def __init__(self, parameters: SettingParameters, *, at_start: bool, one_client: bool, known: Container[str] = ()):
        self.parameters, self.setting, self.field = parameters, parameters.setting, parameters.field
        self.at_start, self.one_client = at_start, one_client
        self.eliminated: list[tuple[Key, Vec]] = []  # a basic vector, and a vector that is 0 where it has the factor 1
        self.gradients: dict[Any, Vec] = {}
        self.objective_gradients: dict[Any, Vec] = {}  # at points that differ between clients
        self.numbers = count()  # of unknown gradients
        self.proximals: dict[Any, Vec] = {}  # by centre and weight
        self.inexact: list[tuple[Vec, Vec]] = []  # residuals at the answers and at the starts
        if self.setting.minimiser and not one_client:
            self.gradients[self.minimiser.key] = self._apart("g*")
        self.exact: Vec | None = None  # the solutions of the subproblems
        self.local_gradients: Vec | None = None
        self.before_last_step: Vec | None = None
        self.place = 0
        self.earlier: Round | None = None  # of several that are played from the start
        self._next: Round | None = None
        self._answers: Answers | None = None
        self._played: State | None = None
        self.first = self._first_state(known)

    def _first_state(self, known: Container[str]) -> State:
        """The state before the round."""
        self.names: set[str] = set()  # of the parts of the state beside the server's point
        self.first = State(self.basic("w", SAME), {}, {})
        kind = Method.named(self.setting.method)
        require(self.setting.method == "" or kind is not None, f"no method {self.setting.method!r}")
        if not self.setting.method:
            return self.first
        with self._playing():
            begun = self.method.initial_state(self.first.server, lambda row: row)
        if self.at_start:
            return begun
        self.names = {*(f"shared {n}" for n in begun.shared), *(f"memory {n}" for n in begun.memory)}
        shared = {n: self.basic(f"shared {n}", SAME) for n in begun.shared if f"shared {n}" not in known}
        memory = {n: self.of_clients(f"memory {n}") for n in begun.memory if f"memory {n}" not in known}
        return State(begun.server, shared, memory)

    @property
    def method(self) -> Method:
        """The method, with its parameters as functions of the setting's."""
        require(self.setting.method, "the setting has no method, so there is no round")
        counts, values = counts_of(self.setting.method), dict[str, Any](self.setting.method_parameters)
        for name, x in values.items():
            if type(x) is Number:
                value = self.parameters.value(x)
                any_number = name == "local_steps" and any_steps(self.setting)  # only its local solver would ask for it
                values[name] = 1 if any_number else integer(value, name.replace("_", " ")) if name in counts else value
        made: Method = Method.named(self.setting.method)(**values)  # type: ignore[misc]
        require(self.field.scalar(made.skip).is_zero, "rounds that may be without communication")
        return made

    def rest(self) -> None:
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

    @contextmanager
    def _playing(self) -> Iterator[None]:
        """Refuses what the method's code does that vectors do not, such as ratios of norms, minima and signs."""
        try:
            yield
        except Refused:
            raise
        except Exception as error:
            does = f"more with vectors than add, scale and average them ({type(error).__name__}: {error})"
            raise Refused(f"the code of {self.setting.method} does {does}") from error

    @property
    def cohort(self) -> Cohort:
        """The clients, as the method's code sees them."""
        points = self.first.server
        return Cohort(
            points=points, population=1, everyone=self.setting.draws.scheme == "everyone", communicates=True,
            average=self.drawn, gradients=lambda: self.gradient(points),
            sampled_gradient=lambda: self._of_second_draw(self.gradient(points)),
            full_gradient=lambda: self.mean(self.gradient(points)), objective=only_in_runs,
            total=lambda stack: self.drawn(stack) * self.parameters.chance("π"),
        )  # fmt: skip

    @property
    def answers(self) -> Answers:
        """All clients' answers in the round; they do not need the server's next point, which one client cannot tell."""
        if self._answers is None:
            with self._playing():
                self.subproblem = self.method.subproblem(self.first, self.cohort)
            self._answers = self._answered(self.subproblem)
        return self._answers

    @property
    def played(self) -> State:
        """The state after the round."""
        if self._played is None:
            answers = self.answers
            with self._playing():
                new = self.method.update(self.first, self.cohort, answers)
            memory = {name: self.kept(self.first.memory[name], rows) for name, rows in new.memory.items()}
            self._played = State(new.server, new.shared, memory)
        return self._played

    @property
    def next(self) -> "Round":
        """The round after this one, of the same functions: what is known of points and vectors holds in both."""
        everyone = self.setting.draws.scheme == "everyone"
        require(self.setting.first_round and everyone, "a next round, of one that is not first or of drawn clients")
        unknown = self.setting.answers != "own" or any_steps(self.setting)
        require(not unknown, "the next round's answers are unknown vectors")
        if self._next is None:
            self._next = made = copy(self)
            made.first, made.earlier, made.place = self.played, self, self.place + 1
            made._next = made._played = made._answers = made.exact = None
            made.local_gradients = made.before_last_step = None
            require(made.place <= MOST_STEPS, "too many rounds")
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
            return Answers(self._stepped(subproblem.start, self.parameters.value(self.setting.gradient_steps["steps"])))
        if self.setting.answers == "inexact":
            left = self.of_clients("e")
            require(not subproblem.start.is_random, "a start that depends on the draw")
            self.inexact.append((left, subproblem.add_gradients(subproblem.start, self.gradient(subproblem.start))))
            return Answers(self.minimised(subproblem, left))
        require(isinstance(own, Exact | GradientDescent), f"the local solver {own} is not analysed")
        if isinstance(own, GradientDescent):
            require(self.setting.answers == "own", "gradient steps with an error are not analysed")
            name = any_steps(self.setting)
            steps = self.field.parameter(name) if name else self.field.scalar(int(own.steps))
            found = self._stepped(subproblem.start, steps)
            linear = Vec() if subproblem.linear is None else subproblem.linear
            self.local_gradients = (subproblem.start - found) / own.stepsize - linear * steps
            return Answers(found, own.stepsize * steps)
        exact = self.solutions(subproblem)
        return Answers(exact if self.setting.answers == "own" else exact + self.of_clients("e"))

    def _stepped(self, at: Vec, steps: Scalar) -> Vec:
        """The points after so many gradient steps; where that is a parameter, the last one starts at any points."""
        require(not at.is_random, "a start that depends on the draw")
        if any_steps(self.setting):
            self.before_last_step = self.of_clients("last step")
            return self.local_step(self.before_last_step)
        number = integer(steps, "local steps")
        require(0 < number <= MOST_STEPS, f"{number} local steps are too many")
        for _ in range(number):
            self.before_last_step, at = at, self.local_step(at)
        return at

    def local_step(self, at: Vec) -> Vec:
        """A gradient step of every client on its subproblem."""
        own, given = self.method.local_solver, self.setting.gradient_steps.get("stepsize")
        if given is None:
            require(isinstance(own, GradientDescent), "no gradient steps")
        stepsize = own.stepsize if isinstance(own, GradientDescent) else self.parameters.value(given)
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
        require(known is not None and self.field.is_positive(self.parameters.value(known) + weight),
                "an objective with no proximal point")  # fmt: skip
        if (center.key, weight) not in self.proximals:
            point = self.basic(f"prox {len(self.proximals)}", SAME)
            self.proximals[center.key, weight] = point
            self.gradients[point.key] = (center - point) * weight + self._apart(f"∇{next(self.numbers)}")
        return self.proximals[center.key, weight]

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

    def objective_gradient(self, at: Vec) -> Vec:
        """The objective's gradient at the clients' points: where these differ, unknown vectors."""
        if at.is_shared:
            return self.mean(self.gradient(at))
        require(not at.is_random, "the objective's gradient at points that depend on the draw")
        if at.key not in self.objective_gradients:
            self.objective_gradients[at.key] = self.of_clients(f"∇f{next(self.numbers)}")
        return self.objective_gradients[at.key]

    def both(self, at: Vec) -> tuple[Vec, Vec]:
        """The points of a client that is not drawn, and of one that is."""
        old = at.only(SAME, APART)
        return old, old + at.only(KEPT, REPLACED).renamed({KEPT: SAME, REPLACED: APART})

    def basic(self, name: str, *kinds: str) -> Vec:
        """A basic vector in these kinds."""
        return Vec({(kind, name): self.field.scalar(1) for kind in kinds})

    def of_clients(self, name: str) -> Vec:
        """An unknown vector for every client."""
        alone = self.one_client or self.setting.single_client
        return self.basic(name, SAME) if alone else self.basic(name, SAME, APART)

    def _apart(self, name: str) -> Vec:
        """An unknown vector for every client, with the mean 0."""
        return Vec() if self.setting.single_client else self.basic(name, APART)

    def mean(self, u: Vec) -> Vec:
        """The mean over all clients."""
        require(not self.one_client, "a mean over the clients, in a claim about one of them")
        kept = u.only(KEPT, REPLACED)
        found = u.only(SAME, NOISE, ANY)
        return (
            found + kept.renamed({KEPT: SAME, REPLACED: NOISE}) * self.parameters.chance("π") if kept.parts else found
        )

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
        return (
            found + kept.renamed({KEPT: SAME, REPLACED: APART}) * self.parameters.chance("π") if kept.parts else found
        )
