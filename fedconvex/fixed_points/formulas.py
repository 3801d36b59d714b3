"""What a method's own code says of its rounds and fixed points: it is played once, on unknown vectors.

Every array that a round starts from (the server's point, the memories, the clients' answers and gradients) is an
unknown vector, for the clients one of any client of a group; a round with all clients is then a linear form in these
vectors. That proves what holds for all clients' functions:

* which linear combinations of the state no round changes, so that they keep the value that a start gives them;
* what the vectors satisfy at rest, where a round changes nothing: linear equations, which elimination solves;
* hence where fixed points are: where w = Σ_k λ_k θ_k(w), or where ∇f(w) + λ(w − x⁽¹⁾) = 0 with x⁽¹⁾ the start;
* the whole state at rest;
* how the centres of proximal steps move, as in operator splitting, which converges.

Code that does more with these vectors than to add and average them raises `NotAffine`: it is not linear, or looks at
single clients or coordinates.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, final

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.definiteness import null_space
from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.linear_forms import (
    ONE,
    AffineClients,
    LinearForm,
    NotAffine,
    Terms,
    combined,
    explaining,
)
from fedconvex.fixed_points.unknown_vectors import (
    ClientVectors,
    Hidden,
    LinearRelations,
    Rank,
    UnknownVector,
    key_of,
    rank_of,
    terms_in,
    vector,
)
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import Answers, SmoothSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.once import Once
from fedconvex.parameters import in_rationals
from fedconvex.problems.base import Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.runs.rounds import Rounds

Vectors = Any  # an UnknownVector, or ClientVectors
W = (Rank.SERVER, "w")
RANDOM = "gives another result when it is called again"


@final
@dataclass(frozen=True, eq=False)
class Stationary:
    """At rest all θ_k = w and ∇f(w) + pull·(w − x⁽¹⁾) = 0, where the clients solve their subproblems exactly.

    Also where answers only go where the subproblems decrease (`SmoothSolver.descends`): if `descending`, for all
    clients; if `convex`, for convex ones.
    """

    pull: Any
    descending: bool
    convex: bool
    equations: LinearRelations  # of the state at rest, in w, x⁽¹⁾ and the clients' gradients at w


@final
@dataclass(frozen=True, eq=False)
class CentreMap:
    """v_k⁺ = own·v_k + mean·v̄ + answer·θ_k + mean_answer·θ̄ + a constant, θ_k the proximal step of F_k from v_k.

    With a `relaxation` r it is v_k + 2r(w⁺ − θ_k), w⁺ = 2θ̄ − v̄: Peaceman–Rachford splitting for r = 1, for r = 1/2
    Douglas–Rachford splitting, which is ADMM. `takes_proximal_steps`: this holds whatever w⁺ is, and the server's
    proximal steps have the clients' stepsize.
    """

    own: Any
    mean: Any
    answer: Any
    mean_answer: Any
    relaxation: Any
    takes_proximal_steps: bool


@final
@dataclass(frozen=True, eq=False)
class Formulas:
    """One round of all clients on unknown vectors."""

    method: Method  # in rational numbers
    weights: Array  # (m,) of the server's average
    members: tuple[np.ndarray, ...]  # of the groups: clients whose local stepsizes have the same sum
    path_lengths: Vectors  # these sums, or None
    compressed: list[Vectors] | None = None  # what rounds compress, which adds errors; None: they may not

    @staticmethod
    def of(method: Method, problem: Problem, solver: SmoothSolver, linear: bool = True) -> "Formulas":
        """The formulas of a method with a local solver on a problem. Raises NotAffine where there are none.

        Not `linear`: also where all that is not linear in a round are the server's other arrays, and positive numbers
        by which they divide the entries of its step, as in FedAdam.
        """
        with explaining():
            found = Formulas._known(method, problem, solver)
        if linear and found.beyond_linear:
            raise NotAffine(found.beyond_linear)
        return found

    @staticmethod
    def _known(method: Method, problem: Problem, solver: SmoothSolver) -> "Formulas":
        usual = problem.is_equally_weighted and type(method).average_weights is Method.average_weights
        key = solver, problem.num_clients, None if usual else tuple(method.average_weights(problem))
        try:
            if key not in method.formulas:
                method.formulas[key] = Formulas._of(method, problem, solver)
            found: Formulas = method.formulas[key]
        except TypeError:  # a solver that cannot be hashed
            return Formulas._of(method, problem, solver)
        return found

    @staticmethod
    def _of(method: Method, problem: Problem, solver: SmoothSolver) -> "Formulas":
        m, lengths = problem.num_clients, None
        members: tuple[np.ndarray, ...] = (np.arange(m),)
        if solver.has_path_lengths:
            nowhere = np.empty((m, 0), dtype=object)  # local work in dimension 0 costs nothing
            clients = AffineClients(arithmetics.get("exact"), m, 0)
            answers = in_rationals(solver).solve(clients, Subproblem(start=nowhere))
            of_each = np.array([to_fmpq(length) for length in answers.path_lengths.ravel()])  # type: ignore[union-attr]
            different = sorted(set(of_each.tolist()))
            members = tuple(np.flatnonzero(of_each == length) for length in different)
            lengths = ClientVectors(UnknownVector({ONE: length}) for length in different)
        weights = np.array([to_fmpq(weight) for weight in method.average_weights(problem)])
        made = Formulas(in_rationals(method), weights, members, lengths)
        made.rounds.copy()  # raises where there are none
        return made

    @cached_property
    def rounds(self) -> list[tuple[Subproblem, State]]:
        """What the clients minimise, and the state after a round; where rounds may be local, of both kinds."""
        found: list[tuple[Subproblem, State]] = []
        for sends in (True,) if self.method.skip == 0 else (True, False):
            cohorts = [self._cohort(self.state.server, sends) for _ in range(2)]
            subproblem = self.method.subproblem(self.state, cohorts[0])
            # a local round whose subproblems are others has answers of its own
            alike = not found or _alike(subproblem, found[0][0])
            answers = Answers(self._answers if alike else self._clients(Rank.FURTHER, "local"), self.path_lengths)
            once, again = (self._checked(self.method.update(self.state, cohort, answers)) for cohort in cohorts)
            if self._flat(once) != self._flat(again):
                raise NotAffine(RANDOM)
            found.append((subproblem, once))
        return found

    @property
    def state(self) -> State:
        """Any state before a round."""
        return State(
            vector(*W),
            {name: vector(Rank.KEPT, f"shared {name}") for name in self._first.shared},
            {name: self._clients(Rank.KEPT, f"memory {name}") for name in self._first.memory},
        )

    @cached_property
    def rest(self) -> LinearRelations:
        """What holds of states that no round changes, and that keep what a start gives them."""
        zeros = [*(zero for _, after in self.rounds for zero in self._changes(after)), *self._invariants]
        return LinearRelations(map(_undivided, zeros))

    @property
    def moves_with_the_origin(self) -> bool:
        """Whether translating the clients' functions and the start translates all rounds, which add no constants."""
        moved: dict[Any, Any] = {(Rank.START, "start"): 1}

        def move(terms: Terms) -> Any:  # in units of the translation
            factors = (
                moved.get(atom, int(rank_of(atom) in (Rank.ANSWER, Rank.FURTHER))) * c for atom, c in terms.items()
            )
            return None if ONE in terms else sum(factors)

        begun = list(map(move, self._flat(self._first)))
        moved |= {next(iter(terms)): by for terms, by in zip(self._flat(self.state), begun, strict=True)}
        found: list[tuple[Any, Any]] = []
        for posed, after in self.rounds if None not in begun else ():
            found += zip(map(move, self._flat(after)), begun, strict=True)
            for part, by in ((posed.start, 1), (posed.center, 1), (posed.linear, 0)):
                found += [(move(terms), by) for terms in (terms_in(part) if part is not None else ())]
        found += [(move(terms), 0) for sent in self.compressed or () for terms in terms_in(sent)]
        return None not in begun and all(one == by for one, by in found)

    @property
    def beyond_linear(self) -> str:
        """What the code does with vectors beside adding and averaging them; "" if nothing."""
        states = (self._flat(after) for _, after in self.rounds)
        return next((a[1][0] for state in states for terms in state for a in terms if rank_of(a) == Rank.HIDDEN), "")

    @cached_property
    def step(self) -> Array | None:
        """λ (m,) where every round is w⁺ = w + Σ_k λ_k(θ_k − w), with subproblems around w alone; else None."""
        return None if len(self.rounds) > 1 else self._shares(self._changes(self.rounds[0][1])[0])

    @cached_property
    def shares(self) -> Array | None:
        """λ (m,) where, for subproblems around w, exactly the solutions of Σ_k λ_k(θ_k − w) = 0 are at rest."""
        left = self.rest.before(Rank.FURTHER)
        if self.step is not None or len(left) != 1 or not self.is_determined:
            return self.step
        found = self._shares(left[0])
        return None if found is None else found / found.sum()

    @property
    def is_determined(self) -> bool:
        """Whether what holds at rest is no contradiction, and does not depend on the answers to further problems."""
        rows = self.rest.rows.items()
        hidden = (rank_of(last) < Rank.KEPT and _is_hidden(row) for last, row in rows)
        return not any(last == ONE or rank_of(a) == Rank.FURTHER for last, row in rows for a in row) and not any(hidden)

    def stationary(self, solver: SmoothSolver, problem: Problem) -> Stationary | None:
        """What is proved of fixed points as stationary points, if anything is with this solver on this problem."""
        found = self._stationary
        if found is None or isinstance(solver, Exact):
            return found
        allowed = found.descending or (found.convex and problem.is_convex)
        descends = allowed and solver.descends(problem, self.method.scale(problem), self.method.proximal_weight)
        return found if descends else None

    @cached_property
    def _stationary(self) -> Stationary | None:
        subproblem, rest, pull, descending, convex = self.rounds[0][0], self.rest, flint.fmpq(0), False, False
        w, gradients = self._of_all(self.state.server), self._clients(Rank.GRADIENT, "∇F")
        if self._weight is None or not self._averages_the_objective or not self.is_determined:
            return None
        at_start = gradients - self._solved_by(subproblem, w)  # the subproblems' gradients at w
        if rest.imply(self._answers - w):
            # θ_k = w, whose mean gradient is known; where the θ_k are the starts, too, they solve the subproblems
            mean = rest.reduced(self._average(self._solved_by(subproblem, self._answers)).terms)
            pull = mean.get((Rank.START, "start"), pull)
            if combined(mean, ((self._start - self.state.server) * pull).terms, -1):
                return None
            descending = rest.imply(subproblem.start - w)
        else:
            # All subproblems start at w, with the gradient c·∇f(w). If it is not 0, then every answer is at an obtuse
            # angle to it from w, and so is their mean, which is w.
            left, mean_gradient = rest.before(Rank.FURTHER), self._average(gradients)
            common = rest.reduced(at_start.groups[0].terms)
            c = next((common[atom] / mean_gradient.terms[atom] for atom in common if atom in mean_gradient.terms), None)
            shares = self._shares(left[0], around=False) if len(left) == 1 else None
            alike = c is not None and rest.imply(subproblem.start - w) and rest.imply(at_start - mean_gradient * c)
            if not alike or shares is None or not (shares / shares.sum() >= 0).all():
                return None
            convex = True
        # Conversely: at every such point the equations of the whole state have a solution.
        answered = self._zeros(self._answers - w)
        equations = LinearRelations([*answered, *self._zeros(at_start), *rest.rows.values()])
        objective = self._average(gradients) + (self.state.server - self._start) * pull
        implied = LinearRelations([*answered, objective.terms])
        if any(implied.reduced(row) for row in equations.before(Rank.FURTHER)):
            return None
        return Stationary(pull, descending, convex, equations)

    @cached_property
    def centres(self) -> CentreMap | None:
        """How the centres of the clients' proximal steps move, where that depends on them and on the answers alone."""
        after = self.rounds[0][1]
        before, later = self._centres(self.rounds[0][0]), self._centres_after(after)
        if len(self.rounds) > 1 or len(self.members) > 1 or before is None or later is None:
            return None
        v, answers, nothing = self._clients(Rank.NEXT, "v"), self._answers, LinearRelations()
        known = LinearRelations([*self._zeros(before - v), *self._invariants])
        moved, server = known.reduced(later.groups[0].terms), known.reduced(after.server.terms)
        parts = (v.groups[0], self._average(v), answers.groups[0], self._average(answers))
        atoms = [next(iter(part.terms)) for part in parts]
        own, mean, answer, mean_answer = (moved.get(atom, flint.fmpq(0)) for atom in atoms)
        if not self._averages_the_objective or any(rank_of(atom) > Rank.START for atom in moved.keys() - atoms):
            return None
        splits = moved == (v + (self._average(answers) * 2 - self._average(v) - answers) * -answer).groups[0].terms
        if not splits or server != (self._average(answers) * 2 - self._average(v)).terms or not -2 <= answer < 0:
            return CentreMap(own, mean, answer, mean_answer, None, False)
        w = vector(Rank.NEXT, "next")  # after a proximal step the server's point is another vector
        stepped = self._centres_after(replace(after, server=w))
        takes = (
            self.method.no_prox == ""
            and nothing.imply(stepped - before + (w - answers) * answer)
            and nothing.imply(after.server - self._average(answers * 2 - before))
            and self._weight * self.method.prox_stepsize(self._cohort(w, True), Answers(answers)) == 1
        )
        return CentreMap(own, mean, answer, mean_answer, -answer / 2, takes)

    def _centres(self, subproblem: Subproblem) -> Vectors:
        """v_k = center_k − linear_k/weight, from which θ_k is a proximal step of F_k; None where it is none."""
        if subproblem.center is None or not self._weight or _number(subproblem.weight) != self._weight:
            return None
        return self._solved_by(subproblem, 0) / self._weight

    def _centres_after(self, after: State) -> Vectors:
        return self._centres(self.method.subproblem(after, self._cohort(after.server, True)))

    @property
    def starts_at_centres(self) -> bool:
        """Whether local work starts at the centres of the proximal steps."""
        subproblem = self.rounds[0][0]
        return subproblem.linear is None and LinearRelations().imply(subproblem.start - subproblem.center)

    @property
    def depends_on_start(self) -> bool:
        """Whether rounds keep something of the start."""
        return any(rank_of(atom) == Rank.START for zero in self._invariants for atom in zero)

    def state_at(self, point: Array, rounds: Rounds) -> State | None:
        """The whole state at rest at a fixed point, of runs from 0; None where the equations leave it open."""
        equations = self.rest if self._stationary is None else self._stationary.equations
        if rounds.regularizer is not None:
            equations = self._rest_of_memories
        numbers, gradients = rounds.arithmetic, Once(lambda: rounds.clients.gradients(point))
        answers = Once(lambda: rounds.play(rounds.start(point)).answers.points)  # type: ignore[union-attr]

        def value(terms: Terms, like: Array) -> Array:
            total = 0 * like
            for atom, c in equations.reduced(terms).items():
                rank, found = rank_of(atom), 1
                if rank >= Rank.FURTHER:
                    raise LookupError
                if rank in (Rank.GRADIENT, Rank.ANSWER):
                    found = (gradients if rank == Rank.GRADIENT else answers)()[self.members[atom[2]]]
                    if len(atom) == 4:
                        found = numbers.average(numbers.array(self._within(atom[2])), found)
                elif rank in (Rank.START, Rank.SERVER):
                    found = point if rank == Rank.SERVER else 0
                total = total + numbers.scalar(c) * found
            return total

        def values(part: Vectors) -> Array:
            if isinstance(part, UnknownVector):
                return value(part.terms, point)
            rows = numbers.repeat(0 * point, len(self.weights))
            for members, terms in zip(self.members, terms_in(part), strict=True):
                rows[members] = value(terms, rows[members])
            return rows

        try:
            return self.state.mapped(values)
        except LookupError:
            return None

    @cached_property
    def _rest_of_memories(self) -> LinearRelations:
        """What holds at rest of all but the server's point, which takes a proximal step after the round."""
        subproblem, answered = self.rounds[0][0], list[Terms]()
        if self.centres is not None and self.centres.takes_proximal_steps:  # all θ_k = w
            w = self._of_all(self.state.server)
            at_w = self._clients(Rank.GRADIENT, "∇F") - self._solved_by(subproblem, w)
            answered = [*self._zeros(self._answers - w), *self._zeros(at_w)]
        kept = [zero for zero in self._invariants if not any(rank_of(a) in (Rank.START, Rank.SERVER) for a in zero)]
        return LinearRelations([*answered, *self._changes(self.rounds[0][1])[1:], *kept])

    # What holds of the vectors.

    def _changes(self, after: State) -> list[Terms]:
        return [combined(new, old, -1) for new, old in zip(self._flat(after), self._flat(self.state), strict=True)]

    @cached_property
    def _invariants(self) -> list[Terms]:
        """Combinations of the state that no round changes, minus what they are at the start: 0."""
        state, first = self._flat(self.state), self._flat(self._first)
        changes = [self._changes(after) for _, after in self.rounds]
        columns = list({(t, atom) for t, own in enumerate(changes) for terms in own for atom in terms})
        entries = [terms.get(atom, 0) for t, atom in columns for terms in changes[t]]
        kept = (
            null_space(flint.fmpq_mat(len(columns), len(state), entries)) if columns else np.eye(len(state), dtype=int)
        )
        found: list[Terms] = []
        for combination in kept:
            zero: Terms = {}
            for c, terms, begun in zip(combination, state, first, strict=True):
                zero = combined(zero, combined(terms, begun, -1), to_fmpq(c))
            found.append(zero)
        return found

    def _shares(self, terms: Terms, around: bool = True) -> Array | None:
        """λ (m,) of a vector Σ_k λ_k(θ_k − w), where subproblems are `around` w; None of other vectors."""
        shares = 0 * self.weights
        for atom, c in terms.items():
            if rank_of(atom) == Rank.ANSWER and len(atom) == 4:
                shares[self.members[atom[2]]] += c * self._within(atom[2])
            elif atom != W:
                return None
        total = shares.sum()
        fits = total != 0 and terms.get(W, 0) == -total and (self._is_around_server or not around)
        return shares if fits else None

    @property
    def _is_around_server(self) -> bool:
        """Whether subproblems start at w and have their center there, without a linear term."""
        subproblem, nothing, w = self.rounds[0][0], LinearRelations(), self._of_all(self.state.server)
        centered = self._weight == 0 or (self._weight is not None and nothing.imply(subproblem.center - w))
        return centered and nothing.imply(subproblem.start - w) and nothing.imply(0 * w + (subproblem.linear or 0))

    @property
    def _weight(self) -> Any:
        """The weight of the subproblems' proximal term, which local solvers are told; None where it is another one."""
        subproblem = self.rounds[0][0]
        weight = _number(subproblem.weight)
        told = weight == to_fmpq(self.method.proximal_weight) and (weight == 0 or subproblem.center is not None)
        return weight if told else None

    @property
    def _averages_the_objective(self) -> bool:
        """Whether the average of the ∇F_k is ∇f."""
        kind = type(self.method)
        return kind.average_weights is Method.average_weights and kind.scale is Method.scale

    def _solved_by(self, subproblem: Subproblem, points: Any) -> Vectors:
        """What ∇F_k has to be at points that solve the subproblems."""
        gradients = self._of_all(UnknownVector({}))
        if subproblem.center is not None:
            gradients = gradients - (points - subproblem.center) * self._weight
        return gradients if subproblem.linear is None else gradients - subproblem.linear

    def _zeros(self, vectors: Vectors) -> list[Terms]:
        """What is 0 where these vectors are: they, and the clients' means over their groups."""
        own = terms_in(vectors)
        return [*own, *map(_mean, own)] if isinstance(vectors, ClientVectors) else own

    def _flat(self, state: State) -> list[Terms]:
        found: list[Terms] = []
        state.mapped(lambda part: found.extend(self._zeros(part)))
        return found

    # Means over the clients.

    def _average(self, stack: Vectors) -> UnknownVector:
        if not isinstance(stack, ClientVectors):
            raise NotAffine("averages what is no array of the clients' vectors")
        total = UnknownVector({})
        for terms, members in zip(terms_in(stack), self.members, strict=True):
            total = total + UnknownVector(_mean(terms)) * self.weights[members].sum()
        return total

    def _total(self, stack: Vectors) -> UnknownVector:
        if (self.weights != self.weights[0]).any():
            raise NotAffine("adds up what clients of different weights have")
        total: UnknownVector = self._average(stack) * len(self.weights)
        return total

    def _within(self, group: int) -> Array:
        """The weights of the mean over a group."""
        weights = self.weights[self.members[group]]
        return weights / weights.sum() if weights.sum() else weights + flint.fmpq(1, len(weights))

    # What a method's code is given.

    @cached_property
    def _first(self) -> State:
        return self._checked(self.method.initial_state(self._start, self._of_all))

    @property
    def _start(self) -> UnknownVector:
        return vector(Rank.START, "start")

    @property
    def _answers(self) -> Vectors:
        return self._clients(Rank.ANSWER, "θ")

    def _clients(self, rank: int, name: str) -> Vectors:
        return ClientVectors(vector(rank, name, group) for group in range(len(self.members)))

    def _of_all(self, shared: UnknownVector) -> Vectors:
        return ClientVectors((shared,) * len(self.members))

    def _cohort(self, server: UnknownVector, sends: bool) -> Cohort:
        name, numbers = "∇F" if server.terms.keys() == {W} else "next ∇F", count()

        def gradients() -> Vectors:
            return self._clients(Rank.GRADIENT, name)

        def mean() -> UnknownVector:
            return self._average(gradients())

        return Cohort(
            points=self._of_all(server), population=len(self.weights), everyone=True, communicates=sends,
            average=self._average, gradients=gradients, sampled_gradient=mean, full_gradient=mean,
            objective=_refusing("evaluates the objective"), total=self._total,
            square_root=lambda of: Hidden("takes square roots", ("root", key_of(of)), "not negative"),
            sign=lambda of: Hidden("takes signs", ("sign", key_of(of))),
            where=_refusing("treats some clients in another way"),
            solve=lambda subproblem: self._clients(Rank.FURTHER, f"answer {next(numbers)}"),
            compress=lambda compressor, sent: self._compressed(sent, next(numbers)),
        )  # fmt: skip

    def _compressed(self, sent: Vectors, number: int) -> Vectors:
        if self.compressed is None:
            raise NotAffine("compresses what clients send")
        self.compressed.append(sent)
        return sent + self._clients(Rank.GRADIENT, f"error {number}")

    def _checked(self, state: State) -> State:
        """A state that a method's code made, if it is made of unknown vectors, with the names of the first one."""
        like = self._first if "_first" in vars(self) else state
        state = state.mapped(lambda x: vector(Rank.HIDDEN, (x.reason, x.key, None)) if isinstance(x, Hidden) else x)
        vectors = all(isinstance(part, UnknownVector) for part in (state.server, *state.shared.values()))
        if not vectors or not all(isinstance(stack, ClientVectors) for stack in state.memory.values()):
            raise NotAffine("makes a state of something else than vectors")
        if like.shared.keys() != state.shared.keys() or like.memory.keys() != state.memory.keys():
            raise NotAffine("changes the names of what it keeps")
        return state


