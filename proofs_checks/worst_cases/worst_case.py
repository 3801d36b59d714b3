"""`worst_case`: what a method does at worst on a class of clients, as an interval that is proved on both sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.worst_cases.certificates.composition import (
    after_rounds,
    best_round,
    measured_with,
    shortened,
)
from fedconvex.proofs_checks.worst_cases.certificates.presolve import certify_usable
from fedconvex.proofs_checks.worst_cases.certificates.search import Certified, certify, certify_exactly, forced
from fedconvex.proofs_checks.worst_cases.instances.enumerated_lines import written_lines
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import Feasible, feasible
from fedconvex.proofs_checks.worst_cases.instances.interpolating_functions import Interpolating
from fedconvex.proofs_checks.worst_cases.instances.line_federations import Line, lines
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation, quadratics, vectors
from fedconvex.proofs_checks.worst_cases.instances.replay import federation, kinds, measured
from fedconvex.proofs_checks.worst_cases.programs.refinement import Polished, polish
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import Written
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup, ClientGroups, FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.question import Question, asked

INFINITE = float("inf")
CLOSE = Fraction(1, 10**9)  # ends that near to each other need no other instance
NEAR = Fraction(1, 10**6)  # and to each other, for more digits not to be asked for
FAR = 10**6
FEW = 6  # inequalities with which a proof is tried without a solver
MANY = 500  # unknown numbers that are polished where clients are written out, and near points tell little apart
SMALL = 12  # points up to which a question about many rounds is asked as it is


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """lower <= truth <= upper, both proved: one end by an instance, the other by a certificate.

    For "descent" the truth is the least decrease: its lower end is proved, its upper end attained. The instance is a
    federation of quadratics that was played, or inner products and values that satisfy the class's inequalities. With
    `power` T the certificate is about one round, and its factor to the power of T about all.
    """

    question: Question
    certified: Question  # what the certificate is about: the question, or one round of it
    status: str  # what the solver said
    certificate: Certified | None
    power: int
    played: Fraction | float | None  # what the method does on `instance`
    instance: AttainingFederation | None
    interpolated: Feasible | None

    @property
    def proved(self) -> Any:
        """What the certificate proves to be the most; infinite without one. For "descent", minus the decrease."""
        if self.certificate is None:
            return INFINITE
        found = _composed(self.certificate, self.certified, self.question, self.power)
        return shortened(found, upwards=True) if self._is_sum else found

    @property
    def _is_sum(self) -> bool:
        """Whether the proved end is composed of many terms, and not sharp anyway."""
        return self.power > 1 and self.question.heterogeneity > 0

    @property
    def attained(self) -> Any:
        """The most that some instance has, exactly; None where none was found."""
        interpolated = None if self.interpolated is None else self.interpolated.metric
        most = max((x for x in (self.played, interpolated) if x is not None), default=None)
        return shortened(most, upwards=False) if self._is_sum else most

    @property
    def upper(self) -> Any:
        """The upper end."""
        if self.question.metric != "descent":
            return self.proved
        return INFINITE if self.attained is None else -self.attained

    @property
    def lower(self) -> Any:
        """The lower end."""
        if self.question.metric == "descent":
            return -self.proved
        return Fraction(0) if self.attained is None else self.attained

    @property
    def multipliers(self) -> dict[str, Fraction]:
        """Of the certificate, those that are not 0, with the names of the inequalities."""
        return {} if self.certificate is None else self.certificate.used

    @property
    def says(self) -> str:
        """How the ends are known, in words."""
        by = "attained by quadratic clients" if self.is_played else "attained by interpolation"
        descent = self.question.metric == "descent"
        missing = "give dissimilarity" if descent else "give heterogeneity > 0"
        if self.attained == INFINITE:
            place = "where the clients' gradients cancel" if descent else "at the minimiser"
            return f"no finite bound exists: started {place}, the method leaves it; {missing}"
        if self.certificate is None:
            asked = self.question
            given = asked.dissimilarity is not None if descent else asked.heterogeneity or asked.spread is not None
            needed = "" if given or self.question.metric == "lifted_distance" else f"; perhaps none exists: {missing}"
            return f"no bound was proved (the solver: {self.status}){needed}" + f"; {by}" * (self.attained is not None)
        how = "exactly" if self.upper == self.lower else "an interval"
        larger = not self.question.exact and self.upper != self.lower
        whole = "; the proved end bounds something larger than the truth" * larger
        composed = "added up over" if self.question.heterogeneity else "to the power of"
        power = f" for one round, {composed} {self.power}" * (self.power > 1)
        count = self.question.board.clients
        only = f", for {count} clients, every way to draw them" * isinstance(self.question.board, Written)
        return f"{how}{only}; proved by a certificate{power}" + f"; {by}" * (self.attained is not None) + whole

    @property
    def is_played(self) -> bool:
        """Whether the attained end is by a federation that was played."""
        return self.played is not None and (self.interpolated is None or self.played >= self.interpolated.metric)

    def federation(self) -> Any:
        """The clients that attain the end, as a problem; `start` says where the method starts.

        Quadratic, exactly, where it was played; else functions through the interpolated points, in floating point.
        Raises ValueError where there are none.
        """
        if self.is_played and self.instance is not None:
            return federation(self.question, self.instance)
        which = kinds(self.question)
        if self.interpolated is None or which is None:
            raise ValueError("no federation was found")
        problem: Interpolating = self._interpolating[0]
        if not isinstance(self.question.clients, ClientGroups):
            return problem.of(which)
        return problem.of(self._as_often_as_weighted(problem)) if self.question.method.plain else problem

    def _as_often_as_weighted(self, problem: Interpolating) -> list[int]:
        """Copies of clients instead of weights, for methods that average plainly."""
        total = lcm(*(weight.denominator for weight in problem.exact_weights))
        copies = [int(weight * total) for weight in problem.exact_weights]
        functions = self.question.clients
        assert isinstance(functions, ClientGroups)
        single = [functions.kinds[kind or 0].clients == 1 for kind, _ in self.question.board.members]
        if any(alone and count > 1 for alone, count in zip(single, copies, strict=True)):
            raise ValueError("no federation was found: the shares are not numbers of clients")
        return [k for k, count in enumerate(copies) for _ in range(count)]

    @property
    def start(self) -> Any:
        """Where the server starts, (d,); for "lifted_distance" every client's z_k, (m, d)."""
        if self.is_played and self.instance is not None:
            begun = self.instance.start
        elif self.interpolated is not None:
            begun = self._interpolating[1]
        else:
            raise ValueError("no federation was found")
        return begun if self.question.metric == "lifted_distance" else begun[0]

    @property
    def residuals(self) -> tuple[Any, ...]:
        """What the answers of `federation()` leave of their subproblems' gradients in every round, each (m, d).

        Empty where the local solver is not ToInexactness; `worst_cases.instances.residuals.Leaving` plays them.
        """
        if self.is_played and self.instance is not None:
            return self.instance.residuals
        return () if self.interpolated is None else self._interpolating[2]

    @cached_property
    def _interpolating(self) -> tuple[Interpolating, Any, Any]:
        found, functions, board = self.interpolated, self.question.clients, self.question.board
        assert found is not None
        grams = [np.array(gram, dtype=float).reshape(len(gram), len(gram)) for gram in found.grams]
        named = dict(zip(found.program.values, map(float, found.values), strict=True))
        points, gradients, values, start, left = vectors(found.program, grams, named, board, self.question.start)
        members = [kind for kind, _ in board.members]
        alike = len(set(members))  # every client where all are written out
        of_kinds = functions.kinds if isinstance(functions, ClientGroups) else (ClientGroup(functions, 1),) * alike
        shares = functions.shares if isinstance(functions, ClientGroups) else (Fraction(1, alike),) * alike
        classes = [of_kinds[kind or 0].functions for kind in members]
        weights = [shares[kind or 0] / members.count(kind) for kind in members]
        ends = [c.lowest for c in classes], [c.highest for c in classes]
        return Interpolating.through(points, gradients, values, *ends, weights), start, left

    def proof(self) -> Any:
        """The certificate as a `Proof` of one step, of one round where `power` > 1. Raises ValueError without one."""
        from fedconvex.proofs_checks.worst_cases.certificates.proofs import proof

        if self.certificate is None:
            raise ValueError("nothing was proved")
        return proof(self.certified, self.certificate.t, self.certificate.multipliers)

    def __repr__(self) -> str:
        asked = self.question
        return f"<{asked.metric} of {asked.method}, {asked.rounds} rounds: [{float(self.lower)}, {float(self.upper)}]>"


