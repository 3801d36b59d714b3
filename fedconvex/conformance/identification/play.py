"""Play the rounds of many edited methods at once, in floats: the candidates for what an implementation does.

The method's own code computes each round, on vectors in which the candidates' models stand one after another. Between
its steps, at the sites below, the hooks of each candidate's edits change that candidate's part. A hook is a function of
a `View`, in which it finds all vectors that a step could use, and of what the step has computed.

| site | what is computed there |
|---|---|
| x0 | the initial point |
| received | the server's point that the clients get |
| read, updates | the client's memory, a dict by name, as the subproblem and as the update read it |
| start, center, weight, linear | the client's subproblem |
| own | the start, the center and the weight of the subproblem of a personal model |
| scale, targets, data | the factor of its function; its targets; the number of the client whose data it has |
| count, batches | its number of local steps or epochs; its mini-batches |
| point, gradient, pull | where the gradient is taken; that gradient; the proximal term's |
| whole, decayed, direction | the sum of all terms; with weight decay; with momentum |
| stepsize, moved | of a local step; the local model after it |
| answer, sent | the local model at the end; the one that the server gets |
| average, total, population | of the server: (d,) of the rows `v.rows`; their sum; the number m |
| paths, points | the clients' path lengths; the server's point in the clients' changes |
| update | the state after the round, an `EditedState` |
| shown | the server's model that is reported |
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.conformance.batches import ChosenBatches, path_lengths
from fedconvex.conformance.classification import softmax_gradients
from fedconvex.conformance.identification.edits import Edit
from fedconvex.conformance.identification.local_work import solve
from fedconvex.conformance.identification.view import EditedState, Models, View
from fedconvex.conformance.reference import Part, rounds_with
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.fedprox import AdaptiveFedProx
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.problems.subproblem import Subproblem

Candidate = tuple[Edit, ...]


class CandidateRounds:
    """The candidates' rounds on one scenario; they have the same edits of the setup and of the draw."""

    def __init__(self, setup: Setup, scenario: Scenario, candidates: Sequence[Candidate], part: Part = "both") -> None:
        self.draws = [edit.draw for edit in candidates[0] if edit.draw is not None]
        for edit in candidates[0]:
            if edit.setup is not None:
                setup = edit.setup(setup) if edit.number is None else edit.setup(setup, edit.value)
        self.setup, self.scenario, self.part = setup, scenario, part
        self.rounds = rounds_with(setup, scenario, arithmetics.get("float"))
        made: Any = self.rounds.method
        self.method: Any = made.original if setup.weighted else made
        self.sizes, self.dim, self.effort = scenario.sizes, scenario.dim, setup.effort or 0
        self.names = list(range(len(candidates)))
        self.kept: list[dict[Any, Any]] = [{} for _ in candidates]
        self.hooks: dict[str, list[tuple[int, float | None, Any]]] = {}
        for e, candidate in enumerate(candidates):
            for edit in candidate:
                for site, hook in edit.hooks.items():
                    self.hooks.setdefault(site, []).append((e, edit.value, hook))
        self.view, self.count = View(self), len(candidates)
        self._index_averages()
        self.targets: list[np.ndarray] | None = None
        self.shared: dict[str, np.ndarray]
        self.memory: dict[str, np.ndarray]
        self.theirs: tuple[dict[str, np.ndarray], dict[str, np.ndarray]]
        self.server: np.ndarray
        self.last: np.ndarray
        self.scale: list[np.ndarray]
        self._begin()

    # --- data ---------------------------------------------------------------------------------------------------

    @cached_property
    def data(self) -> list[tuple[np.ndarray, np.ndarray, float]]:
        base, factors = self.scenario.base, self.scenario.factors
        own = (None if self.setup.weighted else self.method.scale(base)) or (1,) * len(factors)
        return [
            (np.asarray(A, float), np.asarray(b), float(factor) * float(scale))
            for A, b, factor, scale in zip(base.A, base.b, factors, own, strict=True)
        ]

    def gradient(self, k: int, X: np.ndarray, of: Any, rows: Sequence[int] | None = None) -> np.ndarray:
        """∇F_k at X (E', d) for the candidates `of`, or its estimate from the mini-batch `rows`."""
        A, b, factor = self.data[k]
        targets = None if self.targets is None else self.targets[k][of]
        if rows is not None:
            A, b, factor = A[rows], b[rows], factor * (len(b) / len(rows) if self.scenario.is_rational else 1)
            targets = None if targets is None else targets[:, rows]
        if self.scenario.is_rational:
            found = (X @ A.T - (b if targets is None else targets)) @ A
        else:
            found = softmax_gradients(A, b, X)
        scaled: np.ndarray = factor * self.scale[k][of][:, None] * found
        return scaled

    def gradients_at(self, X: np.ndarray, clients: Any) -> np.ndarray:
        """(K, E, d) at X (E, d)."""
        return np.stack([self.gradient(k, X, slice(None)) for k in clients])

    def weights_of(self, clients: Any) -> np.ndarray:
        """The server's weights of these clients, (K,), of sum 1."""
        chosen: np.ndarray = self._weights[list(clients)]
        weights: np.ndarray = chosen / chosen.sum()
        return weights

    @cached_property
    def _weights(self) -> np.ndarray:
        weights = self.rounds.method.average_weights(self.rounds.problem)
        return np.array([nearest_float(one) for one in weights])

    # --- hooks --------------------------------------------------------------------------------------------------

    def at(self, site: str) -> Iterator[tuple[int, Callable[[Any], Any]]]:
        """The candidates that have a hook at the site, each with it; the view is that candidate's meanwhile."""
        for e, value, hook in self.hooks.get(site, ()):
            self.view.e, self.view.value = e, value
            yield e, partial(hook, self.view)

    def hooked(self, site: str, found: np.ndarray) -> np.ndarray:
        """The rows (E, …) with those of the candidates that have a hook at the site changed."""
        if site in self.hooks:
            found = found.copy()
            for e, hook in self.at(site):
                found[e] = hook(found[e])
        return found

    def hooked_by_client(self, site: str, rows: np.ndarray) -> np.ndarray:
        """The participants' rows (K, E, …), changed likewise."""
        if site in self.hooks:
            rows = rows.copy()
            for i in self.participants():
                rows[i] = self.hooked(site, rows[i])
        return rows

    def participants(self) -> Iterator[int]:
        """The places of the participants; the view is that client's meanwhile."""
        for i, k in enumerate(self.view.active):
            self.view.i, self.view.k = i, k
            yield i

    def keep_only(self, alive: np.ndarray) -> None:
        """Goes on with the candidates of this mask alone."""
        places = np.flatnonzero(alive)
        moved = {int(old): new for new, old in enumerate(places)}
        self.names = [self.names[i] for i in places]
        self.hooks = {
            site: left
            for site, hooks in self.hooks.items()
            if (left := [(moved[e], value, hook) for e, value, hook in hooks if e in moved])
        }
        for name in ("w", "old", "last_mean", "server", "largest"):
            setattr(self, name, getattr(self, name)[places])
        self.last, self.scale = self.last[:, places], [row[places] for row in self.scale]
        self.targets = None if self.targets is None else [rows[places] for rows in self.targets]
        self.shared = {name: row[places] for name, row in self.shared.items()}
        self.memory = {name: rows[:, places] for name, rows in self.memory.items()}
        shared, memory = self.theirs  # which may be the very same rows: new ones, not changed ones
        self.theirs = (
            {name: row[places] for name, row in shared.items()},
            {name: rows[:, places] for name, rows in memory.items()},
        )
        self.count = len(places)
        self._index_averages()

    def _index_averages(self) -> None:
        """The hooks of the average by candidate, for hooks that average themselves."""
        self.averages: dict[int, list[tuple[float | None, Any]]] = {}
        for e, value, hook in self.hooks.get("average", ()):
            self.averages.setdefault(e, []).append((value, hook))

    # --- rounds -------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        m, first = len(self.sizes), np.tile(self.scenario.first_point, (self.count, 1))
        self.starts = self.main_ends = first[None]
        self.scale = [np.ones(self.count) for _ in range(m)]
        for k in range(m):
            self.view.k = k
            self.scale[k] = self.hooked("scale", self.scale[k])
        if "targets" in self.hooks and self.scenario.is_rational:
            self.targets = [np.tile(self.data[k][1], (self.count, 1)) for k in range(m)]
            self.targets = [self.hooked("targets", rows) for rows in self.targets]
        self.w = self.hooked("x0", first)
        self.server = self.w  # the model that is shown …
        self.largest = np.abs(self.w).max(1)  # … and the largest entry that it has had, which `Agreement` keeps
        self.old = self.last_mean = self.w
        self.last = np.stack([self.w] * m)
        self.seen = [-1] * m
        state = self.method.initial_state(self.w.ravel(), lambda row: np.stack([row] * m))
        self.shared = {name: self._rows(row) for name, row in state.shared.items()}
        self.memory = {name: self._stack(rows) for name, rows in state.memory.items()}
        # the memory of the half that the kit plays: the server's, and the clients' as it would have them
        self.theirs = (dict(self.shared), {name: rows.copy() for name, rows in self.memory.items()})

    def _rows(self, flat: np.ndarray) -> np.ndarray:
        return np.asarray(flat, float).reshape(self.count, -1)

    def _stack(self, flat: np.ndarray) -> np.ndarray:
        return np.asarray(flat, float).reshape(len(flat), self.count, -1)

    def __iter__(self) -> Iterator[Models]:
        """The models after each round; between two of them `keep_only` may be called."""
        for t in range(len(self.scenario.rounds)):
            with np.errstate(all="ignore"):
                yield self._round(t)

    def _round(self, t: int) -> Models:
        scenario, view = self.scenario, self.view
        active: list[int] = list(scenario.rounds[t])
        efforts: list[int | None] = list(scenario.efforts[t]) if scenario.efforts else [None] * len(active)
        pairs = sorted(zip(active, efforts, strict=True))
        view.t, view.active, view.efforts = t, [k for k, _ in pairs], [effort for _, effort in pairs]
        ordered = list(view.active), list(view.efforts)  # what the kit's own half does
        for draw in self.draws:
            view.active, view.efforts = draw(view.active, view.efforts, self.effort, len(self.sizes))
        if not view.active:
            return Models(self.server, {})
        received = self.hooked("received", self.w)
        shared = self.theirs[0] if self.part == "clients" else self.shared
        memory = self.theirs[1] if self.part == "server" else self.memory
        subproblem = self._subproblem(received, shared, memory)
        answers = solve(self, subproblem, "main")
        paths = self._paths(t)
        before = self.w
        if self.part == "both":
            server, self.shared, self.memory = self._update(answers, paths, self.shared, self.memory)
        elif self.part == "clients":
            _, _, self.memory = self._update(answers, paths, self.shared, self.memory)
            if view.active != ordered[0]:  # with a correct server nobody else takes part
                return Models(self.server, {})
            view.active, view.efforts = ordered
            lengths = self._paths(t)
            server, shared, memory = self._update(answers, lengths, *self.theirs, plain=True)
            self.theirs, self.shared = (shared, memory), shared
        else:
            kept = [ordered[0].index(k) for k in view.active if k in ordered[0]]
            if len(kept) < len(view.active):
                return Models(self.server, {})
            seen = {**self.theirs[0], **self.shared}
            server, self.shared, _ = self._update(answers, paths, self.shared, memory)
            view.active, view.efforts = ordered
            if len(kept) < len(view.active):  # the kit's clients have all worked
                subproblem = self._subproblem(received, seen, memory)
                answers = solve(self, subproblem, "main")
            _, _, theirs = self._update(answers, self._paths(t), seen, memory, plain=True)
            self.theirs, self.memory = (self.theirs[0], theirs), theirs
        for i, k in enumerate(view.active):
            self.seen[k] = t
            self.last[k] = answers[i]
        self.last_mean = np.tensordot(self.weights_of(view.active), answers, 1)
        self.w, self.old = server, before
        self.view.vectors = {"after": server, "before": before}
        self.server = self.hooked("shown", server)
        personal = self.method.personal
        models = answers if personal is None else self.memory[personal][view.active]
        return Models(self.server, dict(zip(view.active, models, strict=True)))

    def _subproblem(
        self, received: np.ndarray, shared: dict[str, np.ndarray], memory: dict[str, np.ndarray]
    ) -> Subproblem:
        """The clients' subproblems, in (K, E, d)."""
        view = self.view
        view.vectors = {}
        rows = self._read("read", {name: memory[name][view.active] for name in memory})
        state = State(received.ravel(), {n: row.ravel() for n, row in shared.items()}, self._flat(rows))
        subproblem = self.method.subproblem(state, self._cohort(received, self.w))

        def shaped(part: Any) -> Any:
            return None if part is None else self._stack(np.broadcast_to(part, (len(view.active), received.size)))

        return Subproblem(
            start=shaped(subproblem.start),
            weight=shaped(np.asarray(subproblem.weight, float)) if subproblem.center is not None else 0,
            center=shaped(subproblem.center),
            linear=shaped(subproblem.linear),
        )

    def _read(self, site: str, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The participants' memory as their hooks read it, which get one client's vectors by name."""
        if site in self.hooks:
            rows = {name: part.copy() for name, part in rows.items()}
            for i in self.participants():
                for e, hook in self.at(site):
                    for name, row in hook({name: part[i, e] for name, part in rows.items()}).items():
                        rows[name][i, e] = row
        return rows

    def _flat(self, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: part.reshape(len(part), -1) for name, part in rows.items()}

    def _cohort(self, points: np.ndarray, at: np.ndarray, plain: bool = False) -> Cohort:
        """The method's cohort for the rows of all candidates; `plain`: without hooks."""
        view, active, m = self.view, list(self.view.active), len(self.sizes)
        weights = self.weights_of(active)

        def hooked(site: str, found: np.ndarray, stack: np.ndarray) -> np.ndarray:
            if plain or site not in self.hooks:
                return found
            view.vectors["rows"] = self._stack(stack)
            return self.hooked(site, self._rows(found)).ravel()

        def average(stack: np.ndarray) -> np.ndarray:
            return hooked("average", np.tensordot(weights, stack, 1), stack)

        def gradients(clients: Any) -> np.ndarray:
            return self.gradients_at(at, clients).reshape(len(clients), -1)

        population: Any = m
        if not plain and "population" in self.hooks:
            population = self.hooked("population", np.full((self.count, self.dim), float(m))).ravel()
        everyone = self.weights_of(range(m))
        mine = m * self._weights[active][:, None] if self.setup.weighted else None
        return Cohort(
            points=np.tile(points.ravel(), (len(active), 1)),
            population=population,
            everyone=False,
            communicates=True,
            average=average,
            gradients=lambda: gradients(active),
            sampled_gradient=lambda: np.tensordot(weights, gradients(active), 1),
            full_gradient=lambda: np.tensordot(everyone, gradients(range(m)), 1),
            objective=lambda: self.rounds.objective(at.ravel()),
            total=lambda stack: hooked("total", (stack if mine is None else mine * stack).sum(0), stack),
            square_root=np.sqrt,
            sign=np.sign,
            where=lambda mask, chosen, other: np.where(mask[active][:, None], chosen, other),
            solve=self._solved_again,
        )

    def _solved_again(self, further: Subproblem) -> np.ndarray:
        """The answers to another local problem, of the update."""
        vectors = self.view.vectors
        answers = solve(self, self._shaped(further), "own")
        self.view.vectors = vectors
        return answers.reshape(len(answers), -1)

    def _shaped(self, given: Subproblem) -> Subproblem:
        size = (len(self.view.active), self.count * self.dim)
        parts = {
            name: None if part is None else self._stack(np.broadcast_to(np.asarray(part, float), size))
            for name, part in (("start", given.start), ("center", given.center), ("linear", given.linear))
        }
        weight = 0 if given.center is None else self._stack(np.broadcast_to(np.asarray(given.weight, float), size))
        return Subproblem(parts["start"], weight, parts["center"], parts["linear"])

    def _update(
        self,
        answers: np.ndarray,
        paths: np.ndarray | None,
        shared: dict[str, np.ndarray],
        memory: dict[str, np.ndarray],
        plain: bool = False,
    ) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """The server's point, its memory and all clients' after the round."""
        view, active = self.view, self.view.active
        points = np.stack([self.w] * len(active))
        view.vectors = {"answers": answers, "starts": self.starts}
        if paths is not None:
            view.vectors["lengths"] = paths
        if not plain:
            answers, points = self.hooked_by_client("sent", answers), self.hooked_by_client("points", points)
            paths = None if paths is None else self.hooked_by_client("paths", paths)
        view.vectors |= {"answers": answers}
        mine = {name: memory[name][active] for name in memory}
        if not plain:
            mine = self._read("updates", mine)
        state = State(self.w.ravel(), {n: row.ravel() for n, row in shared.items()}, self._flat(mine))
        cohort = replace(self._cohort(self.w, self.w, plain), points=points.reshape(len(active), -1))
        lengths = None if paths is None else paths.reshape(len(active), -1)
        after = self.method.update(state, cohort, Answers(answers.reshape(len(active), -1), lengths))
        server = self._rows(np.broadcast_to(after.server, self.w.size))
        new = {name: self._stack(part) for name, part in after.memory.items()}
        kept = {name: self._rows(row) for name, row in after.shared.items()}
        if self._averages_all and not plain:
            # implementations compute this mean anew, so that an error of an earlier round is not carried on
            everyones = memory["z"].copy()
            everyones[active] = new["z"]
            server = everyones.mean(0)
        if not plain and "update" in self.hooks:
            server = server.copy()
            new, kept = ({name: part.copy() for name, part in entries.items()} for entries in (new, kept))
            view.vectors |= {"after": server}
            for e, hook in self.at("update"):
                result = EditedState(
                    server[e].copy(),
                    {name: row[e].copy() for name, row in kept.items()},
                    {name: part[:, e].copy() for name, part in new.items()},
                )
                hook(result)
                server[e] = result.server
                for name, row in result.shared.items():
                    kept[name][e] = row
                for name, part in result.memory.items():
                    new[name][:, e] = part
        whole = {}
        for name, part in memory.items():
            whole[name] = part.copy()
            whole[name][active] = new[name]
        return server, kept, whole

    @cached_property
    def _averages_all(self) -> bool:
        """Whether the server's point is the mean of all clients' z_k."""
        return (
            isinstance(self.method, FedSplit | RegularizedFedSplit) and getattr(self.method, "server", "all") == "all"
        )

    def _paths(self, t: int) -> np.ndarray | None:
        """(K, E, d): the correct solver's path lengths."""
        solver: Any = self.rounds.solver
        if isinstance(solver, Exact):
            return None
        amounts = np.array([self.effort if effort is None else effort for effort in self.view.efforts])
        if isinstance(solver, ChosenBatches):
            lengths = path_lengths(solver.inner, self.rounds.clients.subset(np.array(self.view.active)), amounts, t)
        else:
            lengths = nearest_float(solver.stepsize) * amounts[:, None]
        lengths = np.asarray(lengths, float)
        return np.broadcast_to(lengths[:, :, None], (len(amounts), self.count, self.dim)).copy()


def can_be_stacked(setup: Setup) -> bool:
    """Whether the method's own code computes entry by entry, so that candidates can stand one after another."""
    return not isinstance(setup.method, AdaptiveFedProx)
