"""Faults of the proximal term (weight/2)‖θ − w‖²."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar, to_fraction
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    SubproblemRule,
    both,
    is_proximal,
    last_own_answers,
    of_method,
    takes_steps,
    uses_gradient_descent,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import PULL
from fedconvex.conformance.history import LAST_ANSWER, PREVIOUS_POINT
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem

ROOT_BITS = 256  # precision of square roots of rationals


def norm(vector: Array) -> Scalar:
    """‖vector‖ in any arithmetic; for rationals, rounded down to `ROOT_BITS` bits after the point."""
    square = (vector * vector).sum()
    if type(square).__name__ == "arb":
        return square.sqrt()
    if isinstance(square, float | np.floating):
        return sqrt(square)
    exact = to_fraction(square)
    root = isqrt(
        (exact.numerator << (2 * ROOT_BITS)) // exact.denominator
    )  # a short denominator, whatever the square's
    return 0 * square + type(square)(root, 1 << ROOT_BITS)


@final
@dataclass(frozen=True)
class UnsquaredProximalTerm(LocalSolver):
    """Gradient steps with the proximal term factor·weight·‖θ − center‖, whose gradient has constant norm."""

    steps: GradientDescent
    factor: Fraction

    def require(self, problem: Problem, scale: Any, weight: Scalar) -> None:
        """Accepts every problem: faulty code checks nothing."""

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        def term_gradients(theta: Array) -> Array:
            if subproblem.center is None:
                return 0 * theta
            away = theta - subproblem.center
            factor = subproblem.weight * clients.arithmetic.scalar(self.factor)
            norms = [norm(row) for row in away]
            # 0 at the centre, where the norm has no gradient: what automatic differentiation returns there
            return np.stack([row * factor / size if size != 0 else row for row, size in zip(away, norms, strict=True)])

        bare = replace(subproblem, weight=0, center=None)  # the term is added by hand below
        theta = subproblem.start
        for taken in range(self.steps.steps):
            gradients = bare.add_gradients(theta, clients.gradients(theta)) + term_gradients(theta)
            stepped = theta - self.steps.stepsize * gradients
            theta = stepped if draw.efforts is None else clients.arithmetic.where(draw.efforts > taken, stepped, theta)
        return Answers(theta, self.steps.solve(clients, subproblem, draw).path_lengths)


def with_unsquared_term(factor: Fraction) -> Callable[[LocalSolver], LocalSolver]:
    """Solvers with the proximal term factor·weight·‖θ − center‖."""
    return lambda solver: UnsquaredProximalTerm(solver, factor) if isinstance(solver, GradientDescent) else solver


def with_weight_times(factor: Fraction) -> SubproblemRule:
    """The subproblem with its proximal weight multiplied by the factor."""
    return with_subproblem(lambda sub, state: replace(sub, weight=sub.weight * factor.numerator / factor.denominator))


def around_server(setup: Setup) -> bool:
    """Whether the method has a proximal term that is centred on the server's point."""
    return is_proximal(setup) and not of_method(FedSplit, RegularizedFedSplit)(setup)


FAULTS = (
    Fault(
        name="the proximal gradient has the wrong sign",
        cure="add weight·(θ − w) to the local gradient: the term pulls back to the server's model",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_weight_times(Fraction(-1)),
    ),
    Fault(
        name="the proximal term is always zero",
        cure="keep a copy of the server's model for the term: a reference to the model that trains is the model itself",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_subproblem(lambda sub, state: replace(sub, weight=0, center=None)),
    ),
    Fault(
        name="the proximal term is not halved",
        cure="use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_weight_times(Fraction(2)),
    ),
    Fault(
        name="the proximal term is halved twice",
        cure="use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_weight_times(Fraction(1, 2)),
    ),
    Fault(
        name="the norm in the proximal term is not squared",
        cure="square the norm: (weight/2)·‖θ − w‖²",
        breaks=PULL,
        applies=both(is_proximal, uses_gradient_descent, takes_steps(2)),
        solver=with_unsquared_term(Fraction(1, 2)),
    ),
    Fault(
        name="the norm in the proximal term is neither squared nor halved",
        cure="use (weight/2)·‖θ − w‖²",
        breaks=PULL,
        applies=both(is_proximal, uses_gradient_descent, takes_steps(2)),
        solver=with_unsquared_term(Fraction(1)),
    ),
    Fault(
        name="the proximal term pulls to the client's own last model",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=both(around_server, lambda setup: not isinstance(setup.method, FedPD)),
        subproblem=with_subproblem(lambda sub, state: replace(sub, center=state.memory[LAST_ANSWER])),
    ),
    Fault(
        name="the proximal term pulls to the client's own last model, where it has one",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=both(around_server, lambda setup: not isinstance(setup.method, FedPD)),
        subproblem=with_subproblem(lambda sub, state: replace(sub, center=last_own_answers(sub, state))),
    ),
    Fault(
        name="the proximal term pulls to the server's model of the round before",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=around_server,
        subproblem=with_subproblem(
            lambda sub, state: replace(sub, center=0 * sub.start + state.shared[PREVIOUS_POINT])
        ),
    ),
)