def worst_case(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = 2,
    rounds: int = 1,
    metric: str = "distance",
    dissimilarity: Any = None,
    heterogeneity: Any = 0,
    local_solver: LocalSolver | None = None,
    participation: Any = None,
    weights: Any = None,
    spread: Any = None,
) -> WorstCase:
    """The worst that a method does on clients of a class, with equal weights.

    With two clients or more, who all take part, the answer does not depend on their number: mean and deviation of the
    clients' vectors are orthogonal, and every pair of Gram matrices belongs to some m clients, whatever m. "any" stands
    for all numbers.

    Args:
        method: its numbers are taken exactly, a float as the dyadic rational that it is.
        clients: `SmoothStronglyConvex(mu, L)`, `SmoothConvex(L)`, `Quadratics(mu, L)` or, for "descent",
            `WeaklyConvex(L_minus, L)`.
        num_clients: 1, more, or "any".
        rounds: T >= 1; 1 for "descent". Where what holds in one round holds in every round ("lifted_distance";
            "distance" of methods without memory), it is composed, for any T.
        metric: of the point after the last round "distance" ‖w_T − x*‖², "gap" f(w_T) − f*, "gradient_norm"
            ‖∇f(w_T)‖²; over the T points γ^0 = w_0 and γ^t, the mean of the clients' answers in round t < T,
            "average_gap" f(Σ_t a_t γ^t) − f*, "mean_gap" Σ_t a_t (f(γ^t) − f*); each divided by
            ‖w_0 − x*‖² + heterogeneity · (1/m)Σ‖∇F_k(x*)‖². "mean_gradient_norm" Σ_t a_t ‖∇f(γ^t)‖² is divided by
            f(w_0) − inf f + heterogeneity · (1/m)Σ‖∇F_k(w_0)‖² + spread · (1/m)Σ‖θ_k⁰ − w_0‖². "lifted_distance"
            Σ‖z_k − z_k*‖² after and before the rounds (FedSplit); "descent" the least (f(w) − f(w⁺))/‖∇f(w)‖² of a
            round. Expected ones where clients are drawn: for few clients and rounds every way to draw is written out,
            and what is found is exact for that many; else "distance" is exact in one round, "gap" and "descent" of one
            are bounded by the descent lemma, and others are not analysed.
        dissimilarity: B of FedProx's Definition 3 at the first point, where it is bounded.
        heterogeneity: how much the clients' gradients at the minimiser count; 0: they are unbounded.
        local_solver: `Exact()`, `GradientDescent(…)` or `ToInexactness(gamma)`, which is any answer that is γ-inexact;
            by default the method's own.
        participation: `Full()`, `Uniform(K)` or `Weighted(K)`.
        weights: a_t of the averages, divided by their sum; by default equal.
        spread: for "mean_gradient_norm", where every client has a point θ_k⁰ with ∇F_k(θ_k⁰) = 0, how much these count.

    Raises:
        InvalidInput: a metric, solver or scheme that is not analysed, rounds < 1, B < 1, a negative heterogeneity,
            subproblems without minimisers, a metric that needs a minimiser which the class does not give.
    """
    question = asked(
        method, clients, num_clients, rounds, metric, dissimilarity, heterogeneity, local_solver, participation,
        weights, spread,
    )  # fmt: skip
    if question.composable and rounds > 1:
        found = _answered(best_round(question), question, rounds)
        whole = question.played == rounds and len(question.board.evaluations) <= SMALL
        if found.upper == found.lower or not whole or metric == "lifted_distance":
            return found
        direct = _answered(question, question, 1)
        return min(found, direct, key=lambda answer: answer.upper)
    return _answered(question, question, 1)


