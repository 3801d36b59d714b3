"""Federations on a line at a fixed point of a method: how far from the minimiser it can be, exactly.

Clients are F_k(x) = ½h_k x² − p_k x with Σ p_k = 0, so that 0 is the minimiser. A round of a method without memory is
w⁺ = Mw + Σ a_k p_k with one client for each of the board's representatives; where M is not 1 it has one fixed point,
linear in the slopes p, and the slopes that take it farthest for their mean square are known.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import fraction_array, to_fraction
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.runs.rounds import Rounds

MOST_CLIENTS = 64
MOST_CHOICES = 256  # of curvatures


def representatives(question: Question) -> list[int]:
    """For every client of a federation, all of one weight, the place of the representative of which it is a copy."""
    found, clients = question.board.representatives, question.spec.clients
    if not isinstance(clients, ClientGroups):
        return list(range(len(found)))
    members = [group for group, _ in found]
    weights = [clients.shares[group] / members.count(group) for group in members]
    total = lcm(*(weight.denominator for weight in weights))
    return [k for k, weight in enumerate(weights) for _ in range(int(weight * total))]


def is_of_class(question: Question, problem: Quadratic) -> bool:
    """Whether the clients are of the question's class, every one in its group."""
    clients = question.spec.clients
    if not isinstance(clients, ClientGroups):
        return clients.contains(problem)
    groups = question.board.representatives
    return clients.contains(problem, [groups[k][0] for k in representatives(question)])


def rounds_on(question: Question, problem: Quadratic) -> Rounds:
    """The method's rounds on such clients, in exact arithmetic."""
    spec, exact = question.spec, arithmetics.get("exact")
    solver = spec.solver
    if isinstance(solver, UnequalSteps):
        groups = [group for group, _ in question.board.representatives]
        solver = replace(solver, steps=tuple(solver.steps[groups[k]] for k in representatives(question)))
    return Rounds(spec.method, solver, problem, problem.clients(exact, spec.method.scale(problem)), exact)


def resting_federations(question: Question) -> Iterator[AttainingFederation]:
    """Federations of extreme curvatures with the worst slopes, at their fixed points; none for inexact answers."""
    if isinstance(question.spec.solver, ToInexactness) or len(representatives(question)) > MOST_CLIENTS:
        return
    spec, found = question.spec, question.board.representatives
    classes = spec.clients.groups if isinstance(spec.clients, ClientGroups) else ()
    ends = [(c.lowest, c.highest) for c in (classes[k].functions if classes else spec.clients for k, _ in found)]
    if 2 ** len(ends) > MOST_CHOICES:
        return
    for curvatures in product(*ends):
        made = _worst_slopes(question, curvatures)
        if made is not None:
            yield made


def _worst_slopes(question: Question, curvatures: Sequence[Fraction]) -> AttainingFederation | None:
    copies = representatives(question)
    hessians = [[[to_fraction(curvatures[k])]] for k in copies]
    if not is_of_class(question, Quadratic(hessians, [[0]] * len(hessians))) or not sum(curvatures) > 0:
        return None

    def played(start: int, slopes: Sequence[int]) -> Fraction:
        return Fraction(after(question, Quadratic(hessians, [[slopes[k]] for k in copies]), fraction_array([start]))[0])

    size = len(curvatures)
    factor = played(1, [0] * size)
    if factor == 1:
        return None
    pulls = [played(0, [int(k == one) for k in range(size)]) / (1 - factor) for one in range(size)]
    weights = [Fraction(copies.count(k), len(copies)) for k in range(size)]
    slopes = [a / weight - sum(pulls) for a, weight in zip(pulls, weights, strict=True)]
    place = sum((a * p for a, p in zip(pulls, slopes, strict=True)), Fraction(0))
    problem = Quadratic(hessians, [[slopes[k]] for k in copies])
    return AttainingFederation(problem, fraction_array([[place]] * len(copies)))


def at_their_fixed_points(question: Question, found: Iterable[AttainingFederation]) -> Iterator[AttainingFederation]:
    """The federations, each started at the method's fixed point; without those that have none, or several."""
    exact = arithmetics.get("exact")
    for instance in found:
        problem, size = instance.problem, instance.problem.dim
        begun, *units = np.vstack([np.zeros((1, size), dtype=int), np.eye(size, dtype=int)])
        shift = after(question, problem, begun)
        moves = [shift + unit - after(question, problem, unit) for unit in units]  # of w − w⁺, beside its shift
        try:
            w = exact.solve(exact.matrix(np.column_stack(moves)), exact.array(shift))
        except ZeroDivisionError:
            continue
        yield AttainingFederation(problem, np.stack([exact.publish(w)] * problem.num_clients))


def after(question: Question, problem: Quadratic, start: np.ndarray) -> np.ndarray:
    """The server's point after a round from a start (d,), exactly."""
    exact = arithmetics.get("exact")
    with exact.context():
        run = rounds_on(question, problem)
        played = run.play(run.start(run.arithmetic.array(start)))
        assert played is not None
        return np.asarray(exact.publish(played.state.server))


def resting_ratio(question: Question, instance: AttainingFederation) -> tuple[Fraction, Fraction] | None:
    """‖w − x*‖² and mean‖∇F_k(x*)‖² at a fixed point w; None where w is none, or the minimiser is not 0."""
    problem, w = instance.problem, instance.start[0]
    if any(np.sum(problem.c, axis=0)) or list(after(question, problem, w)) != list(w):
        return None
    squares = [sum((Fraction(x) ** 2 for x in c), Fraction(0)) for c in problem.c]
    return sum((Fraction(x) ** 2 for x in w), Fraction(0)), sum(squares, Fraction(0)) / len(squares)
