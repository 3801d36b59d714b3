"""A Lyapunov function's contraction in the claim language: its claim, its setting, and its proof."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

from fedconvex.arithmetic.linear_systems import kernel
from fedconvex.claims.claim import ClaimSetting, at_most
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    gradient,
    inner,
    local_step,
    mean,
    memory,
    minimiser,
    server,
    shared,
    square,
    value,
)
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import Lemma, Parts, concluding, interpolation, squared
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.search.lyapunov.state_vectors import name_at_server, name_of_memory
from fedconvex.proofs_checks.search.rate_theorems.equations import Completed
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Domain
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import NoLemma, QuestionTerms, combined, written
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, Family
from fedconvex.proofs_checks.worst_cases.questions.question import pose
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import own_start


def of_any_round(spec: Specification, domain: Domain) -> ClaimSetting:
    """All that is assumed of any round, from every state that a run reaches."""
    terms = QuestionTerms(pose(replace(spec, metric="distance")))
    return replace(terms.setting(domain.conditions, domain.example), first_round=False)


@final
class RateTerms:
    """The vectors of a posed round as terms. Raises NoLemma where one has no term.

    An error of the state is a vector minus that at rest, a multiple of x* in the means, of ∇F_k(x*) in the deviations.
    """

    def __init__(self, spec: Specification, posed: PosedRound):
        self.spec, self.posed, self.board = spec, posed, posed.board
        self.low, self.high = written(spec.clients.lowest), written(spec.clients.highest)
        first = own_start(spec.method)
        self.names: dict[str, tuple[str, str]] = {"server": ("server", "")}
        self.names |= {name_at_server(name): ("shared", name) for name in first.shared}
        self.names |= {name_of_memory(name): ("memory", name) for name in first.memory}
        self.unknown = {key: self.coordinate(*place, 0) for place, key in self._basic().items()}
        self.points: list[Vector] = []
        for n, evaluation in enumerate(self.board.evaluations):
            self.points.append(self._point(n, evaluation.point))
            if n:
                at = gradient(self.points[n]) - gradient(minimiser)
                self.unknown[MEAN, f"g{n}"], self.unknown[DEVIATION, f"g{n}"] = mean(at), at - mean(at)

    def _point(self, n: int, at: Family) -> Vector:
        """The point of the n-th evaluation; short terms, since that of a point occurs in those of all later ones."""
        if any(name == f"g{n}" for _, name in at.parts):  # it solves the subproblem
            return answers
        if (
            n > 1
            and isinstance(self.spec.solver, GradientDescent)
            and len(self.board.evaluations) == 1 + self.spec.solver.steps
        ):
            return local_step(self.points[n - 1])
        return minimiser + self.vector(at)

    def _basic(self) -> dict[tuple[str, int], tuple[str, str]]:
        """The basic vector that is each coordinate of the state, by part and place."""
        return {place: key for place, u in self.posed.before.items() for key in u.parts}

    def coordinate(self, part: str, place: int, time: int) -> Vector:
        """The error that is this coordinate of the state, before or after the round."""
        known = next(one for one in self.posed.coordinates.parts if one.part == part)
        of_part = mean if part == MEAN else lambda u: u
        terms = [
            (c, self._of_state(name, time) if self.names[name][0] != "memory" else of_part(self._of_state(name, time)))
            for c, name in zip(known.read[place], known.vectors, strict=True)
            if c
        ]
        start = known.start[place]
        if part == MEAN:
            return combined([*terms, (-start, minimiser)])
        return combined([*terms, (start, gradient(minimiser))]) - mean(combined(terms))

    def _of_state(self, name: str, time: int) -> Vector:
        sort, own = self.names[name]
        if sort == "server":
            return server(time)
        return shared(own, time) if sort == "shared" else memory(own, time)

    def vector(self, u: Family) -> Vector:
        """The vector in terms."""
        if unknown := u.parts.keys() - self.unknown.keys():
            raise NoLemma(f"{min(unknown)[1]} is the vector of no term")
        return combined([(c, self.unknown[key]) for key, c in u.parts.items()])

    def function(self, entries: Mapping[Pair, Any], time: int) -> Number:
        """V before or after the round."""
        found: Number | None = None
        for (a, b), c in entries.items():
            if c and (a, b) == WEIGHT:
                term = written(c) * (value(server(time)) - value(minimiser))
                found = term if found is None else found + term
            elif c:
                u, v = (self.coordinate(*place, time) for place in (a, b))
                term = written(c) * square(u) if a == b else 2 * written(c) * inner(u, v)
                found = term if found is None else found + term
        assert found is not None
        return found

    @property
    def invariants(self) -> tuple[tuple[str, Vector], ...]:
        """What vectors of the server always equal: linear relations between the means that runs reach."""
        names = self.posed.coordinates.mean.vectors
        found: list[tuple[str, Vector]] = []
        used = set[int]()
        for row in kernel(self.posed.coordinates.mean.reached, len(names)):
            own = [j for j, c in enumerate(row) if c and j not in used and self.names[names[j]][0] != "memory"]
            if not own:
                continue
            place = max(own, key=lambda j: self.names[names[j]][0] == "shared")  # its own point last
            used.add(place)
            others = [
                (-c / row[place], mean(self._of_state(names[j], 0))) for j, c in enumerate(row) if c and j != place
            ]
            found.append((" ".join(self.names[names[place]]).strip(), combined(others)))
        return tuple(found)

    def lemma(self, rate: Any, of: Completed, domain: Domain) -> Lemma:
        """V after a round ≤ rate·V, with a proof that the kernel has not replayed yet."""
        claim = at_most(self.function(of.entries, 1), written(rate) * self.function(of.entries, 0))
        total = Parts()
        for name, multiplier in of.multipliers.items():
            after, before = (self.points[int(place)] for place in name.split(" from "))
            total += interpolation(after, before, self.low, self.high) * written(multiplier)
        total += sum((squared(self.vector(u)) * written(weight) for weight, u in of.squares), start=Parts())
        return Lemma(of_any_round(self.spec, domain), claim, Derivation((concluding(claim, total),), self.invariants))