def _answered(certified: Question, question: Question, power: int) -> WorstCase:
    """`certified` is what the certificate is about, `question` what is played."""
    candidates = lines(question if power == 1 else certified)
    played, instance = None, None
    tried = candidates[:1] if question.draws.everyone else candidates  # what draws do, the program only bounds
    if power > 1 and question.heterogeneity:  # in many rounds others are worst than in one
        tried = [*candidates, *lines(measured_with(certified, question.heterogeneity / FAR))]
    is_written = isinstance(question.board, Written)
    written = written_lines(question) if is_written else ()
    for made in (*(line.instance for line in tried), *written):
        also = measured(question, made)
        if instance is None or (also is not None and (played is None or also > played)):
            played, instance = also, made
    if played == INFINITE:
        return WorstCase(question, certified, "not asked", None, 1, played, instance, None)
    certificate = _forced(certified, candidates)
    if certificate is not None and _composed(certificate, certified, question, power) == played:
        return WorstCase(question, certified, "not asked", certificate, power, played, instance, None)
    proposal = propose(certified.program, twice=is_written)
    certificate, near = _certified(certified, proposal, candidates)
    if certificate is None:
        certificate, _ = certify_usable(certified.program)
    worst = None if certificate is None else _composed(certificate, certified, question, power)
    if played is not None and worst is not None and worst - played <= CLOSE * abs(worst):
        return WorstCase(question, certified, proposal.status, certificate, power, played, instance, None)
    interpolated = None
    if power == 1:
        for fitted in _fitted(question, proposal):
            also = measured(question, fitted)
            if also is not None and (played is None or also > played):
                played, instance = also, fitted
        if question.exact and question.clients.interpolable:
            interpolated = feasible(question.program, proposal, near)
            if is_written and not near and not _is_near(interpolated, worst):
                interpolated = feasible(question.program, proposal, list(polish(question.program, proposal, MANY)))
    return WorstCase(question, certified, proposal.status, certificate, power, played, instance, interpolated)


