"""Faults of the proximal term (weight/2)‖θ − w‖²."""

from dataclasses import replace
from fractions import Fraction

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    SubproblemRule,
    both,
    in_first_round,
    is_proximal,
    last_own_answers,
    of_method,
    takes_steps,
    with_subproblem,
)
from fedconvex.conformance.faults.faulty_solvers import on_steps
from fedconvex.conformance.faults.properties import PULL
from fedconvex.conformance.history import LAST_ANSWER, PREVIOUS_POINT
from fedconvex.conformance.setup import Setup
from fedconvex.methods.base import State
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit
from fedconvex.problems.base import Subproblem


def with_weight_times(factor: Fraction) -> SubproblemRule:
    """The subproblem with its proximal weight multiplied by the factor."""

    def change(sub: Subproblem, state: State) -> Subproblem:
        if sub.center is None:  # another fault has left the term out; half its integer weight 0 would be a float
            return sub
        return replace(sub, weight=sub.weight * factor.numerator / factor.denominator)

    return with_subproblem(change)


def around_server(setup: Setup) -> bool:
    """Whether the method has a proximal term that is centred on the server's point."""
    return is_proximal(setup) and not of_method(FedSplit, RegularizedFedSplit)(setup)


def without_quadratic_part(sub: Subproblem) -> Subproblem:
    """The subproblem with −weight·⟨center, θ⟩ alone in the place of its proximal term."""
    if sub.center is None:  # another fault of a pair has left the term out
        return sub
    linear = 0 * sub.start if sub.linear is None else sub.linear
    return replace(sub, weight=0, center=None, linear=linear - sub.weight * sub.center)


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
        name="the proximal term is zero in the first round",
        cure="keep a copy of the server's model for the term: in the first round it is the live model that trains",
        breaks=PULL,
        applies=is_proximal,
        subproblem=in_first_round(with_subproblem(lambda sub, state: replace(sub, weight=0, center=None))),
    ),
    *(
        Fault(
            name=f"the proximal term covers only the model's {which} tensor",
            cure="sum the term over all parameters of the model",
            breaks=PULL,
            applies=both(is_proximal, takes_steps(2)),
            solver=on_steps(covered=which),
        )
        for which in ("last", "first")
    ),
    Fault(
        name="the proximal term lacks its quadratic part",
        cure="(weight/2)·‖θ − w‖² has (weight/2)·‖θ‖² beside −weight·⟨w, θ⟩: add it to the loss, or as weight decay",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_subproblem(lambda sub, state: without_quadratic_part(sub)),
    ),
    Fault(
        name="the proximal term pulls to zero: this is weight decay",
        cure="use (weight/2)·‖θ − w‖², with the w that the server sent in this round",
        breaks=PULL,
        applies=is_proximal,
        subproblem=with_subproblem(
            lambda sub, state: sub if sub.center is None else replace(sub, center=0 * sub.center)
        ),
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
        applies=both(is_proximal, takes_steps(2)),
        solver=on_steps(unsquared=Fraction(1, 2)),
        rational=False,
    ),
    Fault(
        name="the norm in the proximal term is neither squared nor halved",
        cure="use (weight/2)·‖θ − w‖²",
        breaks=PULL,
        applies=both(is_proximal, takes_steps(2)),
        solver=on_steps(unsquared=Fraction(1)),
        rational=False,
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
