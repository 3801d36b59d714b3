"""Faults of DANE and FedDANE: in the correction g − ∇f_k(w) of the clients' gradients."""

from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import negated_linear_term, of_method, with_subproblem
from fedconvex.conformance.faults.properties import CORRECTION
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.dane import DANE, GradientCorrected
from fedconvex.methods.feddane import FedDANE
from fedconvex.methods.fedlin import FedLin
from fedconvex.problems.base import Subproblem

is_corrected = of_method(GradientCorrected)
RULE = "minimise f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (mu/2)‖θ − w‖²"


def with_correction(gradient: Any) -> Any:
    """The subproblem with `gradient(correct g, cohort)` in place of g; rows instead of a vector differ by client."""

    def subproblem(method: Method, state: State, cohort: Cohort) -> Subproblem:
        correct = method.subproblem(state, cohort)
        own = cohort.gradients()
        if correct.linear is None:  # another fault of a pair has left the term out
            return correct
        g: Array = (correct.linear + own)[0]  # the same in every row
        return replace(correct, linear=gradient(g, cohort) - own)

    return subproblem


FAULTS = (
    Fault(
        name="the gradient correction is left out: this is FedProx",
        cure=RULE,
        breaks=CORRECTION,
        applies=of_method(DANE, FedDANE),
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None)),
    ),
    Fault(
        name="the gradient correction is left out: this is FedAvg",
        cure="take steps along ∇F_k(θ) − ∇F_k(w) + ∇f(w)",
        breaks=CORRECTION,
        applies=of_method(FedLin),
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None)),
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
        subproblem=with_correction(lambda g, cohort: g + cohort.gradients()),
    ),
    Fault(
        name="the averaged gradient is left out of the correction",
        cure=RULE,
        breaks=CORRECTION,
        applies=is_corrected,
        subproblem=with_correction(lambda g, cohort: 0 * g),
    ),
    Fault(
        name="the averaged gradient is not weighted",
        cure="weight client k's gradient by its number of samples",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.gradients().sum(0) / len(cohort.points)),
    ),
    Fault(
        name="the gradients are summed, not averaged",
        cure="divide by the sum of the weights of the clients that send one",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.gradients().sum(0)),
    ),
    Fault(
        name="the gradient of all clients is used instead of that of the sample",
        cure="average the gradients of the clients that take part",
        breaks=CORRECTION,
        applies=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.full_gradient()),
    ),
    Fault(
        name="only the gradients of those who take part are averaged",
        cure="ask every client for its gradient",
        breaks=CORRECTION,
        applies=of_method(DANE, FedLin),
        subproblem=with_correction(lambda g, cohort: cohort.sampled_gradient()),
    ),
    Fault(
        name="eta is ignored",
        cure="multiply the gradient of all clients by eta",
        breaks=CORRECTION,
        applies=lambda setup: isinstance(setup.method, DANE) and setup.method.eta != 1,
        subproblem=with_correction(lambda g, cohort: cohort.full_gradient()),
    ),
)
