"""Faults of DANE and FedDANE: of the gradient to which the clients' functions are tilted."""

from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import negated_linear_term, of_method, with_subproblem
from fedconvex.conformance.faults.properties import CORRECTION
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.dane import DANE, GradientCorrected
from fedconvex.methods.feddane import FedDANE
from fedconvex.problems.base import Subproblem

is_corrected = of_method(GradientCorrected)
RULE = "minimise f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (mu/2)‖θ − w‖²"


def tilting(gradient: Any) -> Any:
    """Another g: `gradient(right g, cohort)`."""

    def ask(method: Method, state: State, cohort: Cohort) -> Subproblem:
        asked = method.subproblem(state, cohort)
        own = cohort.gradients()
        if asked.linear is None:  # left out by another fault
            return asked
        right: Array = (asked.linear + own)[0]
        return replace(asked, linear=gradient(right, cohort) - own)

    return ask


FAULTS = (
    Fault(
        name="the gradient correction is left out: this is FedProx",
        cure=RULE,
        breaks=CORRECTION,
        applies=is_corrected,
        subproblem=with_subproblem(lambda asked, state: replace(asked, linear=None)),
    ),
    Fault(
        name="the gradient correction has the wrong sign",
        cure=RULE,
        breaks=CORRECTION,
        applies=is_corrected,
        subproblem=with_subproblem(negated_linear_term),
    ),
    Fault(
        name="the client's own gradient is left out of the correction",
        cure=RULE,
        breaks=CORRECTION,
        applies=is_corrected,
        subproblem=tilting(lambda g, cohort: g + cohort.gradients()),
    ),
    Fault(
        name="the averaged gradient is left out of the correction",
        cure=RULE,
        breaks=CORRECTION,
        applies=is_corrected,
        subproblem=tilting(lambda g, cohort: 0 * g),
    ),
    Fault(
        name="the averaged gradient is not weighted",
        cure="weight client k's gradient by its number of samples",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=tilting(lambda g, cohort: cohort.gradients().sum(0) / len(cohort.points)),
    ),
    Fault(
        name="the gradients are summed, not averaged",
        cure="divide by the sum of the weights of those who are asked",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=tilting(lambda g, cohort: cohort.gradients().sum(0)),
    ),
    Fault(
        name="the gradient of all clients is used instead of that of the sample",
        cure="average the gradients of the clients that take part",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=tilting(lambda g, cohort: cohort.full_gradient()),
    ),
    Fault(
        name="only the gradients of those who take part are averaged",
        cure="ask every client for its gradient",
        breaks=CORRECTION,
        applies=of_method(DANE),
        subproblem=tilting(lambda g, cohort: cohort.sampled_gradient()),
    ),
    Fault(
        name="eta is ignored",
        cure="multiply the gradient of all clients by eta",
        breaks=CORRECTION,
        applies=lambda setup: isinstance(setup.method, DANE) and setup.method.eta != 1,
        subproblem=tilting(lambda g, cohort: cohort.full_gradient()),
    ),
)
