"""Faults of the proximal term (weight/2)‖θ − w‖²."""

from dataclasses import replace
from fractions import Fraction

from fedconvex.conformance.faults.base import PULL, Rule
from fedconvex.conformance.faults.building_blocks import (
    SubproblemRule,
    in_first_round,
    is_proximal,
    last_own_answers,
    of_method,
    takes_steps,
    with_term,
)
from fedconvex.conformance.faults.faulty_solvers import on_steps
from fedconvex.conformance.history import LAST_ANSWER, PREVIOUS_POINT
from fedconvex.conformance.setup import Setup
from fedconvex.methods.base import State
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.problems.base import Subproblem


def around_server(setup: Setup) -> bool:
    """Whether the method has a proximal term that is centred on the server's point."""
    return is_proximal(setup) and not of_method(FedSplit, RegularizedFedSplit)(setup)


def with_weight_times(factor: Fraction) -> SubproblemRule:
    """The subproblem with its proximal weight multiplied by the factor."""
    return with_term(lambda sub, state: replace(sub, weight=sub.weight * factor.numerator / factor.denominator))


def without_quadratic_part(sub: Subproblem, state: State) -> Subproblem:
    """The subproblem with −weight·⟨center, θ⟩ alone in the place of its proximal term."""
    linear = 0 * sub.start if sub.linear is None else sub.linear
    return replace(sub, weight=0, center=None, linear=linear - sub.weight * sub.center)


without_term = with_term(lambda sub, state: replace(sub, weight=0, center=None))
TERM = Rule(PULL, is_proximal, "use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)")
CENTRED = Rule(PULL, around_server, "centre the term on the model that the server sent in this round")

FAULTS = (
    TERM.broken(
        "the proximal gradient has the wrong sign",
        "add weight·(θ − w) to the local gradient: the term pulls back to the server's model",
        subproblem=with_weight_times(Fraction(-1)),
    ),
    TERM.broken(
        "the proximal term is always zero",
        "keep a copy of the server's model for the term: a reference to the model that trains is the model itself",
        subproblem=without_term,
    ),
    TERM.broken(
        "the proximal term is zero in the first round",
        "keep a copy of the server's model for the term: in the first round it is the live model that trains",
        subproblem=in_first_round(without_term),
    ),
    *(
        TERM.broken(
            f"the proximal term covers only the model's {which} tensor",
            "sum the term over all parameters of the model",
            where=takes_steps(2),
            solver=on_steps(covered=which),
        )
        for which in ("last", "first")
    ),
    TERM.broken(
        "the proximal term lacks its quadratic part",
        "(weight/2)·‖θ − w‖² has (weight/2)·‖θ‖² beside −weight·⟨w, θ⟩: add it to the loss, or as weight decay",
        subproblem=with_term(without_quadratic_part),
    ),
    TERM.broken(
        "the proximal term pulls to zero: this is weight decay",
        "use (weight/2)·‖θ − w‖², with the w that the server sent in this round",
        subproblem=with_term(lambda sub, state: replace(sub, center=0 * sub.start)),
    ),
    *TERM.each(
        "subproblem",
        with_weight_times,
        {
            "the proximal term is not halved": Fraction(2),
            "the proximal term is halved twice": Fraction(1, 2),
        },
    ),
    *TERM.each(
        "solver",
        lambda factor: on_steps(unsquared=factor),
        {
            "the norm in the proximal term is not squared": Fraction(1, 2),
            "the norm in the proximal term is neither squared nor halved": Fraction(1),
        },
        where=takes_steps(2),
        rational=False,
    ),
    *CENTRED.each(
        "subproblem",
        lambda center: with_term(lambda sub, state: replace(sub, center=center(sub, state))),
        {
            "the proximal term pulls to the client's own last model": lambda sub, state: state.memory[LAST_ANSWER],
            "the proximal term pulls to the client's own last model, where it has one": last_own_answers,
        },
        where=lambda setup: not isinstance(setup.method, FedPD),
    ),
    CENTRED.broken(
        "the proximal term pulls to the server's model of the round before",
        subproblem=with_term(lambda sub, state: replace(sub, center=0 * sub.start + state.shared[PREVIOUS_POINT])),
    ),
)