def _undivided(zero: Terms) -> Terms:
    """What is 0 where this vector is: that of which the division by positive numbers makes it."""
    while len(zero) == 1 and _is_hidden(zero) and (inner := next(iter(zero))[1][2]):
        zero = dict(inner)
    return zero


def _is_hidden(terms: Terms) -> bool:
    return any(rank_of(atom) == Rank.HIDDEN for atom in terms)


def _mean(terms: Terms) -> Terms:
    """The mean over a group of a vector of its clients."""
    of_clients = {(*atom, "mean"): c for atom, c in terms.items() if len(atom) == 3}
    return combined({atom: c for atom, c in terms.items() if len(atom) != 3}, of_clients)


def _alike(one: Subproblem, other: Subproblem) -> bool:
    """Whether two subproblems are the same, with the same start."""
    posed = (
        [(name, part and terms_in(part)) for name, part in vars(it).items() if name != "weight"] for it in (one, other)
    )
    return next(posed) == next(posed) and _number(one.weight) == _number(other.weight)


def _number(value: Any) -> Any:
    """A weight in rationals; None for what is no number."""
    try:
        return value.constant() if isinstance(value, LinearForm) else to_fmpq(value)
    except (NotAffine, InvalidInput):
        return None


def _refusing(action: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise NotAffine(action)

    return refuse
