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

ROOT_BITS = 256  # of square roots of rationals


def length(vector: Array) -> Scalar:
    """‖vector‖ in any arithmetic; of rationals, to `ROOT_BITS` bits."""
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
class PullOfConstantLength(LocalSolver):
    """Gradient steps where the proximal term is factor·weight·‖θ − center‖, whose gradient has one length."""

    steps: GradientDescent
    factor: Fraction

    def require(self, problem: Problem, scale: Any, weight: Scalar) -> None:
        """Nothing."""

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        def pulls(theta: Array) -> Array:
            if subproblem.center is None:
                return 0 * theta
            away = theta - subproblem.center
            factor = subproblem.weight * clients.arithmetic.scalar(self.factor)
            lengths = [length(row) for row in away]
            return np.stack(
                [row * factor / size if size != 0 else row for row, size in zip(away, lengths, strict=True)]
            )

        bare = replace(subproblem, weight=0, center=None)
        theta = subproblem.start
        for taken in range(self.steps.steps):
            gradients = bare.add_gradients(theta, clients.gradients(theta)) + pulls(theta)
            stepped = theta - self.steps.stepsize * gradients
            theta = stepped if draw.efforts is None else clients.arithmetic.where(draw.efforts > taken, stepped, theta)
        return Answers(theta, self.steps.solve(clients, subproblem, draw).path_lengths)


def unsquared(factor: Fraction) -> Callable[[LocalSolver], LocalSolver]:
    """The same steps with a norm that is not squared."""
    return lambda solver: PullOfConstantLength(solver, factor) if isinstance(solver, GradientDescent) else solver


def weighed(factor: Fraction) -> SubproblemRule:
    """The proximal weight multiplied."""
    return with_subproblem(
        lambda asked, state: replace(asked, weight=asked.weight * factor.numerator / factor.denominator)
    )


def around_server(setup: Setup) -> bool:
    """A proximal method whose centre is the server's point."""
    return is_proximal(setup) and not of_method(FedSplit, RegularizedFedSplit)(setup)


FAULTS = (
    Fault(
        name="the proximal gradient has the wrong sign",
        cure="add weight·(θ − w) to the local gradient: the term pulls back to the server's model",
        breaks=PULL,
        applies=is_proximal,
        subproblem=weighed(Fraction(-1)),
    ),
    Fault(
        name="the proximal term is always zero",
        cure="keep a copy of the server's model for the term: a reference to the model that trains is the model itself",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_subproblem(lambda asked, state: replace(asked, weight=0, center=None)),
    ),
    Fault(
        name="the proximal term is not halved",
        cure="use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)",
        breaks=PULL,
        applies=is_proximal,
        subproblem=weighed(Fraction(2)),
    ),
    Fault(
        name="the proximal term is halved twice",
        cure="use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)",
        breaks=PULL,
        applies=is_proximal,
        subproblem=weighed(Fraction(1, 2)),
    ),
    Fault(
        name="the norm in the proximal term is not squared",
        cure="square the norm: (weight/2)·‖θ − w‖²",
        breaks=PULL,
        applies=both(is_proximal, uses_gradient_descent, takes_steps(2)),
        solver=unsquared(Fraction(1, 2)),
    ),
    Fault(
        name="the norm in the proximal term is neither squared nor halved",
        cure="use (weight/2)·‖θ − w‖²",
        breaks=PULL,
        applies=both(is_proximal, uses_gradient_descent, takes_steps(2)),
        solver=unsquared(Fraction(1)),
    ),
    Fault(
        name="the proximal term pulls to the client's own last model",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=both(around_server, lambda setup: not isinstance(setup.method, FedPD)),
        subproblem=with_subproblem(lambda asked, state: replace(asked, center=state.memory[LAST_ANSWER])),
    ),
    Fault(
        name="the proximal term pulls to the client's own last model, where it has one",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=both(around_server, lambda setup: not isinstance(setup.method, FedPD)),
        subproblem=with_subproblem(lambda asked, state: replace(asked, center=last_own_answers(asked, state))),
    ),
    Fault(
        name="the proximal term pulls to the server's model of the round before",
        cure="centre the term on the model that the server sent in this round",
        breaks=PULL,
        applies=around_server,
        subproblem=with_subproblem(
            lambda asked, state: replace(asked, center=0 * asked.start + state.shared[PREVIOUS_POINT])
        ),
    ),
)