def _is_near(attained: Feasible | None, proved: Fraction | None) -> bool:
    return attained is not None and proved is not None and proved - attained.metric <= NEAR * abs(proved)


def _composed(certificate: Certified, certified: Question, question: Question, rounds: int) -> Fraction:
    """What a certificate about one round, or all, proves of the question."""
    if rounds == 1:
        return certificate.t
    return after_rounds(certificate.t, certified.heterogeneity, question.heterogeneity, rounds)


def _forced(question: Question, candidates: list[Line]) -> Certified | None:
    """A proof of just what the worst lines attain, where there are so few inequalities that it follows."""
    if not candidates or candidates[0].ratio is None or len(question.program.inequalities) > FEW:
        return None
    t = candidates[0].ratio
    worst = (line.vectors for line in candidates if line.ratio == t)
    return forced(question.program, to_fraction(t), worst)


def _certified(
    question: Question, proposal: Proposal, candidates: list[Line]
) -> tuple[Certified | None, list[Polished]]:
    """A proof of just what the worst lines attain, where there is one; else of a little more than the proposal."""
    if candidates:
        t = candidates[0].ratio
        worst = [line.vectors for line in candidates if line.ratio == t]
        found = None if t is None else certify_exactly(question.program, proposal, to_fraction(t), worst)
        if found is not None:
            return found, []
    return certify(question.program, proposal)


def _fitted(question: Question, proposal: Proposal) -> Iterator[AttainingFederation]:
    if isinstance(question.clients, ClientGroups):
        return
    found = quadratics(question.program, proposal, question.board, question.clients, question.start)
    if found is not None:
        yield found
